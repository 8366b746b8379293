"""A table in, a scored table out: reads the input, has an engine score it, writes the parts."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from numbers import Integral
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TextIO

import plaudit
from plaudit.column_names import GOLD, first_of
from plaudit.judge import math_verify_installed, warn_of_untested_version
from plaudit.processes import cores
from plaudit.recipes import Recipe, as_recipe
from plaudit.scored_columns import renamed_note
from plaudit.scoring._chunks import SIZES, Chunk, chunks_of
from plaudit.scoring._errors import (
    RESUME_HINT,
    RETRY_HINT,
    Failure,
    InputError,
    RejectedRowError,
    StoppedError,
    StorageError,
)
from plaudit.scoring._folder import FIRST, OutputFolder
from plaudit.scoring._inputs import InputFile, Inputs, find_inputs
from plaudit.scoring._local import score_locally
from plaudit.scoring._plan import Plan, make_plan
from plaudit.scoring._ray import chunks_on_ray, score_on_ray
from plaudit.scoring._rows import Rejected
from plaudit.scoring._score_chunk import ScoredChunk
from plaudit.scoring._storage import folder_url, is_url, local_path, why
from plaudit.scoring._summary import Progress, ScoreSummary

ENGINES = ("local", "ray")


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
    _check(engine, workers, limit, ray_address)
    with stopping_on_system_errors():
        folder_path = _folder_path(fspath(out))
        files = find_inputs(inputs, folder_path)
        mapped = {**(columns or {}), **({"completions": completions} if completions else {})}
        chosen = with_columns(as_recipe(recipe), mapped)
        plan = make_plan(files, chosen, completions, group)
        _tell_guesses(plan, progress)
        manifest = _manifest(files, plan, limit)
        warn_of_untested_version()  # here, and not in each of the workers
        with OutputFolder(folder_path, manifest, overwrite) as folder:
            was_finished, rows_before = folder.is_finished, 0
            if not was_finished:
                url = folder_path if isinstance(folder_path, str) else ""
                plan = replace(plan, inputs=tuple(files), out=url)
                is_ray = engine == "ray"
                chunks = (chunks_on_ray if is_ray else chunks_of)(files, plan, limit)
                run = _Run(folder, chunks, plan, strict, progress)
                folder.finish(run.parts(engine, workers, ray_address))
                rows_before = run.rows_before
            return folder.summary(time.monotonic() - start, was_finished, rows_before)


def _folder_path(out: str) -> Path | str:
    return folder_url(out) if is_url(out) else local_path(out)


def _tell_guesses(plan: Plan, out: TextIO | None) -> None:
    for argument, column in plan.guessed.items() if out is not None else ():
        is_text = argument == "completions"
        option = "--completions COLUMN" if is_text else f"--column {argument}=COLUMN"
        print(f"plaudit: {argument}: column {column} (for another, say {option})", file=out)
    if out is not None and (other := _other_gold(plan)):
        hint = f"for {other}, say --column solution={other}"
        print(f"plaudit: solution: column solution ({hint})", file=out)
    if out is not None and plan.renamed:
        print(f"plaudit: {renamed_note(plan.renamed)}", file=out)


def _other_gold(plan: Plan) -> str | None:
    """A column that may hold the golds as well as `solution`, if that is read by its name alone."""
    is_named = "solution" in plan.recipe.columns or "solution" not in plan.required_columns
    names = [column.source for column in plan.columns if column.source not in plan.reward_columns]
    return None if is_named else first_of(GOLD, names)


@contextmanager
def stopping_on_system_errors(hint: str = RESUME_HINT) -> Iterator[None]:
    """Raise StoppedError if memory, descriptors or the like run out; `hint` says what to do then.

    >>> with stopping_on_system_errors("Try again."):
    ...     raise MemoryError
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.StoppedError: there is too little memory. Try again.
    """
    try:
        yield
    except StorageError as error:
        raise StoppedError(f"{error}. {hint}") from error
    except MemoryError as error:
        raise StoppedError(f"there is too little memory. {hint}") from error
    except BrokenPipeError:
        raise  # nobody reads the output: the command line exits without a message
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise StoppedError(f"cannot continue: {why(error)}{where}. {hint}") from error


def _check(engine: str, workers: int | None, limit: int | None, ray_address: str | None) -> None:
    if engine not in ENGINES:
        raise InputError(f"there is no engine {engine!r}: choose {' or '.join(ENGINES)}")
    if ray_address and engine != "ray":
        raise InputError(f"--ray-address {ray_address} has no effect without --engine ray")
    check_numbers(workers=workers, limit=limit)


def check_numbers(**numbers: int | None) -> None:
    """Raise InputError for an option that is not a whole number of at least 1; None is left out.

    >>> check_numbers(workers=None, limit=0)
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.InputError: limit must be 1 or more, got 0
    """
    for name, value in numbers.items():
        if value is None:
            continue
        if not isinstance(value, Integral):
            raise InputError(f"{name} must be a whole number, got {value!r:.80}")
        if value < 1:
            raise InputError(f"{name} must be 1 or more, got {value}")


def with_columns(recipe: Recipe, columns: Mapping[str, str]) -> Recipe:
    """The recipe with further columns, argument -> column.

    Raises InputError for an argument that none of its rewards takes.

    >>> from plaudit.recipes import load
    >>> with_columns(load("trl-math"), {"solution": "answer"}).needs()
    {'solution': 'answer'}
    """
    try:
        return replace(recipe, columns={**recipe.columns, **columns}) if columns else recipe
    except ValueError as error:
        needs = recipe.needs()
        turned = [
            f"--column {c}={a}"
            for a, c in columns.items()
            if c in needs and not get_close_matches(a, needs)  # else it is misspelt
        ]
        hint = f". The argument comes first: did you mean {' '.join(turned)}?" if turned else ""
        raise InputError(f"{error}{hint}") from error


def _manifest(files: Sequence[InputFile], plan: Plan, limit: int | None) -> dict[str, Any]:
    """What is scored, and how: a later call with the same manifest resumes the run."""
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


class _Run:
    """Scores the chunks whose parts are not there yet."""

    def __init__(
        self,
        folder: OutputFolder,
        chunks: Iterator[Chunk],
        plan: Plan,
        strict: bool,
        progress: TextIO | None,
    ) -> None:
        self._folder = folder
        self._plan = plan
        self._strict = strict
        self._out, self._total = progress, sum(file.size for file in plan.inputs)
        self._progress = Progress(None, 0)
        self._chunks = chunks
        self._first_parts = FirstParts()
        self.rows_before = 0  # of the parts that were there already
        self._parts = 0
        self._read: dict[int, int] = {}
        self._first_rejected: Rejected | None = None

    def parts(self, engine: str, workers: int | None, ray_address: str | None) -> int:
        """Score what is missing, and return how many parts there are."""
        # How many tasks Ray runs at once is for the cluster to say.
        at_once = None if engine == "ray" else workers or cores()
        self._progress = Progress(self._out, self._total, at_once)
        missing = self._missing()
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

    def _missing(self) -> Iterator[Chunk]:
        for chunk in self._chunks:
            self._parts += 1
            if self._folder.has(chunk.number):
                counts = self._folder.part_counts(chunk.number)
                self._first_parts.found(chunk.number)
                self._progress.found(counts, chunk.read)
                self.rows_before += counts["rows"]
                self._remember_rejected([Rejected(**row) for row in counts["rejected"][:1]])
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
        read = self._read.pop(scored.number)
        counts = scored.rows, len(scored.rejected), scored.statuses
        self._progress.scored(*counts, read, scored.seconds)
        self._remember_rejected(scored.rejected)

    def _remember_rejected(self, rejected: Sequence[Rejected]) -> None:
        known = [self._first_rejected] if self._first_rejected else []
        self._first_rejected = min([*known, *rejected], key=lambda one: one.row_id, default=None)

    def _raise_if_strict(self) -> None:
        first = self._first_rejected
        if self._strict and first is not None:
            raise RejectedRowError(f"{first.file}, line {first.line}: {first.reason}")


class FirstParts:
    """Holds back the first parts until one shows that the rewards work.

    A reward with a bug fails on every row. Such a run stops, and leaves no part that a later run
    would take for done. The order in which parts arrive does not matter.

    >>> first = FirstParts()
    >>> failed = ScoredChunk(0, b"", 0, [], {}, {}, failure=Failure("KeyError", "'x'"))
    >>> first.ready(failed)
    []
    >>> [part.number for part in first.ready(ScoredChunk(1, b"", 9, [], {}, {}))]
    [0, 1]
    """

    def __init__(self) -> None:
        self._works = False
        self._held: list[ScoredChunk] = []

    def found(self, number: int) -> None:
        """A part is there already: for the run that wrote it, the rewards worked."""
        self._works = self._works or number < FIRST

    def ready(self, scored: ScoredChunk) -> list[ScoredChunk]:
        """The parts that may be written, now that this one has been scored."""
        if self._works or (scored.failure is None and scored.number >= FIRST):
            return [scored]
        self._held.append(scored)
        first = self._failures()
        if all(first) and len({one.kind for one in first if one}) < 2:
            return []
        self._works = True
        held, self._held = self._held, []
        return held

    def _failures(self) -> list[Failure | None]:
        return [part.failure for part in self._held if part.number < FIRST]

    @property
    def all_failed(self) -> bool:
        """Whether every row of all the first parts failed: the rest need not be scored."""
        return len(self._failures()) == FIRST

    def check(self) -> None:
        """At the end of a run, raise StoppedError if every row of its first parts failed."""
        if failure := next(filter(None, self._failures()), None):
            rows = sum(len(part.rejected) for part in self._held if part.number < FIRST)
            which = f"each of the first {rows:,} rows" if self.all_failed else "every row"
            raise StoppedError(
                f"{which} fails with the same error, for example\n"
                f"{failure.description}\n{RETRY_HINT}"
            )
