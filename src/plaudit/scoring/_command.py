r"""`plaudit score`: the arguments, and what is printed."""

import argparse
import sys
from pathlib import Path

from plaudit.recipes import load
from plaudit.scoring._errors import InputError, RejectedRowError, StoppedError
from plaudit.scoring._folder import GO_ON
from plaudit.scoring._score_table import ENGINES, score_table
from plaudit.scoring._summary import ScoreSummary

STOPPED, WRONG, REJECTED, INTERRUPTED = 1, 2, 3, 130

ABOUT = """\
Score a table of rollouts with a recipe, into a folder of Parquet parts with all the input's
columns plus one for each reward, the total, the status and the explanation.

INPUT is JSONL, JSON, CSV or TSV (each also .gz or .zst), Parquet or Arrow, a folder of these, or a
Hugging Face dataset saved to disk. A row holds one completion, or a list of them.

Stopped in any way, the run goes on when the same command is given again. Rows that cannot be scored
go to DIR/_rejected.jsonl, with line and reason.
"""

EXAMPLES = """\
examples:
  plaudit score rollouts.jsonl --recipe trl-math --out scored
  plaudit score step-*.parquet --recipe my.toml --out scored --group prompt_id
  plaudit score rollouts.jsonl.zst --recipe canoe --out scored --column solution=answer
  plaudit score rollouts/ --recipe trl-math --out scored --engine ray --ray-address auto

exit codes:
  0 finished    1 stopped on the way: run it again    2 wrong usage or unreadable input
  3 finished, but rows were rejected (with --strict: stopped at the first)    130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `plaudit score` takes.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["a.jsonl", "--recipe", "trl-math", "--out", "scored"]).engine
    'local'
    """
    parser.description, parser.epilog = ABOUT, EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("inputs", metavar="INPUT", nargs="+", type=Path, help="a file or folder")
    parser.add_argument("--recipe", metavar="R", required=True, help="a preset, or a TOML file")
    parser.add_argument("--out", metavar="DIR", required=True, type=Path, help="where to write")
    parser.add_argument("--completions", metavar="COLUMN", help="which column the model wrote")
    parser.add_argument("--group", metavar="COLUMN", help="which rows belong together")
    parser.add_argument(
        "--column",
        metavar="ARG=COLUMN",
        type=_mapping,
        action="append",
        default=[],
        help="read a reward's argument from this column, such as solution=answer",
    )
    parser.add_argument("--limit", metavar="N", type=int, help="score only the first N rows")
    parser.add_argument("--strict", action="store_true", help="stop at the first rejected row")
    parser.add_argument("--overwrite", action="store_true", help="start anew, whatever is in DIR")
    parser.add_argument("--engine", choices=ENGINES, default="local", help="default: local")
    parser.add_argument("--workers", metavar="N", type=int, help="default: one for each core")
    parser.add_argument("--ray-address", metavar="A", help="of a Ray cluster; auto finds one")
    parser.add_argument("--quiet", action="store_true", help="no progress and no summary")


def _mapping(text: str) -> tuple[str, str]:
    argument, _, column = text.partition("=")
    if not argument.isidentifier() or not column:
        raise argparse.ArgumentTypeError(f"expected ARG=COLUMN, got {text!r}")
    return argument, column


def run(arguments: argparse.Namespace) -> int:
    """Score as the arguments say, and give the exit code.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> run(parser.parse_args(["none.jsonl", "--recipe", "trl-math", "--out", "scored"]))
    2
    """
    try:
        summary = _scored(arguments)
    except InputError as error:
        return _complain(WRONG, str(error))
    except RejectedRowError as error:
        return _complain(REJECTED, f"{error}. Stopped, as --strict says. Without it, it goes on.")
    except StoppedError as error:
        return _complain(STOPPED, str(error))
    except KeyboardInterrupt:
        return _complain(INTERRUPTED, f"interrupted. {GO_ON}")
    if not arguments.quiet:
        print(summary)
        rate = summary.rows / max(summary.seconds, 1e-9)
        print(f"plaudit: {summary.seconds:.1f} s, {rate:,.0f} rows/s", file=sys.stderr)
    return REJECTED if summary.rejected else 0


def _scored(arguments: argparse.Namespace) -> ScoreSummary:
    try:
        recipe = load(arguments.recipe)
    except (ValueError, OSError, ImportError) as error:
        raise InputError(str(error)) from error
    return score_table(
        arguments.inputs,
        recipe,
        arguments.out,
        engine=arguments.engine,
        workers=arguments.workers,
        ray_address=arguments.ray_address,
        completions=arguments.completions,
        group=arguments.group,
        columns=dict(arguments.column),
        strict=arguments.strict,
        overwrite=arguments.overwrite,
        limit=arguments.limit,
        progress=None if arguments.quiet else sys.stderr,
    )


def _complain(code: int, message: str) -> int:
    print(f"plaudit: {message}", file=sys.stderr)
    return code
