"""The tests of a row, in any of the shapes that datasets have, as one of three kinds.

    {"inputs": ["1 2\\n"], "outputs": ["3\\n"]}                        -> StdinTests
    [{"input": "1 2\\n", "output": "3\\n", "testtype": "stdin"}]       -> StdinTests
    {"fn_name": "add", "inputs": [[1, 2]], "outputs": [3]}            -> CallTests
    ["assert add(1, 2) == 3"]                                         -> SourceTests
    {"test": "def check(candidate): …", "entry_point": "add"}         -> SourceTests
    {"unittest": "class T(unittest.TestCase): …"}                     -> SourceTests

Each may also be JSON text. Outputs are expected values: they never leave this process.
"""

import ast
import builtins
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from plaudit.inputs.columns import plain, shortened
from plaudit.inputs.parsing import syntax_tree
from plaudit.sandbox import library_names

_NAMES = ("fn_name", "func_name", "function_name")
_DEFINED = re.compile(
    r"^(?:async\s+def|def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE
)
# What tests call on a result: a program that defines one of these anew is seldom asked for it.
_HELPERS = frozenset(dir(builtins)) | frozenset(
    "string re datetime collections heapq bisect copy math random statistics itertools functools "
    "operator io sys os json time typing decimal fractions isclose inf pi Counter "
    "defaultdict deque OrderedDict namedtuple List Dict Tuple Set Optional Any np numpy".split()
)


class BadTests(ValueError):  # noqa: N818
    """The tests of a row cannot be read."""


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True)
class StdinTests:
    """Inputs, and for each the outputs of which one is right."""

    cases: tuple[tuple[str, tuple[str, ...]], ...]
    language: str = ""


@dataclass(frozen=True)
class CallTests:
    """Lists of arguments, and for each the value that is right.

    wrapped: whether a list of one may stand for what it holds, as in APPS and TACO
    """

    name: str
    cases: tuple[tuple[list[Any], Any], ...]
    wrapped: bool = True


@dataclass(frozen=True)
class SourceTests:
    """Python source that tests a program.

    kind: "asserts", "check" or "unittest"
    statements: for asserts, the statements one by one
    entry_point: for check, what is passed to it
    prompt: code that stands before the program
    """

    kind: str
    source: str
    statements: tuple[str, ...] = ()
    entry_point: str = ""
    prompt: str = ""

    def subjects(self, program: str) -> list[str]:
        """Return the names that the tests are about, which the program has to define.

        A program that redefines `abs` changes nothing for tests that call `abs` on its result; one
        that defines nothing does not pass tests of a function that is called `gcd` or `max`.
        """
        if self.entry_point:
            return [self.entry_point] if self.entry_point.isidentifier() else []
        used = _used_in(self.source)
        defined = {first or second for first, second in _DEFINED.findall(program)} & used
        if defined - _HELPERS:
            return sorted(defined - _HELPERS)
        others = used - _HELPERS
        if others - library_names().keys():
            return sorted(defined)
        return sorted(others & _innermost_calls(self.source) or others or defined or used)


Tests = StdinTests | CallTests | SourceTests


def read_tests(tests: Any) -> Tests:
    """Return the tests of a row, or raise BadTests."""
    tests = plain(tests)
    if isinstance(tests, str):
        return _read_text(tests)
    if isinstance(tests, bytes):
        return _read_text(tests.decode("utf-8", "replace"))
    if isinstance(tests, Mapping):
        return _read_mapping({key: plain(value) for key, value in tests.items()})
    if isinstance(tests, list | tuple):
        return _read_list([plain(test) for test in tests])
    raise BadTests(f"tests must be a table, a list or text, got {shortened(tests)}")


@lru_cache(maxsize=512)
def _read_text(text: str) -> Tests:
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        try:
            return read_tests(json.loads(stripped))
        except ValueError as error:
            if isinstance(error, BadTests):
                raise
    if not stripped:
        raise BadTests("there are no tests")
    return _read_source(text)


def _read_source(
    text: str, entry_point: str = "", prompt: str = "", statements: tuple[str, ...] = ()
) -> SourceTests:
    try:
        tree: ast.Module = syntax_tree(text)
    except ValueError as error:
        raise BadTests(f"the tests are no Python: {error}") from error
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    if "check" in functions and entry_point:
        return SourceTests("check", text, (), entry_point, prompt)
    if "check" in functions and (called := _called_check(tree)):
        return SourceTests("check", text, (), called, prompt)
    is_test = any(_is_test_case(node) for node in classes)
    if is_test or any(name.startswith("test") for name in functions):
        return SourceTests("unittest", text, (), "", prompt)
    if not any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
        raise BadTests("the tests assert nothing")
    return SourceTests("asserts", text, statements or _statements(text, tree), "", prompt)


def _statements(text: str, tree: ast.Module) -> tuple[str, ...]:
    """Return the source of each, as `ast.get_source_segment`, which splits the text every time."""
    lines = [line.encode("utf-8", "surrogatepass") for line in _LINE.findall(text)]
    found = []
    for node in tree.body:
        part = lines[node.lineno - 1 : node.end_lineno]
        part[-1] = part[-1][: node.end_col_offset]
        part[0] = part[0][node.col_offset :]
        found.append(b"".join(part).decode("utf-8", "surrogatepass"))
    return tuple(found)


def _called_check(tree: ast.Module) -> str:
    """Return what the tests themselves pass to `check`."""
    for node in tree.body:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            if isinstance(call.func, ast.Name) and call.func.id == "check" and call.args:
                return ast.unparse(call.args[0])
    return ""


def _is_test_case(node: ast.ClassDef) -> bool:
    names = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
    return any("TestCase" in name for name in names) or node.name.startswith("Test")


def _read_mapping(tests: dict[str, Any]) -> Tests:
    for inner in ("verification_info", "input_output", "ground_truth", "private_test_cases"):
        if tests.get(inner):
            return read_tests(tests[inner])
    name = next((tests[key] for key in _NAMES if tests.get(key)), "")
    if "inputs" in tests and "outputs" in tests:
        return _read_columns(tests["inputs"], tests["outputs"], name)
    if "input" in tests and "output" in tests and isinstance(tests["input"], list):
        return _read_columns(tests["input"], tests["output"], name)
    prompt = str(tests.get("prompt") or tests.get("test_setup_code") or "")
    if tests.get("test_cases"):
        return _read_list(list(tests["test_cases"]), name, str(tests.get("language") or ""))
    if isinstance(tests.get("test_list"), list):
        setup = [line for line in tests.get("test_imports") or [] if isinstance(line, str)]
        return _read_statements([*setup, *([prompt] if prompt else []), *tests["test_list"]])
    for key in ("unittest", "test", "test_code", "tests", "functional", "assert_case"):
        if isinstance(tests.get(key), str):
            return _read_source(tests[key], str(tests.get("entry_point") or ""), prompt)
        if isinstance(tests.get(key), list):
            return _read_list(list(tests[key]), name)
    found = ", ".join(map(str, list(tests)[:8])) or "nothing"
    raise BadTests(f"tests must have inputs and outputs, test, unittest or test_cases, got {found}")


def _read_list(tests: list[Any], name: str = "", language: str = "") -> Tests:
    if not tests:
        raise BadTests("there are no tests")
    if all(isinstance(test, str) for test in tests):
        if all(test.lstrip().startswith("{") for test in tests):
            return _read_list([_loads(test) for test in tests], name, language)
        return _read_statements(tests)
    cases = []
    for index, test in enumerate(tests):
        if not isinstance(test, Mapping) or "input" not in test:
            raise BadTests(f"test {index} must have input and output, got {shortened(test)}")
        name = name or _function_of(test)
        accepted = test.get("outputs", test.get("output", test.get("expected_output")))
        if accepted is None:
            raise BadTests(f"test {index} has no output")
        several = isinstance(accepted, list) and "outputs" in test
        cases.append((plain(test["input"]), accepted if several else [accepted]))
    if name:
        pairs = [(_arguments(entry), _value(entry, right[0])) for entry, right in cases]
        return CallTests(name, tuple(pairs))
    known = "" if language.lower() in ("python", "python3", "py") else language.lower()
    return StdinTests(
        tuple((_lines(entry), tuple(map(_lines, right))) for entry, right in cases), known
    )


def _function_of(test: Mapping[str, Any]) -> str:
    details = test.get("metadata")
    details = _loads(details) if isinstance(details, str) and details.strip() else details
    for holder in (test, details if isinstance(details, Mapping) else {}):
        for key in _NAMES:
            if holder.get(key):
                return str(holder[key])
    return ""


def _read_columns(inputs: Any, outputs: Any, name: str) -> Tests:
    inputs, outputs = plain(inputs), plain(outputs)
    if not isinstance(inputs, list) or not isinstance(outputs, list):
        raise BadTests("inputs and outputs must be lists")
    if len(inputs) != len(outputs):
        raise BadTests(f"there are {len(inputs)} inputs and {len(outputs)} outputs")
    if not inputs:
        raise BadTests("there are no tests")
    if name:
        pairs = zip(inputs, outputs, strict=True)
        return CallTests(
            name, tuple((_arguments(entry), _value(entry, out)) for entry, out in pairs)
        )
    pairs = zip(inputs, outputs, strict=True)
    return StdinTests(tuple((_lines(entry), (_lines(out),)) for entry, out in pairs))


def _read_statements(tests: list[Any]) -> SourceTests:
    texts = [str(test).strip() for test in tests if str(test).strip()]
    source = "\n".join(texts)
    return _read_source(source, statements=tuple(texts))


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadTests(f"the tests are no JSON: {error}") from error


def _lines(value: Any) -> str:
    """Return an input or an output as text: APPS has lists of lines, others numbers."""
    value = plain(value)
    if isinstance(value, list):
        return "\n".join(map(_lines, value))
    return value if isinstance(value, str) else str(value)


def _arguments(entry: Any) -> list[Any]:
    """Return the arguments of a call: a list, or text with a JSON value in each line."""
    entry = plain(entry)
    if isinstance(entry, str):
        try:
            return [json.loads(line) for line in entry.split("\n") if line.strip()]
        except ValueError:
            return [entry]
    return list(entry) if isinstance(entry, list) else [entry]


def _value(entry: Any, expected: Any) -> Any:
    """Return the right value of a call: JSON if the arguments are text."""
    expected = plain(expected)
    if isinstance(expected, str) and isinstance(plain(entry), str):
        try:
            return json.loads(expected)
        except ValueError:
            return expected
    return expected


@lru_cache(maxsize=512)
def _used_in(source: str) -> frozenset[str]:
    """Return the names that tests use and do not define themselves."""
    used: set[str] = set()
    own: set[str] = set()
    for node in ast.walk(syntax_tree(source)):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else own).add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            own.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            own |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.arg):
            own.add(node.arg)
    return frozenset(used - own)


@lru_cache(maxsize=512)
def _innermost_calls(source: str) -> frozenset[str]:
    """Return the functions that tests call on plain values, not on the result of another call."""
    calls = (node for node in ast.walk(syntax_tree(source)) if isinstance(node, ast.Call))
    return frozenset(
        call.func.id
        for call in calls
        if isinstance(call.func, ast.Name)
        and sum(isinstance(node, ast.Call) for node in ast.walk(call)) == 1
    )


# --- what tests show ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Examples:
    """What the tests of a row show of a right program, for those who audit a reward.

    names: the functions that the tests call; none for stdin
    cases: inputs and outputs, for stdin
    program: a program that passes by looking up what each test expects; "" if the tests compare
        with something other than constants
    """

    names: tuple[str, ...] = ()
    cases: tuple[tuple[str, str], ...] = ()
    program: str = ""


def examples_of(tests: Any) -> Examples:
    """Return what the tests of a row show; raise BadTests if they cannot be read.

    >>> print(examples_of(["assert add(1, 2) == 3"]).program, end="")
    _RESULTS = {'add([1, 2])': 3}
    def add(*args):
        return _RESULTS[f'add({list(args)!r})']
    """
    read = read_tests(tests)
    if isinstance(read, StdinTests):
        cases = tuple((stdin, accepted[0]) for stdin, accepted in read.cases)
        source = f"import sys\nprint({dict(cases)!r}[sys.stdin.read()])\n"
        return Examples((), cases, source)
    if isinstance(read, CallTests):
        results = {_call_key(read.name, arguments): value for arguments, value in read.cases}
        return Examples((read.name,), (), _lookup_program([read.name], results))
    return _examples_of_source(read)


def _call_key(name: str, arguments: list[Any]) -> str:
    return f"{name}({arguments!r})"


def _lookup_program(names: list[str], results: Mapping[str, Any]) -> str:
    functions = (
        f"def {name}(*args):\n    return _RESULTS[f'{name}({{list(args)!r}})']\n" for name in names
    )
    return f"_RESULTS = {results!r}\n" + "".join(functions)


def _examples_of_source(tests: SourceTests) -> Examples:
    """Return the calls that are compared with constants, by `==` or `assertEqual`."""
    tree = syntax_tree(tests.source)
    names, results, complete = [], {}, True
    for node in ast.walk(tree):
        compared = _compared(node)
        if compared is None:
            complete = complete and not isinstance(node, ast.Assert)
            continue
        call, expected = compared
        name = tests.entry_point if call.func.id == "candidate" else call.func.id  # type: ignore[attr-defined]
        names.append(name)
        try:
            arguments = [ast.literal_eval(one) for one in call.args]
            results[_call_key(name, arguments)] = ast.literal_eval(expected)
        except ValueError:
            complete = False
    known = [name for name in dict.fromkeys(names) if name.isidentifier()]
    is_complete = complete and bool(results) and len(known) == len(set(names))
    return Examples(tuple(known), (), _lookup_program(known, results) if is_complete else "")


def _compared(node: ast.AST) -> tuple[ast.Call, ast.expr] | None:
    """Return a call of a function by its name, and what its result is compared with."""
    if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare):
        ops, sides = node.test.ops, [node.test.left, *node.test.comparators]
        sides = sides if len(sides) == 2 and isinstance(ops[0], ast.Eq) else []
    elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "assertEqual":
        sides = node.args[:2]
    else:
        return None
    if len(sides) != 2 or not isinstance(sides[0], ast.Call):
        return None
    call = sides[0]
    return (call, sides[1]) if isinstance(call.func, ast.Name) and not call.keywords else None
