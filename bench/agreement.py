"""Whether plaudit gives the verdicts of a loop over math-verify, row by row, as TRL calls it.

Generated batches of many seeds, and with --data every row of a JSON-lines file with `completion`
and `gold`. Rows on which the loop times out or crashes are counted separately. If a verdict
differs, it shows the first such rows and exits with 1.
"""

import multiprocessing
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import plain_loop
import traffic
from plaudit.rewards.trl import accuracy_reward
from report import Table, arguments, fresh_judge, show

Row = tuple[str, str]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=20_480, help="generated rows, at least")
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--data", type=Path, help="a JSON-lines file")
    parser.add_argument("--processes", type=int, default=2, help="for the loop")
    options = parser.parse_args()
    rows = list(_generated(options.rows, options.first_seed))
    if options.data:
        rows += _rows(traffic.from_file(options.data))
    fresh_judge()
    completions = [[{"role": "assistant", "content": text}] for text, _ in rows]
    scores = accuracy_reward.scores(completions, [gold for _, gold in rows])
    outcomes = _looped(rows, options.processes)

    trouble = Counter(outcome.trouble for outcome in outcomes if outcome.trouble)
    different = [
        (score, outcome, row)
        for score, outcome, row in zip(scores, outcomes, rows, strict=True)
        if not outcome.trouble and score.value != outcome.reward
    ]
    compared = len(rows) - trouble.total()
    counts = [
        ["rows", len(rows)],
        ["compared", compared],
        ["equal verdicts", compared - len(different)],
        ["**differing verdicts**", f"**{len(different)}**"],
        *([f"the loop {what}", count] for what, count in sorted(trouble.items())),
        *([f"decided by: {method}", count] for method, count in _methods(scores)),
        *([f"plaudit's status: {what}", count] for what, count in _statuses(scores)),
    ]
    show(Table("Agreement with the loop", ["", "count"], counts))
    for score, outcome, (text, gold) in different[:10]:
        print(f"gold {gold!r}, text …{text[-80:]!r}: {score} but {outcome}", file=sys.stderr)
    sys.exit(bool(different))


def _generated(least: int, seed: int) -> Iterator[Row]:
    count = 0
    while count < least:
        rows = _rows(traffic.step(prompts=min(128, -(-least // 8)), seed=seed))
        yield from rows
        count, seed = count + len(rows), seed + 1


def _rows(batch: traffic.Step) -> list[Row]:
    return list(zip(batch.texts, batch.solution, strict=True))


def _looped(rows: list[Row], processes: int) -> list[plain_loop.Outcome]:
    with multiprocessing.get_context("spawn").Pool(processes, _quietly) as pool:
        return pool.starmap(plain_loop.outcome, rows, chunksize=64)


def _quietly() -> None:
    plain_loop.accuracy([], [])  # this also silences the log


def _methods(scores: list) -> list[tuple[str, int]]:
    return Counter(score.decided_by for score in scores).most_common()


def _statuses(scores: list) -> list[tuple[str, int]]:
    return Counter(str(score.status) for score in scores).most_common()


if __name__ == "__main__":
    main()
