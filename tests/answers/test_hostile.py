"""Answers that are made to take for ever: each must be refused at once."""

import pytest

from plaudit.answers import Outcome, judge_answer

LONG = 3000
BOMBS = [
    "9^{9^{9^9}}",
    "10**10**9",
    "2^" * LONG + "2",
    "-" * LONG + "1",
    "(" * LONG + "1" + ")" * LONG,
    r"\left(" * LONG + "1" + r"\right)" * LONG,
    "1/" * LONG + "1",
    r"\frac" * LONG,
    r"\sqrt" * LONG + "2",
    "x^{" * LONG + "2" + "}" * LONG,
    pytest.param(r"\sum_{i=1}^{2000}\sum_{j=1}^{2000}ij", marks=pytest.mark.long),
    r"\sum_{i=1}^{300}\sum_{j=1}^{300}\sum_{k=1}^{300}\sqrt{ijk}",
    r"\prod_{k=1}^{2000}10^{4000}k",
    "100000!",
    "(10^{4000})!",
    r"\binom{10^9}{5\cdot10^8}",
    r"\sin(10^{10^{5}})",
    r"\exp(\exp(\exp(\exp(5))))",
    "(2^{99999})^{99999}",
    "1" * 100_000,
    "0." + "1" * 100_000,
    "1e999999999",
    "+".join(rf"\frac{{1}}{{{10**300 + n}}}" for n in range(300)),
    r"\{" + ",".join(rf"\sqrt{{{n}}}" for n in range(500)) + r"\}",
    "(" + ",".join([r"\pm1"] * 40) + ")",
    r"\begin{pmatrix}" + "1&" * LONG + r"1\end{pmatrix}",
    "1 or " * LONG + "1",
    r"\text{" * LONG,
    "$" * LONG,
    "|" * LONG,
    "'" * LONG,
    "A" + "," * LONG + "x",
    r"2\frac{" * 20 + "x" + "}{3}" * 20,
    "+".join([r"\sqrt[3]{2^{49999}+1}"] * 3),
    r"\lcm(" + ",".join(f"{n}^{{20000}}" for n in (2, 3, 5, 7, 11, 13, 17, 19)) + ")",
    r"5\text{ mm}^{-99999999}",
    r"5\text{ m}^{-}",
    "May " + "9" * 5000,
    "binom(5)",
    r"\begin{array}{cc 1 \end{array}",
]
GOLDS = ["4", r"\sqrt{2}", "x^2+1", "(1,2)", "1,2", "x<5", "y=2x+1", r"k\pi", "a word", "C"]
GOLDS += ["May 5, 1999", "5 m"]


def check_bomb(bomb: str, golds: list[str]) -> None:
    for gold in golds:
        for answer, other in ((bomb, gold), (gold, bomb)):
            for text in (f"<answer>{answer}</answer>", f"The answer is {answer}"):
                verdict = judge_answer(text, [other])
                assert not verdict.right
                assert verdict.outcome is not Outcome.ERROR, verdict.why


@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb[:20])
def test_a_bomb_does_not_go_off(bomb: str) -> None:
    check_bomb(bomb, GOLDS[::4])


@pytest.mark.long
@pytest.mark.parametrize("bomb", BOMBS, ids=lambda bomb: bomb[:20])
def test_a_bomb_does_not_go_off_beside_any_gold(bomb: str) -> None:
    check_bomb(bomb, GOLDS)


@pytest.mark.parametrize(
    ("bomb", "gold"),
    [
        (r"\sum_{k=1}^{2000}\binom{100000}{50000}", "4"),
        (",".join(rf"\binom{{100000}}{{{50000 - n}}}" for n in range(60)), "4"),
        (r"\sum_{k=1}^{300}(\sin(kx)+\cos(kx)+\sin(kx)\cos(kx))+\frac{1}{x-x}", r"\sin x"),
        (r"\text{" * 1000 + "x" + "}" * 1000, "4"),
        (r"\{x|" * 300 + "x>1" + r"\}" * 300, "4"),
    ],
    ids=lambda text: text[:20],
)
def test_what_would_take_minutes_is_a_limit(bomb: str, gold: str) -> None:
    """Each of these takes up to a second until it is refused, so it is tried once."""
    verdict = judge_answer(f"<answer>{bomb}</answer>", [gold])
    assert verdict.outcome is Outcome.LIMIT, verdict.why


@pytest.mark.parametrize(
    "text",
    [
        r"\boxed{" * 200_000,
        r"\boxed{1}" * 100_000,
        r"\boxed " * 200_000,
        "the answer is " * 100_000,
        "<answer>" * 200_000,
        "<think>" * 200_000,
        "####" * 200_000,
        r"\boxed{5}" + " wait, actually no" * 100_000,
        "{" * 1_000_000,
        "\\" * 1_000_000,
        "\n" * 1_000_000,
        ". " * 500_000 + "A:",
        "*" * 1_000_000,
        "The answer is " + "a. A " * 100_000,
        "The answer is $" + "5! " * 200_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_a_long_completion_is_read_in_one_pass(text: str) -> None:
    assert not judge_answer(text, ["4"]).right
