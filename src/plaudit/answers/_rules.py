"""The settings of a comparison, its result, and the kinds of what is compared."""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

from plaudit.answers._tree import INEQUALITIES, Node, elements, letters, walk, without_name
from plaudit.answers._values import exact
from plaudit.judge import Status

KINDS = (
    "number", "percent", "quantity", "angle", "base", "ratio", "time", "expression", "equation",
    "interval", "list", "tuple", "matrix", "choice", "text",
)  # fmt: skip
_BY_OP = {"pct": "percent", "unit": "quantity", "deg": "angle", "base": "base", "ratio": "ratio"}
_BY_OP |= {"tuple": "tuple", "matrix": "matrix", "empty": "text", "list": "list", "set": "list"}
_SET_OPS = frozenset(["cup", "cap", "setminus", "builder", "numbers"])


@dataclass(frozen=True)
class Rules:
    """The settings of a comparison.

    rounding: whether a correct rounding to three digits or more is equal to the exact value
    tolerance: how far a number may be off, as a share of the gold, such as 0.01; None: not at all
    unsolved: whether a calculation without its result, such as 2+2, is an answer
    kind: what the gold is, one of KINDS, if the dataset says so; None: it is read from the gold
    choices: the texts of the options of a multiple-choice question, A first
    question: the question, for what only it says, such as the order of coordinates

    >>> Rules(rounding=False).tolerance is None
    True
    """

    rounding: bool = True
    tolerance: float | None = None
    unsolved: bool = False
    kind: str | None = None
    choices: tuple[str, ...] = ()
    question: str = ""


class Decision(NamedTuple):
    """The result of one comparison: its status, and what decided, for a person.

    >>> different("their units").equal
    False
    """

    status: Status
    decided_by: str = ""

    @property
    def equal(self) -> bool:
        return self.status is Status.EQUAL


def equal(decided_by: str) -> Decision:
    """Equal, and what decided."""
    return Decision(Status.EQUAL, decided_by)


def different(decided_by: str) -> Decision:
    """Different, and what decided."""
    return Decision(Status.DIFFERENT, decided_by)


SAME = equal("the same text")


def deciding(found: list[Decision]) -> Decision:
    """The first equal result that was decided by more than the text; at least one must be equal."""
    results = [result for result in found if result.equal and result != SAME]
    return results[0] if results else equal("the text of each part")


# -- Kinds


def check_kind(kind: str | None) -> None:
    """Raise if a kind is not known.

    >>> check_kind("number")
    """
    if kind is None or kind in KINDS:
        return
    near = get_close_matches(str(kind), KINDS, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise ValueError(f"kind must be one of {', '.join(KINDS)} or None, got {kind!r}.{hint}")


def kind_of(node: Node) -> str:
    r"""The kind of a tree."""
    if says_interval(node):
        return "interval"
    if node.op == "group":
        return kind_of(node.args[0])
    if elements(node) is not None:
        return "list"
    if node.op == "rel":
        value = without_name(node)
        if value is not node and not letters(value):
            return kind_of(value)
        return "equation"
    return _BY_OP.get(node.op) or ("expression" if letters(node) else "number")


def says_interval(node: Node) -> bool:
    """Whether a tree can be nothing but a set of real numbers: (a,b) alone could be a pair."""
    if node.op in _SET_OPS:
        return node.op != "numbers" or node.val[0] == "R"
    if node.op == "rel":
        return bool(set(node.val) & INEQUALITIES) or (
            r"\in" in node.val and says_interval_or_pair(node.args[-1])
        )
    if node.op == "list":
        return all(item.op == "rel" for item in node.args) and any(map(says_interval, node.args))
    if node.op == "tuple" and len(node.args) == 2 and node.val != "<>":
        if node.val == "[]" and _falls(node):
            return False
        return node.val in ("(]", "[)", "[]") or any(
            part.op == "const" and part.val == "inf" for end in node.args for part in walk(end)
        )
    return False


def _falls(node: Node) -> bool:
    """Whether the second of two numbers is below the first: [3,-1] is a vector."""
    low, high = (exact(end) for end in node.args)
    return low is not None and high is not None and high < low


def says_interval_or_pair(node: Node) -> bool:
    """Whether a tree can be read as a set of real numbers."""
    return (
        says_interval(node)
        or (node.op == "tuple" and len(node.args) == 2 and node.val != "<>")
        or (node.op == "set" and len(node.args) > 0)
    )
