"""A process that meets its memory limit knows it, whatever is made of the MemoryError on the way.

Each script is a program of its own: the limit holds for a whole process, and for good.
"""

import subprocess
import sys
import textwrap

import pytest

LIMITED = """
import os, resource
from plaudit.judge.workers._worker import RESERVE, MemoryLimit

def mib():
    return int(open("/proc/self/status").read().partition("VmSize:")[2].split()[0]) >> 10

limit = MemoryLimit((mib() + 100) << 20)

def told(work):
    try:
        with limit.enforced():
            work()
    except MemoryError:
        return "too much"
    return "fine"
"""


def printed(script):
    command = [sys.executable, "-c", LIMITED + textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split("\n")[:-1]


def test_what_stays_below_the_limit_is_fine():
    assert printed("print(told(lambda: bytearray(50 << 20)))") == ["fine"]


@pytest.mark.parametrize("mib", [150, 100_000], ids=["a little", "far"])
def test_what_is_too_large_at_once(mib):
    script = f"""
    def work():
        try:
            bytearray({mib} << 20)
        except Exception:
            pass  # as a library would

    print(told(work))
    """
    assert printed(script) == ["too much"]


def test_what_grows_bit_by_bit():
    script = """
    def work():
        kept = []
        while True:
            try:
                kept.append([str(len(kept))])
            except Exception:
                pass

    print(told(work))
    """
    assert printed(script) == ["too much"]


def test_what_a_library_catches_again_and_again_is_known_in_the_end():
    """An `except` without a class catches all; the peak is what tells."""
    script = """
    def work():
        for _ in range(3):
            try:
                large = bytearray(130 << 20)
                large = None
                sum(range(10**6))
            except:
                pass

    print(told(work))
    """
    assert printed(script) == ["too much"]


def test_a_limit_of_the_systems_own_that_is_stricter_stays():
    script = """
    limits = resource.getrlimit(resource.RLIMIT_AS)
    print(MemoryLimit(1 << 40) and resource.getrlimit(resource.RLIMIT_AS) == limits)
    """
    assert printed(script) == ["True"]


def test_the_limit_has_a_name():
    assert printed("print(MemoryLimit(64 << 20).why)") == ["it needs more than 64 MiB of memory"]
