"""`plaudit check`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from plaudit.cli.arguments import Columns, CompletionsIfAny, fail
from plaudit.cli.score import load_recipe
from plaudit.reports.check import check_table
from plaudit.tables import InputError, StoppedError

STOPPED, WRONG, FOUND, INTERRUPTED = 1, 2, 3, 130


def run(
    inputs: Annotated[Sequence[str], "TABLE"],
    *,
    recipe: Annotated[str, "R"],
    out: Annotated[Path | None, "DIR"] = None,
    drop: Annotated[Path | None, "OUT"] = None,
    completions: CompletionsIfAny = None,
    column: Columns = (),
    group: Annotated[str | None, "COLUMN"] = None,
    template: Annotated[str | None, "TEXT"] = None,
    skip: Annotated[Sequence[str], "KIND"] = (),
    limit: int | None = None,
    workers: int | None = None,
    quiet: bool = False,
) -> int:
    """Check a table before it is trained on: golds that cannot be read, that are placeholders or
    HTML, that do not equal themselves or are too expensive to compare, empty prompts and prompts
    that state their answer, duplicates and contradictions, letters that are no option, images and
    boxes; and, if the table has completions, golds that look wrong.

    TABLE is JSONL, JSON, CSV or TSV (each also .gz or .zst), Parquet or Arrow, a folder of these, a
    Hugging Face dataset saved to disk, or a URL such as s3://… or hf://datasets/ORG/NAME. It needs
    no completions.

    inputs: a file, folder, s3://… or hf://…
    recipe: a preset such as math, or a TOML file
    out: write DIR/findings.parquet and DIR/index.html
    drop: write the table without the rows that have findings, in the input's format
    group: rows with the same value in this column have the same prompt (default: prompt, problem
        and question, with context and image)
    template: how the reward wants an answer, such as '<answer>{answer}</answer>' (default: the
        usual formats are tried)
    skip: leave out a kind of findings, such as suspicious_gold; may be repeated
    limit: check only the first N rows
    workers: worker processes (default: one per core)
    quiet: print no progress and no summary

    examples:
      plaudit check train.jsonl --recipe math
      plaudit check train.parquet --recipe trl-math --column solution=answer --out checked
      plaudit check train.jsonl --recipe math --drop clean.jsonl

    exit codes:
      0 no findings    1 stopped early    2 wrong usage or unreadable input    3 findings
      130 interrupted
    """
    try:
        summary = check_table(
            inputs,
            load_recipe(recipe),
            out=out,
            drop=drop,
            completions=completions,
            group=group,
            columns=dict(column),
            template=template,
            skip=skip,
            workers=workers,
            limit=limit,
            progress=None if quiet else sys.stderr,
        )
    except InputError as error:
        return fail(WRONG, error)
    except StoppedError as error:
        return fail(STOPPED, error)
    except KeyboardInterrupt:
        return fail(INTERRUPTED, "interrupted. No findings were written.")
    if not quiet:
        print(summary)
        rate = summary.rows / max(summary.seconds, 1e-9)
        print(f"plaudit: {summary.seconds:.1f} s, {rate:,.0f} rows/s", file=sys.stderr)
    return FOUND if summary.failed else 0
