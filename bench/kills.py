"""`kill -9` of a worker, again and again, while a batch that needs the workers is judged.

Every row is symbolic, and its right reward is known from how it was generated. A thread looks for
worker processes and kills one at a time, spread over the batch. Exits with 1 if a reward is wrong,
or if fewer workers were killed than asked for.
"""

import os
import random
import signal
import sys
import threading

import plaudit.judge
import traffic
from plaudit.rewards.trl import accuracy_reward
from processes import children, left_after
from report import Table, arguments, fresh_judge, seconds, show, timed


class Killer(threading.Thread):
    """Kills a worker now and then until it has killed enough."""

    def __init__(self, kills: int, every: float) -> None:
        super().__init__(daemon=True)
        self.left, self.every = kills, every
        self.enough = threading.Event()

    def run(self) -> None:
        rng = random.Random(0)
        while self.left and not self.enough.wait(self.every):
            workers = workers_of_this_process()
            if workers:
                os.kill(rng.choice(workers), signal.SIGKILL)
                self.left -= 1


def workers_of_this_process() -> list[int]:
    """The workers are the children of the fork servers, which are our children."""
    return [worker for server in children(os.getpid()) for worker in children(server)]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rows", type=int, default=15_000)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--every", type=float, default=0.03, help="seconds between kills")
    options = parser.parse_args()
    batch, right = traffic.symbolic(options.rows)
    fresh_judge()
    killer = Killer(options.kills, options.every)
    killer.start()
    taken, scores = timed(lambda: accuracy_reward.scores(batch.completions, batch.solution))
    killer.enough.set()
    killer.join()
    wrong = sum(score.value != reward for score, reward in zip(scores, right, strict=True))
    by_workers = sum(score.decided_by == "math-verify" for score in scores)
    killed = options.kills - killer.left
    ours = [*children(os.getpid()), *workers_of_this_process()]
    plaudit.judge.shared_judge().close()
    left = len(left_after(ours, patience=5))
    columns = ["rows", "by a worker", "workers killed", "wrong verdicts", "time", "processes left"]
    line = [len(right), by_workers, killed, wrong, seconds(taken), left]
    show(Table("Workers killed from outside", columns, [line]))
    sys.exit(bool(wrong or left or killer.left))


if __name__ == "__main__":
    main()
