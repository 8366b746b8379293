"""What a check writes: `findings.parquet`, a page, and the table without the rows that failed."""

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import astuple, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from plaudit.reports import html_page, render_html
from plaudit.reports.check._findings import KINDS, CheckFinding, CheckSummary
from plaudit.tables import Block, InputError, InputFile, blocks_of

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

    path: the file to write
    skip: kinds that are left out
    counts: how many findings of each kind there were
    """

    def __init__(self, path: Path, skip: Sequence[str] = ()) -> None:
        self.counts: Counter[str] = Counter()
        self._path, self._skip = path, frozenset(skip)
        self._unfinished = path.with_name(f".{path.name}.unfinished")
        self._writer = pq.ParquetWriter(self._unfinished, _SCHEMA, compression="zstd")
        self._held: list[CheckFinding] = []
        self._first: dict[str, list[CheckFinding]] = {kind: [] for kind in KINDS}
        self._failed = bytearray()  # a bit for each row

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
            self._mark(finding.row)
            # The first by their rows are kept: findings about prompts come in no order.
            kept = self._first[finding.kind]
            kept.append(finding)
            if len(kept) > 2 * _KEPT:
                _cut(kept)
        self._held += findings
        if len(self._held) >= _ROWS_AT_ONCE:
            self._write()

    def _write(self) -> None:
        if self._held:
            columns = zip(*map(astuple, self._held), strict=True)
            arrays = [
                pa.array([_valid(one) for one in values], field.type)
                for values, field in zip(columns, _SCHEMA, strict=True)
            ]
            self._writer.write_table(pa.table(arrays, schema=_SCHEMA))
            self._held = []

    def first(self) -> dict[str, list[CheckFinding]]:
        """Return the first findings of each kind that there is, in the order of the table."""
        return {kind: _cut(kept) for kind, kept in self._first.items() if kept}

    def _mark(self, row: int) -> None:
        byte = row >> 3
        if byte >= len(self._failed):
            self._failed.extend(bytes(byte + 1 - len(self._failed) + len(self._failed) // 4))
        self._failed[byte] |= 1 << (row & 7)

    def has(self, row: int) -> bool:
        """Return whether a row has a finding."""
        byte = row >> 3
        return byte < len(self._failed) and bool(self._failed[byte] >> (row & 7) & 1)

    @property
    def rows(self) -> int:
        """How many rows have a finding."""
        return sum(byte.bit_count() for byte in self._failed)


def _cut(findings: list[CheckFinding]) -> list[CheckFinding]:
    findings.sort(key=lambda finding: finding.row)
    del findings[_KEPT:]
    return findings


def _valid(value: object) -> object:
    """Return text that can be written: lone surrogates become question marks."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def read_findings(path: Path) -> list[CheckFinding]:
    """Return the findings of a file, in the order of the table."""
    found = [CheckFinding(**row) for row in pq.read_table(path).to_pylist()]
    order = list(KINDS)
    return sorted(found, key=lambda finding: (finding.row, order.index(finding.kind)))


def write_page(summary: CheckSummary, table: str, path: Path) -> None:
    """Write a page with the first findings of each kind; `table` is what was checked."""
    page = html_page(
        table,
        render_html(
            _file("page.html.jinja"), summary=summary, kinds=KINDS, opened=_OPEN, table=table
        ),
        kind="plaudit check",
        about=" ".join(
            f"{name} compares answers written as {written}."
            for name, written in summary.formats.items()
        ),
        styles=[_file("page.css")],
        scripts=[_file("page.js")],
    )
    path.write_text(page, encoding="utf-8", newline="\n")


def _file(name: str) -> str:
    return files("plaudit.reports.check").joinpath(name).read_text(encoding="utf-8")


# --- the table without some rows ------------------------------------------------------------------

Write = Callable[[Block, list[int]], int]  # writes rows of a block, and returns how many it could

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
    for number, (file, path) in enumerate(zip(files, paths, strict=True)):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.unfinished")
        try:
            with _WRITERS[file.format](file, unfinished) as write:
                for block in blocks_of(file, number):
                    kept = [i for i in range(len(block)) if not failed(row + i)]
                    row += len(block)
                    left += write(block, kept)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
        _copy_description(file.path.parent, path.parent)
    return left


@contextmanager
def _opened(file: InputFile, path: Path) -> Iterator[BinaryIO]:
    with ExitStack() as stack:
        raw: Any = stack.enter_context(path.open("wb"))
        if file.codec:
            raw = stack.enter_context(pa.CompressedOutputStream(pa.PythonFile(raw), file.codec))
        yield raw


@contextmanager
def _json_writer(file: InputFile, path: Path) -> Iterator[Write]:
    """Write one object a line, or an array if the input is one; blank lines are left out."""
    is_array = file.format == "json" and _is_array(file)
    before, after = (b"[\n", b"") if is_array else (b"", b"\n")

    def write(block: Block, kept: list[int]) -> int:
        nonlocal before
        records: Any = block.records  # of JSON, bytes as they stand in the file
        for index in kept:
            out.write(before + records[index] + after)
            before = b",\n" if is_array else b""
        return len(kept)

    with _opened(file, path) as out:
        yield write
        if is_array:
            out.write(b"[]\n" if before == b"[\n" else b"\n]\n")


def _is_array(file: InputFile) -> bool:
    """Return whether a JSON file holds an array, and not one object a line, as some do."""
    with pa.input_stream(str(file.path), compression=file.codec or None) as stream:
        start: bytes = stream.read(_START)
    return start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


@contextmanager
def _csv_writer(file: InputFile, path: Path) -> Iterator[Write]:
    """Write a header and rows, quoted if that is needed."""
    header: list[str] = []

    def write(block: Block, kept: list[int]) -> int:
        records: Any = block.records
        if not header:
            header.extend(next((list(one) for one in records if isinstance(one, dict)), []))
            rows.writerows([header] if header else [])
        # A row that cannot be read is left out, even if its finding was skipped.
        cells = [list(records[i].values()) for i in kept if isinstance(records[i], dict)]
        rows.writerows(cells)
        out.write(text.getvalue().encode())
        text.seek(0)
        text.truncate()
        return len(cells)

    text = io.StringIO(newline="")
    rows = csv.writer(text, delimiter="\t" if file.format == "tsv" else ",", lineterminator="\n")
    with _opened(file, path) as out:
        yield write


@contextmanager
def _arrow_writer(file: InputFile, path: Path) -> Iterator[Write]:
    """Write a Parquet file, or Arrow in the format that the input has: a stream, or a file."""
    new: Any = pq.ParquetWriter
    if file.format == "parquet":
        with pq.ParquetFile(file.path) as table:
            schema = table.schema_arrow
    else:
        with pa.memory_map(str(file.path)) as mapped:
            try:
                schema, new = pa.ipc.open_stream(mapped).schema, pa.ipc.new_stream
            except pa.ArrowInvalid:
                schema, new = pa.ipc.open_file(mapped).schema, pa.ipc.new_file

    def write(block: Block, kept: list[int]) -> int:
        records: Any = block.records
        if isinstance(records, list):  # what could not be read
            return 0
        if kept:
            batch = records.take(pa.array(kept, pa.int64()))
            writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
        return len(kept)

    with new(str(path), schema) as writer:
        yield write


_WRITERS = {
    "jsonl": _json_writer,
    "json": _json_writer,
    "csv": _csv_writer,
    "tsv": _csv_writer,
    "parquet": _arrow_writer,
    "arrow": _arrow_writer,
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
