"""A table in Python and a recipe in, and out come all findings as data."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from plaudit.checking._check_table import source_of_files
from plaudit.checking._findings import Finding
from plaudit.checking._findings_file import NAME, read_findings
from plaudit.checking._run import AGAIN, Options, Source, check_source
from plaudit.checking._summary import CheckSummary
from plaudit.recipes import as_recipe
from plaudit.scoring import (
    Block,
    Chunk,
    Head,
    InputError,
    Table,
    find_inputs,
    names_files,
    stopping_on_system_errors,
    table_of,
)

AT_ONCE = 256  # rows that a worker gets
FIRST = 2000  # rows that are looked at before all are checked


@dataclass(frozen=True, slots=True)
class CheckResult:
    """All that was found in a table.

    findings: in the order of the rows
    summary: counts, formats and notes; printing it gives what `plaudit check` prints

    >>> finding = Finding("missing_value", "", 3, 2, "solution", "", "The column is null.")
    >>> CheckResult([finding], CheckSummary(9, 1, {}, {}, {}, (), 0.0)).failed_rows
    [2]
    """

    findings: list[Finding]
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
    options = Options(completions, group, columns, template, skip, workers, None, progress)
    start = time.monotonic()
    with stopping_on_system_errors(AGAIN), tempfile.TemporaryDirectory(prefix="plaudit-") as temp:
        folder = Path(temp)
        if names_files(table):
            source = source_of_files(find_inputs(table, None, "check"))
        else:
            source = source_of_table(table_of(table))
        _, summary = check_source(source, recipe, options, folder / NAME, folder)
        summary = replace(summary, seconds=time.monotonic() - start)
        return CheckResult(read_findings(folder / NAME), summary)


def source_of_table(table: Table) -> Source:
    """The source of a table in memory.

    >>> source_of_table(table_of([{"solution": "2"}])).heads[0].columns
    ['solution']
    """
    if not len(table):
        raise InputError("there are no rows to check: the table is empty")
    first = _block(table, 0, min(FIRST, len(table)))
    head = Head("the table", first.records_from(range(len(first))), table.names, None, False, "")
    return Source([head], ("",), len(table), lambda plan: _chunks(table))


def _block(table: Table, start: int, end: int) -> Block:
    columns = {name: table.values(name, start, end) for name in table.names}
    return Block(0, range(start + 1, end + 1), columns, end)


def _chunks(table: Table) -> Iterator[Chunk]:
    for number, start in enumerate(range(0, len(table), AT_ONCE)):
        block = _block(table, start, min(start + AT_ONCE, len(table)))
        rows = [1] * len(block)
        yield Chunk(number, start, start, (block,), (rows,), len(block))
