"""The kinds of tokens -> which bracket closes which, bars among them.

Every rule of the grammar has its brackets in pairs, so they are paired before anything else: what
does not pair is an error for sure, though only an interval may open and close with different ones.
"""

from plaudit.judge.workers.latex._tokens import LatexError, UndecidedError

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
            raise UndecidedError  # a bar before the place at which something is evaluated
        raise LatexError
    for first, second in zip(bars[::2], bars[1::2], strict=True):
        if first != bars[0] and kinds[first - 1] not in BEFORE_OPERANDS:
            raise UndecidedError
        if kinds[first + 1] in ("^", "_"):
            raise UndecidedError
        kinds[first], kinds[second] = "|(", "|)"
        pairs[first] = second
