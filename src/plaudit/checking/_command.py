"""`plaudit check`: arguments in; findings, a page, a summary and an exit code out."""

import argparse
import sys
from pathlib import Path

from plaudit.checking._check_table import check_table
from plaudit.checking._summary import CheckSummary
from plaudit.commands import add_column_arguments
from plaudit.scoring import InputError, StoppedError, fail, load_recipe, table_options

STOPPED, WRONG, FOUND, INTERRUPTED = 1, 2, 3, 130

ABOUT = """\
Check a table before it is trained on: golds that cannot be read, that are placeholders or HTML,
that do not equal themselves or are too expensive to compare, empty prompts and prompts that state
their answer, duplicates and contradictions, letters that are no option, images and boxes; and, if
the table has completions, golds that look wrong.

TABLE is JSONL, JSON, CSV or TSV (each also .gz or .zst), Parquet or Arrow, a folder of these, a
Hugging Face dataset saved to disk, or a URL such as s3://… or hf://datasets/ORG/NAME. It needs no
completions.
"""

EXAMPLES = """\
examples:
  plaudit check train.jsonl --recipe math
  plaudit check train.parquet --recipe trl-math --column solution=answer --out checked
  plaudit check train.jsonl --recipe math --drop clean.jsonl

exit codes:
  0 no findings    1 stopped early    2 wrong usage or unreadable input    3 findings
  130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plaudit check` to a parser.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["train.jsonl", "--recipe", "math"]).drop is None
    True
    """
    parser.description, parser.epilog = ABOUT, EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "inputs", metavar="TABLE", nargs="+", help="a file, folder, s3://… or hf://…"
    )
    parser.add_argument(
        "--recipe", metavar="R", required=True, help="a preset such as math, or a TOML file"
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help="write DIR/findings.parquet and DIR/index.html"
    )
    parser.add_argument(
        "--drop",
        metavar="OUT",
        type=Path,
        help="write the table without the rows that have findings, in the input's format",
    )
    add_column_arguments(parser, guesses=False)
    parser.add_argument(
        "--group",
        metavar="COLUMN",
        help="rows with the same value in this column have the same prompt "
        "(default: prompt, problem and question, with context and image)",
    )
    parser.add_argument(
        "--template",
        metavar="TEXT",
        help="how the reward wants an answer, such as '<answer>{answer}</answer>' "
        "(default: the usual formats are tried)",
    )
    parser.add_argument(
        "--skip",
        metavar="KIND",
        action="append",
        default=[],
        help="leave out a kind of findings, such as suspicious_gold; may be repeated",
    )
    parser.add_argument("--limit", metavar="N", type=int, help="check only the first N rows")
    parser.add_argument(
        "--workers", metavar="N", type=int, help="worker processes (default: one per core)"
    )
    parser.add_argument("--quiet", action="store_true", help="print no progress and no summary")


def run(arguments: argparse.Namespace) -> int:
    """Check as the arguments say, and return the exit code.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> run(parser.parse_args(["none.jsonl", "--recipe", "math"]))
    2
    """
    try:
        summary = _checked(arguments)
    except InputError as error:
        return fail(WRONG, str(error))
    except StoppedError as error:
        return fail(STOPPED, str(error))
    except KeyboardInterrupt:
        return fail(INTERRUPTED, "interrupted. No findings were written.")
    if not arguments.quiet:
        print(summary)
        rate = summary.rows / max(summary.seconds, 1e-9)
        print(f"plaudit: {summary.seconds:.1f} s, {rate:,.0f} rows/s", file=sys.stderr)
    return FOUND if summary.failed else 0


def _checked(arguments: argparse.Namespace) -> CheckSummary:
    return check_table(
        arguments.inputs,
        load_recipe(arguments.recipe),
        out=arguments.out,
        drop=arguments.drop,
        template=arguments.template,
        skip=arguments.skip,
        **table_options(arguments),
    )
