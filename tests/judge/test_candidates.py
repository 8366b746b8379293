"""The candidates are math-verify's own matches, in its order, found in linear time."""

import json
import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from math_verify_reference import matches

from examples import examples
from growth import exponent
from plaudit.judge._candidates import (
    Announcements,
    Arithmetic,
    Latex,
    Piece,
    WrittenNumber,
    candidates,
)
from plaudit.judge._reading import best_candidate
from plaudit.judge._verdict import Rule

TOKENS = (
    *("$", "$$", r"\[", r"\]", r"\(", r"\)", "[", "]", " [", "] ", "{", "}", "\\", r"\\", r"\$"),
    *(r"\boxed{", r"\boxed{}", r"\boxed{7}", r"$\boxed{1}$", r"\boxed", r"\fbox{2}"),
    *("answer", "Answer:", "final answer", "Final answer is", "final answer is: ", "anſwer: "),
    *("FINAL ANSWER of it is ", "answers", " is ", "is:", " iſ ", "I hope", ". I hope", ".I hope"),
    *("and", ",and ", " or ", ",or", ",", ", ", "$1$, $2$", "$1$ and $2$", "$3$"),
    *("%", r"\%", " percent", "Percent", "percentage", "Percentage", " pct", "Pct"),
    *(r"\frac{1}{2}", r"-\frac{1,5}{2}", r"\frac{a}{2}", r"-\frac{-3}{4.5}", r"\frac{1}"),
    *(" ", "  ", "\n", "\t", "\u00a0", "\u2003", "\x1c", "\r", "x", "ab", "word ", "²", ":", "."),
    *("0", "1", "23", "007", "-", "1,234", "1 000", "12,345.6", ".5", "5.", "3,14", "10:30", "٣"),
    *("4/5", "3 + 4", "(2+3)*4", "-(1", "2^3", "6 ÷ 2", "6×2", "+", "*", "^", "÷", "(", ")", "/"),
    *("**", "**7**", "=", " = ", "==", "x=5", "€3", "$5", "£1,000", "¥2", "฿", "₿9"),
)
WITH_DISTANCE = st.integers(40, 110).map(lambda length: "z" * length)


@st.composite
def texts(draw):
    """Runs of tokens, mostly out of a few: what makes expressions overlap and backtrack."""
    few = draw(st.lists(st.sampled_from(TOKENS), min_size=2, max_size=9))
    token = st.one_of(*[st.sampled_from(few)] * 8, st.sampled_from(TOKENS), WITH_DISTANCE)
    return "".join(draw(st.lists(token, min_size=1, max_size=24)))


ENVIRONMENTS = ("$1$", "$$x$$", r"\(2\)", r"\[3\]", " [4] ", r"\frac{1}{2}", r"$\boxed{5}$", "6")
PERCENTS = ("", "", "%", r" \%", " percent", " pct")
JOINS = (", ", " and ", " or ", ",and", ",or", ",")


@st.composite
def sentences(draw):
    """What models write when they announce an answer."""
    start = draw(st.sampled_from(("The final answer is", "final answer is:", "Answer:", "answer")))
    size = draw(st.integers(1, 7))
    chosen = [st.sampled_from(ENVIRONMENTS), st.sampled_from(PERCENTS), st.sampled_from(JOINS)]
    parts = [draw(part) for _ in range(size) for part in chosen]
    end = draw(st.sampled_from((". I hope it is right.", "I hope", " I hope", "", " = 7", ".")))
    return start + draw(st.sampled_from((" ", "", "\n"))) + "".join(parts[:-1]) + end


@st.composite
def completions(draw):
    """How most completions end: with one box in an environment of its own, near anything."""
    box = draw(st.sampled_from((r"\boxed{7}", r"\boxed{\frac{1}{2}}", r"\boxed{}", r"\boxed{7\)}")))
    opening, closing = draw(st.sampled_from(((r"\[", r"\]"), (r"\(", r"\)"), ("$", "$"))))
    space = st.sampled_from(("", " ", "\n", ".", "\\"))
    text = opening + draw(space) + box + draw(space) + closing
    few = st.lists(st.sampled_from((*TOKENS, "It is ", "so")), max_size=3).map("".join)
    return draw(few) + text + draw(few)


@pytest.mark.parametrize("rule", [Rule.ANYWHERE, Rule.LATEX])
@settings(deadline=None, max_examples=examples(2000), derandomize=True, database=None)
@given(st.one_of(texts(), texts(), sentences(), completions()))
def test_candidates_are_what_math_verify_matches(rule, text):
    assert list(candidates(text, rule)) == list(matches(text, rule))


@pytest.mark.parametrize("rule", [Rule.ANYWHERE, Rule.LATEX])
@pytest.mark.parametrize("name", ["math", "qa", "grpo_log_counting_vlmr1"])
def test_candidates_of_real_outputs_are_what_math_verify_matches(shared, name, rule):
    lines = (shared / "data" / f"{name}.jsonl").read_text().splitlines()
    texts = {str(json.loads(line)[field]) for line in lines for field in ("completion", "gold")}
    assert texts
    for text in sorted(texts):
        assert list(candidates(text, rule)) == list(matches(text, rule)), text


NUMBERS_ALONE = (
    "4",
    "-7",
    "0",
    "-0",
    "007",
    "1234",
    "0.50",
    "-0.5",
    "12.",
    "٣",
    "4\n",
    "1" * 5_000,
)


@pytest.mark.parametrize("rule", [Rule.ANYWHERE, Rule.LATEX])
@pytest.mark.parametrize("text", [*NUMBERS_ALONE, "It is 4", r"\boxed{4}", "4/5", ""])
def test_the_best_candidate_is_the_first(text, rule):
    assert best_candidate(text, rule) == next(candidates(text, rule), None)


ANNOUNCED = ("ANSWER:", "anſwer", "fınal answer is", "Final Answer İS:", "answers", "final  answer")


@pytest.mark.parametrize("text", [f"é {one} {two}" for one in ANNOUNCED for two in ANNOUNCED])
def test_announcements_are_found_in_any_case(text):
    said, spans = (
        Announcements(text),
        lambda pattern: [m.span() for m in re.finditer(pattern, text)],
    )
    assert said.answer == spans("(?i:answer)")
    assert said.answer_colon == spans("(?i:answer):")
    assert said.final == spans("(?i:final answer)")
    assert said.final_is == spans("(?i:final answer is):?")


@pytest.mark.parametrize("rule", [Rule.ANYWHERE, Rule.LATEX])
def test_percentages_in_a_list_before_i_hope(rule):
    text = "The final answer is $1$ percentage, $2$. I hope it is correct."
    assert list(candidates(text, rule)) == list(matches(text, rule))


def latex(*contents, **piece):
    return Latex(tuple(Piece(content, **piece) for content in contents))


@pytest.mark.parametrize(
    ("text", "best"),
    [
        (r"First \boxed{1}, then \boxed{2}.", latex(r"\boxed{1}, then \boxed{2}", bare=True)),
        (r"\[ x = \boxed{1} \] and {so} on", latex(r"\boxed{1} \] and {so}", bare=True)),
        ("The answer is $3$ or $4$, not $5$", latex("3", "4")),
        ("The answer is $3$%", latex("3", percent=True)),
        ("I think $3$.", None),
        ("The answer is 3.", None),
    ],
)
def test_a_latex_answer_is_boxed_or_announced(text, best):
    assert next(candidates(text, Rule.LATEX), None) == best


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I think $3$, no, 4.", [WrittenNumber("4", percent=False)]),
        ("It costs €1,234.50, that is 12 percent", [WrittenNumber("12", percent=True)]),
        ("so 3/4 of it", [Arithmetic("3/4"), WrittenNumber("3", percent=False)]),
        ("answer = 2 + 3 = 5.0", [WrittenNumber("5.0", percent=False)]),
        ("Nothing here: XDY2K", []),
    ],
)
def test_anything_may_be_an_answer_anywhere(text, found):
    assert list(candidates(text, Rule.ANYWHERE)) == found


class Counted(str):
    """A text that knows how many of its characters were looked at by searching and slicing."""

    looked_at = 0

    def __getitem__(self, key):
        piece = str.__getitem__(self, key)
        self.looked_at += len(piece)
        return piece

    def find(self, needle, start=0, end=None):
        end = len(self) if end is None else min(end, len(self))
        found = str.find(self, needle, start, end)
        self.looked_at += (found if found >= 0 else end) - start
        return found

    def rfind(self, needle, start=0, end=None):
        end = len(self) if end is None else min(end, len(self))
        found = str.rfind(self, needle, start, end)
        self.looked_at += end - (found if found >= 0 else start)
        return found


def effort(text, rule):
    """Calls made and characters looked at to find the best candidate: no clock, so no chance."""
    counted, calls = Counted(text), 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        next(candidates(counted, rule), None)
    finally:
        sys.setprofile(None)
    return calls + counted.looked_at


REPEATED = (
    *(r"\[", r"\(", r"\boxed{", r"\boxed{}", r"\boxed{1}", r"\text{a}", "$", "$$", "$a", "$ "),
    *("1 +1 ", "1 ", "1", "1,000", "(", ")", "-(1", "1.5% ", "=1 ", " ", "\n", "}", " [", "[ "),
    *("answer\n", "answer $1$\n", r"\frac{1}{2},", r"\[ x \],", "x, ", r"\$", r"\boxed{1} $ "),
    *(r"\boxed{1} \[ ", r"\boxed{1} \( ", "I hope ", "I hope final answer is $1$ ", "1.", "\0"),
)


def repeated(token, length):
    return token * (length // len(token))


@pytest.mark.parametrize("rule", [Rule.ANYWHERE, Rule.LATEX])
@pytest.mark.parametrize("token", REPEATED)
def test_work_grows_with_the_length_and_no_faster(token, rule):
    short, long = (effort(repeated(token, length), rule) for length in (2_000, 8_000))
    assert long < 5 * short + 2_000


UNENDING = {
    "a box of spaces": lambda size: r"\boxed{" + " " * size + "}",
    "a box of texts": lambda size: r"\boxed{" + repeated(r"\text{a}", size) + "}",
    "an answer, then nothing": lambda size: "answer" + " " * size,
}


@pytest.mark.parametrize("rule", [Rule.ANYWHERE, Rule.LATEX])
@pytest.mark.parametrize("name", UNENDING)
def test_work_on_long_boxes_grows_with_the_length_and_no_faster(name, rule):
    short, long = (effort(UNENDING[name](length), rule) for length in (2_000, 8_000))
    assert long < 5 * short + 2_000


PROSE = "We add $x$ to (2) and get 3, which is \\[ y \\]; then, \n"
SHARED_END = {
    "displays with one end": lambda size: repeated(r"\[", size) + r"\]",
    "parentheses with one end": lambda size: repeated(r"\(", size) + r"\)",
    "announced displays with one end": lambda size: repeated(r"answer \[", size) + r"\]",
    "boxes in one display": lambda size: r"\[" + repeated(r"\boxed{1}", size) + r"\]",
    "boxes in one pair of dollars": lambda size: "$" + repeated(r"\boxed{1}", size) + "$",
    "anchors in one line": lambda size: repeated("answer ", size),
    "anchors with colons in one line": lambda size: repeated("answer: ", size),
    "final anchors in one line": lambda size: repeated("final answer ", size),
    "final anchors that end in is": lambda size: repeated("final answer is ", size),
}


@pytest.mark.parametrize("name", SHARED_END)
def test_work_on_what_ends_together_grows_with_the_length_and_no_faster(name):
    rule = Rule.LATEX if "box" in name else Rule.ANYWHERE
    short, long = (effort(SHARED_END[name](length), rule) for length in (2_000, 8_000))
    assert long < 5 * short + 2_000


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (lambda size: "final answer" + " " * size, None),
        (lambda size: repeated(PROSE, size) + r"\boxed{7}", latex(r"\boxed{7}", bare=True)),
    ],
    ids=["spaces after final answer", "prose"],
)
@pytest.mark.parametrize("rule", [Rule.ANYWHERE, Rule.LATEX])
def test_time_grows_with_the_length_and_no_faster(text, found, rule):
    assert next(candidates(text(30_000), rule), None) == found
    assert exponent(lambda long: next(candidates(long, rule), None), text) < 1.6
