"""Pairs as plain data -> a `WorkerResult` each, by math-verify in other processes.

In the trainer's process, `_pool` sends pairs to workers and gives futures. The workers are forks
of a fork server (`_fork_server`, and `_worker` in its process): a new one takes milliseconds. A
worker (`_worker`) judges what comes with math-verify, made faster (`_symbolic`): `_sympy_objects`
reads, and `_numeric_values` and `_solutions` show what need not be compared. sympy is imported in
the fork server and its forks, and nowhere else.
"""

from plaudit.judge.workers._pool import PlainPair as PlainPair
from plaudit.judge.workers._pool import WorkerPool as WorkerPool
from plaudit.judge.workers._pool import WorkerResult as WorkerResult
