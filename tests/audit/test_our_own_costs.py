"""The time of plaudit's own rewards grows as the text does, whatever the text is."""

import time

import pytest

from plaudit.reports.audit import Case
from plaudit.reports.audit._attacks.measured import HOSTILE
from plaudit.reports.honest_answers import AnswerFormat, read_gold
from plaudit.rewards.answers import answer_reward, exact_match_reward, f1_reward, mention_reward

SMALL, LARGE = 5_000, 20_000
WORTH = 0.1  # seconds: below it, nothing is worth a second look
GOLDS = {answer_reward: "1234", exact_match_reward: "Paris", f1_reward: "Paris"}
GOLDS |= {mention_reward: "Paris"}


def _seconds(reward, text, gold):
    taken = []
    for n in range(3):  # a space more each time, since texts are remembered
        start = time.process_time()
        reward([text + " " * n], [gold])
        taken.append(time.process_time() - start)
    return min(taken)


@pytest.mark.long
@pytest.mark.parametrize("reward", GOLDS, ids=lambda reward: reward.__name__)
@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.__name__)
def test_time_grows_as_the_text_does(reward, hostile):
    gold = GOLDS[reward]
    row = {"prompt": "What is it?"}
    case = Case(0, row, read_gold(gold), gold, AnswerFormat("{answer}"), ("Rome", "7"))
    small = dict(hostile(case, SMALL))
    for variant, text in hostile(case, LARGE):
        start = time.process_time()
        reward([text], [gold])
        if time.process_time() - start > WORTH:
            grown = _seconds(reward, text, gold) / _seconds(reward, small[variant], gold)
            assert grown < (LARGE / SMALL) ** 1.7, variant
