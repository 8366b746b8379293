"""`unstable`: the same completions scored again, in another way; their values must not change.

Each check returns what the completions got twice.
"""

from collections.abc import Callable, Sequence

from plaudit.reports.audit._reward_process import Result, RowScorer, RowText

Texts = Sequence[RowText]
Twice = tuple[Sequence[Result], Sequence[Result]]


def a_second_time(score: RowScorer, texts: Texts) -> Twice:
    """The same call once more."""
    # MMLU-Pro issue 7: where no option is found in a reply, `random.randint` draws one.
    return score(texts), score(texts)


def in_another_order(score: RowScorer, texts: Texts) -> Twice:
    """The same rows, the last one first."""
    # verl issue 2185: rewards went to other rows when the batch was reordered.
    return score(texts), score(texts[::-1])[::-1]


def alone(score: RowScorer, texts: Texts) -> Twice:
    """Each row in a batch of its own."""
    # open-r1, `len_reward`: a batch of one always gets 0.
    return score(texts), score(texts, alone=True)


def among_short_ones(score: RowScorer, texts: Texts) -> Twice:
    """Each row among replies of one letter."""
    # open-r1, `len_reward`: each length is compared with the shortest and the longest of the batch.
    return score(texts), _among(score, texts, "x")


def among_long_ones(score: RowScorer, texts: Texts) -> Twice:
    """Each row among very long replies."""
    # open-r1, `len_reward`: the same, the other way round.
    return score(texts), _among(score, texts, "and so on, " * 200)


def _among(score: RowScorer, texts: Texts, filler: str) -> list[Result]:
    return [
        score([(row, filler)] * 3 + [(row, text)] + [(row, filler)] * 4)[3] for row, text in texts
    ]


def among_copies(score: RowScorer, texts: Texts) -> Twice:
    """Each row together with copies of it."""
    # Common knowledge: rewards for variety pay less for what a batch has twice, or pay it once.
    batches = [score([text] * 4) for text in texts]
    return [batch[0] for batch in batches], [batch[-1] for batch in batches]


def from_a_thread(score: RowScorer, texts: Texts) -> Twice:
    """The same call from a thread."""
    # Math-Verify issues 50 and 55, TRL pull request 5281: time limits by signals raise off the main
    # thread.
    return score(texts), score(texts, in_thread=True)


def in_another_process(score: RowScorer, texts: Texts) -> Twice:
    """The same call in another process, with another seed of hashes."""
    # ai-engineering-from-scratch pull request 355: a verdict seeded with `hash(text)` was another
    # in each run.
    # In another order, too: what a reward keeps from one row to the next is not the same there.
    there = score(texts[::-1], in_other_process=True)
    return score(texts), there[::-1]


def as_messages_or_text(score: RowScorer, texts: Texts) -> Twice:
    """The completion as a list of messages instead of a text, or the other way round."""
    # unsloth issue 2907: `completion[0]["content"]` raises where completions are texts.
    return score(texts), score(texts, in_other_form=True)


CHECKS: tuple[Callable[[RowScorer, Texts], Twice], ...] = (
    *(a_second_time, in_another_order, alone, among_short_ones, among_long_ones, among_copies),
    *(from_a_thread, in_another_process, as_messages_or_text),
)
