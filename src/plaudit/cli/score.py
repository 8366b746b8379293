"""`plaudit score`."""

import sys
from collections.abc import Sequence
from typing import Annotated, Literal

from plaudit.cli.arguments import Columns, Completions, fail
from plaudit.processes import leave_pandas_alone
from plaudit.recipes import Recipe, load
from plaudit.tables import InputError, RejectedRowError, StoppedError, score_table
from plaudit.tables.errors import RESUME_HINT

STOPPED, WRONG, REJECTED, INTERRUPTED = 1, 2, 3, 130


def run(
    inputs: Annotated[Sequence[str], "INPUT"],
    *,
    recipe: Annotated[str, "R"],
    out: Annotated[str, "DIR"],
    completions: Completions = None,
    column: Columns = (),
    group: Annotated[str | None, "COLUMN"] = None,
    limit: int | None = None,
    strict: bool = False,
    overwrite: bool = False,
    engine: Literal["local", "ray"] = "local",
    workers: int | None = None,
    ray_address: Annotated[str | None, "A"] = None,
    quiet: bool = False,
) -> int:
    """Score a table of rollouts with a recipe. The result is a folder of Parquet files with all
    columns of the input, plus one for each reward, the total, the status and the explanation.

    INPUT is JSONL, JSON, CSV or TSV (each also .gz or .zst), Parquet or Arrow, a folder of these, a
    Hugging Face dataset saved to disk, or a dataset on the Hub: hf://datasets/ORG/NAME, or some of
    its files, hf://datasets/ORG/NAME/data/train-*.parquet. INPUT and DIR may also be in the storage
    of a cluster: s3://, or any URL that fsspec opens. A row holds one completion, or a list.

    If columns have other names than the rewards expect, plaudit guesses which column is meant, and
    prints each guess; --completions and --column name the columns instead.

    A run that was stopped, in whatever way, is resumed by the same command. Rows that cannot be
    scored are written to DIR/_rejected.jsonl, each with its line number and the reason.

    inputs: a file, folder, s3://… or hf://datasets/…
    recipe: a preset such as trl-math, or a TOML file
    out: the folder to write: a path, or s3://…
    group: rows with the same value in this column are answers to one prompt (default: prompt,
        problem or question)
    limit: score only the first N input rows
    strict: stop at the first rejected row
    overwrite: start over: remove an earlier run from DIR
    engine: where to score (default: local)
    workers: worker processes (default: one per core)
    ray_address: the Ray cluster to use; auto finds one on this machine (default: $RAY_ADDRESS, or a
        new one)
    quiet: print no progress and no summary

    examples:
      plaudit score rollouts.jsonl --recipe trl-math --out scored
      plaudit score step-*.parquet --recipe my.toml --out scored --group prompt_id
      plaudit score rollouts.jsonl.zst --recipe canoe --out scored --column solution=answer
      plaudit score rollouts/ --recipe trl-math --out scored --engine ray --ray-address auto
      plaudit score s3://bucket/rollouts/ --recipe trl-math --out s3://bucket/scored --engine ray

    exit codes:
      0 finished    1 stopped early: run it again    2 wrong usage or unreadable input
      3 finished, but rows were rejected (with --strict: stopped at the first)    130 interrupted
    """
    leave_pandas_alone()
    try:
        summary = score_table(
            inputs,
            load_recipe(recipe),
            out,
            engine=engine,
            workers=workers,
            ray_address=ray_address,
            completions=completions,
            group=group,
            columns=dict(column),
            strict=strict,
            overwrite=overwrite,
            limit=limit,
            progress=None if quiet else sys.stderr,
        )
    except InputError as error:
        return fail(WRONG, error)
    except RejectedRowError as error:
        return fail(REJECTED, f"{error}. Stopped because of --strict.")
    except StoppedError as error:
        return fail(STOPPED, error)
    except KeyboardInterrupt:
        return fail(INTERRUPTED, f"interrupted. {RESUME_HINT}")
    if not quiet:
        print(summary)
    if summary.was_finished and not quiet:
        done = f"{summary.out} was finished before, and nothing was scored now"
        print(f"plaudit: {done}; --overwrite starts over", file=sys.stderr)
    elif not quiet:
        rate = (summary.rows - summary.rows_before) / max(summary.seconds, 1e-9)
        print(f"plaudit: {summary.seconds:.1f} s, {rate:,.0f} rows/s", file=sys.stderr)
    return REJECTED if summary.rejected else 0


def load_recipe(name: str) -> Recipe:
    """Return a preset, or the recipe of a TOML file; raise InputError if there is none."""
    try:
        return load(name)
    except (ValueError, OSError, ImportError) as error:
        raise InputError(str(error)) from error
