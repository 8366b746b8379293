"""`check` and `check_table`: find rows from which a model cannot learn, in memory or in files."""

import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TextIO

from plaudit.judge import warn_of_untested_version
from plaudit.recipes import Recipe
from plaudit.recipes.recipe import as_recipe
from plaudit.reports import ReportError
from plaudit.reports.check._checks import CheckedChunk, PromptFiles, check_chunk, check_prompts
from plaudit.reports.check._findings import (
    FINDINGS,
    KINDS,
    PAGE,
    CheckFinding,
    CheckSummary,
    FindingsFile,
    drop_rows,
    output_paths,
    read_findings,
    write_page,
)
from plaudit.reports.check._plan import CheckOptions, CheckPlan, make_plan
from plaudit.reports.check._row_checks import Calibration, calibrate
from plaudit.tables import InputError, StoppedError
from plaudit.tables.engines import process_locally
from plaudit.tables.inputs import InputFile, find_inputs
from plaudit.tables.memory import MemoryTable, table_of
from plaudit.tables.plan import Head, check_numbers, heads_of, with_columns
from plaudit.tables.readers import Block, Chunk, chunks_of, names_files
from plaudit.tables.storage import local_path, path_here, stopping_on_system_errors
from plaudit.tables.summary import ScoreProgress

AnyPath = str | PathLike[str]

_AGAIN = "Run the same command again."
_WHEN_FIXED = "When that is fixed, run the same command again."
_AT_ONCE = 256  # rows of a table in memory that a worker gets
_FIRST = 2000  # rows that are looked at before all are checked


@dataclass(frozen=True, slots=True)
class CheckResult:
    """All that was found in a table.

    findings: in the order of the rows
    summary: counts, formats and notes; printing it gives what `plaudit check` prints

    >>> check([{"solution": "4"}, {"solution": None}], "math").failed_rows
    [1]
    """

    findings: list[CheckFinding]
    summary: CheckSummary

    @property
    def failed_rows(self) -> list[int]:
        """The numbers of the rows that have findings, from 0."""
        return sorted({finding.row for finding in self.findings})

    def __str__(self) -> str:
        return str(self.summary)


def check(
    table: Any,
    recipe: Any,
    *,
    completions: str | None = None,
    group: str | None = None,
    template: str | None = None,
    skip: Sequence[str] = (),
    workers: int | None = None,
    progress: TextIO | None = None,
    **columns: str,
) -> CheckResult:
    r"""Find bad golds, duplicates and more in a table, before it is trained on.

    table: the path of a file or folder, or several; or a table in memory: a list of dicts, a dict
        of lists, a pandas or polars DataFrame, an Arrow table, a Hugging Face Dataset
    recipe: a Recipe, the name of a preset, a TOML file, a reward (a function, or its name), or a
        list of rewards
    columns: which column an argument of a reward is read from, such as solution="answer"; default:
        the column of that name, else a guess, which a note tells

    The other options are those of `check_table`.

    >>> rows = [
    ...     {"question": "What is half of 1?", "solution": "1/2"},
    ...     {"question": "What is half of 1?", "solution": "0.5"},
    ...     {"question": "What is half of 3?", "solution": r"\frac{3}{2"},
    ... ]
    >>> for finding in check(rows, "math").findings:
    ...     print(finding.row, finding.kind, finding.why)
    1 duplicate_row Row 0 has the same prompt and an equal gold.
    2 unreadable_gold It is LaTeX with a { that is never closed.
    """
    recipe = as_recipe(recipe)
    options = CheckOptions(completions, group, columns, template, skip, workers, progress)
    start = time.monotonic()
    with stopping_on_system_errors(_AGAIN), tempfile.TemporaryDirectory(prefix="plaudit-") as temp:
        if names_files(table):
            source = _rows_of_files(find_inputs(table, None, "check"))
        else:
            source = _rows_of_table(table_of(table))
        path = Path(temp, FINDINGS)
        _, summary = _check_source(source, recipe, options, path)
        summary = replace(summary, seconds=time.monotonic() - start)
        return CheckResult(read_findings(path), summary)


def check_table(
    inputs: AnyPath | Sequence[AnyPath],
    recipe: Any,
    *,
    out: AnyPath | None = None,
    drop: AnyPath | None = None,
    completions: str | None = None,
    group: str | None = None,
    columns: Mapping[str, str] | None = None,
    template: str | None = None,
    skip: Sequence[str] = (),
    workers: int | None = None,
    limit: int | None = None,
    progress: TextIO | None = None,
) -> CheckSummary:
    """Check the rows of some files before they are trained on with a recipe.

    inputs: a file or a folder, or several, which together are one table
    recipe: as for `plaudit.check`
    out: the folder to write `findings.parquet` and a page to; default: none
    drop: where to write the table without the rows that have findings: a file with the format of
        the input, or a folder if the input is a folder or several files; default: nowhere
    completions: the column that a model wrote; default: `completion` or `completions`, if the table
        has one of them
    group: the column that tells prompts apart; default: `prompt`, `problem` and `question`, with
        the context and the image
    columns: which column an argument of a reward is read from, such as {"solution": "answer"};
        default: the column of that name, else a guess, which a note tells
    template: how an answer is written, with {answer} in it, such as "<answer>{answer}</answer>";
        default: the usual formats are tried on some rows
    skip: kinds of findings to leave out, such as ["suspicious_gold"]; default: none
    workers: how many processes; default: one per core
    limit: check only so many rows; default: all
    progress: where to show progress, such as sys.stderr; default: nowhere

    >>> file = Path(tempfile.mkdtemp(), "train.jsonl")
    >>> _ = file.write_text('{"question": "1 + 1?", "solution": "2"}\\n{"question": "Why?"}')
    >>> check_table(file, "math").counts
    {'missing_value': 1}
    """
    start = time.monotonic()
    options = CheckOptions(completions, group, columns or {}, template, skip, workers, progress)
    check_numbers(limit=limit)
    if limit is not None and drop is not None:
        raise InputError("--drop needs all rows to be checked: leave --limit out")
    named = [inputs] if isinstance(inputs, str | PathLike) else inputs
    paths = [local_path(fspath(one)) for one in named]
    recipe = as_recipe(recipe)
    folder = None if out is None else path_here(out)
    dropped_to = None if drop is None else path_here(drop)
    with stopping_on_system_errors(_AGAIN), tempfile.TemporaryDirectory(prefix="plaudit-") as temp:
        files = find_inputs(named, folder, "check")
        kept = [] if dropped_to is None else output_paths(files, paths, dropped_to)
        path = (Path(temp) if folder is None else _make_folder(folder)) / FINDINGS
        findings, summary = _check_source(_rows_of_files(files, limit), recipe, options, path)
        left = drop_rows(files, kept, findings.has) if kept else 0
    seconds = time.monotonic() - start
    summary = replace(summary, out=folder, dropped_to=dropped_to, left=left, seconds=seconds)
    if folder is not None:
        try:
            write_page(summary, ", ".join(path.name for path in paths), folder / PAGE)
        except ReportError as error:  # a package that the page needs is missing
            return replace(summary, notes=(*summary.notes, f"{error}"))
    return summary


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}") from error
    return folder


@dataclass(frozen=True, slots=True)
class RowSource:
    """Where rows come from."""

    heads: Sequence[Head]  # the first rows of each file
    files: tuple[str, ...]  # the names of the files
    size: int  # of all of it, as the chunks count what was read
    chunks: Iterator[Chunk]  # all rows


def _rows_of_files(files: Sequence[InputFile], limit: int | None = None) -> RowSource:
    names = tuple(file.name for file in files)
    size = sum(file.size for file in files)
    heads = heads_of(files, "check")
    return RowSource(heads, names, size, chunks_of(files, limit))


def _rows_of_table(table: MemoryTable) -> RowSource:
    if not len(table):
        raise InputError("there are no rows to check: the table is empty")
    first = _block(table, 0, min(_FIRST, len(table)))
    head = Head("the table", first.records_from(range(len(first))), table.names, None, False, "")
    return RowSource([head], ("",), len(table), _chunks(table))


def _block(table: MemoryTable, start: int, end: int) -> Block:
    columns = {name: table.values(name, start, end) for name in table.names}
    return Block(0, range(start + 1, end + 1), columns, end)


def _chunks(table: MemoryTable) -> Iterator[Chunk]:
    for number, start in enumerate(range(0, len(table), _AT_ONCE)):
        block = _block(table, start, min(start + _AT_ONCE, len(table)))
        yield Chunk(number, block, start, len(block))


def _check_source(
    source: RowSource, recipe: Recipe, options: CheckOptions, path: Path
) -> tuple[FindingsFile, CheckSummary]:
    """Check all rows, and write what is found to the file `path`."""
    check_numbers(workers=options.workers)
    for kind in options.skip:
        if kind not in KINDS:
            raise InputError(f"there is no kind {kind!r} to skip; the kinds are {', '.join(KINDS)}")
    recipe, notes = _with_columns(recipe, options, source.heads[0].columns)
    plan, sample, more = make_plan(source.heads, recipe, options)
    warn_of_untested_version()  # here, and not in each of the workers
    plan, unknown = _calibrate(replace(plan, files=source.files), sample, options.workers)
    with (
        FindingsFile(path, options.skip) as findings,
        tempfile.TemporaryDirectory(prefix="plaudit-") as scratch,
        PromptFiles(Path(scratch), source.size) as prompts,
    ):
        rows = _check_rows(source, plan, options, findings, prompts)
        work = _work(plan, options.workers)
        for found in check_prompts(prompts, plan, work):
            findings.add(found)
    first = findings.first()
    summary = CheckSummary(
        rows,
        findings.rows,
        {kind: findings.counts[kind] for kind in first},
        first,
        {c.name: c.format.name for c in plan.comparisons if c.format is not None},
        (*notes, *more, *unknown),
    )
    return findings, summary


def _with_columns(
    recipe: Recipe, options: CheckOptions, available: Sequence[str]
) -> tuple[Recipe, list[str]]:
    """Return the recipe with columns that are said or guessed, and notes on the guesses."""
    own = {"completions": options.completions} if options.completions else {}
    recipe = with_columns(recipe, {**options.columns, **own})
    _, guessed = recipe.with_guessed_columns(available)
    # Completions need not be there: a column that may be something else is not read as such.
    guessed = {
        argument: column for argument, column in guessed.items() if argument != "completions"
    }
    notes = [
        f"{argument}: column {column} (for another, say --column {argument}=COLUMN)"
        for argument, column in guessed.items()
    ]
    return with_columns(recipe, guessed), notes


def _work(
    plan: CheckPlan, workers: int | None
) -> Callable[[Iterator[Chunk], Callable[[Chunk, CheckPlan], Any]], Generator[Any]]:
    """Return a function that has workers apply another to chunks."""
    return lambda chunks, function: process_locally(
        chunks, plan, function, workers, resume_hint=_AGAIN, retry_hint=_WHEN_FIXED
    )


def _calibrate(
    plan: CheckPlan, sample: list[dict[str, Any]], workers: int | None
) -> tuple[CheckPlan, list[str]]:
    """Find the formats that the comparisons want; add notes on those that were not found."""
    if not plan.comparisons:
        return plan, ["no reward of the recipe compares with a gold"]
    block = Block(0, range(1, len(sample) + 1), list(sample), 0)
    chunk = Chunk(0, block)
    found: Calibration = next(_work(plan, workers)(iter([chunk]), calibrate))
    if found.failure is not None:
        example = found.failure.description
        raise StoppedError(
            f"every row fails with the same error, for example\n{example}\n{_WHEN_FIXED}"
        )
    return replace(plan, comparisons=found.comparisons), [
        f"{name}: a gold is right in none of the usual formats, so golds were not compared "
        "with themselves; say how an answer is written with --template"
        for name in found.unknown
    ]


def _check_rows(
    source: RowSource,
    plan: CheckPlan,
    options: CheckOptions,
    findings: FindingsFile,
    prompts: PromptFiles,
) -> int:
    """Check every row by itself; findings are written in the order of the table."""
    progress = ScoreProgress(options.progress, source.size, bad="findings")
    read: dict[int, int] = {}
    early: dict[int, CheckedChunk] = {}

    def chunks() -> Iterator[Chunk]:
        for chunk in source.chunks:
            read[chunk.number] = chunk.read
            yield chunk

    done = _work(plan, options.workers)(chunks(), check_chunk)
    rows = number = 0
    try:
        for checked in done:
            progress.scored(checked.rows, len(checked.findings), {}, read.pop(checked.number))
            rows += checked.rows
            early[checked.number] = checked
            while number in early:
                ready = early.pop(number)
                findings.add(ready.findings)
                prompts.add(ready.prompts)
                number += 1
    finally:
        done.close()
        progress.close()
    return rows
