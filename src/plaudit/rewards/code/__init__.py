"""Rewards for code: run what the model wrote, and see whether it does what it should.

    from plaudit.rewards.code import code_reward

    code_reward(["```python\\nprint(7)\\n```"], [{"inputs": [""], "outputs": ["7"]}])   # [1.0]

A program runs in a sandbox (`plaudit.sandbox`), and the verdict is made elsewhere: expected outputs
never reach the program's process, and tests in Python run in a process of their own. What right
means, and what the sandbox protects from, is in docs/code.md.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial as bound
from numbers import Real
from typing import Any, NamedTuple

from plaudit.inputs.columns import is_missing, rows_of, same_length
from plaudit.inputs.completions import Completion, texts_of
from plaudit.rewards.code._run import Checker, Result, Task, run_all, share
from plaudit.rewards.code._tests import BadTests, read_tests
from plaudit.rewards.code._tests import Examples as Examples
from plaudit.rewards.code._tests import examples_of as examples_of
from plaudit.sandbox import Limits
from plaudit.scores import Score, async_form, reward
from plaudit.scores.decorators import Steps
from plaudit.scores.score import logged

# The languages of fences that hold a program, and the names of those that hold something else.
LANGUAGES = {
    **dict.fromkeys(("", "python", "python3", "py", "python2", "ipython", "sage"), "python"),
    **dict.fromkeys(("c", "gcc"), "c"),
    **dict.fromkeys(("cpp", "c++", "cc", "cxx", "cplusplus", "g++"), "cpp"),
    **dict.fromkeys(("rust", "rs"), "rust"),
    **dict.fromkeys(("go", "golang"), "go"),
    "java": "java",
    **dict.fromkeys(("javascript", "js", "node", "nodejs"), "javascript"),
}
_FENCE = re.compile(r"^[ \t]*(?P<mark>`{3,}|~{3,})[ \t]*(?P<tag>[^\s`~]*)[^\n`]*$", re.MULTILINE)
_TAGS = re.compile(r"</?(?:answer|code|solution)>")
_CODE = re.compile(
    r"^\s*(?:def|class|import|from|for|while|if|with|try|print|async|@|#)\b|\w\s*=[^=]|\w\(|#include",
    re.MULTILINE,
)


class Program(NamedTuple):
    """A program, and the language that its fence names; "" if there is none."""

    source: str
    language: str


def find_program(text: str, language: str = "") -> Program | None:
    """Return the program of a completion; None if it has none.

    language: which one is wanted. Default: the last block of any known language

    >>> find_program("So:\\n```python\\nprint(1)\\n```\\nRun it:\\n```bash\\npython a.py\\n```")
    Program(source='print(1)\\n', language='python')
    >>> find_program("I cannot solve this.") is None
    True
    """
    body = text.rpartition("</think>")[2].partition("<think>")[0]
    blocks = _blocks(body)
    known = [(source, LANGUAGES[tag]) for tag, source in blocks if tag in LANGUAGES]
    if language:
        named = [(source, kind) for source, kind in known if kind == language]
        known = named or [(source, language) for tag, source in blocks if not tag]
    if known:
        source, kind = known[-1]
        tagged = next(tag for tag, block in reversed(blocks) if block is source)
        return Program(source, kind if tagged else "") if source.strip() else None
    if blocks:
        return None
    source = _TAGS.sub("", body).strip("\n")
    return Program(source, "") if source.strip() and _CODE.search(source) else None


def _blocks(text: str) -> list[tuple[str, str]]:
    """Return the tag and the content of each fenced block; the last may have no closing fence."""
    blocks: list[tuple[str, str]] = []
    mark, tag, start = "", "", 0
    for fence in _FENCE.finditer(text):
        found = fence["mark"]
        if not mark:
            mark, tag, start = found, fence["tag"].lower(), fence.end() + 1
        elif found.startswith(mark) and not fence["tag"]:
            blocks.append((tag, text[start : fence.start()]))
            mark = ""
        elif found.startswith(mark) and fence["tag"].lower() in LANGUAGES:
            # A block that was never closed, and another one begins.
            blocks.append((tag, text[start : fence.start()]))
            mark, tag, start = found, fence["tag"].lower(), fence.end() + 1
    if mark:
        blocks.append((tag, text[start:]))
    return blocks


__all__ = ["code_reward", "code_reward_async"]


@reward(columns=("tests", "language"), needs=("tests",))
def code_reward(
    completions: Sequence[Completion],
    tests: Sequence[Any],
    language: str | Sequence[str | None] | None = None,
    partial: bool = False,
    seconds: float = 10.0,
    memory: int = 1024,
    packages: Sequence[str] = ("numpy",),
    isolation: str = "auto",
    checker: Checker | str | None = None,
    **kwargs: Any,
) -> Steps[list[Score]]:
    """1.0 if the program passes every test, 0.0 if not, None if the tests or the sandbox failed.

    completions: a text or a list of messages for each row; the program is the last fenced block
        after the thinking, or the text itself
    tests: the tests of each row, in any shape that datasets have: inputs and outputs for stdin or
        for calls, asserts, `check(candidate)`, unittest; objects or JSON text
    language: the language of each row's programs: python, c, cpp, rust, go, java or javascript; a
        single name holds for every row. Default: what the fence says, or else Python
    partial: whether the value is the share of the tests that pass. Default: False
    seconds: CPU seconds for each test, or for all tests that are one source. Default: 10
    memory: MiB of memory. Default: 1024
    packages: modules that programs may need and that take long to import. Default: numpy
    isolation: "auto", or "none" to run programs even if neither namespaces nor Landlock work
    checker: a function of input, expected and printed output that returns whether that is right,
        or its name such as "module:function". Default: tokens are compared

    >>> program = "```python\\ndef add(a, b):\\n    return a + b\\n```"
    >>> code_reward([program] * 2, [["assert add(1, 2) == 3"], ["assert add(1, 2) == 4"]])
    [1.0, 0.0]
    """
    texts = texts_of(completions)
    same_length(completions, tests=tests)
    limits = _limits(seconds, memory)
    settings = {
        "partial": bool(partial),
        "limits": limits,
        "isolation": isolation,
        "packages": _packages(packages),
        "checker": _checker(checker),
    }
    languages = _languages_of(language, completions)
    rows = [
        _task(text, of_row, name, settings)
        for text, of_row, name in zip(texts, rows_of(tests, "tests"), languages, strict=True)
    ]
    tasks = [row for row in rows if isinstance(row, Task)]
    results = iter((yield bound(run_all, tasks)) if tasks else [])
    scores = [row if isinstance(row, Score) else _score(next(results), row) for row in rows]
    return logged(scores, kwargs)


code_reward_async = async_form(code_reward)


def tests_problem(tests: Any) -> str:
    """Return why the tests of a row cannot be read; "" if they can."""
    try:
        read_tests(tests)
    except BadTests as error:
        return str(error)
    return ""


def _limits(seconds: float, memory: int) -> Limits:
    for name, value, most in (("seconds", seconds, 3600), ("memory", memory, 1 << 20)):
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 < value <= most:
            raise ValueError(f"{name} must be above 0 and at most {most:,}, got {value!r:.80}")
    return replace(Limits(), seconds=float(seconds), memory=int(memory))


def _packages(packages: Sequence[str]) -> tuple[str, ...]:
    listed = [packages] if isinstance(packages, str) else list(packages)
    for name in listed:
        if not isinstance(name, str) or not all(part.isidentifier() for part in name.split(".")):
            raise ValueError(f"packages must be names of modules, got {name!r:.80}")
    return tuple(listed)


def _checker(checker: Checker | str | None) -> Checker | None:
    if checker is None or callable(checker):
        return checker
    if not isinstance(checker, str) or ":" not in checker:
        raise TypeError(f'checker must be a function or "module:function", got {checker!r:.80}')
    from importlib import import_module

    module, _, name = checker.partition(":")
    found: Callable[[str, str, str], bool] = getattr(import_module(module), name)
    return found


def _languages_of(language: Any, completions: Sequence[Any]) -> list[str]:
    if language is None or isinstance(language, str):
        names: list[Any] = [language] * len(completions)
    else:
        same_length(completions, language=language)
        names = list(rows_of(language, "language"))
    names = [None if name is None or is_missing(name) else name for name in names]
    for row, name in enumerate(names):
        if name is not None and (not isinstance(name, str) or name.lower() not in LANGUAGES):
            known = ", ".join(dict.fromkeys(LANGUAGES.values()))
            raise ValueError(f"language {row} must be one of {known}, got {name!r:.80}")
    return ["" if name is None else LANGUAGES[name.lower()] for name in names]


def _task(text: str, tests: Any, language: str, settings: Mapping[str, Any]) -> Task | Score:
    """Return what is to be run, or the score of a row that need not be."""
    if tests is None or is_missing(tests):
        return Score(None, "There are no tests: the row is skipped.", status="bad_gold")
    try:
        read = read_tests(tests)
    except BadTests as error:
        why = f"The tests cannot be read: {error}."
        return Score(None, why, status="bad_gold", problem=str(error)[:300])
    program = find_program(text, language)
    if program is None:
        return Score(0.0, "The completion has no program.", status="no_answer", right=False)
    return Task(program.source, language or program.language, read, **settings)


def _score(result: Result, task: Task) -> Score:
    method = f"tests, {result.isolation}"
    shown = task.source.strip()[:300]
    if result.status in ("error", "bad_gold"):
        return Score(None, result.why, shown, None, method, result.status, problem=result.why[:300])
    right = result.status == "equal"
    # A program that runs for too long is the model's fault, and a "timeout" is the machinery's.
    status = "limit" if result.status == "timeout" else result.status
    value = share(result) if task.partial else float(right)
    return Score(value, result.why, shown, None, method, status, right)
