"""Where rows come from, a recipe and options in; findings in a file, and a summary, out."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO

from plaudit.checking._calibrate import Calibration, calibrate
from plaudit.checking._check_chunk import CheckedChunk, check_chunk
from plaudit.checking._findings import KINDS
from plaudit.checking._findings_file import FindingsFile
from plaudit.checking._plan import CheckPlan, make_plan
from plaudit.checking._prompts import PromptFiles, findings_of_prompts
from plaudit.checking._summary import CheckSummary
from plaudit.judge import warn_of_untested_version
from plaudit.recipes import Recipe
from plaudit.scoring import (
    Block,
    Chunk,
    Head,
    InputError,
    Progress,
    StoppedError,
    check_numbers,
    process_locally,
    with_columns,
)

AGAIN = "Run the same command again."
BROKEN = "When that is fixed, run the same command again."


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a check; see `check_table`."""

    completions: str | None = None
    group: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    template: str | None = None
    skip: Sequence[str] = ()
    workers: int | None = None
    limit: int | None = None
    progress: TextIO | None = None

    def check(self) -> None:
        """Raise InputError for an option that cannot be."""
        check_numbers(workers=self.workers, limit=self.limit)
        for kind in self.skip:
            if kind not in KINDS:
                raise InputError(
                    f"there is no kind {kind!r} to skip; the kinds are {', '.join(KINDS)}"
                )

    def columns_of(self, recipe: Recipe) -> Recipe:
        """The recipe with the columns that are said here."""
        own = {"completions": self.completions} if self.completions else {}
        return with_columns(recipe, {**self.columns, **own})


@dataclass(frozen=True, slots=True)
class Source:
    """Where rows come from.

    heads: the first rows of each file
    files: the names of the files
    size: of all of it, as the chunks count what was read
    chunks: all rows, once more
    """

    heads: Sequence[Head]
    files: tuple[str, ...]
    size: int
    chunks: Callable[[CheckPlan], Iterator[Chunk]]


def check_source(
    source: Source, recipe: Recipe, options: Options, path: Path, scratch: Path
) -> tuple[FindingsFile, CheckSummary]:
    """Check all rows, and write what is found to the file `path`; `scratch` is a folder."""
    options.check()
    recipe, guessed = with_guesses(options.columns_of(recipe), source.heads[0].columns)
    plan, sample, notes = make_plan(
        source.heads, recipe, options.completions, options.group, options.template, options.skip
    )
    notes[:0] = [
        f"{argument}: column {column} (for another, say --column {argument}=COLUMN)"
        for argument, column in guessed.items()
    ]
    run = _Run(replace(plan, files=source.files), source.size, options.workers, options.progress)
    warn_of_untested_version()  # here, and not in each of the workers
    notes += run.calibrate(sample)
    with FindingsFile(path, options.skip) as findings:
        rows = run.check(source.chunks(run.plan), findings, scratch)
    first = findings.first()
    summary = CheckSummary(
        rows,
        findings.rows,
        {kind: findings.counts[kind] for kind in first},
        first,
        {c.name: c.format.name for c in run.plan.comparisons if c.format is not None},
        tuple(notes),
        0.0,
    )
    return findings, summary


def with_guesses(recipe: Recipe, available: Sequence[str]) -> tuple[Recipe, Mapping[str, str]]:
    """The recipe with columns that were guessed, and which; completions need not be there.

    >>> from plaudit.recipes import load
    >>> with_guesses(load("math"), ["question", "answer", "text"])[1]
    {'solution': 'answer'}
    """
    _, guessed = recipe.with_guessed_columns(available)
    sure = {argument: column for argument, column in guessed.items() if argument != "completions"}
    return with_columns(recipe, sure), sure


class _Run:
    """Has workers check the chunks of a table.

    size: of the table, in bytes
    """

    def __init__(
        self,
        plan: CheckPlan,
        size: int,
        workers: int | None,
        progress: TextIO | None,
    ) -> None:
        self.plan = plan
        self._size = size
        self._workers = workers
        self._progress = progress

    def check(self, chunks: Iterator[Chunk], findings: FindingsFile, scratch: Path) -> int:
        """Check all rows, and return how many there are; `scratch` is a folder for files."""
        prompts = PromptFiles(scratch, self._size)
        try:
            rows = self._check_rows(chunks, findings, prompts)
            for found in findings_of_prompts(prompts, self.plan, self._work):
                findings.add(found)
        finally:
            prompts.close()
        return rows

    def _work(
        self, chunks: Iterator[Chunk], work: Callable[[Chunk, CheckPlan], Any]
    ) -> Generator[Any]:
        return process_locally(
            chunks, self.plan, work, self._workers, resume_hint=AGAIN, retry_hint=BROKEN
        )

    def calibrate(self, sample: list[dict[str, Any]]) -> list[str]:
        """Find the formats that the comparisons want; return notes on those that were not found."""
        if not self.plan.comparisons:
            return ["no reward of the recipe compares with a gold"]
        block = Block(0, range(1, len(sample) + 1), list(sample), 0)
        chunk = Chunk(0, 0, 0, (block,), ([1] * len(sample),), 0)
        found: Calibration = next(self._work(iter([chunk]), calibrate))
        if found.failure is not None:
            example = found.failure.description
            raise StoppedError(
                f"every row fails with the same error, for example\n{example}\n{BROKEN}"
            )
        self.plan = replace(self.plan, comparisons=found.comparisons)
        return [
            f"{name}: a gold is right in none of the usual formats, so golds were not compared "
            "with themselves; say how an answer is written with --template"
            for name in found.unknown
        ]

    def _check_rows(
        self, chunks: Iterator[Chunk], findings: FindingsFile, prompts: PromptFiles
    ) -> int:
        """Check every row by itself; findings are written in the order of the table."""
        progress = Progress(self._progress, self._size, bad="findings")
        read: dict[int, int] = {}
        early: dict[int, CheckedChunk] = {}
        done = self._work(_noted(chunks, read), check_chunk)
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


def _noted(chunks: Iterator[Chunk], read: dict[int, int]) -> Iterator[Chunk]:
    """The chunks, of each of which it is noted how much was read for it."""
    for chunk in chunks:
        read[chunk.number] = chunk.read
        yield chunk
