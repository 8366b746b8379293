"""The rules of docs/answers.md, by examples."""

import json
from pathlib import Path

import pytest
from pairs import TABLES, pairs
from pairs_with_columns import PAIRS_WITH_COLUMNS

from plaudit.answers import Rules, judge_answer
from plaudit.judge import Status

CASES = [(name, *pair) for name, table in TABLES.items() for pair in pairs(table)]


@pytest.mark.parametrize(("rule", "gold", "answer", "right"), CASES)
def test_an_answer_is_judged_by_the_rules(rule: str, gold: str, answer: str, right: bool) -> None:
    verdict = judge_answer(f"So the answer is $\\boxed{{{answer}}}$.", [gold])
    assert verdict.right is right, verdict.why


@pytest.mark.parametrize(
    ("gold", "answer", "status"),
    [
        ("4", "2+2", "unsolved"),
        ("6", r"\gcd(12,18)", "unsolved"),
        ("4", r"4 \text{ or } 5", "several"),
        ("4", "4=5", "several"),
        ("5", r"5 \approx 4", "several"),
        ("4", "9^{9^{9^9}}", "limit"),
        ("C", "B or C", "several"),
        ("the sum of the first three odd numbers", "nine, of course", "undecided"),
    ],
)
def test_what_is_not_right_has_a_status_of_its_own(gold: str, answer: str, status: str) -> None:
    verdict = judge_answer(f"\\boxed{{{answer}}}", [gold])
    assert verdict.status == status
    assert verdict.why.endswith(".")


def test_a_gold_may_be_one_of_several() -> None:
    assert judge_answer(r"\boxed{8}", ["7", "8"]).right
    assert not judge_answer(r"\boxed{9}", ["7", "8"]).right


def test_without_a_gold_there_is_nothing_to_compare() -> None:
    assert judge_answer(r"\boxed{9}", []).status is Status.BAD_GOLD
    assert judge_answer(r"\boxed{9}", [" "]).status is Status.BAD_GOLD


@pytest.mark.parametrize(
    ("rules", "gold", "answer", "right"),
    [
        (Rules(rounding=False), "600/7", "85.71", False),
        (Rules(rounding=False), "0.5", "1/2", True),
        (Rules(tolerance=0.01), "100", "99.5", True),
        (Rules(tolerance=0.01), "100", "98.5", False),
        (Rules(unsolved=True), "4", "2+2", True),
        (Rules(unsolved=True), "4", "2+3", False),
        (Rules(kind="interval"), "(1,2)", "1<x<2", True),
        (Rules(kind="interval"), "(1,2)", "[1,2]", False),
        (Rules(kind="time"), "4:30", "16:30", True),
        (Rules(kind="ratio"), "4:30", "2:15", True),
        (Rules(kind="number"), "3,14", "3.14", True),
        (Rules(kind="text"), "x", "X", True),
        (Rules(question="What percentage of them is red?"), "25", r"25\%", True),
        (Rules(question="Prices rose by 20 percent. How many are sold?"), "25", r"25\%", False),
        (Rules(question="Give it as (y,x)."), "(2,1)", "x=1, y=2", True),
        (Rules(question="Give it as (y,x)."), "(1,2)", "x=1, y=2", False),
        (Rules(question="At what time does it arrive?"), "4:30", "4:30 p.m.", True),
    ],
)
def test_settings_and_the_question_change_what_is_right(
    rules: Rules, gold: str, answer: str, right: bool
) -> None:
    assert judge_answer(f"\\boxed{{{answer}}}", [gold], rules).right is right


CITIES = ("Rome", "Oslo", "Paris", "Bern")


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("C", True),
        ("(C)", True),
        (r"\text{C}", True),
        (r"\textbf{(C)}\ 42", True),
        ("C. Paris", True),
        ("C) Paris", True),
        ("C: Paris", True),
        ("**C**", True),
        ("option C", True),
        ("c", True),
        ("Paris", True),
        ("the city of Rome", False),
        ("Oslo", False),
        ("B", False),
        ("B, C", False),
        ("A, B, C, D", False),
        ("Both B and C", False),
        ("Cairo", False),
        ("none of them", False),
    ],
)
def test_an_option_is_picked_by_its_letter_or_its_text(answer: str, right: bool) -> None:
    verdict = judge_answer(f"\\boxed{{{answer}}}", ["C"], Rules(kind="choice", choices=CITIES))
    assert verdict.right is right, verdict.why


@pytest.mark.parametrize(
    ("gold", "answer", "right", "kind", "choices", "question"), PAIRS_WITH_COLUMNS
)
def test_what_the_dataset_says_counts(
    gold: str, answer: str, right: bool, kind: str | None, choices: tuple[str, ...], question: str
) -> None:
    rules = Rules(kind=kind, choices=choices, question=question)
    verdict = judge_answer(f"\\boxed{{{answer}}}", [gold], rules)
    assert verdict.right is right, verdict.why


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match=r"kind must be one of number, .* Did you mean number"):
        judge_answer("4", ["4"], Rules(kind="nubmer"))


def test_the_visible_pairs_are_right(shared: Path) -> None:
    rows = [json.loads(line) for line in (shared / "pairs" / "visible.jsonl").open()]
    wrong = []
    for row in rows:
        text = row["answer"]
        if not row.get("completion"):
            text = f"So the answer is $\\boxed{{{text}}}$."
        golds = row["gold"] if isinstance(row["gold"], list) else [row["gold"]]
        rules = Rules(
            kind=row.get("kind"),
            choices=tuple(row.get("choices") or ()),
            question=row.get("question") or "",
        )
        if judge_answer(text, golds, rules).right is not row["equal"]:
            wrong.append((row["gold"], row["answer"]))
    assert len(wrong) <= 0.01 * len(rows), wrong
