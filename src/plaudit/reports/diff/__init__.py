"""The difference between two scored runs: which rows changed, by how much and why.

    $ plaudit diff runs/before runs/after
    $ plaudit diff --input rollouts.jsonl trl-math mine.toml

Rows are matched by `row_id`. Both runs are read once, side by side, so that memory does not grow
with them.
"""

try:
    from plaudit.reports.diff._difference import Difference as Difference
    from plaudit.reports.diff._difference import compare, compare_recipes
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        f"plaudit.reports.diff needs {missing.name}: pip install 'plaudit[score]'",
        name=missing.name,
    ) from missing

__all__ = ["compare", "compare_recipes"]
