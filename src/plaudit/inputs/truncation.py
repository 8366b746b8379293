"""Which completions were cut off at the trainer's maximum, by whatever the trainer says of it.

truncated = [False, True]                     # or is_truncated: ms-swift, verifiers, verl
finish_reason = ["stop", "length"]            # or stop_reason: servers of models
completion_ids, and a trainer that knows its maximum and the tokens that end a text: TRL
"""

from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.inputs.columns import rows_of

TRUNCATION = ("truncated", "is_truncated", "finish_reason", "stop_reason")
CUT_OFF = ("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window")


def truncated_rows(columns: Mapping[str, Any], count: int) -> list[int]:
    """Return the indices of the completions that were cut off.

    columns: those of a batch, and what a trainer passes besides
    count: how many completions there are
    """
    for name in TRUNCATION:
        rows = _listed(columns.get(name), count)
        if any(_is_said(entry) for entry in rows):
            return [row for row, entry in enumerate(rows) if entry is True or entry in CUT_OFF]
    trainer = getattr(columns.get("log_metric"), "__self__", None)
    most = getattr(trainer, "max_completion_length", None)
    ids = _listed(columns.get("completion_ids"), count)
    if not isinstance(most, int) or not ids:
        return []
    ends = _ends(trainer)
    return [row for row, one in enumerate(ids) if len(one) >= most and int(one[-1]) not in ends]


def _listed(column: Any, count: int) -> Sequence[Any]:
    try:
        rows = rows_of(column, "a column")
    except TypeError:
        return ()
    return rows if len(rows) == count else ()


def _is_said(entry: object) -> bool:
    """Return whether an entry says anything; a column may have a name of these by chance."""
    return isinstance(entry, bool) or entry in (*CUT_OFF, "stop", "eos", "end_turn", "tool_calls")


def _ends(trainer: Any) -> set[int]:
    """Return the tokens that end a text: a completion of just the maximum may end with one."""
    tokenizer = getattr(trainer, "_tokenizer", None) or getattr(trainer, "processing_class", None)
    known = getattr(trainer, "eos_token_ids", None) or [getattr(tokenizer, "eos_token_id", None)]
    ends = [*known, getattr(tokenizer, "pad_token_id", None)]
    return {end for end in ends if isinstance(end, int)}
