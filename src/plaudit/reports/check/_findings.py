"""What a check finds, as data, and what it writes: a file of findings, a page, a table."""

import csv
import json
from codecs import getwriter
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from plaudit.recipes.row_score import text_array
from plaudit.tables import InputError
from plaudit.tables.inputs import InputFile
from plaudit.tables.readers import UnreadableRecord, blocks_of

SHOWN = 300  # characters of a value or a prompt that a finding holds
_EXAMPLES = 3  # of each kind that are printed


# The kinds of findings in the order in which they are shown, each with a heading. What such a row
# does to a training run, and what to do about it, is in page.html.jinja.
KINDS = {
    "unreadable_row": "Rows that cannot be read",
    "missing_value": "Rows without a prompt, or without a value that the recipe needs",
    "placeholder_gold": "Golds that are placeholders",
    "markup_gold": "Golds that are a link or HTML",
    "unreadable_gold": "Golds that cannot be read",
    "schema_violation": "Golds that violate their own schema",
    "unreadable_tests": "Tests that cannot be read",
    "failing_reference": "References that fail their own tests",
    "unequal_gold": "Golds that do not equal themselves",
    "partial_gold": "Golds that are read in part",
    "expensive_gold": "Golds that are too expensive to compare",
    "suspicious_gold": "Golds that look wrong",
    "conflicting_golds": "Prompts with different golds",
    "answer_in_prompt": "Prompts that state their answer",
    "duplicate_row": "Rows that occur more than once",
    "unknown_option": "Golds that are no option",
    "unreadable_image": "Images that cannot be read",
    "box_outside_image": "Boxes outside their image",
}


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """Something wrong with a row.

    file, line: where the row is; in a file without lines, such as Parquet, the line is the number
        of the row in the file, from 1; for a table in memory, the file is ""
    row: its number among all rows, from 0; related_row: that of another row that it is about
    value, prompt: the beginnings of the column's value, and of the row's prompt
    component: the reward of the recipe that said so; "" if none did
    """

    kind: str
    file: str
    line: int
    row: int
    column: str
    value: str
    why: str
    component: str = ""
    related_row: int | None = None
    prompt: str = ""

    @property
    def location(self) -> str:
        """Where the row is, for a person."""
        return f"{self.file}, line {self.line}" if self.file else f"row {self.row}"

    def __str__(self) -> str:
        named = f"{self.column} " if self.column else ""
        value = f' {named}"{shown(self.value, 60)}":' if self.value else ""
        return f"{self.location}:{value} {shown(self.why, 240)}"


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """What a check found; printing it gives what `plaudit check` prints.

    rows: how many rows were checked
    failed: how many of them have a finding
    counts: how many findings of each kind there are
    first: the first findings of each kind, at most 200
    formats: how each component wants an answer, found by trying
    notes: what was not checked, and why
    seconds: how long it took
    out: the folder with `findings.parquet` and the page, if one was written
    dropped_to: the table without the rows that failed, if one was written
    left: how many rows that has

    >>> print(CheckSummary(120, 0, {}, {}, {"accuracy": "<answer>…</answer>"}, ()))
    120 rows checked, no findings
    accuracy compares answers written as <answer>…</answer>
    """

    rows: int
    failed: int
    counts: Mapping[str, int]
    first: Mapping[str, Sequence[CheckFinding]]
    formats: Mapping[str, str]
    notes: Sequence[str]
    seconds: float = 0.0
    out: Path | None = None
    dropped_to: Path | None = None
    left: int = 0

    def __str__(self) -> str:
        have = "has" if self.failed == 1 else "have"
        found = f"{self.failed:,} {have} findings" if self.failed else "no findings"
        lines = [f"{_rows(self.rows)} checked, {found}"]
        for name, written in self.formats.items():
            lines.append(f"{name} compares answers written as {written}")
        lines += [f"note: {note}" for note in self.notes]
        for kind, findings in self.first.items():
            lines += ["", f"{KINDS[kind]} ({kind}): {self.counts[kind]:,}"]
            lines += [f"  {finding}" for finding in findings[:_EXAMPLES]]
            if self.counts[kind] > _EXAMPLES:
                lines.append(f"  … and {self.counts[kind] - _EXAMPLES:,} more")
        if self.dropped_to is not None:
            lines += ["", f"{self.dropped_to}: {_rows(self.left)} without findings"]
        if self.out is not None:
            lines += ["", f"{self.out / 'index.html'}"]
        return "\n".join(lines)


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def sentence(reason: str) -> str:
    """Return a reason as a sentence."""
    return f"{reason[:1].upper()}{reason[1:].removesuffix('.')}."


def shown(value: object, most: int = SHOWN) -> str:
    """Return the beginning of a value, as text on one line."""
    text = value if isinstance(value, str) else repr(_without_bytes(value))
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _without_bytes(value: object) -> object:
    """Return the same value, with the size of bytes instead of the bytes."""
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    if isinstance(value, Mapping):
        return {name: _without_bytes(inner) for name, inner in value.items()}
    return [_without_bytes(inner) for inner in value] if isinstance(value, list) else value


# --- files ----------------------------------------------------------------------------------------


FINDINGS = "findings.parquet"
PAGE = "index.html"
_KEPT = 200  # findings of each kind that the page shows
_OPEN = 5  # findings of a kind that the page does not fold
_ROWS_AT_ONCE = 4096
_NUMBERS = {"line", "row", "related_row"}
_NAMES = [field.name for field in fields(CheckFinding)]
_SCHEMA = pa.schema([(n, pa.int64() if n in _NUMBERS else pa.string()) for n in _NAMES])


class FindingsFile:
    """Writes findings as they come; the file is there as a whole or not at all.

    counts: how many findings of each kind there were
    """

    def __init__(self, path: Path, skip: Sequence[str] = ()) -> None:
        self.counts: Counter[str] = Counter()
        self._path, self._skip = path, frozenset(skip)
        self._unfinished = path.with_name(f".{path.name}.unfinished")
        self._writer = pq.ParquetWriter(self._unfinished, _SCHEMA, compression="zstd")
        self._held: list[CheckFinding] = []
        self._first: dict[str, list[CheckFinding]] = {kind: [] for kind in KINDS}
        self._failed: set[int] = set()

    def __enter__(self) -> "FindingsFile":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            try:
                if kind is None:
                    self._write()
            finally:
                self._writer.close()
            if kind is None:
                self._unfinished.replace(self._path)
        finally:
            self._unfinished.unlink(missing_ok=True)  # if the disk is full, for example

    def add(self, findings: Sequence[CheckFinding]) -> None:
        """Write findings."""
        findings = [finding for finding in findings if finding.kind not in self._skip]
        for finding in findings:
            self.counts[finding.kind] += 1
            self._failed.add(finding.row)
            # The first by their rows are kept: findings about prompts come in no order.
            kept = self._first[finding.kind]
            kept.append(finding)
            if len(kept) > 2 * _KEPT:
                _keep_first(kept)
        self._held += findings
        if len(self._held) >= _ROWS_AT_ONCE:
            self._write()

    def _write(self) -> None:
        if self._held:
            columns = zip(*map(astuple, self._held), strict=True)
            arrays = [
                pa.array(values, field.type) if field.name in _NUMBERS else text_array(values)
                for values, field in zip(columns, _SCHEMA, strict=True)
            ]
            self._writer.write_table(pa.table(arrays, schema=_SCHEMA))
            self._held = []

    def first(self) -> dict[str, list[CheckFinding]]:
        """Return the first findings of each kind that there is, in the order of the table."""
        return {kind: _keep_first(kept) for kind, kept in self._first.items() if kept}

    def has(self, row: int) -> bool:
        return row in self._failed

    @property
    def rows(self) -> int:
        """How many rows have a finding."""
        return len(self._failed)


def _keep_first(findings: list[CheckFinding]) -> list[CheckFinding]:
    findings.sort(key=lambda finding: finding.row)
    del findings[_KEPT:]
    return findings


def read_findings(path: Path) -> list[CheckFinding]:
    """Return the findings of a file, in the order of the table."""
    found = [CheckFinding(**row) for row in pq.read_table(path).to_pylist()]
    order = list(KINDS)
    return sorted(found, key=lambda finding: (finding.row, order.index(finding.kind)))


def write_page(summary: CheckSummary, table: str, path: Path) -> None:
    """Write a page with the first findings of each kind; `table` is what was checked."""
    from plaudit.reports import html_page, package_file, render_html  # which need Jinja

    page = html_page(
        table,
        render_html(
            package_file("check/page.html.jinja"),
            summary=summary,
            titles=KINDS,
            opened=_OPEN,
            table=table,
        ),
        kind="plaudit check",
        about=" ".join(
            f"{name} compares answers written as {written}."
            for name, written in summary.formats.items()
        ),
        styles=[package_file("check/page.css")],
        scripts=[package_file("check/page.js")],
    )
    path.write_text(page, encoding="utf-8", newline="\n")


# --- the table without some rows ------------------------------------------------------------------

Kept = Iterable[tuple[Any, list[int]]]  # the records of blocks, and which of them are kept

_STATE, _INFO = "state.json", "dataset_info.json"
_START = 1 << 16  # bytes in which an array begins, if it is one


def output_paths(files: Sequence[InputFile], inputs: Sequence[Path], out: Path) -> list[Path]:
    """Return where each file goes: `out` itself if one file was named, else into that folder."""
    if elsewhere := next((file.url for file in files if file.url), ""):
        raise InputError(f"--drop reads files of this machine, and {elsewhere} is not: copy it")
    if len(inputs) == 1 and not inputs[0].is_dir():
        wanted = _suffix(files[0].path)
        if out.is_dir() or _suffix(out) != wanted:
            raise InputError(
                f"--drop writes the format of the input: name a file that ends in {wanted}, "
                f"got {out}"
            )
        paths = [out]
    else:
        root = inputs[0] if len(inputs) == 1 else None
        paths = [out / (file.path.relative_to(root) if root else file.path.name) for file in files]
    if len(set(paths)) < len(paths):
        raise InputError(
            "--drop: two of the inputs have the same name, so they cannot be written into one "
            "folder; check them one by one"
        )
    for path in paths:
        if any(path.resolve() == file.path.resolve() for file in files):
            raise InputError(f"--drop {out} would overwrite the input: choose another name")
        if path.exists():
            raise InputError(f"{path} (--drop) is there already: remove it, or choose another name")
    return paths


def _suffix(path: Path) -> str:
    found = [suffix.lower() for suffix in path.suffixes]
    return "".join(found[-2:] if found and found[-1] in (".gz", ".zst") else found[-1:])


def drop_rows(
    files: Sequence[InputFile], paths: Sequence[Path], failed: Callable[[int], bool]
) -> int:
    """Write each file without the rows that failed, and return how many rows are left.

    Each file keeps its format: a line of JSON is written byte for byte, Parquet keeps its schema.
    """
    row = left = 0

    def kept(number: int, file: InputFile) -> Kept:
        nonlocal row, left
        for block in blocks_of(file, number):
            here: Any = block.records
            some = [i for i in range(len(block)) if not failed(row + i)]
            row += len(block)
            if isinstance(here, list):  # what cannot be read is left out, if no finding says so too
                some = [i for i in some if not isinstance(here[i], UnreadableRecord)]
            left += len(some)
            yield here, some

    for number, (file, path) in enumerate(zip(files, paths, strict=True)):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.unfinished")
        try:
            _WRITERS[file.format](file, unfinished, kept(number, file))
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
        _copy_description(file.path.parent, path.parent)
    return left


@contextmanager
def _open_output(file: InputFile, path: Path) -> Iterator[BinaryIO]:
    with ExitStack() as stack:
        raw: Any = stack.enter_context(path.open("wb"))
        if file.codec:
            raw = stack.enter_context(pa.CompressedOutputStream(pa.PythonFile(raw), file.codec))
        yield raw


def _write_json(file: InputFile, path: Path, kept: Kept) -> None:
    """Write one object a line, or an array if the input is one; blank lines are left out."""
    is_array = False
    if file.format == "json":  # some hold one object a line, too
        with pa.input_stream(str(file.path), compression=file.codec or None) as stream:
            start: bytes = stream.read(_START)
        is_array = start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    before, after = (b"[\n", b"") if is_array else (b"", b"\n")
    with _open_output(file, path) as out:
        for records, indices in kept:
            for index in indices:  # of JSON, records are bytes as they stand in the file
                out.write(before + records[index] + after)
                before = b",\n" if is_array else b""
        if is_array:
            out.write(b"[]\n" if before == b"[\n" else b"\n]\n")


def _write_csv(file: InputFile, path: Path, kept: Kept) -> None:
    """Write a header and rows, quoted if that is needed."""
    delimiter = "\t" if file.format == "tsv" else ","
    header: list[str] = []
    with _open_output(file, path) as out:
        rows = csv.writer(getwriter("utf-8")(out), delimiter=delimiter, lineterminator="\n")
        for records, indices in kept:
            if not header:
                header = next((list(one) for one in records if isinstance(one, dict)), [])
                rows.writerows([header] if header else [])
            rows.writerows(records[index].values() for index in indices)


def _write_arrow(file: InputFile, path: Path, kept: Kept) -> None:
    """Write a Parquet file, or Arrow in the format that the input has: a stream, or a file."""
    new: Any = pq.ParquetWriter
    if file.format == "parquet":
        schema = pq.read_schema(file.path)
    else:
        with pa.memory_map(str(file.path)) as mapped:
            try:
                schema, new = pa.ipc.open_stream(mapped).schema, pa.ipc.new_stream
            except pa.ArrowInvalid:
                schema, new = pa.ipc.open_file(mapped).schema, pa.ipc.new_file
    with new(str(path), schema) as writer:
        for records, indices in kept:
            if indices:
                batch = records.take(pa.array(indices, pa.int64()))
                writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))


_WRITERS = {
    "jsonl": _write_json,
    "json": _write_json,
    "csv": _write_csv,
    "tsv": _write_csv,
    "parquet": _write_arrow,
    "arrow": _write_arrow,
}


def _copy_description(source: Path, folder: Path) -> None:
    """Make the folder of a Hugging Face dataset loadable: its shards have the same names."""
    if not ((source / _STATE).is_file() and (source / _INFO).is_file()):
        return
    state = json.loads((source / _STATE).read_bytes())
    state["_fingerprint"] = f"{state.get('_fingerprint', '')[:8]}-checked"
    (folder / _STATE).write_text(json.dumps(state, indent=2), encoding="utf-8")
    (folder / _INFO).write_bytes((source / _INFO).read_bytes())
    splits = source.parent / "dataset_dict.json"
    if splits.is_file():
        (folder.parent / splits.name).write_bytes(splits.read_bytes())
