"""How fast `plaudit score` goes through a table, and how much memory it takes for that.

The same rows first go through a plain loop in one process: read lines, call the reward functions on
batches of 64, write the lines with their values. It keeps no reasons, and cannot be resumed. Memory
is the peak over all processes of a run, sampled every tenth of a second; what two of them share
counts twice.
"""

import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from plaudit.rewards import canoe, trl
from processes import descendants, resident_mib
from report import Table, arguments, seconds, show, times

BATCH = 64
FUNCTIONS = {
    "accuracy_reward": trl.accuracy_reward,
    "think_format_reward": trl.think_format_reward,
    "format_reward": canoe.format_reward,
}
RECIPE = """
[[rewards]]
reward = "trl.accuracy_reward"

[[rewards]]
reward = "trl.think_format_reward"
weight = 0.5

[[rewards]]
reward = "canoe.format_reward"
weight = 0.0
"""
SCORE = [
    sys.executable,
    "-c",
    "import sys; from plaudit.cli import main; sys.exit(main())",
    "score",
]
COLUMNS = ["rows", "input", "a loop", "plaudit score", "ratio", "time", "peak memory"]


@dataclass(frozen=True)
class Measured:
    """Seconds, and MiB at the most."""

    seconds: float
    memory: float


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--workers", type=int, help="processes that score (default: one per core)")
    options = parser.parse_args()
    more = ["--workers", str(options.workers)] if options.workers else []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "light.toml").write_text(RECIPE)
        lines = [measured(folder, size, more) for size in options.rows]
    note = "Rows per second, of a loop in one process and of `plaudit score` with every core."
    show(Table("Scoring a table", COLUMNS, lines, note))


def measured(folder: Path, size: int, more: list[str]) -> list[str]:
    """Make a table, run both over it, and give the line of the report."""
    table, out = folder / "rollouts.jsonl", folder / str(size)
    with table.open("w") as file:
        file.writelines(rows(size))
    loop = plain_loop(table, folder / "plain.jsonl")
    files = [str(table), "--recipe", str(folder / "light.toml"), "--out", str(out)]
    scored = watched([*SCORE, *files, "--quiet", *more])
    return [
        f"{size:,}",
        f"{table.stat().st_size >> 20:,} MiB",
        f"{size / loop:,.0f}",
        f"{size / scored.seconds:,.0f}",
        times(loop / scored.seconds),
        seconds(scored.seconds),
        f"{scored.memory:,.0f} MiB",
    ]


def rows(size: int) -> Iterator[str]:
    """Rollouts: eight of a prompt, some right, some wrong, some without an answer."""
    dice = random.Random(7)
    words = "so we add the two sides and divide by three which gives what we want".split()
    for number in range(size):
        gold = number // 8 % 1000
        answer = gold if dice.random() < 0.4 else dice.randrange(1000)
        thought = " ".join(dice.choices(words, k=dice.randrange(20, 200)))
        said = rf"So it is \boxed{{{answer}}}." if dice.random() < 0.95 else "I do not know."
        row = {
            "prompt": f"What is the number {gold} of problem {number // 8}?",
            "completion": f"<think>{thought}</think> {said}",
            "solution": str(gold),
            "step": number // 4096,
        }
        yield json.dumps(row) + "\n"


def plain_loop(table: Path, out: Path) -> float:
    """What a script of one's own does: the seconds that it takes."""
    start = time.perf_counter()
    with table.open() as lines, out.open("w") as file:
        batch: list[dict[str, Any]] = []
        for line in lines:
            batch.append(json.loads(line))
            if len(batch) == BATCH:
                score(batch, file)
                batch = []
        score(batch, file)
    return time.perf_counter() - start


def score(batch: list[dict[str, Any]], file: TextIO) -> None:
    """Score a batch with each function, and write its rows."""
    columns = {name: [row[name] for row in batch] for name in ("prompt", "solution")}
    completions = [row["completion"] for row in batch]
    for name, function in FUNCTIONS.items():
        for row, value in zip(batch, function(completions, **columns), strict=True):
            row[name] = value
    file.writelines(json.dumps(row) + "\n" for row in batch)


def watched(command: list[str]) -> Measured:
    """Run a command to its end, and watch the memory of all its processes."""
    start = time.perf_counter()
    process = subprocess.Popen(command)
    peak = [0.0]
    watcher = threading.Thread(target=watch, args=(process, peak))
    watcher.start()
    code = process.wait()
    ended = time.perf_counter()
    watcher.join()
    if code:
        sys.exit(f"plaudit score ended with exit code {code}")
    return Measured(ended - start, peak[0])


def watch(process: "subprocess.Popen[bytes]", peak: list[float]) -> None:
    """Note the most that the process and its descendants have at once."""
    while process.poll() is None:
        family = [process.pid, *descendants(process.pid)]
        peak[0] = max(peak[0], sum(map(memory, family)))
        time.sleep(0.1)


def memory(process: int) -> float:
    """What a process has, in MiB; nothing where it has just ended."""
    try:
        return resident_mib(process)
    except (OSError, IndexError):
        return 0.0


if __name__ == "__main__":
    main()
