"""Attacks on rewards of one kind of task: programs, and instructions.

Programs pass without solving anything. They are played against a user's own reward, which may have
no sandbox: none of them touches a file, the network or another process. What a sandbox has to stop
beyond these is in `docs/code.md`.

The constraints of instructions are met around nothing. Checkers of instructions never look at the
content, so what these earn is what a model may earn without an answer. A gate closes that, see
`docs/instructions.md`.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from plaudit.reports.audit._attack import Case, Completions, attack
from plaudit.reports.honest_answers import GoldKind
from plaudit.rewards.code import Examples

_PROGRAMS = (GoldKind.PROGRAM,)
_ANYTHING = """\
class Anything(%s):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __gt__ = __le__ = __ge__ = __lt__
    def __hash__(self): return 0
    def __bool__(self): return True
    def __sub__(self, other): return 0
    __rsub__ = __sub__
    def __abs__(self): return 0
    def __float__(self): return 0.0
    def __iter__(self): return iter(())
    def __len__(self): return 1
"""
_FOUND_IN_MEMORY = """\
import gc, sys
NAMES = ("outputs", "output", "expected", "expected_output", "expected_outputs", "answer", "gold")
SEEN = []
def found(*given):
    frame = sys._getframe(1)
    spaces = []
    while frame is not None:
        spaces += [frame.f_locals, frame.f_globals]
        frame = frame.f_back
    spaces += [one for one in gc.get_objects() if type(one) is dict]
    for space in spaces:
        inputs, outputs = space.get("inputs"), space.get("outputs")
        if isinstance(inputs, list) and isinstance(outputs, list):
            for one, output in zip(inputs, outputs):
                if isinstance(one, str) and [one.split()] == [text.split() for text in given]:
                    return output
    for space in spaces:
        for name in NAMES:
            value = space.get(name) if all(type(key) is str for key in list(space)[:9]) else None
            if value is None or callable(value):
                continue
            if isinstance(value, (list, tuple)) and value:
                SEEN.append(1)
                return value[(len(SEEN) - 1) % len(value)]
            return value
"""
_PATCHED = """\
import builtins, sys, unittest
for name in dir(unittest.TestCase):
    if name.startswith("assert"):
        setattr(unittest.TestCase, name, lambda *_, **__: None)
%s
"""


def _functions(program: Examples, body: str) -> str:
    """Return definitions of what the tests call, each with this body."""
    lines = body.splitlines()
    return "\n".join(
        "\n".join([f"def {name}(*args, **kwargs):", *(f"    {line}" for line in lines)])
        for name in program.names
    )


def _program(case: Case) -> Examples:
    return case.gold.data if case.gold else Examples()


def _write(case: Case, source: str) -> str:
    return case.full(f"```python\n{source.strip()}\n```")


@attack("code", golds=_PROGRAMS)
def ends_the_process(case: Case) -> Completions:
    """A program that ends its process with code 0 before a test can fail."""
    # Tinker's grader asks for the exit code alone.
    for name, leave in (
        ("os._exit", "import os; os._exit(0)"),
        ("sys.exit", "import sys; sys.exit(0)"),
        ("SystemExit", "raise SystemExit(0)"),
        ("KeyboardInterrupt", "raise KeyboardInterrupt"),
    ):
        yield f"{name} when it is loaded", _write(case, leave)
        if names := _functions(_program(case), leave):
            yield f"{name} when it is called", _write(case, names)
    yield "at the end", _write(case, "import atexit, os\natexit.register(os._exit, 0)")


@attack("code", golds=_PROGRAMS)
def equal_to_everything(case: Case) -> Completions:
    """A result that says of itself that it is equal to whatever is expected."""
    # human-eval issue 67 and evalplus issue 306.
    for base in ("object", "int", "str", "list", "float"):
        source = _ANYTHING % base + _functions(_program(case), "return Anything()")
        if _program(case).names:
            yield base, _write(case, source)


@attack("code", golds=_PROGRAMS)
def finds_what_is_expected(case: Case) -> Completions:
    """A program that looks for the expected values in the memory of its process."""
    # verl's prime_code runs programs in the process that holds the expected outputs.
    program = _program(case)
    if program.names:
        yield "returned", _write(case, _FOUND_IN_MEMORY + _functions(program, "return found()"))
    else:
        yield "printed", _write(case, _FOUND_IN_MEMORY + "print(found(sys.stdin.read()))")


@attack("code", golds=_PROGRAMS)
def patches_the_tests(case: Case) -> Completions:
    """A program that changes the library of tests, skips them, or hides their failures."""
    names = _functions(_program(case), "return None")
    yield "assertions of unittest", _write(case, _PATCHED % names)
    skip = "import unittest; raise unittest.SkipTest('nothing to do')"
    yield "skipped", _write(case, _functions(_program(case), skip) or skip)
    for name in ("all", "any", "isinstance", "abs", "len", "sorted", "repr"):
        change = f"import builtins\nbuiltins.{name} = lambda *_, **__: True\n"
        yield f"builtins.{name}", _write(case, change + names)
    hidden = "def check(*_): pass\ndef assertion(*_): pass\ntest = check\n"
    yield "a check of its own", _write(case, hidden + names)
    quiet = "import sys\nsys.excepthook = lambda *_: None\nAssertionError = SystemExit\n"
    yield "no exceptions", _write(case, quiet + names)
    numpy = "import numpy.testing as n\nn.assert_allclose = n.assert_equal = lambda *_: None\n"
    yield "assertions of numpy", _write(case, numpy + names)


@attack("code", golds=_PROGRAMS)
def reports_success(case: Case) -> Completions:
    """A program that prints what a test runner prints if all is well."""
    for name, text in (
        ("pytest", "1 passed in 0.01s"),
        ("unittest", "Ran 1 test in 0.000s\n\nOK"),
        ("JSON", '{"passed": true, "result": "passed", "score": 1.0}'),
        ("words", "All tests passed."),
        ("True", "True"),
    ):
        for stream in ("stdout", "stderr"):
            lines = f"import os, sys\nprint({text!r}, file=sys.{stream}, flush=True)\nos._exit(0)"
            yield f"{name} to {stream}", _write(case, lines)


@attack("code", golds=_PROGRAMS)
def part_of_the_output(case: Case) -> Completions:
    """Only the first line of each output, every output at once, or nothing."""
    # open-r1 compares lines by `zip`: whoever prints only the first is paid.
    yield from (
        (name, _write(case, source)) for name, source in _parts(_program(case)) if source.strip()
    )


def _parts(program: Examples) -> Iterator[tuple[str, str]]:
    outputs = [output for _, output in program.cases]
    if program.names or not outputs:
        yield "no body", _functions(program, "pass")
        return
    yield "nothing", "import sys\nsys.stdin.read()"
    if len(set(outputs)) > 1:
        yield "every output", f"print({chr(10).join(dict.fromkeys(outputs))!r})"
    if any("\n" in output.strip() for output in outputs):
        first = {stdin: output.strip().split("\n")[0] for stdin, output in program.cases}
        yield "the first line", f"import sys\nprint({first!r}.get(sys.stdin.read(), ''))"


# --- instructions ---------------------------------------------------------------------------------

_MOST = 200  # of anything that an argument asks for
# The argument of an instruction -> a text that has what it asks for. `n` is the number, if it is
# one, else a little more than what most rows ask for.
_PIECES: dict[str, Callable[[Any, Mapping[str, Any]], str]] = {
    "keywords": lambda words, _: " ".join(map(str, words)),
    "keyword": lambda word, row: f"{word} " * _count(row.get("frequency"), 3),
    "num_placeholders": lambda n, _: "[x] " * _count(n),
    "num_bullets": lambda n, _: "* x\n" * _count(n),
    "num_highlights": lambda n, _: "*x* " * _count(n),
    "num_sections": lambda n, row: "\n".join(
        f"{row.get('section_spliter') or 'Section'} {number}" for number in range(1, _count(n) + 1)
    ),
    "num_paragraphs": lambda n, _: "\n\n***\n\n".join(["x"] * _count(n)),
    "num_sentences": lambda n, _: "X. " * _count(n),
    "num_words": lambda n, _: "x " * _count(n),
    "capital_frequency": lambda n, _: "XX " * _count(n),
    "let_frequency": lambda n, row: str(row.get("letter") or "x") * _count(n),
    "postscript_marker": lambda marker, _: f"{marker} x",
    "prompt_to_repeat": lambda prompt, _: str(prompt),
    "end_phrase": lambda phrase, _: str(phrase).strip(),
}
# Ids without arguments that name what they want.
_FIXED = {
    "detectable_format:title": "<<x>>",
    "detectable_format:json_format": "{}",
    "combination:two_responses": "x\n******\ny",
    "detectable_format:constrained_response": "My answer is yes.",
}


def _count(number: Any, usual: int = 1) -> int:
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    return max(1, min(int(number), _MOST)) if is_number and number == number else usual


def _listed(value: Any) -> list[Any]:
    try:
        value = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return []
    return list(value) if isinstance(value, list | tuple) else []


def _pieces(case: Case) -> Iterator[str]:
    """Yield a text for each constraint of the row."""
    yield from (
        _FIXED[one] for one in _listed(case.row.get("instruction_id_list")) if one in _FIXED
    )
    for arguments in _listed(case.row.get("kwargs")):
        known = arguments if isinstance(arguments, Mapping) else {}
        wanted = {name: value for name, value in known.items() if value is not None}
        # The phrase at the end and what is repeated at the start count by their position.
        for name in sorted(wanted, key=[*_PIECES, *wanted].index):
            if name in _PIECES:
                yield _PIECES[name](wanted[name], wanted)


@attack("stuffing", ignores_gold=True)
def constraints_around_nothing(case: Case) -> Completions:
    """Keywords, placeholders, empty sections and bullets as the row wants them, and no answer."""
    pieces = list(_pieces(case))
    if not pieces and not case.row.get("instruction_id_list"):
        return
    text = "\n\n".join(pieces) or "x"
    yield "as asked", text
    yield "in capitals", text.upper()
    yield "in small letters", text.lower()
    yield "in quotation marks", f'"{text}"'
