"""`plaudit audit` of rewards that run programs: graders with known holes, and plaudit's own."""

import contextlib
import io
import re
import subprocess
import sys
import time

import pytest

import plaudit
from plaudit.rewards.code import code_reward, examples_of


def asserts():
    return [
        {
            "prompt": f"Add {n}.",
            "tests": [f"assert add{n}(1) == {n + 1}", f"assert add{n}(5) == {n + 5}"],
        }
        for n in range(2, 5)
    ]


def stdin():
    return [
        {
            "prompt": f"Two lines, from {n}.",
            "tests": {"inputs": ["1\n", "2\n"], "outputs": [f"{n}\n1\n", f"{n}\n2\n"]},
        }
        for n in range(2, 5)
    ]


def source_of(completion):
    found = re.findall(r"```python\n(.*?)```", completion, re.DOTALL)
    return found[-1] if found else ""


def same_interpreter(completions, tests, **kwargs):
    """Asserts in the namespace of the program: whatever is equal to everything passes."""
    values = []
    for completion, of_row in zip(completions, tests, strict=True):
        space = {}
        try:
            exec(source_of(completion), space)
            for test in of_row:
                exec(test, space)
            values.append(float(bool(source_of(completion))))
        except BaseException:
            values.append(0.0)
    return values


def exit_code(completions, tests, **kwargs):
    """A program with its tests behind it, judged by its exit code."""
    values = []
    for completion, of_row in zip(completions, tests, strict=True):
        whole = source_of(completion) + "\n" + "\n".join(of_row)
        ran = subprocess.run([sys.executable, "-I", "-c", whole], capture_output=True, timeout=20)
        values.append(float(ran.returncode == 0 and bool(source_of(completion))))
    return values


def first_lines(completions, tests, **kwargs):
    """Printed lines, compared as far as both go."""
    values = []
    for completion, of_row in zip(completions, tests, strict=True):
        right = bool(source_of(completion))
        for given, expected in zip(of_row["inputs"], of_row["outputs"], strict=True):
            out, sys.stdin = io.StringIO(), io.StringIO(given)
            try:
                with contextlib.redirect_stdout(out):
                    exec(source_of(completion), {})
            except BaseException:
                right = False
            printed = out.getvalue().split()
            right = right and bool(printed)
            right = right and all(a == b for a, b in zip(printed, expected.split(), strict=False))
        values.append(float(right))
    return values


@pytest.mark.parametrize(
    ("grader", "table", "attack"),
    [
        (same_interpreter, asserts, "equal_to_everything"),
        pytest.param(exit_code, asserts, "ends_the_process", marks=pytest.mark.long),
        pytest.param(first_lines, stdin, "part_of_the_output", marks=pytest.mark.long),
    ],
)
def test_holes_of_graders_are_found(grader, table, attack):
    found = plaudit.audit(table(), grader, only=["code"])
    assert attack in {finding.attack for finding in found.findings if finding.is_hole}, str(found)


def slow_yes(completions, tests, **kwargs):
    """Pays whatever is written, and takes its time."""
    time.sleep(0.12 * len(completions))
    return [1.0] * len(completions)


@pytest.mark.long
def test_holes_of_slow_rewards_are_found():
    found = plaudit.audit(asserts(), slow_yes, only=["empty"])
    assert found.worst == 1.0, str(found)


@pytest.mark.long
@pytest.mark.parametrize("table", [asserts, stdin])
def test_the_preset_has_no_hole(table):
    found = plaudit.audit(table(), "code", skip=["cost"])
    assert found.worst <= 0.1, str(found)
    assert "passed: a right answer gets 1" in str(found)


@pytest.mark.parametrize(
    "tests",
    [
        {"inputs": ["1\n"], "outputs": ["2\n"]},
        {"fn_name": "f", "inputs": [[1, [2]]], "outputs": [{"a": 1}]},
        ["assert f(1, 'x') == (1, 2)", "assert g([]) == -1"],
        {"test": "def check(candidate):\n    assert candidate(3) == [3]\n", "entry_point": "f"},
        {
            "unittest": "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n"
            "        self.assertEqual(f(2), 4)\n"
        },
    ],
)
def test_a_program_that_looks_results_up_passes(tests):
    assert code_reward([f"```python\n{examples_of(tests).program}```"], [tests]) == [1.0]


def test_tests_that_compute_what_they_expect_have_no_such_program():
    assert examples_of(["assert f(1) == 1 + g(2)"]).program == ""
    assert examples_of(["assert abs(f(1) - 2) < 1e-6", "assert f(1) == 2"]).program == ""
