"""What the user named -> the files to read, in order, and the bytes of each, decompressed.

rollouts/            a.jsonl.gz, b.parquet, …   a folder: its tables, sorted by name
saved/               dataset_info.json, state.json, data-00000-of-00002.arrow, …
                     a Hugging Face dataset saved to disk: its shards, in its own order
rollouts.jsonl       a file
hf://datasets/…      a dataset on the Hugging Face Hub, or some of its files
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from os import PathLike, fspath
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from plaudit.scoring._errors import InputError
from plaudit.scoring._hub import PREFIX, downloaded

Inputs = str | PathLike[str] | Sequence[str | PathLike[str]]

FORMATS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
}
CODECS = {".gz": "gzip", ".zst": "zstd"}
COMPRESSIBLE = ("jsonl", "json", "csv", "tsv")
KNOWN = ".jsonl, .json, .csv, .tsv (each also .gz or .zst), .parquet or .arrow"
NOT_TABLES = {"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"}
READ_TWICE = (
    "an input is read more than once, so that a run can be resumed; "
    "write it to a file first, such as rollouts.jsonl, and pass that"
)

_SAMPLE = 1 << 16  # bytes of one sample for the fingerprint
_SAMPLES = 64
_SKIP = 1 << 20
_STEPS = (4096, 1)  # bytes to read at a time, near where a file is damaged


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read.

    name: the path as the user would write it
    format: "jsonl", "json", "csv", "tsv", "parquet" or "arrow"
    codec: "gzip", "zstd", or "" if it is not compressed
    fingerprint: a digest of its size and of samples of its bytes, by which a resumed run
        recognises it

    >>> InputFile(Path("a.jsonl.gz"), "a.jsonl.gz", "jsonl", "gzip", 120, "…").codec
    'gzip'
    """

    path: Path
    name: str
    format: str
    codec: str
    size: int
    fingerprint: str


def find_inputs(inputs: Inputs, out: Path | None = None, purpose: str = "score") -> list[InputFile]:
    """The files that the inputs name, without those in the folder `out`.

    purpose: what they are for, in complaints

    >>> find_inputs("no-such.jsonl")
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.InputError: there is no no-such.jsonl
    """
    named = [inputs] if isinstance(inputs, str | PathLike) else inputs
    paths = [path for one in named for path in _paths(fspath(one))]
    found = [file for path in paths for file in _tables_at(path, out)]
    if not found:
        raise InputError(f"pass at least one file or folder to {purpose}")
    return [_input_file(path) for path in found]


def _paths(name: str) -> list[Path]:
    if not name.startswith(PREFIX):
        return [Path(name)]
    packed = [f"{suffix}{codec}" for suffix in FORMATS for codec in CODECS]
    return downloaded(name, [*FORMATS, *packed])


def _tables_at(path: Path, out: Path | None) -> list[Path]:
    if str(path) == "-":
        raise InputError(f"standard input cannot be read: {READ_TWICE}")
    if not path.exists():
        raise InputError(f"there is no {path}")
    if not path.is_dir():
        return [path]
    try:
        tables = _once(_tables_in(path, {out.resolve()} if out else set()), path.resolve())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    if not tables:
        raise InputError(f"{path} has no table in it: expected {KNOWN}, or a saved dataset")
    return tables


def _once(tables: Iterable[Path], folder: Path) -> list[Path]:
    """The tables, each once: a link such as latest.jsonl may point to another of them."""
    inside = {path: path.resolve() for path in tables}
    first: dict[Path, Path] = {}
    for path, real in inside.items():
        first.setdefault(real if real.is_relative_to(folder) else path, path)
    return list(first.values())


def _tables_in(folder: Path, seen: set[Path]) -> Iterator[Path]:
    """The tables of a folder. `seen` are folders to leave out: links may form a loop."""
    if (real := folder.resolve()) in seen:
        return
    seen.add(real)
    if (folder / "dataset_dict.json").is_file():
        splits = _json(folder / "dataset_dict.json").get("splits", [])
        yield from (table for split in splits for table in _tables_in(folder / split, seen))
    elif (folder / "state.json").is_file() and (folder / "dataset_info.json").is_file():
        yield from _shards_of(folder)
    elif _is_scored(folder):
        yield from sorted(folder.glob("part-*.parquet"))
    else:
        for path in sorted(folder.iterdir()):
            if path.name.startswith((".", "_")) or path.name in NOT_TABLES:
                continue
            if path.is_dir():
                yield from _tables_in(path, seen)
            elif _format_of(path)[0]:
                yield path


def _shards_of(folder: Path) -> Iterable[Path]:
    """The shards of a Hugging Face dataset, in the order of its rows."""
    state = _json(folder / "state.json")
    if state.get("_indices_data_files") or state.get("_indices_files"):
        raise InputError(
            f"{folder} was saved with an indices mapping (a selection of its rows): "
            "save it again after dataset.flatten_indices()"
        )
    return [folder / shard["filename"] for shard in state.get("_data_files", [])]


def _is_scored(folder: Path) -> bool:
    runs = (folder / "_run.json", folder / "run.json")
    return any(run.is_file() and "plaudit" in _json(run) for run in runs)


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"cannot read {path}: not JSON: {error}") from error
    return value if isinstance(value, dict) else {}


def _format_of(path: Path) -> tuple[str, str]:
    """The format and the codec by the suffixes of a name; "" for none."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    codec = CODECS.get(suffixes[-1], "") if suffixes else ""
    kind = suffixes[-2 if codec else -1 :][:1]
    found = FORMATS.get(kind[0], "") if kind else ""
    return ("", "") if codec and found not in COMPRESSIBLE else (found, codec)


def _input_file(path: Path) -> InputFile:
    kind, codec = _format_of(path)
    try:
        if not path.is_file():
            raise InputError(f"{path} is {_kind_of(path)}, not a regular file: {READ_TWICE}")
        if not kind:
            raise InputError(f"cannot tell the format of {path} from its name: expected {KNOWN}")
        size = path.stat().st_size
        return InputFile(path, str(path), kind, codec, size, _fingerprint(path, size))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def _kind_of(path: Path) -> str:
    kinds = {"a pipe": path.is_fifo(), "a socket": path.is_socket(), "a folder": path.is_dir()}
    return next((kind for kind, is_it in kinds.items() if is_it), "a device")


def _fingerprint(path: Path, size: int) -> str:
    """A digest of samples spread over the file, first and last bytes included."""
    digest = blake2b(str(size).encode(), digest_size=16)
    step = max(_SAMPLE, (size - _SAMPLE) // (_SAMPLES - 1))
    with path.open("rb") as file:
        for start in [*range(0, max(size - _SAMPLE, 1), step), max(size - _SAMPLE, 0)]:
            file.seek(start)
            digest.update(file.read(_SAMPLE))
    return digest.hexdigest()


class Decompressed:
    """The decompressed bytes of a file, up to the last one that can be recovered.

    If a file is cut off or damaged, Arrow's reader raises, and the bytes that it had decompressed
    in that call are lost. Here the error is raised after those bytes.

    raw: the file, opened; its position shows how much of it has been read
    """

    def __init__(self, file: InputFile, raw: BinaryIO) -> None:
        self._file = file
        self._stream = pa.CompressedInputStream(pa.PythonFile(raw, "r"), file.codec)
        self._given = 0
        self._error: OSError | None = None

    def read(self, size: int) -> bytes:
        """This many bytes, or fewer at the end; raises where the file cannot be read on."""
        if self._error is not None:
            raise self._error
        try:
            found: bytes = self._stream.read(size)
        except OSError as error:
            self._error = error
            found = self._before_the_error(size)
            if not found:
                raise
        self._given += len(found)
        return found

    def _before_the_error(self, size: int) -> bytes:
        """The bytes from where the failed read began to where the file is damaged."""
        found = b""
        for step in _STEPS:
            with pa.input_stream(str(self._file.path), compression=self._file.codec) as stream:
                _skip(stream, self._given + len(found))
                found += _until_error(stream, step, size - len(found))
        return found


def _skip(stream: Any, size: int) -> None:
    while size > 0 and (skipped := stream.read(min(size, _SKIP))):
        size -= len(skipped)


def _until_error(stream: Any, step: int, most: int) -> bytes:
    found = bytearray()
    try:
        while len(found) + step <= most:
            found += stream.read(step)
    except OSError:
        pass  # `read` has kept it, and raises it the next time
    return bytes(found)
