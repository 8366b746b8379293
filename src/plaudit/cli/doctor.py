"""`plaudit doctor`."""

import json as json_text
from dataclasses import asdict

from plaudit.doctor import PROBLEM, as_text, findings


def run(*, json: bool = False) -> int:
    """Check this installation: versions, limits of the system, settings, the judge's worker
    processes, and the recipe that PLAUDIT_RECIPE names. For each problem it says what to do; it
    changes nothing.

    json: print one JSON object

    exit codes:
      0 no problem    1 a problem was found
    """
    found = findings()
    problems = sum(finding.status == PROBLEM for finding in found)
    if json:
        objects = [asdict(one) for one in found]
        print(json_text.dumps({"problems": problems, "findings": objects}))
    else:
        print(as_text(found))
    return 1 if problems else 0
