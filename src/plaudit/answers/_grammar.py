r"""Text to the tree of a whole answer: lists, relations, sets, ratios, quantities, conditions.

`x = 1 \text{ or } x = 2` is a list of two relations; `5\text{ m}` a quantity; `(1,2]` a tuple in
brackets, which a comparer may take as an interval; `k\pi, k \in \mathbb{Z}` a value with a
condition.
"""

import re
from fractions import Fraction

from plaudit.answers._commands import COMMANDS, read_environment
from plaudit.answers._number_words import count_in_words
from plaudit.answers._parser import TreeParser
from plaudit.answers._quantities import CURRENCIES, read_unit, temperature_scale, unit_in_letters
from plaudit.answers._tokens import (
    COMMAND_WORDS,
    DENYING,
    NUMBER_WORDS,
    PARTS,
    SCALES,
    Token,
    depths,
    number_value,
    split,
    tokens,
    with_round_brackets,
    without_dollars,
)
from plaudit.answers._tree import (
    EMPTY,
    INEQUALITIES,
    INFINITY,
    CannotReadError,
    Conditions,
    Node,
    check_depth,
    letters,
    number,
    symbol,
    without_name,
)
from plaudit.answers._values import exact

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
_WHOLE = re.compile(r"-?[0-9]{1,15}")
_DECIMAL = re.compile(r"[0-9]{1,15}\.[0-9]{1,15}")
_WORDS_ALONE = re.compile(r"[A-Za-z]{4,}+(?: [A-Za-z]{4,}+){0,5}+")
_SET_SIGNS = (r"\cup", r"\cap", r"\setminus")


def read_tree(text: str, decimal_comma: bool = False) -> tuple[Node, Conditions]:
    r"""The tree of an answer in plain LaTeX, and its conditions.

    decimal_comma: whether 1,5 is the number 1.5. Default: False, it is a list of two numbers
    """
    # Most golds are a whole number or a few words: they need no tokens.
    if _WHOLE.fullmatch(text):
        return number(int(text)), Conditions()
    if _DECIMAL.fullmatch(text):
        return Node("dec", (), number_value(text)), Conditions()
    known = formula_in_words(text)
    if known is not None:
        return known, Conditions()
    if _WORDS_ALONE.fullmatch(text) and COMMAND_WORDS.keys().isdisjoint(text.lower().split()):
        raise CannotReadError("words")
    excluded = excluded_from_reals(text)
    if excluded:
        taken, conditions = read_tree(excluded)
        members = taken.args if taken.op == "list" else (taken,)
        return Node("setminus", (REALS, Node("set", tuple(map(without_name, members))))), conditions
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
    conditions = Conditions(frozenset(integers), tuple(limiting))
    tree = items[0]
    if len(items) > 1:
        tree = _compound(items, between[1:]) or Node("list", tuple(items), tuple(between[1:]))
    check_depth(tree)
    return tree, conditions


def _with_rounding(found: list[Token]) -> list[Token]:
    """A value with its rounding in brackets behind it, `\\pi (about 3.14)`, as a chain."""
    opening = max((index for index, token in enumerate(found) if token.text == "("), default=0)
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
    for index, token in enumerate(rest):
        if (
            token.kind == "num"
            and index
            and rest[index - 1].text not in ("^", "{", "-", "base", "/")
        ):
            return rest[:index], rest[index:]
    return rest, []


def _leading(part: list[Token]) -> tuple[Node, list[Token]]:
    """The expression at the start of the tokens, and what follows it."""
    parser = FormulaParser(list(part))
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
    # Dollars and cents are dollars; 2 h 30 min are minutes.
    is_money = any(base in CURRENCIES for base, _ in pieces[0].val.dimension)
    last = pieces[0].val if is_money else pieces[-1].val
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


class FormulaParser(TreeParser):
    """The parser of expressions, with all commands and with sets such as {x | x > 0}."""

    commands = COMMANDS

    def _bracket(self, sign: str) -> Node:
        if sign == r"\{":
            described = self._set_builder()
            if described is not None:
                return described
        return super()._bracket(sign)

    def inner(self) -> Node:
        r"""An element between brackets; a relation is refused."""
        value = self.expression()
        if self.peek().text in ("=", "<", ">", r"\le", r"\ge", r"\ne"):
            raise CannotReadError("a relation inside brackets")
        return value

    def _set_builder(self) -> Node | None:
        r"""{x | condition}; None if the set is a list."""
        bar = end = -1
        for index, depth in enumerate(depths(self.tokens[self.at :]), self.at):
            if depth < 0:
                end = index
                break
            if depth == 0 and bar < 0 and self.tokens[index].text in ("|", r"\mid", ":"):
                bar = index
        if bar < 0 or end < 0:
            return None
        what = self.tokens[self.at : bar]
        condition = self.tokens[bar + 1 : end]
        self.at = end + 1
        parts = [_item(what), read_tokens([t for t in condition if t.text != "$"])]
        return Node("builder", tuple(parts))


# -- Conditions: k \in \mathbb{Z}, "where n is an integer", "for all x"

_CONDITION_WORDS = frozenset(["where", "for", "with", "such", "given", "over", "measured"])
_FREE_WORDS = frozenset(
    "where for with such given over measured all any every each is are an a the that be some and"
    " arbitrary integer integers real number numbers constant constants value values".split()
)
_EVERY = ("all", "any", "every", "each")
_CASE_WORDS = frozenset("if when unless otherwise even odd depending except not".split())


def without_condition(
    part: list[Token], after_others: bool, said: bool
) -> tuple[list[Token], frozenset[str] | None]:
    """An element without the condition behind it, and the integers that the condition names."""
    if after_others and (whole := integer_letters(part, said)) is not None:
        return [], whole
    limited = any(token.text.lower() in _CONDITION_WORDS for token in part)
    for index, (token, depth) in enumerate(zip(part, depths(part), strict=True) if limited else ()):
        if depth == 0 and token.kind == "word" and token.text.lower() in _CONDITION_WORDS:
            rest = part[index + 1 :]
            if any(t.kind == "word" and t.text.lower() in _CASE_WORDS for t in rest):
                raise CannotReadError("cases")
            if not index and not after_others:
                raise CannotReadError("a condition alone")
            kept = part[:index]
            while kept and kept[-1].text == "(":
                kept = kept[:-1]
            return kept, integer_letters(rest, said) or frozenset()
    if len(part) > 4 and part[-1].text == ")":
        start = max((index for index, t in enumerate(part) if t.text == "("), default=0)
        integers = integer_letters(part[start + 1 : -1], said)
        if start and integers is not None:
            return part[:start], integers
    return part, None


def limits(condition: list[Token]) -> list[str]:
    """The words and numbers of a condition that limit the answer."""
    found: list[str] = []
    quantified = [t.text.lower() for t in condition[:2]] in (["for", word] for word in _EVERY)
    if quantified:
        return found  # "for all x" is not a limit
    for token in condition:
        if token.text == r"\in":
            break  # the set of numbers that a letter is from
        if token.kind in ("word", "num") and token.text.lower() not in _FREE_WORDS:
            found.append(token.text.lower())
    return found


def integer_letters(part: list[Token], said: bool) -> frozenset[str] | None:
    r"""The letters that a condition such as k \in \mathbb{Z} names; None if it is not one.

    A condition that names no integers, such as x > 0, is not one.
    """
    texts = [token.text for token in part]
    if "=" in texts:
        return None
    about = frozenset(t.text for t in part if t.kind == "let" and t.text not in "RZNQ")
    if "integer" in texts or "integers" in texts:
        return about
    if r"\in" in texts and about:
        domain = texts[texts.index(r"\in") + 1 :]
        if domain[:1] == [r"\mathbb"] and {"Z", "N"} & set(domain[1:3]):
            return about
        if domain[:1] in (["Z"], ["N"]) and len(domain) < 4:
            return about
        if domain[:1] == [r"\mathbb"] and (said or texts.index(r"\in") > 1):
            return frozenset()
    return None


# -- Names before a value: f(x) = …, P(A) = …, \angle ABC = …

_FUNCTIONS = frozenset("fghpquv")


def is_name_of_value(side: list[Token]) -> bool:
    r"""Whether it is the name of a value, and not a product: f(x), P(A), y'(x), \angle ABC, AB."""
    texts = [token.text for token in side]
    if texts[0] == r"\int" and not {"_", "^"} & set(texts[1:2]):
        return True  # before an antiderivative
    if texts[:3] == [r"\frac", "{", "d"] and texts[-1] == "}" and "d" in texts[3:]:
        return True
    if texts[:2] == ["m", r"\angle"]:
        return True
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
        and not _is_product(side[0], side[at + 1 : -1])
    )


def _is_product(head: Token, inside: list[Token]) -> bool:
    """Whether a letter before brackets is a factor: x(x-1), a(b+c); but f(x+1), P(A+B)."""
    texts = {token.text for token in inside}
    if head.text in texts:
        return True
    is_sum = bool(texts & {"+", "-"}) and any(token.kind == "let" for token in inside)
    return is_sum and head.text.islower() and head.text not in _FUNCTIONS


def _plain_exponent(texts: list[str]) -> bool:
    return "".join(texts).strip("{}") in ("-1", "n", "T", "k", "2")


# -- Numbers in another base: 1010_2, 3C7_{16}, 4343 (base 6)

_DIGITS = re.compile(
    r"(?P<sign>-?)[({]?(?P<digits>[0-9A-Za-z]*+(?:\.[0-9A-Za-z]*+)?"
    r"(?:\\overline\{[0-9A-Za-z]++\})?)[)}]?[,(]?"
)
_BASE = re.compile(r"[-{(]*+(?P<base>\d++|[a-z]++)[)}]*+")


def read_base(text: str) -> Node | None:
    r"""The number in a base that a text without spaces is; None if it is not one."""
    if "_" not in text and "base" not in text.lower():
        return None
    left, sign, right = text.partition("_")
    if not sign:
        index = text.lower().index("base")
        left, right = text[:index].removesuffix("in"), text[index + len("base") :]
    right = right.replace("base", "")
    found, base_found = _DIGITS.fullmatch(left), _BASE.fullmatch(right)
    if found is None or base_found is None:
        return None
    digits, base = found["digits"].upper(), base_found["base"]
    size = int(base) if base.isdigit() and len(base) < 3 else NUMBER_WORDS.get(base, 0)
    plain = digits.replace(".", "").replace("\\OVERLINE", "").replace("{", "").replace("}", "")
    if not plain or not 2 <= size <= 36:
        return None
    if not any(map(str.isdigit, plain)) and (len(plain) < 2 or size <= 10):
        return None  # AB_{16} is a number, but x_2 and A_2 are letters with an index
    if any(_digit(digit) >= size for digit in plain):
        return Node("base", (), (found["sign"] + digits, size))
    if size == 10 and digits.isdigit():
        return number(int(found["sign"] + digits))
    stripped = digits.lstrip("0") or "0"
    return Node("base", (), (found["sign"] + stripped, size))


def _digit(sign: str) -> int:
    return int(sign) if sign.isdigit() else ord(sign) - ord("A") + 10


# -- Words for numbers and sets: "twenty-one", "no solution", "all real numbers"

REALS = Node("numbers", (), "R")
_PHRASES: dict[str, Node] = {
    "infinitely many": INFINITY,
    "infinite": INFINITY,
    "infinity": INFINITY,
    "infinitely many solutions": INFINITY,
    "all real numbers": REALS,
    "all reals": REALS,
    "real numbers": REALS,
    "the real numbers": REALS,
    "any real number": REALS,
    "the set of all real numbers": REALS,
    "all positive real numbers": Node("numbers", (), "R+"),
    "all integers": Node("numbers", (), "Z"),
    "all positive integers": Node("numbers", (), "N"),
} | dict.fromkeys(
    (
        "none|dne|no solution|no solutions|no real solution|no real solutions|no integer solutions"
        "|empty set|the empty set|null set|no answer|no value|no values|does not exist"
        "|no such number|no such numbers|no such integer|no such integers|there is no solution"
        "|there are no solutions|there is no such number"
    ).split("|"),
    EMPTY,
)
_ONE_WORD = re.compile(r"[A-Z][a-z]{2}|odd|red|yes|sum|tie|cat|dog|sun")
_NO_WORDS = re.compile(r"[\d+=<>^_/*|]")
_SIGN = re.compile(r"[\\+=<>^_/*|]|(?<![a-z])-")
_PLAIN_WORDS = re.compile(r"[^a-z ]++")


_EXCLUDED = re.compile(
    r"(?:(?:the set of )?all real(?: number)?s?|any real number)(?: x)?,?\s++"
    r"(?:except(?: for)?|but|other than|apart from|excluding)\s++(.++)",
    re.IGNORECASE,
)
_TEXT = re.compile(r"\\text\s*+\{([^{}]*+)\}")
_MINUS = ("negative ", "minus ")


def excluded_from_reals(text: str) -> str | None:
    """What "all real numbers except 1 and 2" leaves out; None if the text says something else."""
    if "real" not in text.lower():
        return None
    found = _EXCLUDED.match(" ".join(_TEXT.sub(r"\1", text).replace("$", "").split()))
    return found[1] if found else None


def formula_in_words(text: str) -> Node | None:
    """The formula that a text in words stands for; None if there is none."""
    if _ONE_WORD.fullmatch(text):
        raise CannotReadError("a word")
    if _NO_WORDS.search(text):
        return None
    words = re.sub(r"\\text\s*|[{}.]", " ", text).lower()
    if _SIGN.search(words):
        return None
    words = " ".join(_PLAIN_WORDS.sub(" ", words).split())
    value = _number_in_words(words)
    return _PHRASES.get(words) if value is None else number(value)


def _number_in_words(words: str) -> Fraction | None:
    """The number that words spell: "negative four", "two thirds", "three hundred and five"."""
    if words.startswith(_MINUS):
        below = _number_in_words(words.partition(" ")[2])
        return None if below is None else -below
    *whole, last = words.split() or [""]
    if whole and last.removesuffix("s") in PARTS:
        count = count_in_words(whole)
        return None if count is None else Fraction(count, PARTS[last.removesuffix("s")])
    count = count_in_words(words.split())
    return None if count is None else Fraction(count)
