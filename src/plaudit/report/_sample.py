"""The numbers of a run in; which rows the page shows, and which with their whole text, out.

The same run gives the same rows: first those that the page refers to, then those in trouble, then
the others, evenly by total.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plaudit.report._numbers import Numbers
from plaudit.report._pass_at_k import Array
from plaudit.report._summary import Groups, Summary
from plaudit.scores import STATUSES, TROUBLE

PROMPTS = 10  # the hardest and the most contested
FLAT_GROUPS = 50  # groups without signal that are listed
EXAMPLES = 5  # of each status
LONGEST = 20_000  # characters of one completion
FULL_TEXT = 8_000_000  # characters of all completions that are shown in full
CUT = 400  # characters of each of the others

_OF_A_GROUP = 16  # rows of a group that the page refers to


@dataclass(frozen=True, slots=True)
class Sample:
    """The places of the rows on the page, and the groups and examples that the page refers to.

    full: the places of the rows that are shown with their whole text
    """

    places: Array
    full: set[int]
    hardest: list[int]
    contested: list[int]
    without_signal: list[int]
    examples: dict[str, list[int]]


def sample_of(
    numbers: Numbers,
    summary: Summary,
    rows: int,
    wanted: Sequence[int],
    full_text: int = FULL_TEXT,
) -> Sample:
    """Choose `rows` rows; `wanted` are the places of rows that come first.

    full_text: characters of all completions that are shown in full
    """
    groups = summary.groups
    hardest, contested = _hardest(groups), _contested(groups)
    examples = _examples(numbers)
    members = [_members(numbers, group) for group in dict.fromkeys([*hardest, *contested])]
    shown = [np.array(places, np.int64) for places in examples.values()]
    flat = np.flatnonzero(groups.without_signal & (groups.rows > 0))[:FLAT_GROUPS]
    referenced = np.concatenate([wanted, *shown, *members, groups.first[flat]]).astype(np.int64)
    order = _in_order(numbers, referenced, rows)
    return Sample(
        places=order,
        full=_with_full_text(numbers.characters, order, full_text),
        hardest=hardest,
        contested=contested,
        without_signal=flat.tolist(),
        examples=examples,
    )


def _hardest(groups: Groups) -> list[int]:
    scored = np.flatnonzero(groups.scored > 0)
    order = np.lexsort((scored, groups.mean[scored]))
    return [int(group) for group in scored[order[:PROMPTS]]]


def _contested(groups: Groups) -> list[int]:
    uneven = np.flatnonzero(~groups.without_signal)
    order = np.lexsort((uneven, -groups.variance[uneven]))
    return [int(group) for group in uneven[order[:PROMPTS]]]


def _examples(numbers: Numbers) -> dict[str, list[int]]:
    """The first rows of each status except `scored`, the worst status first."""
    codes = {status: code for code, status in enumerate(numbers.status_names)}
    return {
        status: np.flatnonzero(numbers.statuses == codes[status])[:EXAMPLES].tolist()
        for status in STATUSES[:-1]
        if status in codes
    }


def _members(numbers: Numbers, group: int) -> Array:
    return np.flatnonzero(numbers.groups == group)[:_OF_A_GROUP]


def _in_order(numbers: Numbers, referenced: Array, rows: int) -> Array:
    """The places of `rows` rows, the most important first."""
    bad = [code for code, name in enumerate(numbers.status_names) if name in TROUBLE]
    troubled = np.isin(numbers.statuses, bad)
    places = np.arange(len(numbers.row_ids))
    by_total = np.lexsort((places, numbers.totals))
    first = _distinct(referenced)[:rows]
    chosen = np.zeros(len(places), np.bool_)
    chosen[first] = True
    parts = [first]
    for pool in (places[troubled], by_total[~troubled[by_total]]):
        more = evenly_spaced(pool[~chosen[pool]], rows - int(chosen.sum()))
        chosen[more] = True
        parts.append(_spread_out(more))
    return np.concatenate(parts)


def _distinct(places: Array) -> Array:
    return np.array(list(dict.fromkeys(places.tolist())), np.int64)


def evenly_spaced(pool: Array, count: int) -> Array:
    """`count` entries of a pool, evenly spaced from its first to its last.

    >>> evenly_spaced(np.arange(10), 4)
    array([0, 3, 6, 9])
    """
    if count >= len(pool):
        return pool
    return pool[np.linspace(0, len(pool) - 1, max(count, 0)).round().astype(np.int64)]


def _spread_out(pool: Array) -> Array:
    """The same places, in an order of which each prefix is spread over the whole."""
    golden = (np.arange(len(pool)) * 0.6180339887498949) % 1.0
    return pool[np.argsort(golden, kind="stable")]


def _with_full_text(characters: Array, order: Array, full_text: int) -> set[int]:
    costs = np.minimum(characters[order], LONGEST)
    return set(order[np.cumsum(costs) <= full_text].tolist())


def cut(text: str, most: int) -> tuple[str, int, str]:
    """The beginning of a text, how many characters were left out, and the end of it.

    The end is longer, since it usually has the answer.

    >>> cut("abcdefghij", 4), cut("short", 9)
    (('a', 6, 'hij'), ('short', 0, ''))
    """
    if len(text) <= most:
        return text, 0, ""
    head = most // 3
    return text[:head], len(text) - most, text[len(text) - (most - head) :]


def json_number(value: Any) -> float | None:
    """A number for the page, rounded to six decimals; None if it is None or not finite."""
    return round(float(value), 6) if value is not None and np.isfinite(value) else None
