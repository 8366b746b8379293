"""Makes math-verify faster in this process, without changing any verdict.

Three things take most of a comparison's time, and can mostly be avoided:

- antlr predicts what comes next from the full context (LL), where the cheaper SLL prediction mostly
  suffices. If SLL finds a tree, it is the same tree; if not, the text is parsed again with LL.
- sympy reads the number "18" by tokenizing, parsing and evaluating it as a Python expression.
- sympy simplifies, solves and subtracts sets to see that two things differ, where a few values show
  it: that is for `_grader`.
"""

import re
from typing import Any

import sympy
from antlr4.atn.PredictionMode import PredictionMode
from latex2sympy2_extended.latex2sympy2 import _Latex2Sympy

from plaudit.judge.workers._grader import compare_faster

DECIMAL = re.compile(r"[0-9]*\.[0-9]+")

_create_parser = _Latex2Sympy.create_parser
_parse_number = _Latex2Sympy.parse_number


def speed_up() -> None:
    """Put the faster functions in place of math-verify's own."""
    _Latex2Sympy.create_parser = create_parser
    _Latex2Sympy.parse_number = parse_number
    compare_faster()


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
