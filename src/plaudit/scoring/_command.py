"""`plaudit score`: arguments in; a scored folder, a summary and an exit code out."""

import argparse
import sys
from typing import Any

from plaudit.commands import add_column_arguments
from plaudit.recipes import Recipe, load
from plaudit.scoring._errors import RESUME_HINT, InputError, RejectedRowError, StoppedError
from plaudit.scoring._local import leave_pandas_alone
from plaudit.scoring._score_table import ENGINES, score_table
from plaudit.scoring._summary import ScoreSummary

STOPPED, WRONG, REJECTED, INTERRUPTED = 1, 2, 3, 130

ABOUT = """\
Score a table of rollouts with a recipe. The result is a folder of Parquet files with all columns of
the input, plus one for each reward, the total, the status and the explanation.

INPUT is JSONL, JSON, CSV or TSV (each also .gz or .zst), Parquet or Arrow, a folder of these, a
Hugging Face dataset saved to disk, or a dataset on the Hub: hf://datasets/ORG/NAME, or some of its
files, hf://datasets/ORG/NAME/data/train-*.parquet. INPUT and DIR may also be in the storage of a
cluster, such as s3://, gs:// or hdfs://. A row holds one completion, or a list of them.

If columns have other names than the rewards expect, plaudit guesses which column is meant, and
prints each guess; --completions and --column name the columns instead.

A run that was stopped, in whatever way, is resumed by the same command. Rows that cannot be scored
are written to DIR/_rejected.jsonl, each with its line number and the reason.
"""

EXAMPLES = """\
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plaudit score` to a parser.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["a.jsonl", "--recipe", "trl-math", "--out", "scored"]).engine
    'local'
    """
    parser.description, parser.epilog = ABOUT, EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "inputs", metavar="INPUT", nargs="+", help="a file, folder, s3://… or hf://datasets/…"
    )
    parser.add_argument(
        "--recipe", metavar="R", required=True, help="a preset such as trl-math, or a TOML file"
    )
    parser.add_argument(
        "--out", metavar="DIR", required=True, help="the folder to write: a path, or s3://…"
    )
    add_column_arguments(parser)
    parser.add_argument(
        "--group",
        metavar="COLUMN",
        help="rows with the same value in this column are answers to one prompt "
        "(default: prompt, problem or question)",
    )
    parser.add_argument("--limit", metavar="N", type=int, help="score only the first N input rows")
    parser.add_argument("--strict", action="store_true", help="stop at the first rejected row")
    parser.add_argument(
        "--overwrite", action="store_true", help="start over: remove an earlier run from DIR"
    )
    parser.add_argument(
        "--engine", choices=ENGINES, default="local", help="where to score (default: local)"
    )
    parser.add_argument(
        "--workers", metavar="N", type=int, help="worker processes (default: one per core)"
    )
    parser.add_argument(
        "--ray-address",
        metavar="A",
        help="the Ray cluster to use; auto finds one on this machine (default: $RAY_ADDRESS, "
        "or a new one)",
    )
    parser.add_argument("--quiet", action="store_true", help="print no progress and no summary")


def run(arguments: argparse.Namespace) -> int:
    """Score as the arguments say, and return the exit code.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> run(parser.parse_args(["none.jsonl", "--recipe", "trl-math", "--out", "scored"]))
    2
    """
    try:
        summary = _scored(arguments)
    except InputError as error:
        return fail(WRONG, str(error))
    except RejectedRowError as error:
        return fail(REJECTED, f"{error}. Stopped because of --strict.")
    except StoppedError as error:
        return fail(STOPPED, str(error))
    except KeyboardInterrupt:
        return fail(INTERRUPTED, f"interrupted. {RESUME_HINT}")
    if not arguments.quiet:
        print(summary)
    if summary.was_finished and not arguments.quiet:
        done = f"{summary.out} was finished before, and nothing was scored now"
        print(f"plaudit: {done}; --overwrite starts over", file=sys.stderr)
    elif not arguments.quiet:
        rate = (summary.rows - summary.rows_before) / max(summary.seconds, 1e-9)
        print(f"plaudit: {summary.seconds:.1f} s, {rate:,.0f} rows/s", file=sys.stderr)
    return REJECTED if summary.rejected else 0


def _scored(arguments: argparse.Namespace) -> ScoreSummary:
    leave_pandas_alone()
    return score_table(
        arguments.inputs,
        load_recipe(arguments.recipe),
        arguments.out,
        engine=arguments.engine,
        ray_address=arguments.ray_address,
        strict=arguments.strict,
        overwrite=arguments.overwrite,
        **table_options(arguments),
    )


def load_recipe(name: str) -> Recipe:
    """The recipe of a command line: a preset, or a TOML file; raises InputError if there is none.

    >>> load_recipe("trl-math").name
    'trl-math'
    """
    try:
        return load(name)
    except (ValueError, OSError, ImportError) as error:
        raise InputError(str(error)) from error


def table_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options that all commands that read a table have, as keyword arguments.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> line = ["a.jsonl", "--recipe", "trl-math", "--out", "scored", "--limit", "9"]
    >>> table_options(parser.parse_args(line))["limit"]
    9
    """
    return {
        "completions": arguments.completions,
        "group": arguments.group,
        "columns": dict(arguments.column),
        "workers": arguments.workers,
        "limit": arguments.limit,
        "progress": None if arguments.quiet else sys.stderr,
    }


def fail(code: int, message: str) -> int:
    """Print why a command failed, and return its exit code.

    >>> fail(2, "there is no rollouts.jsonl")
    2
    """
    print(f"plaudit: {message}", file=sys.stderr)
    return code
