"""Rows of a batch that belong together: those of a group, or those that a reward applies to."""

from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.inputs.column_names import GROUP, PROMPT
from plaudit.inputs.columns import rows_of

# What a trainer may pass besides the columns; never a column, whatever a reward declares.
HOOKS = ("log_extra", "log_metric", "trainer_state")


def groups_of(columns: Mapping[str, Any], count: int) -> list[list[int]]:
    """Return the indices of the rows of each group: completions of the same prompt.

    A group is what the trainer drew together (TRL's `num_generations`), else rows with the same id
    or prompt. Without any of these, the batch is one group.
    """
    trainer = getattr(columns.get("log_metric"), "__self__", None)
    training = getattr(getattr(trainer, "model", None), "training", True)
    size = getattr(trainer, "num_generations" if training else "num_generations_eval", None)
    if isinstance(size, int) and size > 0 and count % size == 0:
        return [list(range(start, start + size)) for start in range(0, count, size)]
    for name in (*GROUP, *PROMPT):
        try:
            rows = rows_of(columns.get(name), name)
        except TypeError:
            continue
        if len(rows) == count:
            groups: dict[str, list[int]] = {}
            for row, entry in enumerate(rows):
                groups.setdefault(repr(entry), []).append(row)
            return list(groups.values())
    return [list(range(count))]


def rows_at(columns: Mapping[str, Any], indices: Sequence[int], count: int) -> dict[str, Any]:
    """Return the columns of some rows; what has no entry per row stays as it is.

    A trainer's `log_extra` gets an empty text for each of the other rows.
    """
    taken: dict[str, Any] = {}
    for name, column in columns.items():
        try:
            rows = None if name in HOOKS else rows_of(column, name)
        except TypeError:
            rows = None
        has_rows = rows is not None and len(rows) == count
        taken[name] = [rows[index] for index in indices] if rows and has_rows else column
    if callable(log := columns.get("log_extra")):
        taken["log_extra"] = lambda name, values: log(
            name, [dict(zip(indices, values, strict=True)).get(row, "") for row in range(count)]
        )
    return taken
