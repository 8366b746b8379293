"""A table in, and out comes the same table without some rows, each file in its own format.

A line of JSON is written as it stands, byte for byte; a Parquet or Arrow file keeps its schema.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from plaudit.scoring import Block, InputError, InputFile, blocks_of

STATE, INFO = "state.json", "dataset_info.json"

_START = 1 << 16  # bytes in which an array begins, if it is one


class _Writer(Protocol):
    def write(self, block: Block, kept: list[int]) -> int: ...

    def close(self) -> None: ...


def output_paths(files: Sequence[InputFile], inputs: Sequence[Path], out: Path) -> list[Path]:
    """Where each file goes: into `out` itself if one file was named, else into that folder."""
    if elsewhere := next((file.url for file in files if file.url), ""):
        raise InputError(f"--drop reads files of this machine, and {elsewhere} is not: copy it")
    if len(inputs) == 1 and not inputs[0].is_dir():
        wanted = "".join(_suffixes(files[0].path))
        if out.is_dir() or "".join(_suffixes(out)) != wanted:
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


def _suffixes(path: Path) -> list[str]:
    found = [suffix.lower() for suffix in path.suffixes]
    return found[-2:] if found and found[-1] in (".gz", ".zst") else found[-1:]


def drop_rows(
    files: Sequence[InputFile], paths: Sequence[Path], failed: Callable[[int], bool]
) -> int:
    """Write each file without the rows that failed, and return how many rows are left."""
    number = left = 0
    for place, (file, path) in enumerate(zip(files, paths, strict=True)):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f".{path.name}.unfinished")
        try:
            with _writer(file, unfinished) as writer:
                for block in blocks_of(file, place):
                    kept = [i for i in range(len(block)) if not failed(number + i)]
                    number += len(block)
                    left += writer.write(block, kept)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
        _copy_description(file.path.parent, path.parent, failed)
    return left


@contextmanager
def _writer(file: InputFile, path: Path) -> Iterator[_Writer]:
    with ExitStack() as stack:
        if file.format in ("parquet", "arrow"):
            made: _Writer = _ArrowFile(file, path)
            stack.callback(made.close)
            yield made
            return
        raw: Any = stack.enter_context(path.open("wb"))
        if file.codec:
            raw = stack.enter_context(pa.CompressedOutputStream(pa.PythonFile(raw), file.codec))
        kind = "jsonl" if file.format == "json" and not _is_array(file) else file.format
        made = _TEXTS[kind](raw, "\t" if kind == "tsv" else ",")
        yield made
        made.close()


class _Lines:
    """One object a line. Blank lines are left out."""

    def __init__(self, out: BinaryIO, _: str) -> None:
        self._out = out

    def write(self, block: Block, kept: list[int]) -> int:
        """Write the rows of a block that are kept; return how many could be written."""
        for place in kept:
            self._out.write(_bytes(block, place) + b"\n")
        return len(kept)

    def close(self) -> None:
        pass


def _bytes(block: Block, place: int) -> bytes:
    """A record of JSON as it stands in the file."""
    records: Any = block.records
    record = records[place]
    assert isinstance(record, bytes)  # also where it is no JSON
    return record


def _is_array(file: InputFile) -> bool:
    """Whether a JSON file holds an array, and not one object a line, as some do."""
    with pa.input_stream(str(file.path), compression=file.codec or None) as stream:
        start: bytes = stream.read(_START)
    return start.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")


class _Array(_Lines):
    """An array of objects."""

    def __init__(self, out: BinaryIO, _: str) -> None:
        super().__init__(out, _)
        self._written = 0

    def write(self, block: Block, kept: list[int]) -> int:
        for place in kept:
            self._out.write((b",\n" if self._written else b"[\n") + _bytes(block, place))
            self._written += 1
        return len(kept)

    def close(self) -> None:
        self._out.write(b"\n]\n" if self._written else b"[]\n")


class _Csv(_Lines):
    """A header and rows, quoted where that is needed."""

    def __init__(self, out: BinaryIO, delimiter: str) -> None:
        super().__init__(out, delimiter)
        self._delimiter = delimiter
        self._header: list[str] = []

    def write(self, block: Block, kept: list[int]) -> int:
        text = io.StringIO(newline="")
        rows = csv.writer(text, delimiter=self._delimiter, lineterminator="\n")
        records: Any = block.records
        if not self._header:
            known = (list(record) for record in records if isinstance(record, dict))
            self._header = next(known, [])
            rows.writerows([self._header] if self._header else [])
        # A row that cannot be read is left out, even if its finding was skipped.
        cells = [list(records[p].values()) for p in kept if isinstance(records[p], dict)]
        rows.writerows(cells)
        self._out.write(text.getvalue().encode())
        return len(cells)

    def close(self) -> None:
        pass


_TEXTS: dict[str, Callable[[BinaryIO, str], _Lines]] = {
    "jsonl": _Lines,
    "json": _Array,
    "csv": _Csv,
    "tsv": _Csv,
}


class _ArrowFile:
    """A Parquet file, or Arrow in the format that the input has: a stream, or a file."""

    def __init__(self, file: InputFile, path: Path) -> None:
        self._writer: Any
        if file.format == "parquet":
            with pq.ParquetFile(file.path) as table:
                self._schema = table.schema_arrow
            self._writer = pq.ParquetWriter(path, self._schema)
            return
        with pa.memory_map(str(file.path)) as mapped:
            try:
                self._schema, new = pa.ipc.open_stream(mapped).schema, pa.ipc.new_stream
            except pa.ArrowInvalid:
                self._schema, new = pa.ipc.open_file(mapped).schema, pa.ipc.new_file
        self._writer = new(str(path), self._schema)

    def write(self, block: Block, kept: list[int]) -> int:
        """Write the rows of a batch that are kept; a list holds what could not be read."""
        records: Any = block.records
        if isinstance(records, list):
            return 0
        if kept:
            batch = records.take(pa.array(kept, pa.int64()))
            self._writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=self._schema))
        return len(kept)

    def close(self) -> None:
        self._writer.close()


def _copy_description(source: Path, folder: Path, failed: Callable[[int], bool]) -> None:
    """Make the folder of a Hugging Face dataset loadable: its shards have the same names."""
    if not ((source / STATE).is_file() and (source / INFO).is_file()):
        return
    state = json.loads((source / STATE).read_bytes())
    state["_fingerprint"] = f"{state.get('_fingerprint', '')[:8]}-checked"
    (folder / STATE).write_text(json.dumps(state, indent=2), encoding="utf-8")
    (folder / INFO).write_bytes((source / INFO).read_bytes())
    marks = source.parent / "dataset_dict.json"
    if marks.is_file():
        (folder.parent / marks.name).write_bytes(marks.read_bytes())
