"""Recipes: rewards of one's own, by the module that defines them."""

import pytest
from recipe_samples import RIGHT, only, totals

import own_rewards
from plaudit.recipes import Component, Recipe
from plaudit.scores import Score

# --- rewards of one's own -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reward", "columns", "expected"),
    [
        ("own_rewards:brief", {}, [1.0, 0.0]),
        ("own_rewards.brief", {}, [1.0, 0.0]),
        ("own_rewards:strict", {"answers": ["4", "5"]}, [1.0, None]),
        ("own_rewards:keywords", {"a": [1, 2], "b": [3, 4]}, [2.0, 2.0]),
        ("own_rewards:explained", {}, [0.5, 0.5]),
        ("own_rewards:starts", {"solution": ["4", "4"]}, [1.0, 0.0]),
        ("own_rewards:factory", {}, [1.0, 0.0]),
        ("own_rewards:ids", {"completion_ids": [[1], [1, 2]]}, [1.0, 2.0]),
    ],
)
def test_a_reward_of_ones_own(reward, columns, expected):
    assert totals(only(reward), ["4", "many words"], **columns) == expected


def test_a_reward_of_ones_own_that_takes_everything_takes_mapped_columns():
    kept = only("own_rewards:keywords", columns_of_all={"anything": "a"})
    # completions comes after anything and, by its name in the table, a.
    assert totals(kept, ["x"], a=[1]) == [2.0]


@pytest.mark.parametrize("name", ["shorter_than_three", "half", "method"])
def test_an_object_of_ones_own(name):
    assert totals(only(f"own_rewards:{name}"), ["4"]) == [1.0]


def test_an_object_that_plaudit_made():
    batch = {"completions": [RIGHT], "solution": ["4"], "completion_ids": [[1] * 50]}
    assert totals(only("own_rewards:brief_math"), **batch) == [0.75]


@pytest.mark.parametrize(
    ("reward", "params", "complaint"),
    [
        ("os:system", {"command": "touch {}"}, "os is a module of Python itself"),
        ("subprocess:run", {}, "subprocess is a module of Python itself"),
        ("os.path:join", {}, "os.path is a module of Python itself"),
        ("builtins:eval", {}, "builtins is a module of Python itself"),
        (
            "own_rewards:command",
            {"command": "touch {}"},
            "is not a function written in Python",
        ),
        ("own_rewards:length", {}, "is not a function written in Python"),
        ("own_rewards:dumps", {}, 'defined in json, not in own_rewards: name it as "json:dumps"'),
        ("own_rewards:unmarked", {"limit": 1}, "takes no completions.*@plaudit.reward_factory"),
        ("own_rewards:unmarked", {}, "takes no completions.*@plaudit.reward_factory"),
        ("own_rewards:Unmarked", {"limit": 1}, "is a class: mark it with @plaudit.reward_factory"),
        ("own_rewards:Unmarked", {}, "is a class: mark it with @plaudit.reward_factory"),
        ("numpy:save", {"file": "{}", "arr": 1}, "takes no completions"),
        ("plaudit.cli:main", {"arguments": ["list"]}, "takes no completions"),
    ],
)
def test_loading_a_recipe_calls_nothing_that_is_not_marked(reward, params, complaint, tmp_path):
    made = tmp_path / "made"
    filled = {
        name: value.format(made) if isinstance(value, str) else value
        for name, value in params.items()
    }
    with pytest.raises(ValueError, match=complaint):
        only(reward, params=filled)
    assert not made.exists()
    assert own_rewards.called == []


def test_a_function_may_be_exported_by_the_package_that_defines_it(tmp_path, monkeypatch):
    package = tmp_path / "exported_rewards"
    package.mkdir()
    (package / "_brief.py").write_text("def brief(completions):\n    return [1.0]\n")
    (package / "__init__.py").write_text("from exported_rewards._brief import brief\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert totals(only("exported_rewards:brief"), ["4"]) == [1.0]


def test_a_class_is_a_factory_and_its_object_has_the_name_of_the_class():
    shorter = only("own_rewards:Shorter", params={"than": 3})
    assert shorter.components[0].name == "Shorter"
    assert totals(shorter, ["ab", "abc"]) == [1.0, 0.0]
    longer = only("own_rewards:Longer", params={"than": 3})
    assert totals(longer, ["abc", "abcd"]) == [0.0, 1.0]
    row = shorter(["ab"])[0]
    assert row.components["Shorter"].why == "own_rewards:Shorter gives 1."


def test_own_rewards_that_give_something_odd():
    with pytest.raises(ValueError, match="too_few gave 1 values for 2 completions") as caught:
        only("own_rewards:too_few")(["a", "b"])
    assert caught.value.__notes__ == ["in too_few (own_rewards:too_few)"]
    assert totals(only("own_rewards:odd"), ["a", "b"]) == [None, None]
    with pytest.raises(TypeError, match="odd must give numbers, row 2 is str: 'x'"):
        only("own_rewards:odd")(["a", "b", "c"])


@pytest.mark.parametrize("given", [{0: 1.0, 1: 1.0}, {1.0, 0.0}, b"10", "10", 1.0, None])
def test_what_is_no_list_of_values_is_refused(given):
    recipe = Recipe("odd", (Component("odd", lambda completions, **kwargs: given),))
    with pytest.raises(TypeError, match="must give a list with a number for each of the 2"):
        recipe(["a", "b"])


def test_a_score_that_is_not_a_number_skips_its_row():
    nan = Score(float("nan"), "0 / 0")
    recipe = Recipe("odd", (Component("odd", lambda completions, **kwargs: [nan]),))
    (row,) = recipe(["a"])
    assert (row.total, row.components["odd"].problem) == (None, "not a number")


@pytest.mark.parametrize(
    ("reward", "complaint"),
    [
        ("trl.acuracy_reward", "Did you mean trl.accuracy_reward?"),
        ("accuracy_reward", "the name of several rewards"),
        ("trl.accuracy_reward_async", "Did you mean trl.accuracy_reward?"),
        ("xyz", "`plaudit list` names them all"),
        ("no_such_module:f", "no module no_such_module; install it, or name .* PYTHONPATH"),
        ("own_rewards.py:brief", 'name a module and not a file, such as "own_rewards:brief"'),
        ("lib/own_rewards.py:brief", 'such as "own_rewards:brief"'),
        (".own_rewards:brief", 'such as "own_rewards:brief"'),
        ("own_rewards:breif", 'own_rewards has no "breif"; did you mean "brief"?'),
        ("own_rewards:constant", "must be a function, it is int"),
        ("own_rewards:makes_nothing", "must be a function, it is NoneType"),
        (3, "reward must be text or a function, got 3"),
    ],
)
def test_a_reward_that_is_none(reward, complaint):
    with pytest.raises(ValueError, match=complaint):
        only(reward)


def test_a_module_that_cannot_import_what_it_needs_says_so(broken):
    with pytest.raises(ModuleNotFoundError, match="no_such_thing"):
        only("broken_rewards:f")
