"""LaTeX -> LaTeX in normal form, as math-verify parses it: no units, no boxes, unified commands.

The work is done by latex2sympy2_extended's own module, so that it can never drift from what
math-verify does. That module needs nothing but `re`; it is loaded by its path because importing
its package would load sympy and antlr, which have no place in a trainer's process.
"""

import re
import sys
from functools import cache, lru_cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from plaudit.judge._verdict import Rule
from plaudit.judge._versions import math_verify_installed
from plaudit.judge.reading._latex import Piece

BOX = re.compile(r"\\boxed|\\fbox")
BRACE = re.compile(r"[{}]")
SPACE = re.compile(r"\s*+")
SEPARATOR = re.compile(r"\b(?:and|or)\b|[,;]")
SEPARATOR_IN_WORDS = re.compile(r"and|or|[,;]")
# LaTeX that is plain by now: no words, no units at the end, no command that has another spelling.
# The library changes nothing in it but the space around it, so it need not be asked.
TOKEN = (
    r"[-+*=<>()|:!,\[\]]| (?!\.)|[0-9]++(?:\.[0-9]*+)?+|[A-Za-z](?![A-Za-z])|\{(?![ .,])"
    r"|\\(?:frac|sqrt)(?=\{)|\\(?:pi|cdot|times|infty|%)(?![A-Za-z])"
)
NO_UNIT = r"(?!.*(?:[cdghlmost]|[a-hqs] .) *\Z)"  # "a ." is a unit, with any sign for the point
PLAIN = re.compile(rf"{NO_UNIT}(?:{TOKEN}|[/^}}])*+")
# Where LaTeX is read leniently, what looks like a malformed operator is mended.
PLAIN_LENIENTLY = re.compile(rf"(?! *0\.5 *\Z){NO_UNIT}(?:{TOKEN}|\^(?! ?\()|\}}(?! ?[0-9]))*+")
# The most frequent spellings that the library unifies.
SPELLINGS = ((r"\dfrac{", r"\frac{"), (r"\left(", "("), (r"\right)", ")"))
MODULE = "plaudit.judge.reading._latex2sympy2_normalization"


def normalise(piece: Piece, rule: Rule) -> str:
    r"""The text that is compared and parsed.

    >>> normalise(Piece(r"\boxed{\dfrac{1}{3}\text{ cm}}", bare=True), Rule.LATEX)
    '\\frac{1}{3}'
    """
    return _normalise(opened(piece), rule is Rule.ANYWHERE)


@lru_cache(maxsize=16)
def opened(piece: Piece) -> str:
    r"""What stands in the piece's boxes; the piece as it is where it has none.

    Of a box in running text only the last counts, with those right before it; they are an answer
    in parts.

    >>> opened(Piece(r"First \boxed{1} and on second thoughts \boxed{2}", bare=True))
    '1,2'
    >>> opened(Piece(r"First \boxed{1}. On second thoughts: \boxed{2}", bare=True))
    '2'
    """
    text = piece.latex
    contents: list[str] = []
    stop = len(text)  # boxes are gone through from the right: where the one before this starts
    for box in reversed(list(BOX.finditer(text))):
        at = SPACE.match(text, box.end(), stop).end()  # type: ignore[union-attr]
        if at >= stop:
            break
        end = _closing(text, at, stop) if text[at] == "{" else None
        if end is None:
            contents = contents or [text[at:]]
            break
        content = text[at + 1 : end].strip()
        if piece.bare and stop < len(text) and not _joined(text[end + 1 : stop], content, contents):
            break
        if not contents or contents[-1] != content or not _once():
            contents.append(content)
        stop = box.start()
    return ",".join(reversed(contents)) if contents else text


def _once() -> bool:
    """Whether boxes that hold the same count once."""
    return math_verify_installed().ways.boxes_of_one_text_are_one


def _closing(text: str, opening: int, stop: int) -> int | None:
    """The brace that closes the one at `opening`."""
    first = text.find("}", opening, stop)
    if text.find("{", opening + 1, first) < 0 <= first:  # there is no brace in between
        return first
    depth = 0
    for brace in BRACE.finditer(text, opening, stop):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.start()
    return None


def _joined(between: str, content: str, later: list[str]) -> bool:
    """Whether two boxes are parts of one answer, by what stands between them."""
    if len(between) < 10:
        return True
    words = math_verify_installed().ways.separators_are_words
    separator = SEPARATOR if words else SEPARATOR_IN_WORDS
    return later[-1] != content and len(between) < 70 and bool(separator.search(between))


@lru_cache(maxsize=8192)
def _normalise(latex: str, lenient: bool) -> str:
    plain = latex
    for spelling, unified in SPELLINGS:
        plain = plain.replace(spelling, unified)
    if (PLAIN_LENIENTLY if lenient else PLAIN).fullmatch(plain):
        return plain.strip()
    normalised: str = _library().normalize_latex(latex, _configuration(lenient))
    return normalised


@cache
def _configuration(lenient: bool) -> Any:
    """The box is open by now. A gold is read leniently: malformed operators are mended."""
    return _library().NormalizationConfig(
        basic_latex=True,
        units=True,
        malformed_operators=lenient,
        nits=lenient,
        boxed="none",
        equations=False,
    )


@cache
def _library() -> Any:
    package = find_spec("latex2sympy2_extended")
    if package is None or not package.submodule_search_locations:
        raise ImportError("plaudit needs latex2sympy2_extended, which math-verify installs")
    path = Path(package.submodule_search_locations[0]) / "math_normalization.py"
    spec = spec_from_file_location(MODULE, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[MODULE] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
