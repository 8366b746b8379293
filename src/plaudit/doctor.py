"""What is installed, what is wrong with it, and what to do about that.

    $ plaudit doctor
    plaudit      0.1.0
    math-verify  0.9.0 with latex2sympy2_extended 1.11.0
    workers      the first started in 1.4 s; an answer then took 0.002 s
    …

Nothing is changed: it looks, and it starts the judge's workers once to see that they start.
"""

import json as json_text
import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import plaudit
from plaudit.judge import TESTED_VERSIONS, Judge, Pair, Settings, Status, math_verify_installed
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
class DoctorFinding:
    """One thing that was looked at.

    found: what it is, in a few words
    status: "ok"; "note" for what works but could be better; "problem" for what does not work
    advice: what to do about it
    values: the same as numbers and texts, for programs
    """

    name: str
    found: str
    status: str = OK
    advice: str = ""
    values: dict[str, Any] = field(default_factory=dict)

    def note(self, advice: str) -> "DoctorFinding":
        """Return the same with a note."""
        return replace(self, status=NOTE, advice=advice)

    def problem(self, advice: str, found: str = "") -> "DoctorFinding":
        """Return the same as a problem."""
        return replace(self, status=PROBLEM, advice=advice, found=found or self.found)


def run(*, json: bool = False) -> int:
    """Check this installation: versions, limits of the system, settings, the judge's worker
    processes, and the recipe that PLAUDIT_RECIPE names. For each problem it says what to do; it
    changes nothing.

    json: print one JSON object

    exit codes:
      0 no problem    1 a problem was found
    """
    found = findings()
    problems = sum(finding.status == PROBLEM for finding in found)
    if json:
        objects = [asdict(one) for one in found]
        print(json_text.dumps({"problems": problems, "findings": objects}))
    else:
        print(as_text(found))
    return 1 if problems else 0


def findings() -> list[DoctorFinding]:
    """Return everything that is looked at, in the order in which one depends on another."""
    return [check() for check in CHECKS]


def as_text(found: list[DoctorFinding]) -> str:
    """Return findings for a person: a line for each, then what to do, problems first."""
    width = max(len(finding.name) for finding in found)
    lines = [f"{finding.name:<{width}}  {finding.found}" for finding in found]
    advice = [f"{one.status}: {one.name}: {one.advice}" for one in found if one.advice]
    if not any(one.status == PROBLEM for one in found):
        advice.append("No problem was found.")
    return "\n".join([*lines, "", *sorted(advice, key=lambda line: not line.startswith(PROBLEM))])


def _plaudit() -> DoctorFinding:
    return DoctorFinding("plaudit", plaudit.__version__, values={"version": plaudit.__version__})


def _python() -> DoctorFinding:
    values = {"version": platform.python_version(), "system": platform.system()}
    found = f"{values['version']} on {values['system']} ({platform.machine()})"
    finding = DoctorFinding("python", found, values=values)
    if sys.platform == "win32":
        return finding.problem("Windows is not supported: the judge's workers need fork. Use WSL.")
    if sys.platform == "darwin":
        why = "macOS does not limit a process's memory, so the setting `memory` has no effect."
        return finding.note(why)
    return finding


def _math_verify() -> DoctorFinding:
    installed = math_verify_installed()
    values = {**installed._asdict(), "tested": installed.tested, "sympy": _version("sympy")}
    found = str(installed).removeprefix("math-verify ") + f", sympy {values['sympy']}"
    finding = DoctorFinding("math-verify", found, values=values)
    if installed.version is None or installed.latex2sympy2 is None:
        advice = "Without it nothing can be judged: pip install 'math-verify>=0.8'"
        return finding.problem(advice, "not installed")
    if not installed.tested:
        return finding.note(
            f"plaudit was tested with math-verify {TESTED_VERSIONS}. With another version every "
            "answer is judged in worker processes: right, but slower."
        )
    return finding


def _antlr() -> DoctorFinding:
    installed = _version(ANTLR)
    finding = DoctorFinding("antlr", installed or "", values={"version": installed})
    how = _how_to_install_antlr()
    if installed is None:
        return finding.problem(f"LaTeX cannot be read: {how}", "no runtime is installed")
    if not installed.startswith(ANTLR_SUPPORTED):
        return finding.problem(f"math-verify has no parser for this version: {how}")
    for package, pinned in _antlr_pins():
        if not f"{installed}.".startswith(f"{pinned}."):
            return finding.problem(f"{package} needs {pinned}, and fails with this one: {how}")
    return finding


def _how_to_install_antlr() -> str:
    pins = [pinned for _, pinned in _antlr_pins()]
    return f"pip install 'plaudit[{'antlr4-9' if '4.9' in pins else 'antlr4-13'}]'"


def _antlr_pins() -> Iterator[tuple[str, str]]:
    """Return which installed packages want which version of the runtime, and no other."""
    for package in PIN_ANTLR:
        for requirement in _requirements(package):
            if pin := PINS_ANTLR.fullmatch(requirement):
                yield f"{package} {version(package)}", pin[1]


def _cores() -> DoctorFinding:
    usable, quota = cores(), _cpu_quota()
    values = {"cores": usable, "of": os.cpu_count(), "quota": quota}
    found = f"{usable} of {values['of']}"
    if quota is None or quota >= usable:
        return DoctorFinding("cores", found, values=values)
    found += f", of which this container may use {quota:g}"
    advice = f"Start no more workers than that: export PLAUDIT_WORKERS={max(int(quota), 1)}"
    return DoctorFinding("cores", found, values=values).note(advice)


def _cpu_quota() -> float | None:
    """Return how many cores a container's limit comes to; None if it has none."""
    try:
        most, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return float(most) / float(period)
    except (OSError, ValueError, ZeroDivisionError):  # no such file, or "max"
        return None


def _limits() -> DoctorFinding:
    import resource

    names = {"files": resource.RLIMIT_NOFILE, "processes": resource.RLIMIT_NPROC}
    names["address space"] = resource.RLIMIT_AS
    soft = {name: resource.getrlimit(limit)[0] for name, limit in names.items()}
    values = {name: None if n == resource.RLIM_INFINITY else n for name, n in soft.items()}
    found = ", ".join(f"{name} {'unlimited' if n is None else n}" for name, n in values.items())
    finding = DoctorFinding("limits", found, values=values)
    files = values["files"]
    if files is not None and files < FEWEST_FILES:
        advice = f"Workers may find no free file descriptor: ulimit -n {4 * FEWEST_FILES}"
        return finding.note(advice)
    try:
        TemporaryFile().close()
    except OSError as error:
        advice = "The judge needs a temporary file for its workers' error output: set TMPDIR"
        return finding.problem(advice, f"no temporary file: {error}")
    return finding


def _settings() -> DoctorFinding:
    try:
        settings = Settings.from_environment()
    except (TypeError, ValueError) as error:
        advice = f"{error}: change it in the environment, or unset it"
        return DoctorFinding("settings", "not readable").problem(advice)
    values = {one.name: getattr(settings, one.name) for one in fields(settings)}
    found = ", ".join(f"{name} {value:,}{UNITS[name]}" for name, value in values.items())
    needed, there = settings.workers * settings.memory << 20, _memory_limit()
    values["memory limit of the container"] = there
    finding = DoctorFinding("settings", found, values=values)
    if there is None or there >= needed:
        return finding
    return finding.note(
        f"{settings.workers} workers of {settings.memory:,} MiB may need more than the "
        f"{there >> 20:,} MiB of this container: set PLAUDIT_WORKERS or PLAUDIT_MEMORY lower"
    )


def _memory_limit() -> int | None:
    try:
        return int(Path("/sys/fs/cgroup/memory.max").read_text())
    except (OSError, ValueError):
        return None


def _workers() -> DoctorFinding:
    """Start one, as the first call of a reward would, and have it compare."""
    finding = DoctorFinding("workers", "not tried")
    try:
        judge = Judge(Settings.from_environment())
    except (TypeError, ValueError) as error:
        return finding.problem(f"The settings are wrong: {error}")
    try:
        start = time.perf_counter()
        trouble = judge.check()
        started = time.perf_counter() - start
        if trouble:
            advice = trouble.removeprefix("the judge's workers do not start: ")
            return finding.problem(advice, "do not start")
        (verdict,) = judge.judge([Pair(r"$\sin^2 x + \cos^2 x$", "$1$")])
    finally:
        judge.close()
    values = {"seconds to start": started, "seconds to compare": verdict.seconds}
    found = f"the first started in {started:.1f} s; an answer then took {verdict.seconds:.3f} s"
    finding = DoctorFinding("workers", found, values=values)
    if verdict.status is not Status.EQUAL:
        why = f"sin²x + cos²x was not found equal to 1: {verdict.why} Please report this."
        return finding.problem(why)
    if started > SLOW_START:
        return finding.note(
            "Python's packages load slowly here, perhaps from a network file system: "
            "call plaudit.warm_up() before the first step, or install onto a local disk"
        )
    return finding


def _sandbox() -> DoctorFinding:
    """Say which layers keep the programs of code rewards in, and what each of them stops."""
    found = isolation()
    there = [name for name, why in found.items() if not why]
    values = {name: why or "works" for name, why in found.items()}
    stops = "; ".join(f"{name} ({LAYERS[name]})" for name in there)
    missing = "; ".join(f"{name}: {why}" for name, why in found.items() if why)
    finding = DoctorFinding("sandbox", stops, values=values)
    if "namespaces" not in there and "landlock" not in there:
        return finding.note(
            f"Code rewards refuse to run programs here: {missing}. Allow user namespaces or "
            'Landlock, or set isolation = "none" if you trust every program.'
        )
    return finding.note(f"Not every layer of the sandbox works: {missing}") if missing else finding


def _recipe() -> DoctorFinding:
    name = os.environ.get("PLAUDIT_RECIPE")
    if not name:
        return DoctorFinding("recipe", "PLAUDIT_RECIPE is not set", values={"recipe": None})
    from plaudit.recipes import load

    try:
        recipe = load(name)
    except Exception as error:  # whatever the module of a reward does when it is imported
        why = str(error) if isinstance(error, ValueError | OSError) else repr(error)
        advice = f"PLAUDIT_RECIPE={name} cannot be loaded: {why}"
        return DoctorFinding("recipe", name, values={"recipe": name}).problem(advice)
    components = ", ".join(component.name for component in recipe.components)
    return DoctorFinding("recipe", f"{recipe.name}: {components}", values={"recipe": recipe.name})


def _extras() -> DoctorFinding:
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
    return DoctorFinding("extras", found, values=there)


def _requirements(distribution: str) -> list[str]:
    """Return what a package asks for; nothing if it is not installed."""
    try:
        return requires(distribution) or []
    except PackageNotFoundError:
        return []


def _version(distribution: str) -> str | None:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return None


CHECKS: tuple[Callable[[], DoctorFinding], ...] = (
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
