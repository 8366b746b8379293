"""A table and a recipe in, and out come findings about the data, before anybody trains on it.

    import plaudit

    for finding in plaudit.check(rows, "math", solution="answer").findings:
        print(finding.place, finding.kind, finding.why)

`check_table` is for files of any size: it writes findings and a page, and memory does not grow with
the table. The command line has it as `plaudit check`.
"""

try:
    import pyarrow  # noqa: F401  # checked first, for a better message than the modules below give
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "plaudit.checking needs pyarrow: pip install 'plaudit[score]'", name=missing.name
    ) from missing

from plaudit.checking._check import CheckResult, check
from plaudit.checking._check_table import check_table
from plaudit.checking._command import add_arguments, run
from plaudit.checking._findings import KINDS, Finding, Kind
from plaudit.checking._summary import CheckSummary

__all__ = [
    "KINDS",
    "CheckResult",
    "CheckSummary",
    "Finding",
    "Kind",
    "add_arguments",
    "check",
    "check_table",
    "run",
]
