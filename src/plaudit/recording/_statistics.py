"""Rows of a recorded run -> what a page of curves and alarms needs of them, a line of JSON a part.

    {"part": "part-00000012-…", "step": 12, "rows": 512, "seconds": 0.21, "at": 1790000000.0,
     "values": {"total": {"rows": 512, "sum": 204.0, "squares": 204.0, "least": 0.0, "most": 1.0}},
     "length": {…}, "unit": "tokens", "statuses": {"scored": 500, "no_answer": 12},
     "groups": [["5f0c….3", 8, 0.0, 1.0], …],
     "right": {"accuracy_reward": [512, 204]},
     "answers": {"accuracy_reward": {"rows": 500, "top": [["4", 90, 30], …], "gold": [["4", 88]]}}}

Whoever opens a run of a million rows reads these lines and not the rows.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

TOP = 3  # answers that are named, and golds
LONGEST = 120  # characters of an answer

Line: TypeAlias = dict[str, Any]


def statistics_of(part: str, table: pa.Table, components: Sequence[str], at: float) -> list[Line]:
    """A line for each step of a part.

    >>> table = pa.table({"step": [3, 3], "group_id": ["a", "a"], "total": [0.0, 1.0],
    ...                   "status": ["scored", "no_answer"], "completion": ["It is 4.", ""]})
    >>> [line] = statistics_of("part-0", table, [], at=0.0)
    >>> line["step"], line["values"]["total"]["most"], line["groups"], line["length"]["sum"]
    (3, 1.0, [['a', 2, 0.0, 1.0]], 8.0)
    """
    return [
        {"part": part, "step": step, "at": at, **_of_step(step, rows, components)}
        for step, rows in _by_step(table)
    ]


def _by_step(table: pa.Table) -> Iterator[tuple[int, pa.Table]]:
    if "step" not in table.column_names:
        yield 0, table
        return
    steps = table["step"].cast(pa.int64(), safe=False).fill_null(0)
    for step in sorted(steps.unique().to_pylist()):
        yield step, table.filter(pc.equal(steps, step))


def _of_step(step: int, table: pa.Table, components: Sequence[str]) -> Line:
    names = table.column_names
    tokens = _floats(table["tokens"]) if "tokens" in names else np.full(len(table), np.nan)
    by_tokens = bool(np.isfinite(tokens).any())
    said = _answers(table) if "explanation" in names else {"right": {}, "answers": {}}
    seconds = _floats(table["seconds"]) if "seconds" in names else np.zeros(0)
    return {
        "rows": len(table),
        "seconds": round(float(np.nansum(seconds)), 6),
        "values": {name: distribution(_floats(table[name])) for name in ("total", *components)},
        "length": distribution(tokens if by_tokens else _characters(table)),
        "unit": "tokens" if by_tokens else "characters",
        "statuses": _counts(table["status"]),
        "groups": _groups(step, table),
        **said,
    }


def distribution(values: NDArray[Any]) -> Line:
    """How many values there are, their sum and that of their squares, the least and the most.

    >>> distribution(np.array([1.0, 0.0, 1.0, np.nan]))
    {'rows': 3, 'least': 0.0, 'most': 1.0, 'sum': 2.0, 'squares': 2.0}
    """
    values = values[np.isfinite(values)]
    found = {"sum": values.sum(), "squares": (values**2).sum()}
    if len(values):
        found |= {"least": values.min(), "most": values.max()}
    numbers = {name: _short(float(value)) for name, value in found.items()}
    return {"rows": len(values), "least": None, "most": None, **numbers}


def _short(value: float) -> float:
    """The value in few digits, for a file that is read at once."""
    return float(f"{value:.6g}")


def _floats(column: pa.ChunkedArray) -> NDArray[Any]:
    values: NDArray[Any] = column.cast(pa.float64()).to_numpy()
    return values


def _characters(table: pa.Table) -> NDArray[Any]:
    if "completion" not in table.column_names or not pa.types.is_string(table["completion"].type):
        return np.zeros(0)
    return _floats(pc.utf8_length(table["completion"]))


def _counts(column: pa.ChunkedArray) -> dict[str, int]:
    found = column.value_counts().to_pylist()
    return {str(one["values"]): one["counts"] for one in found}


def _groups(step: int, table: pa.Table) -> list[list[Any]]:
    """For each group: its name without the step, how many totals it has, their least and most."""
    totals = table.select(["group_id", "total"]).filter(pc.is_finite(table["total"]))
    found = totals.group_by("group_id").aggregate(
        [("total", "count"), ("total", "min"), ("total", "max")]
    )
    return [
        [
            str(one["group_id"]).removeprefix(f"{step}-"),
            one["total_count"],
            _short(one["total_min"]),
            _short(one["total_max"]),
        ]
        for one in found.to_pylist()
    ]


def _answers(table: pa.Table) -> Line:
    column = table["explanation"].combine_chunks()
    rows, entries = pc.list_parent_indices(column), pc.list_flatten(column)
    names = [pc.struct_field(entries, name) for name in ("component", "right", "answer", "gold")]
    flat = pa.table(
        [table["group_id"].take(rows), *names], ["group", "by", "right", "answer", "gold"]
    )
    right: dict[str, list[int]] = {}
    answers: Line = {}
    for name in flat["by"].unique().to_pylist():
        mine = flat.filter(pc.equal(flat["by"], name))
        decided = mine["right"].drop_null()
        if len(decided):
            right[name] = [len(decided), int(pc.sum(decided).as_py())]
        if mine["answer"].null_count < len(mine):
            answers[name] = _top(mine)
    return {"right": right, "answers": answers}


def _top(rows: pa.Table) -> Line:
    """The most frequent answers, each with its rows and groups; and the most frequent gold."""
    given = rows.filter(pc.is_valid(rows["answer"]))
    found = given.group_by("answer").aggregate([([], "count_all"), ("group", "count_distinct")])
    top = found.sort_by([("count_all", "descending"), ("answer", "ascending")]).slice(0, TOP)
    golds = rows["gold"].drop_null()
    common = sorted(golds.value_counts().to_pylist(), key=lambda one: -one["counts"])[:TOP]
    return {
        "rows": len(given),
        "top": [
            [one["answer"][:LONGEST], one["count_all"], one["group_count_distinct"]]
            for one in top.to_pylist()
        ],
        "gold": [[one["values"][:LONGEST], one["counts"]] for one in common],
    }
