"""Recipes: rewards with weights, gates and columns."""

import asyncio
import inspect
import pickle
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib.resources import files

import pytest

import own_rewards
from plaudit.recipes import Component, Recipe, RowScore, guess, load, presets
from plaudit.recipes._calling import calling_of
from plaudit.rewards import all_rewards, trl
from plaudit.scores import Score, explain

RIGHT, WRONG = r"<think>2 + 2</think> \boxed{4}", r"<think>2 + 2</think> \boxed{5}"


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """A module of rewards that cannot be imported."""
    (tmp_path / "broken_rewards.py").write_text("import no_such_thing")
    monkeypatch.syspath_prepend(tmp_path)


def recipe(*components, **columns):
    return Recipe("test", components, columns)


def only(reward, **fields):
    """A recipe of one reward."""
    columns = fields.pop("columns_of_all", {})
    return Recipe("test", (Component("", reward, **fields),), columns)


def totals(a_recipe, completions, **columns):
    return [row.total for row in a_recipe(completions, **columns)]


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

GATED = Recipe(
    "gated",
    (
        Component("right", "trl.accuracy_reward"),
        Component("form", "trl.think_format_reward", weight=0.5, gate="right"),
        Component("short", "own_rewards:brief", weight=4, gate="form"),
    ),
)


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


# --- columns --------------------------------------------------------------------------------------


def test_columns_are_given_by_the_table_s_name_or_by_the_argument():
    mapped = only("trl.accuracy_reward", columns_of_all={"solution": "answer"})
    assert mapped.needs() == {"solution": "answer"}
    assert totals(mapped, [RIGHT], answer=["4"]) == [1.0]
    assert totals(mapped, [RIGHT], solution=["4"]) == [1.0]
    # A table may have a worked solution beside the answer: its own name wins.
    assert totals(mapped, [RIGHT], answer=["4"], solution=["First, …"]) == [1.0]


def test_a_component_may_have_columns_of_its_own():
    two = recipe(
        Component("answer", "trl.accuracy_reward"),
        Component("guess", "trl.accuracy_reward", columns={"solution": "guessed"}),
        solution="answer",
    )
    assert two.needs() == {"solution": "answer", "guess.solution": "guessed"}
    row = two([RIGHT], answer=["4"], guessed=["5"])[0]
    assert [score.value for score in row.components.values()] == [1.0, 0.0]


def test_unknown_columns_are_ignored_and_lengths_are_checked():
    math = load("trl-math")
    assert totals(math, [RIGHT], solution=["4"], other=[1, 2, 3], log_extra=None) == [1.0]
    with pytest.raises(ValueError, match="solution has 2 entries, completions has 1"):
        math([RIGHT], solution=["4", "4"])


def test_settings_are_never_taken_from_a_table():
    boxes = only("vlm_r1.detection_score")
    gold = '```json\n[{"bbox_2d": [0, 0, 10, 10], "label": "cup"}]\n```'
    assert totals(boxes, [gold], solution=[gold], alpha=[0.0], gamma=[0.0]) == [1.0]
    thinks = only("trl.reasoning_accuracy_reward")
    assert totals(thinks, [RIGHT], solution=["4"], reasoning_delimiters=["x"]) == [1.0]


def test_every_column_that_a_reward_needs_is_one_that_it_takes():
    params = {"max_len": 9, "max_completion_len": 9, "soft_punish_cache": 3, "tokenizer": "words"}
    for name, reward in all_rewards().items():
        arguments = inspect.signature(reward).parameters
        calling = calling_of(name, {k: v for k, v in params.items() if k in arguments})[1]
        assert set(calling.needed) <= calling.takes, name
        assert not calling.takes_any, name


@pytest.mark.parametrize(
    ("reward", "needs"),
    [
        ("canoe.len_reward", {"problem"}),
        ("canoe.influence_reward", {"solution", "completions_long_answer"}),
        ("vlm_r1.iou_reward", {"solution", "image_grid_thw", "image_path"}),
        ("vlm_r1.accuracy_reward", {"solution", "accu_reward_method"}),
        ("vlm_r1.default_accuracy_reward", {"solution"}),
        ("vlm_r1.repetition_reward", set()),
        ("vlm_r1.repetition_rewards", set()),
        ("trl.get_repetition_penalty_reward", {"completion_ids"}),
        ("think_format_reward", set()),
        ("plaudit.rewards.trl.accuracy_reward", {"solution"}),
        ("plaudit.rewards.trl:accuracy_reward", {"solution"}),
    ],
)
def test_what_each_reward_needs(reward, needs):
    assert set(only(reward).needs()) == needs


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("canoe.len_reward", ["problem"]),
        ("vlm_r1.accuracy_reward", ["accu_reward_method"]),
        ("vlm_r1.cosine_rewards", ["tokenizer"]),
        ("vlm_r1.iou_reward", ["image_grid_thw", "image_path"]),
    ],
)
def test_what_is_needed_beyond_the_signature_is_what_the_rewards_ask_for(name, columns):
    reward = all_rewards()[name]
    arguments = {} if name == "canoe.len_reward" else {"solution": ["4"]}
    assert set(reward.declaration.needs) == {*columns, *arguments}
    for column in columns:
        with pytest.raises(ValueError, match=column):
            reward(["4"], **arguments)
        arguments[column] = ["x"]


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        (
            ["completion", "answer"],
            'no column "answr", which accuracy_reward needs as solution; did',
        ),
        (["completion", "solution"], 'no column "answr"'),
        (["competion", "answr"], 'no column "completions" or "completion".*mean "competion"?'),
        ([], 'no column "completions".* The columns are none'),
    ],
)
def test_a_table_that_lacks_a_column_is_refused_with_the_nearest(columns, complaint):
    mapped = only("trl.accuracy_reward", columns_of_all={"solution": "answr"})
    with pytest.raises(ValueError, match=complaint):
        mapped.check(columns)


@pytest.mark.parametrize(
    ("column", "available", "meant"),
    [
        *(
            ("solution", ["prompt", "completion", name], name)
            for name in "gold answer ground_truth target label reference Answer".split()
        ),
        *(
            ("completions", ["prompt", "solution", name], name)
            for name in "response generation output prediction text Response".split()
        ),
        ("solution", ["completion", "prompt"], None),
        ("solution", ["target", "gold"], "gold"),
        ("solution", ["gold", "solutoin"], "solutoin"),
        ("difficulty", ["level"], None),
        ("solution", [], None),
    ],
)
def test_a_column_is_guessed_by_its_meaning(column, available, meant):
    assert guess(column, available) == meant


@pytest.mark.parametrize(
    ("available", "told"),
    [
        (["prompt", "completion", "gold"], ["--column solution=gold ", 'solution = "gold"']),
        (["prompt", "completion"], ["--column solution=COLUMN", '"prompt", "completion"']),
        (["response", "solution"], ["--completions response ", 'completions = "response"']),
        (["prompt", "solution"], ["--completions COLUMN", '"prompt", "solution"']),
        ([*map(str, range(30)), "completion"], ['"19" and 11 more']),
    ],
)
def test_a_missing_column_is_asked_for_with_the_option_to_add(available, told):
    with pytest.raises(ValueError, match="there is no column") as caught:
        load("trl-math").check(available)
    assert all(one in str(caught.value) for one in told)


def test_the_completions_may_have_another_name():
    named = only("trl.think_format_reward", columns_of_all={"completions": "response"})
    named.check(["response"])
    assert named.needs() == {}
    assert totals(named, [RIGHT]) == [1.0]
    with pytest.raises(ValueError, match='no column "response"'):
        named.check(["completions"])


def test_a_batch_that_lacks_a_column_is_refused():
    with pytest.raises(ValueError, match=r'no column "solution".*did you mean "solutions"'):
        load("trl-math")([RIGHT], solutions=["4"])


# --- parameters -----------------------------------------------------------------------------------


def test_parameters_of_a_factory():
    brief = only("trl.get_cosine_scaled_reward", params={"max_len": 100})
    assert brief.components[0].name == "cosine_scaled_reward"
    assert totals(brief, [RIGHT], solution=["4"], completion_ids=[[1] * 50]) == [0.75]


def test_a_fixed_argument_of_a_plain_reward():
    ends = only("trl.reasoning_accuracy_reward", params={"reasoning_delimiters": ["</t>"]})
    assert totals(ends, [r"</t> \boxed{4}"], solution=["4"]) == [1.0]
    boxes = only("vlm_r1.detection_score", params={"iou_threshold": 0.9})
    gold = '```json\n[{"bbox_2d": [0, 0, 10, 10], "label": "cup"}]\n```'
    near = gold.replace("10, 10", "10, 8")
    assert totals(boxes, [near], solution=[gold]) == [0.0]


def test_a_fixed_column_holds_for_every_row():
    letters = only("vlm_r1.accuracy_reward", params={"accu_reward_method": "mcq"})
    assert letters.needs() == {"solution": "solution"}
    assert totals(letters, ["It is B.", "C"], solution=["B", "B"]) == [1.0, 0.0]
    same = only("vlm_r1.default_accuracy_reward", params={"sol": "B"})
    assert totals(same, ["B", "C"], solution=["x", "x"]) == [1.0, 0.0]


class Words:
    def encode(self, text):
        return text.split()


def test_a_tokenizer_comes_from_python():
    for reward in ("vlm_r1.cosine_rewards", "vlm_r1.get_cosine_rewards"):
        brief = only(reward, params={"tokenizer": Words()})
        assert totals(brief, ["none"], solution=["none"])[0] > 0.99
        with pytest.raises(ValueError, match='needs the parameter "tokenizer"'):
            only(reward)
    with pytest.raises(ValueError, match="tokenizer cannot be written to a TOML file"):
        brief.to_toml()


@pytest.mark.parametrize(
    ("reward", "params", "complaint"),
    [
        (
            "trl.get_cosine_scaled_reward",
            {"max_length": 9},
            'no parameter "max_length"; .*"max_len"',
        ),
        ("trl.get_cosine_scaled_reward", {}, 'needs the parameter "max_len": put it into params'),
        ("trl.get_cosine_scaled_reward", {"max_len": 0}, "max_len must be 1 or more, got 0"),
        (
            "trl.get_cosine_scaled_reward",
            {"max_len": "x"},
            "max_len must be a whole number, got 'x'",
        ),
        ("vlm_r1.detection_score", {"iou_treshold": 1}, 'did you mean "iou_threshold"?'),
        ("vlm_r1.accuracy_reward", {"method": "mcq"}, 'no parameter "method"'),
        ("trl.think_format_reward", {"completions": 1}, 'no parameter "completions"'),
    ],
)
def test_a_parameter_that_cannot_be(reward, params, complaint):
    with pytest.raises(ValueError, match=complaint):
        only(reward, params=params)


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


@pytest.mark.parametrize(
    ("reward", "complaint"),
    [
        ("trl.acuracy_reward", "Did you mean trl.accuracy_reward?"),
        ("accuracy_reward", "the name of several rewards"),
        ("trl.accuracy_reward_async", "Did you mean trl.accuracy_reward?"),
        ("xyz", "`plaudit list` names them all"),
        ("no_such_module:f", "no module no_such_module; install it, or name .* PYTHONPATH"),
        ("own_rewards:breif", 'own_rewards has no "breif"; did you mean "brief"?'),
        ("own_rewards:later", "must be a plain function, it is a coroutine function"),
        ("own_rewards:constant", "must be a plain function, it is int"),
        ("own_rewards:makes_nothing", "must be a plain function, it is NoneType"),
        (3, "reward must be text, got 3"),
    ],
)
def test_a_reward_that_is_none(reward, complaint):
    with pytest.raises(ValueError, match=complaint):
        only(reward)


def test_a_module_that_cannot_import_what_it_needs_says_so(broken):
    with pytest.raises(ModuleNotFoundError, match="no_such_thing"):
        only("broken_rewards:f")


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
    with pytest.raises(ValueError, match='no column "solution", which right needs'):
        form(completions=[RIGHT])


def test_a_recipe_is_picklable_though_what_a_factory_made_is_not():
    made = only("own_rewards:factory", params={"limit": 1})
    assert made.components[0].name == "factory"
    assert totals(made, ["a", "ab"]) == [1.0, 0.0]
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert totals(again, ["a", "ab"]) == [1.0, 0.0]


# --- files ----------------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


BRIEF_MATH = """
[columns]
solution = "answer"
[[rewards]]
reward = "trl.accuracy_reward"
[[rewards]]
name = "brevity"
reward = "trl.get_cosine_scaled_reward"
weight = 0.2
gate = "accuracy_reward"
params = { max_len = 100 }
columns = { completion_ids = "tokens" }
"""


def test_a_file(written):
    mine = load(written(BRIEF_MATH))
    assert mine.name == "mine"
    assert mine.needs() == {"solution": "answer", "completion_ids": "tokens"}
    given = {"answer": ["4", "4"], "tokens": [[1] * 50] * 2}
    assert totals(mine, [RIGHT, WRONG], **given) == pytest.approx([1.15, 0.0])


def test_a_file_by_the_text_of_its_path_even_without_an_ending(written):
    path = written(BRIEF_MATH)
    path = path.rename(path.with_suffix(""))
    assert load(str(path)).name == "mine"


@pytest.mark.parametrize("name", presets())
def test_presets_load_and_are_written_as_they_are_read(name, written):
    preset = load(name)
    assert preset.name == name
    assert load(written(preset.to_toml())) == preset


def test_a_file_is_written_as_it_is_read(written):
    params = {"limit": 3}
    odd = Recipe(
        'a "name" with\nlines, \x7f and é',
        (
            Component("a b", "own_rewards:explained", weight=1e-7, right=0.5),
            Component("c", "own_rewards:factory", params=params, gate="a b", weight=-2),
            Component(
                "d",
                "trl.reasoning_accuracy_reward",
                params={"reasoning_delimiters": ["</think>", "\\"]},
                columns={"solution": "the answer"},
            ),
        ),
        {"a key": "x", "completions": "response"},
    )
    assert load(written(odd.to_toml())) == odd
    nested = only("own_rewards:Shorter", params={"than": {"a": True, "b c": [1.5, False]}})
    assert load(written(nested.to_toml())).components[0].params == nested.components[0].params


def test_the_packaged_presets_say_what_they_are():
    for name in presets():
        text = files("plaudit").joinpath("presets", f"{name}.toml").read_text("utf-8")
        assert text.startswith("# ")
        assert tomllib.loads(text)["name"] == name


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("rewards = [", "Invalid value"),
        ("", "at least one \\[\\[rewards\\]\\]"),
        ("rewards = []", "at least one"),
        ("rewards = [3]", "rewards, number 1: it must be a table, got 3"),
        ("[[reward]]\n", 'no key "reward"; did you mean "rewards"?'),
        ("name = 3", "name must be text, got 3"),
        ("columns = 3", "columns must be a table, got 3"),
        ("[[rewards]]\nwieght = 1", 'number 1: there is no key "wieght"; did you mean "weight"?'),
        ("[[rewards]]\nweight = 1", "number 1: say which: reward = "),
        ('[[rewards]]\nreward = "trl.acuracy_reward"', "Did you mean trl.accuracy_reward?"),
        ('[[rewards]]\nreward = "broken_rewards:f"', "No module named 'no_such_thing'"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_what_is_wrong(written, broken, text, complaint):
    path = written(text)
    with pytest.raises(ValueError, match=complaint) as caught:
        load(path)
    assert str(path) in str(caught.value)


OWN = '[[rewards]]\nreward = "{}:mine"\n'
GIVES = "def mine(completions):\n    return [{}] * len(completions)\n"


def test_a_module_beside_the_file_is_found_first(tmp_path, monkeypatch):
    for folder, value in (("a", 1.0), ("b", 2.0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "beside_one.py").write_text(GIVES.format(value))
    (tmp_path / "a" / "mine.toml").write_text(OWN.format("beside_one"))
    monkeypatch.syspath_prepend(tmp_path / "b")
    monkeypatch.chdir(tmp_path)
    mine = load("a/mine.toml")
    assert totals(mine, ["x"]) == [1.0]
    assert sys.path[0] == str(tmp_path / "b")
    # In another process, wherever that was started.
    (tmp_path / "recipe").write_bytes(pickle.dumps(mine))
    script = "import pickle; print(pickle.load(open('recipe', 'rb'))(['x'])[0].total)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("1.0\n", "")


def test_a_package_beside_the_file_may_import_its_own(tmp_path):
    package = tmp_path / "beside_package"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from beside_helper import value\n" + GIVES.format("value")
    )
    (tmp_path / "beside_helper.py").write_text("value = 0.5\n")
    (tmp_path / "mine.toml").write_text(OWN.format("beside_package"))
    assert totals(load(tmp_path / "mine.toml"), ["x"]) == [0.5]


def test_two_modules_of_one_name_are_not_taken_for_each_other(tmp_path):
    for folder, value in (("a", 1.0), ("b", 2.0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "beside_twice.py").write_text(GIVES.format(value))
        (tmp_path / folder / "mine.toml").write_text(OWN.format("beside_twice"))
    assert totals(load(tmp_path / "a" / "mine.toml"), ["x"]) == [1.0]
    with pytest.raises(ValueError, match=r"another beside_twice is imported already, from .*/a/"):
        load(tmp_path / "b" / "mine.toml")


def test_a_module_that_is_nowhere_is_asked_for_with_the_places_to_put_it(tmp_path):
    (tmp_path / "mine.toml").write_text(OWN.format("my_rewards"))
    complaint = f"no module my_rewards; put it beside the recipe, in {tmp_path}, or .* PYTHONPATH"
    with pytest.raises(ValueError, match=complaint):
        load(tmp_path / "mine.toml")


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(ValueError, match=r"none.toml: No such file or directory"):
        load(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="not UTF-8"):
        load(tmp_path / "binary.toml")


def test_a_preset_with_a_slip():
    with pytest.raises(ValueError, match=r'no recipe "trl-maths".*did you mean "trl-math"?'):
        load("trl-maths")


# --- the presets ----------------------------------------------------------------------------------


def test_canoe():
    text = "<think>a</think><long_answer>It is by the Seine.</long_answer><answer>Paris</answer>"
    problem = "<context>Paris, the capital of France, is by the Seine.</context> Where is it?"
    rows = load("canoe")([text, "Paris"], solution=["Paris"] * 2, problem=[problem] * 2)
    assert [row.total for row in rows] == [3.0, 1.0]


def test_vlm_r1_detection():
    gold = '```json\n[{"bbox_2d": [0, 0, 10, 10], "label": "cup"}]\n```'
    text = f"<think>a</think><answer>{gold}</answer>"
    rows = load("vlm-r1-od")([text, "none"], solution=[f"<answer>{gold}</answer>"] * 2)
    assert [row.total for row in rows] == [2.0, 0.0]


def test_vlm_r1_referring_expressions(tmp_path):
    from PIL import Image

    path = str(tmp_path / "image.png")
    Image.new("RGB", (28, 28)).save(path)
    text = '<think>a</think><answer>{"bbox_2d": [0, 0, 10, 10]}</answer>'
    given = {"image_grid_thw": [[1, 2, 2]], "image_path": [path]}
    preset = load("vlm-r1-rec")
    assert totals(preset, [text], solution=["[0, 0, 10, 10]"], **given) == [2.0]
    assert preset.needs().keys() == {"solution", "image_grid_thw", "image_path"}
