"""What TRL does: parse the gold, parse the completion, verify, one row after the other.

Unlike TRL, it does not turn the parsed answers into text for a log, which never ends on some
answers.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from latex2sympy2_extended import NormalizationConfig
from math_verify import LatexExtractionConfig, parse, verify

PARSE_SECONDS = 10
VERIFY_SECONDS = 5
ANSWER = [
    LatexExtractionConfig(
        normalization_config=NormalizationConfig(units=True),
        boxed_match_priority=0,
        try_extract_without_anchor=False,
    )
]
Rewards = list[float | None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A row's reward. `trouble` is "timed out" or "crashed" where it is worth nothing."""

    reward: float | None
    trouble: str = ""


def accuracy(texts: Sequence[str], golds: Sequence[str]) -> list[Outcome]:
    """The outcome of each row."""
    logging.disable(logging.ERROR)
    return [outcome(text, gold) for text, gold in zip(texts, golds, strict=True)]


def outcome(text: str, gold: str) -> Outcome:
    """One row. math-verify makes a wrong answer of a time-out, so the clock has to tell."""
    start = time.perf_counter()
    try:
        value = reward(text, gold)
    except Exception:
        return Outcome(None, "crashed")
    slow = time.perf_counter() - start >= VERIFY_SECONDS
    return Outcome(value, "timed out" if slow else "")


def reward(text: str, gold: str) -> float | None:
    """TRL's reward of one row: off the main thread there is no time limit, as in TRL."""
    main = threading.current_thread() is threading.main_thread()
    gold_parsed = parse(gold, parsing_timeout=PARSE_SECONDS if main else None)
    if not gold_parsed:
        return None
    answer = parse(
        text,
        extraction_config=ANSWER,
        extraction_mode="first_match",
        parsing_timeout=PARSE_SECONDS if main else None,
    )
    return float(verify(gold_parsed, answer, timeout_seconds=VERIFY_SECONDS if main else None))


def differing(rewards: Rewards, outcomes: list[Outcome]) -> int:
    """On how many rows the loop says something else, those aside on which it is in trouble."""
    pairs = zip(rewards, outcomes, strict=True)
    return sum(ours != theirs.reward for ours, theirs in pairs if not theirs.trouble)


def in_trouble(outcomes: list[Outcome]) -> int:
    """On how many rows the loop timed out or crashed."""
    return sum(bool(outcome.trouble) for outcome in outcomes)


def trl_reward() -> Callable[..., Rewards] | None:
    """TRL's own `accuracy_reward`, where TRL is installed."""
    try:
        from trl.rewards import accuracy_reward
    except ImportError:
        return None
    return accuracy_reward
