r"""Units: `km/h`, `\text{cm}^2`, dollars, square feet -> how large one is, and in which dimension.

A table of the units that answers have: it is a hundred times quicker to load than a library of
all units, and knows the words of school books.
"""

from fractions import Fraction
from typing import NamedTuple

from plaudit.answers._tokens import Token
from plaudit.answers._vocabulary import NO_NOUNS

Dimension = tuple[tuple[str, int], ...]


class Unit(NamedTuple):
    """A unit: its dimension as powers of base units, how many of those it is, and other words.

    nouns: what is counted, where it is no unit: "apples"
    """

    dimension: Dimension
    size: Fraction
    nouns: tuple[str, ...] = ()


def _table() -> dict[str, Unit]:
    found: dict[str, Unit] = {}

    def add(words: str, size: Fraction | int | str, **dimension: int) -> None:
        unit = Unit(tuple(sorted(dimension.items())), Fraction(size))
        found.update(dict.fromkeys(words.split(), unit))

    add("m meter metre", 1, m=1)
    add("cm centimeter centimetre", "1/100", m=1)
    add("mm millimeter millimetre", "1/1000", m=1)
    add("km kilometer kilometre", 1000, m=1)
    add("dm decimeter decimetre", "1/10", m=1)
    add("nm nanometer nanometre", Fraction(1, 10**9), m=1)
    add("µm \\mum micrometer micrometre micron", Fraction(1, 10**6), m=1)
    add("in inch", "0.0254", m=1)
    add("ft foot feet", "0.3048", m=1)
    add("yd yard", "0.9144", m=1)
    add("mi mile", "1609.344", m=1)
    add("ly light-year lightyear", 9460730472580800, m=1)
    add("s sec second", 1, s=1)
    add("ms millisecond", "1/1000", s=1)
    add("ns nanosecond", Fraction(1, 10**9), s=1)
    add("min minute", 60, s=1)
    add("h hr hour", 3600, s=1)
    add("d day", 86400, s=1)
    add("week wk", 7 * 86400, s=1)
    add("month", 1, month=1)
    add("year yr", 12, month=1)
    add("decade", 120, month=1)
    add("century", 1200, month=1)
    add("g gram gramme", "1/1000", kg=1)
    add("kg kilogram kilo", 1, kg=1)
    add("mg milligram", Fraction(1, 10**6), kg=1)
    add("t tonne ton", 1000, kg=1)
    add("lb lbs pound", "0.45359237", kg=1)
    add("oz ounce", "0.028349523125", kg=1)
    add("L l liter litre", "1/1000", m=3)
    add("mL ml cc milliliter millilitre", Fraction(1, 10**6), m=3)
    add("cL cl centiliter", Fraction(1, 10**5), m=3)
    add("dL dl deciliter", Fraction(1, 10**4), m=3)
    add("gal gallon", "0.003785411784", m=3)
    add("quart qt", "0.000946352946", m=3)
    add("pint pt", "0.000473176473", m=3)
    add("cup", "0.0002365882365", m=3)
    add("ha hectare", 10000, m=2)
    add("acre", "4046.8564224", m=2)
    add("mph", "0.44704", m=1, s=-1)
    add("kph kmh", Fraction(1000, 3600), m=1, s=-1)
    add("N newton", 1, kg=1, m=1, s=-2)
    add("kN kilonewton", 1000, kg=1, m=1, s=-2)
    for prefix, factor in (
        ("", 1), ("k", 1000), ("m", "1/1000"), ("M", 10**6), ("G", 10**9), ("\\mu", "1/1000000"),
        ("n", "1/1000000000"), ("µ", "1/1000000"),
    ):  # fmt: skip
        size = Fraction(factor)
        add(f"{prefix}J", size, kg=1, m=2, s=-2)
        add(f"{prefix}W", size, kg=1, m=2, s=-3)
        add(f"{prefix}Hz", size, s=-1)
        add(f"{prefix}Pa", size, kg=1, m=-1, s=-2)
        add(f"{prefix}V", size, kg=1, m=2, s=-3, A=-1)
        add(f"{prefix}A", size, A=1)
        add(f"{prefix}C", size, A=1, s=1)
        add(f"{prefix}F", size, kg=-1, m=-2, s=4, A=2)
        add(f"{prefix}eV", size * Fraction("1.602176634e-19"), kg=1, m=2, s=-2)
        add(f"{prefix}T", size, kg=1, s=-2, A=-1)
        add(f"{prefix}mol", size, mol=1)
        add(f"{prefix}\\Omega", size, kg=1, m=2, s=-3, A=-2)
    add("joule", 1, kg=1, m=2, s=-2)
    add("kilojoule", 1000, kg=1, m=2, s=-2)
    add("watt", 1, kg=1, m=2, s=-3)
    add("kilowatt", 1000, kg=1, m=2, s=-3)
    add("kWh", 3600000, kg=1, m=2, s=-2)
    add("hertz", 1, s=-1)
    add("pascal", 1, kg=1, m=-1, s=-2)
    add("atm atmosphere", 101325, kg=1, m=-1, s=-2)
    add("bar", 100000, kg=1, m=-1, s=-2)
    add("cal calorie", "4.184", kg=1, m=2, s=-2)
    add("kcal", 4184, kg=1, m=2, s=-2)
    add("volt", 1, kg=1, m=2, s=-3, A=-1)
    add("ampere amp", 1, A=1)
    add("ohm", 1, kg=1, m=2, s=-3, A=-2)
    add("coulomb", 1, A=1, s=1)
    add("mole", 1, mol=1)
    add("K kelvin", 1, K=1)
    add("rad radian", 1)
    add("$ dollar USD usd buck", 1, dollar=1)
    add("cent \\cents ¢", "1/100", dollar=1)
    add("\\euro euro EUR eur", 1, euro=1)
    add("\\pounds GBP gbp", 1, sterling=1)
    add("\\yen yen", 1, yen=1)
    add("dime", "1/10", dollar=1)
    add("nickel", "1/20", dollar=1)
    add("byte B", 8, bit=1)
    add("bit", 1, bit=1)
    for prefix, power in (("K", 3), ("k", 3), ("M", 6), ("G", 9), ("T", 12)):
        add(f"{prefix}B", 8 * 10**power, bit=1)
    add("dozen", 12)
    return found


UNITS = _table()
LETTERS = frozenset("m s g h L J N W V A K".split())  # units of one letter
_POWER_WORDS = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cu": 3, "cubed": 3}
_UNITS_ALONE = frozenset(["unit", "units"])


def unit_named(word: str) -> Unit | None:
    """The unit of a word, in singular or plural.

    >>> unit_named("inches") == unit_named("in"), unit_named("apples")
    (True, None)
    """
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
    r"""The unit that tokens spell; None where they are no unit and no noun.

    >>> from plaudit.answers._tokens import tokens
    >>> read_unit(tokens(r"\text{ km/h}")).dimension
    (('m', 1), ('s', -1))
    >>> read_unit(tokens(r"\text{ red apples}")).nouns
    ('red', 'apples')
    """
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
        if texts[1:2] == ["-"] and texts[2].isdigit():
            return -int(texts[2]), 3
        if len(texts) > 1 and texts[1].isdigit() and len(texts[1]) < 3:
            return int(texts[1]), 2
        return 1, 0

    def _add(self, word: str, power: int, token: Token) -> bool:
        unit = unit_named(word)
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
