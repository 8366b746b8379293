r"""Congruences: `n \equiv 3 \pmod 7` is `n \equiv 10 \pmod 7`, and the family `n = 7k+3`."""

from fractions import Fraction

from plaudit.answers._families import same_members
from plaudit.answers._named import without_name
from plaudit.answers._rules import Found, different, equal
from plaudit.answers._tree import Node, letters, symbol
from plaudit.answers._values import exact

_LETTER = "k"


def same_congruence(gold: Node, answer: Node) -> Found:
    r"""Whether an answer has the members of a congruence, which the gold is.

    >>> from plaudit.answers._grammar import read_tree
    >>> tree = lambda text: read_tree(text)[0]
    >>> same_congruence(tree(r"n \equiv 3 \pmod 7"), tree(r"n \equiv 10 \pmod{7}")).equal
    True
    >>> same_congruence(tree(r"n \equiv 3 \pmod 7"), tree("n = 7k+4")).equal
    False
    """
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
        return different("no congruence")
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
