"""Python values -> Arrow columns of the output, and Arrow rows of an input -> Python values.

JSON has no types, so a column gets one from the first rows. The type holds for the whole run. A
column that has several types from the start is text: strings as they are, all else as JSON. A later
value that does not fit is left null and kept, with its column's name, in the column `other_values`;
a row is never lost to that.

The other way, Python has no nanoseconds and no year 10000. What it cannot represent, a reward gets
as text; times are cut to microseconds. The output has the column as it was.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from plaudit.golds import python_values
from plaudit.scored_columns import valid_text

# What Arrow raises for values that are of several types, or too large for theirs.
_MISFIT = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError)
_WIDEST = 100  # with more keys than this in all, dictionaries are data, and are kept as text


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the input as it is in the output.

    source: its name in the input
    exploded: whether each record has a list with one entry per completion, so that each row gets
        its own entry
    text: whether it is text because its values are of several types
    """

    name: str
    source: str
    type: pa.DataType
    exploded: bool = False
    text: bool = False

    def kind(self) -> str:
        """The type, for the manifest.

        >>> Column("answer", "answer", pa.string(), text=True).kind()
        'string (text or JSON)'
        """
        return f"{self.type}{' (text or JSON)' if self.text else ''}"


def type_of(values: Sequence[Any]) -> pa.DataType | None:
    """The Arrow type that all these values have in common; None if there is none.

    >>> type_of([1, None, 2.5]), type_of([1, "one"]), type_of([None])
    (DataType(double), None, None)
    """
    try:
        found = pa.array(values).type
    except (*_MISFIT, UnicodeEncodeError):
        return None
    if pa.types.is_null(found) or _width(found) > _WIDEST:
        return None
    return _settled(found)


def _width(kind: pa.DataType) -> int:
    """How many names there are in a type, at all levels."""
    inside = [kind.field(i).type for i in range(kind.num_fields)]
    return len(inside) + sum(map(_width, inside))


def is_list(kind: pa.DataType) -> bool:
    """Whether a type is one of Arrow's several kinds of lists.

    >>> is_list(pa.large_list(pa.string())), is_list(pa.string())
    (True, False)
    """
    types = pa.types
    kinds = types.is_list, types.is_large_list, types.is_fixed_size_list
    views = types.is_list_view, types.is_large_list_view
    return any(is_of_kind(kind) for is_of_kind in (*kinds, *views))


def _settled(kind: pa.DataType) -> pa.DataType:
    """The type, with text in place of what has only been null so far."""
    if pa.types.is_null(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(_settled(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, _settled(field.type)) for field in kind])
    return kind


def fits(found: pa.DataType, kind: pa.DataType) -> bool:
    """Whether values of one type can be kept in another without loss.

    >>> fits(pa.struct([("a", pa.null())]), pa.struct([("a", pa.string()), ("b", pa.int64())]))
    True
    """
    if found == kind or pa.types.is_null(found):
        return True
    if pa.types.is_list(found) and pa.types.is_list(kind):
        return fits(found.value_type, kind.value_type)
    if pa.types.is_struct(found) and pa.types.is_struct(kind):
        places = [kind.get_field_index(field.name) for field in found]
        return -1 not in places and all(
            fits(field.type, kind.field(place).type)
            for field, place in zip(found, places, strict=True)
        )
    return bool(pa.types.is_integer(found) and pa.types.is_floating(kind))


def array_of(values: Sequence[Any], column: Column) -> tuple[pa.Array, list[int]]:
    """The array of a column, and the indices of the values that do not fit into it."""
    if column.text:
        values = [_as_text(value) for value in values]
    if (array := _array(values, column.type)) is not None:
        return array, []
    misfits = [i for i, value in enumerate(values) if _array([value], column.type) is None]
    mended = list(values)
    for place in misfits:
        mended[place] = valid_text(mended[place]) if pa.types.is_string(column.type) else None
    return pa.array(mended, column.type), misfits


def _array(values: Sequence[Any], kind: pa.DataType) -> pa.Array | None:
    try:
        if pa.types.is_string(kind):  # of JSON values, Arrow takes nothing else for text
            return pa.array(values, kind)
        return pa.array(values, kind) if fits(pa.infer_type(values), kind) else None
    except (*_MISFIT, UnicodeEncodeError):
        return None


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


# What pyarrow raises for a date or a time zone that Python cannot represent.
_UNKNOWN = (ValueError, OverflowError, KeyError)


def python_rows(table: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    """The rows as dictionaries.

    >>> python_rows(pa.table({"at": pa.array([1_500], pa.timestamp("ns"))}))
    [{'at': datetime.datetime(1970, 1, 1, 0, 0, 0, 1)}]
    """
    columns = [_values(column) for column in table.columns]
    rows = zip(*columns, strict=True) if columns else [()] * len(table)
    return [dict(zip(table.schema.names, row, strict=True)) for row in rows]


def _values(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    if "[ns" not in str(column.type):  # with pandas installed, these would be pandas' own types
        try:
            return list(python_values(column, "to_pylist"))
        except _UNKNOWN:
            pass
    return [_value(one) for one in column]


def _value(one: pa.Scalar) -> Any:
    if not one.is_valid:
        return None
    if isinstance(one, pa.StructScalar):
        return {name: _value(one[name]) for name in one}
    if isinstance(one, pa.MapScalar):
        return [(_value(item["key"]), _value(item["value"])) for item in one.values]
    if isinstance(one, pa.ListScalar):
        return [_value(item) for item in one.values]
    if isinstance(one, pa.DictionaryScalar):
        return _value(one.value)
    return _time(one) if pa.types.is_temporal(one.type) else one.as_py()


def _time(one: pa.Scalar) -> Any:
    try:
        return one.cast(_with_microseconds(one.type), safe=False).as_py()
    except _UNKNOWN:
        return str(one.cast(pa.string()).as_py())


def _with_microseconds(kind: pa.DataType) -> pa.DataType:
    if getattr(kind, "unit", "") != "ns":
        return kind
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz)
    return pa.duration("us") if pa.types.is_duration(kind) else pa.time64("us")
