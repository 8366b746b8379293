"""One completion a row or a list of them, groups, and columns whatever they hold."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plaudit.recipes import Component, Recipe, load
from plaudit.tables import InputError, score_table
from tables import jsonl, rejected, scored

pytestmark = pytest.mark.usefixtures("in_process")


def messages(text):
    return [{"role": "assistant", "content": text}]


RIGHT, WRONG = r"<think>…</think> \boxed{4}", r"<think>…</think> \boxed{5}"


def test_a_list_of_completions_gives_a_row_each(tmp_path, recipe):
    table = jsonl(
        tmp_path / "a.jsonl",
        [
            {"prompt": "2 + 2?", "completions": [RIGHT, WRONG], "solution": "4", "step": 1},
            {"prompt": "2 + 2?", "completions": [messages(RIGHT)], "solution": "4", "step": 2},
        ],
    )
    score_table([table], recipe, tmp_path / "out")
    rows = scored(tmp_path / "out").to_pylist()
    assert [row["row_id"] for row in rows] == [0, 1, 2]
    assert [row["group_id"] for row in rows] == ["0", "0", "1"]
    assert [row["accuracy"] for row in rows] == [1.0, 0.0, 1.0]
    assert [row["step"] for row in rows] == [1, 1, 2]
    assert [row["completion"] for row in rows] == [
        RIGHT,
        WRONG,
        json.dumps(messages(RIGHT), ensure_ascii=False),
    ]
    assert "completions" not in rows[0]


def test_a_list_that_begins_with_null_is_a_list_of_completions(tmp_path, recipe):
    rows = [{"completions": [None, RIGHT], "solution": "4"}, {"completions": [None]}]
    score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
    assert scored(tmp_path / "out")["accuracy"].to_pylist() == [1.0]
    assert [(bad["line"], bad["reason"]) for bad in rejected(tmp_path / "out")] == [
        (1, "completions[0] must be text or a list of messages, got NoneType"),
        (2, "the row has no column solution"),
    ]


@pytest.mark.parametrize("said", [str, messages])
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_lists_of_texts_or_messages_keep_their_shape(tmp_path, recipe, said, kind):
    rows = [
        {
            "completions": [said(RIGHT), said(WRONG)],
            "solution": "4",
            "completion_ids": [[1], [2, 3]],
        },
        {"completions": [said(WRONG)], "solution": "5", "completion_ids": [[4]]},
    ]
    if kind == "jsonl":
        file = jsonl(tmp_path / "a.jsonl", rows)
    else:
        file = tmp_path / "a.parquet"
        pq.write_table(pa.Table.from_pylist(rows), file)
    score_table([file], recipe, tmp_path / "out")
    table = scored(tmp_path / "out")
    assert table["completion"].to_pylist() == [said(RIGHT), said(WRONG), said(WRONG)]
    assert table["accuracy"].to_pylist() == [1.0, 0.0, 1.0]
    assert table["completion_ids"].to_pylist() == [[1], [2, 3], [4]]
    assert table["group_id"].to_pylist() == ["0", "0", "1"]


def test_columns_with_something_for_each_completion_are_taken_apart(tmp_path):
    recipe = Recipe(
        "ids",
        (
            Component(
                "",
                "trl.get_soft_overlong_punishment",
                params={"max_completion_len": 4, "soft_punish_cache": 2},
            ),
        ),
    )
    rows = [
        {"completions": ["a", "b"], "completion_ids": [[1, 2], [1, 2, 3]]},
        {"completions": ["c", "d"], "completion_ids": [[1, 2]]},
    ]
    score_table([jsonl(tmp_path / "a.jsonl", rows[:1])], recipe, tmp_path / "out")
    assert scored(tmp_path / "out")["total"].to_pylist() == [0.0, -0.5]
    more = jsonl(tmp_path / "b.jsonl", rows[:1] * 2500 + rows[1:])
    score_table([more], recipe, tmp_path / "more")
    (bad,) = rejected(tmp_path / "more")
    assert bad["reason"] == "completion_ids must be a list of 2, one entry per completion"
    assert bad["line"] == 2501


def test_rows_with_the_same_prompt_are_a_group(tmp_path, rows, recipe):
    score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
    assert scored(tmp_path / "out")["group_id"].to_pylist() == [row["prompt"] for row in rows]


def test_long_prompts_are_groups_by_their_digest(tmp_path, recipe):
    prompts = ["x" * 100, "x" * 100, "y" * 100, [{"role": "user", "content": "z"}], None]
    rows = [{"problem": p, "completion": "", "solution": "4"} for p in prompts]
    score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
    first, second, third, fourth, fifth = scored(tmp_path / "out")["group_id"].to_pylist()
    assert first == second
    assert len({first, third, fourth}) == 3
    assert all(len(group) == 16 for group in (first, third))
    assert fourth == '[{"content": "z", "role": "user"}]'
    assert fifth == "row 4"


def test_a_column_can_say_what_the_groups_are(tmp_path, rows, recipe):
    file = jsonl(tmp_path / "a.jsonl", [dict(row, id=row["step"] % 2) for row in rows])
    score_table([file], recipe, tmp_path / "out", group="id")
    assert scored(tmp_path / "out")["group_id"].to_pylist() == ["0", "1"] * 6
    with pytest.raises(
        InputError, match=r"a.jsonl has no column ids \(--group\); its columns are prompt"
    ):
        score_table([file], recipe, tmp_path / "out", group="ids")


def test_without_prompts_each_row_is_its_own_group(tmp_path, recipe):
    rows = [{"completion": "a", "solution": "4"}] * 2
    score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
    assert scored(tmp_path / "out")["group_id"].to_pylist() == ["0", "1"]


def test_names_of_columns_can_be_given(tmp_path, recipe):
    rows = [{"response": RIGHT, "gold": "4", "completion": 7}] * 2
    file = jsonl(tmp_path / "a.jsonl", rows)
    summary = score_table(
        [file], recipe, tmp_path / "out", completions="response", columns={"solution": "gold"}
    )
    assert summary.values["accuracy"] == (2, 1.0)
    assert (
        json.loads((tmp_path / "out" / "_run.json").read_text())["completion_column"] == "response"
    )
    with pytest.raises(InputError, match=r'no reward takes "solutoin"; did you mean "solution"'):
        score_table([file], recipe, tmp_path / "out", columns={"solutoin": "gold"})


def test_a_missing_column_is_answered_with_the_nearest(tmp_path, recipe):
    file = jsonl(tmp_path / "a.jsonl", [{"completion": "a", "solutoin": "4"}])
    with pytest.raises(InputError, match=r'a.jsonl: there is no column "solution".*"solutoin"'):
        score_table([file], recipe, tmp_path / "out")
    file = jsonl(tmp_path / "b.jsonl", [{"complete": "a", "solution": "4"}])
    with pytest.raises(InputError, match=r'no column "completions" or "completion".*"complete"'):
        score_table([file], recipe, tmp_path / "out")
    with pytest.raises(InputError, match=r'there is no column "text"'):
        score_table([file], recipe, tmp_path / "out", completions="text")
    assert not (tmp_path / "out").exists()


def test_two_columns_of_completions_must_be_told_apart(tmp_path, recipe):
    file = jsonl(tmp_path / "a.jsonl", [{"completion": "a", "completions": ["a"], "solution": "4"}])
    with pytest.raises(InputError, match=r"--completions COLUMN"):
        score_table([file], recipe, tmp_path / "out")
    score_table([file], recipe, tmp_path / "listed", completions="completions")
    (row,) = scored(tmp_path / "listed").to_pylist()
    assert (row["completion"], row["completions"]) == ("a", "a")
    assert score_table([file], recipe, tmp_path / "out", completions="completion").rows == 1


def test_files_must_agree_on_what_a_row_holds(tmp_path, recipe):
    one = jsonl(tmp_path / "one.jsonl", [{"completions": RIGHT, "solution": "4"}])
    many = jsonl(tmp_path / "many.jsonl", [{"completions": [RIGHT], "solution": "4"}])
    with pytest.raises(
        InputError, match=r"one.jsonl has one completion per row, .*many.jsonl has a list"
    ):
        score_table([one, many], recipe, tmp_path / "out")


def test_columns_of_several_types_are_text(tmp_path, recipe):
    values = [4, "4", None, [1, {"a": "é"}], True]
    rows = [{"completion": RIGHT, "solution": "4", "any": v, "none": None} for v in values]
    score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
    table = scored(tmp_path / "out")
    assert table["any"].to_pylist() == ["4", "4", None, '[1, {"a": "é"}]', "true"]
    assert table.schema.field("none").type == pa.string()
    assert table["accuracy"].to_pylist() == [1.0] * 5


def test_dictionaries_with_ever_new_keys_are_text(tmp_path, recipe):
    rows = [{"completion": RIGHT, "solution": "4", "by": {f"key {n}": n}} for n in range(150)]
    score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
    assert scored(tmp_path / "out")["by"][7].as_py() == '{"key 7": 7}'


def test_numbers_keep_their_text_for_the_reward(tmp_path, recipe):
    rows = [{"completion": RIGHT, "solution": v} for v in (4, 4.0, 2**70)]
    score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
    explained = scored(tmp_path / "out")["explanation"].to_pylist()
    assert [reasons[0]["gold"] for reasons in explained] == ["4", "4.0", str(2**70)]


LATE = [
    ({"step": 1.5}, {"step": 1.5}),
    ({"step": "one"}, {"step": "one"}),
    ({"step": 2**70}, {"step": 2**70}),
    ({"meta": {"a": 1, "new": 2}}, {"meta": {"a": 1, "new": 2}}),
    ({"meta": {"a": None, "b": []}}, None),
    ({"new": [1]}, {"new": [1]}),
    ({"prompt": "half \ud83d"}, {"prompt": "half \ud83d"}),
    ({"ratio": 2}, None),
]


@pytest.mark.parametrize(("late", "kept"), LATE)
def test_a_late_value_that_does_not_fit_is_kept_beside_its_column(tmp_path, recipe, late, kept):
    row = {"prompt": "p", "completion": RIGHT, "solution": "4", "step": 1, "ratio": 0.5}
    row["meta"] = {"a": 1, "b": ["x"], "c": None}
    score_table(
        [jsonl(tmp_path / "a.jsonl", [row] * 2500 + [{**row, **late}])], recipe, tmp_path / "out"
    )
    last = scored(tmp_path / "out").slice(2500).to_pylist()[0]
    assert last["accuracy"] == 1.0
    assert (json.loads(last["other_values"]) if last["other_values"] else None) == kept
    if "prompt" in late:
        assert last["prompt"] == "half ?"
    assert rejected(tmp_path / "out") == []


def test_half_a_character_in_a_completion_is_no_trouble(tmp_path):
    recipe = Recipe("text", (Component("accuracy", "canoe.accuracy_reward"),))
    rows = [{"completion": "<answer>so \ud83d</answer>", "solution": "so"}]
    score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
    (row,) = scored(tmp_path / "out").to_pylist()
    assert row["completion"] == "<answer>so ?</answer>"
    assert row["explanation"][0]["answer"] == "so ?"
    assert json.loads(row["other_values"])["completion"] == rows[0]["completion"]


def test_rows_without_a_gold_have_no_total(tmp_path):
    rows = [{"completion": RIGHT, "solution": gold} for gold in ("4", None)]
    summary = score_table([jsonl(tmp_path / "a.jsonl", rows)], load("trl-math"), tmp_path / "out")
    table = scored(tmp_path / "out")
    assert table["total"].to_pylist() == [1.0, None]
    assert table["status"].to_pylist() == ["scored", "bad_gold"]
    assert summary.statuses == {"bad_gold": 1, "scored": 1}
    assert "1 row without a value" in str(summary)
