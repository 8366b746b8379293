"""`plaudit check` and `plaudit audit`: before training, the table and the rewards."""

import json as json_text
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from plaudit.cli.arguments import (
    Columns,
    Completions,
    CompletionsIfAny,
    Option,
    UsageError,
    comma_separated,
    fail,
)
from plaudit.cli.score import load_recipe
from plaudit.reports import ReportError
from plaudit.reports.audit import ROWS, audit, recipe_of, write_page
from plaudit.reports.check import check_table
from plaudit.tables import InputError, StoppedError
from plaudit.tables.plan import with_columns

STOPPED, ABOVE, WRONG, FOUND, INTERRUPTED = 1, 1, 2, 3, 130


def run_check(
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


Classes = Annotated[Sequence[str], Option("CLASSES", "", comma_separated)]


def run_audit(
    inputs: Annotated[Sequence[str], "TABLE"],
    *,
    recipe: Annotated[str | None, "R"] = None,
    reward: Annotated[str | None, "REF"] = None,
    rows: int = ROWS,
    seed: int = 0,
    completions: Completions = None,
    column: Columns = (),
    template: Annotated[str | None, "TEXT"] = None,
    only: Classes = (),
    skip: Classes = (),
    json: bool = False,
    out: Annotated[Path | None, "DIR"] = None,
    fail_above: Annotated[float | None, "SHARE"] = None,
    quiet: bool = False,
) -> int:
    """Play the model that wants the reward and not the answer: build completions that deserve
    nothing, score them, and name what pays, worst first. Components that a gate holds back pay
    nothing alone: for them, what counts is the total.

    TABLE has the rows that one would train on: prompts, golds, and completions if there are some,
    in any format that `plaudit score` reads. No model is needed. The rewards run in a process of
    their own: one that raises or hangs is a finding.

    classes: empty, structure, key, echo, hedge, neighbour, retract, stuffing, length, code,
             unstable, cost, missed

    inputs: a file, folder, s3://… or hf://…
    recipe: a preset such as math, or a TOML file
    reward: one reward: package.module:function, or one of plaudit's such as trl.accuracy_reward
    rows: rows to use (default: %(default)s)
    seed: which rows (default: %(default)s)
    template: the format of an honest answer, such as '<answer>{answer}</answer>' (default: that of
        the rows' completions, or the usual one that pays best)
    only: classes to try, with commas
    skip: classes to leave out
    json: print one JSON object
    out: write a page to DIR/index.html
    fail_above: exit with 1 if the share of a finding is above this, such as 0.5; right answers that
        are not paid do not count
    quiet: print no progress

    examples:
      plaudit audit rows.jsonl --recipe math
      plaudit audit rows.jsonl --reward my_rewards:accuracy --column solution=answer
      plaudit audit rows.jsonl --recipe my.toml --out audited
      plaudit audit rows.jsonl --recipe my.toml --json --fail-above 0.5

    exit codes:
      0 done    1 a share is above --fail-above    2 wrong usage or unreadable input
    """
    if (recipe is None) == (reward is None):
        raise UsageError("name either a --recipe or a --reward")
    try:
        if rows < 1:
            raise ValueError(f"--rows must be 1 or more, got {rows}")
        found = audit(
            inputs,
            with_columns(recipe_of(recipe or reward), dict(column)),
            completions=completions,
            sample=rows,
            seed=seed,
            only=only,
            skip=skip,
            template=template,
            progress=None if quiet else sys.stderr,
        )
        page = None if out is None else write_page(found, out)
    except (ReportError, ValueError, ImportError, OSError) as error:
        return fail(WRONG, error)
    print(json_text.dumps(found.as_json(), ensure_ascii=False) if json else found)
    if page is not None:
        print(page, file=sys.stderr if json else sys.stdout)
    return ABOVE if fail_above is not None and found.worst > fail_above else 0
