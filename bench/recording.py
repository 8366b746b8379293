"""What recording adds to a training step, with several processes that each score a batch.

A step is a pause, in which a trainer would generate and train, and the rewards of a batch. Every
other step is recorded, in the same process. All processes run at the same time, each with its
writer. Exits with 1 if a step takes more than 1% longer.
"""

import multiprocessing
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import plaudit
from plaudit.recipes import load
from report import Table, arguments, seconds, show

MOST = 0.01


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--rows", type=int, nargs="+", default=[64, 512])
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument(
        "--pause", type=float, default=1.0, help="seconds of a step but for rewards"
    )
    parser.add_argument("--most", type=float, default=MOST, help="share by which a step may grow")
    options = parser.parse_args()
    lines, worst = [], 0.0
    for rows in options.rows:
        plain, recorded, own = measured(options.processes, rows, options.steps, options.pause)
        worst = max(worst, recorded / plain - 1)
        added = f"{1000 * (recorded - plain):.1f} ms"
        share = f"{recorded / plain - 1:.2%}"
        line = [options.processes, rows, seconds(plain), seconds(recorded), added, share]
        lines.append([*line, f"{1000 * own:.1f} ms"])
    columns = ["processes", "rows each", "step", "recorded", "added", "share", "CPU in the trainer"]
    note = "Medians over the steps of all processes; 2,000 characters a row, two rewards."
    show(Table(f"Recording, steps of {options.pause:g} s", columns, lines, note))
    if worst > options.most:
        sys.exit(f"a step takes {worst:.2%} longer")


def measured(processes: int, rows: int, steps: int, pause: float) -> tuple[float, float, float]:
    """The seconds of a step without recording and with it, and its seconds of CPU."""
    with tempfile.TemporaryDirectory() as folder:
        context = multiprocessing.get_context("spawn")
        with context.Pool(processes) as pool:
            given = [(folder, process, rows, steps, pause) for process in range(processes)]
            found = pool.starmap(run, given, chunksize=1)
    each = zip(*(times for one in found for times in one), strict=True)
    plain, recorded, own = (statistics.median(times) for times in each)
    return plain, recorded, own


def run(
    folder: str, process: int, rows: int, steps: int, pause: float
) -> list[tuple[float, float, float]]:
    """For each step: its seconds without recording and with it, and what CPU that took."""
    recipe = load("trl-reasoning")
    plain = recipe.reward_funcs()
    recorded = plaudit.record(recipe, Path(folder)).reward_funcs()
    given = batch(rows, process)
    state = SimpleNamespace(global_step=0)
    found = []
    for step in range(steps + 1):
        state.global_step = step
        times = []
        for functions in (plain, recorded):
            start, used = time.perf_counter(), time.thread_time()
            for function in functions:
                function(**given, trainer_state=state)
            used = time.thread_time() - used
            time.sleep(pause)
            times.append((time.perf_counter() - start, used))
        if step:  # the first starts workers and writers
            (before, own), (after, more) = times
            found.append((before, after, more - own))
    return found


def batch(rows: int, seed: int) -> dict[str, list[object]]:
    """Completions of some 2,000 characters, eight for each prompt."""
    rng = random.Random(seed)
    words = "the sum of these numbers is not the one that was asked for".split()
    return {
        "prompts": [f"Problem {row // 8}: {' '.join(words * 8)}" for row in range(rows)],
        "completions": [
            f"<think>{' '.join(rng.choices(words, k=480))}</think> \\boxed{{{rng.randrange(9)}}}"
            for _ in range(rows)
        ],
        "solution": [str(row // 8 % 9) for row in range(rows)],
        "completion_ids": [[0] * 480 for _ in range(rows)],
    }


if __name__ == "__main__":
    main()
