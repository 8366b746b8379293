"""Run the benchmarks, one after another.

    python bench/all.py --data rollouts.jsonl --write

Each runs in its own process and prints Markdown. With --write, the tables go to bench/results, a
file for each group, or for those that --groups names. Exits with 1 if a benchmark fails; its tables
are shown all the same.
"""

import platform
import re
import subprocess
import sys
from datetime import date
from importlib.metadata import version
from os import cpu_count
from pathlib import Path

from report import arguments

HERE = Path(__file__).parent
RESULTS = HERE / "results"
WITH_DATA = ("step", "caller", "agreement")
GROUPS = {
    "judge": (
        *("step", "caller", "poison", "long_text", "workers", "start", "detection", "repetition"),
        "tool_calls",
        *("agreement", "drawn_pairs", "kills", "soak"),
    ),
    "engines": ("engines",),
    "tables": ("score_table", "score_dataframe"),
    "serve": ("serve_load", "serve_throughput"),
    "recording": ("recording",),
}
TITLES = {
    "judge": "The judge and the rewards",
    "engines": "Workers and ready-made engines",
    "tables": "Tables",
    "serve": "The server",
    "recording": "Recording",
}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, help="a JSON-lines file of completions and golds")
    parser.add_argument("--write", action="store_true", help="write the tables to bench/results")
    parser.add_argument("--only", nargs="+", help="only these benchmarks")
    parser.add_argument(
        "--groups", nargs="+", choices=GROUPS, default=list(GROUPS), metavar="GROUP"
    )
    options = parser.parse_args()
    if options.only and options.write:
        parser.error("--write needs whole groups: say --groups in place of --only")
    failed = []
    for group in options.groups:
        names = GROUPS[group]
        tables = [machine()]
        for name in names:
            if options.only and name not in options.only:
                continue
            table, code = run(name, options.data)
            print(table, flush=True)
            tables.append(table)
            failed += [name] if code else []
        if options.write:
            text = "\n\n".join([f"# {TITLES[group]}", *tables])
            (RESULTS / f"{group}.md").write_text(f"{text}\n", "utf-8")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


def run(name: str, data: Path | None) -> tuple[str, int]:
    """What a benchmark prints, and how it ended."""
    print(f"… {name}", file=sys.stderr, flush=True)
    arguments = ["--data", str(data)] if data and name in WITH_DATA else []
    command = [sys.executable, str(HERE / f"{name}.py"), *arguments]
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return ended.stdout.strip(), ended.returncode


def machine() -> str:
    """When and where: what a reader needs to compare with a machine of their own."""
    return (
        f"Measured on {date.today():%Y-%m-%d}: {cpu_count()} cores ({_processor()}), "
        f"Python {platform.python_version()}, math-verify {version('math-verify')}, "
        f"sympy {version('sympy')}."
    )


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    text = information.read_text() if information.exists() else ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1] if found else platform.machine()


if __name__ == "__main__":
    main()
