"""A table in, a scored table out."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import plaudit
from plaudit.recipes import Recipe
from plaudit.scoring._chunks import SIZES, Chunk, chunks_of
from plaudit.scoring._errors import InputError, RejectedRowError, StoppedError
from plaudit.scoring._first_parts import FirstParts
from plaudit.scoring._folder import GO_ON, OutputFolder
from plaudit.scoring._inputs import InputFile, find_inputs
from plaudit.scoring._local import score_locally
from plaudit.scoring._plan import Plan, make_plan
from plaudit.scoring._progress import Progress
from plaudit.scoring._ray import score_on_ray
from plaudit.scoring._rows import Rejected
from plaudit.scoring._score_chunk import ScoredChunk
from plaudit.scoring._summary import ScoreSummary

ENGINES = ("local", "ray")


def score_table(
    inputs: Sequence[Path],
    recipe: Recipe,
    out: Path,
    *,
    engine: str = "local",
    workers: int | None = None,
    ray_address: str | None = None,
    completions: str | None = None,
    group: str | None = None,
    columns: Mapping[str, str] | None = None,
    strict: bool = False,
    overwrite: bool = False,
    limit: int | None = None,
    progress: TextIO | None = None,
) -> ScoreSummary:
    """Score the rows of some files with a recipe, into a folder of Parquet parts.

    A run that was stopped goes on when it is called again, and ends with the same bytes.

    engine, workers, ray_address: where the work is done, and by how many
    completions: the column that holds them, unless it is `completion` or `completions`
    group: the column whose values say which rows belong together
    columns: a reward's argument -> the column that it is read from
    strict: raise at the first row that is rejected
    overwrite: start anew, whatever is in the folder
    limit: score only the first records
    progress: where to show how far it is

    >>> import tempfile
    >>> from plaudit.recipes import load
    >>> folder = Path(tempfile.mkdtemp())
    >>> rollouts = folder / "rollouts.jsonl"
    >>> _ = rollouts.write_text('{"completion": "So \\\\\\\\boxed{4}.", "solution": "4"}')
    >>> summary = score_table([rollouts], load("trl-math"), folder / "scored")
    >>> summary.rows, summary.values["total"]
    (1, (1, 1.0))
    """
    start = time.monotonic()
    _check(engine, workers, limit, ray_address)
    with _trouble_of_the_machine():
        files = find_inputs(inputs, out)
        mapped = {**(columns or {}), **({"completions": completions} if completions else {})}
        recipe = _with_columns(recipe, mapped)
        plan = make_plan(files, recipe, completions, group)
        manifest = _manifest(files, plan, limit)
        with OutputFolder(out, manifest, overwrite) as folder:
            if not folder.is_finished:
                run = _Run(folder, files, plan, strict, progress, limit)
                folder.finish(run.parts(engine, workers, ray_address))
            return folder.summary(time.monotonic() - start)


@contextmanager
def _trouble_of_the_machine() -> Iterator[None]:
    """Say of what the machine lacks for a moment, wherever it shows, that the run can go on."""
    try:
        yield
    except MemoryError as error:
        raise StoppedError(f"there is too little memory. {GO_ON}") from error
    except BrokenPipeError:
        raise  # nobody reads what is said
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise StoppedError(f"cannot go on: {error.strerror or error}{where}. {GO_ON}") from error


def _check(engine: str, workers: int | None, limit: int | None, ray_address: str | None) -> None:
    if engine not in ENGINES:
        raise InputError(f"there is no engine {engine!r}: choose {' or '.join(ENGINES)}")
    if ray_address and engine != "ray":
        raise InputError(f"--ray-address {ray_address} is of no use without --engine ray")
    for name, value in (("workers", workers), ("limit", limit)):
        if value is not None and value < 1:
            raise InputError(f"{name} must be 1 or more, got {value}")


def _with_columns(recipe: Recipe, columns: Mapping[str, str]) -> Recipe:
    try:
        return replace(recipe, columns={**recipe.columns, **columns}) if columns else recipe
    except ValueError as error:
        needs = recipe.needs()
        turned = [f"--column {c}={a}" for a, c in columns.items() if a not in needs and c in needs]
        hint = f". The argument comes first: did you mean {' '.join(turned)}?" if turned else ""
        raise InputError(f"{error}{hint}") from error


def _manifest(files: Sequence[InputFile], plan: Plan, limit: int | None) -> dict[str, Any]:
    """What a run is: whoever has the same goes on with it."""
    return {
        "plaudit": plaudit.__version__,
        "recipe": plan.recipe.to_toml(),
        "components": [component.name for component in plan.recipe.components],
        "inputs": [
            {"path": file.name, "size": file.size, "fingerprint": file.fingerprint}
            for file in files
        ],
        "limit": limit,
        "completions": plan.completions,
        "completion_column": plan.completion_column,
        "group": plan.group,
        "columns": [{"name": column.name, "type": column.kind()} for column in plan.columns],
        "part_sizes": SIZES,
        "limits": plan.limits,
    }


class _Run:
    """One run through the chunks that are not there yet."""

    def __init__(
        self,
        folder: OutputFolder,
        files: Sequence[InputFile],
        plan: Plan,
        strict: bool,
        progress: TextIO | None,
        limit: int | None,
    ) -> None:
        self._folder = folder
        self._plan = plan
        self._strict = strict
        self._progress = Progress(progress, sum(file.size for file in files))
        self._chunks = chunks_of(files, plan, limit)
        self._first_parts = FirstParts()
        self._parts = 0
        self._read: dict[int, int] = {}
        self._first_rejected: Rejected | None = None

    def parts(self, engine: str, workers: int | None, ray_address: str | None) -> int:
        """Score what is missing, and say how many parts there are."""
        missing = self._missing()
        if engine == "ray":
            scored = score_on_ray(missing, self._plan, workers, ray_address)
        else:
            scored = score_locally(missing, self._plan, workers)
        try:
            for chunk in scored:
                self._take(chunk)
        finally:
            scored.close()
            self._progress.close()
        self._complain()
        self._first_parts.check()
        return self._parts

    def _missing(self) -> Iterator[Chunk]:
        for chunk in self._chunks:
            self._parts += 1
            if self._folder.has(chunk.number):
                about = self._folder.about(chunk.number)
                self._first_parts.found(chunk.number)
                self._progress.found(about, chunk.read)
                self._note([Rejected(**row) for row in about["rejected"][:1]])
            else:
                self._read[chunk.number] = chunk.read
                yield chunk
            if self._first_parts.all_failed:
                return
            if self._strict and self._first_rejected is not None:
                return  # what is under way may hold an earlier one, what follows cannot

    def _take(self, scored: ScoredChunk) -> None:
        for part in self._first_parts.ready(scored):
            self._folder.add(part)
        read = self._read.pop(scored.number)
        self._progress.scored(scored.rows, len(scored.rejected), scored.statuses, read)
        self._note(scored.rejected)

    def _note(self, rejected: Sequence[Rejected]) -> None:
        known = [self._first_rejected] if self._first_rejected else []
        self._first_rejected = min([*known, *rejected], key=lambda one: one.row_id, default=None)

    def _complain(self) -> None:
        first = self._first_rejected
        if self._strict and first is not None:
            raise RejectedRowError(f"{first.file}, line {first.line}: {first.reason}")
