"""Recipes: as the reward functions of a trainer."""

import asyncio
import inspect
import pickle

import pytest
from recipe_samples import GATED, RIGHT, WRONG, only, totals

from plaudit.recipes import Component, Recipe, explain

# --- for trainers ---------------------------------------------------------------------------------


def test_reward_functions_for_a_trainer():
    functions = pickle.loads(pickle.dumps(GATED.reward_funcs()))
    assert [function.__name__ for function in functions] == ["right", "form", "short"]
    assert GATED.reward_weights() == [1.0, 0.5, 4.0]
    batch = {
        "prompts": ["2 + 2?"] * 3,
        "completions": [RIGHT, WRONG, RIGHT],
        "completion_ids": [[1]] * 3,
        "solution": ["4", "4", None],
        "trainer_state": object(),
    }
    assert [function(**batch) for function in functions] == [
        [1.0, 0.0, None],
        [1.0, 0.0, None],
        [0.0, 0.0, None],
    ]


def test_asynchronous_reward_functions_say_the_same():
    functions = pickle.loads(pickle.dumps(GATED.reward_funcs(asynchronous=True)))
    assert [function.__name__ for function in functions] == ["right", "form", "short"]
    assert all(inspect.iscoroutinefunction(function) for function in functions)
    batch = {"completions": [RIGHT, WRONG, RIGHT], "solution": ["4", "4", None]}

    async def all_of_them():
        return await asyncio.gather(*(function(**batch) for function in functions))

    assert asyncio.run(all_of_them()) == [function(**batch) for function in GATED.reward_funcs()]


def test_a_recipe_scores_on_an_event_loop_what_it_scores_in_a_thread():
    for recipe in (GATED, only("own_rewards:factory", params={"limit": 1})):
        batch = {"completions": [RIGHT, WRONG], "solution": ["4", "4"]}
        assert asyncio.run(recipe.score_async(**batch)) == recipe(**batch)


def test_an_error_on_an_event_loop_names_the_component():
    with pytest.raises(TypeError) as caught:
        asyncio.run(GATED.score_async([42], solution=["4"]))
    assert caught.value.__notes__ == ["in right (trl.accuracy_reward)"]


def test_reward_functions_tell_the_trainer_of_trouble_by_the_component_s_name():
    metrics, extra = {}, {}
    GATED.reward_funcs()[0](
        completions=[RIGHT], solution=[None], log_metric=metrics.__setitem__,
        log_extra=extra.__setitem__,
    )  # fmt: skip
    assert metrics["right/bad_gold"] == 1.0
    assert extra["gold_parsed"] == ["[unparseable]"]


def test_reward_functions_can_be_explained_and_ask_for_their_columns():
    form = GATED.reward_funcs()[1]
    assert explain(form, WRONG, "4").value == 0.0
    with pytest.raises(ValueError, match='no column "solution", which "right" needs'):
        form(completions=[RIGHT])


def test_a_recipe_is_picklable_though_what_a_factory_made_is_not():
    made = only("own_rewards:factory", params={"limit": 1})
    assert made.components[0].name == "factory"
    assert totals(made, ["a", "ab"]) == [1.0, 0.0]
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert totals(again, ["a", "ab"]) == [1.0, 0.0]


def test_a_coroutine_function_is_a_reward_with_and_without_an_event_loop():
    recipe = Recipe("own", (Component("later", "own_rewards:later"),))

    async def on_a_loop():
        (function,) = recipe.reward_funcs(asynchronous=True)
        rows = await recipe.score_async(["a", "b"])
        return [rows, recipe(["a", "b"]), await function(["a", "b"])]

    rows = recipe(["a", "b"])
    assert [row.total for row in rows] == [1.0, 1.0]
    assert asyncio.run(on_a_loop()) == [rows, rows, [1.0, 1.0]]


def test_a_column_with_the_completions_is_not_taken_for_what_is_scored():
    def seen(completions, **kwargs):
        return [float(len(text)) for text in completions]

    recipe = Recipe("seen", (Component("", seen),), columns={"completions": "response"})
    assert [row.total for row in recipe(["abc"], response=["a"])] == [3.0]
