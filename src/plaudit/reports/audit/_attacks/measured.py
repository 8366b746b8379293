"""The classes that are measured: `cost`, how long a reward takes, and `unstable`.

`cost`: a short text, below 1,000 characters, must take less than 2 s; a long one less than 5 s for
100,000 characters, with a time that grows about as the text does.

`unstable`: the same completions are scored again in another way, and their values must not change.
"""

import math
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from plaudit.reports.audit._attack import RAISES, Case, Completions
from plaudit.reports.audit._reward_process import (
    Hung,
    PaidBatch,
    Raised,
    Result,
    RowScorer,
    RowText,
)
from plaudit.reports.honest_answers import GoldKind

# --- texts ----------------------------------------------------------------------------------------


_RUNS = ("1", "a", "1,", "a ", "1 ", " ", "-", "a,", "ab", "aA", "1.", "(", "{", "\\", "<", "x^")


def _fill(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def _variants(case: Case, name: str, text: str) -> Completions:
    yield name, text
    yield f"{name} as the answer", case.marked(text)
    yield f"{name} in the form", case.format.write(text, "So it is")


def runs_with_another_end(case: Case, size: int) -> Completions:
    """One thing again and again, and then something else."""
    # OWASP, "Regular expression Denial of Service": nested quantifiers try every way to split it.
    for unit in _RUNS:
        yield from _variants(case, f"{unit!r} again and again", _fill(unit, size - 1) + "!")
    for unit in (" ", "\n", "1", "0"):
        run = _fill(unit, size - 1)
        yield f"{unit!r} after the right answer", case.full(f"{case.answer}{run}!")
        yield f"{unit!r} after the right reply", f"{case.full(case.answer)}{run}!"


def marks_again_and_again(case: Case, size: int) -> Completions:
    """The marks of the form, opened and never closed."""
    # odysseus issue 4703: 60 KB of `<thought ` that never closes take 25 s, since a lazy pattern
    # looks to the end of the text from each opening. llama_index issue 22334 is another.
    before, after = case.format.mark
    named = [f"<{tag}>" for tag in case.tags] + [f"</{tag}>" for tag in case.tags]
    usual = ["<think>", "<answer>", "</think>", "\\boxed{", "####", "Answer:", "```json", "$", "["]
    for mark in dict.fromkeys([*filter(None, (before, after)), *named, *usual]):
        yield f"{mark!r} again and again", _fill(mark, size)
        yield f"{mark!r} on lines", _fill(f"{mark}\n", size)
    yield "an opened thought", "<think>" + _fill("a ", size)
    yield "an opened answer", before + _fill("1 ", size)


def many_words(case: Case, size: int) -> Completions:
    """Many words: all different, all the same, or a few in turn."""
    # cpython issue 107578: `difflib` is slow on texts of 100,000 characters, as is all that looks
    # at every word for each word.
    different = " ".join(f"w{number}" for number in range(size // 6 + 2))[:size]
    yield from _variants(case, "different words", different)
    yield from _variants(case, "the same word", _fill("again ", size))
    yield "sentences", _fill("It is so, and it is not so. ", size)
    yield "inside thinking", f"<think>{different}</think>\n{case.marked(case.answer)}"
    yield "before the right answer", f"{different}\n{case.marked(case.answer)}"
    yield "after the right answer", f"{case.marked(case.answer)}\n{different}"


def many_entries(case: Case, size: int) -> Completions:
    """Many numbers, items or boxes where one answer goes."""
    # nubank/matcher-combinators issue 106: sets that are matched in every order take 17 minutes for
    # ten items.
    numbers = ", ".join(str(number) for number in range(size // 6 + 2))[:size]
    yield from _variants(case, "numbers", numbers.rstrip(", "))
    yield "items on lines", case.marked("\n".join(f"i{n}" for n in range(size // 6 + 2)))
    yield "numbers on lines", case.marked("\n".join(str(n) for n in range(size // 6 + 2)))
    if case.kind in (GoldKind.BOX, GoldKind.BOXES):
        boxes = [(n % 97, n % 89, n % 97 + 9, n % 89 + 9) for n in range(size // 18 + 1)]
        yield "boxes", case.marked(case.boxed(boxes))
        again = [case.boxes[0]] * (size // 22 + 1)
        yield "the right box", case.marked(case.boxed(again))


def deep_nesting(case: Case, size: int) -> Completions:
    """Brackets within brackets."""
    # sympy issue 30000: nested parentheses exceed the recursion limit in its LaTeX parser.
    half = size // 2
    for opening, closing in ("()", "[]", "{}"):
        yield from _variants(case, f"{opening}…{closing}", opening * half + closing * half)
    yield from _variants(case, "fractions", _fill("\\frac{1}{1+", size))


def long_numbers(case: Case, size: int) -> Completions:
    """A number of very many digits."""
    # CVE-2020-10735: Python's int took quadratic time for them, and now refuses them.
    yield from _variants(case, "digits", _fill(string.digits[1:], size))
    yield from _variants(case, "decimals", "0." + _fill("142857", size))
    yield from _variants(
        case, "a fraction", f"\\frac{{{'7' * (size // 2)}}}{{{'3' * (size // 2)}}}"
    )


def explosive_formulas(case: Case, size: int) -> Completions:
    """Short formulas whose value has more digits than there is memory."""
    # sympy issue 21579: `10.0**10.0**10.0` hangs. Math-Verify issue 63: nested logarithms escape
    # the time limit and take all memory.
    if size >= 1000:
        return
    for formula in (
        *("9^{9^{9^9}}", "9**9**9**9", "10**10**10", "2^2^2^2^2^2^2", "(10^9)!", "99999999!"),
        *("\\binom{10^{12}}{10^{9}}", "1e99999999", "1/(10^{-10^{9}})", "\\sqrt[3]{9^{9^9}}"),
        *("\\sum_{k=1}^{10^{12}} k^{-k}", "\\int_0^1 x^{x^x} dx", "(x+1)^{5000}", "7^{7^{7^7}} km"),
        *("\\frac{9^{9^9}}{9^{9^9}}", "sin(" * 40 + "x" + ")" * 40),
    ):
        yield from _variants(case, formula[:30], formula)


HOSTILE: tuple[Callable[[Case, int], Completions], ...] = (
    runs_with_another_end,
    explosive_formulas,
    marks_again_and_again,
    many_words,
    many_entries,
    deep_nesting,
    long_numbers,
)


# --- time -----------------------------------------------------------------------------------------

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
    """What was measured."""

    attack: str = ""  # the kind of text on which a limit was passed; "" if none was
    text: str = ""
    why: str = ""
    kind: str = "cost"
    skipped: tuple[str, ...] = ()


def cost_of(scorer: RowScorer, case: Case) -> CostFound:
    """Return the first text on which a recipe takes too long."""
    hung = _warm_up(scorer, case)
    if hung and hung != case.full(case.answer):
        why = f"It takes more than {_PATIENCE:g} s for a text of {len(hung)} characters."
        return CostFound("explosive_formulas", hung, why)
    if hung or _least(scorer, case.index, case.full(case.answer), 3) > _SLOW:
        return CostFound(skipped=("an honest answer is slow already",))
    return _short(scorer, case) or _long(scorer, case)


def _warm_up(scorer: RowScorer, case: Case) -> str:
    """Score what is harmless, so that imports and processes that start are no text's fault.

    Return the first text on which the reward does not finish; "" if it finishes on all.
    """
    for answer in (case.answer, "\\sqrt{x^2 + 7x + 3}", case.wrong):
        text = case.full(answer)
        if isinstance(scorer.score_batch([(case.index, text)], _PATIENCE), Hung):
            return text
    return ""


def _short(scorer: RowScorer, case: Case) -> CostFound | None:
    texts = [
        (hostile.__name__, text)
        for hostile in HOSTILE
        for size in _SHORT_SIZES
        for _, text in hostile(case, size)
        if len(text) < SHORT
    ]
    for start in range(0, len(texts), 64):
        some = texts[start : start + 64]
        result = scorer.score_batch([(case.index, text) for _, text in some], 4 * SHORT_SECONDS)
        if isinstance(result, PaidBatch) and result.seconds <= SHORT_SECONDS:
            continue
        _warm_up(scorer, case)
        for name, text in some:
            alone = scorer.score_batch([(case.index, text)], 4 * SHORT_SECONDS)
            if isinstance(alone, Raised):
                return CostFound(name, text, f"It raised {alone.message}", RAISES)
            if alone.seconds > SHORT_SECONDS and _slow_again(scorer, case, text):
                size = len(text)
                why = f"It takes more than {SHORT_SECONDS:g} s for a text of {size} characters."
                return CostFound(name, text, why)
    return None


def _slow_again(scorer: RowScorer, case: Case, text: str) -> bool:
    """Return whether a short text takes too long again, with more time to show it."""
    _warm_up(scorer, case)
    again = scorer.score_batch([(case.index, text)], 8 * SHORT_SECONDS)
    return not isinstance(again, Raised) and again.seconds > SHORT_SECONDS


def _long(scorer: RowScorer, case: Case) -> CostFound:
    skipped: dict[str, None] = {}
    for hostile in HOSTILE:
        sized = [dict(hostile(case, size)) for size in (SMALL, _MIDDLE, LARGE)]
        for variant in sized[1]:
            found = _growth_problem(scorer, case.index, *(texts[variant] for texts in sized))
            if found and found[0].startswith(_TOO_DEEP):
                skipped[f"{_TOO_DEEP} on a text of {_MIDDLE:,} characters"] = None
            elif found:
                return CostFound(hostile.__name__, sized[1][variant], *found)
    return CostFound(skipped=tuple(skipped))


def _growth_problem(
    scorer: RowScorer, index: int, small: str, middle: str, large: str
) -> tuple[str, str] | None:
    """Return why a text takes too much time, and the class of the finding; None if it does not."""
    first = scorer.score_batch([(index, middle)], 4 * LONG_SECONDS)
    if isinstance(first, Raised):
        return f"It raised {first.message}", RAISES
    if isinstance(first, Hung) or first.seconds > LONG_SECONDS:
        # The text is shorter than the one that the limit is for, and takes more time than that.
        return f"It takes more than {LONG_SECONDS:g} s for {LONG:,} characters.", "cost"
    if first.seconds < _WORTH:
        return None
    at_small = _least(scorer, index, small, 3)
    exponent = math.log(_least(scorer, index, middle, 2) / at_small, len(middle) / len(small))
    if exponent > 1.3 and exponent < _SURE:
        exponent = math.log(_least(scorer, index, large, 2) / at_small, len(large) / len(small))
    if exponent <= EXPONENT:
        return None
    return (
        f"Its time grows faster than the text, with an exponent above {EXPONENT} between "
        f"{SMALL:,} and {LARGE:,} characters.",
        "cost",
    )


def _least(scorer: RowScorer, index: int, text: str, times: int) -> float:
    """Return the shortest of some measurements; a space is added, for rewards with a cache."""
    taken = []
    for n in range(times):
        result = scorer.score_batch([(index, text + " " * (n + 1))], 8 * LONG_SECONDS)
        taken.append(result.seconds if isinstance(result, PaidBatch) else 8 * LONG_SECONDS)
    return max(min(taken), 1e-6)


# --- unstable -------------------------------------------------------------------------------------

Texts = Sequence[RowText]
Twice = tuple[Sequence[Result], Sequence[Result]]  # what the completions got in two ways


def _among(score: RowScorer, texts: Texts, filler: str) -> list[Result]:
    return [
        score([(row, filler)] * 3 + [(row, text)] + [(row, filler)] * 4)[3] for row, text in texts
    ]


def _among_copies(score: RowScorer, texts: Texts) -> Twice:
    batches = [score([text] * 4) for text in texts]
    return [batch[0] for batch in batches], [batch[-1] for batch in batches]


# The name of each check, what it does, and the function that does it.
CHECKS: dict[str, tuple[str, Callable[[RowScorer, Texts], Twice]]] = {
    # MMLU-Pro issue 7: where no option is found in a reply, `random.randint` draws one.
    "a_second_time": ("The same call once more.", lambda score, t: (score(t), score(t))),
    # verl issue 2185: rewards went to other rows when the batch was reordered.
    "in_another_order": (
        "The same rows, the last one first.",
        lambda score, t: (score(t), score(t[::-1])[::-1]),
    ),
    # open-r1, `len_reward`: a batch of one always gets 0.
    "alone": (
        "Each row in a batch of its own.",
        lambda score, t: (score(t), score(t, alone=True)),
    ),
    # open-r1, `len_reward`: each length is compared with the shortest and the longest of the batch.
    "among_short_ones": (
        "Each row among replies of one letter.",
        lambda score, t: (score(t), _among(score, t, "x")),
    ),
    "among_long_ones": (
        "Each row among very long replies.",
        lambda score, t: (score(t), _among(score, t, "and so on, " * 200)),
    ),
    # Common knowledge: rewards for variety pay less for what a batch has twice, or pay it once.
    "among_copies": ("Each row together with copies of it.", _among_copies),
    # Math-Verify issues 50 and 55, TRL pull request 5281: time limits by signals raise off the main
    # thread.
    "from_a_thread": (
        "The same call from a thread.",
        lambda score, t: (score(t), score(t, in_thread=True)),
    ),
    # ai-engineering-from-scratch pull request 355: a verdict seeded with `hash(text)` was another
    # in each run. In another order, too: what a reward keeps from row to row is not the same there.
    "in_another_process": (
        "The same call in another process, with another seed of hashes.",
        lambda score, t: (score(t), score(t[::-1], in_other_process=True)[::-1]),
    ),
    # unsloth issue 2907: `completion[0]["content"]` raises where completions are texts.
    "as_messages_or_text": (
        "The completion as a list of messages instead of a text, or the other way round.",
        lambda score, t: (score(t), score(t, in_other_form=True)),
    ),
}
