"""A worker's outcome of one item."""

import pytest

from plaudit.judge import Rule
from plaudit.judge._reading import read
from plaudit.judge.workers import _symbolic
from plaudit.judge.workers._fork_server import Frames, pack
from plaudit.judge.workers._worker import judge_pair, leave_nothing_to_chance


def judged(answer, gold, rule=Rule.LATEX):
    outcome = judge_pair(
        read(answer, rule).plain_data, read(gold, Rule.ANYWHERE).plain_data, rule.value
    )
    (frame,) = Frames().feed(pack(outcome))
    return frame[:3]


@pytest.mark.parametrize(
    ("answer", "gold", "outcome"),
    [
        (r"\boxed{\sin^2 x + \cos^2 x}", "1", ("equal", r"\sin^2 x + \cos^2 x", "1")),
        (r"\boxed{\sin x}", r"$\cos x$", ("different", r"\sin x", r"\cos x")),
        (
            "The answer is $1$, $2$ and $3$",
            r"$\{1, 2, 3\}$",
            ("equal", "1 and 2 and 3", r"\{1, 2, 3\}"),
        ),
        (r"\boxed{ }", "5", ("no_answer", "", "5")),
        (r"\boxed{5}", "$ $", ("bad_gold", "", "")),
        ("\\boxed{\ud800}", "$\0$", ("different", "\ud800", "\0")),
        (r"\boxed{\frac{0}{0}x}", "5", ("different", r"\frac{0}{0}x", "5")),
    ],
)
def test_an_item_is_judged(answer, gold, outcome):
    assert judged(answer, gold) == outcome


def test_what_goes_wrong_is_told():
    status, answer, gold, problem, seconds = judge_pair(
        (("poem", "x"),), (("number", "1", False),), "latex"
    )
    assert (status, answer, gold) == ("error", "", "")
    assert problem.startswith("ValueError: not a candidate")
    assert seconds >= 0


def is_read(latex):
    try:
        return bool(_symbolic._parse_latex(latex))
    except ValueError:
        return False


def test_what_is_read_is_not_a_matter_of_chance():
    r"""Whether 0\sqrt{3} counts as real depends on the order in which sympy checks facts."""
    leave_nothing_to_chance()
    texts = [
        rf"((\sqrt{{{letter}}})(\frac{{0\sqrt{{3}}}}{{\sqrt[3]{{1}}}}), 3)"
        for letter in "abcdfghjkmnpqrst"
    ]
    assert len(set(map(is_read, texts))) == 1
