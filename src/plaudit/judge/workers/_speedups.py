"""Makes math-verify faster in this process, without changing any verdict.

Three things take most of a comparison's time, and can mostly be avoided:

- antlr predicts what comes next from the full context (LL), where the cheaper SLL prediction mostly
  suffices. If SLL finds a tree, it is the same tree; if not, the text is parsed again with LL.
- sympy reads the number "18" by tokenizing, parsing and evaluating it as a Python expression.
- sympy simplifies a difference to see that it is not zero, where its value at a point shows it.
"""

import re
from math import inf
from typing import Any

import sympy
from antlr4.atn.PredictionMode import PredictionMode
from latex2sympy2_extended.latex2sympy2 import _Latex2Sympy
from math_verify import grader
from sympy.core.function import AppliedUndef

DECIMAL = re.compile(r"[0-9]*\.[0-9]+")

_create_parser = _Latex2Sympy.create_parser
_parse_number = _Latex2Sympy.parse_number
_symbolic_eq = grader.sympy_symbolic_eq

# Where differences are looked at: two places, positive, far from where functions jump.
PLACES = (("0.7315", "0.0613"), ("1.2931", "0.0457"))
UNCLEAR = 1e-6  # a difference below this, or below this share of the two, is no proof
UNFINISHED = (
    sympy.Integral, sympy.Derivative, sympy.Sum, sympy.Product, sympy.Limit, AppliedUndef,
)  # fmt: skip


def speed_up() -> None:
    """Put the faster functions in place of math-verify's own."""
    _Latex2Sympy.create_parser = create_parser
    _Latex2Sympy.parse_number = parse_number
    grader.sympy_symbolic_eq = symbolic_eq


def create_parser(converter: Any, latex: str) -> "TwoStageParser":
    """What the converter asks for its tree."""
    return TwoStageParser(converter, latex)


class TwoStageParser:
    """Stands in for an antlr parser: SLL prediction first, and the slower LL where that fails."""

    def __init__(self, converter: Any, latex: str) -> None:
        self._converter = converter
        self._latex = latex

    def math(self) -> Any:
        """The tree of the grammar's start rule."""
        parser = _create_parser(self._converter, self._latex)
        parser._interp.predictionMode = PredictionMode.SLL
        try:
            parser.getTokenStream().fill()  # so that what the lexer does not know is known now
            return parser.math()
        except Exception:
            return _create_parser(self._converter, self._latex).math()


def parse_number(converter: Any, text: str) -> Any:
    """The number that digits are."""
    if text.isascii() and text.isdigit():
        return sympy.Integer(int(text))
    if DECIMAL.fullmatch(text):
        return sympy.Float(text)
    return _parse_number(converter, text)


def symbolic_eq(gold: Any, answer: Any) -> bool:
    """Whether sympy can show that their difference is zero."""
    return not clearly_different(gold, answer) and bool(_symbolic_eq(gold, answer))


def clearly_different(one: Any, other: Any) -> bool:
    """Whether their values show that they differ: never a guess, but often no.

    >>> x = sympy.Symbol("x", real=True)
    >>> clearly_different(sympy.sin(x), sympy.cos(x))
    True
    >>> clearly_different(sympy.sin(x) ** 2 - 1, -(sympy.cos(x) ** 2))
    False
    """
    if not isinstance(one, sympy.Expr) or not isinstance(other, sympy.Expr):
        return False
    try:
        return all(_differ_at(one, other, *place) for place in PLACES)
    except MemoryError:
        raise
    except Exception:  # no value there: it is for sympy to say
        return False


def _differ_at(one: Any, other: Any, first: str, step: str) -> bool:
    symbols = sorted(one.free_symbols | other.free_symbols, key=str)
    place = {s: sympy.Float(first) + i * sympy.Float(step) for i, s in enumerate(symbols)}
    if one.has(*UNFINISHED) or other.has(*UNFINISHED):
        return False
    left, right = (complex(side.evalf(15, subs=place)) for side in (one, other))
    apart = abs(left - right)
    return bool(UNCLEAR * max(1.0, abs(left), abs(right)) < apart < inf)
