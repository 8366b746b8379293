"""Compile and run programs, and compare what they do with what is expected, as contests do.

Results are cached, and the test that failed last time runs first.

The expected outputs and values stay in this process. What a box sends is data to compare.
"""

import json
import math
import re
import shutil
import subprocess
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from plaudit.inputs.errors import describe_and_log
from plaudit.processes import cores
from plaudit.rewards.code._tests import CallTests, SourceTests, StdinTests, Tests
from plaudit.sandbox import (
    SLOW_RUNS,
    Limits,
    NotPlain,
    Outcome,
    Pool,
    SandboxError,
    Session,
    decode,
    encode,
    level,
    pool_for,
    starved,
)

COMPILE_SECONDS = 60.0


@dataclass(frozen=True)
class Language:
    """How a program is compiled and run.

    tools: what must be installed; the first is called
    file: the name of its source
    compile: the arguments of the compiler; () if it needs none
    run: what runs it
    memory: MiB of address space that its runtime needs; 0 if the limit of the reward will do
    """

    tools: tuple[str, ...]
    file: str
    compile: tuple[str, ...]
    run: tuple[str, ...]
    memory: int = 0


LANGUAGES = {
    "c": Language(("gcc",), "program.c", ("-O2", "-o", "program", "program.c", "-lm"), ()),
    "cpp": Language(("g++",), "program.cpp", ("-O2", "-o", "program", "program.cpp"), ()),
    "rust": Language(("rustc",), "program.rs", ("-O", "-o", "program", "program.rs"), ()),
    "go": Language(("go",), "program.go", ("build", "-o", "program", "program.go"), (), 4096),
    "java": Language(
        ("javac", "java"), "Main.java", ("Main.java",), ("java", "-Xmx512m", "Main"), 16384
    ),
    "javascript": Language(("node",), "program.js", (), ("node", "program.js"), 16384),
}


def memory_of(language: str) -> int | None:
    """Return the address space that a language needs; None if the limit of the reward will do."""
    return LANGUAGES[language].memory or None


def installed(language: str) -> bool:
    """Return whether this machine can run programs in a language.

    >>> installed("python")
    True
    """
    known = LANGUAGES.get(language)
    return language == "python" or (known is not None and all(map(shutil.which, known.tools)))


def compile_program(session: Session, language: str, source: str) -> list[str] | str:
    """Compile a program; return the command that runs it, or why there is none."""
    if not installed(language):
        known = LANGUAGES.get(language)
        return f"no {' and '.join(known.tools) if known else language} is installed"
    how = LANGUAGES[language]
    compiler = _tool(how.tools[0])
    arguments = [compiler, *how.compile] if how.compile else ["/bin/true"]
    outcome = session.command(
        *(arguments, "", {how.file: source}), seconds=COMPILE_SECONDS, memory=16384
    )
    if outcome.end != "exit" or outcome.code:
        errors = [line for line in outcome.stderr.splitlines() if "error" in line]
        return f"it does not compile: {(errors or [outcome.stderr.strip()[-200:]])[0][:300]}"
    if not how.run:
        return ["./program"]
    return [_tool(how.run[0]), *how.run[1:]]


@cache
def _tool(name: str) -> str:
    """Return the path of a compiler; behind rustup's own `rustc`, that of the toolchain."""
    path = str(shutil.which(name))
    if name == "rustc":
        asked = subprocess.run([path, "--print", "sysroot"], capture_output=True, text=True)
        inside = Path(asked.stdout.strip()) / "bin" / name
        return str(inside) if asked.returncode == 0 and inside.exists() else path
    return path


# --- comparing outputs ----------------------------------------------------------------------------

TOLERANCE = 1e-6  # absolute or relative, as judges of contests allow for numbers with a point
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)


def same_output(got: str, expected: str) -> bool:
    r"""Return whether two outputs have the same tokens in each line.

    White space at the ends of lines and empty lines do not count. A number with a point may be off
    by 1e-6, absolute or relative; a whole number must be the same.

    >>> same_output("1 2 \n0.3333333\n", "1 2\n0.33333333333")
    True
    >>> same_output("6.0", "6"), same_output("nan", "1.5"), same_output("2000000001", "2000000000")
    (False, False, False)
    """
    got_lines, expected_lines = _lines(got), _lines(expected)
    if got_lines == expected_lines:
        return True
    if len(got_lines) != len(expected_lines):
        return False
    return all(
        one == other
        or (len(a := one.split()) == len(b := other.split()) and all(map(_same_token, a, b)))
        for one, other in zip(got_lines, expected_lines, strict=True)
    )


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.split("\n")) if line]


def _same_token(got: str, expected: str) -> bool:
    if got == expected:
        return True
    if _INTEGER.fullmatch(expected) or not _NUMBER.fullmatch(expected):
        return False
    return bool(_NUMBER.fullmatch(got)) and _close(float(got), float(expected))


def _close(got: float, expected: float) -> bool:
    if not (math.isfinite(got) and math.isfinite(expected)):
        return got == expected
    return abs(got - expected) <= TOLERANCE * max(1.0, abs(expected))


def same_value(got: Any, expected: Any, wrapped: bool = True) -> bool:
    """Return whether a call returned the right value, which comes from JSON.

    Numbers of any type are equal if their values are; a tuple is as good as a list, and a key of a
    dict as its text, since JSON has neither tuples nor other keys.

    wrapped: whether a list of one may stand for what it holds

    >>> same_value((1, 2), [1, 2]), same_value({1: 2.0}, {"1": 2}), same_value(3, [3])
    (True, True, True)
    >>> same_value([1, 2], [1, 3]), same_value(1, [1, 2])
    (False, False)
    """
    is_wrapped = wrapped and isinstance(expected, list) and len(expected) == 1
    try:
        return _same(got, expected) or (is_wrapped and _same(got, expected[0]))
    except (
        ArithmeticError,
        ValueError,
        TypeError,
        RecursionError,
    ):  # a signalling NaN, and the like
        return False


def _same(got: Any, expected: Any) -> bool:
    if hasattr(got, "tolist") and type(got).__module__ == "numpy":
        got = got.tolist()
    if isinstance(expected, list | tuple):
        is_list = isinstance(got, list | tuple)
        return is_list and len(got) == len(expected) and all(map(_same, got, expected))
    if isinstance(expected, dict):
        return isinstance(got, dict) and _same_dict(got, expected)
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        return bool(got == expected)
    if isinstance(expected, float) and isinstance(got, int | float | Decimal | Fraction):
        return bool(got == expected) or _close_numbers(got, expected)
    return bool(got == expected)


def _close_numbers(got: Any, expected: float) -> bool:
    try:
        number = float(got)
    except (OverflowError, ValueError):
        return False
    return (math.isnan(number) and math.isnan(expected)) or _close(number, expected)


def _same_dict(got: dict[Any, Any], expected: dict[Any, Any]) -> bool:
    if len(got) != len(expected):
        return False
    if all(isinstance(key, str) for key in expected):
        got = {key if isinstance(key, str) else str(key): value for key, value in got.items()}
    return all(key in got and _same(got[key], value) for key, value in expected.items())


CACHED = 50_000
# Modules of the standard library that take long to import, and that few programs use.
HEAVY = ("asyncio", "multiprocessing", "unittest.mock", "tempfile", "subprocess")
SHOWN = 160  # characters of an input or an output that a reason shows
Checker = Callable[[str, str, str], bool]


@dataclass(frozen=True)
class Result:
    """What came of a program and its tests.

    status: "equal", "different", "exception", "timeout", "limit", "bad_gold", "error", "no_answer"
    passed, total: how many tests it passed, of how many
    why: the first failure, for a person
    isolation: what kept the program in
    """

    status: str
    passed: int
    total: int
    why: str
    isolation: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Task:
    """A program with its tests and the settings of the reward."""

    source: str
    language: str
    tests: Tests
    partial: bool
    limits: Limits
    isolation: str
    packages: tuple[str, ...]
    checker: Checker | None = None

    def key(self) -> bytes:
        """Return what tells it from others."""
        settings = (self.language, self.tests, self.partial, self.limits, self.isolation)
        text = repr((self.source, settings, self.packages, id(self.checker)))
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class _FailedTest(Exception):  # noqa: N818
    """The first test that failed, and how."""

    def __init__(self, status: str, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


_cache: OrderedDict[bytes, Result] = OrderedDict()
_failed_last: OrderedDict[bytes, int] = OrderedDict()  # of these tests
_lock = threading.Lock()


def run_all(tasks: list[Task]) -> list[Result]:
    """Return what comes of each; the same program with the same tests runs once."""
    keys = [task.key() for task in tasks]
    wanted: dict[bytes, Task] = {}
    found: dict[bytes, Result] = {}
    with _lock:
        for key, task in zip(keys, tasks, strict=True):
            if key in _cache:
                _cache.move_to_end(key)
                found[key] = _cache[key]
            else:
                wanted.setdefault(key, task)
    if wanted:
        found |= _run_wanted(wanted)
    return [found[key] for key in keys]


def _pool_of(task: Task) -> Pool:
    """Return the boxes for a task: with everything imported if it mentions any of it, else lean."""
    heavy = (*task.packages, *HEAVY)
    text = task.source + (task.tests.source if isinstance(task.tests, SourceTests) else "")
    needed = any(name.partition(".")[0] in text for name in heavy)
    return pool_for(task.isolation, heavy if needed else (), task.limits)


def _run_wanted(wanted: dict[bytes, Task]) -> dict[bytes, Result]:
    pools = {_pool_of(task) for task in wanted.values()}
    executor = ThreadPoolExecutor(min(len(wanted), cores() + SLOW_RUNS), "plaudit-code")
    futures: dict[bytes, Future[Result]] = {}
    stopped = threading.Event()
    try:
        futures = {key: executor.submit(_run, task, stopped) for key, task in wanted.items()}
        results = {key: future.result() for key, future in futures.items()}
    except BaseException:  # Ctrl-C: nothing is left running
        stopped.set()
        executor.shutdown(wait=False, cancel_futures=True)
        for pool in pools:
            pool.stop_runs()
        raise
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
    with _lock:
        for key, result in results.items():
            if result.status != "error":
                _cache[key] = result
        while len(_cache) > CACHED:
            _cache.popitem(last=False)
    return results


def _run(task: Task, stopped: threading.Event) -> Result:
    """Run one program; once more if its box failed."""
    for attempt in range(2):
        pool = _pool_of(task)
        try:
            with pool.session(task.limits) as session:
                result = _run_in(session, task)
            return replace(result, isolation=level(pool.layers))
        except SandboxError as error:
            if attempt or stopped.is_set():
                return Result("error", 0, 0, f"The sandbox failed: {error}", level(pool.layers))
        except Exception as error:  # it costs one row, never the batch
            return Result("error", 0, 0, describe_and_log(error), level(pool.layers))
    raise AssertionError


def _run_in(session: Session, task: Task) -> Result:
    if isinstance(task.tests, SourceTests):
        return _run_source(session, task, task.tests)
    count = len(task.tests.cases)
    try:
        attempt = (
            _Calls(session, task, task.tests).attempt
            if isinstance(task.tests, CallTests)
            else _scripts(session, task, task.tests)
        )
    except _FailedTest as failure:
        return Result(failure.status, 0, count, failure.why)
    passed = 0
    first: tuple[int, str, str] | None = None
    for index in _order(task, count):
        try:
            attempt(index)
            passed += 1
        except _FailedTest as failure:
            first = first or (index, failure.status, failure.why)
            _remember_failure(task, index)
            if not task.partial or failure.status == "timeout":
                break
    if first is None:
        return Result("equal", passed, count, f"All {count} tests pass.")
    index, status, why = first
    return Result(status, passed, count, f"Test {index + 1} of {count}: {why}")


def _order(task: Task, count: int) -> list[int]:
    """Return the tests, the one that failed last time first."""
    with _lock:
        last = _failed_last.get(_tests_key(task))
    order = list(range(count))
    if last is not None and last < count:
        order.remove(last)
        order.insert(0, last)
    return order


def _tests_key(task: Task) -> bytes:
    return blake2b(repr(task.tests).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _remember_failure(task: Task, index: int) -> None:
    with _lock:
        _failed_last[_tests_key(task)] = index
        while len(_failed_last) > CACHED:
            _failed_last.popitem(last=False)


# -- stdin


def _scripts(session: Session, task: Task, tests: StdinTests) -> Callable[[int], None]:
    """Return a function that runs one test and raises if it fails."""
    language = task.language or tests.language or "python"
    run: Callable[[str, str], Outcome] = session.script
    if language != "python":
        command = compile_program(session, language, task.source)
        if isinstance(command, str):
            status = "error" if command.startswith("no ") else "exception"
            raise _FailedTest(status, command)
        memory = memory_of(language)
        run = lambda _, stdin: session.command(command, stdin, memory=memory)  # noqa: E731

    def attempt(index: int) -> None:
        stdin, accepted = tests.cases[index]
        outcome = run(task.source, stdin)
        if starved(outcome):
            with session.alone():
                outcome = run(task.source, stdin)
        _check_outcome(outcome, task.limits)
        got = outcome.stdout
        if task.checker is not None:
            right = _checked(task.checker, stdin, accepted, got)
        else:
            right = any(same_output(got, expected) for expected in accepted)
        if not right:
            raise _FailedTest(
                "different",
                f"the input {_short(stdin)} gives {_short(got)}, expected {_short(accepted[0])}.",
            )

    return attempt


def _checked(checker: Checker, stdin: str, accepted: Sequence[str], got: str) -> bool:
    """Ask the user's function. What it cannot read is wrong, if it reads an expected output."""
    try:
        return any(checker(stdin, expected, got) is True for expected in accepted)
    except Exception as error:
        problem = f"the checker raised {type(error).__name__}: {error}."
    try:
        checker(stdin, accepted[0], accepted[0])
    except Exception:
        raise _FailedTest("error", problem) from None
    raise _FailedTest("different", problem)


def _check_outcome(outcome: Outcome, limits: Limits) -> None:
    """Raise if a run did not end well."""
    if outcome.end in ("time", "wall"):
        raise _FailedTest("timeout", _time_used(outcome, limits))
    if outcome.end == "output":
        raise _FailedTest("limit", f"it printed more than {limits.output} MiB.")
    last = _last_line(outcome.stderr)
    if _is_memory(last):
        peak = outcome.memory / (1 << 20)
        raise _FailedTest("limit", f"it needs more than {limits.memory} MiB; it had {peak:.0f}.")
    if outcome.end == "signal":
        raise _FailedTest("exception", f"the program died of signal {-outcome.code}.")
    if outcome.code:
        raise _FailedTest("exception", last or f"the program ended with code {outcome.code}.")


def _is_memory(line: str) -> bool:
    return line.startswith(("MemoryError", "numpy._core._exceptions._ArrayMemoryError"))


def _time_used(outcome: Outcome, limits: Limits) -> str:
    if outcome.end == "wall":
        passed = f"{outcome.seconds:.1f} s passed"
        return f"it did not end: {passed}, of which it used {outcome.cpu:.1f} s of CPU time."
    return f"it used more than {limits.seconds:g} s of CPU time."


# -- Calls


class _Calls:
    """A program whose function is called; it is loaded again after it died."""

    def __init__(self, session: Session, task: Task, tests: CallTests) -> None:
        self._session, self._task, self._tests = session, task, tests
        self._open = False

    def attempt(self, index: int) -> None:
        """Run one test; raise if it fails."""
        arguments, expected = self._tests.cases[index]
        shown = f"{self._tests.name}({', '.join(_short(json_text(a)) for a in arguments)})"
        if not self._open:
            self._check(*self._session.open(self._task.source, self._tests.name), "loading it")
            self._open = True
        kind, text, outcome = self._session.call(encode(arguments))
        self._check(kind, text, outcome, shown)
        if kind == "not plain":
            raise _FailedTest("different", f"{shown} returns no plain data: {text}.")
        try:
            got = decode(text.encode("utf-8", "surrogateescape"))
        except NotPlain as error:
            raise _FailedTest(
                "different", f"{shown} returns what cannot be read: {error}."
            ) from error
        if not same_value(got, expected, self._tests.wrapped):
            shown_values = f"{_shown(got)}, expected {_short(json_text(expected))}"
            raise _FailedTest("different", f"{shown} gives {shown_values}.")

    def _check(self, kind: str, text: str, outcome: Outcome | None, where: str) -> None:
        if outcome is not None or kind == "ended":
            self._open = False
            if outcome is not None:
                _check_outcome(outcome, self._task.limits)
            raise _FailedTest("exception", f"{where}: the program ended before it answered.")
        if kind == "error":
            status = "limit" if _is_memory(_last_line(text)) else "exception"
            raise _FailedTest(status, f"{where}: {_last_line(text)}")


def json_text(value: Any) -> str:
    """Return a value of JSON as text."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        return _shown(value)


def _shown(value: Any) -> str:
    try:
        return _short(repr(value))
    except (ValueError, RecursionError):
        return f"a value of the type {type(value).__name__} that is too long to show"


# -- Tests that are Python


def _run_source(session: Session, task: Task, tests: SourceTests) -> Result:
    prompt = f"{tests.prompt}\n" if tests.prompt else ""
    future, program = _future_imports(task.source)
    details = {
        "kind": tests.kind,
        "source": tests.source,
        "statements": tests.statements,
        "entry_point": tests.entry_point,
        "partial": task.partial,
        "prompt": tests.prompt,
        "subjects": tests.subjects(task.source),
        "program": task.source,
        "count": _count(tests),
    }
    source = future + prompt + program
    ran, program_outcome = session.tests(source, details)
    if starved(ran, program_outcome):
        session.wipe()
        with session.alone():
            ran, program_outcome = session.tests(source, details)
    return _result_of_report(ran, program_outcome, task, tests)


def _future_imports(source: str) -> tuple[str, str]:
    """Return the imports from __future__, which must stand first, and the remainder."""
    lines = source.splitlines(keepends=True)
    future = [line for line in lines if line.startswith("from __future__ import")]
    return "".join(future), "".join(line for line in lines if line not in future)


def _result_of_report(ran: Outcome, program: Outcome, task: Task, tests: SourceTests) -> Result:
    reports = [_read_report(line) for line in ran.report.splitlines()]
    passed = sum(kind == "passed" for kind, _ in reports)
    failures = [(kind, text) for kind, text in reports if kind not in ("passed", "skipped", "done")]
    total = max(_count(tests), passed + len(failures))
    limits = task.limits
    if not failures and reports[-1:] == [("done", "")] and ran.end == "exit" and ran.code == 0:
        if passed:
            return Result("equal", passed, passed, f"All {passed} tests pass.")
        return Result("different", 0, total, "No test ran: all were skipped.")
    if failures and failures[0][0] == "bad tests":
        return Result("bad_gold", 0, total, failures[0][1])
    for outcome in (program, ran):
        if outcome.end in ("time", "wall", "output"):
            is_time = outcome.end != "output"
            why = _time_used(outcome, limits) if is_time else "it printed too much."
            status = "timeout" if is_time else "limit"
            return Result(status, passed, total, f"After {passed} tests: {why}")
    kind, text = failures[0] if failures else ("ended", "The tests did not come to an end.")
    if kind == "ended" and program.end == "signal" and program.code != -9:
        text = f"the program died of signal {-program.code}"
    status = "different" if kind == "failed" else "limit" if _is_memory(text) else "exception"
    return Result(status, passed, total, f"After {passed} tests: {text}.")


def _count(tests: SourceTests) -> int:
    """Return about how many tests there are."""
    if tests.kind == "unittest":
        return max(1, len(re.findall(r"^\s*(?:async\s+)?def test", tests.source, re.MULTILINE)))
    return max(1, sum("assert" in statement for statement in tests.statements))


def _read_report(line: str) -> tuple[str, str]:
    kind, text = json.loads(line)
    return str(kind), str(text)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:300] if lines else ""


def _short(text: str) -> str:
    text = text.strip()
    shown = text if len(text) <= SHOWN else f"{text[: SHOWN // 2]} … {text[-SHOWN // 2 :]}"
    return json.dumps(shown, ensure_ascii=False) if "\n" in shown or not shown else shown


def share(result: Result) -> float:
    """Return the share of the tests that passed.

    >>> share(Result("different", 1, 4, ""))
    0.25
    """
    return result.passed / result.total if result.total else math.nan
