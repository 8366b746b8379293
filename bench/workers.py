"""One worker and two, on a batch of rows that only a CAS can decide, against the loop.

Every row is symbolic and no two are alike, so the cache does not help: this is the expensive part
alone. Half of the answers are wrong, which cost more than right ones. Times are the best of
--repeat, in turns; before each, the judge empties its cache and starts its workers.
"""

from math import inf

import plain_loop
import traffic
from plaudit.rewards.trl import accuracy_reward
from report import Table, arguments, fresh_judge, seconds, show, timed, times


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    batch, right = traffic.symbolic(options.rows)
    loop, taken = inf, dict.fromkeys(options.workers, inf)
    rewards = {}
    for _ in range(options.repeat):
        for workers in options.workers:
            fresh_judge(workers=workers)
            seconds_taken, rewards[workers] = timed(
                lambda: accuracy_reward(batch.completions, batch.solution)
            )
            taken[workers] = min(taken[workers], seconds_taken)
        seconds_taken, outcomes = timed(lambda: plain_loop.accuracy(batch.texts, batch.solution))
        loop = min(loop, seconds_taken)
    assert [outcome.reward for outcome in outcomes] == right, "the batch is not what it says"
    one = taken[options.workers[0]]
    lines = [["the loop", seconds(loop), "", "", ""]] + [
        [
            f"{workers} worker{'s' * (workers > 1)}",
            seconds(taken[workers]),
            times(loop / taken[workers]),
            times(one / taken[workers]),
            plain_loop.differing(rewards[workers], outcomes),
        ]
        for workers in options.workers
    ]
    columns = ["", f"{options.rows} rows", "against the loop", "against one worker"]
    show(Table("Workers, on symbolic rows alone", [*columns, "differing verdicts"], lines))


if __name__ == "__main__":
    main()
