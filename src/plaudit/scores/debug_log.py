"""The log of attempts that is written if the environment has `DEBUG_MODE=true`.

------------- 2025-03-01T12:00:00.123456 Accuracy reward: 1.0 -------------
Content: <answer>4</answer>
Solution: 4
"""

import os
import warnings
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from plaudit.scores import Score

_warned: set[str] = set()


def log_attempts(
    path: str,
    title: str,
    scores: Sequence[Score],
    contents: Sequence[str | None],
    solution: Sequence[object] | None = None,
    suffix: str = "",
) -> None:
    """Append what each completion got to `$LOG_PATH`, or to `path` where that is not set.

    Does nothing without `DEBUG_MODE=true`. `suffix` tells apart the files of several rewards:
    `_format` turns `run.txt` into `run_format.txt`. A file that cannot be written is warned of
    once, and never changes a reward.
    """
    if os.environ.get("DEBUG_MODE") != "true":
        return
    file = _with_suffix(os.environ.get("LOG_PATH") or path, suffix)
    now = datetime.now().isoformat(timespec="microseconds")
    golds = [None] * len(scores) if solution is None else solution
    text = "".join(
        f"------------- {now} {title}: {score.value} -------------\n"
        f"Content: {content}\nSolution: {gold}\n"
        for score, content, gold in zip(scores, contents, golds, strict=True)
    )
    try:
        # One write to a file opened for appending: batches of several threads do not mix.
        with Path(file).open("ab", buffering=0) as log:
            log.write(text.encode("utf-8", errors="backslashreplace"))
    except (OSError, ValueError) as error:
        if file not in _warned:
            _warned.add(file)
            warnings.warn(f"plaudit writes no debug log: {error}", RuntimeWarning, stacklevel=2)


def _with_suffix(path: str, suffix: str) -> str:
    return f"{path.removesuffix('.txt')}{suffix}.txt" if suffix else path
