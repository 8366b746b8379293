r"""Expressions: equal for all values of their letters where both are defined.

`\tan^2 y+1` and `\sec^2 y` are; so are `x^2+C` and `x^2+K`, and `k\pi` and `n\pi` where the letter
runs over the integers.
"""

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import cycle, islice, permutations
from typing import Any

from plaudit.answers._families import same_constants, same_integer_family
from plaudit.answers._numbers import DIGITS, MORE_DIGITS, vanishes
from plaudit.answers._points import UndefinedError, shared_context, value_at
from plaudit.answers._polynomials import same_quotient
from plaudit.answers._rules import SAME, Found, Outcome, different, equal
from plaudit.answers._tree import Node, TooLargeError, letters, renamed, symbol, walk

POINTS = 8
_TRIES = 24
_RANGES = ((-4.0, 4.0), (0.05, 0.95), (0.2, 6.0))


def same_expression(gold: Node, answer: Node, integers: frozenset[str] = frozenset()) -> Found:
    r"""Whether two expressions are identical.

    integers: the letters that are said to run over the integers

    >>> from plaudit.answers._grammar import read_tree
    >>> tree = lambda text: read_tree(text)[0]
    >>> same_expression(tree(r"\tan^2 y+1"), tree(r"\sec^2 y")).outcome
    <Outcome.EQUAL: 'equal'>
    >>> same_expression(tree("x"), tree("y")).outcome
    <Outcome.DIFFERENT: 'different'>
    """
    if gold == answer:
        return SAME
    family = same_integer_family(gold, answer, integers)
    if family is not None:
        return equal("the members of both families") if family else different("their members")
    constants = same_constants(gold, answer)
    if constants is not None:
        return equal("the same family") if constants else different("their families")
    found = identical(gold, answer)
    if found.outcome is Outcome.DIFFERENT and integers:
        return _with_letters_renamed(gold, answer, integers) or found
    return found


def _with_letters_renamed(gold: Node, answer: Node, integers: frozenset[str]) -> Found | None:
    mine, yours = letters(gold) - letters(answer), letters(answer) - letters(gold)
    if len(mine) != len(yours) or not mine or len(mine) > 3 or not mine <= integers:
        return None
    for order in permutations(sorted(mine)):
        names = {old: symbol(new) for old, new in zip(sorted(yours), order, strict=True)}
        if identical(gold, renamed(answer, names)).equal:
            return equal("values, with letters renamed")
    return None


def identical(gold: Node, answer: Node) -> Found:
    """Whether two trees have equal values at every point where both are defined."""
    same = same_quotient(gold, answer)
    if same is not None:
        how = "their normal forms as quotients of polynomials"
        return equal(how) if same else different(how)
    try:
        return _by_values(gold, answer, sorted(letters(gold) | letters(answer)))
    except TooLargeError:
        return Found(Outcome.LIMIT, "values that are too large")


def _by_values(gold: Node, answer: Node, names: list[str]) -> Found:
    for whole, complex_too in ((False, False), (True, False), (False, True)):
        agreed = 0
        for point in islice(_points(names, whole), 3 * _TRIES):
            same = _same_at(gold, answer, point, complex_too)
            if same is False:
                return different("their values at a point")
            agreed += same is True
            if agreed >= POINTS:
                return equal(f"values at {POINTS} points to {DIGITS // 2} digits")
    return Found(Outcome.UNDECIDED, "no point where both are defined")


def _same_at(
    gold: Node, answer: Node, point: dict[str, Fraction], complex_too: bool
) -> bool | None:
    """Whether both are equal at a point; None where one is undefined there."""

    def difference(digits: int) -> Any:
        mp = shared_context(digits)
        at = {name: mp.mpf(value.numerator) / value.denominator for name, value in point.items()}
        left, right = value_at(gold, mp, at), value_at(answer, mp, at)
        if real and (_is_complex(mp, left) or _is_complex(mp, right)):
            raise UndefinedError("no real number")
        if mp.isinf(left) or mp.isinf(right):
            raise UndefinedError("infinite")
        return abs(left - right) / (1 + abs(left) + abs(right))

    real = not complex_too and not _has_i(gold)
    try:
        return vanishes(difference(DIGITS), lambda: difference(MORE_DIGITS))
    except UndefinedError:
        return None


def _has_i(node: Node) -> bool:
    return any(part.op == "const" and part.val == "i" for part in walk(node))


def _is_complex(mp: Any, value: Any) -> bool:
    return isinstance(value, mp.mpc) and abs(value.imag) > mp.mpf(10) ** (-DIGITS // 2)


def _points(names: list[str], whole: bool) -> Iterator[dict[str, Fraction]]:
    """Points in general position, none twice: always the same ones for the same letters."""
    chance = random.Random("".join(names))
    seen: set[tuple[Fraction, ...]] = set()
    for low, high in islice(cycle(_RANGES), 20 * _TRIES):
        point = [
            Fraction(chance.randint(1, 40))
            if whole
            else Fraction(chance.uniform(low, high)).limit_denominator(10**9)
            for _ in names
        ]
        if tuple(point) not in seen:
            seen.add(tuple(point))
            yield dict(zip(names, point, strict=True))
