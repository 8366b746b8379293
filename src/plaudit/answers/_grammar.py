r"""Tokens to the tree of a whole answer: lists, relations, sets, intervals, ratios, quantities.

`x = 1 \text{ or } x = 2` is a list of two relations; `5\text{ m}` a quantity; `(1,2]` a tuple in
brackets, which a comparer may take as an interval.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

from plaudit.answers._bases import read_base
from plaudit.answers._matrices import read_environment
from plaudit.answers._parser import Parser
from plaudit.answers._tokens import Token, tokens
from plaudit.answers._tree import EMPTY, INFINITY, CannotReadError, Node, check_depth, number
from plaudit.answers._units import read_unit
from plaudit.answers._values import exact
from plaudit.answers._vocabulary import NUMBER_WORDS

RELATIONS = frozenset(
    [
        "=",
        "<",
        ">",
        r"\le",
        r"\ge",
        r"\ne",
        r"\approx",
        r"\in",
        r"\equiv",
        r"\cong",
        r"\sim",
        r"\notin",
        r"\subset",
        r"\subseteq",
        r"\implies",
        r"\iff",
        r"\perp",
        r"\parallel",
    ]
)
OPENING = frozenset(["(", "[", "{", r"\{", r"\langle", r"\begin", r"\lfloor", r"\lceil"])
CLOSING = frozenset([")", "]", "}", r"\}", r"\rangle", r"\end", r"\rfloor", r"\rceil"])
_JOINERS = frozenset([",", ";", r"\lor", r"\land"])
_JOINING_WORDS = frozenset(["and", "or"])
_CONDITION_WORDS = frozenset(["where", "for", "with", "such", "given", "over", "measured"])
_FREE_WORDS = frozenset(
    "where for with such given over measured all any every each is are an a the that be some and"
    " arbitrary integer integers real number numbers constant constants value values".split()
)
_CASE_WORDS = frozenset("if when unless otherwise even odd depending except not".split())
_LEADING_WORDS = frozenset("about approximately roughly exactly only just simply around".split())
_NAME_WORDS = frozenset(["is", "equals", "are"])
_CURRENCIES = frozenset(["$", r"\euro", r"\pounds", r"\yen"])
_SET_SIGNS = (r"\cup", r"\cap", r"\setminus")
_REALS = Node("numbers", (), "R")
_SAID: dict[str, Node] = {
    "infinitely many": INFINITY,
    "infinite": INFINITY,
    "infinity": INFINITY,
    "infinitely many solutions": INFINITY,
    "all real numbers": _REALS,
    "all reals": _REALS,
    "real numbers": _REALS,
    "the real numbers": _REALS,
    "any real number": _REALS,
    "the set of all real numbers": _REALS,
    "all positive real numbers": Node("numbers", (), "R+"),
    "all integers": Node("numbers", (), "Z"),
    "all positive integers": Node("numbers", (), "N"),
} | dict.fromkeys(
    (
        "none|no solution|no solutions|no real solution|no real solutions|no integer solutions"
        "|empty set|the empty set|null set|no answer|no value|no values|does not exist"
        "|no such number|no such numbers|no such integer|no such integers|there is no solution"
        "|there are no solutions|there is no such number"
    ).split("|"),
    EMPTY,
)
_ONE_WORD = re.compile(r"[A-Z][a-z]{2}|odd|red|yes|sum|tie|cat|dog|sun")
_PLAIN_WORDS = re.compile(r"[^a-z ]++")


class Given(NamedTuple):
    """What was said beside the answer.

    integers: the letters that run over the integers
    conditions: words that limit the answer further, as they stand
    """

    integers: frozenset[str] = frozenset()
    conditions: tuple[str, ...] = ()


def read_tree(text: str, decimal_comma: bool = False) -> tuple[Node, Given]:
    r"""The tree of an undressed answer, and what was said beside it.

    >>> read_tree(r"x = 5")[0].op, read_tree(r"1 \text{ or } 2")[0].op, read_tree("(1,2)")[0].op
    ('rel', 'list', 'tuple')
    >>> read_tree(r"k\pi, k \in \mathbb{Z}")[1].integers
    frozenset({'k'})
    """
    if _ONE_WORD.fullmatch(text):
        raise CannotReadError("a word")
    known = _said(text)
    if known is not None:
        return known, Given()
    found = _french([t for t in tokens(text, decimal_comma) if t.text not in ("&&", '"')])
    found = _without_dollars(found)
    if not found:
        raise CannotReadError("nothing")
    parts, joiners = split(found, _JOINERS, _JOINING_WORDS)
    items: list[Node] = []
    between: list[str] = []
    integers: set[str] = set()
    limits: list[str] = []
    said = False
    for part, joiner in zip(parts, ["", *joiners], strict=True):
        kept, condition = _without_condition(part, after_others=bool(items), said=said)
        if condition is not None:
            integers |= condition
            limits += _limits(part[len(kept) :])
            said = True
        if kept:
            items.append(_item(kept))
            between.append(joiner)
    if not items:
        raise CannotReadError("nothing")
    given = Given(frozenset(integers), tuple(limits))
    tree = items[0]
    if len(items) > 1:
        tree = _compound(items, between[1:]) or Node("list", tuple(items), tuple(between[1:]))
    check_depth(tree)
    return tree, given


def _said(text: str) -> Node | None:
    words = re.sub(r"\\text\s*|[{}.]", " ", text).lower()
    if "\\" in words or any(c.isdigit() for c in words):
        return None
    words = " ".join(_PLAIN_WORDS.sub(" ", words).split())
    if words in NUMBER_WORDS:
        return number(NUMBER_WORDS[words])
    first, _, second = words.partition(" ")
    if first in NUMBER_WORDS and second in NUMBER_WORDS and NUMBER_WORDS[first] >= 20:
        return number(NUMBER_WORDS[first] + NUMBER_WORDS[second])
    return _SAID.get(words)


def split(
    found: list[Token], signs: Collection[str], words: Collection[str] = ()
) -> tuple[list[list[Token]], list[str]]:
    """The pieces between separators that stand in no brackets, and the separators."""
    parts: list[list[Token]] = [[]]
    between: list[str] = []
    depth = 0
    for token in found:
        if token.text in OPENING:
            depth += 1
        elif token.text in CLOSING:
            depth -= 1
        is_word = token.kind == "word"
        separates = token.text.lower() in words if is_word else token.text in signs
        if depth == 0 and separates:
            # ", and" is one separator.
            if parts[-1] or not between:
                parts.append([])
                between.append(token.text.lower())
            else:
                between[-1] = token.text.lower()
        else:
            parts[-1].append(token)
    return parts, between


def _french(found: list[Token]) -> list[Token]:
    """Brackets turned outwards, ]a,b[, as the round ones that they mean."""
    first = next((t.text for t in found if t.text in OPENING or t.text in CLOSING), "")
    if first != "]":
        return found
    turned, open_now = [], False
    for token in found:
        if token.text in ("]", "["):
            outwards = (token.text == "]") != open_now
            open_now = not open_now
            sign = ("(" if open_now else ")") if outwards else token.text
            token = token._replace(text=sign)
        turned.append(token)
    return turned


def _without_dollars(found: list[Token]) -> list[Token]:
    """Without the signs that begin and end a formula: a currency stands before a number alone."""
    kept: list[Token] = []
    for place, token in enumerate(found):
        if token.text == "$":
            following = found[place + 1] if place + 1 < len(found) else None
            before = kept[-1].kind if kept else ""
            closes = sum(t.text == "$" for t in found[place + 1 :]) % 2 == 1
            if not following or following.kind != "num" or before == "num" or closes:
                continue
            if sum(t.text == "$" for t in found[:place]) % 2 == 1:
                continue
        kept.append(token)
    return kept


def _without_condition(
    part: list[Token], after_others: bool, said: bool
) -> tuple[list[Token], frozenset[str] | None]:
    """An element without the condition behind it, and the integers that the condition names."""
    if after_others and (whole := _integers(part, said)) is not None:
        return [], whole
    depth = 0
    for place, token in enumerate(part):
        depth += (token.text in OPENING) - (token.text in CLOSING)
        if depth == 0 and token.kind == "word" and token.text.lower() in _CONDITION_WORDS:
            rest = part[place + 1 :]
            if any(t.kind == "word" and t.text.lower() in _CASE_WORDS for t in rest):
                raise CannotReadError("cases")
            if not place and not after_others:
                raise CannotReadError("a condition alone")
            kept = part[:place]
            while kept and kept[-1].text == "(":
                kept = kept[:-1]
            return kept, _integers(rest, said) or frozenset()
    if len(part) > 4 and part[-1].text == ")":
        start = max((place for place, t in enumerate(part) if t.text == "("), default=0)
        integers = _integers(part[start + 1 : -1], said)
        if start and integers is not None:
            return part[:start], integers
    return part, None


def _limits(condition: list[Token]) -> list[str]:
    """The words and numbers of a condition that say more than which letters there are."""
    return [
        token.text.lower()
        for token in condition
        if token.kind in ("word", "num") and token.text.lower() not in _FREE_WORDS
    ]


def _integers(part: list[Token], said: bool) -> frozenset[str] | None:
    r"""The letters that a condition such as k \in \mathbb{Z} names; None where it is none.

    Conditions that name no integers, such as x > 0, are none here.
    """
    texts = [token.text for token in part]
    if "=" in texts:
        return None
    about = frozenset(t.text for t in part if t.kind == "let" and t.text not in "RZNQ")
    if "integer" in texts or "integers" in texts:
        return about
    if r"\in" in texts and about:
        domain = texts[texts.index(r"\in") + 1 :]
        if domain[:1] == [r"\mathbb"] and domain[2:3] in (["Z"], ["N"]):
            return about
        if domain[:1] in (["Z"], ["N"]) and len(domain) < 4:
            return about
        if domain[:1] == [r"\mathbb"] and (said or texts.index(r"\in") > 1):
            return frozenset()
    return None


def _item(part: list[Token]) -> Node:
    """One element of an answer: a value, or a relation between values."""
    while part and part[0].kind == "word" and part[0].text.lower() in _LEADING_WORDS:
        part = part[1:]
    label = _label(part)
    if label is not None:
        return label
    sides, signs = split(part, RELATIONS, _NAME_WORDS)
    if len(sides) == 1:
        return _side(part)
    if not sides[0] and signs[0] in ("=", r"\approx"):
        sides, signs = sides[1:], signs[1:]
        if not signs:
            return _side(sides[0])
    if not all(sides):
        raise CannotReadError("a relation without a side")
    signs = ["=" if sign in _NAME_WORDS else sign for sign in signs]
    read = [_name_or_side(sides[0]) if signs[0] in ("=", r"\approx", r"\in") else _side(sides[0])]
    read += [_side(side) for side in sides[1:]]
    return Node("rel", tuple(read), tuple(signs))


def _label(part: list[Token]) -> Node | None:
    """A word and a colon before a value: `Paolo: 18`."""
    words = 0
    while words < len(part) and part[words].kind == "word":
        words += 1
    if words and words + 1 < len(part) and part[words].text == ":":
        name = Node("name", (), " ".join(token.text.lower() for token in part[:words]))
        return Node("rel", (name, _side(part[words + 1 :])), ("=",))
    return None


def _name_or_side(side: list[Token]) -> Node:
    """The left side of an equation: a name such as f(x), P(A) or "area" is no product."""
    if _is_name(side):
        return Node("name", (), "".join(token.text for token in side))
    try:
        return _side(side)
    except CannotReadError:
        if any(token.kind == "word" or token.text == r"\angle" for token in side):
            return Node("name", (), "".join(token.text for token in side))
        raise


def _is_name(side: list[Token]) -> bool:
    """Whether it is a letter applied to something: f(x), P(A), y'(x), a_n, \\angle ABC, AB."""
    texts = [token.text for token in side]
    if texts[0] in (r"\angle", r"\triangle", r"\overline", r"\measuredangle", r"\Delta"):
        return True
    if side[0].kind in ("word",):
        return True
    if all(t.kind == "let" and t.text.isupper() for t in side) and 2 <= len(side) <= 4:
        return True
    if (
        texts[0] == "|"
        and texts[-1] == "|"
        and all(x.isupper() for x in texts[1:-1])
        and texts[1:-1]
    ):
        return True
    if side[0].kind not in ("let", "txt", "cmd") or len(side) < 3:
        return False
    at = 1
    while at < len(side) and texts[at].startswith("'"):
        at += 1
    if at < len(texts) and texts[at] in ("^", "_"):
        return side[0].text.isupper() and texts[at] == "^" and _plain_exponent(texts[at + 1 :])
    return (
        texts[at : at + 1] == ["("]
        and texts[-1] == ")"
        and "(" not in texts[at + 1 :]
        and side[0].kind != "cmd"
        and len(side) - at <= 8
    )


def _plain_exponent(texts: list[str]) -> bool:
    return "".join(texts).strip("{}") in ("-1", "n", "T", "k", "2")


def _side(part: list[Token]) -> Node:
    if not part:
        raise CannotReadError("nothing")
    if any(token.text == r"\begin" for token in part):
        return read_environment(part, read_tokens, _side)
    base = read_base("".join(token.text for token in part))
    if base is not None:
        return base
    for sign in _SET_SIGNS:
        pieces, signs = split(part, (sign,), ())
        if signs:
            return Node(sign[1:], tuple(_side(piece) for piece in pieces))
    ratio, colons = split(part, (":",), ("to",))
    if colons and all(ratio):
        return Node("ratio", tuple(_plain(piece) for piece in ratio), tuple(colons))
    if part[0].text == r"\mathbb" and "-" in [t.text for t in part]:
        pieces, _ = split(part, ("-",), ())
        return Node("setminus", tuple(_side(piece) for piece in pieces))
    return _quantity(part)


def read_tokens(part: list[Token]) -> Node:
    """The tree of an element inside a matrix or a set."""
    parts, joiners = split(part, _JOINERS, _JOINING_WORDS)
    if len(parts) == 1:
        return _item(part)
    return Node("list", tuple(_item(piece) for piece in parts if piece), tuple(joiners))


def _quantity(part: list[Token]) -> Node:
    """A value with its unit, if it has one; several of one dimension are summed: 2 h 30 min."""
    if part[0].text in _CURRENCIES:
        value, rest = _leading(part[1:])
        unit = read_unit([part[0]])
        if rest or unit is None:
            also = read_unit(rest)
            if also is None or also.dimension != (unit.dimension if unit else ()):
                raise CannotReadError("words after a price")
        return Node("unit", (value,), unit)
    if part[0].text == "-" and part[1:2] and part[1].text in _CURRENCIES:
        return Node("unit", (Node("neg", (_quantity(part[1:]).args[0],)),), read_unit([part[1]]))
    value, rest = _leading(part)
    if not rest:
        return value
    pieces: list[Node] = []
    while True:
        words, rest = _until_number(rest)
        pieces.append(_with_unit(value, words))
        if not rest:
            return pieces[0] if len(pieces) == 1 else _summed(pieces)
        value, rest = _leading(rest)


def _until_number(rest: list[Token]) -> tuple[list[Token], list[Token]]:
    for place, token in enumerate(rest):
        if (
            token.kind == "num"
            and place
            and rest[place - 1].text not in ("^", "{", "-", "base", "/")
        ):
            return rest[:place], rest[place:]
    return rest, []


def _leading(part: list[Token]) -> tuple[Node, list[Token]]:
    """The expression at the start of the tokens, and what follows it."""
    parser = AnswerParser(list(part))
    value = parser.expression()
    return value, parser.tokens[parser.at :]


def _plain(part: list[Token]) -> Node:
    value, rest = _leading(part)
    if rest:
        raise CannotReadError("words in a ratio")
    return value


def _with_unit(value: Node, words: list[Token]) -> Node:
    said = [token.text.lower() for token in words]
    if said in (["percent"], ["per", "cent"], ["%"], ["percentage", "points"]):
        return Node("pct", (value,))
    if said in (["degrees"], ["degree"], ["deg"]):
        return Node("deg", (value,))
    if said == ["dots"] or said == [r"\dots"]:
        raise CannotReadError("goes on")
    if said and said[0] in ("st", "nd", "rd", "th") and value.op == "num":
        words = words[1:]
        if not words:
            return value
    unit = read_unit(words)
    if unit is None:
        raise CannotReadError(f"words after a value: {' '.join(said)}")
    return Node("unit", (value,), unit)


def _summed(pieces: list[Node]) -> Node:
    if any(piece.op != "unit" or not piece.val.dimension for piece in pieces):
        raise CannotReadError("several values with nothing between them")
    if len({piece.val.dimension for piece in pieces}) > 1:
        raise CannotReadError("units of several dimensions")
    sizes = [piece.val.size for piece in pieces]
    if sorted(sizes, reverse=True) != sizes:
        raise CannotReadError("units in no order")
    last = pieces[-1].val
    values = [exact(piece.args[0]) for piece in pieces]
    if any(value is None for value in values):
        raise CannotReadError("a sum of units with letters")
    known = [value for value in values if value is not None]
    total = sum(v * piece.val.size / last.size for v, piece in zip(known, pieces, strict=True))
    return Node("unit", (number(total),), last)


def _compound(items: list[Node], joiners: list[str]) -> Node | None:
    """`1 hour and 50 minutes` is one quantity."""
    if set(joiners) <= {"and", ","} and all(
        item.op == "unit" and item.val.dimension for item in items
    ):
        sizes = [item.val.size for item in items]
        if len(set(sizes)) == len(sizes):
            try:
                return _summed(items)
            except CannotReadError:
                return None
    return None


class AnswerParser(Parser):
    """The grammar of expressions, with sets that are described inside."""

    def _bracket(self, sign: str) -> Node:
        if sign == r"\{":
            described = self._described()
            if described is not None:
                return described
        return super()._bracket(sign)

    def inner(self) -> Node:
        r"""An element between brackets: also one that is named or a relation."""
        value = self.expression()
        if self.peek().text in ("=", "<", ">", r"\le", r"\ge", r"\ne"):
            raise CannotReadError("a relation inside brackets")
        return value

    def _described(self) -> Node | None:
        r"""{x | condition}; None where the set is a list."""
        depth, bar, end = 1, -1, self.at
        for end in range(self.at, len(self.tokens)):
            text = self.tokens[end].text
            depth += (text in OPENING) - (text in CLOSING)
            if depth == 0:
                break
            if depth == 1 and bar < 0 and text in ("|", r"\mid", ":"):
                bar = end
        if bar < 0 or depth:
            return None
        what = self.tokens[self.at : bar]
        condition = self.tokens[bar + 1 : end]
        self.at = end + 1
        parts = [_item(what), read_tokens([t for t in condition if t.text != "$"])]
        return Node("builder", tuple(parts))
