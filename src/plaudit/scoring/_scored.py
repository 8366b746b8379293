"""A folder that `plaudit score` wrote, read again.

part-00000.parquet …   row_id, group_id, the input's columns, a column a component,
                       total, status, explanation
_run.json               {"components": ["accuracy_reward"], "recipe": "…", "inputs": [...]}
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from plaudit.scoring._errors import InputError

AT_ONCE = 1024  # rows that are held with their texts


@dataclass(frozen=True, slots=True)
class ScoredFolder:
    """What a run wrote. `run` is what _run.json holds.

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

    def columns(self, *needed: str) -> list[str]:
        """The names of its columns; raises where a part has not all that are needed."""
        names: list[str] = []
        for part in self.parts:
            try:
                names = pq.read_schema(part).names
            except (OSError, pa.ArrowException) as error:
                raise _unreadable(part, error) from error
            for name in needed:
                if name not in names:
                    raise InputError(f"{part} has no column {name}: this run did not write it")
        return names

    def batches(self, columns: Sequence[str]) -> Iterator[tuple[Path, pa.RecordBatch]]:
        """Its rows in order, with these columns; each batch with the part that it is from."""
        for part in self.parts:
            try:
                with pq.ParquetFile(part, pre_buffer=False) as file:
                    for batch in file.iter_batches(AT_ONCE, columns=list(columns)):
                        yield part, batch.select(columns)
            except (OSError, pa.ArrowException) as error:
                raise _unreadable(part, error) from error


def open_scored(path: Path) -> ScoredFolder:
    """The folder that a run wrote; raises InputError where it is none.

    >>> open_scored(Path("no-such-run"))
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.InputError: there is no folder no-such-run
    """
    if not path.is_dir():
        raise InputError(f"there is no folder {path}")
    run = _run(path)
    components = run.get("components")
    if not isinstance(components, list) or not components:
        raise InputError(f"{path / '_run.json'} names no components")
    parts = tuple(sorted(path.glob("part-*.parquet")))
    return ScoredFolder(path, parts, tuple(map(str, components)), run)


def _run(path: Path) -> dict[str, Any]:
    file = path / "_run.json"
    try:
        run = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        of_old = (path / "run.json").exists()
        wrote = "an earlier plaudit wrote it: score the table again, with --overwrite"
        why = wrote if of_old else "it is no folder that `plaudit score` wrote"
        raise InputError(f"{path} has no _run.json: {why}") from error
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {file}: {error}") from error
    if not isinstance(run, dict):
        raise InputError(f"{file} must hold an object, got {type(run).__name__}")
    return run


def _unreadable(part: Path, error: Exception) -> InputError:
    return InputError(f"cannot read {part}: {str(error).splitlines()[0]}")
