"""`plaudit audit`: arguments in; findings, printed or as a page, and an exit code out."""

import argparse
import json
import sys
from pathlib import Path

from plaudit.auditing._attacks import CLASSES
from plaudit.auditing._audit import ROWS, audit, recipe_of
from plaudit.auditing._findings import Audit
from plaudit.commands import add_column_arguments

ABOVE, WRONG = 1, 2

ABOUT = f"""\
Play the model that wants the reward and not the answer: build completions that deserve nothing,
score them, and name what pays, worst first. Components that a gate holds back pay nothing alone:
for them, what counts is the total.

TABLE has the rows that one would train on: prompts, golds, and completions if there are some, in
any format that `plaudit score` reads. No model is needed. The rewards run in a process of their
own: one that raises or hangs is a finding.

classes: {", ".join(CLASSES[:6])},
         {", ".join(CLASSES[6:])}
"""

EXAMPLES = """\
examples:
  plaudit audit rows.jsonl --recipe math
  plaudit audit rows.jsonl --reward my_rewards:accuracy --column solution=answer
  plaudit audit rows.jsonl --recipe my.toml --out audited
  plaudit audit rows.jsonl --recipe my.toml --json --fail-above 0.5

exit codes:
  0 done    1 a share is above --fail-above    2 wrong usage or unreadable input
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plaudit audit` to a parser.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["rows.jsonl", "--recipe", "math", "--only", "hedge,cost"]).only
    ['hedge', 'cost']
    """
    parser.description, parser.epilog = ABOUT, EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "inputs", metavar="TABLE", nargs="+", help="a file, folder, s3://… or hf://…"
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--recipe", metavar="R", help="a preset such as math, or a TOML file")
    what.add_argument(
        "--reward",
        metavar="REF",
        help="one reward: package.module:function, or one of plaudit's such as trl.accuracy_reward",
    )
    parser.add_argument(
        "--rows", metavar="N", type=int, default=ROWS, help=f"rows to use (default: {ROWS})"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="which rows (default: 0)")
    add_column_arguments(parser)
    parser.add_argument(
        "--template",
        metavar="TEXT",
        help="the format of an honest answer, such as '<answer>{answer}</answer>' "
        "(default: that of the rows' completions, or the usual one that pays best)",
    )
    parser.add_argument(
        "--only", metavar="CLASSES", type=_names, default=[], help="classes to try, with commas"
    )
    parser.add_argument(
        "--skip", metavar="CLASSES", type=_names, default=[], help="classes to leave out"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--out", metavar="DIR", type=Path, help="write a page to DIR/index.html")
    parser.add_argument(
        "--fail-above",
        metavar="SHARE",
        type=float,
        help="exit with 1 if the share of a finding is above this, such as 0.5; right answers that "
        "are not paid do not count",
    )
    parser.add_argument("--quiet", action="store_true", help="print no progress")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def run(arguments: argparse.Namespace) -> int:
    """Audit as the arguments say, print what was found, and return the exit code.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> run(parser.parse_args(["none.jsonl", "--recipe", "math"]))
    2
    """
    from plaudit.report import ReportError
    from plaudit.scoring import InputError

    try:
        found = _audited(arguments)
        page = _page(arguments, found)
    except (InputError, ReportError, ValueError, ImportError, OSError) as error:
        print(f"plaudit: {error}", file=sys.stderr)
        return WRONG
    if arguments.json:
        print(json.dumps(found.as_json(), ensure_ascii=False))
    else:
        print(found)
    if page is not None:
        print(page, file=sys.stderr if arguments.json else sys.stdout)
    limit = arguments.fail_above
    return ABOVE if limit is not None and found.worst > limit else 0


def _audited(arguments: argparse.Namespace) -> Audit:
    from plaudit.scoring import with_columns

    if arguments.rows < 1:
        raise ValueError(f"--rows must be 1 or more, got {arguments.rows}")
    recipe = recipe_of(arguments.recipe or arguments.reward)
    return audit(
        arguments.inputs,
        with_columns(recipe, dict(arguments.column)),
        completions=arguments.completions,
        sample=arguments.rows,
        seed=arguments.seed,
        only=arguments.only,
        skip=arguments.skip,
        template=arguments.template,
        progress=None if arguments.quiet else sys.stderr,
    )


def _page(arguments: argparse.Namespace, found: Audit) -> Path | None:
    if arguments.out is None:
        return None
    from plaudit.auditing._page import write_page

    return write_page(found, arguments.out)
