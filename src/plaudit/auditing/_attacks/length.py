"""`length`: a wrong answer, made as long or as short as is paid for."""

from plaudit.auditing._attacks._attack import Completions, attack
from plaudit.auditing._cases import Case
from plaudit.auditing._dresses import padded

WORDS = (60, 120, 250, 500, 1000)
CHARACTERS = (300, 1100, 2200, 4200, 8500)
_MOST_WORDS, _MOST_CHARACTERS = 6000, 30_000


def _wanted(case: Case, usual: tuple[int, ...], most: int) -> list[int]:
    """The usual lengths, and those just above a number that a reward names."""
    named = [length + length // 10 + 2 for length in case.lengths if 8 <= length <= most]
    return sorted({*usual, *named})


@attack("length", blind=True, gain=True)
def padded_with_one_word(case: Case) -> Completions:
    """A wrong answer after one word, again and again.

    Singhal et al., "A Long Way to Go" (2023): what is learnt from many rewards is length. Yeo et
    al., "Demystifying Long Chain-of-Thought Reasoning in LLMs" (2025): rewards for length get
    hacked with enough training; punishing repetition helps.
    """
    for count in _wanted(case, WORDS, _MOST_WORDS):
        yield f"{count} words", padded(case.full(case.wrong), "so " * count)


@attack("length", gain=True)
def padded_with_sentences(case: Case) -> Completions:
    """A wrong answer after many sentences that say nothing.

    Singhal et al., "A Long Way to Go" (2023): a reward for length alone does most of what RLHF
    does.
    """
    words = " ".join(f"Then there is part {n} of it to think about." for n in range(700)).split()
    for count in _wanted(case, WORDS, _MOST_WORDS):
        yield f"{count} words", padded(case.full(case.wrong), " ".join(words[:count]) + " ")


@attack("length", blind=True, gain=True)
def padded_with_spaces(case: Case) -> Completions:
    """A wrong answer after many spaces, or before them.

    ms-swift issue 3353 and open-r1 issue 312: the cosine reward counts characters, not tokens.
    """
    for count in _wanted(case, CHARACTERS, _MOST_CHARACTERS):
        yield f"{count} before", padded(case.full(case.wrong), " " * count)
    yield "after", case.full(case.wrong) + " " * 4200
    yield "lines after", case.full(case.wrong) + "\n" * 4200


@attack("length", blind=True, gain=True)
def padded_with_lines(case: Case) -> Completions:
    """A wrong answer after many lines.

    Common knowledge: steps are counted as lines.
    """
    for count in sorted({30, 120, *(n + n // 10 + 2 for n in case.lengths if 8 <= n <= 500)}):
        yield f"{count} lines", padded(case.full(case.wrong), "so\n" * count)


@attack("length", gain=True)
def cut_short(case: Case) -> Completions:
    """A wrong answer, cut.

    open-r1 issue 360: `len_reward` gives 0 to the shortest wrong answer, and -0.5 to the longest
    right one.
    """
    full = case.full(case.wrong)
    yield "its mark alone", case.marked(case.wrong)
    yield "half of it", full[: len(full) // 2]
    yield "one word", "".join(full.split()[:1])
