"""The files of a table, by their names: files, folders, saved datasets, the Hub, URLs."""

import atexit
import json
import re
import shutil
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from plaudit.tables.errors import InputError
from plaudit.tables.storage import (
    RemoteFile,
    folder_url,
    is_url,
    local_path,
    open_input,
    raising_input_errors,
    remote_files,
    without_settings,
)

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
EXCEL = (".xlsx", ".xls")
KNOWN = ".jsonl, .json, .csv, .tsv (each also .gz or .zst), .parquet, .arrow or .xlsx"
NOT_TABLES = {"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"}
READ_TWICE = (
    "an input is read more than once, so that a run can be resumed; "
    "write it to a file first, such as rollouts.jsonl, and pass that"
)
AT_ONCE = 32  # remote files that are looked at together
HUB = "hf://"

_SAMPLE = 1 << 16  # bytes of one sample for the fingerprint
_SAMPLES = 64
_DATASET = re.compile(r"hf://datasets/([^/@]+/[^/@]+)(?:@([^/]+))?(?:/(.+?))?/?")


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file to read.

    path: where it is on this machine; for a remote file, the last part of its URL
    name: what to call it in messages: the path as the user would write it, or the URL
    codec: "gzip", "zstd", or "" if it is not compressed
    fingerprint: a digest of its size and of samples of its bytes, by which a resumed run
        recognises it
    url: of a file in the storage of a cluster; "" for one of this machine
    """

    path: Path
    name: str
    format: str
    codec: str
    size: int
    fingerprint: str
    url: str = ""


def find_inputs(
    inputs: Inputs, out: Path | str | None = None, purpose: str = "score"
) -> list[InputFile]:
    """Return the files that the inputs name, in order; raise InputError if there are none.

    inputs: a path or a URL, or several: "rollouts.jsonl", ["a/", "s3://bucket/b.parquet"]. Of a
        folder, all tables in it
    out: a folder to leave out, which the command is going to write; default: none
    purpose: a verb that says in errors what the files are for, "score"
    """
    named = [inputs] if isinstance(inputs, str | PathLike) else inputs
    here = out if isinstance(out, Path) else None
    found: list[InputFile] = []
    for name in [fspath(one) for one in named]:
        if is_url(name) and not name.startswith(HUB):
            found += _remote_inputs(name, out)
        else:
            paths = _downloaded(name) if name.startswith(HUB) else [local_path(name)]
            found += [_local_input(file) for path in paths for file in _tables_at(path, here)]
    if not found:
        raise InputError(f"pass at least one file or folder to {purpose}")
    return found


def _format_of(path: Path) -> tuple[str, str]:
    """Return the format and the codec by the suffixes of a name; "" for none."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    codec = CODECS.get(suffixes[-1], "") if suffixes else ""
    kind = suffixes[-2 if codec else -1 :][:1]
    found = FORMATS.get(kind[0], "") if kind else ""
    return ("", "") if codec and found not in COMPRESSIBLE else (found, codec)


# --- files of this machine ------------------------------------------------------------------------


def _tables_at(path: Path, out: Path | None) -> list[Path]:
    if str(path) == "-":
        raise InputError(f"standard input cannot be read: {READ_TWICE}")
    if not path.exists():
        is_on_hub = re.fullmatch(r"[\w.-]+/[\w.-]+", str(path)) and not _format_of(path)[0]
        hint = f"; a dataset of the Hugging Face Hub is named {HUB}datasets/{path}"
        raise InputError(f"there is no {path}{hint if is_on_hub else ''}")
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
    """Return the tables, each once: a link such as latest.jsonl may point to another of them."""
    first: dict[Path, Path] = {}
    for path in tables:
        real = path.resolve()
        first.setdefault(real if real.is_relative_to(folder) else path, path)
    return list(first.values())


def _tables_in(folder: Path, seen: set[Path]) -> Iterator[Path]:
    """Yield the tables of a folder. `seen` are folders to leave out: links may form a loop."""
    if (real := folder.resolve()) in seen:
        return
    seen.add(real)
    if (folder / "dataset_dict.json").is_file():
        splits = _json(folder / "dataset_dict.json").get("splits", [])
        yield from (table for split in splits for table in _tables_in(folder / split, seen))
    elif (folder / "state.json").is_file() and (folder / "dataset_info.json").is_file():
        yield from _shards_of(folder)
    elif (run := folder / "_run.json").is_file() and "plaudit" in _json(run):  # a scored folder
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
    """Return the shards of a Hugging Face dataset, in the order of its rows."""
    state = _json(folder / "state.json")
    if state.get("_indices_data_files") or state.get("_indices_files"):
        raise InputError(
            f"{folder} was saved with an indices mapping (a selection of its rows): "
            "save it again after dataset.flatten_indices()"
        )
    return [folder / shard["filename"] for shard in state.get("_data_files", [])]


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise InputError(f"cannot read {path}: not JSON: {error}") from error
    return value if isinstance(value, dict) else {}


def _local_input(path: Path) -> InputFile:
    kind, codec = _format_of(path)
    try:
        if not path.is_file():
            raise InputError(f"{path} is {_kind_of(path)}, not a regular file: {READ_TWICE}")
        if path.suffix.lower() in EXCEL:
            rows = _rows_of_excel(path)
            size = rows.stat().st_size
            return InputFile(rows, str(path), "jsonl", "", size, _fingerprint(rows, size))
        if not kind:
            raise InputError(f"cannot tell the format of {path} from its name: expected {KNOWN}")
        if kind in COMPRESSIBLE and not codec:
            _check_encoding(path)
        size = path.stat().st_size
        return InputFile(path, str(path), kind, codec, size, _fingerprint(path, size))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def _kind_of(path: Path) -> str:
    kinds = {"a pipe": path.is_fifo(), "a socket": path.is_socket(), "a folder": path.is_dir()}
    return next((kind for kind, is_it in kinds.items() if is_it), "a device")


def _fingerprint(path: Path, size: int) -> str:
    """Return a digest of samples spread over the file, first and last bytes included."""
    digest = blake2b(str(size).encode(), digest_size=16)
    step = max(_SAMPLE, (size - _SAMPLE) // (_SAMPLES - 1))
    with path.open("rb") as file:
        for start in [*range(0, max(size - _SAMPLE, 1), step), max(size - _SAMPLE, 0)]:
            file.seek(start)
            digest.update(file.read(_SAMPLE))
    return digest.hexdigest()


def _check_encoding(path: Path) -> None:
    """Raise InputError if a file of text is UTF-16, as Excel saves "Unicode text"."""
    with path.open("rb") as file:
        if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE):
            utf_8 = path.with_stem(f"{path.stem}-utf-8")
            raise InputError(
                f"{path} is UTF-16, and text must be UTF-8: save it as UTF-8, such as with "
                f"`iconv -f UTF-16 -t UTF-8 {path} > {utf_8}`"
            )


def _rows_of_excel(path: Path) -> Path:
    """Return the first sheet as a file of JSON lines, which is removed when Python ends."""
    try:
        table = import_module("pandas").read_excel(path, dtype=object)
    except ImportError as error:
        raise InputError(
            f"{path} is an Excel file, which pandas reads: pip install pandas openpyxl, or save it "
            "as CSV"
        ) from error
    except Exception as error:  # whatever the reader of a damaged file raises
        raise InputError(f"cannot read {path} as an Excel file: {error}") from error
    rows = table.astype(object).where(table.notna(), None).to_dict("records")
    written = Path(_excel_folder(), f"{len(list(Path(_excel_folder()).iterdir()))}.jsonl")
    written.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows), "utf-8")
    return written


@cache
def _excel_folder() -> str:
    folder = mkdtemp(prefix="plaudit-excel-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


# --- files elsewhere ------------------------------------------------------------------------------


def _remote_inputs(url: str, out: Path | str | None) -> list[InputFile]:
    found = remote_files(url)
    if not found[0].name:
        return [_remote_input(found[0])]
    if any(Path(file.name).name in ("state.json", "dataset_dict.json") for file in found):
        shards = f"{without_settings(url).rstrip('/')}/data-*.arrow"
        raise InputError(f"{url} is a dataset that was saved to disk: name its shards, as {shards}")
    own = f"{without_settings(folder_url(out))}/" if isinstance(out, str) else None
    tables = [file for file in found if _is_table(file.name)]
    tables = [file for file in tables if own is None or not file.url.startswith(own)]
    if not tables:
        raise InputError(f"{url} has no table in it: expected {KNOWN}")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(_remote_input, tables))


def _is_table(name: str) -> bool:
    """Return whether a file below a folder is one of its tables, and not hidden by its name."""
    hidden = any(part.startswith((".", "_")) for part in name.split("/"))
    return not hidden and Path(name).name not in NOT_TABLES and bool(_format_of(Path(name))[0])


def _remote_input(file: RemoteFile) -> InputFile:
    name = without_settings(file.url)
    path = Path(name)
    kind, codec = _format_of(path)
    if not kind:
        raise InputError(f"cannot tell the format of {file.url} from its name: expected {KNOWN}")
    digest = blake2b(f"{file.size} {file.changed}".encode(), digest_size=16)
    with raising_input_errors(file.url), open_input(file.url) as raw:
        for start in dict.fromkeys([0, max(file.size - _SAMPLE, 0)]) if file.size else ():
            raw.seek(start)
            digest.update(raw.read(_SAMPLE))
    return InputFile(Path(path.name), name, kind, codec, file.size, digest.hexdigest(), file.url)


def _downloaded(address: str) -> list[Path]:
    """Download what an address names from the Hugging Face Hub, and return the local paths."""
    found = _DATASET.fullmatch(address)
    if found is None:
        raise InputError(
            f"{address} is no dataset: expected hf://datasets/ORG/NAME, "
            "hf://datasets/ORG/NAME/PATH or hf://datasets/ORG/NAME@REVISION/PATH"
        )
    name, revision, inside = found.groups()
    tables = [*FORMATS, *(f"{suffix}{codec}" for suffix in FORMATS for codec in CODECS)]
    patterns = [inside, f"{inside}/*"] if inside else [f"*{suffix}" for suffix in tables]
    folder = _snapshot(address, name, revision, patterns)
    paths = sorted(folder.glob(inside)) if inside else [folder]
    if not any(path.exists() for path in paths):
        raise InputError(f"{address} names no file of the dataset {name}")
    return paths


def _snapshot(address: str, name: str, revision: str | None, patterns: list[str]) -> Path:
    try:
        import huggingface_hub
    except ModuleNotFoundError as error:
        raise InputError(
            f"{address} is read with huggingface_hub: pip install 'plaudit[hub]'"
        ) from error
    try:
        folder = huggingface_hub.snapshot_download(
            name, repo_type="dataset", revision=revision, allow_patterns=patterns
        )
    except Exception as error:  # those of the hub, of its HTTP client, of the system
        why = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise InputError(
            f"cannot download {address}: {why} (is the name right, and `hf auth login` done for a "
            "dataset that is not public?)"
        ) from error
    return Path(folder)
