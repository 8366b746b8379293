"""Answers that are made to take for ever: each must be refused at once."""

import logging
import random
import time
from typing import Any

import pytest
from formulas import GOLDS as GOLDS_OF_EVERY_KIND
from formulas import formula

import plaudit
from examples import examples
from plaudit.answers import Rules, _judge_answer, judge_answer, mentioned
from plaudit.inputs import errors
from plaudit.judge import Status
from plaudit.rewards.answers import answer_reward, mention_reward

LONG = 3000
BOMBS = [
    "9^{9^{9^9}}",
    "10**10**9",
    "7^{7^{7^7}} km",
    r"\frac{1}{9^{9^{9^9}}}\text{ cm}^2",
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
                assert verdict.status is not Status.ERROR, verdict.why


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
    verdict = judge_answer(f"<answer>{bomb}</answer>", [gold])
    assert verdict.status is Status.LIMIT, verdict.why


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


@pytest.mark.parametrize(
    "text",
    [
        r"\boxed{g(\sinh(2.5\times10^{6}))}",
        r"\boxed{\gcd(000,(455777)!!)}",
        r"\boxed{\left(f(100^{99999})\right)}",
        r"\boxed{\sqrt[6.9\times10^{-7174}]{z}}",
        r"\boxed{(i\cdot10^{4})!!+x}",
        r"\boxed{\binom{10^{5}i}{x}}",
        r"\boxed{\erf(1000i)+\sin(10^{6}i)}",
    ],
)
def test_a_function_of_a_huge_number_is_not_computed(text: str) -> None:
    """Each took from seconds to hours: mpmath's numbers have exponents of any size."""
    for gold in ("4", "x^2+1", r"k\pi"):
        assert _seconds(text, gold) < 2


def _seconds(text: str, gold: str) -> float:
    start = time.thread_time()
    verdict = judge_answer(text, [gold])
    assert verdict.status is not Status.ERROR, (text, gold, verdict.why)
    return time.thread_time() - start


PIECES = [
    *("A ", "A of ", "one ", "twenty ", "and ", "1,", "1-", "3 to 5 ", "between 3 and ", "(a) "),
    *("- a\n", "* 1\n", "| a ", "A) ", "May 5, ", "12:30 ", "half past ", "U.S.", "'s sister "),
    *("unlike A ", "Henry VIII ", '"a" ', "Is it ", "it is ", "so ", "more than ", "百", "午後3時"),
    *("1公里", "{", "answer: a\n ", "~~", "x = ", "H2 + ", "\n", "\n\n", "Question:\n", "a, "),
]
EVERYDAY_GOLDS = ["4", "Paris", "A, C", "3-5", "May 8, 1945", "15:45", "cows, pigs", "(a) 3 (b) 4"]
EVERYDAY_GOLDS += [
    "mean 6.2, median 5",
    "World Health Organization",
    "WHO",
    "Henry VIII",
    "2 hours",
]
ORDER = "In which order are they? A) e B) f How long? How many cows and pigs?"


@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_prose_is_read_in_time_linear_in_its_length(piece: str) -> None:
    for length in (1900, 9500, 100_000):
        text = piece * (length // len(piece))
        for gold in EVERYDAY_GOLDS:
            start = time.thread_time()
            judge_answer(text, [gold], Rules(question=ORDER))
            mentioned(text, [gold], ORDER)
            assert time.thread_time() - start < 2, (piece, length, gold)


@pytest.mark.parametrize("seed", range(examples(200)))
def test_formulas_by_chance_take_a_bounded_number_of_steps(seed: int) -> None:
    """And none of them makes plaudit raise. Each takes about a tenth of a second at the most."""
    chance = random.Random(seed)
    for _ in range(10):
        text, gold = formula(chance), chance.choice([formula(chance), *GOLDS_OF_EVERY_KIND])
        assert _seconds(f"<answer>{text}</answer>", gold) < 2, (text, gold)


@pytest.mark.parametrize(
    "option", ["a = b = c", "x = y", "a = b = c = 1", "= 1", "1 =", "a = (b = c)"]
)
def test_an_option_may_be_an_equation(option: str) -> None:
    rules = Rules(kind="choice", choices=(option, "another"))
    for text in (option, "another", "x = 7", "B"):
        verdict = judge_answer(f"<answer>{text}</answer>", ["A"], rules)
        assert verdict.status is not Status.ERROR, verdict.why
        assert verdict.right is (text == option)


@pytest.mark.parametrize(
    ("reward", "function"),
    [
        (answer_reward, "plaudit.answers._judge_answer.compare"),
        (answer_reward, "plaudit.answers._judge_answer.final_of"),
        (answer_reward, "plaudit.answers._judge_answer._rendered"),
        (mention_reward, "plaudit.rewards.answers.mentioned"),
    ],
)
def test_an_error_of_plaudit_is_no_zero(
    reward: Any, function: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError("no memory")

    _judge_answer._remembered.cache_clear()
    errors._logged.clear()
    monkeypatch.setattr(function, fail)
    with caplog.at_level(logging.ERROR, "plaudit"):
        assert reward([r"\boxed{17}", r"\boxed{18}"], ["19", "20"]) == [None, None]
    score = plaudit.explain(reward, r"\boxed{21}", "22")
    assert (score.value, score.status, score.right) == (None, "error", None)
    assert [record.exc_info is not None for record in caplog.records] == [True]  # once, with why


@pytest.mark.parametrize("golds", ["4", [["4"]], [4], [None]])
def test_golds_that_are_no_texts_are_refused(golds: object) -> None:
    with pytest.raises(TypeError, match="golds must be a list of texts"):
        judge_answer(r"\boxed{4}", golds)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["{[1]: 2}", "{{}: 1}", r"{'answer': '\ d'}", "{" * 400 + "}" * 400, "{(((((1)))))}"]
)
def test_what_looks_like_python_never_raises_nor_warns(text, recwarn):
    [score] = answer_reward.scores([text], ["x and y"])
    assert score.value == 0.0
    assert not recwarn.list
