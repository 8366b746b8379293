"""The columns that every scored table has, and a table as Parquet.

    <a component>   its value            status        the worst of the components' statuses
    total           the weighted sum     explanation   a struct for each component: its reason

`plaudit score` writes them for a table, and a recorded run for each batch, so that the same readers
read both. A column of the input keeps its name: if it has one of these, such as `total`, the column
that is added is called `plaudit_total`, and `_run.json` says so under `renamed`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from plaudit.scores import Score


def scored_columns(
    components: Mapping[str, Sequence[Score]],
    totals: Sequence[float | None],
    statuses: Sequence[str],
    timed: bool = False,
) -> dict[str, pa.Array]:
    """Return a column for each component, `total`, `status` and `explanation`.

    timed: whether an explanation also says how long it took, so that no two runs are the same
    """
    columns = {
        name: pa.array([score.value for score in scores], pa.float64())
        for name, scores in components.items()
    }
    columns["total"] = pa.array(totals, pa.float64())
    columns["status"] = text_array(statuses)
    columns["explanation"] = _explanation(components, timed)
    return columns


def free_names(added: Collection[str], taken: Collection[str]) -> dict[str, str]:
    """Return new names for added columns whose names the table has already."""
    renamed = {}
    for name in added:
        free = name
        while free in taken or (free != name and free in added):
            free = f"plaudit_{free}"
        if free != name:
            renamed[name] = free
    return renamed


def renamed_note(renamed: Mapping[str, str]) -> str:
    """Return a sentence about columns that were renamed."""
    kept, added = ", ".join(renamed), ", ".join(renamed.values())
    return f"the table keeps its own {kept}; what is added is called {added}"


def read_names(names: Iterable[str], renamed: Mapping[str, str]) -> dict[str, str]:
    """Map what readers of a scored table call its columns to what the table calls them.

    For readers, the columns that scoring added have their usual names, and a column of the input
    that has such a name is marked.
    """
    usual = {new: name for name, new in renamed.items()}
    return {usual.get(n, input_name(n, renamed)): n for n in names}


def renamed_in(run: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the columns that a run renamed, usual name -> column, by its `_run.json`."""
    renamed = run.get("renamed")
    return renamed if isinstance(renamed, dict) else {}


def input_name(name: str, renamed: Mapping[str, str]) -> str:
    """Return what readers of a scored table call a column of its input."""
    return f"{name} (input)" if name in renamed else name


def _explanation(components: Mapping[str, Sequence[Score]], timed: bool) -> pa.Array:
    """Return lists of structs, built from columns, which is faster than from dictionaries."""
    rows = list(zip(*components.values(), strict=True))
    flat = [score for scores in rows for score in scores]
    fields = {
        "component": pa.array(list(components) * len(rows), pa.string()),
        "value": pa.array([score.value for score in flat], pa.float64()),
        "status": text_array([score.status for score in flat]),
        "decided_by": text_array([score.decided_by for score in flat]),
        "answer": text_array([score.answer for score in flat]),
        "gold": text_array([score.gold for score in flat]),
        "why": text_array([score.why for score in flat]),
        "right": pa.array([score.right for score in flat], pa.bool_()),
        "ungated": pa.array([score.ungated for score in flat], pa.float64()),
        "partial_gold": pa.array([score.partial_gold for score in flat], pa.bool_()),
        "problem": text_array([score.problem for score in flat]),
    }
    if timed:
        fields["seconds"] = pa.array([score.seconds for score in flat], pa.float64())
    structs = pa.StructArray.from_arrays(list(fields.values()), list(fields))
    offsets = pa.array(range(0, len(flat) + 1, len(components)), pa.int32())
    return pa.ListArray.from_arrays(offsets, structs)


def text_array(texts: Sequence[object]) -> pa.Array:
    """Return an array of texts; lone surrogates become question marks.

    What is no text, such as a number that a user's reward gives as its answer, becomes its text.
    """
    try:
        return pa.array(texts, pa.string())
    except (UnicodeEncodeError, pa.ArrowTypeError, pa.ArrowInvalid):
        # `str` of a text that is a member of an enum may be its name
        as_texts = (t if t is None or isinstance(t, str) else str(t) for t in texts)
        return pa.array([valid_text(text) for text in as_texts], pa.string())


def valid_texts(texts: list[str | None]) -> list[str | None]:
    """Return texts that can be written as UTF-8; lone surrogates become question marks."""
    try:
        "".join(text for text in texts if text is not None).encode()
    except UnicodeEncodeError:
        return [valid_text(text) for text in texts]
    return texts


def valid_text(value: object) -> str | None:
    """Return text that can be written: a lone surrogate becomes a question mark."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None


def parquet_of(table: pa.Table, added: Mapping[str, pa.Array] | None = None) -> bytes:
    """Return the bytes of a Parquet file with a table, and with more columns behind its own."""
    for name, array in (added or {}).items():
        table = table.append_column(name, array)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", row_group_size=max(len(table), 1))
    part: bytes = sink.getvalue().to_pybytes()
    return part
