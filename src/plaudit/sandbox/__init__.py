"""A program in, what it did out, in a process that cannot harm anything and always ends.

    from plaudit.sandbox import Limits, run_script

    run_script("print(int(input()) + 1)", "41")   # Outcome(end='exit', code=0, stdout='42\\n', …)

A program runs in a process that is forked from a warm interpreter and then gives up what it has no
need of, layer by layer (`plaudit.sandbox.isolation()` says which work here; docs/code.md has the
details):

- limits: CPU time, wall-clock time, memory, processes, files, output
- namespaces: a network, processes, mounts and shared memory of its own, as root and as any user
- Landlock: it reads Python and the installed software, and writes to an empty folder of its own
- seccomp: no sockets, ptrace, mounts, io_uring, keys

It protects from programs that a model wrote while it was trained: from mistakes, from endless
loops, and from attempts to read the tests, to forge a verdict or to leave. It does not protect from
faults of the kernel or of the processor, from side channels such as timing, or from a person who
prepares an attack against this machine. For that, use a virtual machine.
"""

from plaudit.sandbox._child import library_names as library_names
from plaudit.sandbox._layers import LAYERS as LAYERS
from plaudit.sandbox._plain import NotPlain as NotPlain
from plaudit.sandbox._plain import decode as decode
from plaudit.sandbox._plain import encode as encode
from plaudit.sandbox._pool import SLOW_RUNS as SLOW_RUNS
from plaudit.sandbox._pool import Limits as Limits
from plaudit.sandbox._pool import Outcome as Outcome
from plaudit.sandbox._pool import Pool as Pool
from plaudit.sandbox._pool import SandboxError as SandboxError
from plaudit.sandbox._pool import Session as Session
from plaudit.sandbox._pool import close_pools as close_pools
from plaudit.sandbox._pool import isolation as isolation
from plaudit.sandbox._pool import level as level
from plaudit.sandbox._pool import pool_for as pool_for
from plaudit.sandbox._pool import starved as starved


def run_script(source: str, stdin: str = "", limits: Limits | None = None) -> Outcome:
    """Run a Python program with an input, and return what it did.

    >>> run_script("print(int(input()) + 1)", "41").stdout
    '42\\n'
    """
    limits = limits or Limits()
    with pool_for("auto", (), limits).session(limits) as session:
        return session.script(source, stdin)
