"""How many small programs a second: `code_reward` against `subprocess.run([python, …])`.

    python bench/code_reward.py [--data FILE] [--rows 300] [--endless 8] [--prime-code FOLDER]

Each program is a function with asserts, half of them wrong; with --data, the rows of a JSON Lines
file with completion, tests and right (only those with asserts or check). --endless adds programs
that never end, and shows what they cost. --prime-code names a checkout of verl, whose prime_code is
then timed on the same rows.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from plaudit.processes import cores
from plaudit.rewards.code import code_reward, find_program
from plaudit.rewards.code._tests import SourceTests, read_tests

PROGRAM = """```python
def count_{n}(items):
    found = {{}}
    for item in items:
        found[item] = found.get(item, 0) + {step}
    return sorted(found.items())
```"""
ASSERTS = [
    "assert count_{n}([1, 1, 2]) == [(1, 2), (2, 1)]",
    "assert count_{n}('aba') == [('a', 2), ('b', 1)]",
    "assert count_{n}([]) == []",
]
SECONDS = 4.0


def own_rows(count):
    """Rows of our own: every second program is wrong."""
    return [
        {
            "completion": PROGRAM.format(n=n, step=1 + n % 2),
            "tests": [line.format(n=n) for line in ASSERTS],
            "right": n % 2 == 0,
        }
        for n in range(count)
    ]


def rows_of(path, count):
    """Rows of a file that have asserts or check, and end soon."""
    rows = [json.loads(line) for line in Path(path).read_text().splitlines()]
    kept = [r for r in rows if r.get("how") in ("asserts", "check") and r.get("cpu_s", 0) < 0.5]
    return kept[:count]


def timed(name, function, rows):
    """Print how many rows a second a function decides, and how many of them as labelled."""
    start = time.perf_counter()
    values = function(rows)
    seconds = time.perf_counter() - start
    right = sum((value == 1.0) == row["right"] for value, row in zip(values, rows, strict=True))
    rate = f"{len(rows) / seconds:8.1f} programs a second"
    print(f"{name:34} {rate}  {seconds:6.2f} s  {right} of {len(rows)} as labelled", flush=True)
    return seconds


def by_plaudit(rows):
    """The values of plaudit."""
    return code_reward([r["completion"] for r in rows], [r["tests"] for r in rows], seconds=SECONDS)


def by_subprocess(rows):
    """One `python` per program, with the tests in the same process: what many graders do."""
    values = []
    with tempfile.TemporaryDirectory() as folder:
        for row in rows:
            tests = read_tests(row["tests"])
            program = find_program(row["completion"])
            source = program.source if program else ""
            assert isinstance(tests, SourceTests)
            call = f"\ncheck({tests.entry_point})\n" if tests.kind == "check" else ""
            path = Path(folder) / "program.py"
            path.write_text(f"{tests.prompt}\n{source}\n{tests.source}\n{call}")
            try:
                done = subprocess.run(
                    [sys.executable, str(path)], capture_output=True, timeout=SECONDS
                )
                values.append(float(done.returncode == 0))
            except subprocess.TimeoutExpired:
                values.append(0.0)
    return values


def by_prime_code(rows):
    """verl's prime_code, which takes asserts as programs that print nothing."""
    from verl.utils.reward_score.prime_code import compute_score

    values = []
    for row in rows:
        tests = read_tests(row["tests"])
        call = f"\ncheck({tests.entry_point})\n" if tests.kind == "check" else ""
        program = find_program(row["completion"])
        source = f"{program.source if program else ''}\n{tests.source}\n{call}"
        score, _ = compute_score(
            f"```python\n{source}\n```",
            json.dumps({"inputs": [""], "outputs": [""]}),
            continuous=True,  # as verl calls it; without it a wrong program raises
        )
        values.append(float(score))
    return values


def main():
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data")
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--endless", type=int, default=0)
    parser.add_argument("--prime-code")
    options = parser.parse_args()
    rows = rows_of(options.data, options.rows) if options.data else own_rows(options.rows)
    print(f"{len(rows)} programs on {cores()} cores")
    by_plaudit(own_rows(4))  # start the boxes
    ours = timed("plaudit", by_plaudit, rows)
    timed("plaudit, the same batch again", by_plaudit, rows)
    few = rows[: max(1, len(rows) // 4)]
    theirs = timed("subprocess.run([python, …])", by_subprocess, few) * len(rows) / len(few)
    print(f"plaudit is {theirs / ours:.1f} times as fast as subprocess.run")
    if options.prime_code:
        sys.path.insert(0, options.prime_code)
        slow = timed("verl's prime_code", by_prime_code, few) * len(rows) / len(few)
        print(f"plaudit is {slow / ours:.1f} times as fast as prime_code")
    if options.endless:
        body = "def count_{n}(items):\n    {loop}"
        loops = ("while True: pass", "__import__('time').sleep(1e6)")
        endless = [
            {
                "completion": body.format(n=n + 10**6, loop=loops[n % 2]),
                "tests": [line.format(n=n + 10**6) for line in ASSERTS],
                "right": False,
            }
            for n in range(options.endless)
        ]
        fresh = own_rows(2 * len(rows))[len(rows) :]
        timed(f"with {options.endless} endless ones", by_plaudit, endless + fresh)
        print(f"the deadline is {SECONDS:g} s of CPU time")


if __name__ == "__main__":
    main()
