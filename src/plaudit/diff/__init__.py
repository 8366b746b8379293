"""Two scored runs, or a file and two recipes, in; which rows changed, by how much and why, out.

    $ plaudit diff runs/before runs/after
    $ plaudit diff --input rollouts.jsonl trl-math mine.toml

Rows are matched by `row_id`. Both runs are read once, side by side, so that memory does not grow
with them.
"""

from plaudit.diff._command import add_arguments, run
from plaudit.diff._compare import compare, compare_recipes
from plaudit.diff._difference import Change, Difference, Measure, Side

__all__ = [
    "Change",
    "Difference",
    "Measure",
    "Side",
    "add_arguments",
    "compare",
    "compare_recipes",
    "run",
]
