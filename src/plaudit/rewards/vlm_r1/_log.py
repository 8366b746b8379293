"""What each attempt got, in the debug log of VLM-R1."""

from collections.abc import Sequence

from plaudit._debug_log import log_attempts
from plaudit.scores import Score

LOG = "vlm_r1.txt"


def log(
    title: str,
    scores: Sequence[Score],
    texts: Sequence[str],
    solution: Sequence[object] | None = None,
    suffix: str = "",
) -> None:
    """Append each attempt to the log; `suffix` tells apart the files of several rewards.

    >>> log("Format reward", [Score(1.0, "As it should be.")], ["4"], suffix="_format")
    """
    log_attempts(LOG, title, scores, texts, solution, suffix)
