"""How processes start and end, seen from inside one that was started."""

import ctypes
import os
import subprocess
import sys

import pytest

from plaudit import processes


def test_a_machine_that_cannot_say_which_cores_are_ours_has_all_of_them(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert processes.cores() == 5


def test_a_started_python_has_our_path_and_calls_main(tmp_path, monkeypatch):
    """Also by a relative entry of `sys.path`, wherever the other process would look for it."""
    (tmp_path / "told.py").write_text("def main(*arguments):\n    print(__name__, arguments)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [".", *sys.path])
    with processes.start_python("told", 3, 0.5, stdout=subprocess.PIPE) as started:
        assert started.stdout.read() == b"told (3, 0.5)\n"
    assert started.returncode == 0


def test_a_process_does_not_outlive_a_parent_that_is_gone(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda _: type("C", (), {"prctl": print}))
    processes.die_with_parent(os.getppid())
    with pytest.raises(SystemExit):
        processes.die_with_parent(os.getppid() + 1)


ENDING = """
import atexit, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from plaudit.processes import end_process

def later():
    time.sleep(0.2)
    print("a thread", flush=True)

class Large:
    def __del__(self):
        print("freed")

def main():
    global kept, idle
    kept, idle = Large(), ThreadPoolExecutor(1)
    idle.submit(time.sleep, 0).result()
    threading.Thread(target=later).start()
    threading.Thread(target=time.sleep, args=[60], daemon=True).start()
    atexit.register(print, "at exit")
    sys.stdout.write("not flushed ")
    end_process()
"""


def test_a_process_ends_after_its_threads_and_exit_functions(tmp_path, monkeypatch):
    (tmp_path / "ending.py").write_text(ENDING)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with processes.start_python("ending", stdout=subprocess.PIPE) as started:
        said, _ = started.communicate(timeout=30)
    assert said.split(b"\n") == [b"not flushed a thread", b"at exit", b""]
    assert started.returncode == 0


def test_a_process_ends_though_nobody_reads_what_it_says():
    code = "import plaudit.processes as p; print('x' * 9, end=''); p.end_process()"
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    command = [sys.executable, "-c", code]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, env=buffered)
    started.stdout.close()
    assert started.wait(30) == 0
