r"""Text to tokens, in time linear in the text.

`without_formatting` turns `\left( \dfrac{1}{2},\, \mathbf{3} \right).` into `( \frac{1}{2},  3 )`,
`tokens` cuts that into tokens, and `split` cuts a list of tokens at its separators.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from plaudit.answers._tree import CannotReadError, Digits, TooLargeError

FUNCTIONS = (
    "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh coth sech"
    " csch arcsinh arccosh arctanh arsinh arcosh artanh exp ln log lg lb sgn det arg dim ker Re Im"
    " deg gcd lcm max min sup inf erf cis"
).split()
_ALSO = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh"}
_ALSO |= {"acosh": "arccosh", "atanh": "arctanh", "cosec": "csc", "sign": "sgn", "cotan": "cot"}
_ALSO |= {"ctg": "cot", "tg": "tan", "arctg": "arctan", "arcctg": "arccot", "sh": "sinh"}

# What is a command though it has no backslash.
COMMAND_WORDS = {name: "\\" + name for name in FUNCTIONS if name not in ("deg", "dim", "arg")}
COMMAND_WORDS |= {name: "\\" + meant for name, meant in _ALSO.items()}
COMMAND_WORDS |= {
    "sqrt": r"\usqrt", "cbrt": r"\cbrt", "pi": r"\pi", "infinity": r"\infty", "infty": r"\infty",
    "oo": r"\infty", "theta": r"\theta", "alpha": r"\alpha", "beta": r"\beta", "gamma": r"\gamma",
    "delta": r"\delta", "lambda": r"\lambda", "omega": r"\omega", "mu": r"\mu", "sigma": r"\sigma",
    "phi": r"\phi", "rho": r"\rho", "mod": r"\mod", "abs": r"\abs", "floor": r"\floor",
    "ceil": r"\ceil", "binom": r"\binomial", "binomial": r"\binomial", "union": r"\cup",
    "Union": r"\cup", "factorial": r"\factorial", "frac": r"\frac", "inf": r"\infty",
}  # fmt: skip
FUNCTION_COMMANDS = frozenset("\\" + name for name in [*FUNCTIONS, *_ALSO])
CANONICAL = {"\\" + name: meant for name, meant in _ALSO.items()}
CANONICAL |= {r"\arsinh": "arcsinh", r"\arcosh": "arccosh", r"\artanh": "arctanh"}

# Short words that join or limit answers, and are no products of letters.
GLUE_WORDS = frozenset(
    "and or to is if the for are all not no as at by of per any where with when base than its it"
    " yes am pm".split()
)
SHORT_UNITS = frozenset(
    "km cm mm nm mi yd ft in lb lbs oz kg mg ml mL kL cL dL hr hrs min sec ms ns kJ MJ kW MW GW mW"
    " Hz kHz MHz GHz Pa kPa MPa mA mV kV kN mol rad deg mph kph eV keV MeV GeV USD EUR GBP cal cc"
    " bps GB MB KB TB ha mJ kWh CHF JPY INR".split()
)
INTEGER_LETTERS = frozenset("k n m l j p q t z".split())
NUMBER_WORDS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        " fifteen sixteen seventeen eighteen nineteen twenty".split()
    )
}
NUMBER_WORDS |= {
    word: 10 * tens
    for tens, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), start=3)
}
# What a whole is divided into: two thirds.
PARTS = {"half": 2, "halve": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6}
PARTS |= {"seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "twelfth": 12, "hundredth": 100}
SCALES = {
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
# Words that take back what they stand before.
DENYING = frozenset("not nor never neither wrong incorrect false except unless than".split())
# Words after a number that change what it says: they are never the name of what is counted.
NO_NOUNS = frozenset(
    "not no nor or and if unless except least most less more greater fewer than over under above"
    " below between from to until but either neither both whichever when where otherwise maybe"
    " possibly undefined impossible cannot depends divided remainder plus minus times choose sum"
    " product difference quotient squared cubed half double twice negative positive dozen hundred"
    " thousand million billion trillion even odd respectively wrong incorrect false true yes never"
    " perhaps probably ish farther further longer shorter taller older younger heavier lighter"
    " higher lower faster slower extra additional too later"
    " earlier so değil nicht niet ikke inte".split()
)

_UP = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱˣ", "0123456789+-=()nix", strict=True))
_DOWN = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙₓₖ", "0123456789+-=()nxk", strict=True))
_UP_RUN = re.compile(f"[{''.join(_UP)}]++")
_DOWN_RUN = re.compile(f"[{''.join(_DOWN)}]++")
_FRACTIONS = {"½": "1/2", "⅓": "1/3", "⅔": "2/3", "¼": "1/4", "¾": "3/4", "⅕": "1/5", "⅖": "2/5"}
_FRACTIONS |= {"⅗": "3/5", "⅘": "4/5", "⅙": "1/6", "⅚": "5/6", "⅐": "1/7", "⅛": "1/8", "⅜": "3/8"}
_FRACTIONS |= {"⅝": "5/8", "⅞": "7/8", "⅑": "1/9", "⅒": "1/10"}
_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho"
_GREEK += " sigma tau upsilon phi chi psi omega"
_GREEK_SMALL = "αβγδεζηθικλμνξοπρστυφχψω"

_SIGNS = {
    **dict.fromkeys("−–—‐‑‒﹣－", "-"),
    **dict.fromkeys("\xa0\u2002\u2003\u2004\u2005\u2007\u2008\u3000", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u2061\u2062", ""),
    **{name[0]: f" \\{name[1]} " for name in zip(_GREEK_SMALL, _GREEK.split(), strict=True)},
    **{c: f"\\frac{{{f.split('/')[0]}}}{{{f.split('/')[1]}}}" for c, f in _FRACTIONS.items()},
    "Δ": r" \Delta ", "Σ": r" \Sigma ", "Ω": r" \Omega ", "Φ": r" \Phi ", "ϕ": r" \phi ",
    "\u2009": "\\,", "\u202f": "\\,", "×": r" \times ", "·": r" \cdot ", "⋅": r" \cdot ",
    "∙": r" \cdot ", "•": r" \cdot ", "÷": r" \div ", "∕": "/", "⁄": "/", "√": r"\usqrt ",
    "∛": r"\usqrt[3] ", "∜": r"\usqrt[4] ", "∞": r" \infty ", "∪": r" \cup ", "∩": r" \cap ",
    "∅": r" \emptyset ", "≤": r" \le ", "≥": r" \ge ", "⩽": r" \le ", "⩾": r" \ge ",
    "≦": r" \le ", "≧": r" \ge ", "≠": r" \ne ", "≈": r" \approx ", "≅": r" \cong ",
    "≡": r" \equiv ", "±": r" \pm ", "∓": r" \mp ", "°": r"^\circ ", "º": r"^\circ ", "′": "'",
    "″": "''", "’": "'", "‘": "'", "“": '"', "”": '"', "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}",
    "ℕ": r"\mathbb{N}", "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}", "∈": r" \in ", "∉": r" \notin ",
    "∖": r" \setminus ", "→": r" \to ", "∠": r" \angle ", "△": r" \triangle ", "∣": "|",
    "⟨": r" \langle ", "⟩": r" \rangle ", "〈": r" \langle ", "〉": r" \rangle ", "⌊": r" \lfloor ",
    "⌋": r" \rfloor ", "⌈": r" \lceil ", "⌉": r" \rceil ", "∑": r" \sum ", "∏": r" \prod ",
    "∫": r" \int ", "…": r" \dots ", "⋯": r" \dots ", "€": r" \euro ", "£": r" \pounds ",
    "¥": r" \yen ", "¢": r" \cents ", "％": "%", "，": ", ", "；": "; ", "（": "(", "）": ")",
    "：": ":", "∶": ":", "。": ".", "、": ", ", "٫": ".", "ℓ": r" \ell ", "ħ": r" \hbar ",
    "∼": r"\sim ",
    "⟹": r" \implies ", "⇒": r" \implies ", "∧": r" \land ", "∨": r" \lor ", "∆": r" \Delta ",
}  # fmt: skip
_SIGNS |= {chr(ord("①") + index): f" {index + 1}, " for index in range(20)}
_TABLE = str.maketrans(_SIGNS)
_PLAIN = re.compile(r"[ -~\n\t\r]*+")
_ALPHANUMERIC = re.compile(r"(?:(?!const|log)[A-Za-z0-9 ])*+")

# Python or JSON read the backslash of \text, \frac, \right, \begin as the start of an escape.
_BROKEN_ESCAPES = (
    (re.compile(r"\t(?=ext|imes|heta|an\b|frac|o\b|ilde)"), r"\\t"),
    (re.compile(r"\f(?=rac)"), r"\\f"),
    (re.compile(r"\r(?=ight|angle|m\{)"), r"\\r"),
    (re.compile(r"\x08(?=oxed|egin|inom|ar\b|eta\b|f\{)"), r"\\b"),
)
_DOUBLED = re.compile(r"\\\\(?=[A-Za-z])")
_DOUBLED_SIGN = re.compile(r"\\\\(?=[{}%$,;!()])")
_GONE = re.compile(
    r"\\(?:left|right|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits|mathstrut"
    r"|middle|allowbreak|hfill|noindent|centering|strut|protect|boldmath|bf|rm|it|normalsize|large"
    r"|Large|nonumber|hline|mathopen|mathclose|mathrel|mathbin|mathord)(?![A-Za-z])"
    r"(?:(?<=left)\.|(?<=right)\.)?"
)
_SPACES = re.compile(
    r"\\(?:quad|qquad|enspace|thinspace|space|medspace|nobreakspace)(?![A-Za-z])|(?<!\\)\\[;:>! ]"
    r"|~|\\(?:hspace|vspace|hskip|phantom|hphantom|vphantom|label|tag)\*?\{[^{}]*+\}"
)
_ROW_SPACING = re.compile(r"\\\\\s*+\[[^\[\]]{1,9}\]")
_FACES = re.compile(
    r"\\(?:mathbf|boldsymbol|bm|mathit|mathsf|mathtt|mathnormal|pmb|symbf|mathcal|mathscr|mathfrak"
    r"|ensuremath|underline|uline|emph|textsf|textsl|textsc|textnormal|overrightarrow|vec|hat"
    r"|widehat|tilde|mathring|displaylines|fbox|framebox|boxed|color\{[a-z]+\}|textcolor\{[a-z]+\})"
    r"(?![A-Za-z])\s*+"
)
_ALIASES = {
    r"\dfrac": r"\frac", r"\tfrac": r"\frac", r"\cfrac": r"\frac", r"\dbinom": r"\binom",
    r"\tbinom": r"\binom", r"\leq": r"\le", r"\geq": r"\ge", r"\leqslant": r"\le",
    r"\geqslant": r"\ge", r"\neq": r"\ne", r"\lt": "<", r"\gt": ">", r"\colon": ":",
    r"\varnothing": r"\emptyset", r"\lvert": "|", r"\rvert": "|", r"\vert": "|",
    r"\lbrace": r"\{", r"\rbrace": r"\}", r"\lbrack": "[", r"\rbrack": "]", r"\degree": r"^\circ ",
    r"\degrees": r"^\circ ", r"\percent": "%", r"\ldots": r"\dots", r"\cdots": r"\dots",
    r"\dotsc": r"\dots", r"\dotsb": r"\dots", r"\textrm": r"\text", r"\mbox": r"\text",
    r"\textup": r"\text", r"\hbox": r"\text", r"\textbf": r"\text", r"\textit": r"\text",
    r"\texttt": r"\text", r"\mathrm": r"\text", r"\operatorname": r"\text",
    r"\operatorname*": r"\text", r"\bigcup": r"\cup", r"\cupdot": r"\cup", r"\sqcup": r"\cup",
    r"\bigcap": r"\cap", r"\backslash": r"\setminus", r"\smallsetminus": r"\setminus",
    r"\ast": "*", r"\star": "*", r"\bullet": r"\cdot", r"\varphi": r"\phi",
    r"\varepsilon": r"\epsilon", r"\vartheta": r"\theta", r"\dollar": r"\$", r"\R": r"\mathbb{R}",
    r"\Z": r"\mathbb{Z}", r"\N": r"\mathbb{N}", r"\Q": r"\mathbb{Q}", r"\thickapprox": r"\approx",
    r"\approxeq": r"\approx", r"\simeq": r"\approx", r"\doteq": r"\approx",
    r"\wedge": r"\land", r"\vee": r"\lor", r"\rm": "", r"\arctg": r"\arctan",
    r"\tg": r"\tan", r"\ctg": r"\cot", r"\textdegree": r"^\circ ",
    r"\prime": "'", r"\textdollar": r"\$", r"\triangleq": "=", r"\coloneqq": "=",
    r"\cr": "\\\\", r"\lparen": "(", r"\rparen": ")", r"\Bbb": r"\mathbb", r"\bmod": r"\mod",
}  # fmt: skip
_NEGATIONS = {"=": r"\ne ", r"\in": r"\notin ", r"\equiv": r"\not\equiv "}
_COMMAND = re.compile(r"\\[A-Za-z]++\*?")
_SLANTED = re.compile(r"\^\{?(\d++)\}?\s*+/\s*+_\{?(\d++)\}?")
_DEGREE_LETTER = re.compile(r"\^\s*+\{\s*+\\(?:text|mathrm|rm|textrm)\s*+\{?\s*+o\s*+\}?\s*+\}")
_PLAIN_DEGREE = re.compile(r"(?<=\d)\^\{?o\}?(?![\w}])")
_RAISED_PRIMES = re.compile(r"\^\s*+(?:\{\s*+)?('(?:\s*+')*+)(?:\s*+\})?")
_NEGATED = re.compile(r"\\not\s*+(=|\\in(?![A-Za-z])|\\equiv(?![A-Za-z]))")
_CONSTANT_WORD = re.compile(
    r"(?<=[+-])\s*+(?:\\(?:text|mathrm)\s*+\{\s*+const(?:ant|\.)?\s*+\}|const(?:ant)?\b\.?)"
)
_LOGARITHM = re.compile(r"(?<![A-Za-z\\])\\?log(10|2)(?=\s*+\()")
_REPEATING = re.compile(r"([+-]?\d++)\.(\d*+)\((\d++)\)")
_STRAY_DOT = re.compile(r"(?<=[}\d])\.(?=\s*+[\])])")
_FENCES = re.compile(r"```[a-z]*+|`")
# Two stars between operands are a power; elsewhere they set a word in bold.
_BOLD = re.compile(r"(?<![\w)\]}])\*\*|\*\*(?![\w({\[\\-])|(?<!\w)__|__(?!\w)")
_WRAPPING = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"))


@lru_cache(maxsize=4096)
def without_formatting(text: str) -> str:
    r"""The text in plain LaTeX: no bold, no spacing, no delimiters around it, no Unicode signs."""
    if _ALPHANUMERIC.fullmatch(text):
        return text.strip()
    text = _one_backslash(text)
    if not _PLAIN.fullmatch(text):
        text = _UP_RUN.sub(lambda run: "^{" + "".join(_UP[c] for c in run[0]) + "}", text)
        text = _DOWN_RUN.sub(lambda run: "_{" + "".join(_DOWN[c] for c in run[0]) + "}", text)
        text = text.translate(_TABLE)
        text = unicodedata.normalize("NFKC", text)
    if "^" in text:
        text = _PLAIN_DEGREE.sub(r"^\\circ ", text)
        text = _SLANTED.sub(r"\\frac{\1}{\2}", text)
    if "log" in text:
        text = _LOGARITHM.sub(r"\\log_{\1}", text)
    if "const" in text:
        text = _CONSTANT_WORD.sub(" C", text)
    text = text.replace("+/-", r"\pm ")
    text = _STRAY_DOT.sub("", _BOLD.sub("", _FENCES.sub("", text)))
    if "\\" in text or "~" in text:
        text = _NEGATED.sub(lambda sign: _NEGATIONS[sign[1]], _ROW_SPACING.sub(r"\\\\ ", text))
        text = _FACES.sub(" ", _SPACES.sub(" ", _GONE.sub("", text)))
        if "^" in text:
            text = _DEGREE_LETTER.sub(r"^\\circ ", text)
        text = _COMMAND.sub(lambda command: _ALIASES.get(command[0], command[0]), text)
    if "'" in text:
        text = _RAISED_PRIMES.sub(r"\1", text)
    text = unwrapped(text)
    repeating = _REPEATING.fullmatch(text)
    return f"{repeating[1]}.{repeating[2]}\\overline{{{repeating[3]}}}" if repeating else text


def _one_backslash(text: str) -> str:
    for pattern, replacement in _BROKEN_ESCAPES:
        if text.isprintable():
            break
        text = pattern.sub(replacement, text)
    if "\\\\" not in text:
        return text
    if "\\\\begin" in text:
        return text.replace("\\\\", "\\")
    if r"\begin" in text:
        return text
    return _DOUBLED_SIGN.sub(r"\\", _DOUBLED.sub(r"\\", text))


def unwrapped(text: str) -> str:
    r"""The text without white space, delimiters and a full stop around it."""
    before = None
    while before != text:
        before = text
        text = text.strip().rstrip("。;,").rstrip()
        if text.endswith("\\") and not text.endswith("\\\\"):
            text = text[:-1].rstrip()  # what is left of a space
        if text.endswith(".") and not text.endswith(("..", r"\.")):
            text = text[:-1].rstrip()
        for opening, closing in _WRAPPING:
            inner = text[len(opening) : -len(closing)]
            if (
                len(text) > len(opening) + len(closing)
                and text.startswith(opening)
                and text.endswith(closing)
                and not text.endswith("\\" + closing)
                and opening not in inner
                and closing not in inner
            ):
                text = inner
                break
    return text


# -- Tokens

MOST_TOKENS = 1500
LONGEST_NUMBER = 4000  # digits: int() refuses more than 4300


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
        return _with_crosses(self.found) if "x" in self.text.lower() else self.found

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
        value = number_value(digits, power, exponent is not None)
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
        """The tokens of upright text, in which a run of letters is a word, or names a function."""
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
            for index, letter in enumerate(text):
                self._add("let", letter, start + index, start + index + 1)

    def _names_what_is_counted(self, text: str) -> bool:
        if not self._after_number():
            return False
        return text in SHORT_UNITS or (len(text) == 3 and self.spaced and bool(_VOWEL.search(text)))

    def _after_number(self) -> bool:
        return bool(self.found) and (self.found[-1].kind == "num" or self.found[-1].text in ")}/")


def _with_crosses(found: list[Token]) -> list[Token]:
    """The tokens with an x between two numbers read as a times sign: 1.5 x 10^3."""
    for index in range(1, len(found) - 1):
        token = found[index]
        numbers = found[index - 1].kind == found[index + 1].kind == "num"
        power = found[index + 1].text == "10" and [
            t.text for t in found[index + 2 : index + 3]
        ] == ["^"]
        if numbers and token.kind == "let" and token.text in "xX" and (token.spaced or power):
            found[index] = token._replace(kind="cmd", text=r"\times")
    return found


def _closing(text: str, start: int) -> int:
    """Where the brace that is open at `start` closes."""
    depth = 1
    for index in range(start, len(text)):
        if text[index] == "{" and text[index - 1] != "\\":
            depth += 1
        elif text[index] == "}" and text[index - 1] != "\\":
            depth -= 1
            if not depth:
                return index
    raise CannotReadError("a brace is not closed")


def number_value(digits: str, power: int = 0, scientific: bool = False) -> Digits | Fraction:
    """The value of digits, with what they show if they have a decimal point."""
    if digits.isdigit() and not power:
        return Fraction(int(digits))
    whole, _, decimals = digits.partition(".")
    value = Fraction(int(whole + decimals)) * Fraction(10) ** (power - len(decimals))
    if "." not in digits and not (scientific and power < 0):
        return value
    return Digits(value, significant_digits(whole + decimals), power - len(decimals))


def significant_digits(digits: str) -> int:
    """How many digits count: 3 for 0.0123."""
    return len(digits.lstrip("0")) or 1


# -- Separators

OPENING = frozenset(["(", "[", "{", r"\{", r"\langle", r"\begin", r"\lfloor", r"\lceil"])
CLOSING = frozenset([")", "]", "}", r"\}", r"\rangle", r"\end", r"\rfloor", r"\rceil"])


def depths(found: list[Token]) -> Iterator[int]:
    """How many brackets are open after each token."""
    return accumulate((token.text in OPENING) - (token.text in CLOSING) for token in found)


def split(
    found: list[Token], signs: Collection[str], words: Collection[str] = ()
) -> tuple[list[list[Token]], list[str]]:
    """The pieces between separators outside of brackets, and the separators."""
    if not any(t.text in signs or (words and t.text.lower() in words) for t in found):
        return [found], []
    parts: list[list[Token]] = [[]]
    between: list[str] = []
    for token, depth in zip(found, depths(found), strict=True):
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


def with_round_brackets(found: list[Token]) -> list[Token]:
    """Brackets turned outwards, ]a,b[, as the round ones that they mean."""
    if not any(token.text in ("[", "]") for token in found):
        return found
    count = Counter(token.text for token in found)
    first = next((t.text for t in found if t.text in OPENING or t.text in CLOSING), "")
    if first != "]" and (count["["] == count["]"] or count["("] != count[")"]):
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


def without_dollars(found: list[Token]) -> list[Token]:
    """The tokens without the dollars that delimit formulas; one before a number is a currency."""
    if not any(token.text == "$" for token in found):
        return found
    kept: list[Token] = []
    for index, token in enumerate(found):
        if token.text == "$":
            following = found[index + 1] if index + 1 < len(found) else None
            before = kept[-1].kind if kept else ""
            closes = sum(t.text == "$" for t in found[index + 1 :]) % 2 == 1
            if not following or following.kind != "num" or before == "num" or closes:
                continue
            if sum(t.text == "$" for t in found[:index]) % 2 == 1:
                continue
        kept.append(token)
    return kept
