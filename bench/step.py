"""A GRPO step: 128 prompts with 8 completions each, against a loop that does what TRL does.

Each batch is judged four times by `plaudit.rewards.trl.accuracy_reward`:

    cold       the cache is empty; the workers run, since they start once per training run, and
               have had a moment to prepare, as while a trainer generates
    again      the same batch
    shuffled   the same rows in another order
    reworded   new completions with answers that are known from the batch before, as in training

The loop remembers next to nothing, so each is compared with its time for the batch. Times are the
best of --repeat, taken in turns; of five times as many where all rows are known, which takes a few
milliseconds. With --data, all rows of a JSON-lines file with `completion` and
`gold` are one more batch, without groups.
"""

import time
from math import inf
from pathlib import Path

import plain_loop
import traffic
from plaudit.rewards.trl import accuracy_reward
from report import PREPARING, Table, arguments, fresh_judge, seconds, show, timed, times

SHORT = 5  # times that a batch of known rows is judged in each turn


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--prompts", type=int, default=128)
    parser.add_argument("--seeds", type=int, default=3, help="how many generated batches")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--data", type=Path, help="a JSON-lines file")
    options = parser.parse_args()
    plain_loop.accuracy(*_texts_and_golds(traffic.step(4, seed=-1)))  # the loop warms up, too
    lines = []
    for seed in range(options.seeds):
        batch = traffic.step(options.prompts, seed=seed)
        reworded = traffic.step(options.prompts, seed=seed, prose=1)
        lines += measured(f"seed {seed}", batch, reworded, options.repeat)
    if options.data:
        lines += measured(options.data.name, traffic.from_file(options.data), None, options.repeat)
    trl = ["against TRL"] if plain_loop.trl_reward() else []
    columns = ["batch", "rows", "by a worker", "loop", "plaudit", "ratio", *trl]
    columns += ["differing verdicts", "loop in trouble"]
    note = "`by a worker`: rows that math-verify had to decide, here or when first seen."
    show(Table("A GRPO step", columns, lines, note))


def measured(
    name: str, batch: traffic.Step, reworded: traffic.Step | None, repeat: int
) -> list[list[object]]:
    """The lines of one batch, in the order in which the judge sees its runs."""
    runs = {"cold": batch, "again": batch, "shuffled": traffic.shuffled(batch)}
    runs |= {"reworded": reworded} if reworded else {}
    ours, rewards = dict.fromkeys(runs, inf), {}
    loop, trl, trl_reward = inf, inf, plain_loop.trl_reward()
    for turn in range(repeat):
        fresh_judge()
        time.sleep(PREPARING)
        for run, rows in runs.items():
            columns = rows.completions, rows.solution
            for _ in range(SHORT if run in ("again", "shuffled") else 1):
                taken, rewards[run] = timed(lambda columns=columns: accuracy_reward(*columns))
                ours[run] = min(ours[run], taken)
        if trl_reward and turn % 2:  # who goes first finds sympy's caches colder
            trl = min(trl, timed(lambda: trl_reward(batch.completions, batch.solution))[0])
        taken, outcomes = timed(lambda: plain_loop.accuracy(*_texts_and_golds(batch)))
        loop = min(loop, taken)
        if trl_reward and not turn % 2:
            trl = min(trl, timed(lambda: trl_reward(batch.completions, batch.solution))[0])
    known = dict(zip(zip(*_texts_and_golds(batch), strict=True), outcomes, strict=True))
    if reworded:
        more = plain_loop.accuracy(*_texts_and_golds(reworded))
        known |= dict(zip(zip(*_texts_and_golds(reworded), strict=True), more, strict=True))
    lines: list[list[object]] = []
    for run, rows in runs.items():
        said = [known[row] for row in zip(*_texts_and_golds(rows), strict=True)]
        line = [f"{name}, {run}", len(said), _by_a_worker(rows), seconds(loop), seconds(ours[run])]
        line += [times(loop / ours[run]), *([times(trl / ours[run])] if trl_reward else [])]
        line += [plain_loop.differing(rewards[run], said), plain_loop.in_trouble(said)]
        lines.append(line)
    return lines


def _by_a_worker(rows: traffic.Step) -> int:
    scores = accuracy_reward.scores(rows.completions, rows.solution)
    return sum(score.decided_by == "math-verify" for score in scores)


def _texts_and_golds(rows: traffic.Step) -> tuple[list[str], list[str]]:
    return rows.texts, rows.solution


if __name__ == "__main__":
    main()
