"""Score files into a folder of Parquet parts, on every core of this machine or on Ray."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from typing import Any, TextIO

import plaudit
from plaudit.inputs.columns import GOLD, first_of
from plaudit.judge import math_verify_installed, warn_of_untested_version
from plaudit.processes import cores
from plaudit.recipes.recipe import as_recipe
from plaudit.recipes.row_score import renamed_note
from plaudit.tables.engines import score_locally, score_on_ray
from plaudit.tables.errors import InputError, RejectedRowError
from plaudit.tables.inputs import InputFile, Inputs, find_inputs
from plaudit.tables.output import OutputFolder
from plaudit.tables.plan import Plan, check_numbers, heads_of, plan_of, with_columns
from plaudit.tables.readers import GROWS_EVERY, LARGEST, SMALLEST, Chunk, chunks_of
from plaudit.tables.score_chunk import ROW_IDS, FirstParts, PartCounts, Rejected, ScoredChunk
from plaudit.tables.storage import folder_url, is_url, local_path, stopping_on_system_errors
from plaudit.tables.summary import ScoreProgress, ScoreSummary

ENGINES = ("local", "ray")
SIZES = {"from_bytes": SMALLEST, "to_bytes": LARGEST, "doubled_every": GROWS_EVERY}


def score_table(
    inputs: Inputs,
    recipe: Any,
    out: str | PathLike[str],
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

    The same call resumes a run that was stopped, and the folder ends up with the same bytes.

    inputs: a file or a folder, or several, which together are one table; also in the storage of a
        cluster, such as s3://bucket/rollouts, and hf://datasets/ORG/NAME, a dataset on the Hub
    recipe: a Recipe, the name of a preset, a TOML file, a reward or a list of rewards
    out: the folder to write, a path or a URL such as s3://bucket/scored
    engine: "local" for processes on this machine, "ray" for tasks on a Ray cluster
    workers: how many processes or tasks at once, such as 8; default: one per core, and on Ray two
        per core
    ray_address: the cluster, such as "auto" or "ray://head:10001"; default: the environment
        variable RAY_ADDRESS, or a new cluster on this machine
    completions: the column with what the model wrote; default: `completion` or `completions`, else
        a guess by the names of the columns
    group: the column whose value is the same for all answers to one prompt, such as "prompt_id";
        default: the completions of one list are a group, else `prompt`, `problem` or `question`
    columns: the column that an argument of the rewards is read from, {"solution": "answer"};
        default: the one of that name, else a guess, which is printed to `progress`
    strict: whether to raise RejectedRowError at the first row that is rejected; default: score the
        other rows
    overwrite: whether to remove an earlier run from the folder; default: resume it, or raise
        InputError if it is a different run
    limit: how many rows of the input to score, from the first on, such as 100; default: all
    progress: where to show progress, such as sys.stderr; default: nowhere

    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> rollouts = folder / "rollouts.jsonl"
    >>> _ = rollouts.write_text('{"completion": "So \\\\\\\\boxed{4}.", "solution": "4"}')
    >>> summary = score_table(rollouts, "trl-math", folder / "scored")
    >>> summary.rows, summary.values["total"]
    (1, (1, 1.0))
    """
    start = time.monotonic()
    if engine not in ENGINES:
        raise InputError(f"there is no engine {engine!r}: choose {' or '.join(ENGINES)}")
    if ray_address and engine != "ray":
        raise InputError(f"--ray-address {ray_address} has no effect without --engine ray")
    check_numbers(workers=workers, limit=limit)
    with stopping_on_system_errors():
        path = folder_url(fspath(out)) if is_url(fspath(out)) else local_path(fspath(out))
        files = find_inputs(inputs, path)
        mapped = {**(columns or {}), **({"completions": completions} if completions else {})}
        chosen = with_columns(as_recipe(recipe), mapped)
        plan = plan_of(heads_of(files), chosen, completions, group)
        _print_guesses(plan, progress)
        manifest = _manifest(files, plan, limit)
        warn_of_untested_version()  # here, and not in each of the workers
        with OutputFolder(path, manifest, overwrite) as folder:
            was_finished, rows_before = folder.is_finished, 0
            if not was_finished:
                # A worker may be in another folder, if a reward moves there.
                here = tuple(replace(file, path=file.path.absolute()) for file in files)
                plan = replace(plan, inputs=here, out=path if isinstance(path, str) else "")
                run = _FolderRun(folder, plan, strict, progress)
                folder.finish(run.score(engine, workers, ray_address, limit))
                rows_before = run.rows_before
            return folder.summary(time.monotonic() - start, was_finished, rows_before)


def _print_guesses(plan: Plan, out: TextIO | None) -> None:
    if out is None:
        return
    for argument, column in plan.guessed.items():
        is_text = argument == "completions"
        option = "--completions COLUMN" if is_text else f"--column {argument}=COLUMN"
        print(f"plaudit: {argument}: column {column} (for another, say {option})", file=out)
    # If `solution` is read by its name alone, another column may hold golds, too.
    is_named = "solution" in plan.recipe.columns or "solution" not in plan.required_columns
    names = [column.source for column in plan.columns if column.source not in plan.reward_columns]
    if not is_named and (other := first_of(GOLD, names)):
        hint = f"for {other}, say --column solution={other}"
        print(f"plaudit: solution: column solution ({hint})", file=out)
    if plan.renamed:
        print(f"plaudit: {renamed_note(plan.renamed)}", file=out)


def _manifest(files: Sequence[InputFile], plan: Plan, limit: int | None) -> dict[str, Any]:
    """Return what is scored, and how: a later call with the same manifest resumes the run."""
    try:
        recipe = plan.recipe.to_toml()
    except ValueError as error:
        raise InputError(str(error)) from error
    return {
        "plaudit": plaudit.__version__,
        "recipe": recipe,
        "components": [component.name for component in plan.recipe.components],
        "inputs": [
            {"path": file.name, "size": file.size, "fingerprint": file.fingerprint}
            for file in files
        ],
        "limit": limit,
        "completions": plan.completions,
        "completion_column": plan.completion_column,
        "group": plan.group,
        "renamed": plan.renamed,
        "columns": [{"name": column.name, "type": column.kind()} for column in plan.columns],
        "part_sizes": SIZES,
        "limits": plan.limits,
        "math_verify": math_verify_installed().version,
    }


@dataclass(slots=True)
class _FolderRun:
    """Scores the chunks whose parts are not there yet."""

    _folder: OutputFolder
    _plan: Plan
    _strict: bool
    _out: TextIO | None
    rows_before: int = 0  # of the parts that were there already
    _progress: ScoreProgress = field(init=False)
    _first_parts: FirstParts = field(default_factory=FirstParts)
    _parts: int = 0
    _read: dict[int, int] = field(default_factory=dict)
    # The file and the lines of each part.
    _lines: dict[int, tuple[int, int]] = field(default_factory=dict)
    _first_rejected: Rejected | None = None

    def score(
        self, engine: str, workers: int | None, ray_address: str | None, limit: int | None
    ) -> int:
        """Score what is missing, and return how many parts there are."""
        # How many tasks Ray runs at once is for the cluster to say.
        at_once = None if engine == "ray" else workers or cores()
        self._progress = ScoreProgress(self._out, sum(f.size for f in self._plan.inputs), at_once)
        missing = self._missing(chunks_of(self._plan.inputs, limit, ranges=True))
        if engine == "ray":
            scored = score_on_ray(missing, self._plan, workers, ray_address)
        else:
            scored = score_locally(missing, self._plan, workers)
        try:
            for chunk in scored:
                self._write(chunk)
        finally:
            scored.close()
            self._progress.close()
        self._raise_if_strict()
        self._first_parts.check()
        return self._parts

    def _missing(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            self._parts += 1
            if self._folder.has(chunk.number):
                counts = self._folder.part_counts(chunk.number)
                self._first_parts.found(chunk.number)
                self._progress.found(counts, chunk.read)
                self.rows_before += counts["rows"]
                self._remember(chunk.number, counts)
            else:
                self._read[chunk.number] = chunk.read
                yield chunk
            if self._first_parts.all_failed:
                return
            if self._strict and self._first_rejected is not None:
                return  # chunks being scored may hold an earlier one, those that follow cannot

    def _write(self, scored: ScoredChunk) -> None:
        for part in self._first_parts.ready(scored):
            self._folder.add(part)
        counts, read = scored.counts, self._read.pop(scored.number)
        known = counts["rows"], len(counts["rejected"]), counts["statuses"]
        self._progress.scored(*known, read, scored.seconds)
        self._remember(scored.number, counts)

    def _remember(self, number: int, counts: PartCounts) -> None:
        self._lines[number] = counts["file"], counts["lines"]
        known = [self._first_rejected] if self._first_rejected else []
        rows = [*known, *counts["rejected"][:1]]  # of a part, the first comes first
        self._first_rejected = min(rows, key=lambda one: one["row_id"], default=None)

    def _raise_if_strict(self) -> None:
        first = self._first_rejected
        if self._strict and first is not None:
            number = first["row_id"] // ROW_IDS
            before: Counter[int] = Counter()
            for part in range(number):
                file, lines = self._lines[part]
                before[file] += lines
            line = first["line"] + before[self._lines[number][0]]
            raise RejectedRowError(f"{first['file']}, line {line}: {first['reason']}")
