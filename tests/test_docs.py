"""The documentation is true: its examples run, and everything public has one."""

import doctest
import importlib
import inspect
import pkgutil
import re
import shlex
from pathlib import Path

import pytest

import plaudit
from plaudit.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOT_RUN = "# not run here"  # the first line of a block that needs a trainer, a model and a GPU


def blocks(language):
    """Each fenced block of a language, with the page and line where it stands."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for fence in re.finditer(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            line = text.count("\n", 0, fence.start()) + 2
            yield pytest.param(fence[1], id=f"{page.name}:{line}")


@pytest.mark.parametrize("code", list(blocks("python")))
def test_python_in_the_documentation_runs(code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    if ">>>" in code:
        test = doctest.DocTestParser().get_doctest(code, {}, "block", None, 0)
        assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0, (
            capsys.readouterr().out
        )
    else:
        compiled = compile(code, "block", "exec")
        if not code.startswith(NOT_RUN):
            exec(compiled, {})


@pytest.mark.parametrize("session", list(blocks("console")))
def test_commands_in_the_documentation_print_what_they_say(session, capsys):
    for command, expected in re.findall(r"^\$ ((?:.*\\\n)*.*\n)((?:(?!\$ ).*\n)*)", session, re.M):
        program, *arguments = shlex.split(command)
        if program == "plaudit":
            main(arguments)
            printed = capsys.readouterr()
            shown = printed.out + printed.err
            assert doctest.OutputChecker().check_output(expected, shown, doctest.ELLIPSIS), shown


def modules():
    for found in pkgutil.walk_packages(plaudit.__path__, "plaudit."):
        if "._" not in found.name and found.name != "plaudit.__main__":
            yield importlib.import_module(found.name)


def public_things():
    """Each function and class that a module exports by `__all__`, by the module that defines it."""
    for module in [plaudit, *modules()]:
        for name in getattr(module, "__all__", []):
            thing = getattr(module, name)
            is_protocol = getattr(thing, "_is_protocol", False)  # a type: there is nothing to run
            if (inspect.isclass(thing) or inspect.isroutine(thing)) and not is_protocol:
                yield f"{thing.__module__}.{thing.__qualname__}"


@pytest.mark.parametrize("name", sorted(set(public_things())))
def test_everything_exported_has_an_example_that_runs(name):
    module = importlib.import_module(name.rpartition(".")[0])
    found = [test.name for test in doctest.DocTestFinder().find(module) if test.examples]
    assert any(f"{place}.".startswith(f"{name}.") for place in found), f"{name} has no example"


def test_the_version_is_the_same_everywhere():
    assert f"\nversion: {plaudit.__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\n## [{plaudit.__version__}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")
