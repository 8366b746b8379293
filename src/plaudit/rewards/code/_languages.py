"""Programs in other languages than Python, for tests of stdin: compiled once, in the sandbox."""

import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from plaudit.sandbox import Session

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


def memory(language: str) -> int | None:
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
