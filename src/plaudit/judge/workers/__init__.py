"""Pairs as plain data -> a `WorkerResult` each, by math-verify in other processes.

In the trainer's process, `_pool` sends pairs to workers and gives futures. The workers are forks
of a fork server (`_fork_server` here, `_fork_server_main` there): a new one takes milliseconds. A
worker (`_worker`) judges what comes with math-verify (`_symbolic`), made faster: `_sympy_objects`
for reading, `_grader` for comparing, which leaves out what `_numeric_values` and `_solutions` show
to be in vain. sympy is imported in the fork server and its forks, and nowhere else.
"""

from plaudit.judge.workers._pool import PlainPair as PlainPair
from plaudit.judge.workers._pool import WorkerPool as WorkerPool
from plaudit.judge.workers._pool import WorkerResult as WorkerResult
