"""What check and audit share: the texts that say a gold, and the formats of answers."""

import pytest

from plaudit.reports.honest_answers import (
    AnswerFormat,
    GoldKind,
    alternatives,
    bare_answer,
    learn_format,
    number_text,
    read_gold,
    usual_formats,
)


@pytest.mark.parametrize(
    ("gold", "kind", "texts"),
    [
        ("-7", "number", ("-7",)),
        (r"\frac{7}{12}", "number", (r"\frac{7}{12}",)),
        (r"6 \times 10^{4} J", "quantity", (r"6 \times 10^{4} J",)),
        ("<answer> 5 </answer>", "number", ("5", "<answer> 5 </answer>")),
        ("<choice>A</choice>", "letter", ("A", "<choice>A</choice>")),
        ("So 2 + 2 is\n#### 4", "number", ("4", "So 2 + 2 is\n#### 4")),
        ({"ground_truth": "4", "style": "rule"}, "number", ("4",)),
        (["blue", "red"], "items", ("blue\nred", "blue, red", '["blue", "red"]', "blue")),
        ("$x^2$", "text", ("x^2", "$x^2$")),
        (True, "text", ("True",)),
    ],
)
def test_a_gold_is_read(gold, kind, texts):
    found = read_gold(gold)
    assert (found.kind, found.texts) == (GoldKind(kind), texts)


def test_boxes_keep_their_numbers_and_labels():
    found = read_gold('[{"bbox_2d": [1, 2, 3.5, 4], "label": "cat"}]')
    assert (found.kind, found.boxes, found.labels) == (GoldKind.BOXES, ((1, 2, 3.5, 4),), ("cat",))
    assert read_gold([1, 2, 3, 4]).texts[0] == "[1, 2, 3, 4]"


@pytest.mark.parametrize("gold", [None, "", "  ", b"4", [], [None]])
def test_what_is_no_gold_is_not_read(gold):
    assert read_gold(gold) is None


def test_a_letter_past_j_is_an_option_only_if_there_are_options():
    assert read_gold("R").kind is GoldKind.TEXT
    assert read_gold("R", has_choices=True).kind is GoldKind.LETTER


def test_numbers_are_taken_apart_and_written_again():
    found = number_text(r"-\frac{2}{3}")
    assert (found.text(), round(found.value, 3)) == (r"-\frac{2}{3}", -0.667)
    assert number_text("-2.5e3 km").rest == "e3 km"
    assert number_text("Paris") is None
    assert number_text("9" * 1000) is None


@pytest.mark.parametrize(
    "text", ["$$4$$", r"\(4\)", "```json\n4\n```", r"<answer>\boxed{4}</answer>"]
)
def test_marks_around_a_gold_are_no_part_of_it(text):
    assert bare_answer(text) == "4"


def test_alternatives_of_one_text():
    assert alternatives("Rome|<answer>Roma</answer>", "|") == ["Rome", "Roma"]


@pytest.mark.parametrize(
    ("template", "mark"),
    [
        ("So $\\boxed{{answer}}$.", ("\\boxed{", "}")),
        ("<answer>\n{answer}\n</answer>", ("<answer>\n", "\n</answer>")),
        ("{reasoning}\n#### {answer}", ("#### ", "")),
        ("{answer}", ("", "")),
    ],
)
def test_the_mark_of_a_format(template, mark):
    assert AnswerFormat.of(template).mark == mark


def test_formats_of_tags_that_are_named():
    last = usual_formats(["plan", "answer"])[-1]
    assert last.write("4", "2 + 2") == "<plan>2 + 2</plan>\n<answer>4</answer>"
    assert last.name == "<plan>…</plan> <answer>…</answer>"


def test_a_format_is_learnt_from_two_completions_at_least():
    assert learn_format({0: "#### 4", 1: "It is 5"}, {0: ["4"], 1: ["6"]}) is None
    learnt = learn_format({0: "Hm.\n#### 4", 1: "So.\n#### 5"}, {0: ["4"], 1: ["5"]})
    assert learnt.write("7", "Well.") == "Well..\n#### 7"


def test_calls_and_objects_are_golds():
    accepted = [{"f": {"a": [1, 2], "b": ["", 3], "c": [{"d": ["x", "y"]}]}}]
    calls = read_gold(accepted)
    assert calls.kind is GoldKind.CALLS
    assert calls.texts[0] == '[{"name": "f", "arguments": {"a": 1, "c": {"d": "x"}}}]'
    assert calls.texts[2] == "[f(a=1, c={'d': 'x'})]"
    found = read_gold({"colour": "red"})
    assert (found.kind, found.texts) == (GoldKind.OBJECT, ('{"colour": "red"}',))
