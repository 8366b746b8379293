"""Reading a scored folder: what is refused, and what is read of each kind of column."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scored_sample import MATH, hostile_row, math_rows, reason, write_folder

from plaudit.reports._scored_run import (
    ReportOptions,
    completion_text,
    numbers_of,
    open_folder,
    prompt_text,
    rejected_rows,
    rows_at,
)
from plaudit.tables import InputError


def refused(folder):
    with pytest.raises(InputError) as error:
        open_folder(folder)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_is_no_scored_folder_is_refused_in_one_line(tmp_path):
    assert "no folder" in refused(tmp_path / "nowhere")
    assert "no _run.json" in refused(tmp_path)
    run = tmp_path / "_run.json"
    run.write_text("{broken")
    assert "cannot read" in refused(tmp_path)
    run.write_text("[]")
    assert "must hold an object" in refused(tmp_path)
    run.write_text('{"components": ["accuracy_reward"]}')
    assert "no part-*.parquet" in refused(tmp_path)
    part = tmp_path / "part-00000.parquet"
    part.write_bytes(b"PAR1 but not really")
    assert "cannot read" in refused(tmp_path)
    pq.write_table(pa.table({"row_id": [1]}), part)
    assert "no column group_id" in refused(tmp_path)
    run.write_text('{"components": []}')
    assert "has no list of components" in refused(tmp_path)


def test_rows_are_found_by_their_place_over_all_parts(tmp_path):
    rows = list(math_rows(2500))
    folder = open_folder(write_folder(tmp_path, rows, MATH, part_rows=900))
    places = np.array([2499, 0, 899, 900, 1024])
    found = dict(rows_at(folder, places))
    assert sorted(found) == sorted(places)
    assert all(row["row_id"] == place for place, row in found.items())
    assert found[900]["completion"] == rows[900]["completion"]


def test_lengths_are_tokens_where_there_are_some_else_characters(tmp_path):
    rows = list(math_rows(40))
    tokens = numbers_of(open_folder(write_folder(tmp_path / "a", rows, MATH)), MATH[0])
    assert tokens.unit == "tokens"
    assert tokens.lengths.tolist() == [len(row["completion_ids"]) for row in rows]
    rows = list(math_rows(40, tokens=False))
    characters = numbers_of(open_folder(write_folder(tmp_path / "b", rows, MATH)), MATH[0])
    assert characters.unit == "characters"
    assert characters.lengths.tolist() == [len(row["completion"]) for row in rows]
    rows = [{**row, "completion_ids": "[1, 2]"} for row in rows]  # as CSV has it
    of_text = open_folder(write_folder(tmp_path / "c", rows, MATH))
    assert numbers_of(of_text, MATH[0]).unit == "characters"
    assert "completion_ids" in of_text.others


@pytest.mark.parametrize("as_json", [False, True])
def test_messages_are_read_as_what_they_say(tmp_path, as_json):
    messages = [{"role": "assistant", "content": "It is 4."}]
    completion = json.dumps(messages) if as_json else messages
    row = hostile_row(completion=completion)
    folder = open_folder(write_folder(tmp_path, [row], ["accuracy_reward"]))
    assert numbers_of(folder, "accuracy_reward").lengths.tolist() == [len("It is 4.")]
    (_, read), *_ = rows_at(folder, np.array([0]))
    assert completion_text(read["completion"]) == "It is 4."


def test_a_run_names_its_columns(tmp_path):
    row = hostile_row(reply="It is 4.", right="4", answer="5")
    recipe = '[columns]\nsolution = "right"\n'
    folder = write_folder(
        tmp_path, [row], ["accuracy_reward"], completion_column="reply", recipe=recipe
    )
    opened = open_folder(folder)
    assert (opened.completion, opened.gold, opened.prompt) == ("reply", "right", "prompt")
    write_folder(tmp_path, [row], ["accuracy_reward"], recipe="not [toml")
    assert open_folder(folder).gold == "solution"


def test_a_folder_that_does_not_say_what_is_right_is_refused(tmp_path):
    folder = write_folder(tmp_path, [hostile_row()], ["accuracy_reward"])
    part = folder / "part-00000.parquet"
    table = pq.read_table(part)
    names = ("component", "value", "status", "decided_by", "answer", "gold", "why")
    plain = [
        [{n: one[n] for n in names} for one in row] for row in table["explanation"].to_pylist()
    ]
    place = table.schema.get_field_index("explanation")
    pq.write_table(table.set_column(place, "explanation", [plain]), part)
    assert refused(folder) == (
        f"{part} was written by an earlier version of plaudit: its explanations have "
        "no partial_gold and no right; score the table again, with --overwrite"
    )


def test_without_a_completion_there_is_no_length(tmp_path):
    row = {name: v for name, v in hostile_row().items() if name != "completion"}
    folder = open_folder(write_folder(tmp_path, [row], ["accuracy_reward"]))
    assert numbers_of(folder, "accuracy_reward").lengths.tolist() == [0]


def test_answers_that_equal_the_gold_are_one(tmp_path):
    def row(place, answer, status):
        why = [reason("format", 1.0, "scored"), reason("accuracy", 1.0, status, answer, "1/2")]
        values = {"format": 1.0, "accuracy": 1.0, "total": 2.0, "status": "scored"}
        return {"row_id": place, "group_id": "a", **values, "explanation": why}

    given = [
        ("1/2", "equal"),
        ("0.5", "equal"),
        ("0.6", "different"),
        ("0.6 ", "different"),
        ("0.7", "different"),
        (None, "no_answer"),
    ]
    rows = [row(place, *entry) for place, entry in enumerate(given)]
    rows.append({**rows[0], "row_id": 6, "explanation": None})
    folder = open_folder(write_folder(tmp_path, rows, ["format", "accuracy"]))
    answers = numbers_of(folder, "accuracy").answers.tolist()
    assert answers[0] == answers[1] == 1
    assert answers[2] == answers[3]
    assert len(set(answers)) == 4
    assert answers[5] == answers[6] == 0


def test_rejected_rows_are_counted_and_shown(tmp_path):
    assert rejected_rows(tmp_path).count == 0
    lines = [json.dumps({"line": n, "reason": "no"}) for n in range(30)]
    (tmp_path / "_rejected.jsonl").write_text("\n".join(["{broken", "", "[1]", *lines]))
    found = rejected_rows(tmp_path)
    assert found.count == 32
    assert found.examples[:3] == [
        {"reason": "{broken"},
        {"reason": "[1]"},
        {"line": 0, "reason": "no"},
    ]
    assert len(found.examples) == 20


def test_prompts_of_several_messages_keep_their_roles():
    assert prompt_text("Hi") == "Hi"
    assert prompt_text(None) == ""
    assert prompt_text([{"role": "user", "content": "Hi"}]) == "Hi"
    parts = [{"type": "image"}, {"type": "text", "text": "What is it?"}]
    messages = [{"role": "system", "content": None}, {"role": "user", "content": parts}]
    assert prompt_text(messages) == "system: \n\nuser: What is it?"
    assert prompt_text('[{"bbox_2d": [0, 0, 1, 1]}]') == '[{"bbox_2d": [0, 0, 1, 1]}]'
    assert completion_text([{"role": "assistant", "content": 4}]).startswith("[{")


@pytest.mark.parametrize("name", "answer length group right label step prompt total_".split())
def test_a_component_may_have_the_name_of_anything_else(tmp_path, name):
    row = hostile_row(0, explanation=[reason(name, 0.25, "equal", "4", "4")], **{name: 0.25})
    del row["solution"]
    folder = open_folder(write_folder(tmp_path, [row], [name]))
    numbers = numbers_of(folder, name)
    assert numbers.values[name].tolist() == [0.25]
    assert numbers.right.tolist() == [1.0]
    assert name not in (folder.gold, folder.prompt, folder.step, folder.label, *folder.others)


def test_a_column_that_a_part_lacks_is_not_used(tmp_path):
    write_folder(tmp_path / "scored", [hostile_row(0, source="a", step=1)], ["accuracy_reward"])
    write_folder(tmp_path / "more", [hostile_row(1, step=2)], ["accuracy_reward"])
    (tmp_path / "more" / "part-00000.parquet").rename(tmp_path / "scored" / "part-00001.parquet")
    folder = open_folder(tmp_path / "scored")
    assert (folder.step, folder.others) == ("step", ("step",))
    assert [row["step"] for _, row in rows_at(folder, np.arange(2), folder.others)] == [1, 2]
    with pytest.raises(InputError, match=r"--by: .*scored has no column source"):
        open_folder(tmp_path / "scored", ReportOptions(by=("source",)))
