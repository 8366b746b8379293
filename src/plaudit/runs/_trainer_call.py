"""The step and the groups of a batch, as the trainer that scores it counts them."""

from collections.abc import Mapping
from dataclasses import dataclass
from operator import index
from typing import Any


@dataclass(frozen=True, slots=True)
class TrainerCall:
    """What a trainer says of the batch that it has scored.

    step: the step as the trainer itself logs it; None if it passes none
    is_evaluation: whether the batch is one of an evaluation
    group_size: how many rows that follow one another are a group; 0 if that is not known
    process, processes: the rank, and how many ranks score the batches of a step
    """

    step: int | None = None
    is_evaluation: bool = False
    group_size: int = 0
    process: int = 0
    processes: int = 1

    def group(self, row: int, rows: int, first: int) -> int:
        """Return the number of a row's group in its step.

        A group may be spread over processes, each of which has a part of the step's rows.

        rows: how many rows the batch has
        first: how many rows of the step the process has had before
        """
        return (first * self.processes + self.process * rows + row) // self.group_size


def trainer_call(columns: Mapping[str, Any]) -> TrainerCall:
    """Return what the trainer says of a batch, by `trainer_state` and the owner of `log_metric`.

    TRL scores a batch when `global_step` steps are done, and logs it with the step after them. The
    metrics of an evaluation are logged with the steps that are done.
    """
    state = columns.get("trainer_state")
    if isinstance(state, TrainerCall):
        return state
    trainer = getattr(columns.get("log_metric"), "__self__", None)
    is_evaluation = getattr(getattr(trainer, "model", None), "training", True) is False
    done = whole_number(getattr(state, "global_step", None))
    size = getattr(trainer, "num_generations_eval" if is_evaluation else "num_generations", None)
    ranks = getattr(trainer, "accelerator", None)
    return TrainerCall(
        step=None if done is None else done + (not is_evaluation),
        is_evaluation=is_evaluation,
        group_size=whole_number(size) or 0,
        process=whole_number(getattr(ranks, "process_index", 0)) or 0,
        processes=whole_number(getattr(ranks, "num_processes", 1)) or 1,
    )


def whole_number(value: Any) -> int | None:
    """Return a step of 0 or more, also of numpy or a tensor; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return max(int(value), 0)
    try:
        return max(index(value), 0)
    except (TypeError, ValueError):  # a tensor of several numbers raises the latter
        return None
