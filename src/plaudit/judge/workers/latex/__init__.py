r"""LaTeX in normal form -> the sympy object that latex2sympy2 makes of it, without antlr.

1. `_tokens`: the text's tokens.
2. `_expressions` and `_answers`: their tree; first expressions, then what is made of them.
3. `_objects`: the object that the tree stands for.

What the reader does not know for sure is left to latex2sympy2 itself: it never guesses.
"""

from typing import Any, Final

from math_verify.grader import should_treat_as_complex
from math_verify.parser import get_last_eq

from plaudit.judge.workers.latex._objects import Objects
from plaudit.judge.workers.latex._tokens import UndecidedError

__all__ = ["UNDECIDED", "read_latex"]

UNDECIDED: Final = object()


def read_latex(text: str) -> Any:
    r"""What math-verify parses a text as; or UNDECIDED. It raises where math-verify does.

    >>> read_latex(r"\frac{1}{2} + x")
    x + 1/2
    >>> read_latex(r"\int_0^1 x dx") is UNDECIDED
    True
    """
    try:
        try:
            return _read(text)
        except UndecidedError:
            raise
        except Exception:
            last = get_last_eq(text)
            if last == text:
                raise
            return _read(last)
    except UndecidedError:
        return UNDECIDED


def _read(text: str) -> Any:
    return Objects(real=not should_treat_as_complex(text)).of_text(text)
