"""What a trainer passes as its step in; a whole number out, or None where it passes none."""

from collections.abc import Mapping
from operator import index
from typing import Any


def trainer_step(columns: Mapping[str, Any]) -> int | None:
    """The step that the trainer itself has counted: `trainer_state.global_step`, as TRL has it.

    >>> trainer_step({"prompts": ["2 + 2?"]}) is None
    True
    """
    return whole_number(getattr(columns.get("trainer_state"), "global_step", None))


def whole_number(value: Any) -> int | None:
    """A step of 0 or more, also from a number of numpy or a tensor; None for anything else.

    >>> import numpy as np
    >>> whole_number(np.int64(7)), whole_number(7.0), whole_number(7.5), whole_number(True)
    (7, 7, None, None)
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return max(int(value), 0)
    try:
        return max(index(value), 0)
    except (TypeError, ValueError):  # a tensor of several numbers raises the latter
        return None
