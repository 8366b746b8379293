"""The ready-made engines for killable work, and plaudit's own, on what a judge needs.

    starting     from a daemonic process, from a thread, in a script without `if __name__` guard
    a stuck item two items that never end, one for each worker, among 14 that do, deadline 1 s:
                 whether they are stopped, the others judged, and the process can end afterwards
    a death      `kill -9` of a worker at work while 62 other items wait: how many are lost
    orphans      `kill -9` of the parent, its workers idle and at work: who is left after 5 s
    memory       an item that wants 30 GB under a limit of 1 GiB, and the item after it
    cost         to the first result; back after all workers were killed; 128 small symbolic items

Every cell is measured, in processes of their own; costs are the best of --repeat, in turns.
`pip install 'plaudit[bench]'` for pebble and loky.
"""

import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engine_adapters import ENGINES, WORKERS, Engine, Item
from processes import descendants, left_after
from report import Table, arguments, seconds, show, timed

HERE = Path(__file__).parent
PACKAGES = {"loky": "loky", "pebble": "pebble"}
PATIENCE = 45.0  # seconds that a probe may take before it counts as hung
UNGUARDED = """
import sys
sys.path.insert(0, {here!r})
print("training", flush=True)
from engine_adapters import ENGINES
from engines import small
engine = ENGINES[{name!r}]()
print(engine.judge(small(1), 20.0)[0], flush=True)
engine.close()
"""


def small(count: int, start: int = 0) -> list[Item]:
    """Symbolic items that take milliseconds, no two alike; each is equal to its gold."""
    return [
        item(rf"{n} y + \sin x", rf"\sin x + {n} y") for n in range(start + 2, start + count + 2)
    ]


def item(answer: str, gold: str) -> Item:
    return (("latex", ((answer, False, False),)),), (("latex", ((gold, False, False),)),), "latex"


STUCK = item("9^{9^{9^{9}}}", "7^x")
GREEDY = item(r"\gcd(2^{30000000000}, 3)", "7^x")


# --- probes: each runs in a process of its own, and prints what it found -----------------


def probe_thread(make: Callable[[], Engine]) -> str:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(probe_plain(make)))
    thread.start()
    thread.join()
    return found[0] if found else "raises"


def probe_daemonic(make: Callable[[], Engine]) -> str:
    queue: Any = multiprocessing.get_context("fork").Queue()
    process = multiprocessing.get_context("fork").Process(
        target=lambda: queue.put(probe_plain(make)), daemon=True
    )
    process.start()
    found: str = queue.get(timeout=PATIENCE)
    return found


def probe_plain(make: Callable[[], Engine]) -> str:
    try:
        engine = make()
        status = engine.judge(small(1), 20.0)[0]
        engine.close()
    except BaseException as error:
        return f"no: {type(error).__name__}"
    return "yes" if status == "equal" else f"no: {status}"


def probe_stuck(make: Callable[[], Engine]) -> str:
    engine = make()
    _warm(engine, 1.0)
    items = small(16)
    items[1] = items[2] = STUCK
    taken, statuses = timed(lambda: engine.judge(items, 1.0))
    stopped = sum(statuses[place] == "timeout" for place in (1, 2))
    right = statuses.count("equal")
    print(f"{right} of 14 in {taken:.1f} s", flush=True)
    engine.close()
    return "ended" if stopped == 2 else "not stopped"


def probe_death(make: Callable[[], Engine]) -> str:
    """The worker dies while it computes: two long items keep both workers busy until then."""
    engine = make()
    _warm(engine, 20.0)
    killer = threading.Thread(target=lambda: os.kill(_at_work()[0], signal.SIGKILL))
    killer.start()
    statuses = engine.judge([STUCK, STUCK, *small(62)], 20.0)
    killer.join()
    lost = [status for status in statuses[2:] if status != "equal"]
    print(
        f"{len(lost)} of 62" + (f" ({lost[0].removeprefix('lost: ')})" if lost else ""), flush=True
    )
    os._exit(0)  # a worker may still be stuck: whether the process can end is another probe


def probe_memory(make: Callable[[], Engine]) -> str:
    engine = make()
    statuses = engine.judge([GREEDY, *small(1)], 10.0)
    engine.close()
    return ", then ".join(statuses)


def probe_idle(make: Callable[[], Engine]) -> str:
    engine = make()
    engine.judge(small(8), 20.0)
    print(json.dumps(descendants(os.getpid())), flush=True)
    time.sleep(60)
    return ""


def probe_busy(make: Callable[[], Engine]) -> str:
    engine = make()
    _warm(engine, 60.0)
    threading.Thread(target=lambda: engine.judge([STUCK, STUCK], 60.0), daemon=True).start()
    _at_work()
    print(json.dumps(descendants(os.getpid())), flush=True)
    time.sleep(60)
    return ""


def probe_cost(make: Callable[[], Engine]) -> str:
    start = time.perf_counter()
    engine = make()
    engine.judge(small(1), 20.0)
    first = time.perf_counter() - start
    engine.judge(small(8, 100), 20.0)
    batches = [timed(lambda n=n: engine.judge(small(128, 1000 * n), 20.0))[0] for n in range(1, 4)]
    for process in _workers():
        os.kill(process, signal.SIGKILL)
    back = timed(lambda: _back(engine, make))[0]
    return json.dumps([first, back, min(batches)])


def _warm(engine: Engine, deadline: float) -> None:
    """Until both workers have started: what follows is no longer about starting."""
    for turn in range(30):
        if set(engine.judge(small(8, 100 + 10 * turn), deadline)) == {"equal"}:
            return
    raise RuntimeError("the engine does not start")


def _at_work() -> list[int]:
    """Wait until some workers compute, for a second on end; these."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        before = {process: _ticks(process) for process in _workers()}
        time.sleep(1.0)
        busy = [process for process, ticks in before.items() if _ticks(process) > ticks + 5]
        if len(busy) >= WORKERS:
            return busy
    raise RuntimeError("the workers never get to work")


def _ticks(process: int) -> int:
    """Hundredths of a second that a process has computed."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[11]) + int(fields[12])


def _back(engine: Engine, make: Callable[[], Engine]) -> None:
    """Until an item is judged again; an engine that is broken has to be made anew."""
    while True:
        try:
            if engine.judge(small(1, 50), 20.0) == ["equal"]:
                return
        except Exception:
            pass
        engine = make()


PROBES = {name[6:]: probe for name, probe in list(globals().items()) if name.startswith("probe_")}


def _workers() -> list[int]:
    """The processes that do the work: Python's, but not a server that forks or tracks others."""
    found = []
    for process in descendants(os.getpid()):
        try:
            command = Path(f"/proc/{process}/cmdline").read_text()
        except OSError:
            continue
        has_children = bool(descendants(process))
        if not has_children and "resource_tracker" not in command:
            found.append(process)
    return found


# --- the driver ---------------------------------------------------------------------------


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--engines", nargs="+", default=list(ENGINES), choices=list(ENGINES))
    parser.add_argument(
        "--probe", choices=list(PROBES), help="run one probe here, and nothing else"
    )
    parser.add_argument("--repeat", type=int, default=3, help="turns of the costs")
    options = parser.parse_args()
    if options.probe:
        print(PROBES[options.probe](ENGINES[options.engines[0]]), flush=True)
        return
    found = {name: facts(name) for name in options.engines}
    for name, cost in costs_in_turns(options.engines, options.repeat).items():
        found[name] |= cost
    rows = [[fact, *(found[name][fact] for name in found)] for fact in next(iter(found.values()))]
    show(Table("Engines", ["", *found], rows))


def installed(name: str) -> bool:
    package = PACKAGES.get(name)
    return package is None or find_spec(package) is not None


def facts(name: str) -> dict[str, str]:
    """What was found out about one engine."""
    if not installed(name):
        return dict.fromkeys(FACTS, "not installed")
    print(f"… {name}", file=sys.stderr, flush=True)
    return {fact: measure(name) for fact, measure in FACTS.items()}


def costs_in_turns(names: list[str], repeat: int) -> dict[str, dict[str, str]]:
    """The best of each engine's costs, in turns: a busy machine slows all alike."""
    taken: dict[str, list[list[float]]] = {name: [] for name in names}
    for _ in range(repeat):
        for name in filter(installed, names):
            lines, _ended = run("cost", name)
            if lines and lines[-1].startswith("["):
                taken[name].append(json.loads(lines[-1]))
    return {
        name: dict(zip(COSTS, [seconds(min(c)) for c in zip(*runs, strict=True)], strict=True))
        if runs
        else dict.fromkeys(COSTS, "none" if installed(name) else "not installed")
        for name, runs in taken.items()
    }


def run(probe: str, name: str) -> tuple[list[str], bool]:
    """The lines that a probe printed, and whether it ended by itself."""
    command = [sys.executable, str(HERE / "engines.py"), "--probe", probe, "--engines", name]
    return run_command(command)


def run_command(command: list[str]) -> tuple[list[str], bool]:
    """Output goes to a file: workers that outlive their parent would keep a pipe open."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.DEVNULL, start_new_session=True
        )
        try:
            process.wait(PATIENCE)
            ended = True
        except subprocess.TimeoutExpired:
            ended = False
        _end_group(process)
        output.seek(0)
        return output.read().split("\n")[:-1], ended


def _end_group(process: "subprocess.Popen[Any]") -> None:
    """End what a probe has started and left behind: all of it is in the probe's own group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def says(probe: str) -> Callable[[str], str]:
    """The last line of a probe."""

    def measure(name: str) -> str:
        lines, ended = run(probe, name)
        return lines[-1] if lines and ended else "hangs" if not ended else "crashes"

    return measure


def stuck(name: str) -> str:
    lines, ended = run("stuck", name)
    judged = lines[0] if lines else "none"
    return f"{judged}; " + ("ended" if ended else "the process never ends")


def unguarded(name: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "train.py"
        script.write_text(UNGUARDED.format(here=str(HERE), name=name))
        lines, ended = run_command([sys.executable, str(script)])
    runs = lines.count("training")
    works = "equal" in lines and ended and runs == 1
    return ("yes" if works else "no") + (f"; the script ran {runs} times" if runs > 1 else "")


def orphans(name: str) -> str:
    return ", ".join(f"{len(_orphans(probe, name))} {probe}" for probe in ("idle", "busy"))


def _orphans(probe: str, name: str) -> list[int]:
    command = [sys.executable, str(HERE / "engines.py"), "--probe", probe, "--engines", name]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    below = json.loads(process.stdout.readline() or "[]")
    process.kill()
    left = left_after(below, patience=5)
    _end_group(process)
    process.stdout.close()
    return left


COSTS = ["to the first result", "back after a kill", "128 small symbolic items"]
FACTS: dict[str, Callable[[str], str]] = {
    "starts in a daemonic process": says("daemonic"),
    "starts in a thread": says("thread"),
    "script without a guard": unguarded,
    "two stuck items among 16, others judged": stuck,
    "others lost when a worker is killed": says("death"),
    "left after `kill -9` of the parent": orphans,
    "memory limit": says("memory"),
}

if __name__ == "__main__":
    main()
