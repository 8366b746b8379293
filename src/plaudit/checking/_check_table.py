"""A table and a recipe in; findings about its rows, a page, and the table without them out."""

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TextIO

from plaudit.checking._drop import drop_rows, output_paths
from plaudit.checking._findings_file import NAME
from plaudit.checking._page import PAGE, write_page
from plaudit.checking._run import AGAIN, Options, Source, check_source
from plaudit.checking._summary import CheckSummary
from plaudit.recipes import as_recipe
from plaudit.report import ReportError
from plaudit.scoring import (
    InputError,
    InputFile,
    chunks_of,
    find_inputs,
    heads_of,
    local_path,
    path_here,
    stopping_on_system_errors,
)

AnyPath = str | PathLike[str]


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
    template: how an answer is written, with {answer} in its place, such as
        "<answer>{answer}</answer>"; default: the usual formats are tried on some rows
    skip: kinds of findings to leave out, such as ["suspicious_gold"]; default: none
    workers: how many processes; default: one per core
    limit: check only so many rows; default: all
    progress: where to show progress, such as sys.stderr; default: nowhere

    >>> from plaudit.recipes import load
    >>> file = Path(tempfile.mkdtemp(), "train.jsonl")
    >>> _ = file.write_text('{"question": "1 + 1?", "solution": "2"}\\n{"question": "Why?"}')
    >>> check_table(file, load("math")).counts
    {'missing_value': 1}
    """
    start = time.monotonic()
    options = Options(completions, group, columns or {}, template, skip, workers, limit, progress)
    if limit is not None and drop is not None:
        raise InputError("--drop needs all rows to be checked: leave --limit out")
    named = [inputs] if isinstance(inputs, str | PathLike) else inputs
    paths = [local_path(fspath(one)) for one in named]
    recipe = as_recipe(recipe)
    folder = None if out is None else path_here(out)
    dropped_to = None if drop is None else path_here(drop)
    with stopping_on_system_errors(AGAIN), tempfile.TemporaryDirectory(prefix="plaudit-") as temp:
        files = find_inputs(named, folder, "check")
        kept = [] if dropped_to is None else output_paths(files, paths, dropped_to)
        path = (Path(temp) if folder is None else _made(folder)) / NAME
        source = source_of_files(files, limit)
        findings, summary = check_source(source, recipe, options, path, Path(temp))
        left = drop_rows(files, kept, findings.failed) if kept else 0
    seconds = time.monotonic() - start
    summary = replace(summary, out=folder, dropped_to=dropped_to, left=left, seconds=seconds)
    return summary if folder is None else _with_page(summary, paths, folder)


def source_of_files(files: Sequence[InputFile], limit: int | None = None) -> Source:
    """The source of the rows of some files; of the first `limit`, if that is given."""
    names = tuple(file.name for file in files)
    size = sum(file.size for file in files)
    return Source(heads_of(files, "check"), names, size, lambda plan: chunks_of(files, plan, limit))


def _with_page(summary: CheckSummary, inputs: Sequence[Path], folder: Path) -> CheckSummary:
    """Write the page of a summary; without the packages that it needs, note that."""
    try:
        write_page(summary, ", ".join(path.name for path in inputs), folder / PAGE)
    except ReportError as error:
        return replace(summary, notes=(*summary.notes, f"{error}"))
    return summary


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}") from error
    return folder
