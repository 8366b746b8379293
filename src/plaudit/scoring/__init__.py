"""A table in, a scored table out: on every core of this machine, or on Ray.

    from plaudit.recipes import load
    from plaudit.scoring import score_table

    score_table([Path("rollouts.jsonl")], load("trl-math"), Path("scored"))

Memory does not grow with the table, a run that was killed can be resumed, and the result is the
same whatever the engine and however often the run was stopped.
"""

try:
    import pyarrow  # noqa: F401  # checked first, for a better message than the modules below give
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "plaudit.scoring needs pyarrow: pip install 'plaudit[score]'", name=missing.name
    ) from missing

from plaudit.scoring._command import add_arguments, run
from plaudit.scoring._errors import InputError, RejectedRowError, StoppedError
from plaudit.scoring._folder import ScoredFolder, open_scored
from plaudit.scoring._score import score
from plaudit.scoring._score_table import score_table
from plaudit.scoring._summary import ScoreSummary

__all__ = [
    "InputError",
    "RejectedRowError",
    "ScoreSummary",
    "ScoredFolder",
    "StoppedError",
    "add_arguments",
    "open_scored",
    "run",
    "score",
    "score_table",
]
