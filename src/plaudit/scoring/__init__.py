"""A table in, a scored table out: on every core of this machine, or on Ray.

    from plaudit.recipes import load
    from plaudit.scoring import score_table

    score_table([Path("rollouts.jsonl")], load("trl-math"), Path("scored"))

Memory does not grow with the table, a run that was killed can be resumed, and the result is the
same whatever the engine and however often the run was stopped.

Packages that read whole tables for another purpose use its parts: `find_inputs` and `heads_of` find
the files and read their first rows; `chunks_of` and `process_locally` let worker processes go
through all rows.
"""

try:
    import pyarrow  # noqa: F401  # checked first, for a better message than the modules below give
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "plaudit.scoring needs pyarrow: pip install 'plaudit[score]'", name=missing.name
    ) from missing

from plaudit.scoring._chunks import Chunk, chunks_of
from plaudit.scoring._command import add_arguments, fail, load_recipe, run, table_options
from plaudit.scoring._errors import (
    Failure,
    InputError,
    RejectedRowError,
    StoppedError,
    common_failure,
    reason_of,
)
from plaudit.scoring._inputs import InputFile, find_inputs
from plaudit.scoring._local import process_locally
from plaudit.scoring._plan import Head, heads_of, is_read_by, judge_limits
from plaudit.scoring._read_rows import names_files, read_rows
from plaudit.scoring._readers import blocks_of
from plaudit.scoring._records import Block, UnreadableRecord, is_listed
from plaudit.scoring._rows import records_in
from plaudit.scoring._score import score
from plaudit.scoring._score_chunk import outcomes_of
from plaudit.scoring._score_table import (
    check_numbers,
    score_table,
    stopping_on_system_errors,
    with_columns,
)
from plaudit.scoring._scored_folder import ScoredFolder, open_scored
from plaudit.scoring._storage import local_path, path_here
from plaudit.scoring._summary import Progress, ScoreSummary
from plaudit.scoring._tables import Table, table_of

__all__ = [
    "Block",
    "Chunk",
    "Failure",
    "Head",
    "InputError",
    "InputFile",
    "Progress",
    "RejectedRowError",
    "ScoreSummary",
    "ScoredFolder",
    "StoppedError",
    "Table",
    "UnreadableRecord",
    "add_arguments",
    "blocks_of",
    "check_numbers",
    "chunks_of",
    "common_failure",
    "fail",
    "find_inputs",
    "heads_of",
    "is_listed",
    "is_read_by",
    "judge_limits",
    "load_recipe",
    "local_path",
    "names_files",
    "open_scored",
    "outcomes_of",
    "path_here",
    "process_locally",
    "read_rows",
    "reason_of",
    "records_in",
    "run",
    "score",
    "score_table",
    "stopping_on_system_errors",
    "table_of",
    "table_options",
    "with_columns",
]
