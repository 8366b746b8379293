"""Import, first call, and memory, each in fresh processes.

The first call has one symbolic item, so it starts the fork server and a worker. Memory is the peak
of the calling process; with plaudit, sympy is only in the workers. Times are the best of --repeat,
in turns.
"""

import json
import subprocess
import sys
from pathlib import Path

from report import Table, arguments, seconds, show, times

IMPORTS = {
    "plaudit": "from plaudit.rewards.trl import accuracy_reward",
    "the loop": "import plain_loop",
}
CALLS = {
    "plaudit": "accuracy_reward([TEXT], [GOLD])",
    "the loop": "[plain_loop.reward(TEXT, GOLD)]",
}
SCRIPT = """
import json, resource, sys, time
sys.path.insert(0, sys.argv[1])
TEXT, GOLD = r"It is $\\boxed{{3y + \\sin(2x)}}$.", r"$\\sin(2x) + 3y$"
start = time.perf_counter()
{imported}
imported = time.perf_counter()
assert {call} == [1.0]
called = time.perf_counter()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps([imported - start, called - imported, peak]))
"""


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    best = {name: [float("inf")] * 3 for name in IMPORTS}
    for _ in range(options.repeat):
        for name in IMPORTS:
            best[name] = [min(pair) for pair in zip(best[name], _fresh(name), strict=True)]
    lines = [
        [name, seconds(imported), seconds(called), f"{peak:.0f} MB"]
        for name, (imported, called, peak) in best.items()
    ]
    pairs = zip(best["the loop"], best["plaudit"], strict=True)
    lines.append(["ratio", *(times(theirs / ours) for theirs, ours in pairs)])
    columns = ["", "import", "first call, symbolic", "peak memory of the caller"]
    show(Table("Start", columns, lines))


def _fresh(name: str) -> list[float]:
    script = SCRIPT.format(imported=IMPORTS[name], call=CALLS[name])
    command = [sys.executable, "-c", script, str(Path(__file__).parent)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    measured: list[float] = json.loads(ended.stdout)
    return measured


if __name__ == "__main__":
    main()
