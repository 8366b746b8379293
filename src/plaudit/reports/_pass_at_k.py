"""pass@k and maj@k of groups of right and wrong completions.

pass@k: whether at least one of k completions is right. maj@k: whether the most frequent answer
among k is right. Both are means over the ways to draw k completions from the n of a group.
"""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

NO_ANSWER = 0  # stands for the answer of a completion without one, which does not vote

_DRAWS = 1000  # at most so many of the ways to draw k of n are tried, always the same ones
_FEWEST = 20  # or, if groups are many and large, as few as this: the mean over groups is as good
_WORK = 2_000_000_000  # multiplications for one k at most, which decide how many draws there are
_VOTERS = 256  # of a larger group, only the first 256 completions vote
_AT_ONCE = 4_000_000  # numbers held in memory while votes are counted


@dataclass(frozen=True, slots=True)
class AtK:
    """pass@k and maj@k for one k.

    groups: how many groups have k completions or more; the others are left out
    majority: None if no completion has an answer
    """

    k: int
    groups: int
    passed: float
    majority: float | None


def at_k(groups: Array, right: Array, answers: Array) -> list[AtK]:
    """pass@k and maj@k for k = 1, 2, 4, … and the largest k that half of the groups have.

    Each array has one entry per completion: the number of its group, whether it is right, and a
    number for its answer, the same for equal answers.
    """
    ballots = _ballots(groups, right, answers)
    tallies: Counter[tuple[int, int]] = Counter()
    for of_size in ballots:
        tallies.update((of_size.size, int(c)) for c in of_size.right.sum(axis=1))
    votes = bool(np.any(answers != NO_ANSWER))
    found = []
    for k in _ks(tallies):
        passed = {pair: pass_at_k(*pair, k) for pair in tallies if pair[0] >= k}
        enough = sum(tallies[pair] for pair in passed)
        mean = sum(value * tallies[pair] for pair, value in passed.items()) / enough
        found.append(AtK(k, enough, mean, _mean_majority(ballots, k) if votes else None))
    return found


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return the chance that one of k completions is right, of n of which c are right."""
    return 1.0 - comb(n - c, k) / comb(n, k)


def majority_at_k(right: Array, answers: Array, k: int) -> Array:
    """For each group, a row of both arrays, the chance that the most frequent answer is right.

    It is the mean over draws of k completions. Of answers that are equally frequent, each counts
    the same; if there is no answer at all, the chance is 0.
    """
    groups, n = right.shape
    drawn = _draws(n, k, min(_DRAWS, max(_FEWEST, _WORK // (max(groups, 1) * n**2))))
    step = max(1, _AT_ONCE // (n * max(n, len(drawn))))
    chances = [
        _chances(right[at : at + step], answers[at : at + step], drawn)
        for at in range(0, len(right), step)
    ]
    return np.concatenate([np.zeros(0), *chances])


def _chances(right: Array, answers: Array, drawn: Array) -> Array:
    same = (answers[:, :, None] == answers[:, None, :]) & (answers != NO_ANSWER)[:, None, :]
    # For each draw and completion: how many in the draw give this completion's answer.
    votes = np.where(drawn, drawn.astype(np.float32) @ same.astype(np.float32), 0.0)
    # Answers that tie for the most have equally many completions, so each counts the same.
    winners = (votes == votes.max(axis=2, keepdims=True)) & (votes > 0)
    shares = (winners & right[:, None, :]).sum(axis=2) / np.maximum(winners.sum(axis=2), 1)
    chances: Array = shares.mean(axis=1)
    return chances


@lru_cache(maxsize=64)
def _draws(n: int, k: int, many: int) -> Array:
    """Ways to draw k of n, one per row, True for what is drawn: all of them, or `many`."""
    if comb(n, k) <= _DRAWS:
        places = np.array(list(combinations(range(n), k)))
    else:
        places = np.random.default_rng([n, k]).random((many, n)).argsort(axis=1)[:, :k]
    drawn = np.zeros((len(places), n), np.bool_)
    np.put_along_axis(drawn, places, True, axis=1)
    return drawn


@dataclass(frozen=True, slots=True)
class _Ballots:
    """The groups of one size: one row per group, one column per completion."""

    size: int
    right: Array
    answers: Array


def _ballots(groups: Array, right: Array, answers: Array) -> list[_Ballots]:
    order = np.argsort(groups, kind="stable")
    sizes = np.bincount(groups) if len(groups) else np.zeros(0, np.int64)
    starts = np.cumsum(sizes) - sizes
    found = []
    for size in np.unique(sizes[sizes > 0]).tolist():
        places = order[starts[sizes == size][:, None] + np.arange(size)]
        found.append(_Ballots(size, right[places], answers[places]))
    return found


def _ks(tallies: Counter[tuple[int, int]]) -> list[int]:
    half = tallies.total() / 2
    sizes = sorted({n for n, _ in tallies})
    common = [n for n in sizes if sum(m for (size, _), m in tallies.items() if size >= n) >= half]
    largest = max(common, default=0)
    powers = [2**power for power in range(largest.bit_length())]
    return sorted({*powers, largest} - {0}) if largest <= _VOTERS else powers


def _mean_majority(ballots: list[_Ballots], k: int) -> float | None:
    if k > _VOTERS:
        return None
    chances = [
        majority_at_k(b.right[:, :_VOTERS], b.answers[:, :_VOTERS], k)
        for b in ballots
        if b.size >= k
    ]
    return float(np.concatenate(chances).mean())
