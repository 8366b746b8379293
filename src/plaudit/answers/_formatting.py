r"""A text in, and out comes the same in plain LaTeX, without what only changes how it looks.

`\left( \dfrac{1}{2},\, \mathbf{3} \right).` comes out as `( \frac{1}{2},  3 )`.
Every step takes time linear in the text.
"""

import re
import unicodedata

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
    "：": ":", "∶": ":", "。": ".", "、": ", ", "ℓ": r" \ell ", "ħ": r" \hbar ", "∼": r"\sim ",
    "⟹": r" \implies ", "⇒": r" \implies ", "∧": r" \land ", "∨": r" \lor ", "∆": r" \Delta ",
}  # fmt: skip
_SIGNS |= {chr(ord("①") + place): f" {place + 1}, " for place in range(20)}
_TABLE = str.maketrans(_SIGNS)
_PLAIN = re.compile(r"[ -~\n\t\r]*+")

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


def without_formatting(text: str) -> str:
    r"""The text in plain LaTeX: no bold, no spacing, no delimiters around it, no Unicode signs.

    >>> [without_formatting(text) for text in (r"$\displaystyle\dfrac{3}{4}$.", "x² ≤ 4", "**27**")]
    ['\\frac{3}{4}', 'x^{2}  \\le  4', '27']
    >>> without_formatting(r"\\frac{3}{4}")
    '\\frac{3}{4}'
    """
    text = _one_backslash(text)
    if not _PLAIN.fullmatch(text):
        text = _UP_RUN.sub(lambda run: "^{" + "".join(_UP[c] for c in run[0]) + "}", text)
        text = _DOWN_RUN.sub(lambda run: "_{" + "".join(_DOWN[c] for c in run[0]) + "}", text)
        text = text.translate(_TABLE)
        text = unicodedata.normalize("NFKC", text)
    text = _PLAIN_DEGREE.sub(r"^\\circ ", text)
    text = _SLANTED.sub(r"\\frac{\1}{\2}", text)
    text = _CONSTANT_WORD.sub(" C", _LOGARITHM.sub(r"\\log_{\1}", text)).replace("+/-", r"\pm ")
    text = _STRAY_DOT.sub("", _BOLD.sub("", _FENCES.sub("", text)))
    if "\\" in text or "~" in text:
        text = _NEGATED.sub(lambda sign: _NEGATIONS[sign[1]], _ROW_SPACING.sub(r"\\\\ ", text))
        text = _FACES.sub(" ", _SPACES.sub(" ", _GONE.sub("", text)))
        text = _DEGREE_LETTER.sub(r"^\\circ ", text)
        text = _COMMAND.sub(lambda command: _ALIASES.get(command[0], command[0]), text)
    text = unwrapped(_RAISED_PRIMES.sub(r"\1", text))
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
    r"""The text without white space, delimiters and a full stop around it.

    >>> unwrapped(" $x$. "), unwrapped(r"\[ (1,2) \]"), unwrapped("$1$, $2$"), unwrapped("3.")
    ('x', '(1,2)', '$1$, $2$', '3')
    """
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
