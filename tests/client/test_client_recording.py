"""A run through a server is recorded as a run without one, and no other recipe slips in."""

import asyncio
import pickle
import shutil
from dataclasses import asdict, replace
from types import SimpleNamespace

import pytest

import plaudit
from plaudit.recipes import Component, Recipe, load
from plaudit.runs import finish, open_recorded
from plaudit.serve import serving
from plaudit.serve._protocol import fingerprint_of
from plaudit.trainers.client import AsyncClient, Client, ServerError
from served import served

RECIPE = Recipe(
    "thinking",
    (
        Component("accuracy", "answers.answer_reward", weight=2.0),
        Component("format", "trl.think_format_reward", weight=0.5, gate="accuracy"),
    ),
)
BATCH = {
    "prompts": ["2 + 2?"] * 2 + ["3 + 3?"] * 2,
    "completions": [
        r"<think>Hm.</think> \boxed{4}",
        r"\boxed{5}",
        "<think>…</think>",
        r"\boxed{6}",
    ],
    "solution": ["4", "4", "6", "6"],
    "completion_ids": [[1, 2, 3], [1], [], [1, 2]],
    "level": [1, 1, 2, 2],
}


def called_as_functions(rewards):
    return [function(**at(7)) for function in rewards.reward_funcs()]


def called_as_coroutines(rewards):
    async def call():
        return [await function(**at(7)) for function in functions]

    functions = rewards.reward_funcs()
    return asyncio.run(call())


def called_as_coroutine(rewards):
    async def call():
        return await rewards(**at(7))

    return asyncio.run(call())


CALLS = {
    "client": (Client, lambda client: client(**at(7))),
    "score": (Client, lambda client: client.score(**at(7))),
    "functions": (Client, called_as_functions),
    "pickled": (Client, lambda client: pickle.loads(pickle.dumps(client))(**at(7))),
    "async client": (AsyncClient, called_as_coroutine),
    "coroutines": (AsyncClient, called_as_coroutines),
}


def at(step):
    return {**BATCH, "trainer_state": SimpleNamespace(global_step=step)}


def recorded(folder):
    """Every row and every figure of a record, but for when it was made and how long it took."""
    finish(folder)
    run = open_recorded(folder)
    run.refresh()
    rows = [row for step in run.steps for row in run.step_rows(step.step)]
    return [_without_times(one) for one in (*rows, *map(asdict, run.steps))]


def _without_times(value):
    """Leave out when something was made and how long it took, wherever it is."""
    if isinstance(value, dict):
        kept = value.keys() - {"seconds", "at", "part", "rewards"}  # of each reward: its seconds
        return {key: _without_times(value[key]) for key in kept}
    return [_without_times(one) for one in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def url():
    with serving(RECIPE) as address:
        yield address


@pytest.fixture(scope="module")
def direct(tmp_path_factory):
    folder = tmp_path_factory.mktemp("direct")
    plaudit.record(RECIPE, folder)(**at(7))
    return recorded(folder)


@pytest.mark.parametrize("call", CALLS)
def test_what_a_client_scores_is_recorded_whole(tmp_path, url, direct, call):
    kind, calling = CALLS[call]
    calling(plaudit.record(kind(url), tmp_path))
    assert recorded(tmp_path) == direct
    assert [row["status"] for row in direct[:4]] == ["scored", "scored", "no_answer", "scored"]


@pytest.mark.parametrize("call", CALLS)
def test_the_environment_has_a_client_record(tmp_path, monkeypatch, url, direct, call):
    kind, calling = CALLS[call]
    monkeypatch.setenv("PLAUDIT_RECORD", str(tmp_path))
    calling(kind(url))
    assert recorded(tmp_path) == direct


def test_a_recorded_client_gives_and_logs_what_it_gave(tmp_path, url):
    def heard(rewards):
        extra, metrics = [], []
        log = {
            "log_extra": lambda *one: extra.append(one),
            "log_metric": lambda name, value: "seconds" in name or metrics.append((name, value)),
        }
        given = [function(**at(7), **log) for function in (rewards, *rewards.reward_funcs())]
        return given, extra, metrics

    with Client(url) as client:
        assert heard(plaudit.record(client, tmp_path)) == heard(client)


def test_weights_and_folders_that_a_client_cannot_have(tmp_path, url):
    (tmp_path / "part-0.parquet").write_text("of something else")
    with Client(url) as client:
        with pytest.raises(ValueError, match="of something else"):
            plaudit.record(client, tmp_path)
        with pytest.raises(ValueError, match="weights are for functions"):
            plaudit.record(client, tmp_path / "other", weights=[1.0, 2.0])


def test_the_server_leaves_the_record_of_clients_to_them(tmp_path):
    """With one folder for both, each row would be there twice."""
    with served(tmp_path, recipe="math", PLAUDIT_RECORD=str(tmp_path / "run")) as server:
        assert Client(server.url)(BATCH["completions"], solution=BATCH["solution"])
        assert not (tmp_path / "run" / "_run.json").exists()
        assert any("where that runs" in str(line) for line in server.log())


# --- the recipe of a server -----------------------------------------------------------------------

FIRST = RECIPE.components[0]
OTHERS = {
    "weight": replace(RECIPE, components=(replace(FIRST, weight=1.0), *RECIPE.components[1:])),
    "gate": replace(RECIPE, components=(FIRST, replace(RECIPE.components[1], gate=None))),
    "reward": replace(
        RECIPE, components=(replace(FIRST, reward="trl.accuracy_reward"), *RECIPE.components[1:])
    ),
    "columns": replace(RECIPE, columns={"solution": "level"}),
    "right": replace(RECIPE, components=(replace(FIRST, right=0.5), *RECIPE.components[1:])),
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_server_with_another_recipe_is_an_error(other):
    with serving(RECIPE) as url:
        client = Client(url, patience=5)
        functions = client.reward_funcs()
        before = client(**BATCH)
    port = int(url.rpartition(":")[2])
    with serving(RECIPE, port=port):  # a restart alone is no error
        assert client(**BATCH) == before
    with serving(OTHERS[other], port=port):
        for call in (client, client.score, pickle.loads(pickle.dumps(client)), *functions):
            with pytest.raises(ServerError, match="another recipe than before: its fingerprint"):
                call(**BATCH)
        assert len(Client(url)(**BATCH)) == 4


def test_a_changed_source_of_a_users_reward_is_another_recipe(tmp_path):
    module, recipe = tmp_path / "polite_rewards.py", tmp_path / "polite.toml"
    text = "def polite(completions, **kwargs):\n    return [1.0 for text in completions]\n"
    recipe.write_text('name = "polite"\n\n[[rewards]]\nreward = "polite_rewards:polite"\n')
    found = set()
    for source in (text, text.replace("1.0", "2.0"), text):
        module.write_text(source)
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
        with served(tmp_path, recipe=str(recipe), ready=False) as server:
            client = Client(server.url)
            found.add((client._recipe.fingerprint, client(["a"])[0]))
    assert len(found) == 2


def test_a_fingerprint_is_the_same_however_the_recipe_is_written(tmp_path):
    file = tmp_path / "own.toml"
    for name in ("math", "trl-reasoning", "vlm-r1-rec"):
        file.write_text(load(name).to_toml())
        assert fingerprint_of(load(file)) == fingerprint_of(load(name))

    def local(completions, **kwargs):
        return [0.0 for _ in completions]

    made = [Recipe("own", (Component("own", local, params={}),)) for _ in range(2)]
    assert len({fingerprint_of(recipe) for recipe in made}) == 1
