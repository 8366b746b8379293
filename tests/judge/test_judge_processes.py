"""The judge in the processes that people run it in. Each script here is a program of its own."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from running_processes import until

SYMBOLIC = r"""
from plaudit.judge import Pair, judge
def symbolic(letter="x"):
    return judge([Pair(rf"$\sin^2 {letter} + \cos^2 {letter}$", "1")])[0].status.value
"""


# As a user has it: nothing measures the processes that these tests start.
PLAIN = {name: value for name, value in os.environ.items() if "COV" not in name}


def run(script, *, command=None, timeout=120, warns=False):
    """What a script prints; it must end well, without a word on stderr, or with Python's own."""
    command = command or [sys.executable, "-c", script]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, check=False, env=PLAIN
    )
    assert done.returncode == 0, done.stderr
    assert ("DeprecationWarning: This process" in done.stderr) == warns
    assert warns or not done.stderr
    return done.stdout.strip()


def test_python_dash_c():
    assert run(SYMBOLIC + "print(symbolic())") == "equal"


def test_a_script_without_a_guard_runs_once(tmp_path):
    """Spawning workers the way multiprocessing does would run it again in each of them."""
    script = tmp_path / "train.py"
    script.write_text(SYMBOLIC + "print('training')\nprint(symbolic())")
    assert run("", command=[sys.executable, str(script)]) == "training\nequal"


def test_a_program_read_from_standard_input_as_notebooks_do():
    done = subprocess.run(
        [sys.executable],
        input=SYMBOLIC + "print(symbolic())",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == "equal"


@pytest.mark.long
def test_a_daemonic_process_has_its_own_workers(tmp_path):
    """As torch's DataLoader and `multiprocessing` make them; those may have no children."""
    script = tmp_path / "daemonic.py"
    script.write_text(SYMBOLIC + DAEMONIC)
    assert run("", command=[sys.executable, str(script)]) == "equal\nequal"


DAEMONIC = """
import multiprocessing

def child(queue):
    assert multiprocessing.current_process().daemon
    queue.put(symbolic())

if __name__ == "__main__":
    for method in ("fork", "forkserver"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        process = context.Process(target=child, args=(queue,), daemon=True)
        process.start()
        print(queue.get(timeout=40))
        process.join()
"""


def test_a_fork_after_the_first_call_gets_workers_of_its_own():
    script = """
    import os
    print(symbolic("x"), flush=True)
    child = os.fork()
    if child == 0:
        print(symbolic("y"), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print(symbolic("z"))
    """
    # From 3.12 on, Python warns of every fork of a process that has threads.
    warns = sys.version_info >= (3, 12)
    assert run(SYMBOLIC + textwrap.dedent(script), warns=warns) == "equal\nequal\nequal"


def test_every_thread_may_be_the_first():
    script = """
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(8) as pool:
        print(set(pool.map(symbolic, "xyzxyzxyz")))
    """
    assert run(SYMBOLIC + textwrap.dedent(script)) == "{'equal'}"


def test_the_trainers_process_never_imports_sympy_and_stays_small():
    script = r"""
    import sys
    from pathlib import Path
    print(symbolic())
    heavy = "sympy", "antlr4", "math_verify", "torch", "numpy"
    print([name for name in heavy if name in sys.modules])
    peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
    print(int(peak) < 100 * 1024)
    """
    assert run(SYMBOLIC + textwrap.dedent(script)) == "equal\n[]\nTrue"


def test_nothing_is_left_when_the_process_ends():
    script = """
    import os
    from pathlib import Path
    print(symbolic())
    from plaudit.judge import shared_judge
    server = shared_judge()._pool._dispatcher._fork_server.pid
    print(server, *Path(f"/proc/{server}/task/{server}/children").read_text().split())
    """
    processes = run(SYMBOLIC + textwrap.dedent(script)).split()[1:]
    gone(processes)


@pytest.mark.parametrize(
    "while_it_works",
    [pytest.param(False, id="idle", marks=pytest.mark.long), pytest.param(True, id="at work")],
)
def test_nothing_is_left_when_the_process_is_killed(while_it_works):
    """`kill -9` of the trainer: its workers end too, even one that is stuck in a computation."""
    script = r"""
    import threading, time
    from pathlib import Path
    from plaudit.judge import configure, shared_judge
    configure(deadline=60)
    symbolic()
    if AT_WORK:
        bomb = Pair(r"$\gcd(7^{999999} - 1, 3^{999999} - 1)!!$", r"$\sin x$")
        threading.Thread(target=judge, args=([bomb],), daemon=True).start()
        while not any(w.tasks for w in shared_judge()._pool._dispatcher._workers.values()):
            time.sleep(0.01)
    server = shared_judge()._pool._dispatcher._fork_server.pid
    children = Path(f"/proc/{server}/task/{server}/children").read_text()
    print(server, *children.split(), flush=True)
    time.sleep(60)
    """.replace("AT_WORK", str(while_it_works))
    command = [sys.executable, "-c", SYMBOLIC + textwrap.dedent(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=PLAIN) as process:
        processes = process.stdout.readline().split()
        assert len(processes) >= 2
        process.send_signal(signal.SIGKILL)
    gone(processes)


def test_ctrl_c_stops_a_call_that_waits():
    script = r"""
    import os, signal, threading, time
    from plaudit.judge import configure, shared_judge
    configure(deadline=600)
    symbolic()

    def interrupt():
        while not shared_judge()._pool._dispatcher._pending:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    try:
        judge([Pair(r"$\gcd(7^{999999} - 1, 3^{999999} - 1)!!$", r"$\sin x$")])
    except KeyboardInterrupt:
        print("stopped")
    """
    assert run(SYMBOLIC + textwrap.dedent(script)) == "stopped"


def gone(processes):
    until(lambda: not any(Path(f"/proc/{process}").exists() for process in processes))
