"""Everything at once, for as long as you like: no hang, no wrong verdict, no leak.

Threads and an event loop judge batches without a pause. Each batch has rows whose verdict is known
from how they were generated and that only a worker can decide, random LaTeX with mutations, and now
and then a computation that never ends. Meanwhile:

- workers are killed, and now and then the fork server;
- workers are stopped (SIGSTOP) and continue a little later;
- `configure()` changes the limits, and with them the workers;
- the process is left with hardly any descriptors for a moment.

For lack of descriptors, a call may raise or return errors, if it says so; for no other reason.
Exits with 1 if a call takes longer than the sum of its deadlines (every thread's stack is printed),
a known row has another verdict, a call raises for another reason, a process or a descriptor is
left, or memory grows. An hour is --minutes 60.
"""

import asyncio
import faulthandler
import os
import random
import resource
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

import plaudit
from plaudit.judge import Pair, Rule, Status, Verdict, judge, judge_async, shared_judge
from processes import children, descendants, descriptors, left_after, resident_mib
from report import Table, arguments, seconds, show

CALLERS = 3
KNOWN, RANDOM = 24, 8  # rows of each kind in a batch
DEADLINES = (1.0, 2.0)
SLACK = 90.0  # seconds that a call may take over its deadlines, on a busy machine
GROWTH = 40.0  # MiB between the second quarter of the time and the last
SHORT = 40.0  # seconds to be in order again after each shortage of descriptors
ATOMS = ["x", "y", "n", r"\pi", "e", "i", r"\infty", r"\text{cm}", r"\emptyset", "A", r"\alpha"]
NUMBERS = ["0", "1", "-1", "2", "7", "0.5", ".25", "12", "1,234", "3.14159", "999999", "10^{9}"]
FORMS = [
    r"\frac{{{}}}{{{}}}", r"\dfrac{{{}}}{{{}}}", "{}^{{{}}}", "{}_{{{}}}", "{} + {}", "{} - {}",
    r"{} \cdot {}", "{}{}", "({}, {})", "[{}, {})", r"\{{ {}, {} \}}", "{} = {}", "{} < {}",
    r"{} \leq {}", r"\sqrt[{}]{{{}}}", r"\binom{{{}}}{{{}}}", r"\int_0^{{{}}} {} dx",
    r"\sum_{{k=1}}^{{{}}} {}", r"\lim_{{x \to {}}} {}", r"\log_{{{}}} {}", r"{} \cup {}",
    r"\begin{{pmatrix}} {} \\ {} \end{{pmatrix}}", r"\gcd({}, {})", r"{} \pmod{{{}}}", "{}/{}",
    r"{} \text{{ or }} {}", r"\left( {} \right) {}", "{}!{}", r"{}\% {}",
]  # fmt: skip
WRAPPINGS = [
    r"The answer is $\boxed{{{}}}$.", r"\boxed{{{}}}", "${}$", r"\[{}\]", "{}", "$${}$$",
    r"final answer is {}. I hope it is right", r"\boxed{{{}", r"answer: \({}\)",
]  # fmt: skip
NOISE = "\\{}[]()$^_&%~\n\t ,.=<>+-*/!0123456789abxyzπ√∞答\x00\ud83d" + "\U0001f600"


@dataclass
class Soak:
    """What happened so far. Each counter is added to under the lock."""

    over: threading.Event = field(default_factory=threading.Event)
    counts: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    slowest: float = 0.0
    since: dict[int, float] = field(default_factory=dict)  # when each caller began with its call
    short_until: float = 0.0  # until when want of descriptors is an excuse
    memory: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str, number: int = 1) -> None:
        with self.lock:
            self.counts[what] += number

    def excuses(self, problem: str) -> bool:
        """Whether it is for want of descriptors, and there was want of them."""
        return "too many open files" in problem.lower() and time.monotonic() < self.short_until

    def fault(self, what: str) -> None:
        with self.lock:
            self.faults.append(what)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    threading.excepthook = _stop_at_once
    soak, open_before = Soak(), descriptors()
    plaudit.configure(cache=5_000, cache_memory=16)  # so that what grows is no cache
    threads = [*_callers(soak, options.seed), *_disturbers(soak, options.seed)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 60 * options.minutes
    while time.monotonic() < end:
        time.sleep(min(1.0, 10 * options.minutes))
        _watch(soak)
    soak.over.set()
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.1)
        _watch(soak)
    _check_what_is_left(soak, open_before)
    _check_memory(soak)
    show(Table(f"A soak of {options.minutes:g} minutes", ["", ""], _lines(soak)))
    for fault in soak.faults[:20]:
        print(fault, file=sys.stderr)
    sys.exit(bool(soak.faults))


def _stop_at_once(what: threading.ExceptHookArgs) -> None:
    """A thread that ends would leave the others running as if nothing were wrong."""
    sys.__excepthook__(what.exc_type, what.exc_value or what.exc_type(), what.exc_traceback)
    os._exit(1)


def _watch(soak: Soak) -> None:
    with suppress(OSError):  # there may be no descriptor to look with
        soak.memory.append(resident_mib())
    allowed = SLACK + (KNOWN + RANDOM) * 2 * max(DEADLINES)
    if any(time.monotonic() - since > allowed for since in soak.since.copy().values()):
        print("A call hangs.", file=sys.stderr)
        faulthandler.dump_traceback(all_threads=True)
        os._exit(1)


def _check_what_is_left(soak: Soak, open_before: int) -> None:
    started = descendants(os.getpid())
    shared_judge().close()
    left = left_after(started, patience=10)
    end = time.monotonic() + 10
    while descriptors() > open_before and time.monotonic() < end:
        time.sleep(0.05)
    soak.counts["processes left"] = len(left)
    soak.counts["descriptors left"] = descriptors() - open_before
    if left or descriptors() > open_before:
        soak.fault(f"left: processes {left}, {descriptors() - open_before} descriptors")


def _check_memory(soak: Soak) -> None:
    quarter = max(len(soak.memory) // 4, 1)
    growth = max(soak.memory[-quarter:]) - max(soak.memory[quarter : 2 * quarter])
    soak.counts["MiB gained"] = round(growth)
    if growth > GROWTH:
        soak.fault(f"memory grew by {growth:.0f} MiB")


def _lines(soak: Soak) -> list[list[object]]:
    kinds = ("calls", "rows", "known rows", "known rows that timed out", "wrong verdicts")
    excused = "calls that raised for want of descriptors"
    disturbed = ("workers killed", "fork servers killed", "workers stopped", "configure()")
    figures = (*kinds, excused, *disturbed, "shortages of descriptors")
    return [
        *([name, f"{soak.counts[name]:,}"] for name in figures),
        *([f"status: {status}", f"{count:,}"] for status, count in soak.statuses.most_common()),
        ["slowest call", seconds(soak.slowest)],
        ["memory, most of it", f"{max(soak.memory):.0f} MiB"],
        ["memory gained from the second quarter to the last", f"{soak.counts['MiB gained']} MiB"],
        ["processes left", soak.counts["processes left"]],
        ["descriptors left", soak.counts["descriptors left"]],
    ]


# --- those who judge ------------------------------------------------------------------------------


def _callers(soak: Soak, seed: int) -> list[threading.Thread]:
    """Threads that call without a pause; the last of them by an event loop."""
    return [
        threading.Thread(target=_call_on, args=(soak, number, random.Random(seed + number)))
        for number in range(CALLERS)
    ]


def _call_on(soak: Soak, number: int, rng: random.Random) -> None:
    row = number * 10**6
    while not soak.over.is_set():
        known = [_known(rng, row + place) for place in range(KNOWN)]
        row += KNOWN
        pairs = [pair for pair, _ in known] + [_pair(rng) for _ in range(RANDOM)]
        if rng.random() < 0.05:
            pairs.append(_endless(rng))
        start = soak.since[number] = time.monotonic()
        try:
            verdicts = _judged(pairs, on_a_loop=number == CALLERS - 1)
        except Exception as error:
            _raised(soak, error)
        else:
            _compare(soak, verdicts, known)
        del soak.since[number]
        with soak.lock:
            soak.slowest = max(soak.slowest, time.monotonic() - start)
            soak.counts["calls"] += 1


def _judged(pairs: list[Pair], on_a_loop: bool) -> list[Verdict]:
    return asyncio.run(judge_async(pairs)) if on_a_loop else judge(pairs)


def _raised(soak: Soak, error: Exception) -> None:
    if soak.excuses(str(error)):
        soak.count("calls that raised for want of descriptors")
    else:
        soak.fault(f"a call raised {type(error).__name__}: {error}")


def _compare(soak: Soak, verdicts: list[Verdict], known: list[tuple[Pair, Status]]) -> None:
    with soak.lock:
        soak.statuses.update(verdict.status.value for verdict in verdicts)
        soak.counts["rows"] += len(verdicts)
        soak.counts["known rows"] += len(known)
    for verdict in verdicts:
        if verdict.status is Status.ERROR and not soak.excuses(verdict.problem):
            soak.fault(f"an error: {verdict}")
    for verdict, (pair, status) in zip(verdicts, known, strict=False):
        if verdict.status is Status.TIMEOUT:  # its worker was stopped or killed time and again
            soak.count("known rows that timed out")
        elif verdict.status not in (status, Status.ERROR):
            soak.count("wrong verdicts")
            soak.fault(f"{pair} is {verdict}")


def _known(rng: random.Random, number: int) -> tuple[Pair, Status]:
    """A pair, unlike any before it, that only a worker can decide."""
    a, b = number // 90 + 2, number % 90 + 2
    function, other = rng.sample(("\\sin", "\\cos", "\\tan"), 2)
    right = rng.random() < 0.5
    answer = rf"It is $\boxed{{{b}y + {function if right else other}({a}x)}}$."
    gold = f"${function}({a}x) + {b}y$"
    return Pair(answer, gold, Rule.LATEX), Status.EQUAL if right else Status.DIFFERENT


def _endless(rng: random.Random) -> Pair:
    power = rng.randrange(900_000, 999_999)
    return Pair(rf"$\gcd(7^{{{power}}} - 1, 3^{{{power}}} - 1)!!$", r"$\sin x$")


# --- those who disturb them -----------------------------------------------------------------------


def _disturbers(soak: Soak, seed: int) -> list[threading.Thread]:
    disturbances: list[tuple[Callable[[Soak, random.Random], None], float]] = [
        (_kill_a_worker, 0.7),
        (_kill_a_fork_server, 20.0),
        (_stop_a_worker, 2.0),
        (_configure, 6.0),
        (_leave_no_descriptors, 9.0),
    ]
    return [
        threading.Thread(target=_disturb, args=(soak, random.Random(seed), disturb, every))
        for disturb, every in disturbances
    ]


def _disturb(
    soak: Soak, rng: random.Random, disturb: Callable[[Soak, random.Random], None], every: float
) -> None:
    while not soak.over.wait(every * rng.uniform(0.5, 1.5)):
        with suppress(OSError):  # it ended a moment ago, or there is no descriptor to look with
            disturb(soak, rng)


def _workers() -> list[int]:
    return [worker for server in children(os.getpid()) for worker in children(server)]


def _kill_a_worker(soak: Soak, rng: random.Random) -> None:
    if workers := _workers():
        os.kill(rng.choice(workers), signal.SIGKILL)
        soak.count("workers killed")


def _kill_a_fork_server(soak: Soak, rng: random.Random) -> None:
    if servers := [server for server in children(os.getpid()) if children(server)]:
        os.kill(rng.choice(servers), signal.SIGKILL)
        soak.count("fork servers killed")


def _stop_a_worker(soak: Soak, rng: random.Random) -> None:
    if workers := _workers():
        worker = rng.choice(workers)
        os.kill(worker, signal.SIGSTOP)
        soak.count("workers stopped")
        soak.over.wait(rng.uniform(0.1, 4.0))
        if worker in _workers():
            os.kill(worker, signal.SIGCONT)


def _configure(soak: Soak, rng: random.Random) -> None:
    deadline, memory = rng.uniform(*DEADLINES), rng.choice((256, 512, 1024))
    plaudit.configure(deadline=deadline, workers=rng.randint(1, 3), memory=memory)
    soak.count("configure()")


def _leave_no_descriptors(soak: Soak, rng: random.Random) -> None:
    most, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soak.short_until = float("inf")
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors() + rng.randint(0, 4), hard))
    soak.over.wait(rng.uniform(0.1, 1.0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    soak.short_until = time.monotonic() + SHORT
    soak.count("shortages of descriptors")


# --- random LaTeX ---------------------------------------------------------------------------------


def _pair(rng: random.Random) -> Pair:
    gold = formula(rng)
    answer = gold if rng.random() < 0.2 else formula(rng)
    answer, gold = (rng.choice(WRAPPINGS).format(text) for text in (answer, gold))
    answer = mutated(rng, answer) if rng.random() < 0.5 else answer
    gold = mutated(rng, gold) if rng.random() < 0.2 else gold
    return Pair(answer, gold, rng.choice(list(Rule)))


def formula(rng: random.Random, depth: int = 4) -> str:
    """A formula of the grammar; now and then something far too large."""
    if rng.random() < 0.01:
        return rng.choice(("9^{" * 6 + "9" + "}" * 6, "(" * 300 + "1" + ")" * 300, "7" * 5000))
    if depth == 0 or rng.random() < 0.25:
        return rng.choice(rng.choice((ATOMS, NUMBERS)))
    return rng.choice(FORMS).format(formula(rng, depth - 1), formula(rng, depth - 1))


def mutated(rng: random.Random, text: str) -> str:
    """The text after a few cuts, doublings, swaps and replacements."""
    for _ in range(rng.randint(1, 5)):
        start, stop = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        match rng.randrange(4):
            case 0:
                text = text[:start] + text[stop:]
            case 1:
                text = text[:stop] + text[start:stop] + text[stop:]
            case 2:
                text = text[:start] + rng.choice(NOISE) + text[start + 1 :]
            case _:
                text = text[start:] + text[:start]
    return text


if __name__ == "__main__":
    main()
