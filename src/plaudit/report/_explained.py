"""The explanations of rows in; which rows are right, their answers and statuses out."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plaudit.report._folder import Folder, array_of, floats_of, number_of_text
from plaudit.report._pass_at_k import NO_ANSWER, Array
from plaudit.scoring import InputError


@dataclass(frozen=True, slots=True)
class Explained:
    """The explanations of a batch, flattened: one entry per row and component."""

    rows: Array
    entries: pa.StructArray


def explained_in(column: pa.ListArray) -> Explained:
    return Explained(array_of(pc.list_parent_indices(column)), pc.list_flatten(column))


def statuses_of(explained: Explained) -> Counter[tuple[str, str]]:
    names = [pc.struct_field(explained.entries, name) for name in ("component", "status")]
    counted = pa.table(names, ["component", "status"]).group_by(["component", "status"])
    found = counted.aggregate([([], "count_all")]).to_pylist()
    return Counter({(str(row["component"]), str(row["status"])): row["count_all"] for row in found})


def golds_in_part(explained: Explained) -> int:
    marked = pc.fill_null(pc.struct_field(explained.entries, "gold_in_part"), False)
    return len(np.unique(explained.rows[array_of(marked)]))


def right_and_answers(
    explained: Explained, component: str | None, rows: int
) -> tuple[Array, Array]:
    """Whether each row is right, and a number that stands for its answer.

    Equal answers have the same number; all right answers have the number 1.
    """
    right, answers = np.full(rows, np.nan), np.full(rows, NO_ANSWER, np.int64)
    mine = pc.fill_null(pc.equal(pc.struct_field(explained.entries, "component"), component), False)
    at = explained.rows[array_of(mine)]
    entries = explained.entries.filter(mine)
    right[at] = floats_of(pc.struct_field(entries, "right"))
    texts = pc.struct_field(entries, "answer").dictionary_encode()
    known = [_answer_number(text) for text in texts.dictionary.to_pylist()]
    numbers = np.array(known or [NO_ANSWER], np.int64)
    answers[at] = numbers[array_of(texts.indices.fill_null(0))]
    answers[at[array_of(texts.is_null())]] = NO_ANSWER
    answers[right == 1] = 1
    return right, answers


def _answer_number(answer: str) -> int:
    """A number for an answer, so that no text has to be kept; never 0 or 1."""
    return number_of_text(answer) + 2


def right_component(folder: Folder, wanted: str | None) -> str | None:
    """The component that says which rows are right; None if none does.

    That is `wanted`, if given; else the first whose name contains "accuracy", else the first.
    """
    names = folder.components
    if wanted is not None and wanted not in names:
        raise InputError(f"no component is called {wanted!r}; the run has {', '.join(names)}")
    saying: set[str] = set()
    for _, batch in folder.scored.batches(["explanation"]):
        entries = explained_in(batch["explanation"]).entries
        says = entries.filter(pc.is_valid(pc.struct_field(entries, "right")))
        saying |= set(pc.struct_field(says, "component").unique().to_pylist())
        if wanted in saying or (wanted is None and saying):
            break
    known = [name for name in names if name in saying]
    if wanted is not None and wanted not in saying:
        others = f"choose {' or '.join(known)}, or " if known else ""
        raise InputError(
            f"{wanted} does not say which rows are right: {others}add `right = 1.0` (the least "
            "value of a right row) to it in the recipe, and score the table again"
        )
    return wanted or next((n for n in known if "accuracy" in n), known[0] if known else None)
