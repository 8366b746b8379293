"""LaTeX is normalised as math-verify normalises it, in a process that has no sympy."""

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from latex2sympy2_extended.math_normalization import extract_boxed_content, normalize_latex
from math_verify_reference import CONFIGURATIONS

from examples import examples
from plaudit.judge._candidates import Piece
from plaudit.judge._reading import PLAIN, PLAIN_LENIENTLY, normalise, opened
from plaudit.judge._verdict import Rule

TOKENS = (
    *(
        r"\boxed{",
        r"\fbox{",
        "}",
        "{",
        r"\text{",
        r"\text{ cm}",
        r"\mathrm{m}",
        r"\dfrac",
        r"\frac",
    ),
    *("1", "23", "0.5", ".5", "/", "x", "=", ",", " and ", " or ", "(", ")", "^", "^2", r"^\circ"),
    *(r"\left(", r"\right)", r"\sqrt", "sqrt(", r"\%", "%", " percent", r"\$", "$", r"\!", r"\ "),
    *(" ", "\n", "infinity", r"\\", r"\ldots", " cm", " dollars", r"\approx", r"\begin{matrix}"),
)


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("rule", [Rule.ANYWHERE, Rule.LATEX])
@settings(deadline=None, max_examples=examples(300), derandomize=True, database=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=12).map("".join))
def test_it_is_what_math_verify_compares(rule, bare, latex):
    config = CONFIGURATIONS[rule][0].normalization_config
    config = replace(config, boxed="last") if bare else config
    assert normalise(Piece(latex, bare=bare), rule) == normalize_latex(latex, config)


# What is taken for plain LaTeX, and what makes it another: units, words, other spellings.
NEARLY_PLAIN = (
    *("1", "23", "0.5", "5.", ".5", "x", "m", "s", "a", "T", "i", "2x", " ", "  ", " .", "/", "="),
    *(
        ",",
        "(",
        ")",
        "[",
        "]",
        "^",
        "^2",
        "^(",
        "{",
        "}",
        "{2}",
        "{,}",
        "{.",
        "}1",
        "} 1",
        "!",
        "|",
    ),
    *(r"\frac", r"\frac{1}{2}", r"\dfrac{", r"\sqrt", r"\sqrt{3}", r"\pi", r"\cdot", r"\infty"),
    *(
        r"\left(",
        r"\right)",
        r"\%",
        "%",
        "\\",
        "_",
        "_{",
        r"\circ",
        "\t",
        "cm",
        "and",
        "'",
        r"\text{a}",
    ),
)


@pytest.mark.parametrize("rule", [Rule.ANYWHERE, Rule.LATEX])
@settings(deadline=None, max_examples=examples(3_000), derandomize=True, database=None)
@given(st.data())
def test_plain_latex_is_in_normal_form_already(rule, data):
    few = data.draw(st.lists(st.sampled_from(NEARLY_PLAIN), min_size=2, max_size=9))
    latex = "".join(data.draw(st.lists(st.sampled_from(few), min_size=1, max_size=8)))
    config = replace(CONFIGURATIONS[rule][0].normalization_config, boxed="none")
    assert normalise(Piece(latex), rule) == normalize_latex(latex, config)


def test_most_answers_need_not_be_normalised():
    plain = ("42", "-17", "0.5", r"\frac{5\pi}{4}", "x^2+5x+5", "(-6, 18)", r"8\sqrt{10}", "9+3i")
    assert all(map(PLAIN.fullmatch, plain))
    assert [latex for latex in plain if not PLAIN_LENIENTLY.fullmatch(latex)] == ["0.5"]


@pytest.mark.parametrize(
    ("latex", "bare", "anywhere", "as_trl"),
    [
        (r"\boxed{\dfrac{1}{3}\text{ cm}}", True, r"\frac{1}{3}", r"\frac{1}{3}"),
        (r"\boxed{1} and \boxed{2}", True, "1,2", "1,2"),
        (r"\boxed{1}, which we check at some length; \boxed{2}", True, "1,2", "1,2"),
        (r"\frac12", False, r"\frac{1}{2}", r"\frac12"),
        ("1/2", False, r"\frac{1}{2}", "1/2"),
        (r"\left(1, 2\right)", False, "(1, 2)", "(1, 2)"),
        (r"5 \text{ and } 7", False, "5, 7", "5, 7"),
    ],
)
def test_what_is_left_of_an_answer(latex, bare, anywhere, as_trl):
    assert normalise(Piece(latex, bare=bare), Rule.ANYWHERE) == anywhere
    assert normalise(Piece(latex, bare=bare), Rule.LATEX) == as_trl


def test_normalising_imports_no_sympy():
    code = r"""
import sys
from plaudit.judge._reading import read
from plaudit.judge._verdict import Rule
assert read(r"\boxed{\dfrac{1}{3}}", Rule.LATEX).compared == r"\frac{1}{3}"
print(sorted({"sympy", "antlr4", "math_verify", "latex2sympy2_extended"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


BITS = (
    *("\\boxed{", "\\boxed", "\\fbox{", "\\boxed ", "}", "{", "1", "x", "2 ", " and ", ",", " or "),
    *(" text of some length ", ". So it is ", "\n", " ", "\\boxed{1}", "\\boxed{2}", "\\fbox{x}"),
    "long words that go on and on for more than seventy characters, and then on ",
)


@settings(deadline=None, max_examples=examples(2_000), derandomize=True, database=None)
@given(st.lists(st.sampled_from(BITS), max_size=12).map("".join), st.booleans())
def test_boxes_are_opened_as_math_verify_opens_them(text, bare):
    theirs = extract_boxed_content(text, mode="last" if bare else "all")
    assert opened(Piece(text, bare=bare)) == theirs
