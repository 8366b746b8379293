r"""How a text is read: its kind, and its tree rendered as text."""

from dataclasses import dataclass

from plaudit.answers._comparison import check_kind, kind_of
from plaudit.answers._grammar import read_tree
from plaudit.answers._text import read_choice, read_clock, read_date, says_time, words_of
from plaudit.answers._tokens import without_formatting
from plaudit.answers._tree import CannotReadError, Node, TooLargeError
from plaudit.answers._values import exact, limited_steps


@dataclass(frozen=True, slots=True)
class Reading:
    """How a text is read.

    kind: number, percent, quantity, angle, base, ratio, time, expression, equation, interval, list,
        tuple, matrix, choice or text
    value: the text without formatting, such as `$…$` and `\\left`
    canonical: the same for texts with the same meaning, as far as reading alone can tell:
        `\\frac{2}{4}` and `0.5` are both "1/2"

    >>> read("0.5").canonical
    '1/2'
    """

    kind: str
    value: str
    canonical: str


def read(text: str, kind: str | None = None) -> Reading:
    r"""Return how a text is read as an answer.

    kind: what the text is, one of KINDS. Default: it is read from the text

    >>> read(r"$\dfrac{2}{4}$")
    Reading(kind='number', value='\\frac{2}{4}', canonical='1/2')
    >>> read("k < -5").kind, read(r"25\%").canonical, read("4:30 p.m.").canonical
    ('interval', '25%', '16:30')
    >>> read("a rhombus", kind="text").canonical
    'rhombus'
    """
    check_kind(kind)
    value = without_formatting(text)
    if kind == "choice":
        return Reading("choice", value, read_choice(text) or "")
    if kind != "text" and (kind == "time" or says_time(text)):
        clock = read_clock(text)
        if clock is not None:
            minutes, second = divmod(clock.seconds, 60)
            seconds = f":{second:02}" if second else ""
            return Reading("time", value, f"{minutes // 60:02}:{minutes % 60:02}{seconds}")
    if kind in (None, "text") and (date := read_date(text)) is not None:
        return Reading("text", value, "-".join(str(part) for part in date[:3] if part) or value)
    if kind != "text":
        try:
            tree, _ = read_tree(value, kind == "number")
            return Reading(kind or kind_of(tree), value, render(tree))
        except (CannotReadError, TooLargeError, RecursionError):
            if kind is not None:
                return Reading(kind, value, "")
    return Reading("text", value, " ".join(words_of(text)))


# -- Rendering

_LONGEST = 200
_MOST_STEPS = 10_000  # of all numbers in it together
_SIGNS = {"mul": "*", "ratio": ":", "cup": " ∪ ", "cap": " ∩ ", "setminus": " \\ ", "list": ", "}
_RELATIONS = {r"\le": "≤", r"\ge": "≥", r"\ne": "≠", r"\approx": "≈", r"\in": "∈"}
_SETS = frozenset(["cup", "cap", "setminus"])
# What needs brackets around it to be a part of something that binds closer.
_SUMS = frozenset(["add", "rel", "pm"])
_PRODUCTS = _SUMS | {"mul", "div"}
_UNCLOSED = _PRODUCTS | _SETS | {"neg", "pow", "pct", "deg", "unit", "ratio", "list"}
_IN_EXPONENTS = _UNCLOSED - {"neg", "pow"}  # x^-1 and x^y^z can be read in one way alone
_CONSTANTS = {"pi": "π", "e": "e", "i": "i", "inf": "∞"}


def render(node: Node) -> str:
    r"""The tree as text.

    >>> from plaudit.answers._grammar import read_tree
    >>> [render(read_tree(text)[0]) for text in (r"\frac{2}{4}", r"x \le 4", r"\sqrt{2}x")]
    ['1/2', 'x ≤ 4', '√(2)*x']
    """
    with limited_steps(_MOST_STEPS):
        text = _text(node)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _text(node: Node) -> str:
    value = _number(node)
    if value is not None:
        return value
    parts = [_text(part) for part in node.args]
    match node.op:
        case "sym" | "name" | "numbers":
            return str(node.val).lstrip("\\")
        case "const":
            return _CONSTANTS[node.val]
        case "neg":
            return f"-{_grouped(node.args[0], parts[0], _SUMS)}"
        case "pct" | "deg":
            value = _grouped(node.args[0], parts[0], _SUMS)
            return value + ("%" if node.op == "pct" else "°")
        case "unit":
            return f"{_grouped(node.args[0], parts[0], _SUMS)} {_unit(node)}".strip()
        case "tuple":
            return f"{node.val[0]}{', '.join(parts)}{node.val[-1]}"
        case "set":
            return "{" + ", ".join(parts) + "}"
        case "matrix":
            return "[" + "; ".join(parts) + "]"
        case "row":
            return ", ".join(parts)
        case "rel":
            return _relation(node, parts)
        case "base":
            return f"{node.val[0]} in base {node.val[1]}"
        case "empty":
            return "the empty set"
        case "pm":
            return " ± ".join(parts) if len(parts) > 1 else f"± {parts[0]}"
        case "group":
            return parts[0]
        case "add":
            return _sum(node, parts)
        case "root":
            return _root(node, parts)
        case "div" | "pow" | "mul" | "ratio" | "cup" | "cap" | "setminus" | "list":
            return _operation(node, parts)
    return f"{node.val if isinstance(node.val, str) else node.op}({', '.join(parts)})"


def _number(node: Node) -> str | None:
    if node.op in ("pct", "deg", "unit", "base"):
        return None
    try:
        value = exact(node)
    except TooLargeError:
        return None
    if value is None or max(value.numerator.bit_length(), value.denominator.bit_length()) > 400:
        return None
    return str(value)


def _root(node: Node, parts: list[str]) -> str:
    if parts[1] == "2":
        return f"√({parts[0]})"
    value, degree = (_grouped(*side, _UNCLOSED) for side in zip(node.args, parts, strict=True))
    return f"{value}^(1/{degree})"


def _operation(node: Node, parts: list[str]) -> str:
    """The parts with a sign between them, and brackets if it would be read otherwise."""
    if node.op in ("div", "pow"):
        left, right = node.args
        before, after = (_UNCLOSED, _IN_EXPONENTS) if node.op == "pow" else (_SUMS, _PRODUCTS)
        sign = "^" if node.op == "pow" else "/"
        return f"{_grouped(left, parts[0], before)}{sign}{_grouped(right, parts[1], after)}"
    open_ones = _SUMS | _SETS if node.op in _SETS else _SUMS
    sides = zip(node.args, parts, strict=True)
    return _SIGNS[node.op].join(_grouped(*side, open_ones) for side in sides)


def _grouped(node: Node, text: str, open_ones: frozenset[str]) -> str:
    """The text of a part, in brackets if its operation is one of these."""
    while node.op == "group":
        node = node.args[0]
    op = node.op
    if op == "root" and not text.startswith("√"):
        op = "pow"
    if text.strip("-").replace("/", "").isdigit():  # a number: 1/2, -3
        op = "div" if "/" in text else "neg" if text[0] == "-" else "num"
    return f"({text})" if op in open_ones else text


def _sum(node: Node, parts: list[str]) -> str:
    text = parts[0]
    for term, part in zip(node.args[1:], parts[1:], strict=True):
        minus = part.startswith("-") and term.op in ("neg", "num", "mul", "div")
        text += f" - {part[1:]}" if minus else f" + {part}"
    return text


def _relation(node: Node, parts: list[str]) -> str:
    text = parts[0]
    for sign, part in zip(node.val, parts[1:], strict=True):
        text += f" {_RELATIONS.get(sign, sign)} {part}"
    return text


def _unit(node: Node) -> str:
    dimension = " ".join(
        base if power == 1 else f"{base}^{power}" for base, power in node.val.dimension
    )
    return dimension or " ".join(node.val.nouns)
