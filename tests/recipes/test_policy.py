"""What a status is worth in a recipe, and when a run with failures stops."""

import asyncio
import pickle
import warnings

import pytest
from recipe_samples import RIGHT, WRONG

from plaudit.recipes import Component, Recipe, TooManyFailuresError, load
from plaudit.recipes.row_score import DEFAULTS
from plaudit.scores import Score, reward

pytestmark = pytest.mark.filterwarnings("ignore:plaudit. .* skips rows")


@reward
def says(completions, **kwargs):
    """A value and a status for each completion, such as "0 timeout"."""
    rows = (text.split() for text in completions)
    return [Score(None if v == "-" else float(v), "So.", status=s) for v, s, *_ in rows]


@reward
def found_elsewhere(completions, **kwargs):
    return [Score(1.0, "The texts are the same.", status="limit", right=True) for _ in completions]


def long(completions, **kwargs):
    return [float(len(text) > 9) for text in completions]


def recipe(*components, **settings):
    return Recipe("test", components or (Component("said", says),), **settings)


def values(a_recipe, *completions):
    return [row.components["said"].value for row in a_recipe(list(completions))]


def test_what_the_machinery_caused_is_skipped_and_what_the_model_caused_is_zero():
    given = [f"1 {status}" for status in (*DEFAULTS, "no_answer", "scored")]
    assert values(recipe(), *given) == [None, None, 0.0, None, 1.0, 1.0, 1.0, 1.0]


def test_a_recipe_and_a_component_say_what_a_status_is_worth():
    on = {"timeout": "zero", "limit": "keep", "error": -1, "no_answer": -0.5}
    given = ["1 timeout", "1 limit", "1 error", "0 no_answer"]
    assert values(recipe(on=on), *given) == [0.0, 1.0, -1.0, -0.5]
    own = Component("said", says, on={"timeout": 0.25})
    assert values(recipe(own, on=on), *given) == [0.25, 1.0, -1.0, -0.5]


def test_the_reason_says_that_it_was_the_recipe():
    [row] = recipe()(["0 timeout"])
    assert row.components["said"].why == "The row is skipped, as the recipe says for timeout. So."


def test_what_another_rule_found_right_is_not_lost():
    [row] = recipe(Component("said", found_elsewhere))(["x"])
    assert row.total == 1.0


def test_a_row_without_a_gold_is_skipped_by_every_recipe():
    alone = recipe(Component("", "canoe.accuracy_reward"))
    [row] = alone(["<answer>Paris</answer>"], solution=[None])
    assert (row.total, row.status) == (None, "bad_gold")


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ({"time_out": "skip"}, 'on: there is no status "time_out"; did you mean "timeout"?'),
        ({"scored": "skip"}, 'on: there is no status "scored"'),
        ({"timeout": "none"}, 'on: timeout must be "skip", "zero", "keep" or a finite number'),
        ({"timeout": True}, "on: timeout must be"),
        ({"timeout": float("nan")}, "on: timeout must be"),
        ("skip", "on must be a table, got 'skip'"),
    ],
)
def test_a_wrong_policy_is_refused(on, message):
    for make in (lambda: recipe(on=on), lambda: Component("said", says, on=on)):
        with pytest.raises(ValueError) as caught:
            make()
        assert str(caught.value).startswith(message)


def test_policies_are_read_from_a_file_and_written_to_one(tmp_path):
    file = tmp_path / "strict.toml"
    file.write_text(
        "fail_above = 0.5\n[on]\ntimeout = 'zero'\ntruncated = -1\n"
        "[[rewards]]\nreward = 'trl.accuracy_reward'\non = { limit = 'skip' }\n"
        "when = { task = ['math', 'algebra'] }\n"
    )
    loaded = load(file)
    assert (loaded.on, loaded.fail_above) == ({"timeout": "zero", "truncated": -1}, 0.5)
    again = tmp_path / "again.toml"
    again.write_text(loaded.to_toml())
    assert load(again).to_toml() == loaded.to_toml()
    assert load(again).components[0].on == {"limit": "skip"}
    assert load(again).components[0].when == {"task": ["math", "algebra"]}


# --- a row of which one component failed ----------------------------------------------------------

TWO = (Component("said", says), Component("long", long, weight=0.5))


def test_a_row_of_which_a_component_failed_has_no_total():
    rows = recipe(*TWO)(["0 timeout and so on", "1 scored and so on", "1 scored"])
    assert [row.total for row in rows] == [None, 1.5, 1.0]
    left_out = rows[0].components["long"]
    assert (left_out.value, left_out.ungated) == (None, 1.0)
    assert left_out.why.startswith("It is left out, since said is (timeout).")


def test_a_component_without_weight_leaves_out_no_row():
    watched = (Component("said", says, weight=0.0), Component("long", long))
    assert recipe(*watched)(["0 timeout and so on"])[0].total == 1.0


def test_a_component_that_skips_a_row_by_itself_leaves_out_no_other():
    assert recipe(*TWO)(["- scored and so on"])[0].total == 0.5
    assert recipe(*TWO)(["- bad_gold and so on"])[0].total == 0.5


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_functions_of_a_recipe_leave_out_the_same_rows(asynchronous):
    completions = ["0 timeout and so on", "1 scored and so on", "1 scored"]
    functions = recipe(*TWO).reward_funcs(asynchronous=asynchronous)
    for order in (functions, functions[::-1]):
        assert called(order, completions, asynchronous) == {
            "said": [None, 1.0, 1.0],
            "long": [None, 1.0, 0.0],
        }


def called(functions, completions, asynchronous):
    async def at_once():
        return await asyncio.gather(*(f(completions=completions) for f in functions))

    values = asyncio.run(at_once()) if asynchronous else [f(completions) for f in functions]
    return {f.__name__: v for f, v in zip(functions, values, strict=True)}


def test_the_functions_of_a_recipe_score_a_batch_once_each():
    calls = []

    def counted(completions, **kwargs):
        calls.append(len(completions))
        return [1.0] * len(completions)

    one, other = recipe(Component("a", counted), Component("b", counted)).reward_funcs()
    batch, again = ["x", "y"], ["x", "y", "z"]
    assert (one(batch), other(batch)) == ([1.0] * 2, [1.0] * 2)
    assert calls == [2, 2]
    one(again)
    again[0] = "changed"
    other(again)  # not what was scored
    assert calls == [2, 2, 3, 3, 3, 3]


def test_a_function_that_is_used_alone_needs_the_columns_of_no_other():
    with_gold = Component("", "trl.accuracy_reward")
    function = recipe(with_gold, Component("long", long)).reward_funcs()[1]
    assert function(completions=["rather long"]) == [1.0]
    assert pickle.loads(pickle.dumps(load("trl-reasoning").reward_funcs()))[1]([RIGHT, WRONG]) == [
        1.0,
        1.0,
    ]


# --- a run that must not train on noise -----------------------------------------------------------


def test_a_run_stops_if_too_many_rows_fail():
    half = ["1 scored", "0 timeout"] * 5
    with pytest.raises(TooManyFailuresError) as caught:
        recipe()(half)
    assert str(caught.value) == (
        "said failed on 5 of the last 10 rows (timeout 5), and fail_above is 0.2; the last: "
        "The row is skipped, as the recipe says for timeout. So."
    )
    with pytest.raises(TooManyFailuresError):
        recipe().reward_funcs()[0](half)
    with pytest.raises(TooManyFailuresError):
        asyncio.run(recipe().reward_funcs(asynchronous=True)[0](half))
    with pytest.raises(TooManyFailuresError):
        asyncio.run(recipe().score_async(half))
    assert recipe(fail_above=0.9)(half)[1].total is None
    assert recipe(on={"timeout": "zero"})(half)[1].total == 0.0
    assert recipe().score_batch(half).totals[1] is None  # tables are scored to the end


def test_a_run_goes_on_if_some_rows_fail_by_chance():
    few = recipe()
    for _ in range(100):
        few(["1 scored"] * 9 + ["0 timeout"])


def test_trainers_that_score_row_by_row_stop_as_well():
    each = recipe()
    with pytest.raises(TooManyFailuresError):
        for row in range(200):
            each(["0 error" if row % 2 else "1 scored"])


def test_rows_that_are_skipped_on_purpose_stop_nothing():
    of_no_other = recipe()
    for status in ("scored", "bad_gold"):
        of_no_other([f"- {status}"] * 100)


def test_a_first_failure_is_said_aloud_and_others_are_counted():
    a_recipe = recipe()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            a_recipe(["0 timeout"] + ["1 scored"] * 9)
    [warning] = caught
    assert str(warning.message).startswith("plaudit: said skips rows with the status timeout")


@pytest.mark.parametrize("share", [-0.1, 1.1, "all", True])
def test_a_wrong_share_is_refused(share):
    with pytest.raises(ValueError, match="fail_above must be a share from 0 to 1"):
        recipe(fail_above=share)
