"""A scored folder in; the numbers of all its rows, and the texts of some, out.

All numbers are held in memory, some hundred bytes per row; texts only of the rows that are asked
for.
"""

import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from plaudit.completions import text_of
from plaudit.extract import json_items
from plaudit.report._pass_at_k import NO_ANSWER, Array
from plaudit.scoring import InputError, ScoredFolder, open_scored

TOKENS = "completion_ids"
IMAGE = "image_path"

# Common names of the columns; a name that the run itself gives comes first.
_COMPLETION = ("completion", "response", "output", "text")
_PROMPT = ("prompt", "problem", "question", "query")
_GOLD = ("solution", "answer", "gold", "ground_truth", "target")

_NEEDED = ("row_id", "group_id", "total", "status", "explanation")
_EXAMPLES = 20  # of rejected rows


@dataclass(frozen=True, slots=True)
class RejectedRows:
    """The rows that the run rejected: how many, and the first of them."""

    count: int
    examples: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Folder:
    """A scored folder, checked, and the names of some of its columns; None if it has none."""

    scored: ScoredFolder
    completion: str | None
    prompt: str | None
    gold: str | None
    tokens: str | None
    image: str | None

    @property
    def components(self) -> tuple[str, ...]:
        """The names of the run's components."""
        return self.scored.components


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a run, with one entry per row; NaN stands for None.

    groups, statuses: indices in group_names and in status_names
    lengths: in `unit`: tokens if the run has them, else characters
    right: 1 or 0 by the component that decides what is right; NaN if it does not say
    answers: a number for each answer by the same component; equal answers have the same number
    component_statuses: how many rows have a status, by (component, status)
    golds_in_part: how many rows have a gold of which only a part was read
    """

    row_ids: Array
    groups: Array
    group_names: list[str]
    totals: Array
    values: dict[str, Array]
    statuses: Array
    status_names: list[str]
    lengths: Array
    unit: str
    characters: Array
    right: Array
    answers: Array
    component_statuses: dict[tuple[str, str], int]
    golds_in_part: int


def open_folder(directory: Path) -> Folder:
    """The scored folder at a path; raises InputError if it is not one."""
    scored = open_scored(directory)
    if not scored.parts:
        raise InputError(f"{directory} has no part-*.parquet: `plaudit score` wrote no rows there")
    run, columns = scored.run, scored.columns(*_NEEDED, *scored.components)
    _check_explained(scored)

    def first(*names: object) -> str | None:
        return next((str(name) for name in names if name in columns), None)

    return Folder(
        scored,
        completion=first(run.get("completion_column"), *_COMPLETION),
        prompt=first(*_PROMPT),
        gold=first(_column_of("solution", run.get("recipe")), *_GOLD),
        tokens=first(TOKENS),
        image=first(IMAGE),
    )


def _check_explained(scored: ScoredFolder) -> None:
    """Raise if the run does not say which rows are right: values alone do not tell."""
    for part in scored.parts:
        kind = pq.read_schema(part).field("explanation").type
        known = {field.name for field in kind.value_type} if pa.types.is_list(kind) else set()
        if missing := sorted({"right", "gold_in_part"} - known):
            raise InputError(
                f"{part} was written by an earlier version of plaudit: its explanations have no "
                f"{' and no '.join(missing)}; score the table again, with --overwrite"
            )


def right_component(folder: Folder, wanted: str | None) -> str | None:
    """The component that says which rows are right; None if none does.

    That is `wanted`, if given; else the first whose name contains "accuracy", else the first.
    """
    names = folder.components
    if wanted is not None and wanted not in names:
        raise InputError(f"no component is called {wanted!r}; the run has {', '.join(names)}")
    saying: set[str] = set()
    for _, batch in folder.scored.batches(["explanation"]):
        entries = _explained(batch["explanation"]).entries
        says = entries.filter(pc.is_valid(pc.struct_field(entries, "right")))
        saying |= set(pc.struct_field(says, "component").unique().to_pylist())
        if wanted in saying or (wanted is None and saying):
            break
    known = [name for name in names if name in saying]
    if wanted is not None and wanted not in saying:
        others = f"choose {' or '.join(known)}, or " if known else ""
        raise InputError(
            f"{wanted} does not say which rows are right: {others}add `right = 1.0` (the value "
            "from which on a row is right) to it in the recipe, and score the table again"
        )
    return wanted or next((n for n in known if "accuracy" in n), known[0] if known else None)


def _column_of(argument: str, recipe: object) -> object:
    """The column that a recipe reads an argument from, if it says so."""
    try:
        columns = tomllib.loads(str(recipe)).get("columns")
    except tomllib.TOMLDecodeError:
        return None
    return columns.get(argument) if isinstance(columns, dict) else None


def rejected_rows(directory: Path) -> RejectedRows:
    """The rows in `_rejected.jsonl`; a line that is not JSON counts as well."""
    file = directory / "_rejected.jsonl"
    if not file.is_file():
        return RejectedRows(0, [])
    count = 0
    examples: list[dict[str, Any]] = []
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.strip():
                count += 1
                if len(examples) < _EXAMPLES:
                    examples.append(_rejected_example(line))
    return RejectedRows(count, examples)


def _rejected_example(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"reason": line.strip()[:500]}


def numbers_of(folder: Folder, correct: str | None) -> Numbers:
    """Read the numbers of every row; `correct` is the component that says what is right."""
    completion, tokens = folder.completion, folder.tokens
    wanted = [*_NEEDED, *folder.components, *filter(None, (completion, tokens))]
    groups, statuses = _Codes(), _Codes()
    counts: Counter[tuple[str, str]] = Counter()
    in_part = 0
    columns: dict[str, list[Array]] = {}
    for _, batch in folder.scored.batches(wanted):
        read = {name: _floats(batch[name]) for name in ("total", *folder.components)}
        read["row id"] = _array(batch["row_id"])
        read["group"] = groups.of(batch["group_id"])
        read["status"] = statuses.of(batch["status"])
        read["characters"] = _characters(batch[completion] if completion else None, len(batch))
        read["length"] = _token_counts(batch[tokens]) if tokens else read["characters"]
        explained = _explained(batch["explanation"])
        read["right"], read["answer"] = _right_and_answers(explained, correct, len(batch))
        in_part += _golds_in_part(explained)
        counts.update(_statuses_of(explained))
        for name, values in read.items():
            columns.setdefault(name, []).append(values)
    whole = {name: np.concatenate(chunks) for name, chunks in columns.items()}
    none = np.zeros(0)
    return Numbers(
        row_ids=whole.get("row id", none.astype(np.int64)),
        groups=whole.get("group", none.astype(np.int64)),
        group_names=groups.names,
        totals=whole.get("total", none),
        values={name: whole.get(name, none) for name in folder.components},
        statuses=whole.get("status", none.astype(np.int64)),
        status_names=statuses.names,
        lengths=whole.get("length", none.astype(np.int64)),
        unit="tokens" if tokens else "characters",
        characters=whole.get("characters", none.astype(np.int64)),
        right=whole.get("right", none),
        answers=whole.get("answer", none.astype(np.int64)),
        component_statuses=dict(counts),
        golds_in_part=in_part,
    )


def rows_at(folder: Folder, places: Array) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows at these places (indices over all parts), in order, each with its place."""
    texts = filter(None, (folder.completion, folder.prompt, folder.gold, folder.image))
    wanted = list(dict.fromkeys([*_NEEDED, *folder.components, *texts]))
    places = np.sort(places)
    start = 0
    for _, batch in folder.scored.batches(wanted):
        inside = places[(places >= start) & (places < start + len(batch))]
        for place, row in zip(
            inside, batch.take(pa.array(inside - start)).to_pylist(), strict=True
        ):
            yield int(place), row
        start += len(batch)


class _Codes:
    """Numbers for names, in the order of their first occurrence."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, column: pa.Array) -> Array:
        encoded = column.cast(pa.string()).fill_null("").dictionary_encode()
        codes = [
            self._known.setdefault(n, len(self._known)) for n in encoded.dictionary.to_pylist()
        ]
        return np.array(codes, np.int64)[_array(encoded.indices)]

    @property
    def names(self) -> list[str]:
        return list(self._known)


def _array(column: pa.Array) -> Array:
    values: Array = column.to_numpy(zero_copy_only=False)
    return values


def _floats(column: pa.Array) -> Array:
    return _array(column.cast(pa.float64()))


def _token_counts(column: pa.Array) -> Array:
    return _array(pc.list_value_length(column).fill_null(0)).astype(np.int64)


def _characters(column: pa.Array | None, rows: int) -> Array:
    if column is None:
        return np.zeros(rows, np.int64)
    if pa.types.is_string(column.type) and not pc.any(pc.starts_with(column, "[{")).as_py():
        return _array(pc.utf8_length(column).fill_null(0)).astype(np.int64)
    return np.array([len(completion_text(value)) for value in column.to_pylist()], np.int64)


def completion_text(value: Any) -> str:
    """The text of a completion; anything else is shown as Python prints it, and None as "".

    >>> completion_text('[{"role": "assistant", "content": "It is 4."}]'), completion_text(4)
    ('It is 4.', '4')
    """
    try:
        return text_of(_messages(value) or value)
    except TypeError:
        return "" if value is None else str(value)


def prompt_text(value: Any) -> str:
    """The text of a prompt; if it is several messages, each with its role.

    >>> prompt_text([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])
    'system: Be brief.\\n\\nuser: Hi'
    """
    messages = _messages(value)
    if messages is None:
        return completion_text(value)
    said = [(m["role"], completion_text({"content": m.get("content")})) for m in messages]
    if len(said) == 1:
        return said[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in said)


def _messages(value: Any) -> list[dict[str, Any]] | None:
    """Messages, even if they were written as JSON because other rows of the column are text."""
    if isinstance(value, str) and value.startswith("[{"):
        value = json_items(value)
    is_list = isinstance(value, list) and len(value) > 0
    return value if is_list and all(isinstance(m, dict) and "role" in m for m in value) else None


@dataclass(frozen=True, slots=True)
class _Explained:
    """The explanations of a batch, flattened: one entry per row and component."""

    rows: Array
    entries: pa.StructArray


def _explained(column: pa.ListArray) -> _Explained:
    return _Explained(_array(pc.list_parent_indices(column)), pc.list_flatten(column))


def _statuses_of(explained: _Explained) -> Counter[tuple[str, str]]:
    names = [pc.struct_field(explained.entries, name) for name in ("component", "status")]
    counted = pa.table(names, ["component", "status"]).group_by(["component", "status"])
    found = counted.aggregate([([], "count_all")]).to_pylist()
    return Counter({(str(row["component"]), str(row["status"])): row["count_all"] for row in found})


def _golds_in_part(explained: _Explained) -> int:
    marked = pc.fill_null(pc.struct_field(explained.entries, "gold_in_part"), False)
    return len(np.unique(explained.rows[_array(marked)]))


def _right_and_answers(
    explained: _Explained, component: str | None, rows: int
) -> tuple[Array, Array]:
    """Whether each row is right, and a number for its answer; all right answers have number 1."""
    right, answers = np.full(rows, np.nan), np.full(rows, NO_ANSWER, np.int64)
    mine = pc.fill_null(pc.equal(pc.struct_field(explained.entries, "component"), component), False)
    at = explained.rows[_array(mine)]
    entries = explained.entries.filter(mine)
    right[at] = _floats(pc.struct_field(entries, "right"))
    texts = pc.struct_field(entries, "answer").dictionary_encode()
    known = [_answer_number(text) for text in texts.dictionary.to_pylist()]
    numbers = np.array(known or [NO_ANSWER], np.int64)
    answers[at] = numbers[_array(texts.indices.fill_null(0))]
    answers[at[_array(texts.is_null())]] = NO_ANSWER
    answers[right == 1] = 1
    return right, answers


def _answer_number(answer: str) -> int:
    """A number that depends only on the text, so that no text has to be kept; never 0 or 1."""
    digest = blake2b(" ".join(answer.split()).encode("utf-8", "replace"), digest_size=7).digest()
    return int.from_bytes(digest, "big") + 2
