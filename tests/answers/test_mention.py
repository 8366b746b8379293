"""Whether prose names a gold."""

import json
from pathlib import Path

import pytest

from plaudit.answers import mentioned
from plaudit.judge import Status


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("It is Paris.", "Paris"),
        ("The Tiber flows through Rome.", "Tiber"),
        ("Tiber", "the Tiber"),
        ("It was on July 4, 1776.", "4 July 1776"),
        ("on the 4th of July, 1776", "July 4, 1776"),
        ("Zachary Quinto played him.", "Zachary John Quinto"),
        ("Joseph N. Welch said it.", "Joseph Nye Welch"),
        ("B. R. Ambedkar", "Bhimrao Ramji Ambedkar"),
        ("Bhimrao Ramji Ambedkar", "B. R. Ambedkar"),
        ("Sedimentary rocks", "Sedimentary rock"),
        ("the 5th", "5"),
        ("There were seven episodes.", "7"),
        ("Article II of it", "Article Two"),
        ("It is ADP.", "adenosine diphosphate (ADP)"),
        ("Matthew Perry did.", "Matthew Perry (disambiguation)"),
        ("Cheyenne and Belle Fourche", "Belle Fourche and Cheyenne"),
        ("George Washington", "General George Washington"),
        ("said Karl Marx1.", "Karl Marx"),
        ("It costs 1,500 dollars.", "1500"),
        ("Sao Paulo", "São Paulo"),
    ],
)
def test_a_gold_is_named(answer: str, gold: str) -> None:
    assert mentioned(answer, [gold]).equal


@pytest.mark.parametrize(
    ("answer", "gold"),
    [
        ("It is London.", "Paris"),
        ("It is not Paris.", "Paris"),
        ("Nigeria", "Niger"),
        ("July 5, 1776", "July 4, 1776"),
        ("15", "5"),
        ("", "Paris"),
        ("John Quincy Adams", "John Adams Smith"),
        ("<think>It is Paris.</think> I do not know.", "Paris"),
        ("<think>It must be Paris", "Paris"),
        ("It is Paris. Wait, no, it is London.", "Paris"),
        ("Paris? No, it is London.", "Paris"),
        ("Paris is wrong.", "Paris"),
        ("I would rule out Paris.", "Paris"),
        ("They went to the sea every day and home at night. " * 9 + "Paris.", "Paris"),
    ],
)
def test_another_name_is_not_the_gold(answer: str, gold: str) -> None:
    assert mentioned(answer, [gold]).status is Status.DIFFERENT


@pytest.mark.parametrize(
    "answer",
    [
        "Rome, Paris, Oslo, Bonn, Bern, Lima",
        "Rome\nParis\nOslo\nBonn",
        "1. Rome 2. Paris 3. Oslo 4. Bonn 5. Kiev",
        "It may be Rome. It may be Paris. It may be Oslo. It may be Bonn.",
        "The capital is Rome, the capital is Paris, the capital is Oslo, the capital is Bonn.",
        "Rome Paris Oslo Bonn Bern Lima Kiev",
        "Rome or Paris",
        "Either Paris or London.",
        "I believe that it was either Paris or London, as far as I remember from school.",
        "It might have been Rome but then it could also have been Paris, who knows.",
        "Some people would say Rome. Others are convinced that it is Paris.",
        "Rome -> Paris -> Oslo -> Bonn -> Bern",
        "Rome as well as Paris as well as Oslo as well as Bonn",
        "(Rome) (Paris) (Oslo) (Bonn)",
        "It is one of these: Rome, Paris",
        "Paris, Rome, Oslo",
        "Paris (Rome, Oslo)",
    ],
)
def test_who_lists_many_names_is_not_paid(answer: str) -> None:
    assert mentioned(answer, ["Paris"]).status is Status.SEVERAL


def test_a_list_of_golds_is_right() -> None:
    states = ["Maine", "Vermont", "Ohio", "Utah", "Texas"]
    assert mentioned("Maine, Vermont, Ohio, Utah", states).equal


def test_it_agrees_with_people(shared: Path) -> None:
    rows = [json.loads(line) for line in (shared / "data" / "qa.jsonl").open()]
    paid = right = owed = 0
    for row in rows:
        golds = row["gold"] if isinstance(row["gold"], list) else row["gold"].split("/")
        named = mentioned(row["completion"], golds).equal
        paid += named
        right += named and bool(row["label"])
        owed += bool(row["label"])
    assert right / paid >= 0.97
    assert right / owed >= 0.82
