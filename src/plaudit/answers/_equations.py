r"""Equations and congruences: equal if they have the same solutions.

`2x+4y-3=0` and `y=-x/2+3/4` are the same line; `n \equiv 3 \pmod 7` is `n \equiv 10 \pmod 7`, and
the family `n = 7k+3`.
"""

import itertools
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from plaudit.answers._expressions import constants_of, identical, same_members
from plaudit.answers._numbers import DIGITS
from plaudit.answers._rules import Decision, different, equal
from plaudit.answers._tree import Node, TooLargeError, letters, renamed, symbol, without_name
from plaudit.answers._values import UndefinedError, exact, shared_context, value_at
from plaudit.judge import Status

_TRIES = 40
_COMMON = 6  # lines with solutions of one equation that must all solve the other
_GRID = 25  # steps along a line, between which a change of sign is a solution
_MOST_ON_A_LINE = 3
_ZERO = 1e-25  # a value that is zero, at 40 digits


def same_equation(gold: Node, answer: Node) -> Decision:
    r"""Decide whether two equations, trees of `rel` with "=" alone, have the same solutions."""
    mine, yours = _differences(gold), _differences(answer)
    if len(mine) > 1 or len(yours) > 1:
        return _same_system(mine, yours)
    yours[0] = _with_constants_of(mine[0], yours[0])
    names = sorted(letters(mine[0]) | letters(yours[0]))
    if not names or letters(mine[0]) != letters(yours[0]):
        return different("their letters")
    try:
        if _is_multiple(mine[0], yours[0], names):
            return equal("a multiple of it")
        return _by_solutions(mine[0], yours[0], names)
    except TooLargeError:
        return Decision(Status.LIMIT, "values that are too large")


def is_identity(equation: Node) -> bool:
    r"""Whether an equation holds for all values of its letters: a chain of equal things."""
    if r"\approx" in equation.val:
        return True
    first, *others = equation.args
    return all(identical(first, side).equal for side in others)


def either_equation(said: Node, branches: list[Node]) -> Node | None:
    r"""The one equation that holds if any of several does: their product; None for a system."""
    is_either = said.op == "rel" or set(said.val) == {"or"}
    if not is_either or any(b.op != "rel" or b.val != ("=",) for b in branches):
        return None
    factors = tuple(difference for branch in branches for difference in _differences(branch))
    return Node("rel", (Node("mul", factors), Node("num", (), Fraction(0))), ("=",))


def _differences(equation: Node) -> list[Node]:
    sides = equation.args
    return [Node("add", (left, Node("neg", (right,)))) for left, right in itertools.pairwise(sides)]


def _with_constants_of(gold: Node, answer: Node) -> Node:
    """The answer with the gold's names for constants of integration: x^2 + y^2 = C."""
    mine, yours = letters(gold) - letters(answer), letters(answer) - letters(gold)
    if len(mine) == len(yours) == 1 and mine <= set(constants_of(gold)):
        return renamed(answer, {next(iter(yours)): symbol(next(iter(mine)))})
    return answer


def _is_multiple(one: Node, other: Node, names: list[str]) -> bool:
    """Whether the quotient of both is the same at many points."""
    mp = shared_context(DIGITS)
    chance = random.Random("".join(names))
    first = None
    agreed = 0
    for _ in range(_TRIES):
        point = {
            name: mp.mpf(chance.uniform(0.2, 3.0)) * chance.choice((1, 1, -1)) for name in names
        }
        try:
            left, right = value_at(one, mp, point), value_at(other, mp, point)
        except UndefinedError:
            continue
        if right == 0 or left == 0 or isinstance(left, mp.mpc) or isinstance(right, mp.mpc):
            continue
        quotient = left / right
        if first is None:
            first = quotient
        elif abs(quotient - first) > abs(first) * mp.mpf(10) ** -50:
            return False
        agreed += 1
        if agreed >= 8:
            return True
    return False


def _by_solutions(one: Node, other: Node, names: list[str]) -> Decision:
    """Look for solutions of each that do not solve the other."""
    # Of one letter, one line has all the solutions there are.
    wanted = _COMMON if len(names) > 1 else 1
    for left, right in ((one, other), (other, one)):
        common = 0
        chance = random.Random("".join(names) + "solutions")
        for _ in range(_TRIES):
            solutions = _solutions(left, names, chance)
            if not all(_solves(right, solution) for solution in solutions):
                return different("a solution that only one of them has")
            common += bool(solutions)
            if common >= wanted:
                break
        if common < wanted:
            return different("no common solutions found")
    return equal("solutions of both")


def _solutions(equation: Node, names: list[str], chance: random.Random) -> list[dict[str, Any]]:
    """Solutions on a line through a random point, along one of the letters."""
    mp = shared_context(40)
    point = {name: mp.mpf(chance.uniform(-5, 5)) for name in names}
    free = chance.choice(names)

    def at(value: Any) -> Any:
        try:
            found = value_at(equation, mp, {**point, free: value})
        except UndefinedError:
            return None
        return None if isinstance(found, mp.mpc) else found

    grid = [mp.mpf(-6) + mp.mpf(12) * step / _GRID + mp.mpf("0.0137") for step in range(_GRID + 1)]
    values = [at(value) for value in grid]
    crossings = [
        left
        for left in range(_GRID)
        if values[left] is not None
        and values[left + 1] is not None
        and values[left] * values[left + 1] < 0
    ]
    if len(names) > 1:
        crossings = chance.sample(crossings, min(len(crossings), _MOST_ON_A_LINE))
    roots = [
        _root(at, (grid[left], values[left]), (grid[left + 1], values[left + 1]))
        for left in crossings
    ]
    return [{**point, free: root} for root in roots if root is not None]


def _root(at: Callable[[Any], Any], low: tuple[Any, Any], high: tuple[Any, Any]) -> Any:
    """The zero of a function between two points with values of different signs; None if none.

    The Illinois method, with every third step a halving for functions that are too steep for it.
    """
    kept = 0  # which end has stayed: -1 the lower one, 1 the higher one
    for step in range(60):
        weight = low[1] / (low[1] - high[1]) if step % 3 < 2 else 0.5
        middle = low[0] + (high[0] - low[0]) * weight
        found = at(middle)
        if found is None or abs(found) < _ZERO:
            return middle if found is not None else None
        if (found > 0) == (high[1] > 0):
            high = middle, found
            low = low[0], low[1] / 2 if kept < 0 else low[1]
            kept = -1
        else:
            low = middle, found
            high = high[0], high[1] / 2 if kept > 0 else high[1]
            kept = 1
    # A pole changes sign too, and is no solution.
    return middle if abs(found) <= 10**-12 else None


def _solves(equation: Node, solution: dict[str, Any]) -> bool:
    mp = shared_context(40)
    try:
        return bool(abs(value_at(equation, mp, solution)) < mp.mpf(10) ** -12)
    except UndefinedError:
        return False


def _same_system(mine: list[Node], yours: list[Node]) -> Decision:
    """Chains such as a line in space: at points on one, the other must hold too."""
    if len(mine) != len(yours):
        return different("the number of their equations")
    used: set[int] = set()
    for one in mine:
        for index, other in enumerate(yours):
            names = sorted(letters(one) | letters(other))
            if (
                index not in used
                and letters(one) == letters(other)
                and _is_multiple(one, other, names)
            ):
                used.add(index)
                break
        else:
            return different("one of their equations")
    return equal("multiples of its equations")


# -- Congruences

_LETTER = "k"


def same_congruence(gold: Node, answer: Node) -> Decision:
    r"""Decide whether an answer has the same members as a gold that is a congruence."""
    mine, yours = _residue(gold), _residue(answer)
    if mine is None:
        return different("a relation, where the gold is another")
    residue, modulus = mine
    if yours is not None:
        same = modulus == yours[1] and (residue - yours[0]) % modulus == 0
        return equal("the same residue") if same else different("their residues")
    value = without_name(answer)
    names = letters(value)
    if len(names) != 1 or value.op == "rel":
        return different("an answer that is no congruence")
    family = Node(
        "add",
        (Node("num", (), residue), Node("mul", (Node("num", (), modulus), symbol(_LETTER)))),
    )
    same_family = same_members([family], [value], frozenset([_LETTER]) | names)
    return equal("the same numbers") if same_family else different("their numbers")


def _residue(node: Node) -> tuple[Fraction, Fraction] | None:
    """The residue and the modulus of a congruence, or of a remainder such as 3 mod 7."""
    value = node.args[-1] if node.op == "rel" and node.val == (r"\equiv",) else node
    if value.op != "mod":
        return None
    residue, modulus = (exact(part) for part in value.args)
    if residue is None or modulus is None or modulus == 0:
        return None
    return residue, modulus
