"""Completions of rows in, and what each got out: batches that fail are taken apart.

A completion on which a reward raises or hangs gets that as its result; the others get their pay.
"""

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.auditing._process import DEADLINE, Hung, Outcome, Paid, Pay, Raised, RewardProcess
from plaudit.recipes import Recipe

Item = tuple[int, str]
Result = Pay | Raised | Hung

_MOST, _MOST_CHARACTERS = 256, 1_000_000
_ALONE = 3.0  # seconds for one completion, after a batch was not done in time
_MOST_HANGS = 3  # after which batches that hang are not taken apart any more
UNTRIED = Hung(-1.0)  # what was not scored any more, after too many hangs


class Scorer:
    """Scores completions with the columns of their rows.

    rows: the columns of each row, without the completions
    as_messages: whether completions are handed over as lists of messages
    """

    def __init__(
        self, recipe: Recipe, rows: Sequence[Mapping[str, Any]], as_messages: bool
    ) -> None:
        self.as_messages = as_messages
        self.hangs = 0
        self.seconds_each = 0.0  # a completion's, as far as was seen
        self._recipe, self._rows = recipe, rows
        self._names = list(dict.fromkeys(name for row in rows for name in row))
        self._wants_ids = any(one.takes("completion_ids") for one in recipe.components) and (
            "completion_ids" in recipe.needs() or "completion_ids" in self._names
        )
        said = "It is so."
        self._harmless = [_message(said) if as_messages else said], self._columns([(0, said)])
        self._process = RewardProcess(recipe, self._harmless)
        self._elsewhere: RewardProcess | None = None

    def __enter__(self) -> "Scorer":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close()
        if self._elsewhere is not None:
            self._elsewhere.close()

    def __call__(
        self,
        items: Sequence[Item],
        *,
        in_thread: bool = False,
        elsewhere: bool = False,
        other_form: bool = False,
        alone: bool = False,
    ) -> list[Result]:
        """What each completion got, one result an item."""
        way = {"in_thread": in_thread, "elsewhere": elsewhere, "other_form": other_form}
        found: list[Result] = []
        for batch in self._batches(items, 1 if alone else self._batch_size()):
            found += self._results(batch, way)
        return found

    def with_columns_of(
        self, items: Sequence[Item], others: Mapping[int, int], columns: Sequence[str]
    ) -> list[Result]:
        """The same, but with some columns of other rows: `others` says of which."""
        swapped = {
            place: {**row, **{n: self._rows[others[place]].get(n) for n in columns if n in row}}
            for place, row in ((place, self._rows[place]) for place in others)
        }
        kept = self._rows
        self._rows = [swapped.get(place, row) for place, row in enumerate(kept)]
        try:
            return self(items)
        finally:
            self._rows = kept

    def timed(self, item: Item, deadline: float) -> Outcome:
        """One completion alone, with a deadline of its own."""
        return self._scored([item], {}, deadline)

    def batch_timed(self, items: Sequence[Item], deadline: float) -> Outcome:
        """Some completions at once, with a deadline for all of them."""
        return self._scored(items, {}, deadline)

    def _batch_size(self) -> int:
        if not self.seconds_each:
            return 16
        return max(1, min(_MOST, int(DEADLINE / 4 / self.seconds_each)))

    def _batches(self, items: Sequence[Item], most: int) -> list[list[Item]]:
        batches: list[list[Item]] = []
        characters = 0
        for item in items:
            full = not batches or len(batches[-1]) == most
            if full or characters + len(item[1]) > _MOST_CHARACTERS:
                batches.append([])
                characters = 0
            batches[-1].append(item)
            characters += len(item[1])
        return batches

    def _results(self, items: list[Item], way: Mapping[str, bool]) -> list[Result]:
        outcome = self._scored(items, way)
        if isinstance(outcome, Paid):
            each = outcome.seconds / len(items)
            self.seconds_each = each if not self.seconds_each else min(self.seconds_each, each)
            return list(outcome.pays)
        if len(items) == 1:
            self.hangs += isinstance(outcome, Hung)
            return [outcome]
        if isinstance(outcome, Raised):
            half = len(items) // 2
            return [*self._results(items[:half], way), *self._results(items[half:], way)]
        return self._one_by_one(items, way)

    def _one_by_one(self, items: list[Item], way: Mapping[str, bool]) -> list[Result]:
        """Results up to the completion that hangs; the rest is tried again as a batch."""
        if self.hangs >= _MOST_HANGS:
            return [UNTRIED] * len(items)
        found: list[Result] = []
        for number, item in enumerate(items):
            outcome = self._scored([item], way, _ALONE + 4 * self.seconds_each)
            if isinstance(outcome, Hung) and outcome.seconds < _ALONE / 2 and not outcome.died:
                # The machine was busy with others: it gets more time.
                outcome = self._scored([item], way, 5 * _ALONE)
            found.append(outcome.pays[0] if isinstance(outcome, Paid) else outcome)
            if isinstance(outcome, Hung):
                self.hangs += 1
                rest = items[number + 1 :]
                return [*found, *(self._results(rest, way) if rest else [])]
        return found

    def _scored(
        self, items: Sequence[Item], way: Mapping[str, bool], deadline: float = 0.0
    ) -> Outcome:
        process = self._process
        if way.get("elsewhere"):
            if self._elsewhere is None:
                self._elsewhere = RewardProcess(self._recipe, self._harmless, hash_seed=1)
            process = self._elsewhere
        messages = self.as_messages != way.get("other_form", False)
        completions = [_message(text) if messages else text for _, text in items]
        return process.score(
            completions,
            self._columns(items),
            in_thread=way.get("in_thread", False),
            deadline=deadline or self._deadline(len(items)),
        )

    def _deadline(self, count: int) -> float:
        """Seconds for a batch: fewer once something hung, so that hangs do not add up."""
        usual = DEADLINE if not self.hangs else _ALONE
        return max(usual, 10 * self.seconds_each * count)

    def _columns(self, items: Sequence[Item]) -> dict[str, list[Any]]:
        columns = {name: [self._rows[p].get(name) for p, _ in items] for name in self._names}
        if self._wants_ids:
            columns[self._recipe.columns.get("completion_ids", "completion_ids")] = [
                token_ids(text) for _, text in items
            ]
        return columns


def token_ids(text: str) -> list[int]:
    """Ids for a text, since no model is at hand: one a word.

    >>> len(token_ids("four words of text")), token_ids("a a")[0] == token_ids("a")[0]
    (4, True)
    """
    return [zlib.crc32(word.encode("utf-8", "replace")) % 50_000 for word in text.split()]


def _message(text: str) -> list[dict[str, str]]:
    return [{"role": "assistant", "content": text}]
