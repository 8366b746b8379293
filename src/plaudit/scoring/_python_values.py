"""Arrow's rows -> Python's, whatever they hold.

Python knows no nanoseconds and no year 10000. What it does not know, a reward gets as text; times
are cut to microseconds. The output has the column as it was.
"""

from typing import Any

import pyarrow as pa

_UNKNOWN = (ValueError, OverflowError, KeyError)  # a date or a time zone that Python does not know


def python_rows(table: pa.Table | pa.RecordBatch) -> list[dict[str, Any]]:
    """The rows as dictionaries.

    >>> python_rows(pa.table({"at": pa.array([1_500], pa.timestamp("ns"))}))
    [{'at': datetime.datetime(1970, 1, 1, 0, 0, 0, 1)}]
    """
    columns = [_values(column) for column in table.columns]
    rows = zip(*columns, strict=True) if columns else [()] * len(table)
    return [dict(zip(table.schema.names, row, strict=True)) for row in rows]


def _values(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    if "[ns" not in str(column.type):  # with pandas installed, these would be values of its own
        try:
            return list(column.to_pylist())
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
