"""Items, answers and golds as plain data -> an `Outcome` each, by math-verify in other processes.

In the trainer's process, `Pool` takes items and gives futures; its thread, the dispatcher
(`_dispatcher`, `_tasks`), hands the items to workers and stops those that run over the deadline.
The workers are forks of a fork server (`_fork_server` here, `_fork_server_main` there), so that a
new one takes milliseconds. A worker (`_worker`, `_symbolic`, `_memory`) judges what comes, with
math-verify made faster: `_speedups` for reading, `_grader` for comparing, which leaves out what
`_rejection`, `_sets` and `_equations` show to be in vain, by the values of `_values`. `_wire` has
the form of all messages between these processes. math-verify and sympy are imported in the fork
server and its forks, and nowhere else.
"""

from plaudit.judge.workers._pool import Pool
from plaudit.judge.workers._tasks import Item, Outcome

__all__ = ["Item", "Outcome", "Pool"]
