"""The folder of a run, read again: its parts, components and columns."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from plaudit.recording import recover
from plaudit.scored_columns import read_names, renamed_in
from plaudit.scoring._errors import InputError
from plaudit.scoring._storage import local_path, url_in

AT_ONCE = 1024  # rows that are held in memory with their texts


@dataclass(frozen=True, slots=True)
class ScoredFolder:
    """A folder that a run wrote, to be read again.

    parts: its files part-….parquet, in order
    components: the names of the rewards, each of which is a column
    run: what _run.json holds

    Columns that were renamed because the input has their names are read by their usual names.

    >>> import tempfile
    >>> from plaudit.recipes import load
    >>> from plaudit.scoring import score_table
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.jsonl").write_text('{"completion": "<think>Hm.</think>", "solution": "4"}')
    >>> _ = score_table([folder / "a.jsonl"], load("trl-reasoning"), folder / "scored")
    >>> scored = open_scored(folder / "scored")
    >>> scored.components
    ('reasoning_accuracy_reward', 'think_format_reward')
    >>> [batch.to_pylist() for _, batch in scored.batches(["row_id", "total"])]
    [[{'row_id': 0, 'total': 1.0}]]
    """

    path: Path
    parts: tuple[Path, ...]
    components: tuple[str, ...]
    run: Mapping[str, Any]

    @property
    def renamed(self) -> Mapping[str, str]:
        """The added columns that are not called by their usual names, usual name -> column."""
        return renamed_in(self.run)

    def columns(self, *needed: str) -> list[str]:
        """The names of its columns; raises InputError if a part lacks one that is needed."""
        names: list[str] = []
        for part in self.parts:
            try:
                names = self.schema(part).names
            except (OSError, pa.ArrowException) as error:
                raise _unreadable(part, error) from error
            for name in needed:
                if name not in names:
                    raise InputError(f"{part} has no column {name}: `plaudit score` writes one")
        return names

    def schema(self, part: Path) -> pa.Schema:
        """The columns of a part, and their types."""
        schema = pq.read_schema(part)
        named = read_names(schema.names, self.renamed)
        return pa.schema([schema.field(old).with_name(name) for name, old in named.items()])

    def batches(
        self, columns: Sequence[str], parts: Sequence[Path] | None = None
    ) -> Iterator[tuple[Path, pa.RecordBatch]]:
        """Its rows in order, with these columns; each batch with the part that it comes from."""
        for part in self.parts if parts is None else parts:
            try:
                with pq.ParquetFile(part, pre_buffer=False) as file:
                    named = read_names(file.schema_arrow.names, self.renamed)
                    written = [named.get(name, name) for name in columns]
                    for batch in file.iter_batches(AT_ONCE, columns=written):
                        yield part, batch.select(written).rename_columns(list(columns))
            except (OSError, pa.ArrowException) as error:
                raise _unreadable(part, error) from error


def open_scored(folder: str | PathLike[str]) -> ScoredFolder:
    """The folder that a run wrote; raises InputError if it is not one.

    >>> open_scored("no-such-run")
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.InputError: there is no folder no-such-run
    """
    if url := url_in(fspath(folder)):
        raise InputError(
            f"{url} is not on this machine, and only local folders can be read here: copy it "
            f"first, such as with `aws s3 sync {url} scored`, and pass scored"
        )
    path = local_path(fspath(folder))
    if path.is_file():
        raise InputError(
            f"{path} is a table, and not a folder of scores: score it first, with `plaudit score "
            f"{path} --recipe math --out scored`, and pass scored"
        )
    if not path.is_dir():
        raise InputError(f"there is no folder {path}")
    run = _run(path)
    components = run.get("components")
    if not isinstance(components, list) or not components:
        raise InputError(f"{path / '_run.json'} has no list of components")
    if run.get("recorded"):
        recover(path)
    parts = tuple(sorted(path.glob("part-*.parquet")))
    return ScoredFolder(path, parts, tuple(map(str, components)), run)


def _run(path: Path) -> dict[str, Any]:
    file = path / "_run.json"
    try:
        run = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        is_old = (path / "run.json").exists()
        old = "an earlier version of plaudit wrote it: score the table again, with --overwrite"
        why = old if is_old else "it is not a folder that `plaudit score` wrote"
        raise InputError(f"{path} has no _run.json: {why}") from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {file}: {error}") from error
    if not isinstance(run, dict):
        raise InputError(f"{file} must hold an object, got {type(run).__name__}")
    return run


def _unreadable(part: Path, error: Exception) -> InputError:
    return InputError(f"cannot read {part}: {str(error).splitlines()[0]}")
