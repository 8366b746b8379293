"""plaudit can be installed beside each trainer that is on PyPI; pip itself says so.

Resolving all of a trainer would take minutes and gigabytes. So pip is asked what a trainer requires
(`--no-deps`), and then to resolve plaudit's core together with those of its requirements that could
get in its way. Nothing is installed. Skips where there is no network.
"""

import json
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from plaudit.judge import MathVerify

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINNED = (ROOT / "tests" / "with_trainers" / "requirements.txt").read_text(encoding="utf-8")
TRAINERS = re.findall(r"^([\w.-]+==[\w.]+)$", PINNED.partition("\n\n")[0], re.MULTILINE)
LIGHTEVAL = "lighteval==0.13.0"
# What math-verify brings along, and what pins the antlr runtime.
ALSO = ("sympy", "antlr4-python3-runtime", "hydra-core", "omegaconf")


def pip_install(*requirements, options=()):
    """What pip would install, as its report says; None with the reason where it finds no way."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    done = subprocess.run(
        [*command, "--report", "-", *options, *requirements],
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode:
        return None, done.stderr
    return [item["metadata"] for item in json.loads(done.stdout)["install"]], ""


@cache
def metadata():
    """What pip knows of each trainer by its name, without what it depends on."""
    options = ["--no-deps", "--ignore-requires-python"]
    found, why = pip_install(*TRAINERS, LIGHTEVAL, options=options)
    if found is None and pip_install("math-verify", options=options)[0] is None:
        pytest.skip("pip finds no index")
    assert found is not None, why
    return {canonicalize_name(item["name"]): item for item in found}


def required_by(trainer):
    """What a trainer requires that plaudit requires as well, or that could keep it from it."""
    required = metadata()[canonicalize_name(trainer.partition("==")[0])].get("requires_dist", [])
    shared = {canonicalize_name(Requirement(r).name) for r in PROJECT["dependencies"]} | {*ALSO}
    return [
        str(requirement)
        for requirement in map(Requirement, required)
        if canonicalize_name(requirement.name) in shared
        and (requirement.marker is None or requirement.marker.evaluate({"extra": ""}))
    ]


def resolved(trainer):
    """The versions of plaudit's core beside a trainer's; None where pip finds none."""
    core = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["antlr4-9"]]
    found, why = pip_install(*core, *required_by(trainer))
    if found is None:
        assert "conflict" in why.lower(), why
        return None
    return {canonicalize_name(item["name"]): item["version"] for item in found}


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_trainer(trainer):
    versions = resolved(trainer)
    assert versions is not None
    pair = versions["math-verify"], versions["latex2sympy2-extended"]
    assert MathVerify(*pair).tested
    if trainer.startswith("areal"):
        assert pair == ("0.8.0", "1.10.2")
    if trainer.startswith("verl"):
        assert versions["hydra-core"] >= "1.3"  # older ones do not pin the runtime


def test_what_lighteval_pins_is_too_old():
    assert resolved(LIGHTEVAL) is None
