r"""Tokens to the tree of a whole answer: lists, relations, sets, intervals, ratios, quantities.

`x = 1 \text{ or } x = 2` is a list of two relations; `5\text{ m}` a quantity; `(1,2]` a tuple in
brackets, which a comparer may take as an interval.
"""

from plaudit.answers._bases import read_base
from plaudit.answers._commands import COMMANDS
from plaudit.answers._conditions import Given, limits, without_condition
from plaudit.answers._matrices import read_environment
from plaudit.answers._named import without_name
from plaudit.answers._names import is_name_of_value
from plaudit.answers._parser import Parser
from plaudit.answers._said import REALS, left_out_of_reals, said_in_words
from plaudit.answers._split import CLOSING, OPENING, split, with_round_brackets, without_dollars
from plaudit.answers._tokens import Token, tokens
from plaudit.answers._tree import CannotReadError, Node, check_depth, letters, number, symbol
from plaudit.answers._units import read_unit, temperature_scale, unit_in_letters
from plaudit.answers._values import exact
from plaudit.answers._vocabulary import DENYING, SCALES

INEQUALITIES = frozenset(["<", ">", r"\le", r"\ge", r"\ne"])
RELATIONS = INEQUALITIES | frozenset(
    r"= \approx \in \equiv \cong \sim \notin \subset \subseteq \implies \iff \perp"
    r" \parallel".split()
)
_JOINERS = frozenset([",", ";", r"\lor", r"\land"])
_JOINING_WORDS = frozenset(["and", "or"])
_LEADING_WORDS = frozenset(
    "about approximately roughly exactly only just simply around either both the point"
    " vector pair".split()
)
_ABOUT = frozenset(["about", "approximately", "approx", "roughly"])
_NAME_WORDS = frozenset(["is", "equals", "are"])
_CURRENCIES = frozenset(["$", r"\euro", r"\pounds", r"\yen"])
_SET_SIGNS = (r"\cup", r"\cap", r"\setminus")


def read_tree(text: str, decimal_comma: bool = False) -> tuple[Node, Given]:
    r"""The tree of an answer in plain LaTeX, and what stands beside it, such as its conditions.

    decimal_comma: whether 1,5 is the number 1.5. Default: False, it is a list of two numbers

    >>> read_tree(r"x = 5")[0].op, read_tree(r"1 \text{ or } 2")[0].op, read_tree("(1,2)")[0].op
    ('rel', 'list', 'tuple')
    >>> read_tree(r"k\pi, k \in \mathbb{Z}")[1].integers
    frozenset({'k'})
    """
    known = said_in_words(text)
    if known is not None:
        return known, Given()
    left_out = left_out_of_reals(text)
    if left_out:
        taken, given = read_tree(left_out)
        members = taken.args if taken.op == "list" else (taken,)
        return Node("setminus", (REALS, Node("set", tuple(map(without_name, members))))), given
    found = with_round_brackets(
        [t for t in tokens(text, decimal_comma) if t.text not in ("&&", '"')]
    )
    found = _with_rounding(without_dollars(found))
    if not found:
        raise CannotReadError("nothing")
    parts, joiners = split(found, _JOINERS, _JOINING_WORDS)
    items: list[Node] = []
    between: list[str] = []
    integers: set[str] = set()
    limiting: list[str] = []
    said = False
    for part, joiner in zip(parts, ["", *joiners], strict=True):
        kept, condition = without_condition(part, after_others=bool(items), said=said)
        if condition is not None:
            integers |= condition
            limiting += limits(part[len(kept) :])
            said = True
        if kept:
            items.append(_item(kept))
            between.append(joiner)
    if not items:
        raise CannotReadError("nothing")
    given = Given(frozenset(integers), tuple(limiting))
    tree = items[0]
    if len(items) > 1:
        tree = _compound(items, between[1:]) or Node("list", tuple(items), tuple(between[1:]))
    check_depth(tree)
    return tree, given


def _with_rounding(found: list[Token]) -> list[Token]:
    """A value with its rounding in brackets behind it, `\\pi (about 3.14)`, as a chain."""
    opening = max((place for place, token in enumerate(found) if token.text == "("), default=0)
    about = found[opening + 1 : opening + 2]
    if not opening or found[-1].text != ")" or not about:
        return found
    if about[0].text != r"\approx" and about[0].text.lower() not in _ABOUT:
        return found
    return [*found[:opening], Token("cmd", r"\approx"), *found[opening + 2 : -1]]


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
    if not sides[0] and signs[0] in INEQUALITIES:
        sides[0] = [Token("let", "x")]  # "> 5" limits what the question asks for
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
    texts = [token.text for token in part[:2]]
    if (
        len(part) > 4
        and texts[0].isalpha()
        and texts[1:] == [":"]
        and any(t.text == "=" for t in part)
    ):
        return _item(part[2:])  # l: x + y = 1
    words = 0
    while words < len(part) and part[words].kind == "word":
        words += 1
    if any(token.text.lower() in DENYING for token in part[:words]):
        raise CannotReadError("an answer that is denied")
    if words and words + 1 < len(part) and part[words].text == ":":
        name = Node("name", (), " ".join(token.text.lower() for token in part[:words]))
        return Node("rel", (name, _side(part[words + 1 :])), ("=",))
    return None


def _name_or_side(side: list[Token]) -> Node:
    """The left side of an equation: a name such as f(x), P(A) or "area" is no product."""
    if len(side) == 2 and side[0].kind == "let" and side[1].kind == "num" and not side[1].spaced:
        return symbol(f"{side[0].text}_{side[1].text}")
    if any(token.kind == "word" and token.text.lower() in DENYING for token in side):
        raise CannotReadError("an answer that is denied")
    if is_name_of_value(side):
        return Node("name", (), "".join(token.text for token in side))
    try:
        return _side(side)
    except CannotReadError:
        if any(token.kind == "word" or token.text == r"\angle" for token in side):
            return Node("name", (), "".join(token.text for token in side))
        raise


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
    if part[0].text == r"\mathbb":
        pieces, signs = split(part, ("-",), ())
        if signs and all(pieces) and pieces[0][-1].text != "^":
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
        if rest and rest[0].text.lower() in SCALES and exact(value) is not None:
            value, rest = _with_unit(value, rest[:1]), rest[1:]
        unit = read_unit([part[0]])
        if rest or unit is None:
            also = read_unit(rest)
            if also is None or also.dimension != (unit.dimension if unit else ()):
                raise CannotReadError("words after a price")
        return Node("unit", (value,), unit)
    if part[0].text == "-" and part[1:2] and part[1].text in _CURRENCIES:
        return Node("unit", (Node("neg", (_quantity(part[1:]).args[0],)),), read_unit([part[1]]))
    spelt = unit_in_letters(part)
    if spelt is not None:
        return Node("unit", (_leading(part[:1])[0],), spelt)
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
    if parser.accept(r"\over"):
        value = Node("div", (value, parser.expression()))
    return value, parser.tokens[parser.at :]


def _plain(part: list[Token]) -> Node:
    value, rest = _leading(part)
    if rest:
        raise CannotReadError("words in a ratio")
    return value


def _with_unit(value: Node, words: list[Token]) -> Node:
    said = [token.text.lower() for token in words]
    if said and said[0] in SCALES:
        scaled = exact(value)
        if scaled is None:
            raise CannotReadError("a scale of something else")
        value, words, said = number(scaled * SCALES[said[0]]), words[1:], said[1:]
        if not words:
            return value
    if said in (["percent"], ["per", "cent"], ["%"], ["percentage", "points"]):
        return Node("pct", (value,))
    if said in (["degrees"], ["degree"], ["deg"]):
        return Node("deg", (value,))
    if scale := temperature_scale(words, value.op == "deg"):
        return Node("unit", (value.args[0] if value.op == "deg" else value,), scale)
    if said == ["dots"] or said == [r"\dots"]:
        raise CannotReadError("goes on")
    if said and said[0] in ("st", "nd", "rd", "th") and value.op == "num":
        words = words[1:]
        if not words:
            return value
    unit = read_unit(words)
    if unit is None:
        raise CannotReadError(f"words after a value: {' '.join(said)}")
    if not unit.dimension and unit.nouns and letters(value):
        raise CannotReadError("words after a letter")
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

    commands = COMMANDS

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
