"""Pairs by theme, written from docs/answers.md alone: each must be judged as it says."""

import pytest
from themes import THEMES, theme_pairs

from plaudit.answers import Rules, judge_answer


@pytest.mark.parametrize("theme", THEMES)
def test_pairs_of_a_theme_are_judged_by_the_rules(theme: str) -> None:
    wrong = []
    for pair in theme_pairs(THEMES[theme]):
        rules = Rules(kind=pair.kind, choices=pair.choices, question=pair.question)
        verdict = judge_answer(pair.text, pair.golds, rules)
        if verdict.right is not pair.right:
            wrong.append((pair.golds, pair.text, verdict.why))
    assert not wrong
