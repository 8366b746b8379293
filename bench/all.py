"""The benchmarks whose tables are in the documentation, one after another.

    python bench/all.py --data rollouts.jsonl --write

Each runs in its own process and prints Markdown. With --write, the tables replace what is between
the two marker comments in the pages of docs/, or in those that --pages names. Exits with 1 if a
benchmark fails; its tables are shown all the same.
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
DOCS = HERE.parent / "docs"
START, END = "<!-- measured: start -->", "<!-- measured: end -->"
WITH_DATA = ("step", "caller", "agreement")
PAGES = {
    "performance.md": (
        *("step", "caller", "poison", "long_text", "workers", "start", "detection", "repetition"),
        *("agreement", "drawn_pairs", "kills", "soak"),
    ),
    "judge.md": ("engines",),
    "scoring.md": ("score_table", "score_dataframe"),
    "serve.md": ("serve_load", "serve_throughput"),
    "watch.md": ("recording",),
}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path, help="a JSON-lines file of completions and golds")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/")
    parser.add_argument("--only", nargs="+", help="only these benchmarks")
    parser.add_argument("--pages", nargs="+", choices=PAGES, default=list(PAGES), metavar="PAGE")
    options = parser.parse_args()
    if options.only and options.write:
        parser.error("--write needs whole pages: say --pages in place of --only")
    failed = []
    for page in options.pages:
        names = PAGES[page]
        tables = [machine()]
        for name in names:
            if options.only and name not in options.only:
                continue
            table, code = run(name, options.data)
            print(table, flush=True)
            tables.append(table)
            failed += [name] if code else []
        if options.write:
            rewrite(DOCS / page, "\n\n".join(tables))
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


def rewrite(page: Path, block: str) -> None:
    """Put a block between the markers of a page."""
    text = page.read_text("utf-8")
    before, start, rest = text.partition(START)
    _, end, after = rest.partition(END)
    if not (start and end):
        raise ValueError(f"{page} has no {START} … {END}")
    page.write_text(f"{before}{START}\n\n{block}\n\n{END}{after}", "utf-8")


if __name__ == "__main__":
    main()
