"""The symbolic step for a version of math-verify that was not tested: its public functions alone.

Two whole texts come in; math-verify finds, parses and compares what stands in them in its own way.
Nothing of it is replaced by something faster. Runs in a worker process alone, as `_symbolic` does.
"""

from collections.abc import Iterator
from typing import Any

from latex2sympy2_extended import NormalizationConfig
from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify

from plaudit.judge._reading import Text
from plaudit.judge._verdict import Rule, Status

# What `Rule` means, as TRL and math-verify's defaults say it.
TARGETS: dict[Rule, tuple[Any, ...]] = {
    Rule.ANYWHERE: (LatexExtractionConfig(), ExprExtractionConfig()),
    Rule.LATEX: (
        LatexExtractionConfig(
            normalization_config=NormalizationConfig(units=True),
            boxed_match_priority=0,
            try_extract_without_anchor=False,
        ),
    ),
}
MODES = {Rule.ANYWHERE: "any_match", Rule.LATEX: "first_match"}


def compare(answers: list[Any], golds: list[Any], rule: Rule) -> tuple[Status, str, str]:
    r"""The status, and what was read as answer and as gold."""
    gold = _read(golds, Rule.ANYWHERE)
    if not gold:
        return Status.BAD_GOLD, "", ""
    answer = _read(answers, rule)
    if not answer:
        return Status.NO_ANSWER, "", _shown(gold)
    same = verify(gold, answer, timeout_seconds=None)
    return Status.EQUAL if same else Status.DIFFERENT, _shown(answer), _shown(gold)


def _read(texts: list[Any], rule: Rule) -> list[Any]:
    """What math-verify reads in the one text that there is: an expression and how it is written."""
    (text,) = texts
    if not isinstance(text, Text):
        raise TypeError(text)
    read: list[Any] = parse(
        text.text, TARGETS[rule], extraction_mode=MODES[rule], parsing_timeout=None
    )
    return read


def _shown(read: list[Any]) -> str:
    """How it is written; an expression of sympy's is not asked, since that may take for ever."""
    return next((one for one in read if isinstance(one, str)), "")


def warm_up() -> None:
    """Have the parser's tables filled before workers are forked."""
    for latex in (r"$x^2 + \frac{1}{2}$", r"$(1, 2) \cup [3, \infty)$", r"$\sin x = \sqrt{2}$"):
        parse(latex, parsing_timeout=None)


preparations: Iterator[bool] = iter(())
