"""Rows per second over HTTP, compared with the direct call of the same recipe, in one run.

Each batch of 256 rows is new to both sides, which have separate judges and take turns: the direct
call in this process, the server in another. The median batch counts, since other work on the
machine slows one side or the other. *Known rows* are the same batches five times again, which the
direct call only looks up. Exits with 1 if a reward differs, or if the rate of new rows over HTTP is
below --least of the direct call's.
"""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from typing import Any

import traffic
from plaudit import Client
from plaudit.recipes import load
from report import Table, arguments, fresh_judge, show, timed
from server import served

RECIPE = "trl-math"
Call = Callable[[traffic.Step], Sequence[Any]]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=256, help="of a request")
    parser.add_argument("--batches", type=int, default=40)
    parser.add_argument("--least", type=float, default=0.7, help="of the direct call")
    options = parser.parse_args()
    batches = [traffic.step(options.rows // 8, seed=100 + n) for n in range(options.batches)]
    recipe = load(RECIPE)
    fresh_judge()
    with served(RECIPE) as server, Client(server.url) as client:
        client([r"\boxed{4}"], solution=["4"])  # the connection is there, and the recipe known
        direct: Call = lambda b: [row.total for row in recipe(b.completions, solution=b.solution)]  # noqa: E731
        rewards: Call = lambda b: client(b.completions, solution=b.solution)  # noqa: E731
        reasons: Call = lambda b: client.score(b.completions, solution=b.solution)  # noqa: E731
        lines, ratio, wrong = [], 0.0, 0
        for name, call, part in (
            ("new rows, as a reward function", rewards, batches[::2]),
            ("new rows, with the reasons", reasons, batches[1::2]),
            ("known rows, as a reward function", rewards, batches * 5),
        ):
            here, there, differing = _in_turns(direct, call, part)
            wrong += differing
            ratio = ratio or here / there
            lines.append(_line(name, options.rows, here, there, differing))
        more = [traffic.step(options.rows // 8, seed=900 + n) for n in range(options.batches // 2)]
        here, _ = timed(lambda: [direct(batch) for batch in more])
        with ThreadPoolExecutor(4) as threads:
            there, _ = timed(lambda: list(threads.map(rewards, more)))
        name = "new rows, four requests at once"
        lines.append(_line(name, options.rows * len(more), here, there, "–"))
    columns = ["", "direct, rows/s", "HTTP, rows/s", "HTTP / direct", "differing rewards"]
    show(Table(f"{options.rows} rows a request", columns, lines))
    sys.exit(bool(wrong or ratio < options.least))


def _in_turns(
    direct: Call, call: Call, batches: Sequence[traffic.Step]
) -> tuple[float, float, int]:
    """The seconds of the median batch on each side, and the rewards that differ."""
    here, there, differing = [], [], 0
    for batch in batches:
        taken, wanted = timed(lambda b=batch: direct(b))
        here.append(taken)
        taken, given = timed(lambda b=batch: call(b))
        there.append(taken)
        totals = [getattr(one, "total", one) for one in given]
        differing += sum(a != b for a, b in zip(wanted, totals, strict=True))
    return median(here), median(there), differing


def _line(name: str, rows: int, here: float, there: float, differing: object) -> list[object]:
    share = f"{100 * here / there:.0f} %"
    return [name, f"{rows / here:,.0f}", f"{rows / there:,.0f}", share, differing]


if __name__ == "__main__":
    main()
