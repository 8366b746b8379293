"""One item in 1,024 that would hang math-verify: what it adds to the time of its batch.

Each such item is judged in a batch that is not in the cache, from the main thread and from another,
then in a second batch of new rows with the same item. The cost is the time beyond that of the batch
without it. The loop gets the item alone, in a process that is ended after --patience seconds: a
time limit made of signals does not interrupt one long computation, and off the main thread there is
none.
"""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import plain_loop
import traffic
from plaudit.rewards.trl import accuracy_reward
from plaudit.scores import Score
from report import Table, arguments, fresh_judge, seconds, show, timed

GOLD = r"$\sin x + 1$"
POISONS = {
    "tower": r"9^{9^{9^{9}}}",
    "tower in a fraction": (
        r"\dfrac{5^{\left(5^{\left(5^{\left(5^5\right)}\right)}-4\right)}-5}{16}"
    ),
    "factorial": r"\gcd(7^{999999} - 1, 3^{999999} - 1)!!",
    "sum": r"\sum_{k=1}^{99999} k^{k}",
}
LOOP = """
import sys, threading
sys.path.insert(0, sys.argv[1])
import plain_loop
run = lambda: plain_loop.reward(sys.argv[2], sys.argv[3])
if sys.argv[4] == "another":
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
else:
    run()
"""


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--prompts", type=int, default=128)
    parser.add_argument("--deadline", type=float, default=2.0, help="seconds an item may take")
    parser.add_argument("--patience", type=float, default=12.0, help="seconds for the loop")
    parser.add_argument("--poisons", nargs="+", default=list(POISONS), choices=list(POISONS))
    options = parser.parse_args()
    batch, later = (traffic.step(options.prompts, seed=seed) for seed in (0, 1))
    said = [plain_loop.accuracy(rows.texts, rows.solution) for rows in (batch, later)]
    clean = [_timed_scores(rows, options.deadline)[0] for rows in (batch, later)]
    lines = []
    for name in options.poisons:
        poison = POISONS[name]
        for thread, call in (("main", _here), ("another", _in_a_thread)):
            taken, scores = call(lambda p=poison: _timed_scores(_with(batch, p), options.deadline))
            again, more = call(lambda p=poison: _timed_scores(_with(later, p), None))
            wrong = _differing(scores, said[0]) + _differing(more, said[1])
            status = scores[_place(batch)].status
            loop = _loop(poison, thread, options.patience)
            cost, second = taken - clean[0], again - clean[1]
            line = [name, thread, loop, _signed(cost), status, _signed(second), wrong]
            lines.append(line)
    columns = ["poison", "thread", "the loop, for it alone", "cost in a batch", "status"]
    columns += ["cost in a second batch", "differing verdicts on the other rows"]
    title = f"One poisonous item in {len(batch.solution):,}, deadline {options.deadline:g} s"
    show(Table(title, columns, lines, "A cost near 0 may come out negative: it is a difference."))


def _with(rows: traffic.Step, poison: str) -> traffic.Step:
    completions, solution = list(rows.completions), list(rows.solution)
    content = rf"So the answer is $\boxed{{{poison}}}$."
    completions[_place(rows)] = [{"role": "assistant", "content": content}]
    solution[_place(rows)] = GOLD
    return traffic.Step(completions, solution)


def _place(rows: traffic.Step) -> int:
    return len(rows.solution) // 2


def _timed_scores(rows: traffic.Step, deadline: float | None) -> tuple[float, list[Score]]:
    """The seconds of judging, and the scores; with a deadline, by a judge that knows nothing."""
    if deadline is not None:
        fresh_judge(deadline=deadline)
    return timed(lambda: accuracy_reward.scores(rows.completions, rows.solution))


def _here(run: Callable[[], tuple[float, list[Score]]]) -> tuple[float, list[Score]]:
    return run()


def _in_a_thread(run: Callable[[], tuple[float, list[Score]]]) -> tuple[float, list[Score]]:
    results: list[tuple[float, list[Score]]] = []
    thread = threading.Thread(target=lambda: results.append(run()))
    thread.start()
    thread.join()
    return results[0]


def _differing(scores: list[Score], outcomes: list[plain_loop.Outcome]) -> int:
    rows = [place for place in range(len(scores)) if place != len(scores) // 2]
    rewards = [scores[place].value for place in rows]
    return plain_loop.differing(rewards, [outcomes[place] for place in rows])


def _loop(poison: str, thread: str, patience: float) -> str:
    here = str(Path(__file__).parent)
    command = [sys.executable, "-c", LOOP, here, rf"$\boxed{{{poison}}}$", GOLD, thread]
    try:
        taken, _ = timed(lambda: subprocess.run(command, timeout=patience, capture_output=True))
    except subprocess.TimeoutExpired:
        return f"not done after {patience:g} s"
    return seconds(taken)


def _signed(value: float) -> str:
    return f"{value:+.2f} s"


if __name__ == "__main__":
    main()
