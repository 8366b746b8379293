"""Recipes: what a row gets, and what a recipe refuses."""

import asyncio
from dataclasses import replace

import pytest
from recipe_samples import GATED, RIGHT, WRONG, only, recipe

from plaudit.recipes import Component, Recipe, RowScore, explain, load
from plaudit.rewards import trl
from plaudit.scores import Score

# --- what a row gets ------------------------------------------------------------------------------


def test_a_total_is_the_weighted_sum_and_each_component_keeps_its_score():
    mixed = recipe(
        Component("right", "trl.accuracy_reward"),
        Component("form", "trl.think_format_reward", weight=0.25),
    )
    rows = mixed([RIGHT, r"\boxed{4}", WRONG], solution=["4", "4", "4"])
    assert [row.total for row in rows] == [1.25, 1.0, 0.25]
    assert list(rows[0].components) == ["right", "form"]
    assert rows[2].components["right"] == explain(trl.accuracy_reward, WRONG, "4")
    assert rows[1].why.startswith("right 1.0: ")
    assert rows[1].why.endswith("; form 0.0: The text does not start with <think>")


def test_a_component_that_is_none_is_left_out_and_all_none_is_none():
    both = load("trl-reasoning")
    row = both(["<think>Hm.</think> 4"], solution=[None])[0]
    assert (row.total, row.status) == (1.0, "bad_gold")
    row = load("trl-math")([RIGHT], solution=[None])[0]
    assert (row.total, row.status) == (None, "bad_gold")
    assert row.why == "accuracy_reward None: There is no gold: the row is skipped"


def test_the_status_of_a_row_is_its_worst():
    def status(*statuses):
        scores = {str(place): Score(0.0, "", status=s) for place, s in enumerate(statuses)}
        return RowScore(0.0, scores).status

    assert status("equal", "gated") == "scored"
    assert status("different", "no_answer") == "no_answer"
    assert status("no_answer", "bad_gold") == "bad_gold"
    assert status("bad_gold", "limit") == "limit"
    assert status("timeout", "limit") == "timeout"
    assert status("timeout", "error", "bad_gold") == "error"


def test_a_limit_of_the_judge_is_told():
    row = load("trl-math")([r"\boxed{9^{9^{9^{9}}}}"], solution=["4"])[0]
    assert (row.total, row.status) == (0.0, "limit")


def test_no_rows():
    assert load("trl-math")([], solution=[]) == []


# --- gates ----------------------------------------------------------------------------------------


def test_a_gated_component_counts_only_where_its_gate_passed():
    rows = GATED([RIGHT, WRONG], solution=["4", "4"])
    assert [row.total for row in rows] == [1.5, 0.0]
    held = rows[1].components["form"]
    assert (held.value, held.ungated, held.status) == (0.0, 1.0, "gated")
    assert held.why.startswith("It counts 0, since right did not pass. The text starts")


def test_a_gate_that_is_held_back_itself_lets_nothing_pass():
    rows = GATED([r"\boxed{4}", r"\boxed{5}"], solution=["4", "4"])
    assert [row.total for row in rows] == [1.0, 0.0]
    assert rows[1].components["short"].status == "gated"


def test_where_a_gate_is_skipped_so_is_what_it_gates():
    row = GATED([RIGHT], solution=[None])[0]
    assert row.total is None
    held = row.components["form"]
    assert (held.value, held.ungated) == (None, 1.0)
    assert held.why.startswith("It is left out, since right is.")


def test_a_gated_component_has_one_value_wherever_it_is_asked_for():
    batch = {"completions": [RIGHT, WRONG, RIGHT], "solution": ["4", "4", None]}
    rows = GATED(**batch)
    for function in GATED.reward_funcs():
        asked = [row.components[function.__name__] for row in rows]
        assert function.scores(**batch) == asked
        assert function(**batch) == [score.value for score in asked]


def test_what_is_gated_stays_in_trouble_if_it_was():
    twice = recipe(
        Component("form", "trl.think_format_reward"),
        Component("right", "trl.accuracy_reward", gate="form"),
    )
    row = twice([r"\boxed{9^{9^{9^{9}}}}"], solution=["4"])[0]
    assert (row.total, row.status) == (0.0, "limit")
    assert twice([r"\boxed{4}"], solution=[None])[0].components["right"].status == "bad_gold"


# --- what is right --------------------------------------------------------------------------------


def test_a_component_may_say_from_which_value_on_a_completion_is_right():
    strict = only("own_rewards:explained", right=0.5)
    assert [row.components["explained"].right for row in strict(["a"])] == [True]
    assert only("own_rewards:explained", right=0.6)(["a"])[0].components["explained"].right is False
    assert only("own_rewards:explained")(["a"])[0].components["explained"].right is None
    skipped = only("trl.accuracy_reward", right=0.0)([RIGHT], solution=[None])[0]
    assert skipped.components["accuracy_reward"].right is None
    on_a_loop = asyncio.run(strict.score_async(["a"]))
    assert on_a_loop == strict(["a"])


def test_what_is_held_back_by_a_gate_may_still_be_right():
    twice = recipe(
        Component("form", "trl.think_format_reward"),
        Component("right", "trl.accuracy_reward", gate="form"),
    )
    held = twice([r"\boxed{4}"], solution=["4"])[0].components["right"]
    assert (held.value, held.ungated, held.right) == (0.0, 1.0, True)


# --- what a recipe refuses ------------------------------------------------------------------------


ACCURACY = Component("accuracy", "trl.accuracy_reward")


@pytest.mark.parametrize(
    ("components", "columns", "complaint"),
    [
        ((), {}, "at least one reward"),
        ((ACCURACY, ACCURACY), {}, 'two rewards are called "accuracy"'),
        ((replace(ACCURACY, gate="accuracy"),), {}, 'gate "accuracy" is not an earlier.*the first'),
        (
            (ACCURACY, replace(ACCURACY, name="b", gate="acuracy")),
            {},
            'b: the gate "acuracy" is not an earlier reward; did you mean "accuracy"?',
        ),
        (
            (ACCURACY,),
            {"solutoin": "answer"},
            'no reward takes "solutoin"; did you mean "solution"',
        ),
        ((ACCURACY,), {"solution": ""}, "solution must be the name of a column, got ''"),
    ],
)
def test_a_recipe_that_cannot_be(components, columns, complaint):
    with pytest.raises(ValueError, match=complaint):
        Recipe("test", components, columns)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"weight": "much"}, "weight must be a number, got 'much'"),
        ({"weight": True}, "weight must be a number"),
        ({"weight": float("nan")}, "weight must be finite"),
        ({"params": []}, "params must be a table"),
        ({"columns": {"solution": 1}}, "solution must be the name of a column"),
        ({"columns": {"solutoin": "a"}}, 'takes no column "solutoin"; did you mean "solution"'),
        ({"gate": 1}, "gate must be text"),
        ({"right": "x"}, "right must be a number, got 'x'"),
        ({"right": float("inf")}, "right must be finite"),
        ({"name": "total"}, 'a scored table has a column "total" already'),
    ],
)
def test_a_component_that_cannot_be(fields, complaint):
    with pytest.raises(ValueError, match=complaint):
        replace(ACCURACY, **fields)


def test_attacks_are_a_list():
    with pytest.raises(ValueError, match=r"attacks must be a list of names: write \['my:a'\]"):
        Recipe("math", (Component("", "trl.accuracy_reward"),), attacks="my:a")
