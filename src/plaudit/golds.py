r"""Golds that math-verify reads in part, and what to do about them.

LaTeX has to stand in an environment, `$2\sqrt{2}$`. Without one, math-verify takes the first or the
last number in it for the gold: `2\sqrt{2}` is read as 2, so that `\boxed{2}` is right. TRL does the
same, so the rewards keep to it; but they say so, in a warning and in each score.
"""

import re
import warnings
from functools import lru_cache
from typing import Any

# What has more characters is not an expression but a worked solution.
_LONGEST = 1000
_ANCHOR = re.compile(r"(?<!\\)(?:\$|\\\(|\\\[|\\boxed\b)")
_LATEX = re.compile(r"\\[A-Za-z]|[\^_{]")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")
_WORDS = re.compile(_WORD.pattern + r"\s+[A-Za-z]{2}")
_TAG = re.compile(r"</?\w{1,20}>")
_TAGGED = re.compile(r"(<answer>)(.*?)(</answer>)", re.DOTALL)
# What may stand around an expression that was read whole: a unit, degrees, spacing.
_DRESS = re.compile(
    r"\\(?:text|textrm|textbf|mathrm|mbox)\s?\{[^{}]*\}(?:\^\{?\d\}?)?"
    r"|\^?\{?\\(?:circ|degree)\b\}?|\\[%$,;:! ]|\\(?:quad|qquad|left|right|displaystyle)\b|[\s%$]"
)
_NAME = re.compile(r"^[A-Za-z]\w*(?:_\{\w+\})?(?:\([A-Za-z]\))?=")  # of what it is: x=, f(x)=
_NO_MATHEMATICS = re.compile(r"[^\w+*/=<>:|!≠≤≥±√π∞-]|_")
_warned: set[str] = set()


def read_in_part(gold: str, read: str | None) -> bool:
    r"""Whether what was read of a gold leaves out some of its mathematics.

    That can happen only to golds without an environment: to LaTeX, and to an expression that has
    no words in it, such as `2x + 3`.

    >>> read_in_part(r"2\sqrt{2}", "2"), read_in_part("- 10", "10")
    (True, True)
    >>> read_in_part(r"\frac{1}{2}", r"\frac{1}{2}"), read_in_part("The answer is 42", "42")
    (False, False)
    """
    if read is None or gold == read or len(gold) > _LONGEST:
        return False
    return _leaves_out(gold, read)


@lru_cache(4096)
def _leaves_out(gold: str, read: str) -> bool:
    if _ANCHOR.search(gold):
        return False
    if not _LATEX.search(gold) and _WORD.search(_TAG.sub("", gold)):
        return False
    return len(_mathematics(gold)) > len(_mathematics(read))


def _mathematics(text: str) -> str:
    """The letters, digits and operators of an expression, without what only dresses it."""
    bare = _WORD.sub("", _TAG.sub("", text)).replace("dfrac", "frac")
    return _NO_MATHEMATICS.sub("", _NAME.sub("", _DRESS.sub("", bare)))


def in_part(gold: str, read: str | None) -> str:
    r"""What to say of a gold that was read in part, else ""; the first of a process is warned of.

    >>> with warnings.catch_warnings(action="ignore"):
    ...     in_part(r"2\sqrt{2}", "2"), in_part("2", "2")
    ('The gold was read as 2, out of 2\\sqrt{2}.', '')
    """
    if not read_in_part(gold, read):
        return ""
    shown = f"{gold:.80}"
    if not _warned:
        _warned.add(gold)
        warnings.warn(
            f"the gold {shown} is read as {read}: math-verify reads only a part of mathematics "
            f"that is not in $…$. Write the golds as ${shown}$; for the rewards of trl, a recipe "
            'with golds = "latex" does so. Every score whose gold is read in part is gold_in_part.',
            UserWarning,
            stacklevel=2,
        )
    return f"The gold was read as {read}, out of {shown}."


def as_latex(gold: Any) -> Any:
    r"""A gold with `$…$` around it, so that it is read whole.

    Left as it is: what is not text, or stands in an environment; and prose, which is not LaTeX.

    >>> as_latex(r"2\sqrt{2}"), as_latex("<answer>- 10</answer>")
    ('$2\\sqrt{2}$', '<answer>$- 10$</answer>')
    >>> as_latex(r"\boxed{4}"), as_latex("It is four."), as_latex(4)
    ('\\boxed{4}', 'It is four.', 4)
    """
    if not isinstance(gold, str) or len(gold) > _LONGEST:
        return gold
    if _TAGGED.search(gold):
        return _TAGGED.sub(lambda found: f"{found[1]}{_wrapped(found[2])}{found[3]}", gold)
    return _wrapped(gold)


def _wrapped(gold: str) -> str:
    is_prose = _WORDS.search(_DRESS.sub(" ", gold))
    if not gold.strip() or is_prose or _ANCHOR.search(gold):
        return gold
    return f"${' '.join(gold.split())}$"  # a line break would end the environment
