r"""Plain LaTeX, as `_formatting` gives it, in, and out come its tokens.

`2\pi r \text{ cm}` is num 2, cmd \pi, let r, word cm.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from plaudit.answers._tree import CannotReadError, Digits, TooLargeError
from plaudit.answers._vocabulary import COMMAND_WORDS, GLUE_WORDS, SHORT_UNITS

MOST_TOKENS = 1500
LONGEST_NUMBER = 4000


class Token(NamedTuple):
    """kind: num, let, txt (a letter set upright), cmd, word, or op (a sign)."""

    kind: str
    text: str
    spaced: bool = False
    value: Digits | Fraction | None = None
    start: int = 0
    end: int = 0


_SCAN = re.compile(
    r"(?P<space>\s++|\\,)"
    r"|(?P<num>\d++|\.\d++)"
    r"|(?P<text>\\text\s*+\{)"
    r"|(?P<cmd>\\[A-Za-z]++)"
    r"|(?P<esc>\\[{}%$|&#_\\'\"])"
    r"|(?P<word>[A-Za-zÀ-ɏ]++)"
    r"|(?P<primes>'++)"
    r"|(?P<arrow><=|>=|!=|==|<>|=<|\.\.\.|:=|\|\||\*\*|->)"
    r"|(?P<op>.)",
    re.DOTALL,
)
_GROUP = re.compile(r"(?:\{,\}|\\,)(\d{3})(?!\d)")
_COMMA_GROUP = re.compile(r",(\d{3})(?!\d)")
_SPACE_GROUP = re.compile(r" (\d{3})(?!\d|\s*+/)")
_POINT = re.compile(r"(?:\.|\{,\})(\d++)")
_DECIMAL_COMMA = re.compile(r",(\d++)")
_EXPONENT = re.compile(r"[eE]([+-]?\d{1,6})(?![\d.])")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b|\^\{?\s*+(?:\\text\s*+\{)?(?:st|nd|rd|th)\b\}*+")
_ARROWS = {"<=": r"\le", ">=": r"\ge", "!=": r"\ne", "==": "=", "<>": r"\ne", "=<": r"\le"}
_ARROWS |= {"...": r"\dots", ":=": "=", "||": "|", "**": "^", "->": r"\to"}
_VOWEL = re.compile("[aeiou]")
_PREFIX = re.compile(r"(arcsin|arccos|arctan|sinh|cosh|tanh|sqrt|sin|cos|tan|cot|sec|csc|log|ln)")


def tokens(text: str, decimal_comma: bool = False) -> list[Token]:
    r"""The tokens of a text in plain LaTeX.

    decimal_comma: whether 1,5 is the number 1.5. Default: False, it is a list of two numbers

    >>> [(token.kind, token.text) for token in tokens(r"2\pi r \text{ cm}")]
    [('num', '2'), ('cmd', '\\pi'), ('let', 'r'), ('word', 'cm')]
    >>> [str(token.value) for token in tokens("1,234") + tokens(r"1{,}234")]
    ['1234', '1234']
    """
    return _Scanner(text, decimal_comma).scan()


class _Scanner:
    def __init__(self, text: str, decimal_comma: bool) -> None:
        self.text, self.decimal_comma = text, decimal_comma
        self.found: list[Token] = []
        self.depth = 0
        self.spaced = False

    def scan(self) -> list[Token]:
        at = 0
        while at < len(self.text):
            match = _SCAN.match(self.text, at)
            assert match is not None  # the last alternative takes any character
            at = self._take(match)
            if len(self.found) > MOST_TOKENS:
                raise CannotReadError("too long")
        return _with_crosses(self.found)

    def _take(self, match: re.Match[str]) -> int:
        kind, text, end = str(match.lastgroup), match[0], match.end()
        if kind == "space":
            self.spaced = True
            return end
        if kind == "num":
            return self._number(match)
        if kind == "text":
            return self._upright(match)
        if kind == "word":
            self._word(text, match.start(), end)
            return end
        if kind == "esc":
            text = {"\\\\": "\\\\", r"\{": r"\{", r"\}": r"\}", r"\|": "|"}.get(text, text[1:])
            self.depth += (text == r"\{") - (text == r"\}")
        elif kind == "arrow":
            text = _ARROWS[text]
        elif kind == "op":
            self.depth += (text in "([") - (text in ")]")
        self._add(
            "cmd" if text[0] == "\\" and text[1:].isalpha() else "op", text, match.start(), end
        )
        return end

    def _add(
        self, kind: str, text: str, start: int, end: int, value: Digits | Fraction | None = None
    ) -> None:
        self.found.append(Token(kind, text, self.spaced, value, start, end))
        self.spaced = False

    def _number(self, match: re.Match[str]) -> int:
        digits, end = match[0], match.end()
        if digits[0] == ".":
            digits = "0" + digits
        elif len(digits) <= 3:
            digits, end = self._grouped(digits, end)
        point = None if "." in digits else _POINT.match(self.text, end)
        if point is None and self.decimal_comma and "." not in digits:
            point = _DECIMAL_COMMA.match(self.text, end)
        if point:
            digits, end = f"{digits}.{point[1]}", point.end()
        if len(digits) > LONGEST_NUMBER:
            raise TooLargeError(f"a number of more than {LONGEST_NUMBER:,} digits")
        exponent = _EXPONENT.match(self.text, end)
        power = 0
        if exponent and not self.text[exponent.end() : exponent.end() + 1].isalpha():
            power, end = int(exponent[1]), exponent.end()
            if abs(power) > LONGEST_NUMBER:
                raise TooLargeError("a power of ten of more than four digits")
        elif exponent:
            exponent = None
        value = _value(digits, power, exponent is not None)
        self._add("num", self.text[match.start() : end], match.start(), end, value)
        ordinal = _ORDINAL.match(self.text, end)
        return ordinal.end() if ordinal else end

    def _grouped(self, digits: str, end: int) -> tuple[str, int]:
        """Digits with the groups of three that follow them: 1,234 or 1\\,234 or 1 234."""
        for pattern in (_GROUP, _COMMA_GROUP, _SPACE_GROUP):
            if pattern is _COMMA_GROUP and (self.depth > 0 or self.decimal_comma):
                continue
            if pattern is _SPACE_GROUP and self.depth > 0:
                continue
            whole, stop = digits, end
            while group := pattern.match(self.text, stop):
                whole, stop = whole + group[1], group.end()
            if stop > end:
                return whole, stop
        return digits, end

    def _upright(self, match: re.Match[str]) -> int:
        """What stands in \\text{…}: one letter is a letter, else words."""
        start = match.end()
        end = _closing(self.text, start)
        inner = self.text[start:end].strip()
        if len(inner) == 1 and inner.isalpha():
            self._add("txt", inner, match.start(), end + 1)
        else:
            spaced = self.spaced or self.text[start : start + 1].isspace()
            inside = _Scanner(self.text[start:end], self.decimal_comma)
            named = self.text[start:end] == inner and not self._after_number()
            for token in inside._words(named):
                where = token._replace(start=token.start + start, end=token.end + start)
                self.found.append(where._replace(spaced=token.spaced or spaced))
                spaced = False
            self.spaced = self.text[end - 1 : end].isspace()
        return end + 1

    def _words(self, named: bool) -> list[Token]:
        """The tokens of upright text, where a run of letters is a word, or names a function."""
        at = 0
        while at < len(self.text):
            match = _SCAN.match(self.text, at)
            assert match is not None
            is_word = match.lastgroup == "word" and len(match[0]) > 1
            if is_word and not (named and match[0] in COMMAND_WORDS):
                self._add("word", match[0], match.start(), match.end())
                at = match.end()
            else:
                at = self._take(match)
        return [t._replace(kind="txt") if t.kind == "let" else t for t in self.found]

    def _word(self, text: str, start: int, end: int) -> None:
        lower = text.lower()
        if len(text) == 1:
            self._add("let", text, start, end)
        elif (command := COMMAND_WORDS.get(text) or COMMAND_WORDS.get(lower)) and not (
            text.isupper() and len(text) < 3
        ):
            self._add("cmd", command, start, end)
        elif lower in GLUE_WORDS or len(text) > 3 or self._names_what_is_counted(text):
            prefix = _PREFIX.match(text)
            if prefix and len(text) - prefix.end() == 1:
                self._add("cmd", "\\" + prefix[0], start, start + prefix.end())
                self._add("let", text[prefix.end() :], start + prefix.end(), end)
            else:
                self._add("word", text, start, end)
        else:
            for place, letter in enumerate(text):
                self._add("let", letter, start + place, start + place + 1)

    def _names_what_is_counted(self, text: str) -> bool:
        if not self._after_number():
            return False
        return text in SHORT_UNITS or (len(text) == 3 and self.spaced and bool(_VOWEL.search(text)))

    def _after_number(self) -> bool:
        return bool(self.found) and (self.found[-1].kind == "num" or self.found[-1].text in ")}/")


def _with_crosses(found: list[Token]) -> list[Token]:
    """The tokens with an x between two numbers read as a times sign: 1.5 x 10^3."""
    for place in range(1, len(found) - 1):
        token = found[place]
        numbers = found[place - 1].kind == found[place + 1].kind == "num"
        power = found[place + 1].text == "10" and [
            t.text for t in found[place + 2 : place + 3]
        ] == ["^"]
        if numbers and token.kind == "let" and token.text in "xX" and (token.spaced or power):
            found[place] = token._replace(kind="cmd", text=r"\times")
    return found


def _closing(text: str, start: int) -> int:
    """Where the brace that is open at `start` closes."""
    depth = 1
    for place in range(start, len(text)):
        if text[place] == "{" and text[place - 1] != "\\":
            depth += 1
        elif text[place] == "}" and text[place - 1] != "\\":
            depth -= 1
            if not depth:
                return place
    raise CannotReadError("a brace is not closed")


def _value(digits: str, power: int, scientific: bool) -> Digits | Fraction:
    whole, _, decimals = digits.partition(".")
    value = Fraction(int(whole + decimals)) * Fraction(10) ** (power - len(decimals))
    if "." not in digits and not (scientific and power < 0):
        return value
    return Digits(value, significant_digits(whole + decimals), power - len(decimals))


def significant_digits(digits: str) -> int:
    """How many digits count: 3 for 0.0123.

    >>> significant_digits("00123"), significant_digits("000")
    (3, 1)
    """
    return len(digits.lstrip("0")) or 1
