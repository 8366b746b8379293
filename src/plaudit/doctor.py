"""An installation -> findings: what is there, what is wrong with it, and what to do about that.

    $ plaudit doctor
    plaudit      0.1.0
    math-verify  0.9.0 with latex2sympy2_extended 1.11.0
    workers      the first started in 1.4 s; an answer then took 0.002 s
    …

Nothing is changed: it looks, and it starts the judge's workers once to see that they start.
"""

import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import plaudit
from plaudit.judge import (
    TESTED_VERSIONS,
    Judge,
    Pair,
    Settings,
    Status,
    math_verify_installed,
)
from plaudit.processes import cores
from plaudit.sandbox import LAYERS, isolation

OK, NOTE, PROBLEM = "ok", "note", "problem"

ANTLR = "antlr4-python3-runtime"
ANTLR_SUPPORTED = ("4.13.2", "4.11", "4.9.3")  # those that latex2sympy2_extended has parsers for
PINS_ANTLR = re.compile(rf"{ANTLR}\s*\(?==\s*([\d.]+?)(?:\.\*)?\)?(?:\s*;.*)?")
PIN_ANTLR = ("omegaconf", "hydra-core")  # what trainers install, and what pins a runtime
FEWEST_FILES = 256  # descriptors: a trainer, a dispatcher, and workers with two each
SLOW_START = 10.0  # seconds; the judge gives up after three times as many
UNITS = {"deadline": " s", "memory": " MiB", "workers": "", "cache": "", "cache_memory": " MiB"}
EXTRA = re.compile(r"([\w.-]+)(?:\[([\w,-]+)\])?.*extra == [\"']([\w-]+)[\"']")
NOT_FOR_USERS = ("dev", "bench", "docs", "all")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at.

    found: what it is, in a few words
    status: "ok"; "note" for what works but could be better; "problem" for what does not work
    advice: what to do about it, where there is something to do
    values: the same as numbers and texts, for programs
    """

    name: str
    found: str
    status: str = OK
    advice: str = ""
    values: dict[str, Any] = field(default_factory=dict)


def findings() -> list[Finding]:
    """Everything that is looked at, in the order in which one thing depends on another."""
    return [check() for check in CHECKS]


def as_text(found: list[Finding]) -> str:
    """Findings for a person: a line for each, then what to do."""
    width = max(len(finding.name) for finding in found)
    lines = [f"{finding.name:<{width}}  {finding.found}" for finding in found]
    advice = [f"{one.status}: {one.name}: {one.advice}" for one in found if one.advice]
    if not any(one.status == PROBLEM for one in found):
        advice.append("No problem was found.")
    return "\n".join([*lines, "", *sorted(advice, key=_problems_first)])


def _problems_first(line: str) -> bool:
    return not line.startswith(PROBLEM)


def _plaudit() -> Finding:
    return Finding("plaudit", plaudit.__version__, values={"version": plaudit.__version__})


def _python() -> Finding:
    values = {"version": platform.python_version(), "system": platform.system()}
    found = f"{values['version']} on {values['system']} ({platform.machine()})"
    if sys.platform == "win32":
        advice = "Windows is not supported: the judge's workers need fork. Use WSL."
        return Finding("python", found, PROBLEM, advice, values)
    if sys.platform == "darwin":
        advice = "macOS does not limit a process's memory, so the setting `memory` has no effect."
        return Finding("python", found, NOTE, advice, values)
    return Finding("python", found, values=values)


def _math_verify() -> Finding:
    installed = math_verify_installed()
    values = {**installed._asdict(), "tested": installed.tested, "sympy": _version("sympy")}
    found = str(installed).removeprefix("math-verify ") + f", sympy {values['sympy']}"
    if installed.version is None or installed.latex2sympy2 is None:
        advice = "Without it nothing can be judged: pip install 'math-verify>=0.8'"
        return Finding("math-verify", "not installed", PROBLEM, advice, values)
    if not installed.tested:
        advice = (
            f"plaudit was tested with math-verify {TESTED_VERSIONS}. With another version every "
            "answer is judged in worker processes: right, but slower."
        )
        return Finding("math-verify", found, NOTE, advice, values)
    return Finding("math-verify", found, values=values)


def _antlr() -> Finding:
    installed = _version(ANTLR)
    values = {"version": installed}
    if installed is None:
        advice = f"LaTeX cannot be read: {_how_to_install_antlr()}"
        return Finding("antlr", "no runtime is installed", PROBLEM, advice, values)
    if not installed.startswith(ANTLR_SUPPORTED):
        advice = f"math-verify has no parser for this version: {_how_to_install_antlr()}"
        return Finding("antlr", installed, PROBLEM, advice, values)
    for package, pinned in _antlr_pins():
        if not f"{installed}.".startswith(f"{pinned}."):
            advice = f"{package} needs {pinned}, and fails with this one: {_how_to_install_antlr()}"
            return Finding("antlr", installed, PROBLEM, advice, values)
    return Finding("antlr", installed, values=values)


def _how_to_install_antlr() -> str:
    pins = [pinned for _, pinned in _antlr_pins()]
    return f"pip install 'plaudit[{'antlr4-9' if '4.9' in pins else 'antlr4-13'}]'"


def _antlr_pins() -> Iterator[tuple[str, str]]:
    """Return which installed packages want which version of the runtime, and no other."""
    for package in PIN_ANTLR:
        for requirement in _requirements(package):
            if pin := PINS_ANTLR.fullmatch(requirement):
                yield f"{package} {version(package)}", pin[1]


def _cores() -> Finding:
    usable, quota = cores(), _cpu_quota()
    values = {"cores": usable, "of": os.cpu_count(), "quota": quota}
    found = f"{usable} of {values['of']}"
    if quota is not None and quota < usable:
        found += f", of which this container may use {quota:g}"
        advice = f"Start no more workers than that: export PLAUDIT_WORKERS={max(int(quota), 1)}"
        return Finding("cores", found, NOTE, advice, values)
    return Finding("cores", found, values=values)


def _cpu_quota() -> float | None:
    """Return how many cores a container's limit comes to; None where it has none."""
    try:
        most, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return float(most) / float(period)
    except (OSError, ValueError, ZeroDivisionError):  # no such file, or "max"
        return None


def _limits() -> Finding:
    import resource

    names = {"files": resource.RLIMIT_NOFILE, "processes": resource.RLIMIT_NPROC}
    names["address space"] = resource.RLIMIT_AS
    soft = {name: resource.getrlimit(limit)[0] for name, limit in names.items()}
    values = {name: None if n == resource.RLIM_INFINITY else n for name, n in soft.items()}
    found = ", ".join(f"{name} {'unlimited' if n is None else n}" for name, n in values.items())
    files = values["files"]
    if files is not None and files < FEWEST_FILES:
        advice = f"Workers may find no free file descriptor: ulimit -n {4 * FEWEST_FILES}"
        return Finding("limits", found, NOTE, advice, values)
    try:
        TemporaryFile().close()
    except OSError as error:
        advice = "The judge needs a temporary file for its workers' error output: set TMPDIR"
        return Finding("limits", f"no temporary file: {error}", PROBLEM, advice, values)
    return Finding("limits", found, values=values)


def _settings() -> Finding:
    try:
        settings = Settings.from_environment()
    except (TypeError, ValueError) as error:
        advice = f"{error}: change it in the environment, or unset it"
        return Finding("settings", "not readable", PROBLEM, advice)
    values = {one.name: getattr(settings, one.name) for one in fields(settings)}
    found = ", ".join(f"{name} {value:,}{UNITS[name]}" for name, value in values.items())
    needed, there = settings.workers * settings.memory << 20, _memory_limit()
    values["memory limit of the container"] = there
    if there is not None and there < needed:
        advice = (
            f"{settings.workers} workers of {settings.memory:,} MiB may need more than the "
            f"{there >> 20:,} MiB of this container: set PLAUDIT_WORKERS or PLAUDIT_MEMORY lower"
        )
        return Finding("settings", found, NOTE, advice, values)
    return Finding("settings", found, values=values)


def _memory_limit() -> int | None:
    try:
        return int(Path("/sys/fs/cgroup/memory.max").read_text())
    except (OSError, ValueError):
        return None


def _workers() -> Finding:
    """Start one, as the first call of a reward would, and have it compare."""
    try:
        judge = Judge(Settings.from_environment())
    except (TypeError, ValueError) as error:
        return Finding("workers", "not tried", PROBLEM, f"The settings are wrong: {error}")
    try:
        start = time.perf_counter()
        trouble = judge.check()
        started = time.perf_counter() - start
        if trouble:
            return Finding("workers", "do not start", PROBLEM, _without_prefix(trouble))
        (verdict,) = judge.judge([Pair(r"$\sin^2 x + \cos^2 x$", "$1$")])
    finally:
        judge.close()
    values = {"seconds to start": started, "seconds to compare": verdict.seconds}
    found = f"the first started in {started:.1f} s; an answer then took {verdict.seconds:.3f} s"
    if verdict.status is not Status.EQUAL:
        advice = f"sin²x + cos²x was not found equal to 1: {verdict.why} Please report this."
        return Finding("workers", found, PROBLEM, advice, values)
    if started > SLOW_START:
        advice = (
            "Python's packages load slowly here, perhaps from a network file system: "
            "call plaudit.warm_up() before the first step, or install onto a local disk"
        )
        return Finding("workers", found, NOTE, advice, values)
    return Finding("workers", found, values=values)


def _without_prefix(trouble: str) -> str:
    return trouble.removeprefix("the judge's workers do not start: ")


def _sandbox() -> Finding:
    """Say which layers keep the programs of code rewards in, and what each of them stops."""
    found = isolation()
    there = [name for name, why in found.items() if not why]
    values = {name: why or "works" for name, why in found.items()}
    stops = "; ".join(f"{name} ({LAYERS[name]})" for name in there)
    missing = "; ".join(f"{name}: {why}" for name, why in found.items() if why)
    if "namespaces" not in there and "landlock" not in there:
        advice = (
            f"Code rewards refuse to run programs here: {missing}. Allow user namespaces or "
            'Landlock, or set isolation = "none" if you trust every program.'
        )
        return Finding("sandbox", stops, NOTE, advice, values)
    advice = f"Not every layer of the sandbox works: {missing}" if missing else ""
    return Finding("sandbox", stops, NOTE if missing else OK, advice, values)


def _recipe() -> Finding:
    name = os.environ.get("PLAUDIT_RECIPE")
    if not name:
        return Finding("recipe", "PLAUDIT_RECIPE is not set", values={"recipe": None})
    from plaudit.recipes import load

    try:
        recipe = load(name)
    except Exception as error:  # whatever the module of a reward does when it is imported
        why = str(error) if isinstance(error, ValueError | OSError) else repr(error)
        advice = f"PLAUDIT_RECIPE={name} cannot be loaded: {why}"
        return Finding("recipe", name, PROBLEM, advice, {"recipe": name})
    components = ", ".join(component.name for component in recipe.components)
    return Finding("recipe", f"{recipe.name}: {components}", values={"recipe": recipe.name})


def _extras() -> Finding:
    """Return which extras have all that they ask for; none of them is needed for every reward."""
    packages: dict[str, list[str]] = {}
    others: dict[str, list[str]] = {}  # extras that an extra brings
    for found_extra in filter(None, map(EXTRA.match, _requirements("plaudit"))):
        package, brought, name = found_extra.groups(default="")
        if not name.startswith(("antlr", *NOT_FOR_USERS)):
            packages.setdefault(name, []).append(package)
            others.setdefault(name, []).extend(brought.split(",") if package == "plaudit" else [])
    there = {
        name: all(map(_version, [*wanted, *(p for one in others[name] for p in packages[one])]))
        for name, wanted in packages.items()
    }
    missing = ",".join(name for name, complete in there.items() if not complete)
    found = ", ".join(name for name, complete in there.items() if complete) or "none"
    if missing:
        found += f"; for more: pip install 'plaudit[{missing}]'"
    return Finding("extras", found, values=there)


def _requirements(distribution: str) -> list[str]:
    """Return what a package asks for; nothing where it is not installed."""
    try:
        return requires(distribution) or []
    except PackageNotFoundError:
        return []


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


CHECKS: tuple[Callable[[], Finding], ...] = (
    _plaudit,
    _python,
    _math_verify,
    _antlr,
    _cores,
    _limits,
    _settings,
    _workers,
    _sandbox,
    _recipe,
    _extras,
)
