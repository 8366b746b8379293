"""`plaudit doctor`: an installation that works, and several that do not."""

import json
import os
import subprocess
import sys

import pytest

from installed import pretend_installed
from plaudit import doctor
from plaudit.cli import main


def examined(capsys):
    """The exit code, and the findings by their names."""
    code = main(["doctor", "--json"])
    told = json.loads(capsys.readouterr().out)
    found = {finding["name"]: finding for finding in told["findings"]}
    assert told["problems"] == sum(one["status"] == "problem" for one in found.values())
    assert code == (told["problems"] > 0)
    return code, found


def only(check, monkeypatch):
    """Make one check the only one: the others take time, and are not what a test is about."""
    monkeypatch.setattr(doctor, "CHECKS", (check,))


def test_an_installation_that_works(capsys, monkeypatch):
    monkeypatch.delenv("PLAUDIT_RECIPE", raising=False)
    code, found = examined(capsys)
    assert code == 0
    assert {one["status"] for one in found.values()} <= {"ok", "note"}
    assert found["math-verify"]["values"]["tested"] is True
    assert found["workers"]["values"]["seconds to start"] > 0
    assert found["cores"]["values"]["cores"] >= 1
    assert found["settings"]["values"]["deadline"] == 5.0


def test_for_a_person(capsys, monkeypatch):
    only(doctor._plaudit, monkeypatch)
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.endswith("\n\nNo problem was found.\n")


def test_an_antlr_runtime_that_math_verify_has_no_parser_for(capsys, monkeypatch, tmp_path):
    path = pretend_installed(tmp_path, "antlr4-python3-runtime", "4.7.2")
    monkeypatch.syspath_prepend(path)
    code, found = examined(capsys)
    assert code == 1
    assert found["antlr"]["status"] == "problem"
    assert "pip install 'plaudit[antlr4-13]'" in found["antlr"]["advice"]
    assert found["workers"]["found"] == "do not start"
    assert "plaudit[antlr4-13]" in found["workers"]["advice"]


def test_an_antlr_runtime_that_another_package_cannot_use(capsys, monkeypatch, tmp_path):
    only(doctor._antlr, monkeypatch)
    monkeypatch.syspath_prepend(pretend_installed(tmp_path, "antlr4-python3-runtime", "4.13.2"))
    pretend_installed(tmp_path, "omegaconf", "2.3.1", "antlr4-python3-runtime (==4.9.*)", "PyYAML")
    code, found = examined(capsys)
    assert code == 1
    assert found["antlr"]["advice"] == (
        "omegaconf 2.3.1 needs 4.9, and fails with this one: pip install 'plaudit[antlr4-9]'"
    )


def test_an_antlr_runtime_that_suits_both(capsys, monkeypatch, tmp_path):
    only(doctor._antlr, monkeypatch)
    monkeypatch.syspath_prepend(pretend_installed(tmp_path, "antlr4-python3-runtime", "4.9.3"))
    pretend_installed(tmp_path, "hydra-core", "1.3.8", "antlr4-python3-runtime==4.9.*")
    assert examined(capsys)[0] == 0


def test_a_math_verify_that_nobody_tested(tmp_path):
    path = [str(pretend_installed(tmp_path, "math-verify", "99.1")), *sys.path]
    done = subprocess.run(
        [sys.executable, "-m", "plaudit", "doctor"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0
    assert "note: math-verify: plaudit was tested with math-verify 0.8.0 and 0.9.0." in done.stdout
    assert "workers      the first started in" in done.stdout


@pytest.mark.parametrize(
    ("variable", "value", "name", "advice"),
    [
        ("PLAUDIT_DEADLINE", "soon", "settings", "PLAUDIT_DEADLINE must be a number, got 'soon'"),
        ("PLAUDIT_DEADLINE", "soon", "workers", "PLAUDIT_DEADLINE must be a number, got 'soon'"),
        ("PLAUDIT_RECIPE", "trl-maths", "recipe", "trl-math"),
    ],
    ids=["settings", "workers", "recipe"],
)
def test_what_the_environment_says_and_nobody_can_read(
    capsys, monkeypatch, variable, value, name, advice
):
    only(getattr(doctor, f"_{name}"), monkeypatch)
    monkeypatch.setenv(variable, value)
    code, found = examined(capsys)
    assert code == 1
    assert advice in found[name]["advice"]


@pytest.mark.parametrize(
    ("system", "status", "advice"),
    [("win32", "problem", "Use WSL."), ("darwin", "note", "`memory` has no effect")],
)
def test_other_systems(capsys, monkeypatch, system, status, advice):
    only(doctor._python, monkeypatch)
    monkeypatch.setattr(sys, "platform", system)
    found = examined(capsys)[1]["python"]
    assert (found["status"], advice in found["advice"]) == (status, True)


def test_a_recipe_that_is_chosen(capsys, monkeypatch):
    only(doctor._recipe, monkeypatch)
    monkeypatch.setenv("PLAUDIT_RECIPE", "trl-math")
    assert examined(capsys)[1]["recipe"]["found"] == "trl-math: accuracy_reward"


def test_a_recipe_whose_rewards_cannot_be_imported(capsys, monkeypatch, tmp_path):
    only(doctor._recipe, monkeypatch)
    (tmp_path / "broken_by_hand.py").write_text("def brief(:")
    (tmp_path / "mine.toml").write_text('[[rewards]]\nreward = "broken_by_hand:brief"')
    monkeypatch.setenv("PLAUDIT_RECIPE", str(tmp_path / "mine.toml"))
    code, found = examined(capsys)
    assert code == 1
    assert "mine.toml cannot be loaded: SyntaxError(" in found["recipe"]["advice"]


def test_few_file_descriptors():
    command = f"ulimit -n 100; exec {sys.executable} -m plaudit doctor --json"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    found = {one["name"]: one for one in json.loads(done.stdout)["findings"]}
    assert done.returncode == 0
    assert found["limits"]["status"] == "note"
    assert "ulimit -n" in found["limits"]["advice"]


def test_no_place_for_a_temporary_file(capsys, monkeypatch, tmp_path):
    only(doctor._limits, monkeypatch)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    code, found = examined(capsys)
    assert code == 1
    assert "TMPDIR" in found["limits"]["advice"]


def test_a_container_with_less_than_its_machine(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "CHECKS", (doctor._cores, doctor._settings))
    monkeypatch.setattr(doctor, "_cpu_quota", lambda: 0.5)
    monkeypatch.setattr(doctor, "_memory_limit", lambda: 512 << 20)
    code, found = examined(capsys)
    assert code == 0
    assert "PLAUDIT_WORKERS=1" in found["cores"]["advice"]
    assert "512 MiB" in found["settings"]["advice"]


def test_an_extra_that_brings_others_needs_what_they_need(monkeypatch):
    wanted = [
        'uvicorn; extra == "serve"',
        'altair>=5; extra == "report"',
        'plaudit[report,serve]; extra == "watch"',
        'mkdocs; extra == "docs"',
    ]
    monkeypatch.setattr(doctor, "_requirements", lambda _: wanted)
    monkeypatch.setattr(doctor, "_version", lambda name: None if name == "altair" else "1.0")
    assert doctor._extras().values == {"serve": True, "report": False, "watch": False}
