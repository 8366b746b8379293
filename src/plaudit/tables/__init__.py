"""Read, score and write tables: files on every core of this machine or on Ray, or in memory.

    from plaudit.tables import score_table

    score_table("rollouts.jsonl", "trl-math", "scored")

Memory does not grow with the table, a run that was killed can be resumed, and the result is the
same whatever the engine and however often the run was stopped.

Packages that read whole tables for another purpose use its modules: `inputs` and `plan` find the
files and read their first rows, `readers` and `engines` let worker processes go through all rows.
"""

try:
    import pyarrow  # noqa: F401  # checked first, for a better message than the modules below give
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "plaudit.tables needs pyarrow: pip install 'plaudit[score]'", name=missing.name
    ) from missing

from plaudit.tables._score_table import score_table
from plaudit.tables.errors import InputError as InputError
from plaudit.tables.errors import RejectedRowError as RejectedRowError
from plaudit.tables.errors import StoppedError as StoppedError
from plaudit.tables.memory import score
from plaudit.tables.output import open_scored
from plaudit.tables.summary import ScoreSummary

__all__ = ["ScoreSummary", "open_scored", "score", "score_table"]
