"""Components that score some rows of a mixed table alone."""

import asyncio

import pytest

import plaudit
from plaudit.recipes import Component, Recipe

TASKS = ["math", "code", "chat", None]


def number(completions, **kwargs):
    assert "no number" not in completions, "a row that it does not apply to"
    return [float(text) for text in completions]


def one(completions, **kwargs):
    return [1.0] * len(completions)


def mixed(when, **settings):
    return Recipe(
        "mixed", (Component("number", number, when=when), Component("one", one)), **settings
    )


def statuses(when, completions=("4", "no number", "no number", "no number"), **columns):
    rows = mixed(when)(list(completions), **(columns or {"task": TASKS}))
    return [row.components["number"].status for row in rows]


@pytest.mark.parametrize(
    "when",
    [
        {"task": "math"},
        {"task": ["math", "algebra"]},
        {"task": "math", "level": 3},
        "task == 'math'",
        "task in ['math', 'algebra'] and level >= 3",
        "not (task != 'math' or level < 2.5)",
        "task is not None and 'a' in task and level > -1 and task != 'chat'",
    ],
)
def test_a_component_scores_the_rows_that_its_condition_names(when):
    levels = {"task": TASKS, "level": [3, 3, 1, None]}
    assert statuses(when, **levels) == ["scored", *["not_applicable"] * 3]


def test_rows_that_a_component_does_not_apply_to_are_no_skip_and_no_failure():
    rows = mixed({"task": "math"})(["4", "no number"], task=["math", "code"])
    assert [row.total for row in rows] == [5.0, 1.0]
    assert [row.status for row in rows] == ["scored", "scored"]
    score = rows[1].components["number"]
    assert (score.value, score.why) == (
        None,
        "number does not apply: it is for rows for which task is 'math'.",
    )
    alone = Recipe("alone", (Component("number", number, when={"task": "math"}),))
    [row] = alone(["no number"], task=["code"])
    assert (row.total, row.status) == (None, "not_applicable")
    alone(["no number"] * 100, task=["code"] * 100)  # nothing failed


def test_what_a_component_without_rows_gates_does_not_apply_either():
    gated = Component("one", one, gate="number")
    recipe = Recipe("gated", (Component("number", number, when={"task": "math"}), gated))
    rows = recipe(["0", "no number"], task=["math", "code"])
    assert [row.components["one"].status for row in rows] == ["gated", "not_applicable"]


def test_reward_functions_apply_the_condition_too():
    functions = mixed({"task": "math"}).reward_funcs()
    batch = {"completions": ["4", "no number"], "task": ["math", "code"]}
    assert [f(**batch) for f in functions] == [[4.0, None], [1.0, 1.0]]
    [value] = asyncio.run(
        mixed({"task": "code"}).reward_funcs(asynchronous=True)[0](["4"], task=["x"])
    )
    assert value is None


def test_what_a_reward_logs_for_some_rows_is_logged_for_all():
    logged = {}

    def answers(completions, log_extra, **kwargs):
        log_extra("answer", [f"<{text}>" for text in completions])
        return [1.0] * len(completions)

    recipe = Recipe("logged", (Component("answers", answers, when="n > 1"),))
    recipe(["a", "b", "c"], n=[2, 1, 3], log_extra=logged.__setitem__)
    assert logged == {"answer": ["<a>", "", "<c>"]}


def test_a_mixed_table_is_scored_by_one_recipe(tmp_path):
    table = [
        {"completion": r"\boxed{4}", "solution": "4", "task": "math"},
        {"completion": "Paris", "solution": "Paris", "task": "qa"},
    ]
    recipe = Recipe(
        "both",
        (
            Component("math", "trl.accuracy_reward", when={"task": "math"}),
            Component("qa", "answers.exact_match_reward", when={"task": "qa"}),
        ),
    )
    scored = plaudit.score(table, recipe)
    assert [row["total"] for row in scored] == [1.0, 1.0]
    assert [(row["math"], row["qa"]) for row in scored] == [(1.0, None), (None, 1.0)]


def test_a_table_without_the_column_is_refused():
    with pytest.raises(ValueError, match='there is no column "task", which "number" needs'):
        mixed({"task": "math"})(["4"], tusk=["math"])


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ([], "when must be a table of columns and values, or an expression over columns"),
        ("", "when must be a table"),
        ({}, "when must be a table"),
        ("task = 'math'", "when: \"task = 'math'\" is no expression"),
        ("__import__('os').getcwd()", "when: .* is no expression: it may have columns, values"),
        ("task.upper() == 'MATH'", "when: .* is no expression"),
        ("[c for c in task]", "when: .* is no expression"),
        ("n ** 10 ** 10 > 1", "when: .* is no expression"),
    ],
)
def test_a_wrong_condition_is_refused(when, message):
    with pytest.raises(ValueError, match=message):
        mixed(when)


def test_values_that_cannot_be_compared_are_named():
    with pytest.raises(TypeError, match="when, row 1: str: 'x' cannot be compared with int: 3"):
        mixed("n > 3")(["4", "5"], n=[4, "x"])
