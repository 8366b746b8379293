r"""Quantities: numbers with units, percent signs or degrees.

The units are a table of those that answers have: it loads a hundred times faster than a library of
all units, and has the words of school books.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from plaudit.answers._languages import english_units
from plaudit.answers._numbers import same_number
from plaudit.answers._rules import Rules
from plaudit.answers._tokens import NO_NOUNS, Token
from plaudit.answers._tree import PI, Node, letters, number, walk
from plaudit.answers._values import exact

Dimension = tuple[tuple[str, int], ...]


class Unit(NamedTuple):
    """A unit: its dimension as powers of base units, how many of those it is, and other words.

    nouns: what is counted, if it is not a unit: "apples"
    """

    dimension: Dimension
    size: Fraction
    nouns: tuple[str, ...] = ()


# The words of a unit, how many base units it is, and of which; m-1 is one over m.
_TABLE = r"""
m meter metre = 1 m
cm centimeter centimetre = 1/100 m
mm millimeter millimetre = 1/1000 m
km kilometer kilometre = 1000 m
dm decimeter decimetre = 1/10 m
nm nanometer nanometre = 1e-9 m
µm \mum micrometer micrometre micron = 1e-6 m
in inch = 0.0254 m
ft foot feet = 0.3048 m
yd yard = 0.9144 m
mi mile = 1609.344 m
ly light-year lightyear = 9460730472580800 m
s sec second = 1 s
ms millisecond = 1/1000 s
ns nanosecond = 1e-9 s
min minute = 60 s
h hr hour = 3600 s
d day = 86400 s
week wk = 604800 s
fortnight = 1209600 s
month = 1 month
year yr = 12 month
decade = 120 month
century = 1200 month
g gram gramme = 1/1000 kg
kg kilogram kilo = 1 kg
mg milligram = 1e-6 kg
t tonne ton = 1000 kg
lb lbs pound = 0.45359237 kg
oz ounce = 0.028349523125 kg
L l liter litre = 1/1000 m3
mL ml cc milliliter millilitre = 1e-6 m3
cL cl centiliter = 1e-5 m3
dL dl deciliter = 1e-4 m3
gal gallon = 0.003785411784 m3
quart qt = 0.000946352946 m3
pint pt = 0.000473176473 m3
cup = 0.0002365882365 m3
ha hectare = 10000 m2
acre = 4046.8564224 m2
mph = 0.44704 m s-1
kph kmh = 5/18 m s-1
N newton = 1 kg m s-2
kN kilonewton = 1000 kg m s-2
joule = 1 kg m2 s-2
kilojoule = 1000 kg m2 s-2
watt = 1 kg m2 s-3
kilowatt = 1000 kg m2 s-3
kWh = 3600000 kg m2 s-2
hertz = 1 s-1
pascal = 1 kg m-1 s-2
atm atmosphere = 101325 kg m-1 s-2
bar = 100000 kg m-1 s-2
cal calorie = 4.184 kg m2 s-2
kcal = 4184 kg m2 s-2
volt = 1 kg m2 s-3 A-1
ampere amp = 1 A
ohm = 1 kg m2 s-3 A-2
coulomb = 1 A s
mole = 1 mol
K kelvin = 1 K
rad radian = 1
$ dollar USD usd buck = 1 dollar
cent \cents ¢ = 1/100 dollar
\euro euro EUR eur = 1 euro
\pounds GBP gbp = 1 sterling
\yen yen JPY = 1 yen
rupee ₹ INR = 1 rupee
CHF franc = 1 franc
yuan RMB CNY = 1 yuan
won ₩ KRW = 1 won
ruble rouble ₽ RUB = 1 ruble
real reais = 1 real
pence penny = 1/100 sterling
dime = 1/10 dollar
nickel = 1/20 dollar
byte B = 8 bit
bit = 1 bit
dozen = 12
"""
CURRENCIES = frozenset("dollar euro sterling yen rupee franc yuan won ruble real".split())
_PREFIXES = {"": "1", "k": "1e3", "m": "1e-3", "M": "1e6", "G": "1e9", "n": "1e-9"}
_PREFIXES |= {"\\mu": "1e-6", "µ": "1e-6"}
_PREFIXED = r"""
J = 1 kg m2 s-2
W = 1 kg m2 s-3
Hz = 1 s-1
Pa = 1 kg m-1 s-2
V = 1 kg m2 s-3 A-1
A = 1 A
C = 1 A s
F = 1 kg-1 m-2 s4 A2
eV = 1.602176634e-19 kg m2 s-2
T = 1 kg s-2 A-1
mol = 1 mol
\Omega = 1 kg m2 s-3 A-2
"""
_BYTES = {"B": "8", "KB": "8e3", "kB": "8e3", "MB": "8e6", "GB": "8e9", "TB": "8e12"}


def _unit_table() -> dict[str, Unit]:
    lines = _TABLE.strip().splitlines()
    lines += [f"{word} = {size} bit" for word, size in _BYTES.items()]
    lines += [
        f"{prefix}{word} = {Fraction(factor) * Fraction(size)} {dimension}"
        for line in _PREFIXED.strip().splitlines()
        for word, _, size, dimension in [line.split(" ", 3)]
        for prefix, factor in _PREFIXES.items()
    ]
    return {word: unit for line in lines for word, unit in _line(line)}


def _line(line: str) -> Iterator[tuple[str, Unit]]:
    words, _, meaning = line.partition(" = ")
    size, *dimension = meaning.split()
    powers = [_POWER.fullmatch(base) for base in dimension]
    unit = Unit(
        tuple(sorted((power[1], int(power[2] or 1)) for power in powers if power)), Fraction(size)
    )
    for word in words.split():
        yield word, unit


_POWER = re.compile(r"([A-Za-z]+)(-?\d*)")
UNITS = _unit_table()
LETTERS = frozenset("m s g h L J N W V A K".split())  # units of one letter
_POWER_WORDS = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cu": 3, "cubed": 3}
_UNITS_ALONE = frozenset(["unit", "units"])


def find_unit(word: str) -> Unit | None:
    """The unit of a word, in singular or plural."""
    word = word.rstrip(".") if len(word) > 2 else word
    for form in (
        word,
        word.lower(),
        word.lower().removesuffix("s"),
        word.lower().removesuffix("es"),
    ):
        if form in UNITS and (len(form) > 2 or form == word or form + "s" == word):
            return UNITS[form]
    return UNITS["century"] if word.lower() == "centuries" else None


def read_unit(tokens: list[Token]) -> Unit | None:
    r"""The unit that tokens spell; None if they are neither a unit nor nouns."""
    return _UnitReader(tokens).read()


def temperature_scale(words: list[Token], after_degrees: bool) -> Unit | None:
    r"""The scale of a temperature: of `20^\circ C`, and of "20 degrees Celsius"."""
    said = [token.text.lower() for token in words]
    if said[:1] in (["degrees"], ["degree"]):
        said, after_degrees = said[1:], True
    if len(said) != 1 or not after_degrees:
        return None
    scale = {"c": "celsius", "f": "fahrenheit"}.get(said[0], said[0])
    if scale not in ("celsius", "fahrenheit"):
        return None
    return Unit(((scale, 1),), Fraction(1))


def unit_in_letters(part: list[Token]) -> Unit | None:
    """The unit of a number that is followed by a space and letters: `5 m^2`, `10 m/s`."""
    if len(part) < 3 or part[0].kind != "num" or not part[1].spaced:
        return None
    if any(t.kind != "let" and t.text not in "/^" and not t.text.isdigit() for t in part[1:]):
        return None
    if any(t.kind == "let" and t.text not in LETTERS for t in part[1:]):
        return None
    if not any(token.text in "/^" for token in part):
        return None
    return read_unit(part[1:])


class _UnitReader:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = [t for t in tokens if t.text not in ("{", "}", "(", ")", ".")]
        self.powers: dict[str, int] = {}
        self.size = Fraction(1)
        self.nouns: list[str] = []
        self.known = False

    def read(self) -> Unit | None:
        at, sign, next_power = 0, 1, 1
        while at < len(self.tokens):
            token = self.tokens[at]
            word = token.text
            if word in ("/", "per"):
                sign = -1
            elif word in (r"\cdot", "*", r"\times", "-"):
                pass
            elif word.lower() in _POWER_WORDS and not (self.known and word.lower() in ("sq", "cu")):
                next_power = _POWER_WORDS[word.lower()]
                if word.lower() in ("squared", "cubed"):
                    return None
            elif token.kind in ("word", "let", "txt", "cmd") or word == "$":
                power, used = self._power(at + 1)
                if not self._add(word, sign * power * next_power, token):
                    return None
                at += used
                next_power = 1
            else:
                return None
            at += 1
        dimension = tuple(sorted((base, power) for base, power in self.powers.items() if power))
        return Unit(dimension, self.size, tuple(self.nouns))

    def _power(self, at: int) -> tuple[int, int]:
        """The exponent that follows a unit, and how many tokens it takes."""
        texts = [token.text for token in self.tokens[at : at + 3]]
        if texts[:1] != ["^"]:
            return 1, 0
        sign, digits = (-1, texts[2:]) if texts[1:2] == ["-"] else (1, texts[1:2])
        if digits and digits[0].isdigit() and len(digits[0]) < 3:
            return sign * int(digits[0]), 2 + (sign < 0)
        return 1, 0

    def _add(self, word: str, power: int, token: Token) -> bool:
        unit = find_unit(word)
        if unit is not None and not (self.nouns and len(word) < 3):
            self.known = True
            self.size *= unit.size**power
            for base, exponent in unit.dimension:
                self.powers[base] = self.powers.get(base, 0) + exponent * power
            return True
        if token.kind != "word" or word.lower() in NO_NOUNS:
            return False
        if word.lower() not in _UNITS_ALONE:
            self.nouns.append(word.lower())
        return True


# -- Quantities as people write them

_NUMBER = r"(?<!\d)\d{1,15}(?:,\d{3})*+(?:\.\d{1,15})?"
_DIGIT = re.compile(r"\d")
_FEET = re.compile(r"(?<![\d°'.])(\d{1,4})\s?['′’]\s?(\d{1,4})\s?(?:\"|''|″|”)")
_HOURS = re.compile(r"(?<![\w.])(\d{1,4})\s?h\s?(\d{1,2})(?:\s?m(?:in)?)?(?![\w.])")
_ABBREVIATED = re.compile(r"(?<=[\d ])(min|sec|hrs?|in|ft|lbs?|oz|mi|yrs?|approx)\.(?=\s|$)")
_TIME_UNIT = re.compile(r"(?<=\d)\s?(min|sec|hrs?|h|s)(?![\w./])", re.IGNORECASE)
_TIME_UNITS = {"min": " minutes", "sec": " seconds", "hr": " hours", "hrs": " hours", "h": " hours"}
_TIME_UNITS["s"] = " seconds"
_RATE = re.compile(rf"({_NUMBER}\s[^\W\d_]++)\s(?:a|an|per|each|every)\s([^\W\d_]++)")
_PER_MANY = re.compile(rf"({_NUMBER})\s?([^\W\d_]++)(?:\s?/\s?|\sper\s)(\d{{1,9}})\s?([^\W\d_]++)")
_AND_HALF = re.compile(r"(?<![\w.])(an?|\d{1,9})\s([^\W\d_]++)\sand\sa\s(half|quarter)(?!\w)", re.I)
_ONE = re.compile(r"^an?\s(?=(\w++)$)", re.I)
_CODE_FIRST = re.compile(rf"(?<!\w)(USD|EUR|GBP|CHF|JPY|INR|US\$|Rs\.?|₹|₩|₽)\s?(-?{_NUMBER})")
_CODES = {"US$": "dollars", "Rs": "rupees", "Rs.": "rupees", "₹": "rupees", "₩": "won"}
_CODES |= {"₽": "rubles", "USD": "dollars", "EUR": "euros", "GBP": "pounds", "CHF": "francs"}
_CODES |= {"JPY": "yen", "INR": "rupees"}


_LETTER_UNITS = {"L": "liters", "l": "liters", "g": "grams", "m": "meters", "h": "hours"}


def plain_quantity(text: str) -> str:
    """Return a quantity as a number with its unit behind it.

    >>> plain_quantity("2h15"), plain_quantity("12 euros a kilo"), plain_quantity("USD 640")
    ('2 hours 15 minutes', '12 euros/kilo', '640 dollars')
    """
    if _DIGIT.search(text):
        text = _digits_first(text)
    text = _AND_HALF.sub(_with_part, text)
    one = _ONE.match(text)
    return f"1 {text[one.end() :]}" if one and find_unit(one[1]) else text


def _digits_first(text: str) -> str:
    """Return a text with the units behind its numbers spelled out."""
    text = english_units(text)
    if "'" in text or "′" in text or "’" in text:
        text = _FEET.sub(r"\1 feet \2 inches", text)
    if "h" in text:
        text = _HOURS.sub(r"\1 hours \2 minutes", text)
    if "." in text:
        text = _ABBREVIATED.sub(r"\1", text)
    text = _TIME_UNIT.sub(lambda found: _TIME_UNITS[found[1].lower()], text)
    text = _CODE_FIRST.sub(lambda found: f"{found[2]} {_CODES[found[1]]}", text)
    if "/" in text or "per" in text:
        text = _PER_MANY.sub(_per_one, text)
    return _RATE.sub(_rate, text)


def _with_part(found: re.Match[str]) -> str:
    if find_unit(found[2]) is None:
        return found[0]
    whole = 1 if found[1].lower() in ("a", "an") else int(found[1])
    return f"{whole}.{5 if found[3].lower() == 'half' else 25} {found[2]}"


def _per_one(found: re.Match[str]) -> str:
    """6 L/100 km as 0.06 L/km."""
    if find_unit(found[2]) is None or find_unit(found[4]) is None or not int(found[3]):
        return found[0]
    value = Fraction(found[1].replace(",", "")) / int(found[3])
    units = (_LETTER_UNITS.get(unit, unit) for unit in (found[2], found[4]))
    return f"{float(value):.12g} {'/'.join(units)}"


def _rate(found: re.Match[str]) -> str:
    return found[0] if find_unit(found[2]) is None else f"{found[1]}/{found[2]}"


# -- Comparing quantities

_INVERSE = frozenset(["arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc"])

_ASKED_FOR_PERCENT = re.compile(
    r"\b(?:what|which|how many|find|determine|calculate|compute|give|express)\b"
    r"[^.?!]{0,60}?\bpercent(?:age)?\b|\bwhat %|\bas a percent",
    re.IGNORECASE,
)


class _Quantity(NamedTuple):
    """A number and its mark: "", "%", "deg" or "unit"."""

    value: Node
    mark: str
    unit: Unit | None = None


def _quantity_of(node: Node) -> _Quantity:
    if node.op == "group":
        return _quantity_of(node.args[0])
    if node.op == "neg":
        inner = _quantity_of(node.args[0])
        return inner._replace(value=Node("neg", (inner.value,)))
    if node.op == "pct":
        return _Quantity(node.args[0], "%")
    if node.op == "deg":
        return _Quantity(node.args[0], "deg")
    if node.op == "unit":
        inner = _quantity_of(node.args[0])
        return inner if inner.mark else _Quantity(inner.value, "unit", node.val)
    return _Quantity(node, "")


def same_quantity(gold: Node, answer: Node, rules: Rules) -> tuple[bool, str]:
    r"""Whether two numbers, with percent signs, degrees or units, are the same; what decided."""
    mine, yours = _quantity_of(gold), _quantity_of(answer)
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
            return _same_unit(mine, yours, rules)
    return False, "what stands behind the numbers"


def with_unit_letter(node: Node) -> Node:
    """A number times a letter that is a unit, `5 m`, as a quantity; anything else as it is."""
    if node.op == "mul" and node.args[-1].op == "pow":
        return _with_unit_power(node)
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


def _with_unit_power(node: Node) -> Node:
    """A number times a power of a unit, `2 m^2`, as a quantity; anything else as it is."""
    base, exponent = node.args[-1].args
    power = exact(exponent)
    rest = node.args[:-1]
    value = rest[0] if len(rest) == 1 else Node("mul", rest)
    if base.op != "sym" or base.val not in LETTERS or power not in (2, 3) or letters(value):
        return node
    unit = UNITS[base.val]
    times = int(power)
    dimension = tuple((name, count * times) for name, count in unit.dimension)
    return Node("unit", (value,), Unit(dimension, unit.size**times))


def _hundredth(side: _Quantity) -> Node:
    return Node("pct", (side.value,)) if side.mark == "%" else side.value


def _is_angle(node: Node) -> bool:
    """Whether a bare number is an angle in radians: it has a π, or is an inverse sine."""
    return any(
        (part.op == "const" and part.val == "pi") or (part.op == "call" and part.val in _INVERSE)
        for part in walk(node)
    )


def _degrees(side: _Quantity) -> Node:
    """An angle in degrees: what is in degrees keeps the digits that it shows."""
    if side.mark == "deg":
        return side.value
    return Node("div", (Node("mul", (side.value, number(180))), PI))


def _radians(mine: _Quantity, yours: _Quantity, rules: Rules) -> tuple[bool, str]:
    unit = mine.unit or yours.unit
    if unit is None or unit.dimension or unit.nouns:
        return False, "their units"
    return same_number(_degrees(mine), _degrees(yours), rules)


def _same_unit(mine: _Quantity, yours: _Quantity, rules: Rules) -> tuple[bool, str]:
    gold, answer = mine.unit, yours.unit
    assert gold is not None and answer is not None
    if gold == UNITS[r"\pounds"] and answer == UNITS["pound"]:
        answer = gold  # the word means money if the sign did
    if gold.dimension != answer.dimension:
        if gold.dimension in _SCALES_OF_HEAT and answer.dimension in _SCALES_OF_HEAT:
            return same_number(_celsius(mine), _celsius(yours), rules)
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


# Each scale of temperature: how many degrees Celsius one of its degrees is, and where 0 °C is.
_SCALES_OF_HEAT: dict[Dimension, tuple[Fraction, Fraction]] = {
    (("celsius", 1),): (Fraction(1), Fraction(0)),
    (("fahrenheit", 1),): (Fraction(5, 9), Fraction(32)),
    (("K", 1),): (Fraction(1), Fraction("273.15")),
}


def as_temperatures(gold: Node, answer: Node) -> tuple[Node, Node]:
    """Two sides such as 100 °C and 212 °F as quantities; anything else as it is."""
    mine, yours = with_unit_letter(gold), with_unit_letter(answer)
    units = [side.val.dimension for side in (mine, yours) if side.op == "unit"]
    if len(units) == 2 and all(unit in _SCALES_OF_HEAT for unit in units):
        return mine, yours
    return gold, answer


def _celsius(side: _Quantity) -> Node:
    value = exact(side.value)
    if value is None or side.unit is None:
        return side.value
    degree, zero = _SCALES_OF_HEAT[side.unit.dimension]
    return number((value - zero) * degree)


def _nouns_agree(mine: tuple[str, ...], yours: tuple[str, ...]) -> bool:
    if not mine or not yours:
        return True
    return bool({noun.rstrip("s") for noun in mine} & {noun.rstrip("s") for noun in yours})
