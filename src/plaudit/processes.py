"""How many processes plaudit starts, how they are started, and when they end.

They are started by exec, so they never see the caller's `__main__`, threads or CUDA.
"""

import atexit
import gc
import os
import re
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess

PROGRAM = (
    "import importlib, json, sys, types\n"
    "sys.path[:], packages, module, arguments = json.loads(sys.argv[1])\n"
    "for name, path in packages.items():\n"
    "    sys.modules[name] = types.ModuleType(name)\n"
    "    sys.modules[name].__path__ = path\n"
    "importlib.import_module(module).main(*arguments)\n"
)
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of malloc.h
KEPT = 32 << 20  # bytes
LARGE = 4 << 20


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def start_python(
    module: str, *arguments: float | str, lean: bool = False, **options: Any
) -> "subprocess.Popen[bytes]":
    """Start Python with the `sys.path` of this process, and call `main(*arguments)` of a module.

    lean: import the module without the `__init__` of its packages
    options: of `subprocess.Popen`, such as `pass_fds=[descriptor]`
    """
    import json  # most processes start no other
    import subprocess

    path = [str(Path(entry).absolute()) for entry in sys.path]
    parents = [module[: match.start()] for match in re.finditer(r"\.", module)] if lean else []
    packages = {name: list(sys.modules[name].__path__) for name in parents}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps([path, packages, module, arguments])],
        stdin=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C in the terminal is for the parent to handle
        **options,
    )


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


def keep_freed_memory() -> None:
    """Have this process keep some megabytes that it frees, for what it allocates next.

    By default glibc gives them back to the system. A server that receives half a megabyte again and
    again then spends a fifth of its time on page faults. Nothing happens if malloc is another.
    """
    if sys.platform == "linux":
        import ctypes

        libc: Any = ctypes.CDLL(None)
        if hasattr(libc, "mallopt"):
            libc.mallopt(M_TRIM_THRESHOLD, KEPT)
            libc.mallopt(M_MMAP_THRESHOLD, LARGE)


def collect_garbage_seldom() -> None:
    """Have this process look for garbage once in thousands of objects, and not at those it has.

    By default Python looks after every 700: a batch of 256 messages is as many, and no garbage.
    """
    gc.freeze()
    gc.set_threshold(20_000, *gc.get_threshold()[1:])


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when `parent` ends, and exit if that is gone already.

    On Linux alone. Elsewhere a process ends when it notices that the other side of its socket is
    closed, and a judge's worker at its limit of CPU time.
    """
    if sys.platform == "linux":
        import ctypes

        libc: Any = ctypes.CDLL(None)
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)


def adopt_orphans() -> None:
    """Have the kernel (Linux) make this process the parent of what its children leave behind."""
    if sys.platform == "linux":
        import ctypes

        libc: Any = ctypes.CDLL(None)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1)


def end_process() -> None:
    """End this process as Python does, except that it frees nothing, which can take a second."""
    # As multiprocessing does in its own processes; it also ends the idle threads of executors.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody reads it any more, or it is closed
            stream.flush()
    os._exit(0)
