"""Every part of a text that a reward reads, and how long finding it may take."""

import pytest

from growth import exponent
from plaudit.inputs import extract


def test_tags_span_lines_and_are_stripped():
    text = "<answer>\n first\nline \n</answer> and <answer> second </answer>"
    assert extract.first_tag(text, "answer") == "first\nline"
    assert extract.last_tag(text, "answer") == "second"


@pytest.mark.parametrize("text", ["", "4", "<answer>4", "4</answer>", "</answer>4<answer>"])
def test_a_tag_that_is_not_closed_is_none(text):
    assert extract.first_tag(text, "answer") is None
    assert extract.last_tag(text, "answer") is None


def test_fences_by_language():
    text = "```python\nx\n``` ```json\n[1]\n``` ```json\n[2]\n```"
    assert extract.first_fence(text, "json") == "[1]"
    assert extract.last_fence(text, "json") == "[2]"
    assert extract.first_fence(text) == "python\nx"
    assert extract.last_fence("none", "json") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>a</think><answer>b</answer>", True),
        ("<think>a\n</think>\n \n<answer>\nb</answer>", True),
        ("<think></think><answer></answer>", True),
        ("<think>a</think>x</think><answer>b</answer>", True),
        ("<think>a</think> x <answer>b</answer>", False),
        (" <think>a</think><answer>b</answer>", False),
        ("<think>a</think><answer>b</answer>\n", False),
        ("<think>a</think><answer>", False),
        ("<think>a<answer>b</answer>", False),
        ("<think></answer>", False),
        ("", False),
    ],
)
def test_only_tags(text, expected):
    assert extract.only_tags(text, "think", "answer") is expected


def test_patterns_in_order():
    assert extract.in_order("a1b", "a", r"\d", "b")
    assert not extract.in_order("1ab", "a", r"\d", "b")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Left\nright", "left right"),
        ("left \nright", "left right"),
        ("left\r\n\r\nright", "left right"),
        ("left\n right", "left  right"),
        (" STOP... ", "stop"),
        ("<answer>A</answer> <answer>\nB.\n</answer>", "b"),
        ("", ""),
    ],
)
def test_clean(text, expected):
    assert extract.clean(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\tfrac12", r"\frac{1}{2}"),
        (r"\frac1{72}", r"\frac{1}{72}"),
        (r"\frac{1}2", r"\frac{1}{2}"),
        (r"3/4", r"\frac{3}{4}"),
        (r"2\sqrt3", r"2\sqrt{3}"),
        (r"\sqrt[3]{2}", r"\sqrt[3]{2}"),
        (r"\left[1, 2\right)", "[1,2)"),
        (r"90^{\circ}", "90"),
        (r"50\%", "50"),
        (r"\$5\text{ each}", "5"),
        ("k = -.5", "-0.5"),
        ("0.5", r"\frac{1}{2}"),
        ("y=2=x", "y=2=x"),
        (r"a \leftarrow b", r"a\leftarrowb"),
        ("", ""),
    ],
)
def test_plain_latex(text, expected):
    assert extract.plain_latex(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("B", "B"),
        ("b.", "B"),
        ("The answer is B.", "B"),
        ("A, B", "B"),
        ("(C)", None),
        ("ABC", None),
        ("", None),
        ("the correct answer is C, though many people would rather have said D, as one does", "C"),
        ("A: no. 正确答案是 B.", "B"),
        ("C. or X.", "X"),
    ],
)
def test_option_letter(text, expected):
    assert extract.option_letter(text) == expected


def test_ties_between_options_go_to_the_first():
    assert extract.option_letter("Q? Z? and a long tail of words after them, to be sure") == "Q"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1, 2,3,\n4] [5, 6, 7, 8]", (1, 2, 3, 4)),
        ("[1.5, 2, 3, 4] [5, 6, 7, 8]", (5, 6, 7, 8)),
        ("[ 1, 2, 3, 4]", None),
        ("[1, 2, 3]", None),
        ("[-1, 2, 3, 4]", None),
    ],
)
def test_first_int_box(text, expected):
    assert extract.first_int_box(text) == expected


def test_a_coordinate_of_any_length_is_read():
    assert extract.first_int_box(f"[{'9' * 5000}, 1, 2, 3]") == (float("inf"), 1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[{"a": 1}]', [{"a": 1}]),
        ('{"a": 1}', [{"a": 1}]),
        ("[]", []),
        ("5", None),
        ("null", None),
        ('"text"', None),
        ("[1,", None),
        ("[" * 100_000, None),
        ("9" * 5000, None),
    ],
)
def test_json_items(text, expected):
    assert extract.json_items(text) == expected


BOX = '{"bbox_2d": [1, 2, 3, 4], "label": "cat"}'
READ = {"bbox_2d": [1, 2, 3, 4], "label": "cat"}


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n[{BOX}]\n```",
        f"```[{BOX}]```",
        f"Here: [ {BOX} ] as asked",
        f"``` ``` then [{BOX}]",
        '```json [{"bbox_2d": [1, 2, 3, 4, "label": "cat"}] ```',
        "```json [{'bbox_2d': [1, 2, 3, 4], 'label': 'cat'},] ```",
    ],
)
def test_box_lists_fenced_bare_or_broken(text):
    assert extract.box_list(text) == [READ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "words",
        "```json```",
        "```json []```",
        "```json {}```",
        '[{"bbox_2d": 1}]',
        "[{",
        "```x```",
    ],
)
def test_no_box_list(text):
    assert extract.box_list(text) is None


HOSTILE = {
    "one letter": lambda size: "a" * size,
    "openings": lambda size: "<answer>" * (size // 8),
    "pairs": lambda size: "<answer></answer>" * (size // 17),
    "thoughts": lambda size: "<think></think>" * (size // 15),
    "space": lambda size: "<think>a</think>" + " " * size,
    "seams": lambda size: "</think> " * (size // 9),
    "fences": lambda size: "```" * (size // 3),
    "json fences": lambda size: "```json" * (size // 7),
    "nesting": lambda size: "```json" + "[" * size + "```",
    "line ends": lambda size: "a \n" * (size // 3),
    "options": lambda size: "".join(f"{chr(65 + i % 26)}. " for i in range(size // 3)),
    "lists": lambda size: "[{" * (size // 2),
    "half boxes": lambda size: '[{"bbox_2d"' * (size // 11),
    "half int boxes": lambda size: "[1,2,3," * (size // 7),
    "digits": lambda size: "[" + "1" * size + ",2,3,4]",
    "fractions": lambda size: r"\frac{" * (size // 6),
    "nulls": lambda size: "\0" * size,
    "lone surrogates": lambda size: "\ud800" * size,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize(
    "find",
    [
        extract.clean,
        extract.plain_latex,
        extract.option_letter,
        extract.first_int_box,
        extract.box_list,
        lambda text: extract.only_tags(text, "think", "answer"),
        lambda text: extract.in_order(
            text, "<think>", r"</think>\s*+<answer>", r"\{", extract.INT_BOX
        ),
    ],
)
def test_time_grows_with_the_length_and_no_faster(find, text):
    assert exponent(find, text, short=60_000) < 1.6


@pytest.mark.parametrize(
    "unit", ['["a" ', "{", '[{"a":"', "(", '["\\', "['", '"\\', "[tru", "[“", "{a "]
)
def test_repairing_broken_json_is_bounded(unit):
    """json-repair alone takes up to a minute, and four times as long for twice the length."""

    def broken(length):
        return "```json [" + unit * (length // len(unit)) + "```"

    assert exponent(extract.box_list, broken, short=9_000, factor=4) < 1.6
