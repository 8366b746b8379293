r"""Families: expressions with a constant of integration, or with a letter for every integer.

`x^2+C` and `x^2+5-K` are the same family; so are `\frac{\pi}{2}+k\pi` and `\frac{(2n-1)\pi}{2}`.
"""

import random
import re
from typing import Any

from plaudit.answers._budget import spend
from plaudit.answers._points import UndefinedError, shared_context, value_at
from plaudit.answers._tree import E, Node, TooLargeError, letters, renamed, symbol, walk
from plaudit.answers._vocabulary import INTEGER_LETTERS

_CONSTANT = re.compile(r"[CcK](?:_\w)?|[CcKkAB]_\d")
_VARIABLES = frozenset(["x", "y", "z", "t", "s", "u", "v", "w", "r", "\\theta", "n", "k", "m", "p"])
_STEPS = 40
_DIGITS = 60


def constants_of(node: Node) -> list[str]:
    """The letters of an expression that are constants of integration, by the way they look."""
    names = letters(node)
    found = sorted(name for name in names if _CONSTANT.fullmatch(name))
    others = names - set(found)
    if "C" not in names and "K" not in names and not any("_" in name for name in found):
        found = [name for name in found if name == "c"]
    return found if found and others <= _VARIABLES else []


def same_constants(gold: Node, answer: Node) -> bool | None:
    """Whether both are the same family in their constants; None where they are no such families.

    Both must be linear in their constants: g0 + C1 g1 + C2 g2. They are the same family where the
    g and the a span the same space, and g0 - a0 lies in it.
    """
    mine = constants_of(gold)
    if not mine:
        return None
    yours = constants_of(answer)
    if len(yours) < len(mine):
        # Any letters will do as constants where there are just as many that the gold does not have.
        strange = sorted(letters(answer) - (letters(gold) - set(mine)) - _VARIABLES)
        yours = strange if len(strange) == len(mine) else yours
    if not yours:
        return False if letters(answer) <= letters(gold) - set(mine) else None
    if not (letters(gold) - set(mine)):
        return None
    try:
        same = _same_span(gold, mine, answer, yours)
        if same is None:
            # Under a logarithm a constant is any positive number: ln C is any number.
            same = _same_span(_powered(gold, mine), mine, _powered(answer, yours), yours)
        return same
    except (UndefinedError, TooLargeError):
        return None


def _powered(node: Node, constants: list[str]) -> Node:
    """The tree with e^C in place of each constant C that a logarithm is taken of."""
    logarithms = [part for part in walk(node) if part.op == "call" and part.val in ("ln", "log")]
    inside = frozenset().union(*(letters(part) for part in logarithms))
    powers = {name: Node("pow", (E, symbol(name))) for name in constants if name in inside}
    return renamed(node, powers)


def _same_span(gold: Node, mine: list[str], answer: Node, yours: list[str]) -> bool | None:
    mp = shared_context(_DIGITS)
    names = sorted((letters(gold) - set(mine)) | (letters(answer) - set(yours)))
    gold_rows, answer_rows = [], []
    chance = random.Random("".join(names))
    for _ in range(60):
        point = {name: mp.mpf(chance.uniform(0.1, 3.0)) for name in names}
        try:
            rows = _linear(gold, mine, point, mp), _linear(answer, yours, point, mp)
        except UndefinedError:
            continue
        if rows[0] is None or rows[1] is None:
            return None
        gold_rows.append(rows[0])
        answer_rows.append(rows[1])
        if len(gold_rows) >= len(mine) + len(yours) + 6:
            break
    else:
        return None
    return _spans_agree(gold_rows, answer_rows, mp)


def _spans_agree(gold_rows: list[list[Any]], answer_rows: list[list[Any]], mp: Any) -> bool:
    ours = [row[1:] for row in gold_rows]
    theirs = [row[1:] for row in answer_rows]
    both = [left + right for left, right in zip(ours, theirs, strict=True)]
    apart = [
        [*left[1:], left[0] - right[0]] for left, right in zip(gold_rows, answer_rows, strict=True)
    ]
    rank = _rank(ours, mp)
    return rank == _rank(theirs, mp) == _rank(both, mp) == _rank(apart, mp)


def _linear(node: Node, constants: list[str], point: dict[str, Any], mp: Any) -> list[Any] | None:
    """The value without constants, and what each constant is multiplied by; None if not linear."""
    zero = dict.fromkeys(constants, mp.mpf(0))

    def at(**values: Any) -> Any:
        return value_at(node, mp, {**point, **zero, **values})

    start = at()
    slopes = []
    for name in constants:
        slope = at(**{name: mp.mpf(1)}) - start
        if abs(at(**{name: mp.mpf(-3)}) - start + 3 * slope) > mp.mpf(10) ** -40 * (1 + abs(slope)):
            return None
        slopes.append(slope)
    ones = at(**dict.fromkeys(constants, mp.mpf(1)))
    if abs(ones - start - sum(slopes)) > mp.mpf(10) ** -40 * (1 + abs(ones)):
        return None
    return [start, *slopes]


def _rank(rows: list[list[Any]], mp: Any) -> int:
    """The rank of a matrix, by elimination; what is smaller than 40 digits is zero."""
    rows = [list(row) for row in rows]
    scale = max((abs(value) for row in rows for value in row), default=0)
    rank = 0
    spend(3 * len(rows) * len(rows[0]) ** 2)
    for column in range(len(rows[0])):
        pivot = max(range(rank, len(rows)), key=lambda r: abs(rows[r][column]), default=None)
        if pivot is None or abs(rows[pivot][column]) <= scale * mp.mpf(10) ** -40:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for row in rows[rank + 1 :]:
            factor = row[column] / rows[rank][column]
            for place in range(column, len(row)):
                row[place] -= factor * rows[rank][place]
        rank += 1
        if rank == len(rows):
            break
    return rank


def integer_letter(nodes: list[Node], said: frozenset[str]) -> str | None:
    r"""The one letter that runs over all integers: the text says so, or it is the k of k\pi."""
    names = frozenset().union(*(letters(node) for node in nodes))
    if len(names) != 1:
        return None
    (name,) = names
    if name in said:
        return name
    periodic = any(
        (part.op == "const" and part.val == "pi") or part.op == "deg"
        for n in nodes
        for part in walk(n)
    )
    return name if periodic and name in INTEGER_LETTERS else None


def same_integer_family(gold: Node, answer: Node, said: frozenset[str]) -> bool | None:
    """Whether two families of values have the same members; None where they are no families."""
    return same_members([gold], [answer], said)


def same_members(gold: list[Node], answer: list[Node], said: frozenset[str]) -> bool | None:
    """The same for several families together: every member of one is a member of the other."""
    mine, yours = integer_letter(gold, said), integer_letter(answer, said)
    if mine is not None and yours is None and said:
        yours = integer_letter(answer, frozenset().union(*(letters(n) for n in answer)))
    if mine is None or yours is None:
        return None
    mp = shared_context(_DIGITS)
    try:
        ours = _members(gold, mine, mp)
        theirs = _members(answer, yours, mp)
    except (UndefinedError, TooLargeError, TypeError):
        return None
    if not ours or not theirs:
        return None
    reach = min(ours[1], theirs[1], mp.mpf(10) ** 30)  # 30 digits are left behind the point
    return _inside(ours[0], theirs[0], reach, mp) and _inside(theirs[0], ours[0], reach, mp)


def _members(nodes: list[Node], letter: str, mp: Any) -> tuple[list[Any], Any] | None:
    """The members for integers around 0, and how far from 0 none is missing."""
    values: list[Any] = []
    reach = mp.inf
    for node in nodes:
        if letter not in letters(node):
            values.append(value_at(node, mp, {}))  # one value beside the family
            continue
        own = [value_at(node, mp, {letter: mp.mpf(k)}) for k in range(-_STEPS, _STEPS + 1)]
        if any(isinstance(value, mp.mpc) for value in own) or (
            abs(own[0]) < 1 and own[0] == own[-1]
        ):
            return None
        reach = min(reach, abs(own[0]), abs(own[1]), abs(own[-1]), abs(own[-2]))
        values += own
    return values, reach


def _inside(values: list[Any], others: list[Any], reach: Any, mp: Any) -> bool:
    small = mp.mpf(10) ** -40
    known = {int(mp.nint(value * 10**20)) for value in others if abs(value) <= reach}
    return all(
        any(int(mp.nint(value * 10**20)) + step in known for step in (-1, 0, 1))
        for value in values
        if abs(value) < reach - small
    )
