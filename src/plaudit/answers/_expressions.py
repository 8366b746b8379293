r"""Expressions: equal for all values of their letters for which both are defined.

`\tan^2 y+1` and `\sec^2 y` are equal; so are `x^2+C` and `x^2+K`, and `k\pi` and `n\pi` if the
letter runs over the integers.
"""

import random
import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import cycle, islice, permutations
from typing import Any

from plaudit.answers._numbers import DIGITS, MORE_DIGITS, vanishes
from plaudit.answers._rules import SAME, Decision, different, equal
from plaudit.answers._tokens import INTEGER_LETTERS
from plaudit.answers._tree import E, Node, TooLargeError, letters, renamed, symbol, walk
from plaudit.answers._values import UndefinedError, shared_context, spend, value_at
from plaudit.judge import Status

POINTS = 8  # at which two expressions must agree
_TRIES = 24  # points in each range; at some, a root or a logarithm is not defined
_RANGES = ((-4.0, 4.0), (0.05, 0.95), (0.2, 6.0))


def same_expression(gold: Node, answer: Node, integers: frozenset[str] = frozenset()) -> Decision:
    r"""Decide whether two expressions are identical.

    integers: the letters that are said to run over the integers
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
    if found.status is Status.DIFFERENT and integers:
        return _with_letters_renamed(gold, answer, integers) or found
    return found


def _with_letters_renamed(gold: Node, answer: Node, integers: frozenset[str]) -> Decision | None:
    mine, yours = letters(gold) - letters(answer), letters(answer) - letters(gold)
    if len(mine) != len(yours) or not mine or len(mine) > 3 or not mine <= integers:
        return None
    for order in permutations(sorted(mine)):
        names = {old: symbol(new) for old, new in zip(sorted(yours), order, strict=True)}
        if identical(gold, renamed(answer, names)).equal:
            return equal("values, with letters renamed")
    return None


def identical(gold: Node, answer: Node) -> Decision:
    """Decide whether two trees have equal values at every point where both are defined."""
    same = same_quotient(gold, answer)
    if same is not None:
        decided_by = "their normal forms as quotients of polynomials"
        return equal(decided_by) if same else different(decided_by)
    try:
        return _by_values(gold, answer, sorted(letters(gold) | letters(answer)))
    except TooLargeError:
        return Decision(Status.LIMIT, "values that are too large")


def _by_values(gold: Node, answer: Node, names: list[str]) -> Decision:
    for whole, complex_too in ((False, False), (True, False), (False, True)):
        agreed = 0
        for point in islice(_points(names, whole), 3 * _TRIES):
            same = _same_at(gold, answer, point, complex_too)
            if same is False:
                return different("their values at a point")
            agreed += same is True
            if agreed >= POINTS:
                return equal(f"values at {POINTS} points to {DIGITS // 2} digits")
    return Decision(Status.UNDECIDED, "no point where both are defined")


def _same_at(
    gold: Node, answer: Node, point: dict[str, Fraction], complex_too: bool
) -> bool | None:
    """Whether both are equal at a point; None if one is undefined there."""

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


# -- Quotients of polynomials

Product = tuple[tuple[str, int], ...]
Polynomial = dict[Product, Fraction | int]
_ONE: Polynomial = {(): 1}
# A larger polynomial is compared by its values.
MOST_TERMS = 300
HIGHEST = 24  # exponent
MOST_BITS = 2000  # of a coefficient


class _NoPolynomialError(Exception):
    """The tree is not a quotient of polynomials, or it is a large one."""


def same_quotient(one: Node, other: Node) -> bool | None:
    r"""Whether two trees are the same quotient of polynomials; None if one is not a quotient."""
    try:
        (top, bottom), (other_top, other_bottom) = _quotient(one), _quotient(other)
        return _times(top, other_bottom) == _times(other_top, bottom)
    except _NoPolynomialError:
        return None


def _quotient(node: Node) -> tuple[Polynomial, Polynomial]:
    one = _ONE
    match node.op:
        case "num":
            return _constant(node.val), one
        case "dec":
            return _constant(node.val.value), one
        case "sym":
            return {((node.val, 1),): 1}, one
        case "group":
            return _quotient(node.args[0])
        case "neg":
            top, bottom = _quotient(node.args[0])
            return {product: -value for product, value in top.items()}, bottom
        case "add":
            total = _quotient(node.args[0])
            for part in node.args[1:]:
                total = _sum(total, _quotient(part))
            return total
        case "mul":
            total = _quotient(node.args[0])
            for part in node.args[1:]:
                top, bottom = _quotient(part)
                total = _times(total[0], top), _times(total[1], bottom)
            return total
        case "div":
            (top, bottom), (under, over) = map(_quotient, node.args)
            if not under:
                raise _NoPolynomialError
            return _times(top, over), _times(bottom, under)
        case "pow":
            return _power(node)
    raise _NoPolynomialError


def _constant(value: Fraction) -> Polynomial:
    if value.numerator.bit_length() + value.denominator.bit_length() > MOST_BITS:
        raise _NoPolynomialError
    # Whole numbers are far faster than fractions.
    return {(): value.numerator if value.denominator == 1 else value} if value else {}


def _power(node: Node) -> tuple[Polynomial, Polynomial]:
    base, exponent = node.args
    while exponent.op == "group":
        exponent = exponent.args[0]
    if exponent.op != "num" or exponent.val.denominator != 1 or abs(exponent.val) > HIGHEST:
        raise _NoPolynomialError
    top, bottom = _quotient(base)
    if exponent.val < 0:
        if not top:
            raise _NoPolynomialError
        top, bottom = bottom, top
    result = _ONE, _ONE
    for _ in range(abs(int(exponent.val))):
        result = _times(result[0], top), _times(result[1], bottom)
    return result


def _sum(
    one: tuple[Polynomial, Polynomial], other: tuple[Polynomial, Polynomial]
) -> tuple[Polynomial, Polynomial]:
    total = dict(_times(one[0], other[1]))
    for product, value in _times(other[0], one[1]).items():
        total[product] = total.get(product, 0) + value
    return {p: value for p, value in total.items() if value}, _times(one[1], other[1])


def _times(one: Polynomial, other: Polynomial) -> Polynomial:
    if one is _ONE or other is _ONE:
        return other if one is _ONE else one
    if len(one) * len(other) > 10 * MOST_TERMS:
        raise _NoPolynomialError
    spend(5 * len(one) * len(other))
    total: Polynomial = {}
    for left, value in one.items():
        for right, factor in other.items():
            product = _product(left, right) if left and right else left or right
            total[product] = _bounded(total.get(product, 0) + value * factor)
    if len(total) > MOST_TERMS:
        raise _NoPolynomialError
    return {product: value for product, value in total.items() if value}


def _product(left: Product, right: Product) -> Product:
    powers = dict(left)
    for name, power in right:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted(powers.items()))


def _bounded(value: Fraction | int) -> Fraction | int:
    bits = value.numerator.bit_length() + value.denominator.bit_length()
    if bits > 10 * MOST_BITS:
        raise _NoPolynomialError
    spend(bits**2 >> 19)
    return value


# -- Families: over constants of integration, or over the integers

_CONSTANT = re.compile(r"[CcK](?:_\w)?|[CcKkAB]_\d")
_VARIABLES = frozenset(["x", "y", "z", "t", "s", "u", "v", "w", "r", "\\theta", "n", "k", "m", "p"])
_STEPS = 40  # members of a family are computed for integers from -40 to 40
_DIGITS = 60


def constants_of(node: Node) -> list[str]:
    """The letters of an expression that are constants of integration, by their names."""
    names = letters(node)
    found = sorted(name for name in names if _CONSTANT.fullmatch(name))
    others = names - set(found)
    if "C" not in names and "K" not in names and not any("_" in name for name in found):
        found = [name for name in found if name == "c"]
    return found if found and others <= _VARIABLES else []


def same_constants(gold: Node, answer: Node) -> bool | None:
    """Whether both are the same family in their constants; None if they are not such families.

    Both must be linear in their constants: g0 + C1 g1 + C2 g2. They are the same family if the
    g and the a span the same space, and g0 - a0 lies in it.
    """
    mine = constants_of(gold)
    if not mine:
        return None
    yours = constants_of(answer)
    if len(yours) < len(mine):
        # Any letters will do as constants if there are just as many that the gold does not have.
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
    """The tree with e^C instead of each constant C that a logarithm is taken of."""
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
            for index in range(column, len(row)):
                row[index] -= factor * rows[rank][index]
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
    """Whether two families of values have the same members; None if they are not families."""
    return same_members([gold], [answer], said)


def same_members(gold: list[Node], answer: list[Node], said: frozenset[str]) -> bool | None:
    """As `same_integer_family`, for several families together."""
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
