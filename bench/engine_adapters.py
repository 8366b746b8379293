"""Six ways to judge items in other processes, each used as its documentation shows.

All do the same work, `judge_pair` of plaudit's workers, in two processes with a memory limit. What
an engine cannot do is not worked around here: `engines.py` finds it out.
"""

import json
import resource
import select
import subprocess
import sys
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from multiprocessing import get_context
from typing import Any, Protocol

from plaudit.judge import Settings
from plaudit.judge.workers._worker import judge_pair

WORKERS = 2
MEMORY = 1 << 30
IMPORT = 10.0  # seconds that a plain subprocess may take to import before its first item
Item = tuple[Any, ...]


class Engine(Protocol):
    """What is compared."""

    def judge(self, items: list[Item], deadline: float) -> list[str]:
        """A status for each item: what the work said, "timeout", or "lost: " and why."""

    def close(self) -> None: ...


def prepare() -> None:
    """What each engine's workers do before their first item, so that no item's time has it."""
    from plaudit.judge.workers._symbolic import warm_up

    warm_up()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


class Executor:
    """`concurrent.futures.ProcessPoolExecutor`: the wait has a limit, the work has none."""

    def __init__(self, method: str) -> None:
        from concurrent.futures import ProcessPoolExecutor

        context = get_context(method)
        self._pool: Any = ProcessPoolExecutor(WORKERS, context, prepare)

    def judge(self, items: list[Item], deadline: float) -> list[str]:
        futures: list[Future[Any]] = []
        for item in items:
            try:
                futures.append(self._pool.submit(judge_pair, *item))
            except Exception as error:  # the pool is broken
                futures.append(Future())
                futures[-1].set_exception(error)
        return [_status(future, deadline) for future in futures]

    def close(self) -> None:
        self._pool.shutdown()


class Loky(Executor):
    """loky's executor: it can be made anew after a death, and its workers are no `__main__`."""

    def __init__(self) -> None:
        from loky import get_reusable_executor

        self._pool = get_reusable_executor(WORKERS, initializer=prepare)

    def judge(self, items: list[Item], deadline: float) -> list[str]:
        from loky import get_reusable_executor

        self._pool = get_reusable_executor(WORKERS, initializer=prepare)
        return super().judge(items, deadline)


class Pebble:
    """pebble's `ProcessPool`: it kills the worker of an item that takes too long."""

    def __init__(self) -> None:
        from pebble import ProcessPool

        context = get_context("spawn")
        self._pool = ProcessPool(WORKERS, initializer=prepare, context=context)

    def judge(self, items: list[Item], deadline: float) -> list[str]:
        futures = [self._pool.schedule(judge_pair, item, timeout=deadline) for item in items]
        return [_status(future, None) for future in futures]

    def close(self) -> None:
        self._pool.stop()
        self._pool.join()


class Subprocesses:
    """A `python -c` for each worker and JSON lines over pipes: no server to fork from."""

    CODE = (
        "import json, sys\n"
        "from engine_adapters import prepare\n"
        "from plaudit.judge.workers._worker import judge_pair\n"
        "prepare()\n"
        "for line in sys.stdin:\n"
        "    print(json.dumps(judge_pair(*json.loads(line))), flush=True)\n"
    )

    def __init__(self) -> None:
        self._workers = [self._start() for _ in range(WORKERS)]

    def _start(self) -> "subprocess.Popen[str]":
        path = f"import sys; sys.path[:] = {sys.path!r}\n"
        command = [sys.executable, "-c", path + self.CODE]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        return subprocess.Popen(command, text=True, stderr=subprocess.DEVNULL, **pipes)

    def judge(self, items: list[Item], deadline: float) -> list[str]:
        statuses, waiting = [""] * len(items), list(range(len(items)))[::-1]
        busy: dict[int, tuple[int, float]] = {}  # worker -> item and when it must be done
        while waiting or busy:
            for number in range(WORKERS):
                if waiting and number not in busy:
                    due = time.monotonic() + deadline + IMPORT * self._is_new(number)
                    busy[number] = waiting.pop(), due
                    self._send(number, items[busy[number][0]])
            pipes = {self._workers[number].stdout: number for number in busy}
            patience = max(0.0, min(due for _, due in busy.values()) - time.monotonic())
            for pipe in select.select(list(pipes), [], [], patience)[0]:
                number = pipes[pipe]
                line = pipe.readline()
                place, _ = busy.pop(number)
                if line:
                    statuses[place] = json.loads(line)[0]
                else:  # it died: somebody else may try
                    waiting.append(place)
                    self._restart(number)
            for number, (place, due) in list(busy.items()):
                if due <= time.monotonic():
                    del busy[number]
                    statuses[place] = "timeout"
                    self._restart(number)
        return statuses

    def _is_new(self, number: int) -> bool:
        """Whether a worker has not answered yet: it may still be importing."""
        fresh = not hasattr(self._workers[number], "answered")
        self._workers[number].answered = True  # type: ignore[attr-defined]
        return fresh

    def _send(self, number: int, item: Item) -> None:
        stdin = self._workers[number].stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps(item) + "\n")
            stdin.flush()
        except BrokenPipeError:
            pass  # its closed output tells

    def _restart(self, number: int) -> None:
        self._workers[number].kill()
        self._workers[number].wait()
        self._workers[number] = self._start()

    def close(self) -> None:
        for worker in self._workers:
            worker.kill()
            worker.wait()


class Ours:
    """plaudit's own."""

    def __init__(self) -> None:
        self._pool: Any = None

    def judge(self, items: list[Item], deadline: float) -> list[str]:
        from plaudit.judge.workers import WorkerPool

        if self._pool is None:
            self._pool = WorkerPool(
                Settings(deadline=deadline, workers=WORKERS, memory=MEMORY >> 20)
            )
        return [future.result()[0] for future in [self._pool.submit(item) for item in items]]

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()


ENGINES: dict[str, Any] = {
    "executor, spawn": lambda: Executor("spawn"),
    "executor, forkserver": lambda: Executor("forkserver"),
    "loky": Loky,
    "pebble": Pebble,
    "subprocesses": Subprocesses,
    "plaudit": Ours,
}


def _status(future: Any, patience: float | None) -> str:
    try:
        return str(future.result(timeout=patience)[0])
    except (FutureTimeoutError, TimeoutError):
        return "timeout"
    except Exception as error:
        return f"lost: {type(error).__name__}"
