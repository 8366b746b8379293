"""Pairs of themes.txt, written from the rules of docs/answers.md: each is judged as it says.

A line is `= gold | answer` where the answer is right and `! gold | answer` where it is not. Behind
` || ` stands what the dataset says: `kind=text`, `choices=one / two`, `question=…`. `=c` and `!c`
are whole completions, with ⏎ for a line break; any other answer stands in a box. A gold between
tildes is a list of alternatives: `~car ~ automobile~`.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from plaudit.rewards.answers import answer_reward


class Pair(NamedTuple):
    golds: list[str]
    text: str
    right: bool
    kind: str | None
    choices: list[str] | None
    question: str | None


def _pair(line: str) -> Pair:
    mark, _, body = line.partition(" ")
    body, _, said = body.partition(" || ")
    gold, _, answer = f"{body} ".partition(" | ")
    settings = dict(part.split("=", 1) for part in said.split("; ") if part)
    answer = answer.strip().replace("⏎", "\n")
    return Pair(
        golds=gold.strip("~").split(" ~ ") if gold.startswith("~") else [gold],
        text=answer if mark.endswith("c") else f"So the answer is $\\boxed{{{answer}}}$.",
        right=mark.startswith("="),
        kind=settings.get("kind"),
        choices=settings["choices"].split(" / ") if "choices" in settings else None,
        question=settings.get("question"),
    )


def _themes() -> dict[str, list[Pair]]:
    found: dict[str, list[Pair]] = {}
    text = (Path(__file__).parent / "themes.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("## "):
            pairs = found.setdefault(line.removeprefix("## "), [])
        else:
            pairs.append(_pair(line))
    return found


THEMES = _themes()


@pytest.mark.parametrize("theme", THEMES)
def test_pairs_of_a_theme_are_judged_by_the_rules(theme: str) -> None:
    pairs = THEMES[theme]
    scores = answer_reward.scores(
        [pair.text for pair in pairs],
        [pair.golds for pair in pairs],
        kind=[pair.kind for pair in pairs],
        choices=[pair.choices for pair in pairs],
        question=[pair.question for pair in pairs],
    )
    wrong = [
        (pair.golds, pair.text, score.why)
        for pair, score in zip(pairs, scores, strict=True)
        if score.right is not pair.right
    ]
    assert not wrong
