"""What the user named -> the files to read, in order.

rollouts/            a.jsonl.gz, b.parquet, …   a folder: its tables, sorted by name
saved/               dataset_info.json, state.json, data-00000-of-00002.arrow, …
                     a Hugging Face dataset saved to disk: its shards, in its own order
rollouts.jsonl       a file
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from plaudit.scoring._errors import InputError

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
NO_TABLES = {"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"}
READ_TWICE = (
    "an input is read more than once, so that a run can go on where it stopped; "
    "write it to a file first, such as rollouts.jsonl, and name that"
)

_SAMPLE = 1 << 16  # bytes of a file that are looked at in one place
_SAMPLES = 64


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read.

    name: the path as the user would write it; codec: how it is compressed, or ""
    fingerprint: of its size and of samples of its bytes, so that a resumed run knows it again
    """

    path: Path
    name: str
    format: str
    codec: str
    size: int
    fingerprint: str


def find_inputs(paths: Sequence[Path], out: Path) -> list[InputFile]:
    """The files that the paths name; what is in the folder `out` is not among them."""
    found = [file for path in paths for file in _tables_at(path, out)]
    if not found:
        raise InputError("name at least one file or folder to score")
    return [_input_file(path) for path in found]


def _tables_at(path: Path, out: Path) -> list[Path]:
    if str(path) == "-":
        raise InputError(f"standard input cannot be scored: {READ_TWICE}")
    if not path.exists():
        raise InputError(f"there is no {path}")
    if not path.is_dir():
        return [path]
    try:
        tables = _once(_tables_in(path, {out.resolve()}), path.resolve())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    if not tables:
        raise InputError(f"{path} holds no table: expected {KNOWN}, or a saved dataset")
    return tables


def _once(tables: Iterable[Path], folder: Path) -> list[Path]:
    """The tables, each once: a link such as latest.jsonl is another name of what is there too."""
    inside = {path: path.resolve() for path in tables}
    first: dict[Path, Path] = {}
    for path, real in inside.items():
        first.setdefault(real if real.is_relative_to(folder) else path, path)
    return list(first.values())


def _tables_in(folder: Path, seen: set[Path]) -> Iterator[Path]:
    """The tables of a folder. `seen` are folders to leave out: links may lead in a circle."""
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
            if path.name.startswith((".", "_")) or path.name in NO_TABLES:
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
            f"{folder} was saved with a selection of rows beside it: "
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
        raise InputError(f"cannot read {path}: it is no JSON: {error}") from error
    return value if isinstance(value, dict) else {}


def _format_of(path: Path) -> tuple[str, str]:
    """The format and the codec that a name says; "" where it says none."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    codec = CODECS.get(suffixes[-1], "") if suffixes else ""
    kind = suffixes[-2 if codec else -1 :][:1]
    found = FORMATS.get(kind[0], "") if kind else ""
    return ("", "") if codec and found not in COMPRESSIBLE else (found, codec)


def _input_file(path: Path) -> InputFile:
    kind, codec = _format_of(path)
    try:
        if not path.is_file():
            raise InputError(f"{path} is no regular file, but {_kind_of(path)}: {READ_TWICE}")
        if not kind:
            raise InputError(f"cannot tell what {path} is by its name: expected {KNOWN}")
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
