r"""Sets of real numbers: intervals, inequalities, set-builders, unions.

`(-\infty,-5)`, `k<-5` and `\{x \mid x<-5\}` are the same set. Two sets are equal if they agree on
all of their ends, on a point between each two ends, and on a point beyond them.
"""

import itertools
import random
from collections.abc import Callable
from typing import Any, NamedTuple

from plaudit.answers._rules import says_interval_or_pair
from plaudit.answers._tokens import INTEGER_LETTERS
from plaudit.answers._tree import (
    INEQUALITIES,
    Node,
    TooLargeError,
    is_name,
    letters,
    renamed,
    symbol,
    walk,
)
from plaudit.answers._values import UndefinedError, shared_context, spend, value_at

_DIGITS = 60
_TURNED = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le", r"\ne": r"\ne", "=": "="}
_DRAWS = 5  # random values of the parameters for which two sets must agree
_MEMBERS = ("x", "y", "z", "t")


class RealSet(NamedTuple):
    """A set of real numbers: its ends, and whether it holds a number."""

    ends: tuple[Any, ...]
    has: Callable[[Any], bool]


class _NoSetError(Exception):
    """The tree is not a set of real numbers."""


def same_set(gold: Node, answer: Node) -> bool | None:
    r"""Whether two trees are the same set of real numbers; None if one is not such a set."""
    answer = _with_shared_parameters(gold, answer)
    names = sorted(letters(gold) | letters(answer))
    chance = random.Random("".join(names))
    mp = shared_context(_DIGITS)
    draws = _DRAWS if names else 1
    for _ in range(draws):
        point = {name: _parameter(name, chance, mp) for name in names}
        try:
            sets = _SetReader(mp, point).read(gold), _SetReader(mp, point).read(answer)
        except (UndefinedError, _NoSetError, TooLargeError):
            return None
        if not _agree(sets[0], sets[1], mp):
            return False
    return True


def _with_shared_parameters(gold: Node, answer: Node) -> Node:
    """The answer with the gold's letter for the integers."""
    mine, yours = letters(gold) - letters(answer), letters(answer) - letters(gold)
    if len(mine) == len(yours) == 1 and mine | yours <= INTEGER_LETTERS - _bound(gold, answer):
        return renamed(answer, {next(iter(yours)): symbol(next(iter(mine)))})
    return answer


def _bound(*nodes: Node) -> set[str]:
    """The letters that stand for the members of a set."""
    return {
        side.val
        for node in nodes
        for part in walk(node)
        if part.op == "rel"
        for side in part.args
        if side.op == "sym"
    }


def _parameter(name: str, chance: random.Random, mp: Any) -> Any:
    if name in INTEGER_LETTERS:
        return mp.mpf(chance.randint(-3, 5))
    return mp.mpf(chance.uniform(-3, 3))


def _agree(one: RealSet, other: RealSet, mp: Any) -> bool:
    """Whether both sets agree on all ends and on a point between each two."""
    ends = sorted(end for end in one.ends + other.ends if not mp.isinf(end))
    distinct: list[Any] = []
    for end in ends:
        if not distinct or end - distinct[-1] > mp.mpf(10) ** -35:
            distinct.append(end)
    tests = list(distinct)
    tests += [(left + right) / 2 for left, right in itertools.pairwise(distinct)]
    tests += [distinct[0] - 1, distinct[-1] + 1] if distinct else [mp.mpf(0)]
    return all(one.has(test) == other.has(test) for test in tests)


class _SetReader:
    """Turns trees into sets; the letters that are not members have values."""

    def __init__(self, mp: Any, point: dict[str, Any]) -> None:
        self.mp, self.point = mp, point

    def read(self, node: Node) -> RealSet:
        match node.op:
            case "tuple" if len(node.args) == 2 and node.val != "<>":
                return self._interval(node)
            case "set":
                return self._union([self._point(member) for member in node.args])
            case "empty":
                return RealSet((), lambda x: False)
            case "cup" | "cap":
                parts = [self.read(part) for part in node.args]
                return self._union(parts) if node.op == "cup" else self._intersection(parts)
            case "setminus":
                first, *taken = (self.read(part) for part in node.args)
                return self._without(first, self._union(taken))
            case "numbers":
                return self._numbers(node.val)
            case "builder":
                return self._builder(node)
            case "rel":
                return self._relation(node)
            case "list":
                return self._list(node)
        raise _NoSetError(node.op)

    def _value(self, node: Node) -> Any:
        value = value_at(node, self.mp, self.point)
        if isinstance(value, self.mp.mpc):
            raise _NoSetError("not real")
        return value

    def _same(self, one: Any, other: Any) -> bool:
        spend(6)
        return bool(one == other or abs(one - other) < self.mp.mpf(10) ** -38)

    def _interval(self, node: Node) -> RealSet:
        low, high = map(self._value, node.args)
        return self._between(low, node.val[0] == "[", high, node.val[1] == "]")

    def _between(self, low: Any, with_low: bool, high: Any, with_high: bool) -> RealSet:
        def has(x: Any) -> bool:
            if self._same(x, low):
                return with_low and (with_high or not self._same(x, high))
            if self._same(x, high):
                return with_high
            return bool(low < x < high)

        return RealSet((low, high), has)

    def _point(self, node: Node) -> RealSet:
        value = self._value(node)
        return RealSet((value,), lambda x: self._same(x, value))

    def _union(self, parts: list[RealSet]) -> RealSet:
        return RealSet(
            tuple(end for part in parts for end in part.ends),
            lambda x: any(part.has(x) for part in parts),
        )

    def _intersection(self, parts: list[RealSet]) -> RealSet:
        return RealSet(
            tuple(end for part in parts for end in part.ends),
            lambda x: all(part.has(x) for part in parts),
        )

    def _without(self, whole: RealSet, taken: RealSet) -> RealSet:
        return RealSet(whole.ends + taken.ends, lambda x: whole.has(x) and not taken.has(x))

    def _numbers(self, name: str) -> RealSet:
        inf, zero = self.mp.inf, self.mp.mpf(0)
        if name[0] != "R":
            raise _NoSetError(name)
        sign = name[1:].replace("*", "")
        if sign in ("+", ">0", ">"):
            return self._between(zero, False, inf, False)
        if sign in (r"\ge0", "+0", "0+"):
            return self._between(zero, True, inf, False)
        if sign in ("-", "<0", "<"):
            return self._between(-inf, False, zero, False)
        if sign:
            raise _NoSetError(name)
        if "*" in name:
            return RealSet((zero,), lambda x: x != 0)
        return RealSet((), lambda x: True)

    def _builder(self, node: Node) -> RealSet:
        what, condition = node.args
        allowed = self.read(condition)
        if what.op == "rel" and what.val == (r"\in",) and what.args[1] != Node("numbers", (), "R"):
            return self._intersection([allowed, self.read(what.args[1])])
        return allowed

    def _relation(self, node: Node) -> RealSet:
        if node.val == (r"\in",):
            return self.read(node.args[1])
        if node.val == ("=",) and says_interval_or_pair(node.args[1]) and is_name(node.args[0]):
            return self.read(node.args[1])
        if any(side.op == "abs" for side in node.args):
            sides = zip(node.args, node.val, node.args[1:], strict=False)
            return self._intersection([self._distance(*side) for side in sides])
        member = _member(node)
        parts = [
            self._half_line(left, sign, right, member)
            for left, sign, right in zip(node.args, node.val, node.args[1:], strict=False)
        ]
        return self._intersection(parts)

    def _distance(self, left: Node, sign: str, right: Node) -> RealSet:
        """|x - a| < b; the expression between the bars must be linear in the letter."""
        if left.op != "abs":
            left, sign, right = right, _TURNED.get(sign, ""), left
        inside = left.args[0]
        names = sorted(letters(inside) - letters(right))
        preferred = [name for name in names if name in _MEMBERS]
        if left.op != "abs" or not names or sign not in INEQUALITIES | {"="}:
            raise _NoSetError("no distance that is limited")
        member = (preferred or names)[0]
        at = [value_at(inside, self.mp, {**self.point, member: self.mp.mpf(x)}) for x in (0, 1, 3)]
        slope = at[1] - at[0]
        if slope == 0 or not self._same(at[2], at[0] + 3 * slope):
            raise _NoSetError("not linear between the bars")
        limit, centre = self._value(right) / abs(slope), -at[0] / slope
        low, high, inf = centre - limit, centre + limit, self.mp.inf
        if limit < 0:
            low = high = centre  # no distance is negative
        match sign:
            case "<" | r"\le":
                if limit < 0:
                    return RealSet((), lambda x: False)
                return self._between(low, sign != "<", high, sign != "<")
            case ">" | r"\ge":
                if limit < 0:
                    return RealSet((), lambda x: True)
                below = self._between(-inf, False, low, sign != ">")
                return self._union([below, self._between(high, sign != ">", inf, False)])
        ends = self._union([self._between(end, True, end, True) for end in {low, high}])
        nowhere = RealSet((), lambda x: False)
        ends = nowhere if limit < 0 else ends
        return ends if sign == "=" else self._without(RealSet((), lambda x: True), ends)

    def _half_line(self, left: Node, sign: str, right: Node, member: Node) -> RealSet:
        if left != member:
            left, sign, right = right, _TURNED.get(sign, ""), left
        if left != member:
            raise _NoSetError("no letter that is limited")
        end, inf = self._value(right), self.mp.inf
        match sign:
            case "<" | r"\le":
                return self._between(-inf, False, end, sign != "<")
            case ">" | r"\ge":
                return self._between(end, sign != ">", inf, False)
            case "=":
                return RealSet((end,), lambda x: self._same(x, end))
            case r"\ne":
                return RealSet((end,), lambda x: not self._same(x, end))
        raise _NoSetError(sign)

    def _list(self, node: Node) -> RealSet:
        parts = [self.read(item) for item in node.args]
        if "or" in node.val or r"\lor" in node.val:
            return self._union(parts)
        if all(item.op == "tuple" for item in node.args):
            return self._union(parts)
        both = self._intersection(parts)
        ends = sorted(end for end in both.ends if not self.mp.isinf(end))
        between = [(a + b) / 2 for a, b in itertools.pairwise(ends)]
        beyond = [ends[0] - 1, ends[-1] + 1] if ends else []
        # "x < 1, x > 3" can only mean either.
        return both if any(map(both.has, ends + between + beyond)) else self._union(parts)


def _member(node: Node) -> Node:
    """The letter that an inequality limits: it stands alone on a side."""
    alone = [side for side in node.args if side.op == "sym"]
    if len(node.args) == 3:
        if node.args[1].op != "sym":
            raise _NoSetError("no letter between the ends")
        return node.args[1]
    if not alone or len(node.args) != 2:
        raise _NoSetError("no letter alone")
    preferred = [side for side in alone if side.val in _MEMBERS]
    return (preferred or alone)[0]
