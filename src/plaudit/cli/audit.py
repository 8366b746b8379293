"""`plaudit audit`."""

import json as json_text
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from plaudit.cli.arguments import Columns, Completions, Option, UsageError, comma_separated, fail
from plaudit.reports import ReportError
from plaudit.reports.audit import ROWS, audit, recipe_of, write_page
from plaudit.tables.plan import with_columns

ABOVE, WRONG = 1, 2

Classes = Annotated[Sequence[str], Option("CLASSES", "", comma_separated)]


def run(
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

    classes: empty, structure, key, echo, hedge, neighbour, retract, stuffing, length, unstable,
             cost, missed

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
