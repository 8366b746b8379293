"""Read, score and write tables: files on every core of this machine or on Ray, or in memory.

    from plaudit.tables import score_table

    score_table("rollouts.jsonl", "trl-math", "scored")

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
        "plaudit.tables needs pyarrow: pip install 'plaudit[score]'", name=missing.name
    ) from missing

from plaudit.tables._engines import leave_pandas_alone as leave_pandas_alone
from plaudit.tables._engines import process_locally as process_locally
from plaudit.tables._errors import RESUME_HINT as RESUME_HINT
from plaudit.tables._errors import CommonFailure as CommonFailure
from plaudit.tables._errors import InputError as InputError
from plaudit.tables._errors import RejectedRowError as RejectedRowError
from plaudit.tables._errors import StoppedError as StoppedError
from plaudit.tables._errors import common_failure as common_failure
from plaudit.tables._errors import reason_of as reason_of
from plaudit.tables._inputs import InputFile as InputFile
from plaudit.tables._inputs import find_inputs as find_inputs
from plaudit.tables._memory import MemoryTable as MemoryTable
from plaudit.tables._memory import score
from plaudit.tables._memory import table_of as table_of
from plaudit.tables._output import ScoredFolder as ScoredFolder
from plaudit.tables._output import open_scored
from plaudit.tables._plan import Head as Head
from plaudit.tables._plan import heads_of as heads_of
from plaudit.tables._plan import is_read_by as is_read_by
from plaudit.tables._plan import judge_limits as judge_limits
from plaudit.tables._readers import Block as Block
from plaudit.tables._readers import Chunk as Chunk
from plaudit.tables._readers import UnreadableRecord as UnreadableRecord
from plaudit.tables._readers import blocks_of as blocks_of
from plaudit.tables._readers import chunks_of as chunks_of
from plaudit.tables._readers import is_listed as is_listed
from plaudit.tables._readers import names_files as names_files
from plaudit.tables._readers import read_rows as read_rows
from plaudit.tables._readers import records_in as records_in
from plaudit.tables._score_chunk import outcomes_of as outcomes_of
from plaudit.tables._score_table import check_numbers as check_numbers
from plaudit.tables._score_table import score_table
from plaudit.tables._score_table import stopping_on_system_errors as stopping_on_system_errors
from plaudit.tables._score_table import with_columns as with_columns
from plaudit.tables._storage import local_path as local_path
from plaudit.tables._storage import path_here as path_here
from plaudit.tables._summary import ScoreProgress as ScoreProgress
from plaudit.tables._summary import ScoreSummary

__all__ = ["ScoreSummary", "open_scored", "score", "score_table"]
