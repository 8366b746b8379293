"""What holds of every comparison."""

import json
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pairs import TABLES, pairs

from plaudit.answers import judge_answer
from plaudit.judge import Status

numbers = st.fractions(min_value=-(10**6), max_value=10**6, max_denominator=10**4)
whole = st.integers(-(10**9), 10**9)


def latex(number: Fraction) -> str:
    if number.denominator == 1:
        return str(number)
    return f"{'-' if number < 0 else ''}\\frac{{{abs(number.numerator)}}}{{{number.denominator}}}"


def is_right(answer: str, gold: str) -> bool:
    return judge_answer(f"\\boxed{{{answer}}}", [gold]).right


@given(numbers)
def test_a_number_equals_itself_in_other_notations(number: Fraction) -> None:
    gold = latex(number)
    assert is_right(gold, gold)
    assert is_right(f"{number.numerator}/{number.denominator}", gold)
    assert is_right(f"x = {gold}", gold)
    assert is_right(latex(Fraction(number)) + r"\text{ cm}", gold)


@given(numbers, numbers)
def test_numbers_are_equal_where_their_values_are(one: Fraction, other: Fraction) -> None:
    assert is_right(latex(one), latex(other)) is (one == other)


@given(whole, st.integers(1, 10**6))
def test_a_number_and_something_is_another_number(number: int, more: int) -> None:
    assert not is_right(str(number + more), str(number))
    assert not is_right(str(number - more), str(number))
    assert not is_right(f"{number}+{more}", str(number))


@given(numbers, numbers, st.sampled_from("(["), st.sampled_from(")]"))
def test_intervals_are_symmetric(low: Fraction, high: Fraction, left: str, right: str) -> None:
    low, high = min(low, high), max(low, high) + 1
    interval = f"{left}{latex(low)},{latex(high)}{right}"
    signs = {"(": "<", "[": r"\le", ")": "<", "]": r"\le"}
    inequality = f"{latex(low)} {signs[left]} x {signs[right]} {latex(high)}"
    assert is_right(interval, inequality)
    assert is_right(inequality, interval)
    wider = f"{latex(low)} {signs[left]} x {signs[right]} {latex(high + 1)}"
    assert not is_right(interval, wider)
    assert not is_right(wider, interval)


@given(st.lists(numbers, min_size=2, max_size=6, unique=True), st.randoms(use_true_random=False))
def test_the_order_of_a_list_does_not_count(values: list[Fraction], chance) -> None:
    shuffled = values[:]
    chance.shuffle(shuffled)
    gold, answer = (", ".join(map(latex, side)) for side in (values, shuffled))
    assert is_right(answer, gold)
    assert is_right(gold, answer)
    assert not is_right(", ".join(map(latex, shuffled[1:])), gold)


@given(st.lists(st.lists(whole, min_size=2, max_size=2), min_size=2, max_size=3))
def test_matrices_are_compared_entry_by_entry(rows: list[list[int]]) -> None:
    def matrix(entries: list[list[int]], name: str) -> str:
        inside = r" \\ ".join(" & ".join(map(str, row)) for row in entries)
        return f"\\begin{{{name}}} {inside} \\end{{{name}}}"

    other = [row[:] for row in rows]
    other[-1][-1] += 1
    assert is_right(matrix(rows, "bmatrix"), matrix(rows, "pmatrix"))
    assert not is_right(matrix(other, "pmatrix"), matrix(rows, "pmatrix"))
    assert not is_right(matrix(rows, "pmatrix"), matrix(other, "pmatrix"))


@given(st.text(max_size=60), st.text(max_size=60))
@settings(max_examples=300)
def test_any_text_gets_a_verdict(answer: str, gold: str) -> None:
    verdict = judge_answer(f"\\boxed{{{answer}}}", [gold])
    assert verdict.status is not Status.ERROR, verdict.why
    assert judge_answer(answer, [gold]).status is not Status.ERROR


pieces = st.sampled_from(
    r"\frac { } ( ) [ ] , ; = < \le \cup \pm 1 23 0.5 x y k \pi e ^ _ ! % | \sqrt \sin \ln \{ \}"
    r" \text{or} and \begin{pmatrix} & \\ \end{pmatrix} : ' \circ \infty \in \mathbb{Z} - + /"
    r" $".split()
)


@given(st.lists(pieces, max_size=14), st.lists(pieces, max_size=14))
@settings(max_examples=600, deadline=None)
def test_any_formula_gets_a_verdict(answer: list[str], gold: list[str]) -> None:
    verdict = judge_answer(f"<answer>{' '.join(answer)}</answer>", [" ".join(gold)])
    assert verdict.status is not Status.ERROR, verdict.why


def test_golds_equal_themselves(shared: Path) -> None:
    golds = {
        str(gold)
        for name in ("math.jsonl", "hard.jsonl")
        for line in (shared / "data" / name).open()
        for gold in [json.loads(line)["gold"]]
    }
    wrong = [
        gold
        for gold in sorted(golds)
        if (verdict := judge_answer(f"<answer>{gold}</answer>", [gold])).status
        not in (Status.EQUAL, Status.BAD_GOLD)
        and "cases" not in verdict.gold
    ]
    assert not wrong


SYMMETRIC = ("NUMBERS", "ROUNDING", "INTERVALS", "MATRICES", "BASES")


@pytest.mark.parametrize("rule", SYMMETRIC)
def test_what_is_right_one_way_is_right_the_other(rule: str) -> None:
    for gold, answer, right in pairs(TABLES[rule]):
        back = judge_answer(f"\\boxed{{{gold}}}", [answer])
        if right and back.status is not Status.UNSOLVED and "=" not in answer:
            assert back.right, (gold, answer, back.why)


def test_order_and_threads_change_nothing() -> None:
    cases = [pair for table in TABLES.values() for pair in pairs(table)]

    def verdict(case: tuple[str, str, bool]) -> bool:
        return is_right(case[1], case[0])

    with ThreadPoolExecutor(8) as pool:
        threaded = list(pool.map(verdict, reversed(cases)))
    assert threaded[::-1] == [right for _, _, right in cases]
