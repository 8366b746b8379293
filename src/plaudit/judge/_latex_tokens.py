r"""LaTeX -> its tokens, as latex2sympy2's lexer cuts it, and which bracket closes which.

That lexer takes the longest token that fits, and knows no word boundaries: `\sinx` is a sine and
an x, `\left` is `\le` and two letters, `norm` is one token, and a `d` swallows the letter after it.
So the tables below are complete, with what no answer uses too: a character that starts nothing in
them is an error for sure.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from string import ascii_letters

_LETTERS = frozenset(ascii_letters)


class LatexError(Exception):
    """latex2sympy2 does not parse this text: it raises an exception, whichever."""


class UndecidedError(Exception):
    """The reader does not know what latex2sympy2 makes of this text."""


_GREEK = (
    "alpha beta delta Delta epsilon varepsilon zeta eta theta Theta vartheta iota kappa lambda "
    "Lambda mu nu xi Xi omicron pi Pi varpi rho varrho sigma Sigma varsigma tau upsilon Upsilon "
    "phi Phi varphi chi psi Psi omega Omega"
).split()
_OTHER_SYMBOLS = (
    "Bbbk wp nabla bigstar angle nexists diagdown measuredangle eth diagup sphericalangle clubsuit "
    "varnothing Diamond complement diamondsuit imath Finv triangledown heartsuit jmath Game "
    "triangle spadesuit ell hbar vartriangle hslash blacklozenge lozenge blacksquare mho "
    "blacktriangle sharp prime Im flat square backprime Re natural surd circledS"
).split()
_ACCENTS = (
    "acute bar overline breve check widecheck dot ddot grave hat tilde widetilde vec "
    "overrightarrow bm boldsymbol text textit textbf textnormal mathbb mathbin mathbf mathcal "
    "mathclap mathclose mathellipsis mathfrak mathinner mathit mathnormal mathop mathopen mathord "
    "mathpunct mathrel mathring mathrlap mathrm mathscr mathsf mathsterling mathtt mbox"
).split()
_ONE_ARGUMENT = (
    "log ln exp sin cos tan csc sec cot arcsin arccos arctan arccsc arcsec arccot sinh cosh tanh "
    "arsinh arcosh artanh arcsinh arccosh arctanh floor ceil det"
).split()
# Names of functions as they stand in \operatorname{...}, and nowhere else in the grammar.
_NAMES = (
    "arsinh arcsinh arcosh arccosh artanh arctanh gcd lcm floor ceil eye zeros ones cols rows diag "
    "norm rank trace tr rref hstack vstack orth ortho orthogonal orthogonalize nullspace eig eigen "
    "diagonalize eigenvals eigenvalues eigenvects eigenvectors svd SVD "
    "matrix pmatrix bmatrix vmatrix"
).split()

# The kind of a token -> commands of that kind. "unknown" is what the reader leaves to latex2sympy2,
# "misplaced" what fits nowhere in that part of the grammar which the reader knows.
_COMMANDS: dict[str, list[str]] = {
    "": (
        "thinspace medspace thickspace quad qquad negthinspace negmedspace negthickspace vrule "
        "vcenter vbox vskip vspace hfil"
    ).split(),
    "symbol": [*_GREEK, *_OTHER_SYMBOLS],
    "function": _ONE_ARGUMENT,
    "functions": ["gcd", "lcm", "max", "min"],
    "sqrt": ["sqrt"],
    "sum": ["sum", "prod"],
    "frac": ["frac", "dfrac", "tfrac", "cfrac"],
    "binom": ["binom", "tbinom", "dbinom"],
    "*": ["times", "cdot"],
    "/": ["div", "over"],
    "mod": ["mod"],
    "e": ["exponentialE"],
    "infinity": ["infty"],
    "in": ["in"],
    "notin": ["notin"],
    "==": ["equiv"],
    "!=": ["ne", "neq", "not\\equiv"],
    "approx": ["approx"],
    "<": ["lt"],
    "<=": ["leq", "le", "leqslant"],
    ">": ["gt"],
    ">=": ["geq", "ge", "geqslant"],
    "union": ["cup"],
    "intersection": ["cap"],
    "setminus": ["setminus"],
    "plus-minus": ["pm", "mp"],
    "empty": ["emptyset", "lbrace\\rbrace"],
    "unknown": (
        "int lim operatorname vert phantom boxed choose partial gamma Gamma xrightarrow "
        "xRightarrow supseteq subseteq variable char"
    ).split(),
    "misplaced": (
        "to rightarrow Rightarrow longrightarrow Longrightarrow leftrightarrow Leftrightarrow "
        "mathit"
    ).split(),
    **{
        f"\\{name}": [name]
        for name in (
            "lgroup rgroup lbrace rbrace lbrack rbrack lvert rvert langle rangle lfloor rfloor "
            "llcorner lrcorner lceil rceil ulcorner urcorner"
        ).split()
    },
}
_SIGNS = {
    "+": "+∔⊕⊞",
    "-": "-−∸",
    "*": "*×⋅⋄⊡∗⋆∘∙⊗⊠⋈⋉⋊",
    "/": "/÷∕:",
    "=": "=≡≣≟≎≏≐≑≒≓≔≕≖≗",
    "approx": "≈≊≋≃≅",
    "<": "<≪≺⋖",
    "<=": "≤≦≲≾",
    ">": ">≫≻⋗",
    ">=": "≥≧≳≿",
    "!=": "≠≁≄≇≉≢",
    "symbol": "αβδΔεϵζηθΘϑικλΛμνξΞοπΠϖρϱσΣςτυΥφΦϕχψΨωΩℵℶℷℸ",
    "unknown": "γΓ⊇⊆",
    "set": "ℕℤℚℝℂℙ",
    "union": "∪",
    "intersection": "∩",
    "setminus": "∖",
    "plus-minus": "±∓",
    "empty": "∅",
    "notin": "∉",
    "transpose": "'",
    "misplaced": ".",
    "e": "e",
    "E": "E",
    **{sign: sign for sign in "()[]{}|_^;,&!"},
}
_LONG_SIGNS = {
    "<=": ["<="],
    ">=": [">="],
    "==": ["=="],
    "approx": ["~="],
    "!=": ["!==", "!="],
    "misplaced": ["<->", "<=>"],
    "": [r"\,", r"\:", r"\;", r"\!", r"\$"],
    r"\{": [r"\{"],
    r"\}": [r"\}"],
    r"\(": [r"\("],
    r"\)": [r"\)"],
    "unknown": [r"\|", r"\begin{vmatrix}", r"\end{vmatrix}"],
    r"\\": [r"\\"],
    "empty": [r"\{\}"],
    "transpose": ["^T", "^{T}"],
    "degree": [
        *(r"^\circle", r"^\circ", r"^\degree", "^°"),
        *(r"^{\circle}", r"^{\circ}", r"^{\degree}", "^{°}"),
    ],
    "set": [rf"\mathbb{{{letter}}}" for letter in "NZQRCP"],
    "infinity": [r"\$\infty", r"\infty\%", r"\infty%"],
    "matrix": [rf"\begin{{{kind}}}" for kind in ("matrix", "pmatrix", "bmatrix")],
    "end matrix": [rf"\end{{{kind}}}" for kind in ("matrix", "pmatrix", "bmatrix")],
    "end array": [r"\end{array}"],
}
_KINDS: dict[str, str] = {
    **dict.fromkeys(ascii_letters, "symbol"),
    **{sign: kind for kind, signs in _SIGNS.items() for sign in signs},
    **{f"\\{name}": kind for kind, names in _COMMANDS.items() for name in names},
    **{sign: kind for kind, signs in _LONG_SIGNS.items() for sign in signs},
}


def _any_of(texts: Iterable[str]) -> str:
    """A regular expression that takes the longest of some texts."""
    return "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))


_LONG = [text for text in _KINDS if len(text) > 1 and not re.fullmatch(r"\\[a-zA-Z]+", text)]
_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r"|(?P<number>(?:[0-9]*\.[0-9]+|[0-9]+)(?P<rest>E[-+−∸∔⊕⊞]?[0-9]+|[ \t\r\n]?\\?%)?)"
    rf"|(?P<long>{_any_of(_LONG)})"
    r"|(?P<array>\\begin\{array\}\{[clr]*\})"
    rf"|(?P<accent>\\(?:{'|'.join(_ACCENTS)})[ \t\r\n]?\{{[^}}]*\}})"
    r"|(?P<command>\\[a-zA-Z]+)"
    r"|(?P<differential>d(?!iag)[ \t\r\n]*(?:[a-zA-Z]|\\[a-zA-Z]+))"
    rf"|(?P<name>{_any_of(_NAMES)})"
    rf"|(?P<sign>[{re.escape(''.join(text for text in _KINDS if len(text) == 1))}])"
)
_OF_GROUP = {"array": "array", "differential": "differential", "name": "misplaced"}


def tokens_of(text: str) -> tuple[list[str], list[str], list[int]]:
    """Return the kinds of a text's tokens, their texts, and where each starts."""
    if r"\top" in text or r"\variable" in text or r"\char" in text:
        raise UndecidedError
    kinds: list[str] = []
    texts: list[str] = []
    starts: list[int] = []
    at, end = 0, len(text)
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise LatexError
        at = match.end()
        group, token = match.lastgroup, match[0]
        if group == "space":
            continue
        if group == "sign" or group == "long":
            kind = _KINDS[token]
        elif group == "number" or group == "rest":
            rest = match["rest"]
            kind = "number" if not rest else "power of ten" if rest[0] == "E" else "percent"
        elif group == "command":
            token, kind = _longest_command(token)
            at = match.start() + len(token)
        elif group == "accent":
            if r"\}" in token:
                raise UndecidedError
            kind = "symbol"
        else:
            kind = _OF_GROUP[group or ""]
        if (
            kind == "symbol"
            and group != "accent"
            and token not in _LETTERS
            and text[at : at + 1] == " "
        ):
            token, at = token + " ", at + 1  # it is part of the token, and of names made of it
        if kind:
            kinds.append(kind)
            texts.append(token)
            starts.append(match.start())
    return kinds, texts, starts


@lru_cache(maxsize=1024)
def _longest_command(token: str) -> tuple[str, str]:
    r"""The longest command that a backslash and letters start with, and its kind."""
    for end in range(len(token), 1, -1):
        if token[:end] in _KINDS:
            return token[:end], _KINDS[token[:end]]
    raise LatexError


# -- Brackets

DEEPEST = 8  # brackets in brackets: well below where antlr runs out of Python's stack
GROUPS = {
    "(": ")", "[": "]", "{": "}", r"\{": r"\}", r"\lbrace": r"\rbrace", r"\lbrack": r"\rbrack",
    r"\lgroup": r"\rgroup",
}  # fmt: skip
WRAPPERS = {
    "|(": ("abs", "|)"),
    r"\lvert": ("abs", r"\rvert"),
    r"\lfloor": ("floor", r"\rfloor"),
    r"\llcorner": ("floor", r"\lrcorner"),
    r"\lceil": ("ceil", r"\rceil"),
    r"\ulcorner": ("ceil", r"\urcorner"),
    r"\langle": ("dot product", r"\rangle"),
}
MATRICES = {"matrix": "end matrix", "array": "end array"}
OPENING = {*GROUPS, *WRAPPERS, *MATRICES, r"\("}
CLOSING = {*GROUPS.values(), *(end for _, end in WRAPPERS.values()), *MATRICES.values(), r"\)"}

RELATIONS = {"in", "=", "==", "approx", "<", "<=", ">", ">=", "!="}
PRODUCTS = {"*", "/", "mod"}
# What no expression has in it but in brackets, so that bars cannot be around it.
SEPARATORS = {
    *RELATIONS, "notin", ",", ";", "&", r"\\", "plus-minus", "union", "intersection", "setminus",
}  # fmt: skip
# After these an operand must follow, so that a bar is one that opens.
BEFORE_OPERANDS = {"+", "-", "function", *PRODUCTS}


def pairs_of(kinds: list[str]) -> dict[int, int]:
    """Where the bracket that opens at an index is closed; bars become those that open or close."""
    pairs: dict[int, int] = {}
    open_at: list[int] = []
    bars: list[list[int]] = [[]]
    for index, kind in enumerate(kinds):
        if kind in OPENING:
            open_at.append(index)
            bars.append([])
            if len(open_at) > DEEPEST:
                raise UndecidedError
        elif kind in CLOSING:
            if not open_at:
                raise LatexError
            pairs[open_at.pop()] = index
            _pair_bars(kinds, bars.pop(), pairs)
        elif kind == "|":
            bars[-1].append(index)
        elif kind in SEPARATORS and bars[-1]:
            _pair_bars(kinds, bars[-1], pairs)
            bars[-1] = []
    if open_at:
        raise LatexError
    _pair_bars(kinds, bars[0], pairs)
    return pairs


def _pair_bars(kinds: list[str], bars: list[int], pairs: dict[int, int]) -> None:
    """Every second bar closes, where those between them cannot but open."""
    if len(bars) % 2:
        if any(kinds[bar + 1] in ("^", "_") for bar in bars):
            raise UndecidedError  # a bar before the point at which something is evaluated
        raise LatexError
    for first, second in zip(bars[::2], bars[1::2], strict=True):
        if first != bars[0] and kinds[first - 1] not in BEFORE_OPERANDS:
            raise UndecidedError
        if kinds[first + 1] in ("^", "_"):
            raise UndecidedError
        kinds[first], kinds[second] = "|(", "|)"
        pairs[first] = second
