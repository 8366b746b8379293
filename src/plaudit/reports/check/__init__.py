"""Find rows from which a model cannot learn, before anybody trains on them.

    import plaudit

    for finding in plaudit.check(rows, "math", solution="answer").findings:
        print(finding.location, finding.kind, finding.why)

`check_table` is for files of any size: it writes findings and a page, and memory does not grow with
the table. The command line has it as `plaudit check`.
"""

try:
    import pyarrow  # noqa: F401  # checked first, for a better message than the modules below give
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "plaudit.reports.check needs pyarrow: pip install 'plaudit[score]'", name=missing.name
    ) from missing

from plaudit.reports.check._check import CheckResult, check, check_table
from plaudit.reports.check._findings import CheckSummary

__all__ = ["CheckResult", "CheckSummary", "check", "check_table"]
