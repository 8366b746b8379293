"""A new reward is one file: whoever names it finds it, its column and its reasons."""

import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import httpx
import pyarrow.parquet as pq
import pytest

import plaudit
from plaudit.rewards import all_rewards, broken_namespaces, namespaces, reward_named
from plaudit.scores.decorators import declare
from served import served

POLITE = '''\
"""Politeness."""

from plaudit import Score, reward
from plaudit.inputs.columns import same_length
from plaudit.inputs.completions import texts_of


@reward
def polite(completions, courtesy, **kwargs):
    """1.0 where the text holds the courtesy that its row asks for; else 0.0.

    >>> polite(["Yes, please."], courtesy=["please"])
    [1.0]
    """
    same_length(completions, courtesy=courtesy)
    return [_polite(text, word) for text, word in zip(texts_of(completions), courtesy)]


def _polite(text, word):
    said = word.lower() in text.lower()
    return Score(float(said), f"It says {'' if said else 'no '}{word}.", right=said)
'''
RUN = [sys.executable, "-c", "import sys; from plaudit.cli import main; sys.exit(main())"]
RECIPE = '[[rewards]]\nreward = "toy.polite"\n\n[columns]\ncourtesy = "asked"\n'


def package(folder, name, module, source, system):
    """An installed package, as pip leaves it: a module, and an entry point that names it."""
    (folder / f"{module}.py").write_text(source)
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[plaudit.rewards]\n{system} = {module}\n")


@pytest.fixture(params=["a file of plaudit", "another package"])
def environment(request, tmp_path):
    """What a process needs to know to find `toy.polite`."""
    place = tmp_path / "installed"
    place.mkdir()
    if request.param == "another package":
        package(place, "acme-rewards", "acme_politeness", POLITE, "toy")
    else:
        source = Path(plaudit.__file__).parent
        shutil.copytree(source, place / "plaudit", ignore=shutil.ignore_patterns("__pycache__"))
        (place / "plaudit" / "rewards" / "toy.py").write_text(POLITE)
    return {"PYTHONPATH": str(place)}


def test_a_reward_is_one_short_file_that_every_command_finds(environment, tmp_path):
    assert len(POLITE.splitlines()) <= 30

    def run(*arguments):
        ended = subprocess.run(
            [*RUN, *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**os.environ, **environment},
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    listed = "toy.polite(completions, courtesy, **kwargs)\n    1.0 where the text holds the"
    assert listed in run("list")

    row = ("--completion", "Yes, please.", "--column", "courtesy=please")
    tried = json.loads(run("try", "toy.polite", *row, "--json"))
    assert (tried["value"], tried["why"]) == (1.0, "It says please.")

    recipe, table = tmp_path / "toy.toml", tmp_path / "rows.jsonl"
    recipe.write_text(RECIPE)
    rows = [{"completion": "Yes, please.", "asked": "please"}, {"completion": "No.", "asked": "x"}]
    table.write_text("\n".join(map(json.dumps, rows)))
    run("score", "rows.jsonl", "--recipe", "toy.toml", "--out", "scored")
    assert pq.read_table(tmp_path / "scored")["polite"].to_pylist() == [1.0, 0.0]

    with served(tmp_path, recipe=str(recipe), **environment) as server:
        batch = {"completions": ["Yes, please.", "No."], "columns": {"asked": ["please", "x"]}}
        answer = httpx.post(f"{server.url}/v1/score", json=batch).json()
    assert [row["total"] for row in answer["rows"]] == [1.0, 0.0]


# --- the systems of other packages ----------------------------------------------------------------


@pytest.fixture
def installed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)

    def install(name, module, source, system):
        package(tmp_path, name, module, source, system)

    return install


def test_a_package_that_cannot_be_imported_breaks_nothing_but_itself(installed, capsys):
    installed("acme", "acme_broken", "import no_such_thing", "acme")
    installed("toys", "toys_polite", POLITE, "toys")
    assert namespaces()[-2:] == ["acme", "toys"]
    assert {"answers", "canoe", "trl", "vlm_r1"} < {*namespaces()}
    assert "toys.polite" in all_rewards()
    problem = "acme_broken of acme cannot be imported: ModuleNotFoundError: No module named"
    assert broken_namespaces() == {"acme": f"{problem} 'no_such_thing'"}
    with pytest.raises(ValueError, match=f"no reward is called 'acme.polite': {problem}"):
        reward_named("acme.polite")

    from plaudit.cli import main

    assert main(["list"]) == 0
    out, err = capsys.readouterr()
    assert "toys.polite(" in out
    assert err == f"plaudit: no rewards of acme: {problem} 'no_such_thing'\n"


@pytest.mark.parametrize("source", ["raise SystemExit(3)", "1 / 0", "def"])
def test_whatever_importing_a_package_does_the_list_goes_on(installed, source, capsys):
    module = f"acme_{abs(hash(source))}"
    installed("acme", module, source, "acme")
    from plaudit.cli import main

    assert main(["list"]) == 0
    assert f"plaudit: no rewards of acme: {module} of acme cannot be" in capsys.readouterr().err


def test_a_package_takes_no_name_of_plaudit_s(installed):
    installed("acme", "acme_trl", POLITE, "trl")
    installed("toys", "toys_think", POLITE.replace("polite", "think_format_reward"), "toys")
    assert broken_namespaces() == {
        "trl": "acme_trl of acme is left out: plaudit itself has a namespace of that name"
    }
    assert "trl.polite" not in all_rewards()
    assert reward_named("think_format_reward")[0] == "trl.think_format_reward"
    assert reward_named("toys.think_format_reward")[0] == "toys.think_format_reward"


def test_a_module_has_the_rewards_that_it_defines_or_exports(installed):
    imports = "from plaudit.rewards.trl import accuracy_reward, think_format_reward\n"
    installed("acme", "acme_importing", imports + POLITE, "acme")
    installed("toys", "toys_exporting", imports + "__all__ = ['accuracy_reward']\n", "toys")
    added = [name for name in all_rewards() if name.startswith(("acme.", "toys."))]
    assert added == ["acme.polite", "toys.accuracy_reward"]


# --- what a reward says of itself -----------------------------------------------------------------


def test_a_signature_tells_what_is_given():
    values = list[float | None]
    for name, reward in all_rewards().items():
        given = inspect.signature(reward).return_annotation
        if hasattr(reward, "scores"):
            is_of_one_text = "content" in inspect.signature(reward).parameters
            assert given == (float if is_of_one_text else values), name
            assert reward.__annotations__["return"] == given, name
    assert inspect.signature(plaudit.rewards.trl.accuracy_reward_async).return_annotation == values
    assert inspect.signature(plaudit.rewards.trl.accuracy_reward.scores).return_annotation != values


def test_the_documentation_describes_every_reward():
    page = Path(__file__).parents[2].joinpath("docs", "rewards.md").read_text("utf-8")
    for name in all_rewards():
        namespace, _, reward = name.partition(".")
        section = page.partition(f"`plaudit.rewards.{namespace}`")[2].partition("\n## ")[0]
        assert f"`{reward}(" in section, name


def test_what_is_needed_through_keywords_is_a_column():
    def mine(completions, level=1, **kwargs): ...

    declaration = declare(mine, columns=["level"], needs=["problem"])
    assert (declaration.columns, declaration.needs) == (("level", "problem"), ("problem",))


def test_what_cannot_be_given_cannot_be_declared():
    def mine(completions): ...

    with pytest.raises(ValueError, match="mine declares problem, but has no such argument"):
        declare(mine, needs=["problem"])
