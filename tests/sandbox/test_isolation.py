"""What a program can do from inside the sandbox: every layer stops something of its own.

Each probe prints "yes" if it could do what it tried. It runs with all layers, where it must not
succeed, and without the layers that stop it, where it must: otherwise the test shows nothing.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plaudit.sandbox import Limits, isolation
from plaudit.sandbox._pool import Pool

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or any(isolation().values()), reason="needs every layer"
)
ALL = ["limits", "namespaces", "landlock", "seccomp"]
LIMITS = Limits(seconds=5, memory=512)


@pytest.fixture(scope="module")
def pools():
    made = {}

    def get(layers):
        key = tuple(layers)
        if key not in made:
            made[key] = Pool(list(layers), (), LIMITS)
        return made[key]

    yield get
    for pool in made.values():
        pool.close()


def run(pool, source, given="", limits=LIMITS):
    with pool.session(limits) as session:
        return session.script(source, given)


def attempt(statements):
    body = "\n".join(f"    {line}" for line in statements.splitlines())
    return f"try:\n{body}\n    print('yes')\nexcept OSError as error:\n    print('no', error)\n"


SOCKET = "import socket\nsocket.socket(socket.{family}, socket.{kind})"
PROBES = {
    # name: (what is tried, the layers that stop it)
    "read a file of the system": ("open('/etc/passwd').read()", ("namespaces", "landlock")),
    "read a file of the home": (
        f"open({str(Path(__file__))!r}).read()",
        ("namespaces", "landlock"),
    ),
    "list the root": ("import os\nos.listdir('/')", ("landlock",)),
    "write next to Python": (
        "import os, sysconfig\npath = sysconfig.get_path('purelib') + '/plaudit_probe'\n"
        "open(path, 'w').close()\nos.unlink(path)",
        ("namespaces", "landlock"),
    ),
    "a TCP socket": (SOCKET.format(family="AF_INET", kind="SOCK_STREAM"), ("seccomp",)),
    "a UDP socket": (SOCKET.format(family="AF_INET", kind="SOCK_DGRAM"), ("seccomp",)),
    "a unix socket": (SOCKET.format(family="AF_UNIX", kind="SOCK_STREAM"), ("seccomp",)),
    "bind to the loopback": (
        "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\n"
        "c = socket.socket()\ns.listen()\nc.connect(s.getsockname())",
        ("namespaces", "landlock", "seccomp"),
    ),
    "an abstract socket": (
        "import socket\nsocket.socket(socket.AF_UNIX).bind('\\0probe')",
        ("seccomp",),
    ),
    "signal the parent": (
        "import os\nos.kill(os.getppid(), 0)",
        ("namespaces", "landlock", "seccomp"),
    ),
    "see the caller": (f"import os\nos.stat('/proc/{os.getpid()}/status')", ("namespaces",)),
    "trace a child": (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.ptrace(0, 0, 0, 0): raise OSError(ctypes.get_errno())",
        ("seccomp",),
    ),
    "a file in memory": ("import os\nos.memfd_create('x')", ("seccomp",)),
    "shared memory": (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
        "if libc.shmget(0, 4096, 0o1600) < 0: raise OSError(ctypes.get_errno())",
        ("seccomp",),
    ),
}


@pytest.mark.parametrize("name", PROBES)
def test_a_layer_stops_what_it_should(pools, name):
    statements, layers = PROBES[name]
    source = attempt(statements)
    assert not run(pools(ALL), source).stdout.startswith("yes")
    others = [layer for layer in ALL if layer not in layers]
    outcome = run(pools(others), source)
    assert outcome.stdout == "yes\n", outcome


def test_nothing_of_the_callers_environment_is_there(pools, monkeypatch):
    monkeypatch.setenv("SECRET", "hidden")
    outcome = run(pools(ALL), "import os\nprint(sorted(os.environ))")
    assert outcome.stdout == "['HOME', 'LANG', 'PATH']\n"


def test_no_descriptor_of_the_box_is_open(pools):
    source = (
        "import os\nfor n in range(3, 256):\n    try:\n        os.fstat(n)\n        print(n)\n"
        "    except OSError: pass"
    )
    assert run(pools(ALL), source).stdout == ""


def test_it_sees_itself_and_no_other_process(pools):
    source = (
        "import os\nprint([n for n in os.listdir('/proc') if n.isdigit()] == [str(os.getpid())])"
    )
    assert run(pools(ALL), source).stdout == "True\n"


def test_files_are_gone_afterwards(pools):
    pool = pools(ALL)
    assert run(pool, "open('left', 'w').write('x' * 100)").code == 0
    assert run(pool, "import os\nprint(os.listdir('.'))").stdout == "[]\n"


# Counts texts in its own memory: one of its own, and one of the program before.
SEARCH = """\
import ctypes
own = "the text of this program"
words = [b" ".join([b"the text", b"of this"]), b" ".join([b"the text", b"of another"])]
found = [0, 0]
for line in open("/proc/self/maps"):
    bounds, rights = line.split()[:2]
    if rights.startswith("rw"):
        first, last = (int(end, 16) for end in bounds.split("-"))
        content = ctypes.string_at(first, last - first)
        found = [n + content.count(word + b" program") for n, word in zip(found, words)]
print(found[0] > 0, found[1])
"""


def test_the_last_program_is_not_in_memory(pools):
    last = f"text = 'the text of another program'\nprint(len(text))\n# {'x' * 200_000}"
    for _ in range(3):
        assert run(pools(ALL), last, "the text of another program").code == 0
        assert run(pools(ALL), SEARCH).stdout == "True 0\n"


def test_memory_is_limited(pools):
    outcome = run(pools(ALL), "a = bytearray(600 << 20)")
    assert outcome.code == 1
    assert "MemoryError" in outcome.stderr
    assert run(pools(ALL), "a = bytearray(300 << 20)").code == 0


def test_processes_are_limited(pools):
    source = (
        "import os, time\nn = 0\ntry:\n    while n < 500:\n        if not os.fork():\n"
        "            time.sleep(60)\n        n += 1\nexcept OSError: pass\nprint(n)"
    )
    outcome = run(pools(ALL), source)
    assert 0 < int(outcome.stdout) < LIMITS.processes


def test_the_disk_is_limited(pools):
    source = (
        "written = 0\ntry:\n    for n in range(1000):\n        with open(f'f{n}', 'wb') as f:\n"
        "            written += f.write(bytes(1 << 20))\nexcept OSError: pass\nprint(written)"
    )
    outcome = run(pools(ALL), source)
    assert int(outcome.stdout.split()[-1]) <= 65 << 20


def test_limits_cannot_be_raised(pools):
    source = (
        "import resource\ntry:\n    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))\n"
        "    print('yes')\nexcept (OSError, ValueError):\n    print('no')"
    )
    assert run(pools(ALL), source).stdout == "no\n"


@pytest.mark.parametrize(
    ("source", "end"),
    [
        ("while True: pass", "time"),
        ("import time\ntime.sleep(1000)", "wall"),
        ("while True: print('x' * 100000)", "output"),
        ("import signal, os\nsignal.signal(15, signal.SIG_IGN)\nwhile True: pass", "time"),
    ],
)
def test_a_program_that_does_not_end_is_ended(pools, source, end):
    outcome = run(pools(ALL), source, limits=Limits(seconds=1))
    assert outcome.end == end
    assert outcome.seconds < 10


def test_a_program_that_kills_everything_ends_itself_alone(pools):
    pool = pools(ALL)
    run(pool, "import os, signal\nos.kill(-1, signal.SIGKILL)")
    run(pool, "import os, signal\nos.kill(1, signal.SIGKILL)\nos.killpg(0, signal.SIGKILL)")
    assert run(pool, "print('still here')").stdout == "still here\n"


@pytest.mark.skipif(os.getuid() != 0, reason="becomes another user")
def test_it_works_for_an_ordinary_user():
    """With the system's Python, which every user can read."""
    python = "/usr/bin/python3"
    checked = subprocess.run([python, "-c", "import sys; print(sys.version_info >= (3, 11))"])
    if checked.returncode:
        pytest.skip("the system has no Python of its own")
    program = (
        "from plaudit.sandbox import isolation, run_script\n"
        "assert not any(isolation().values()), isolation()\n"
        "print(run_script('''import os\nprint(os.getuid(), os.listdir('.'))\n"
        "try:\n    open('/etc/passwd')\nexcept OSError: print('no')\n"
        "open('a', 'w')''').stdout)"
    )
    source = Path(__file__).resolve().parents[2] / "src"
    ran = subprocess.run(
        [python, "-c", program],
        user=1234,
        group=1234,
        cwd="/",
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
        timeout=60,
    )
    assert ran.stdout.split() == ["1234", "[]", "no"], ran.stderr


@pytest.mark.parametrize("layers", [["limits", "landlock", "seccomp"], ["limits", "namespaces"]])
def test_fewer_layers_are_enough_to_run_programs_and_tests(layers):
    pool = Pool(layers, (), LIMITS)
    try:
        task = {
            "kind": "asserts",
            "source": "assert f(2) == 4",
            "statements": ["assert f(2) == 4"],
            "subjects": [],
            "partial": False,
            "program": "",
            "count": 1,
        }
        for _ in range(2):
            with pool.session(LIMITS) as session:
                assert session.script("open('a', 'w').write('x')\nprint(1)", "").stdout == "1\n"
                ran, _ = session.tests("def f(x):\n    return x * x", task)
                assert '["passed",""]' in ran.report
                ended = session.script("import os\nos.kill(os.getppid(), 9)\nprint(2)", "")
                assert ended.end in ("exit", "signal")
            with pool.session(LIMITS) as session:
                assert session.script("import os\nprint(os.listdir('.'))", "").stdout == "[]\n"
                slept = session.script(
                    "import os\nif os.fork() == 0:\n    os.setsid()\n    while 1: pass", ""
                )
                assert slept.end == "exit"
    finally:
        pool.close()
