"""Everyday answers of everyday.txt, written from the rules of docs/answers.md.

A line is `+ gold | completion | question` if the completion is right and `- …` if it is not; `m`
after the mark asks `mention_reward`. ⏎ is a line break, ¦ a bar, and ` ~ ` stands between
alternatives.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from plaudit.rewards.answers import answer_reward, mention_reward


class Row(NamedTuple):
    gold: str | list[str]
    completion: str
    question: str
    right: bool
    is_mention: bool


def _row(line: str) -> Row:
    mark, _, body = line.partition(" ")
    body = body.replace("⏎", "\n")
    gold, completion, question = (part.strip().replace("¦", "|") for part in body.split(" | ", 2))
    golds = gold.split(" ~ ") if " ~ " in gold else gold
    return Row(golds, completion, question, mark[0] == "+", mark.endswith("m"))


def _themes() -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    text = (Path(__file__).parent / "everyday.txt").read_text(encoding="utf-8")
    for line in filter(None, text.splitlines()):
        if line.startswith("## "):
            rows = found.setdefault(line.removeprefix("## "), [])
        else:
            rows.append(_row(line))
    return found


THEMES = _themes()


@pytest.mark.parametrize("theme", THEMES)
def test_everyday_answers_are_judged_by_the_rules(theme: str) -> None:
    for is_mention, reward in ((False, answer_reward), (True, mention_reward)):
        rows = [row for row in THEMES[theme] if row.is_mention is is_mention]
        if not rows:
            continue
        scores = reward.scores(
            [row.completion for row in rows],
            [row.gold for row in rows],
            question=[row.question for row in rows],
        )
        wrong = [
            f"{row.gold} | {row.completion}: {score.why}"
            for row, score in zip(rows, scores, strict=True)
            if (score.value == 1.0) is not row.right
        ]
        assert not wrong, "\n".join(wrong)


def test_at_least_300_everyday_answers_are_judged():
    rows = [row for rows in THEMES.values() for row in rows]
    assert len(rows) >= 300
    assert 0.3 < sum(row.right for row in rows) / len(rows) < 0.7
