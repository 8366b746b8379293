r"""Numbers with what stands behind them: percent, degrees, units.

`25\%` is a quarter, and a gold `25\%` takes a bare 25; `\pi/4` is `45^\circ`; `5\text{ m}` is
`500\text{ cm}`, and either is what a bare 5 or 500 of the same gold would be.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from plaudit.answers._numbers import same_number
from plaudit.answers._rules import Rules
from plaudit.answers._tree import PI, Node, letters, number, walk
from plaudit.answers._units import LETTERS, UNITS, Unit
from plaudit.answers._values import exact

_INVERSE = frozenset(["arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc"])

_ASKED_FOR_PERCENT = re.compile(
    r"\b(?:what|which|how many|find|determine|calculate|compute|give|express)\b"
    r"[^.?!]{0,60}?\bpercent(?:age)?\b|\bwhat %|\bas a percent",
    re.IGNORECASE,
)


class _Peeled(NamedTuple):
    """A number, and what stood behind it: "", "%", "deg", or a unit."""

    value: Node
    mark: str
    unit: Unit | None = None


def _peeled(node: Node) -> _Peeled:
    if node.op == "group":
        return _peeled(node.args[0])
    if node.op == "neg":
        inner = _peeled(node.args[0])
        return inner._replace(value=Node("neg", (inner.value,)))
    if node.op == "pct":
        return _Peeled(node.args[0], "%")
    if node.op == "deg":
        return _Peeled(node.args[0], "deg")
    if node.op == "unit":
        inner = _peeled(node.args[0])
        return inner if inner.mark else _Peeled(inner.value, "unit", node.val)
    return _Peeled(node, "")


def same_quantity(gold: Node, answer: Node, rules: Rules) -> tuple[bool, str]:
    r"""Whether two numbers, with percent signs, degrees or units, are the same; what decided.

    >>> from plaudit.answers._grammar import read_tree
    >>> tree = lambda text: read_tree(text)[0]
    >>> same_quantity(tree(r"25\%"), tree("25"), Rules())[0]
    True
    >>> same_quantity(tree("25"), tree(r"25\%"), Rules())[0]
    False
    >>> same_quantity(tree(r"5\text{ m}"), tree(r"500\text{ cm}"), Rules())[0]
    True
    """
    mine, yours = _peeled(gold), _peeled(answer)
    match mine.mark, yours.mark:
        case "", "":
            return same_number(gold, answer, rules)
        case "", "deg" if not _is_angle(mine.value):
            return same_number(mine.value, yours.value, rules)
        case ("", "deg") | ("deg", "") if _is_angle(mine.value) or _is_angle(yours.value):
            found = same_number(gold, answer, rules)
            return found if found[0] else same_number(_degrees(mine), _degrees(yours), rules)
        case "", "unit":
            return same_number(mine.value, yours.value, rules)
        case "", "%" if _ASKED_FOR_PERCENT.search(rules.question):
            found = same_number(mine.value, yours.value, rules)
            return found if found[0] else same_number(gold, answer, rules)
        case ("", "%") | ("%", "%"):
            return same_number(_hundredth(mine), _hundredth(yours), rules)
        case "%", "":
            found = same_number(_hundredth(mine), yours.value, rules)
            return found if found[0] else same_number(mine.value, yours.value, rules)
        case ("deg", "deg") | ("deg", "") | ("unit", ""):
            return same_number(mine.value, yours.value, rules)
        case ("deg", "unit") | ("unit", "deg"):
            return _radians(mine, yours, rules)
        case "unit", "unit":
            return _units(mine, yours, rules)
    return False, "what stands behind the numbers"


def with_unit_letter(node: Node) -> Node:
    """A number times a letter that is a unit, `5 m`, as a quantity; anything else as it is."""
    if node.op != "mul" or node.args[-1].op != "sym":
        return node
    letter, rest = node.args[-1].val, node.args[:-1]
    value = rest[0] if len(rest) == 1 else Node("mul", rest)
    if letters(value):
        return node
    if value.op == "deg" and letter in ("C", "F"):
        scale = "celsius" if letter == "C" else "fahrenheit"
        return Node("unit", value.args, Unit(((scale, 1),), Fraction(1)))
    if letter not in LETTERS and letter != "\\Omega":
        return node
    return Node("unit", (value,), UNITS[letter])


def _hundredth(peeled: _Peeled) -> Node:
    return Node("pct", (peeled.value,)) if peeled.mark == "%" else peeled.value


def _is_angle(node: Node) -> bool:
    """Whether a bare number is an angle in radians: it has a π, or is an inverse sine."""
    return any(
        (part.op == "const" and part.val == "pi") or (part.op == "call" and part.val in _INVERSE)
        for part in walk(node)
    )


def _degrees(side: _Peeled) -> Node:
    """An angle in degrees: what is in degrees keeps the digits that it shows."""
    if side.mark == "deg":
        return side.value
    return Node("div", (Node("mul", (side.value, number(180))), PI))


def _radians(mine: _Peeled, yours: _Peeled, rules: Rules) -> tuple[bool, str]:
    unit = mine.unit or yours.unit
    if unit is None or unit.dimension or unit.nouns:
        return False, "their units"
    return same_number(_degrees(mine), _degrees(yours), rules)


def _units(mine: _Peeled, yours: _Peeled, rules: Rules) -> tuple[bool, str]:
    gold, answer = mine.unit, yours.unit
    assert gold is not None and answer is not None
    if gold == UNITS[r"\pounds"] and answer == UNITS["pound"]:
        answer = gold  # the word is of money where the sign was
    if gold.dimension != answer.dimension:
        if not gold.dimension and not gold.nouns:
            return same_number(mine.value, yours.value, rules)
        return False, "units of another dimension"
    if not gold.dimension and not _nouns_agree(gold.nouns, answer.nouns):
        return False, "what is counted"
    if gold.size == answer.size:
        return same_number(mine.value, yours.value, rules)
    converted = Node("mul", (yours.value, number(answer.size / gold.size)))
    value = exact(yours.value)
    if value is not None and yours.value.op == "num":
        converted = number(value * answer.size / gold.size)
    return same_number(mine.value, converted, rules)


def _nouns_agree(mine: tuple[str, ...], yours: tuple[str, ...]) -> bool:
    if not mine or not yours:
        return True
    return bool({noun.rstrip("s") for noun in mine} & {noun.rstrip("s") for noun in yours})
