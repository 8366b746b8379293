"""What runs in the processes of a sandbox: a program as a script, a program that is called, tests.

Nothing here decides anything: a script writes to its stdout, a program that is called answers over
its socket, and both are compared elsewhere. Tests run in a process of their own, which reports
what came of each; the program reaches that process only through the border.
"""

import ast
import builtins
import io
import json
import linecache
import os
import re
import socket
import sys
import threading
import traceback
import types
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from typing import Any

from plaudit.sandbox import _border
from plaudit.sandbox._border import LENGTH, Border, BrokenProgram, Closed, forward_changes
from plaudit.sandbox._layers import hide_memory
from plaudit.sandbox._plain import NotPlain, decode, encode

FILE = "program.py"
DEEPEST = 50_000  # calls, as LiveCodeBench allows
MOST_ANSWER = 64 << 20  # bytes that a call may return
# What graders of contests import for a program. A module that is missing is left out.
PRELUDE = """\
from string import *
from re import *
from datetime import *
from collections import *
from heapq import *
from bisect import *
from copy import *
from math import *
from random import *
from statistics import *
from itertools import *
from functools import *
from operator import *
from io import *
from json import *
from typing import *
import string, re, datetime, collections, heapq, bisect, copy, math, random, statistics
import itertools, functools, operator, io, sys, os, json, time, typing, decimal, fractions
"""


@cache
def library_names() -> dict[str, Any]:
    """Return the names that the prelude defines; those of built-ins stay as they are."""
    names: dict[str, Any] = {}
    exec(PRELUDE, names)
    return {name: value for name, value in names.items() if not hasattr(builtins, name)}


_words = re.compile(r"\w+").findall
_prelude: dict[str, Any] = {}  # filled in the process that others are forked from


def warm_up() -> None:
    """Import what most programs use, in the process that all others are forked from.

    What few of them use is imported there if the packages name it: a fork takes the longer, the
    more memory it has.
    """
    import dataclasses  # noqa: F401

    _prelude.update(library_names())
    _border.warm_up()


def do_job(job: dict[str, Any], kept: list[int]) -> None:
    """Do what a process was forked for.

    kept: the descriptors that it has besides its three streams
    """
    kind = job["do"]
    if kind == "script":
        run_script(job["source"])
    elif kind == "command":
        os.execve(job["arguments"][0], job["arguments"], job["environment"])
    elif kind == "open":
        serve_calls(job["source"], job["name"], socket.socket(fileno=kept[0]))
    elif kind == "serve":
        serve_tests(job["source"], socket.socket(fileno=kept[0]))
    else:
        hide_memory()
        sys.path.pop(0)  # the program can write modules to the folder
        serve_tasks(socket.socket(fileno=kept[0]), kept[1])


# -- A program as a script


def run_script(source: str) -> None:
    """Run a program as `python program.py` would, then end the process."""
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
    module = _module("__main__", source)
    code_of_exit = 0
    try:
        exec(_compile(source), module.__dict__)
    except SystemExit as stop:
        code_of_exit = _exit_code(stop)
    except BaseException:
        print_exception()
        code_of_exit = 1
    with suppress(BaseException):
        threading._shutdown()  # type: ignore[attr-defined]
        import atexit

        atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        code_of_exit = code_of_exit or 120  # as Python does
    with suppress(BaseException):
        sys.stderr.flush()
    os._exit(code_of_exit & 255)


def _compile(source: str) -> types.CodeType:
    return compile(source, FILE, "exec", dont_inherit=True)


def _exit_code(stop: SystemExit) -> int:
    if stop.code is None:
        return 0
    if isinstance(stop.code, int):
        return stop.code
    with suppress(BaseException):
        sys.stderr.write(f"{stop.code}\n")
    return 1


def print_exception() -> None:
    """Write the end of the traceback to stderr."""
    with suppress(BaseException):
        kind, error, trace = sys.exc_info()
        lines = traceback.format_exception(kind, error, trace and trace.tb_next, limit=-20)
        os.write(2, "".join(lines).encode("utf-8", "replace")[-4000:])


def _module(name: str, source: str) -> types.ModuleType:
    """Make the module of a program; dataclasses and pickles look it up by its name."""
    module = types.ModuleType(name)
    # Only the names that occur: to touch them all would copy the memory that a fork shares. They
    # are built-ins of this process, so that the module has what the program itself defines: tests
    # of a function `gcd` must not find the one of `math`.
    for word in set(_words(source)):
        if word in _prelude:
            setattr(builtins, word, _prelude[word])
    module.__dict__.update(__name__=name, __file__=FILE, __builtins__=builtins)
    sys.modules[name] = module
    sys.argv = [FILE]
    sys.setrecursionlimit(DEEPEST)
    linecache.cache[FILE] = (len(source), None, source.splitlines(True), FILE)
    return module


# -- A program that is called


def load(source: str) -> types.ModuleType:
    """Execute a program as a module; what it says under `if __name__ == "__main__"` is left out."""
    module = _module("solution", source)
    sys.modules["__main__"] = sys.modules["program"] = module
    sys.stdin = io.StringIO()
    try:
        exec(_compile(source), module.__dict__)
    except SystemExit as stop:
        if stop.code not in (None, 0):
            raise RuntimeError(f"the program ended with {stop.code!r}") from stop
    return module


def find(module: types.ModuleType, name: str) -> Any:
    """Return what a test calls: a function, a method of Solution, or an expression.

    A built-in is none of them, unless the program defines it anew.
    """
    if re.split(r"\W", name, maxsplit=1)[0] in ("", *vars(module)):
        with suppress(SyntaxError, NameError, AttributeError):
            return eval(name, module.__dict__)
    solution = vars(module).get("Solution")
    if solution is not None and hasattr(solution, name):
        return getattr(solution() if isinstance(solution, type) else solution, name)
    raise NameError(f"name {name!r} is not defined")


def serve_calls(source: str, name: str, connection: socket.socket) -> None:
    """Answer calls: each is a list of arguments, and the answer a value or an error."""
    _discard_output()
    try:
        function: Any = find(load(source), name)
    except BaseException as error:
        _answer(connection, "error", _last_line(error).encode())
        return
    _answer(connection, "ready", b"")
    while (data := receive(connection)) is not None:
        try:
            result = function(*decode(data))
        except BaseException as error:
            _answer(connection, "error", _last_line(error).encode("utf-8", "replace"))
            continue
        try:
            _answer(connection, "value", encode(result))
        except NotPlain as error:
            _answer(connection, "not plain", str(error).encode("utf-8", "replace"))


def _discard_output() -> None:
    sys.stdout = open(1, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115


def _answer(connection: socket.socket, kind: str, data: bytes) -> None:
    message = kind.encode() + b"\n" + data
    connection.sendall(LENGTH.pack(len(message)) + message)


def receive(connection: socket.socket) -> bytes | None:
    """Return the next message; None if the other side is gone."""
    data = bytearray()
    length = LENGTH.size
    while len(data) < length:
        part = connection.recv(min(length - len(data), 1 << 20))
        if not part:
            return None
        data += part
        if length == LENGTH.size == len(data):
            length = LENGTH.size + LENGTH.unpack(data)[0]
    return bytes(data[LENGTH.size :])


def _last_line(error: BaseException) -> str:
    with suppress(BaseException):
        return "".join(traceback.format_exception_only(type(error), error)).strip()[-2000:]
    return type(error).__name__


def serve_tests(source: str, connection: socket.socket) -> None:
    """Load a program, and do what the process of its tests asks for."""
    names: dict[str, Any] = {}
    border = Border(connection, for_tests=False, names=names)
    border.print_to()
    try:
        module = load(source)
    except BaseException as error:
        connection.sendall(LENGTH.pack(0))
        _answer(connection, "failed", _last_line(error).encode("utf-8", "replace"))
        return
    names.update(vars(module))
    border._names = module.__dict__
    _answer(connection, "ready", b"")
    border.serve()


# -- Tests


class Names(dict[str, Any]):
    """The built-ins as tests see them: what is not found there is asked of the program.

    A name that the program defines never hides a built-in, unless it is what the tests are about;
    and what the tests are about is never a built-in, unless the program defines it anew.
    """

    border: Border

    def __missing__(self, name: str) -> Any:
        if name not in self["__subjects__"]:
            if name in self["__imports__"]:
                return self["__imports__"][name]
            if name in _prelude:
                return _prelude[name]
        try:
            self[name] = self.border.ask("name", None, name)
        except NameError:
            if name in self["__imports__"]:
                return self["__imports__"][name]
            raise KeyError(name) from None
        return self[name]


# What tests may not contain if another row's tests are to run in the same process after them.
_LEAVES_SOMETHING = re.compile(
    r"\b(?:(?<!from typing )import|global|nonlocal|class|with|patch|mock|seed|setattr|delattr|sys"
    r"|os|open|exec|eval|builtins|random|globals|vars|setrecursionlimit|shuffle|np|numpy|yield"
    r"|async)\b|__|\.\w+\s*=[^=]"
)


def leaves_nothing(task: dict[str, Any]) -> bool:
    """Return whether tests change nothing of the process that they run in.

    >>> leaves_nothing({"kind": "asserts", "source": "assert f(1) == 2"})
    True
    >>> leaves_nothing({"kind": "asserts", "source": "import os\\nassert f(1) == 2"})
    False
    >>> leaves_nothing({"kind": "asserts", "source": "from typing import *\\nassert f(1) == 2"})
    True
    """
    return task["kind"] != "unittest" and not _LEAVES_SOMETHING.search(task["source"])


def serve_tasks(tasks: socket.socket, report: int) -> None:
    """Run one set of tests after the other: each comes with a socket to its program."""
    _discard_output()
    sys.setrecursionlimit(DEEPEST)
    while True:
        header, descriptors, _, _ = socket.recv_fds(tasks, LENGTH.size, 1)
        if not header or not descriptors:
            return
        data = bytearray()
        while len(data) < LENGTH.unpack(header)[0]:
            data += tasks.recv(LENGTH.unpack(header)[0] - len(data))
        with socket.socket(fileno=descriptors[0]) as connection:
            run_tests(json.loads(bytes(data)), connection, report)


def run_tests(task: dict[str, Any], connection: socket.socket, report: int) -> None:
    """Run tests against a program on the other side of a socket, and report each."""
    sys.stdin = io.StringIO()

    def report_line(kind: str, text: str = "") -> None:
        line = encode([kind, text[:2000]]) + b"\n"
        os.write(report, line)

    first = receive(connection)
    if first is None:
        report_line("ended", "the program ended before it could be called")
        report_line("done")
        return
    if first == b"":
        message = receive(connection) or b""
        report_line("load", message.partition(b"\n")[2].decode("utf-8", "replace"))
        report_line("done")
        return
    border = Border(connection, for_tests=True, names={})
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = sys.modules["__test__"] = module
    names = Names(vars(builtins), __imports__=_imports_of(task["program"]))
    names.border = border
    solution = types.ModuleType("solution")
    solution.__getattr__ = partial(_of_program, border)  # type: ignore[method-assign]
    sys.modules["solution"] = solution
    module.__dict__.update(__builtins__=names, __name__="__test__", __file__="tests.py")
    _find_subjects(names, task["subjects"])
    linecache.cache["tests.py"] = (0, None, task["source"].splitlines(True), "tests.py")
    forward_changes(border, task["source"])
    RUNNERS[task["kind"]](task, module, border, report_line)
    report_line("done")


def _find_subjects(names: Names, subjects: list[str]) -> None:
    """Ask the program for what the tests are about.

    If it has some of it, the rest may be a helper of the standard library. If it has none, tests
    that find a built-in or a function of `math` in its place would test nothing.
    """
    found = {}
    for name in subjects:
        with suppress(NameError):
            found[name] = names.border.ask("name", None, name)
    names["__subjects__"] = frozenset(found or subjects)
    for name in names["__subjects__"]:
        names.pop(name, None)
    names.update(found)


def _of_program(border: Border, name: str) -> Any:
    try:
        return border.ask("name", None, name)
    except NameError as error:
        raise AttributeError(name) from error


# Names that programs commonly import something by.
ALIASES = {
    "np": "numpy",
    "pd": "pandas",
    "plt": "matplotlib.pyplot",
    "sp": "scipy",
    "dt": "datetime",
    "nx": "networkx",
    "sns": "seaborn",
    "ET": "xml.etree.ElementTree",
    "mp": "multiprocessing",
}


def _imports_of(source: str) -> dict[str, Any]:
    """Return what a program imports under its own name, imported here: tests may use it too.

    A program that imports something else under a name that the tests know gains nothing by it.
    """
    names: dict[str, Any] = {}
    if "import" not in source:
        return names
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        for node in ast.parse(source).body:
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            kept = [
                alias
                for alias in node.names
                if alias.name != "*"
                and (alias.asname in (None, alias.name) or ALIASES.get(alias.asname) == alias.name)
            ]
            for alias in kept:
                statement = type(node)(**{**vars(node), "names": [alias]})
                with suppress(Exception):
                    exec(compile(ast.Module([statement], []), "imports", "exec"), names)
    return {name: value for name, value in names.items() if not hasattr(builtins, name)}


def _run_asserts(
    task: dict[str, Any], module: types.ModuleType, border: Border, report_line: Any
) -> None:
    """Run statements one by one; those that assert something are tests."""
    for statement in task["statements"]:
        code = compile(statement, "tests.py", "exec", dont_inherit=True)
        is_test = statement.startswith("assert ") or (
            "assert" in statement
            and any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(statement)))
        )
        passed = _attempt(partial(exec, code, module.__dict__), report_line, is_test)
        if not passed and not task["partial"]:
            return


def _run_check(
    task: dict[str, Any], module: types.ModuleType, border: Border, report_line: Any
) -> None:
    if not _attempt(lambda: exec(_compiled(task), module.__dict__), report_line, is_test=False):
        return
    check = module.__dict__.get("check")
    if not callable(check):
        report_line("bad tests", "the tests define no function check")
        return
    entry = task["entry_point"]

    def candidate() -> Any:
        return eval(entry, module.__dict__)

    _attempt(lambda: check(candidate()), report_line, is_test=True)


def _run_unittest(
    task: dict[str, Any], module: types.ModuleType, border: Border, report_line: Any
) -> None:
    import unittest

    if not _attempt(lambda: exec(_compiled(task), module.__dict__), report_line, is_test=False):
        return
    loader = unittest.TestLoader()
    kinds = [
        value
        for value in list(vars(module).values())
        if type(value) is type and issubclass(value, unittest.TestCase)
    ]
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(kind) for kind in kinds)
    plain = [
        value
        for name, value in vars(module).items()
        if name.startswith("test") and isinstance(value, types.FunctionType)
    ]
    suite.addTests(unittest.FunctionTestCase(test) for test in plain)

    class Result(unittest.TestResult):
        def addSuccess(self, test: Any) -> None:  # noqa: N802
            report_line("passed", str(test))

        def addSkip(self, test: Any, reason: str) -> None:  # noqa: N802
            report_line("skipped", str(test))

        def addError(self, test: Any, error: Any) -> None:  # noqa: N802
            report_line(*_failure(error[1], f"{test}: "))
            if not task["partial"]:
                self.stop()

        def addFailure(self, test: Any, error: Any) -> None:  # noqa: N802
            self.addError(test, error)

        def addSubTest(self, test: Any, subtest: Any, error: Any) -> None:  # noqa: N802
            if error is not None:
                self.addError(subtest, error)

        def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802
            report_line("failed", f"{test}: an unexpected success")

    result = Result()
    suite.run(result)


RUNNERS: dict[str, Callable[..., None]] = {
    "asserts": _run_asserts,
    "check": _run_check,
    "unittest": _run_unittest,
}


def _compiled(task: dict[str, Any]) -> types.CodeType:
    return compile(task["source"], "tests.py", "exec", dont_inherit=True)


def _attempt(action: Callable[[], Any], report_line: Any, is_test: bool) -> bool:
    try:
        action()
    except BaseException as error:
        report_line(*_failure(error, ""))
        return False
    if is_test:
        report_line("passed")
    return True


def _failure(error: BaseException, where: str) -> tuple[str, str]:
    if isinstance(error, Closed):
        return "ended", "the program ended while it was called"
    if isinstance(error, BrokenProgram):
        return "failed", f"{where}{error}"
    kind = "raised" if getattr(error, "_from_program_", False) else "failed"
    text = _last_line(error)
    if isinstance(error, AssertionError) and kind == "failed":
        line = _line_of_tests(error)
        text = f"{text}: {line}" if line and text == "AssertionError" else text
    return kind, where + text


def _line_of_tests(error: BaseException) -> str:
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename == "tests.py":
            return (frame.line or "").strip()[:300]
    return ""
