"""Tables become the rows that trainers take, and what the model writes is scored by the presets."""

import json

import pytest

from plaudit.inputs.extract import first_tag
from plaudit.recipes import load
from plaudit.rewards.canoe import second_prompt
from plaudit.tables import InputError
from plaudit.tables.readers import read_rows
from plaudit.train.prompts import (
    CANOE_SYSTEM,
    VLM_R1_TEMPLATES,
    canoe_prompt,
    canoe_rows,
    vlm_r1_prompt,
    vlm_r1_rows,
)

TABLE = [
    {"context": "Ada {lives} in Rome. Bo lives in Oslo.", "question": "Where?", "answer": "Rome"},
    {"context": "It is 4.", "question": "How many?", "answer": 4, "level": "easy"},
]


def line(problem, answer, **others):
    said = [{"from": "human", "value": f"<image>{problem}"}, {"from": "gpt", "value": answer}]
    return {"conversations": said, **others}


def written(table, path):
    path.write_text("".join(json.dumps(row) + "\n" for row in table))
    return path


def test_canoe_rows_of_a_file_and_of_rows_are_the_same(tmp_path):
    rows = canoe_rows(TABLE)
    assert canoe_rows(written(TABLE, tmp_path / "table.jsonl")) == rows
    assert [row["solution"] for row in rows] == ["Rome", 4]
    assert rows[1]["level"] == "easy"
    assert rows[0]["prompt"] == canoe_prompt(TABLE[0]["context"], "Where?")
    assert rows[0]["problem"] == rows[0]["prompt"][-1]["content"]


def test_what_the_template_asks_for_is_what_the_rewards_read():
    row = canoe_rows(TABLE)[0]
    said = "<think>a</think><long_answer>Ada is in Rome.</long_answer><answer>Rome</answer>"
    assert first_tag(row["problem"], "context") == TABLE[0]["context"]
    second = second_prompt(row["prompt"], said)
    assert second[-1]["content"] == "<context>Ada is in Rome.</context>\n\nWhere?"
    columns = {name: [row[name]] for name in ("problem", "solution")}
    [scored] = load("canoe-dual")([said], **columns, completions_long_answer=[said])
    assert scored.total == 4.0
    assert all(f"<{tag}>" in CANOE_SYSTEM for tag in ("think", "long_answer", "answer", "context"))


def test_canoe_columns_may_have_other_names():
    table = [{"passage": "It is 4.", "q": "How many?", "gold": "4"}]
    [row] = canoe_rows(table, context="passage", question="q", answer="gold")
    assert row["problem"] == "<context>It is 4.</context>\n\nHow many?"


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ([TABLE[0], {"context": "x", "question": "y"}], 'row 1 has no "answer"; its columns are'),
        (
            [{**TABLE[0], "context": "</context>"}],
            'row 0: "context" must be text without <context>',
        ),
        ([{**TABLE[0], "context": ["x"]}], 'row 0: "context" must be text'),
        ([{**TABLE[0], "question": float("nan")}], 'row 0 has no "question"'),
        ([{**TABLE[0], "answer": float("nan")}], 'row 0 has no "answer"'),
    ],
)
def test_canoe_names_the_row_that_it_cannot_read(table, complaint):
    with pytest.raises(ValueError, match=complaint):
        canoe_rows(table)


def test_a_row_must_be_a_dict():
    with pytest.raises(TypeError, match="row 0 must be a dict, got str: 'x'"):
        canoe_rows(["x"])


def test_a_table_may_be_elsewhere():
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://tables/canoe.jsonl", "w") as file:
        file.write(json.dumps(TABLE[0]))
    assert canoe_rows("memory://tables/canoe.jsonl") == canoe_rows(TABLE[:1])


def test_a_file_that_cannot_be_read_names_the_line(tmp_path):
    (tmp_path / "table.jsonl").write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(InputError, match=r"table.jsonl, line 2: not JSON"):
        canoe_rows(tmp_path / "table.jsonl")


def test_records_of_parquet_are_read_too(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(TABLE[:1]), tmp_path / "table.parquet")
    assert read_rows([tmp_path / "table.parquet"]) == TABLE[:1]
    assert canoe_rows(tmp_path / "table.parquet") == canoe_rows(TABLE[:1])


def test_vlm_r1_lines_become_rows(tmp_path):
    table = [
        line("the kite", [10, 20, 110, 220], image="kite.png", id=7),
        line(
            "How many?", "<answer> 3 </answer>", image=["a.png", "b.png"], accu_reward_method="math"
        ),
        line("What is 2 + 2?", 4.0),
    ]
    path = written(table, tmp_path / "lines.jsonl")
    one, several, none = vlm_r1_rows(path, tmp_path, accu_reward_method="mcq")
    assert one["image_path"] == one["images"] == [str(tmp_path / "kite.png")]
    assert (one["problem"], one["solution"]) == ("the kite", "<answer>[10, 20, 110, 220]</answer>")
    assert (one["id"], one["accu_reward_method"]) == (7, "mcq")
    assert several["image_path"] == [str(tmp_path / "a.png"), str(tmp_path / "b.png")]
    assert (several["solution"], several["accu_reward_method"]) == ("<answer>3</answer>", "math")
    assert none["solution"] == "<answer>4.0</answer>"
    assert "images" not in none
    assert one["prompt"] == vlm_r1_prompt("the kite")


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"image": "a.png"}, 'row 0 has no "conversations"'),
        ({"conversations": [{"value": "a"}]}, 'row 0: "conversations" must hold the problem and'),
        ({"conversations": 3}, 'row 0: "conversations" must hold the problem and'),
        (line("a", float("nan")), 'row 0: "conversations" must hold the problem and'),
        (line("a", "b", image=[3]), r'row 0: "image" must name files, got \[3\]'),
        (line("a", "b", image=3), 'row 0: "image" must name files, got 3'),
        (
            line("a", "b", image={"bytes": b"PNG", "path": "kite.png"}),
            'row 0: "image" must name files, got {',
        ),
    ],
)
def test_vlm_r1_names_the_row_that_it_cannot_read(row, complaint):
    with pytest.raises(ValueError, match=complaint):
        vlm_r1_rows([row])


@pytest.mark.parametrize(
    ("template", "preset", "answer", "gold", "total"),
    [
        ("rec", "vlm-r1-rec", '{"bbox_2d": [0, 0, 56, 56]}', "[0, 0, 56, 56]", 2.0),
        ("detection", "vlm-r1-od", "BOXES", "BOXES", 2.0),
    ],
)
def test_what_the_templates_show_is_what_the_rewards_read(template, preset, answer, gold, total):
    boxes = '```json\n[{"bbox_2d": [0, 0, 56, 56], "label": "kite"}]\n```'
    answer, gold = answer.replace("BOXES", boxes), gold.replace("BOXES", boxes)
    assert '"bbox_2d"' in vlm_r1_prompt("a", template)[0]["content"]
    said = f"<think>a</think>\n<answer>{answer}</answer>"
    [scored] = load(preset)([said], solution=[f"<answer>{gold}</answer>"], images=[[[112, 112]]])
    assert scored.total == total


@pytest.mark.parametrize("template", VLM_R1_TEMPLATES)
def test_a_problem_stands_in_its_template_as_it_is(template):
    [message] = vlm_r1_prompt('the {kite} of "{problem}"', template)
    assert 'the {kite} of "{problem}"' in message["content"]
    assert "{{" not in message["content"]


def test_a_template_that_is_not_there():
    with pytest.raises(ValueError, match="template must be one of rec, detection, free, got 'box'"):
        vlm_r1_prompt("a", "box")
