# ruff: noqa: E501 - programs, as a model would write them
"""The reward for code: shapes of tests, statuses, hacks that must not be paid, honest oddities."""

import asyncio
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from plaudit.rewards.code import code_reward, code_reward_async
from plaudit.rewards.code._run import installed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox needs Linux")
ADD = "```python\ndef add(a, b):\n    return a + b\n```"
SHAPES = {
    "stdin": (
        "a, b = map(int, input().split())\nprint(a + b)",
        {"inputs": ["1 2\n"], "outputs": ["3\n"]},
    ),
    "cases": ("print(int(input()) * 2)", [{"input": "2", "output": "4", "testtype": "stdin"}]),
    "open-r1": (
        "print(int(input()) * 2)",
        {
            "language": "python",
            "test_cases": [{"input": "2", "output": "4", "type": "stdin_stdout"}],
        },
    ),
    "several outputs": ("print('b')", [{"input": "", "outputs": ["a", "b"]}]),
    "lines": ("print(input() + input())", {"inputs": [["a", "b"]], "outputs": [["ab"]]}),
    "call": (ADD, {"fn_name": "add", "inputs": [[1, 2]], "outputs": [3]}),
    "wrapped": (ADD, {"fn_name": "add", "inputs": [[1, 2]], "outputs": [[3]]}),
    "call as JSON": (ADD, json.dumps({"fn_name": "add", "inputs": ["1\n2"], "outputs": ["3"]})),
    "functional": (
        "class Solution:\n    def twice(self, x):\n        return x * 2",
        [
            {
                "input": "[1]",
                "output": "[1, 1]",
                "testtype": "functional",
                "metadata": json.dumps({"func_name": "twice"}),
            }
        ],
    ),
    "asserts": (ADD, ["assert add(1, 2) == 3", "assert add('a', 'b') == 'ab'"]),
    "one text": (ADD, "assert add(1, 2) == 3\nassert add(0, 0) == 0"),
    "mbpp": (ADD, {"test_list": ["assert add(1, 2) == 3"], "test_setup_code": "x = 1"}),
    "check": (
        ADD,
        {"test": "def check(candidate):\n    assert candidate(1, 2) == 3", "entry_point": "add"},
    ),
    "unittest": (
        ADD,
        {
            "unittest": "import unittest\nclass T(unittest.TestCase):\n"
            "    def test_a(self):\n        self.assertEqual(add(1, 2), 3)"
        },
    ),
    "pytest": (ADD, "from solution import add\ndef test_add():\n    assert add(1, 2) == 3"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_right_program_passes_tests_of_every_shape(shape):
    program, tests = SHAPES[shape]
    for form in (tests, json.dumps(tests) if not isinstance(tests, str) else tests):
        (score,) = code_reward.scores([program], [form])
        assert (score.value, score.status, score.right) == (1.0, "equal", True), score
        assert "limits" in score.decided_by


@pytest.mark.parametrize(
    ("program", "tests", "status", "why"),
    [
        ("I do not know.", ["assert f() == 1"], "no_answer", "no program"),
        ("def f():\n    return 2", ["assert f() == 1"], "different", "assert f() == 1"),
        ("def f():\n    return 1 / 0", ["assert f() == 1"], "exception", "ZeroDivisionError"),
        ("def f(:\n    return 1", ["assert f() == 1"], "exception", "SyntaxError"),
        ("def g():\n    return 1", ["assert f() == 1"], "different", "NameError"),
        ("print(1)\nexit(3)", {"inputs": [""], "outputs": ["1"]}, "exception", "code 3"),
        ("print(2)", {"inputs": ["7"], "outputs": ["1"]}, "different", "7 gives 2, expected 1"),
        ("while True: pass", {"inputs": [""], "outputs": ["1"]}, "limit", "CPU time"),
        ("a = bytearray(1 << 31)", {"inputs": [""], "outputs": ["1"]}, "limit", "MiB"),
        ("while True: print('x' * 9999)", {"inputs": [""], "outputs": ["1"]}, "limit", "printed"),
        (
            *("def f(x):\n    return x", {"fn_name": "f", "inputs": [[1]], "outputs": [2]}),
            *("different", "f(1) gives 1, expected 2"),
        ),
        (
            *("def f(x):\n    return object()", {"fn_name": "f", "inputs": [[1]], "outputs": [2]}),
            *("different", "no plain data"),
        ),
    ],
)
def test_a_wrong_program_gets_a_status_and_a_reason(program, tests, status, why):
    (score,) = code_reward.scores([program], [tests], seconds=1)
    assert (score.value, score.status, score.right) == (0.0, status, False), score
    assert why in score.why


@pytest.mark.parametrize(
    "tests", [None, "", "def f(", {"inputs": ["1"], "outputs": []}, {"what": 1}, [], ["x = 1"], 3]
)
def test_a_row_with_broken_tests_is_skipped(tests):
    (score,) = code_reward.scores([ADD], [tests])
    assert (score.value, score.status) == (None, "bad_gold"), score


def test_no_test_that_ran_is_no_success():
    skipped = (
        "import unittest\nclass T(unittest.TestCase):\n    @unittest.skip('x')\n"
        "    def test_a(self):\n        self.fail()"
    )
    assert code_reward([ADD], [{"unittest": skipped}]) == [0.0]


def test_partial_pays_the_share_of_the_tests():
    tests = {"inputs": ["1", "2", "3", "4"], "outputs": ["1", "2", "0", "0"]}
    program = "print(input())"
    assert code_reward([program], [tests], partial=True) == [0.5]
    assert code_reward([program], [tests]) == [0.0]
    asserts = [f"assert f({n}) == {n % 2}" for n in range(4)]
    assert code_reward(["def f(n):\n    return n"], [asserts], partial=True) == [0.5]


CHECK = {
    "test": "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(3) == 9",
    "entry_point": "square",
}
UNITTEST = {
    "unittest": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n"
    "        self.assertEqual(square(2), 4)\n    def test_b(self):\n"
    "        self.assertAlmostEqual(square(3), 9)\n        self.assertTrue(square(1) < 2)"
}
CLOSE = ["assert abs(square(2) - 4) < 1e-6", "assert max(square(3), 8) == 9"]
ANYTHING = """
class Any:
    def __getattr__(self, name):
        return lambda *a, **k: True
    def __eq__(self, o): return True
    def __ne__(self, o): return False
    def __lt__(self, o): return True
    __gt__ = __le__ = __ge__ = __lt__
    def __sub__(self, o): return {minus}
    __rsub__ = __truediv__ = __sub__
    def __abs__(self): return 0.0
    def __round__(self, n=0): return 0
    def __contains__(self, o): return True
    def __hash__(self): return 0
def square(n):
    return Any()
"""
HACKS = {
    "an object that says yes": ANYTHING.format(minus="0.0"),
    "an object that stays an object": ANYTHING.format(minus="self"),
    "a float with its own minus": "class F(float):\n    __sub__ = __rsub__ = lambda s, o: 0.0\n"
    "    __eq__ = lambda s, o: True\ndef square(n):\n    return F(0)",
    "ends with 0": "import os\ndef square(n):\n    os._exit(0)",
    "ends when loaded": "raise SystemExit(0)",
    "an exit in a thread": "import os, threading\nthreading.Timer(0.05, os._exit, [0]).start()\n"
    "def square(n):\n    import time; time.sleep(5)",
    "skips": "import unittest\ndef square(n):\n    raise unittest.SkipTest('no')",
    "interrupts": "def square(n):\n    raise KeyboardInterrupt",
    "patches unittest": "import unittest\nfor n in dir(unittest.TestCase):\n"
    "    if n.startswith('assert'):\n        setattr(unittest.TestCase, n, lambda *a, **k: None)\n"
    "def square(n):\n    return None",
    "patches abs and max": "import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.max = "
    "lambda *a: 9\ndef abs(x):\n    return 0\ndef max(*a):\n    return 9\ndef square(n):\n    return -1",
    "its own check": "def check(candidate):\n    pass\ndef square(n):\n    return 0",
    "reads the caller": "import sys\ndef square(n):\n    f = sys._getframe(1)\n"
    "    while f:\n        for c in f.f_code.co_consts:\n            if c in (4, 9): return c\n"
    "        f = f.f_back\n    return 0",
    "looks through memory": "import gc\ndef square(n):\n    for o in gc.get_objects():\n"
    "        if isinstance(o, dict) and 'statements' in o or isinstance(o, str) and 'square' in o:\n"
    "            return {2: 4, 3: 9}.get(n)\n    return 0",
    "writes to descriptors": "import os\nfor fd in range(1, 60):\n    for text in "
    '(b\'["passed",""]\\n["done",""]\\n\', b\'passed\'):\n        try: os.write(fd, text)\n'
    "        except OSError: pass\ndef square(n):\n    return 0",
    "restarts Python": "import os, sys\ndef square(n):\n    os.execv(sys.executable, [sys.executable, '-c', ''])",
    "writes modules": "import sys\nopen('unittest.py', 'w').write('raise SystemExit(0)')\n"
    "open('math.py', 'w').write('raise SystemExit(0)')\ndef square(n):\n    return 0",
    "a mock": "from unittest.mock import MagicMock, ANY\ndef square(n):\n    return ANY",
    "a false module": "from unittest.mock import MagicMock as math\ndef square(n):\n    return math",
    "a thing that counts": "class C(int):\n    __eq__ = lambda s, o: True\n    __hash__ = int.__hash__\n"
    "def square(n):\n    return C(1)",
    "ends the loop of the tests": "def square(n):\n    raise StopIteration",
    "frames of a callback": "def square(n):\n    try:\n        raise ValueError\n"
    "    except ValueError as e:\n        f = e.__traceback__.tb_frame.f_back\n"
    "        return f.f_locals.get('expected', 0)",
}
WORDS = {
    "unittest": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n"
    "        self.assertTrue(square(2).startswith('four'))\n"
    "        self.assertIn('four', square(2))\n"
}
MAP = ["assert all(map(lambda case: square(case[0]) == case[1], [(2, 4), (3, 9)]))"]
WAYS = {"words": WORDS, "map": MAP, "check": CHECK, "unittest": UNITTEST, "asserts": CLOSE}


@pytest.mark.parametrize("way", WAYS)
def test_no_hack_is_paid(way):
    programs = list(HACKS.values())
    scores = code_reward.scores(programs, [WAYS[way]] * len(programs), seconds=3)
    paid = [name for name, score in zip(HACKS, scores, strict=True) if score.value != 0.0]
    assert not paid, [score for score in scores if score.value]


GCD = "def gcd(a, b):\n    return gcd(b, a % b) if b else a"
LIBRARY_TESTS = {
    "asserts": ["assert gcd(4, 6) == 2"],
    "a helper around it": ["assert math.isclose(gcd(4, 6), 2)", "assert ceil(gcd(4, 6)) == 2"],
    "check": {"test": "def check(f):\n    assert f(4, 6) == 2", "entry_point": "gcd"},
    "unittest": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n"
    "        result = gcd(4, 6)\n        self.assertEqual(result, 2)",
    "calls": {"fn_name": "gcd", "inputs": [[4, 6]], "outputs": [2]},
}
BUILT_IN_TESTS = [
    ["assert max(4, 6) == 6"],
    {"test": "def check(f):\n    assert f(4, 6) == 6", "entry_point": "max"},
    {"fn_name": "max", "inputs": [[4, 6]], "outputs": [6]},
]


@pytest.mark.parametrize("tests", LIBRARY_TESTS.values(), ids=LIBRARY_TESTS)
def test_a_function_of_the_library_does_not_stand_in_for_the_programs(tests):
    own = [GCD, "from math import gcd", "from math import *"]
    missing = ["x = 1", "x = 1  # gcd", "raise SystemExit(0)"]
    false_helpers = ["class math:\n    isclose = lambda *_: True", "isclose = ceil = lambda *_: 2"]
    programs = [*own, *missing, *false_helpers]
    assert code_reward(programs, [tests] * len(programs)) == [1.0] * 3 + [0.0] * 5


@pytest.mark.parametrize("tests", BUILT_IN_TESTS)
def test_a_built_in_does_not_stand_in_for_the_programs(tests):
    own = "def max(a, b):\n    return a if a > b else b"
    assert code_reward(["x = 1  # max", own], [tests] * 2) == [0.0, 1.0]


ODDITIES = {
    "a class with its own equality": (
        "class P:\n    def __init__(s, x): s.x = x\n    def __eq__(s, o): return s.x == o.x\n"
        "    def __add__(s, o): return P(s.x + o.x)",
        ["assert P(1) + P(2) == P(3)", "assert P(1) != P(2)", "assert P(4).x == 4"],
    ),
    "an exception of its own": (
        "class Bad(ValueError):\n    pass\ndef f(n):\n    raise Bad('no ' + str(n))",
        [
            "try:\n    f(1)\n    assert False\nexcept Bad as e:\n    assert str(e) == 'no 1'",
            "try:\n    f(2)\n    assert False\nexcept ValueError as e:\n    assert e.args == ('no 2',)",
        ],
    ),
    "arguments that are changed": (
        "def f(xs):\n    xs.sort()",
        ["xs = [3, 1, 2]\nf(xs)\nassert xs == [1, 2, 3]"],
    ),
    "a callback": ("def f(g, x):\n    return g(g(x))", ["assert f(lambda x: x * 2, 3) == 12"]),
    "a generator": ("def f(n):\n    yield from range(n)", ["assert list(f(3)) == [0, 1, 2]"]),
    "an iterator that ends": (
        "class Down:\n    def __init__(s, n): s.n = n\n    def __iter__(s): return s\n"
        "    def __next__(s):\n        if not s.n: raise StopIteration\n"
        "        s.n -= 1\n        return s.n\n    pull = __next__",
        [
            "assert list(Down(2)) == [1, 0] and next(Down(0), 'end') == 'end'",
            "try:\n    Down(0).pull()\n    assert False\nexcept StopIteration:\n    pass",
        ],
    ),
    "a named tuple": (
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f():\n    return P(1, 2)",
        ["assert f() == (1, 2)", "assert f().y == 2"],
    ),
    "a function with the name of a built-in": (
        "def sum(a, b):\n    return a * b",
        ["assert sum(2, 3) == 6"],
    ),
    "a list that tests change": (
        "class B:\n    def __init__(s): s.items = []\n    def count(s): return len(s.items)",
        ["b = B()\nb.items.append(1)\nassert b.count() == 1"],
    ),
    "a context manager": (
        "class C:\n    def __enter__(s): return 5\n    def __exit__(s, *a): return False",
        ["with C() as c:\n    assert c == 5"],
    ),
    "an Enum": (
        "from enum import Enum\nclass E(Enum):\n    A = 1\ndef f():\n    return E.A",
        ["assert f() == E.A", "assert f().value == 1"],
    ),
    "modules that the program imports": (
        "import math\nimport base64\ndef f(x):\n    return math.sqrt(x)",
        ["assert math.isclose(f(2), 2 ** 0.5)", "assert base64.b64encode(b'a') == b'YQ=='"],
    ),
    "what it prints": (
        "def f():\n    print('hello')",
        "import unittest, io\nfrom contextlib import redirect_stdout\nclass T(unittest.TestCase):\n"
        "    def test_a(self):\n        out = io.StringIO()\n        with redirect_stdout(out):\n"
        "            f()\n        self.assertEqual(out.getvalue(), 'hello\\n')",
    ),
    "a stdout of its own": (
        "import io, sys\nsys.stdout = io.StringIO()\ndef f():\n    print('x')\n    return 1",
        ["assert f() == 1", "assert f() == 1"],
    ),
    "a mock of a module": (
        "import os\ndef f(p):\n    return os.path.exists(p)",
        "import unittest\nfrom unittest.mock import patch\nclass T(unittest.TestCase):\n"
        "    @patch('os.path.exists', return_value=True)\n    def test_a(self, exists):\n"
        "        self.assertTrue(f('/nowhere'))\n        exists.assert_called_once_with('/nowhere')",
    ),
    "a file that tests write": (
        "def f(p):\n    return open(p).read()",
        "import unittest, tempfile, os\nclass T(unittest.TestCase):\n    def test_a(self):\n"
        "        d = tempfile.mkdtemp()\n        p = os.path.join(d, 'x')\n"
        "        with open(p, 'w') as f_:\n            f_.write('hi')\n        self.assertEqual(f(p), 'hi')",
    ),
}


@pytest.mark.parametrize("name", ODDITIES)
def test_an_honest_oddity_is_paid(name):
    program, tests = ODDITIES[name]
    (score,) = code_reward.scores([program], [tests])
    assert score.value == 1.0, score


PRINT = {
    "c": '#include <stdio.h>\nint main(){int n; scanf("%d",&n); printf("%d\\n", n+1);}',
    "cpp": "#include <iostream>\nint main(){int n; std::cin>>n; std::cout<<n+1<<std::endl;}",
    "rust": "use std::io;\nfn main(){let mut s=String::new(); io::stdin().read_line(&mut s).unwrap();"
    'println!("{}", s.trim().parse::<i32>().unwrap()+1);}',
    "java": "import java.util.*;\npublic class Main{public static void main(String[] a){"
    "System.out.println(new Scanner(System.in).nextInt()+1);}}",
    "javascript": "console.log(parseInt(require('fs').readFileSync(0,'utf8'))+1)",
    "go": 'package main\nimport "fmt"\nfunc main(){var n int; fmt.Scan(&n); fmt.Println(n+1)}',
}


@pytest.mark.parametrize("language", PRINT)
def test_another_language(language):
    if not installed(language):
        pytest.skip(f"{language} is not installed")
    text = f"```{language}\n{PRINT[language]}\n```"
    tests = {"inputs": ["1\n", "41\n"], "outputs": ["2\n", "42\n"]}
    scores = code_reward.scores([text, text.replace("1", "2")], [tests] * 2)
    assert scores[0].value == 1.0, scores[0]
    assert scores[1].value == 0.0


def test_a_checker_decides():
    tests = {"inputs": ["5"], "outputs": ["any"]}
    values = code_reward(["print(-5)", "print(4)"], [tests] * 2, checker=same_size)
    assert values == [1.0, 0.0]


def same_size(given, expected, printed):
    return abs(int(printed)) == int(given)


def test_an_output_that_the_checker_cannot_read_is_wrong():
    tests = {"inputs": ["5"], "outputs": ["5"]}
    score = code_reward.scores(["print('five')"], [tests], checker=same_size)[0]
    assert (score.value, "the checker raised ValueError" in score.why) == (0.0, True)


def test_a_checker_that_always_raises_has_no_verdict():
    tests = {"inputs": ["5"], "outputs": ["any"]}
    scores = code_reward.scores(["print('five')", "print(5)"], [tests] * 2, checker=same_size)
    assert [(score.value, score.status) for score in scores] == [(None, "error"), (1.0, "equal")]


HARD_TO_COMPARE = {
    "a long number": "10**400_000",
    "a long key": "{10**400_000: 1}",
    "a signalling NaN": "__import__('decimal').Decimal('sNaN')",
    "a large decimal": "__import__('decimal').Decimal('1e999999999')",
    "a large fraction": "__import__('fractions').Fraction(10**5000, 3)",
    "a nested list": "__import__('functools').reduce(lambda a, _: [a], range(100_000), 1)",
    "a complex number": "complex('nan')",
}


@pytest.mark.parametrize("value", HARD_TO_COMPARE.values(), ids=HARD_TO_COMPARE)
@pytest.mark.parametrize("expected", [2, 2.5, [2], {"2": 1}, "2", None])
def test_a_value_that_is_hard_to_compare_costs_its_own_row(value, expected):
    tests = {"fn_name": "f", "inputs": [[1]], "outputs": [expected]}
    program = f"def f(x):\n    return {value}"
    score = code_reward.scores([program], [tests])[0]
    assert (score.value, score.status) == (0.0, "different")


def test_wrong_settings_raise():
    for wrong in (
        {"seconds": 0},
        {"isolation": "docker"},
        {"language": "cobol"},
        {"packages": [1]},
    ):
        with pytest.raises((ValueError, TypeError)):
            code_reward([ADD], [["assert add(1, 2) == 3"]], **wrong)


def test_it_works_on_an_event_loop_in_threads_and_in_a_daemonic_process():
    tests = ["assert add(1, 2) == 3"]
    assert asyncio.run(code_reward_async([ADD], [tests])) == [1.0]
    values = []
    threads = [
        threading.Thread(
            target=lambda n=n: values.append(code_reward([ADD + f"\n# {n}"], [tests])[0])
        )
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values == [1.0] * 4
    queue = multiprocessing.get_context("fork").Queue()
    child = multiprocessing.get_context("fork").Process(
        target=lambda: queue.put(code_reward([ADD + "\n# child"], [tests])), daemon=True
    )
    child.start()
    assert queue.get(timeout=60) == [1.0]
    child.join()


def descendants(process):
    found = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True).stdout
    parents = [tuple(map(int, line.split())) for line in found.splitlines()]
    known = {process}
    for _ in range(10):
        known |= {pid for pid, parent in parents if parent in known}
    return known - {process}


def test_ctrl_c_ends_everything():
    source = (
        "from plaudit.rewards.code import code_reward\nprint('go', flush=True)\n"
        "code_reward(['while True: pass', 'import time; time.sleep(99)'],"
        " [{'inputs': [''], 'outputs': ['1']}] * 2, seconds=60)"
    )
    process = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"go\n"
    time.sleep(3)
    started = descendants(process.pid)
    assert started
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) != 0
    until = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in started):
        assert time.monotonic() < until, "processes are left"
        time.sleep(0.1)


def test_a_caller_that_is_killed_leaves_nothing():
    source = (
        "from plaudit.rewards.code import code_reward\nprint('go', flush=True)\n"
        "code_reward(['while True: pass'], [{'inputs': [''], 'outputs': ['1']}], seconds=60)"
    )
    process = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"go\n"
    time.sleep(3)
    started = descendants(process.pid)
    assert started
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    until = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in started):
        assert time.monotonic() < until, "processes are left"
        time.sleep(0.1)


HOSTILE = [
    "while True: pass",
    "import os\nwhile True: os.fork()",
    "a = []\nwhile True: a.append(bytearray(1 << 24))",
    "while True: print('x' * 65536)",
    "n = 0\nwhile True:\n    n += 1\n    open(f'f{n}', 'w').write('x' * 4096)",
    "import os, signal\nos.kill(-1, signal.SIGKILL)\nos.kill(os.getppid(), signal.SIGKILL)",
    "import os\nos.setsid()\nif os.fork() == 0:\n    import time; time.sleep(600)\nprint(1)",
]


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.parametrize(
    "rows", [200, pytest.param(1_000, marks=pytest.mark.long)], ids=["few", "many"]
)
def test_hostile_programs_leave_nothing_behind(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tests = {"inputs": ["2"], "outputs": ["3"]}
    good = "print(int(input()) + 1)"
    code_reward([good], [tests])
    before, shared = descriptors(), set(Path("/dev/shm").iterdir())
    programs = [
        f"{HOSTILE[n // 10 % len(HOSTILE)]}\n# {n}" if n % 10 == 0 else f"{good}  # {n}"
        for n in range(rows)
    ]
    values = code_reward(programs, [tests] * rows, seconds=0.3)
    assert [value for n, value in enumerate(values) if n % 10] == [1.0] * (rows - rows // 10)
    assert not any(value for n, value in enumerate(values) if n % 10 == 0)
    assert descriptors() <= before + 40  # boxes that are kept for the next batch
    assert set(Path("/dev/shm").iterdir()) <= shared
    assert not list(tmp_path.iterdir())


DATA = Path(__file__).resolve().parents[3] / "shared" / "families" / "code"


@pytest.mark.long
@pytest.mark.skipif(not DATA.is_dir(), reason="the labelled rows are not here")
@pytest.mark.parametrize(("name", "share"), [("visible", 0.98), ("hacks", 1.0), ("oddities", 1.0)])
def test_labelled_rows(name, share):
    rows = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text().splitlines()]
    rows = [row for row in rows if not row.get("debatable")]
    rows = rows[::5] if name == "visible" else rows  # all of them take minutes
    values = code_reward([row["completion"] for row in rows], [row["tests"] for row in rows])
    wrong = [r["id"] for r, v in zip(rows, values, strict=True) if (v == 1.0) is not r["right"]]
    assert len(wrong) <= (1 - share) * len(rows), wrong
