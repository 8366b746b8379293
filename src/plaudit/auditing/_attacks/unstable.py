"""`unstable`: the same row again, in another way; its value must not change.

Each function scores the same completions twice, in two ways, and gives the results of both.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from plaudit.auditing._process import Hung, Pay, Raised

Item = tuple[int, str]
Result = Pay | Raised | Hung
Values = Sequence[Result]


class Scores(Protocol):
    """Scores completions, each of a row, in some way."""

    def __call__(
        self,
        items: Sequence[Item],
        *,
        in_thread: bool = False,
        elsewhere: bool = False,
        other_form: bool = False,
        alone: bool = False,
    ) -> Values: ...


Check = Callable[[Scores, Sequence[Item]], tuple[Values, Values]]


def a_second_time(scores: Scores, items: Sequence[Item]) -> tuple[Values, Values]:
    """The same call once more.

    MMLU-Pro issue 7: where no option is found in a reply, `random.randint` draws one.
    """
    return scores(items), scores(items)


def in_another_order(scores: Scores, items: Sequence[Item]) -> tuple[Values, Values]:
    """The same rows, the last one first.

    verl issue 2185: rewards went to other rows when the batch was reordered.
    """
    return scores(items), list(reversed(scores(list(reversed(items)))))


def alone(scores: Scores, items: Sequence[Item]) -> tuple[Values, Values]:
    """Each row in a batch of its own.

    open-r1, `len_reward`: a batch of one always gets 0.
    """
    return scores(items), scores(items, alone=True)


def among_short_ones(scores: Scores, items: Sequence[Item]) -> tuple[Values, Values]:
    """Each row among replies of one letter.

    open-r1, `len_reward`: each length is compared with the shortest and the longest of the batch.
    """
    return scores(items), _among(scores, items, "x")


def among_long_ones(scores: Scores, items: Sequence[Item]) -> tuple[Values, Values]:
    """Each row among very long replies.

    open-r1, `len_reward`: the same, the other way round.
    """
    return scores(items), _among(scores, items, "and so on, " * 200)


def _among(scores: Scores, items: Sequence[Item], filler: str) -> Values:
    found: list[Result] = []
    for place, text in items:
        batch = [(place, filler)] * 3 + [(place, text)] + [(place, filler)] * 4
        found.append(scores(batch)[3])
    return found


def among_copies(scores: Scores, items: Sequence[Item]) -> tuple[Values, Values]:
    """Each row together with copies of it.

    Common knowledge: rewards for variety pay less for what a batch has twice, or pay it once.
    """
    batches = [scores([item] * 4) for item in items]
    return [batch[0] for batch in batches], [batch[-1] for batch in batches]


def from_a_thread(scores: Scores, items: Sequence[Item]) -> tuple[Values, Values]:
    """The same call from a thread.

    Math-Verify issues 50 and 55, TRL pull request 5281: time limits by signals raise off the main
    thread.
    """
    return scores(items), scores(items, in_thread=True)


def in_another_process(scores: Scores, items: Sequence[Item]) -> tuple[Values, Values]:
    """The same call in another process, with another seed of hashes.

    ai-engineering-from-scratch pull request 355: a verdict seeded with `hash(text)` was another in
    each run.
    """
    # In another order, too: what a reward keeps from one row to the next is not the same there.
    there = scores(list(reversed(items)), elsewhere=True)
    return scores(items), list(reversed(there))


def as_messages_or_text(scores: Scores, items: Sequence[Item]) -> tuple[Values, Values]:
    """The completion as a list of messages instead of a text, or the other way round.

    unsloth issue 2907: `completion[0]["content"]` raises where completions are texts.
    """
    return scores(items), scores(items, other_form=True)


CHECKS: tuple[Check, ...] = (
    a_second_time,
    in_another_order,
    alone,
    among_short_ones,
    among_long_ones,
    among_copies,
    from_a_thread,
    in_another_process,
    as_messages_or_text,
)
