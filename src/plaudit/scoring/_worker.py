"""A worker process: receives some work and its plan, then chunks, and sends back each result.

It is started by exec, so that it never sees the caller's `__main__`, threads or CUDA.
"""

import gc
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

from plaudit.processes import die_with_parent


def main(descriptor: int, parent: int) -> None:
    """Work on chunks until the connection is closed, or the parent has ended."""
    connection = Connection(descriptor)
    die_with_parent(parent)
    os.dup2(2, 1)  # what a reward prints is not output of the command
    try:
        work, plan = connection.recv()
        set_up_worker(plan.limits)
        while True:
            chunk = connection.recv()
            connection.send(result_or_error(work, chunk, plan))
    except (EOFError, OSError):
        return


class _NoPandas:
    """A finder of modules that finds no pandas, whether it is installed or not."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'", name="pandas")


def leave_pandas_alone() -> None:
    """Keep pyarrow from importing pandas, which takes a second, to see whether a list is a Series.

    Only for processes of plaudit's own. pyarrow asks once; `to_pandas` still imports pandas later.
    """
    import pyarrow as pa

    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)


def set_up_worker(limits: Mapping[str, Any]) -> None:
    """Make this process one worker of many: one thread, one judge process, no repeated warnings."""
    import pyarrow as pa

    from plaudit.judge import configure, shared_judge

    leave_pandas_alone()
    # The summary counts these, once for all workers.
    warnings.filterwarnings("ignore", message="the gold .* is read as", category=UserWarning)
    # The process that started this one has said so.
    warnings.filterwarnings("ignore", message="math-verify .* was not tested", category=UserWarning)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    gc.set_threshold(50_000, 20, 100)  # a chunk is many objects, none of them in a cycle
    wanted = {**limits, "workers": 1}
    settings = shared_judge().settings
    if any(getattr(settings, name) != value for name, value in wanted.items()):
        configure(**wanted)


def scored_or_error(chunk: Any, plan: Any) -> Any:
    """The scored chunk, or what went wrong, as text."""
    from plaudit.scoring._score_chunk import score_chunk

    return result_or_error(score_chunk, chunk, plan)


def result_or_error(work: Callable[[Any, Any], Any], chunk: Any, plan: Any) -> Any:
    """What the work makes of a chunk, or what went wrong, as text: not every exception can be
    pickled.

    It catches `SystemExit` too: a reward that calls `sys.exit` must not look like a crash.
    """
    from plaudit.scoring._errors import describe

    try:
        return work(chunk, plan)
    except BaseException as error:
        return describe(error)
