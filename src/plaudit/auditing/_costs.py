"""A recipe and hostile texts in; out comes whether its time passes a limit, or grows too fast."""

import math
from dataclasses import dataclass

from plaudit.auditing._attacks import HOSTILE, RAISES
from plaudit.auditing._cases import Case
from plaudit.auditing._process import Hung, Paid, Raised
from plaudit.auditing._scorer import Scorer
from plaudit.auditing._table import Table
from plaudit.recipes import Recipe

SHORT, SHORT_SECONDS = 1000, 2.0
LONG, LONG_SECONDS = 100_000, 5.0
SMALL, LARGE, EXPONENT = 10_000, 80_000, 1.7
_MIDDLE, _SURE = 40_000, 1.85  # characters; an exponent above this one is not measured once more
_WORTH = 0.04  # seconds for a text of that size: below, it does not matter how the time grows
_PATIENCE = 60.0  # seconds for a harmless text
_SLOW = 0.5  # seconds for an honest answer: above, the reward is slow on any text
_SHORT_SIZES = (40, 950)
# Python's own parsers, such as json.loads, refuse brackets that are nested some thousand deep.
_TOO_DEEP = "It raised RecursionError"


@dataclass(frozen=True)
class CostFound:
    """What was measured.

    attack: the kind of text on which a limit was passed; "" where none was
    """

    attack: str = ""
    text: str = ""
    why: str = ""
    kind: str = "cost"
    skipped: tuple[str, ...] = ()


def cost_of(recipe: Recipe, table: Table, case: Case) -> CostFound:
    """The first text on which a recipe takes too long; nothing where there is none."""
    with Scorer(recipe, table.rows, table.as_messages) as scorer:
        hung = _warm_up(scorer, case)
        if hung and hung != case.full(case.answer):
            why = f"It takes more than {_PATIENCE:g} s for a text of {len(hung)} characters."
            return CostFound("explosive_formulas", hung, why)
        if hung or _least(scorer, case.place, case.full(case.answer), 3) > _SLOW:
            return CostFound(skipped=("an honest answer is slow already",))
        return _short(scorer, case) or _long(scorer, case)


def _warm_up(scorer: Scorer, case: Case) -> str:
    """Score what is harmless, so that imports and processes that start are no text's fault.

    Gives the first text on which the reward does not finish; "" where it finishes on all.
    """
    for answer in (case.answer, "\\sqrt{x^2 + 7x + 3}", case.wrong):
        text = case.full(answer)
        if isinstance(scorer.timed((case.place, text), _PATIENCE), Hung):
            return text
    return ""


def _short(scorer: Scorer, case: Case) -> CostFound | None:
    texts = [
        (hostile.__name__, text)
        for hostile in HOSTILE
        for size in _SHORT_SIZES
        for _, text in hostile(case, size)
        if len(text) < SHORT
    ]
    for start in range(0, len(texts), 64):
        some = texts[start : start + 64]
        outcome = scorer.batch_timed([(case.place, text) for _, text in some], 4 * SHORT_SECONDS)
        if isinstance(outcome, Paid) and outcome.seconds <= SHORT_SECONDS:
            continue
        _warm_up(scorer, case)
        for name, text in some:
            alone = scorer.timed((case.place, text), 4 * SHORT_SECONDS)
            if isinstance(alone, Raised):
                return CostFound(name, text, f"It raised {alone.message}", RAISES)
            if alone.seconds > SHORT_SECONDS and _slow_again(scorer, case, text):
                size = len(text)
                why = f"It takes more than {SHORT_SECONDS:g} s for a text of {size} characters."
                return CostFound(name, text, why)
    return None


def _slow_again(scorer: Scorer, case: Case, text: str) -> bool:
    """Whether a short text takes too long a second time, too, with more time to show it."""
    _warm_up(scorer, case)
    again = scorer.timed((case.place, text), 8 * SHORT_SECONDS)
    return not isinstance(again, Raised) and again.seconds > SHORT_SECONDS


def _long(scorer: Scorer, case: Case) -> CostFound:
    skipped: dict[str, None] = {}
    for hostile in HOSTILE:
        sized = [dict(hostile(case, size)) for size in (SMALL, _MIDDLE, LARGE)]
        for variant in sized[1]:
            found = _grown(scorer, case.place, *(texts[variant] for texts in sized))
            if found and found[0].startswith(_TOO_DEEP):
                skipped[f"{_TOO_DEEP} on a text of {_MIDDLE:,} characters"] = None
            elif found:
                return CostFound(hostile.__name__, sized[1][variant], *found)
    return CostFound(skipped=tuple(skipped))


def _grown(
    scorer: Scorer, place: int, small: str, middle: str, large: str
) -> tuple[str, str] | None:
    """Why a text takes too much time, and the class of the finding; None where it does not."""
    first = scorer.timed((place, middle), 4 * LONG_SECONDS)
    if isinstance(first, Raised):
        return f"It raised {first.message}", RAISES
    if isinstance(first, Hung) or first.seconds > LONG_SECONDS:
        # The text is shorter than the one that the limit is for, and takes more time than that.
        return f"It takes more than {LONG_SECONDS:g} s for {LONG:,} characters.", "cost"
    if first.seconds < _WORTH:
        return None
    at_small = _least(scorer, place, small, 3)
    exponent = math.log(_least(scorer, place, middle, 2) / at_small, len(middle) / len(small))
    if exponent > 1.3 and exponent < _SURE:
        exponent = math.log(_least(scorer, place, large, 2) / at_small, len(large) / len(small))
    if exponent <= EXPONENT:
        return None
    return (
        f"Its time grows faster than the text, with an exponent above {EXPONENT} between "
        f"{SMALL:,} and {LARGE:,} characters.",
        "cost",
    )


def _least(scorer: Scorer, place: int, text: str, times: int) -> float:
    """The shortest of some measurements; a space more each time, for those who remember texts."""
    taken = []
    for n in range(times):
        outcome = scorer.timed((place, text + " " * (n + 1)), 8 * LONG_SECONDS)
        taken.append(outcome.seconds if isinstance(outcome, Paid) else 8 * LONG_SECONDS)
    return max(min(taken), 1e-6)
