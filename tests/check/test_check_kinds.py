"""Each kind of findings, on a few rows, for rewards of several kinds."""

import json

import pyarrow as pa
import pytest
from inline_work import check_here
from PIL import Image

import plaudit
from plaudit.recipes import Component, Recipe, load
from plaudit.reports.check import check_table
from plaudit.reports.check._findings import read_findings
from plaudit.tables import InputError, StoppedError


@pytest.fixture
def in_process(monkeypatch):
    check_here(monkeypatch)


@pytest.fixture
def found(tmp_path, in_process):
    """What is found in some rows: {(kind, line), …}, or the findings with `whole`."""

    def found_in(rows, recipe="math", whole=False, **options):
        table = tmp_path / "table.jsonl"
        table.write_text("".join(json.dumps(row) + "\n" for row in rows))
        recipe = load(recipe) if isinstance(recipe, str) else recipe
        check_table(table, recipe, out=tmp_path / "out", **options)
        findings = read_findings(tmp_path / "out" / "findings.parquet")
        return findings if whole else {(finding.kind, finding.line) for finding in findings}

    return found_in


def sums(*golds, **columns):
    return [
        {"question": f"Which number is number {place}?", "solution": gold, **columns}
        for place, gold in enumerate(golds)
    ]


def test_sound_rows_have_no_findings(found):
    assert found(sums("4", "1/2", r"\frac{1}{2}", "$2$", "Paris", "x^2 + 1", 4, 0.5)) == set()


@pytest.mark.parametrize(
    ("gold", "kind"),
    [
        (None, "missing_value"),
        ("<answer> </answer>", "missing_value"),
        (r"\frac{1}{", "unreadable_gold"),
        ("\times 10", "unreadable_gold"),
        ({"a": 4}, "unreadable_gold"),
        ("9^{9^{9^9}}", "expensive_gold"),
        ("...", "placeholder_gold"),
    ],
    ids=["null", "empty-tag", "brace", "escape", "dict", "tower", "dots"],
)
def test_golds_that_are_wrong_by_themselves(found, gold, kind):
    assert found(sums("4", gold, "5")) == {(kind, 2)}


@pytest.mark.filterwarnings("ignore:the gold .* is read as")
def test_what_trl_reads_in_part_or_not_as_itself(found):
    rows = sums("4", r"2\sqrt{2}", "15th Day", "words alone", "$5$")
    kinds = {line: kind for kind, line in found(rows, "trl-math")}
    assert kinds == {2: "partial_gold", 3: "unequal_gold", 4: "unreadable_gold"}


def test_boxes_that_the_reward_does_not_see_pay_any_answer(found):
    """The preset reads boxes in a fence alone: without one, there are none to find."""
    boxes = '[{"bbox_2d": [0, 0, 30, 90], "label": "kite"}]'
    fenced = f"```json\n{boxes}\n```"
    assert found([{"solution": fenced}] * 2, "vlm-r1-od") == set()
    assert found([{"solution": boxes}], "vlm-r1-od") == {("partial_gold", 1)}


def test_a_column_that_is_missing_in_a_row(found):
    rows = [*sums("4"), {"question": "And this?"}]
    (finding,) = found(rows, whole=True)
    assert (finding.kind, finding.why) == ("missing_value", "The row has no column solution.")


def test_the_same_prompt_twice(found):
    rows = [
        {"question": "Half of 1?", "solution": "1/2"},
        {"question": "Half of 1?", "solution": "0.5"},
        {"question": "Half of 2?", "solution": "1"},
        {"question": "Half of 2?", "solution": "2"},
        {"question": "Half of 2?", "context": "of a cake", "solution": "2"},
    ]
    assert found(rows) == {
        ("duplicate_row", 2),
        ("conflicting_golds", 3),
        ("conflicting_golds", 4),
    }


def test_findings_about_two_rows_name_the_other(found):
    rows = [{"question": "Half of 2?", "solution": gold} for gold in ("1", "2", "1.0")]
    findings = found(rows, whole=True)
    assert [finding.related_row for finding in findings] == [1, 0, 1]
    assert "the same prompt and the gold 2" in findings[2].why


def test_rows_with_completions_are_twice_only_if_nothing_differs(found):
    rows = [
        {"question": "1 + 1?", "solution": "2", "completion": rf"\boxed{{{answer}}}"}
        for answer in (2, 3, 2)
    ]
    assert found(rows) == {("duplicate_row", 3)}


@pytest.mark.parametrize("listed", [True, False])
def test_golds_that_look_wrong(found, listed):
    said = [rf"\boxed{{{answer}}}" for answer in ("7", "7", "7.0", "$7$", "8")]
    right = [rf"\boxed{{{answer}}}" for answer in ("7", "7", "7", "4", "8")]
    prompts = [("a", said), ("b", right)]
    if listed:
        rows = [{"prompt": p, "solution": "4", "completions": texts} for p, texts in prompts]
    else:
        rows = [
            {"prompt": p, "solution": "4", "completion": text, "seed": seed}
            for p, texts in prompts
            for seed, text in enumerate(texts)
        ]
    findings = found(rows, whole=True)
    assert {finding.prompt for finding in findings} == {"a"}
    assert {finding.kind for finding in findings} == {"suspicious_gold"}
    assert len(findings) == (1 if listed else 5)
    assert findings[0].why == "3 of 5 completions answer 7, and none is right."


def test_letters_that_are_no_option(found):
    asked = "Which? (A) red (B) green (C) blue"
    rows = [
        {"question": asked, "solution": "B"},
        {"question": f"{asked}?", "solution": "(D)"},
        {"question": "And?", "solution": "C", "choices": ["red", "green"]},
        {"question": "Or?", "solution": "Green.", "choices": ["red", "green"]},
        {"question": "So?", "solution": "1", "choices": ["red", "green"]},
        {"question": "Points A. and C. are given, name another.", "solution": "E"},
    ]
    assert found(rows) == {("unknown_option", 2), ("unknown_option", 3)}


def test_calls_that_violate_their_schemas(found):
    properties = {"id": {"type": "integer"}, "why": {"type": "string"}}
    tools = [{"name": "cancel", "parameters": {"properties": properties, "required": ["id"]}}]
    golds = [
        [{"name": "cancel", "arguments": {"id": 1}}],
        [{"name": "cancel", "arguments": {"id": "1"}}],
        [{"name": "cancel", "arguments": {"id": 1, "who": "me"}}],
        [{"name": "cancel", "arguments": {"why": "rain"}}],
        [{"name": "book", "arguments": {"id": 1}}],
        [{"cancel": {"id": [1, "one"], "why": ["rain", ""]}}],
        [],
    ]
    assert found(sums(*golds, tools=tools), "tools") == {
        ("schema_violation", line) for line in (2, 3, 4, 5)
    }


def test_schemas_that_cannot_be_used_and_golds_that_violate_them(found):
    whole = {"type": "object", "required": ["a"]}
    rows = sums({"a": 1}, {"b": 1}, None, {"a": 1})
    for row, schema in zip(rows, [whole, whole, whole, {"type": "whole"}], strict=True):
        row["schema"] = json.dumps(schema)
    assert found(rows, "json") == {("schema_violation", 2), ("unreadable_gold", 4)}


def test_images_and_boxes(found, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Image.new("RGB", (280, 140)).save("kite.png")
    (tmp_path / "text.png").write_text("no image")
    golds = ["[10, 10, 100, 100]", "[10, 10, 300, 100]", "<answer>[90, 10, 10, 100]</answer>"]
    rows = [
        {"problem": str(place), "solution": gold, "image_path": ["kite.png"]}
        for place, gold in enumerate(golds)
    ]
    rows.append({"problem": "3", "solution": golds[0], "image_path": "text.png"})
    rows.append({"problem": "4", "solution": golds[0], "image_path": [280, 90]})
    rows.append({"problem": "5", "solution": "a kite", "image_path": "kite.png"})
    rows.append({"problem": "6", "solution": golds[0], "image_path": None})
    assert found(rows, "vlm-r1-rec") == {
        ("box_outside_image", 2),
        ("box_outside_image", 3),
        ("unreadable_image", 4),
        ("box_outside_image", 5),
        ("unreadable_gold", 6),
        ("missing_value", 7),
    }


def test_boxes_by_the_size_that_a_row_says(found):
    box = '```json\n[{"bbox_2d": [0, 0, 300, 90], "label": "kite"}]\n```'
    rows = [{"solution": box, "width": width, "height": 100} for width in (300, 200)]
    assert found(rows, "vlm-r1-od") == {("box_outside_image", 2)}


@pytest.mark.parametrize(
    ("box", "hint"),
    [
        ([120, 40, 60, 20], 'gold_order = "xywh"'),
        ([0.1, 0.2, 0.5, 0.9], 'gold_scale = "unit"'),
        ([100, 200, 700, 900], 'gold_scale = "thousand"'),
        ([-40, 0, 30, 30], "reaches out of its image"),
    ],
)
def test_boxes_in_another_order_or_scale(box, hint, found):
    rows = [{"prompt": "Where?", "solution": box, "image_size": [640, 480]}]
    findings = found(rows, "grounding", whole=True)
    assert any(hint in str(one) for one in findings if one.kind == "box_outside_image")
    assert found([{**rows[0], "solution": [1, 2, 30, 40]}], "grounding") == set()


@pytest.mark.parametrize(
    ("recipe", "gold", "written"),
    [
        ("math", "4", r"\boxed{…}"),
        ("qa", "Rome/Roma", r"\boxed{…}"),
        ("trl-reasoning", "4", r"<think>…</think> \boxed{…}"),
        ("canoe", "Paris", "<answer>…</answer>"),
    ],
    ids=["math", "qa", "trl-reasoning", "canoe"],
)
@pytest.mark.usefixtures("in_process")
def test_the_format_that_a_reward_wants_is_found(recipe, gold, written):
    rows = [{"problem": f"<context>{n}</context>", "solution": gold} for n in range(3)]
    result = plaudit.check(rows, recipe)
    assert result.findings == []
    assert written in result.summary.formats.values()


def test_a_reward_of_the_users_own_with_a_format_of_its_own(found, tmp_path, monkeypatch):
    (tmp_path / "secret_rewards.py").write_text(
        "def secret(completions, answer, **kwargs):\n"
        "    return [float(c == f'[[{a}]]') for c, a in zip(completions, answer)]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    recipe = Recipe("own", (Component("", "secret_rewards:secret"),))
    rows = [{"answer": gold} for gold in ("4", "5", None, "6 ")]
    assert found(rows, recipe) == {("missing_value", 3)}
    assert "--template" in plaudit.check(rows, recipe).summary.notes[-1]
    expected = {("missing_value", 3), ("unequal_gold", 4)}
    assert found(rows, recipe, template="[[{answer}]]") == expected


def test_a_reward_that_fails_on_every_row_stops_the_check(found, tmp_path, monkeypatch):
    (tmp_path / "rewards_that_raise.py").write_text(
        "def failing(completions, solution, **kwargs):\n    raise KeyError('missing')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    recipe = Recipe("own", (Component("", "rewards_that_raise:failing"),))
    with pytest.raises(StoppedError, match="every row fails with the same error"):
        found(sums(*"123456789"), recipe)


def test_kinds_can_be_skipped(found):
    assert found(sums("4", None), skip=["missing_value"]) == set()
    with pytest.raises(InputError, match="there is no kind 'missing' to skip; the kinds are"):
        found(sums("4"), skip=["missing"])


def test_columns_that_trainers_make_are_not_asked_for(found):
    params = {"max_len": 100}
    cosine = Component("", "trl.get_cosine_scaled_reward", params=params)
    assert found(sums("4", "words"), Recipe("brief", (cosine,))) == {("unreadable_gold", 2)}


@pytest.mark.usefixtures("in_process")
def test_tables_in_memory():
    columns = {"question": ["a", "b"], "answer": ["4", None]}
    rows = [{"question": "a", "answer": "4"}, {"question": "b", "answer": None}]
    for table in (columns, rows, pa.table(columns)):
        result = plaudit.check(table, load("math"), solution="answer")
        assert result.failed_rows == [1]
        assert str(result).startswith("2 rows checked, 1 has findings")
        assert "row 1: The column answer is null." in str(result)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ([], "the table is empty"),
        ([1], "row 0 must be a dict such as"),
        (
            [{"key": "4"}],
            'there is no column "solution", which "accuracy" needs; if it has',
        ),
    ],
    ids=["empty", "number", "no-gold"],
)
def test_what_is_no_table_is_said(table, said):
    with pytest.raises(InputError, match=said):
        plaudit.check(table, "math")


@pytest.mark.usefixtures("in_process")
def test_a_column_is_guessed_by_its_meaning_and_a_note_says_so():
    (finding,) = plaudit.check([{"gold": "4"}, {"gold": None}], "math").findings
    assert finding.column == "gold"
    notes = plaudit.check([{"gold": "4"}], "math").summary.notes
    assert notes[0] == "solution: column gold (for another, say --column solution=COLUMN)"


def test_tests_that_cannot_be_read_and_references_that_fail_them(found):
    program = "def f(x):\n    return x"
    rows = [
        {"prompt": f"Write f, {n}.", "tests": tests, "reference_solution": program}
        for n, tests in enumerate((["assert f(1) == 1"], ["assert f(1) == 2"], {"what": 1}))
    ]
    assert found(rows, "code") == {("failing_reference", 2), ("unreadable_tests", 3)}
