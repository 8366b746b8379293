"""A column of labels in; 1 where a person calls the row right, 0 where wrong, out.

Labels are true and false, numbers from 0 to 1 (right from 0.5 on), -1 for wrong, or words such as
"correct" and "wrong".
"""

from typing import Any

import numpy as np
import pyarrow as pa

from plaudit.report._folder import array_of
from plaudit.report._pass_at_k import Array
from plaudit.scoring import InputError

_RIGHT = frozenset("true t yes y right correct equal pass passed good positive".split())
_WRONG = frozenset("false f no n wrong incorrect different fail failed bad negative".split())
_EMPTY = frozenset(["", "none", "null", "nan", "n/a", "unknown", "?"])
_EXPECTED = "true or false, a number from 0 to 1, or a word such as correct or wrong"


class LabelReader:
    """Reads the labels of a column, batch by batch.

    strict: raise where a label cannot be read; else `unreadable` says that there was one

    >>> reader = LabelReader("label", strict=True)
    >>> reader.of(pa.array(["Correct", "wrong", None, "1"]), np.arange(4)).tolist()
    [1.0, 0.0, nan, 1.0]
    """

    def __init__(self, column: str, strict: bool) -> None:
        self._column, self._strict = column, strict
        self.unreadable = False

    def of(self, column: pa.Array, row_ids: Array) -> Array:
        """The labels of a batch, NaN where there is none."""
        encoded = column if isinstance(column, pa.DictionaryArray) else _encoded(column)
        known = [self._read(value) for value in encoded.dictionary.to_pylist()]
        if None in known:
            self._complain(encoded, known, row_ids)
        values = np.array([np.nan if v is None else v for v in known] or [np.nan])
        labels: Array = values[array_of(encoded.indices.fill_null(0))]
        labels[array_of(encoded.indices.is_null())] = np.nan
        return labels

    def _complain(self, encoded: pa.DictionaryArray, known: list[Any], row_ids: Array) -> None:
        self.unreadable = True
        if not self._strict:
            return
        code = known.index(None)
        row = row_ids[array_of(encoded.indices.fill_null(-1)) == code][0]
        value = encoded.dictionary[code].as_py()
        raise InputError(
            f"--label: column {self._column} must hold {_EXPECTED}; row {row} has {value!r:.60}"
        )

    @staticmethod
    def _read(value: Any) -> float | None:
        """1 or 0; NaN where there is no label, None where the value cannot be read as one."""
        if isinstance(value, str):
            word = value.strip().lower()
            if word in _RIGHT or word in _WRONG:
                return float(word in _RIGHT)
            if word in _EMPTY:
                return np.nan
            try:
                value = float(word)
            except ValueError:
                return None
        if not isinstance(value, int | float):
            return None
        if value != value:
            return np.nan
        return float(value >= 0.5) if 0 <= value <= 1 or value == -1 else None


def _encoded(column: pa.Array) -> pa.DictionaryArray:
    if pa.types.is_nested(column.type):
        column = pa.array([str(value) for value in column.to_pylist()])
    return column.dictionary_encode()
