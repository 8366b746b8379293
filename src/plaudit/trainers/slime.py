r"""slime: a custom reward, and what goes over the wire to a remote one.

    --custom-rm-path plaudit.trainers.slime.custom_rm
    --rm-type remote_rm --rm-url http://host:port/slime       # or a server

The remote protocol is one request a sample; what comes back is the reward:

    {"prompt": "What is 2 + 2?", "response": "\\boxed{4}<|im_end|>", "label": "4"}
    1.0
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.inputs.golds import gold_of
from plaudit.recipes import RowScore
from plaudit.trainers._rows import (
    Batch,
    chosen,
    columns_of,
    entry_in,
    metrics_of,
    responses_of,
    text_in,
    total_of,
    warm_up_if_chosen,
)


class TotalWithDetails(float):
    """The total as a number that can also be indexed by the name of a component.

    With `--eval-reward-key` and no `--reward-key`, slime uses the reward of a sample as a number in
    training and as a dict in evaluation, and does not tell the reward which of the two it is.
    """

    def __new__(cls, details: Mapping[str, float]) -> "TotalWithDetails":
        """A number that is what `details` has as `score`."""
        made = super().__new__(cls, details["score"])
        made.details = dict(details)
        return made

    details: dict[str, float]

    def __getitem__(self, name: str) -> float:
        """A component's value, or that of `score`."""
        return self.details[name]

    def __reduce__(self) -> Any:
        """What pickle needs to send it from one process of slime to another."""
        return TotalWithDetails, (self.details,)


async def custom_rm(
    args: Any, sample: Any, **kwargs: Any
) -> float | dict[str, float] | list[float | dict[str, float]]:
    r"""The reward of a sample, or of each in a list, by the recipe that PLAUDIT_RECIPE names.

    With `--reward-key score` it is a dict: the total as `score`, and each component by its name.
    With `--eval-reward-key score` alone, it is a number that has these as items.

    args: slime's arguments, of which `reward_key` and `eval_reward_key` are read
    sample: a Sample of slime's, or a list of them: its `response`, `label`, `prompt` and `metadata`
    """
    samples = sample if isinstance(sample, list) else [sample]
    rows = await _batch([vars(one) for one in samples]).scores_async(chosen())
    for one, row in zip(samples, rows, strict=True):
        if row.total is None and hasattr(one, "remove_sample"):
            one.remove_sample = True  # slime then trains on none of its tokens
    rewards = [_reward(row, args) for row in rows]
    return rewards if isinstance(sample, list) else rewards[0]


def batch_of(body: Mapping[str, Any]) -> Batch:
    r"""Return the batch of one row that a request to a remote reward holds.

    An object `metadata` is taken as well: its entries are columns.
    """
    text_in(body, "response")
    entry_in(body, "label")
    return _batch([body])


def reply_of(scores: Sequence[RowScore], body: Mapping[str, Any]) -> float:
    """Return what a remote reward answers: the total."""
    return total_of(scores[0])


def detailed_reply_of(scores: Sequence[RowScore], body: Mapping[str, Any]) -> dict[str, float]:
    """What it answers if slime has `--reward-key score`: the total, and each component."""
    return _details(scores[0])


def _reward(row: RowScore, args: Any) -> float | dict[str, float]:
    if getattr(args, "reward_key", None):
        return _details(row)
    if getattr(args, "eval_reward_key", None):
        return TotalWithDetails(_details(row))
    return total_of(row)


def _details(row: RowScore) -> dict[str, float]:
    return {"score": total_of(row)} | metrics_of(row, taken=("score",))


def _batch(samples: Sequence[Mapping[str, Any]]) -> Batch:
    columns = columns_of(sample.get("metadata") for sample in samples)
    columns["prompts"] = [sample.get("prompt") for sample in samples]
    if any(sample.get("group_index") is not None for sample in samples):
        columns["group_index"] = [sample.get("group_index") for sample in samples]
    columns["solution"] = [gold_of(s.get("label"), row) for row, s in enumerate(samples)]
    statuses = [getattr(status := s.get("status"), "value", status) for s in samples]
    if any(status is not None for status in statuses):
        columns["truncated"] = [status == "truncated" for status in statuses]
    return Batch(responses_of([sample["response"] for sample in samples]), columns)


warm_up_if_chosen()
