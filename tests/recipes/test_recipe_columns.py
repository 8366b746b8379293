"""Recipes: which columns and parameters a reward gets."""

import inspect

import pytest
from recipe_samples import RIGHT, only, recipe, totals

from plaudit.recipes import Component, load
from plaudit.recipes.bound_reward import bind_reward
from plaudit.recipes.component import guess
from plaudit.rewards import all_rewards

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
        bound = bind_reward(name, {k: v for k, v in params.items() if k in arguments})[1]
        assert set(bound.needed) <= bound.takes, name
        assert not bound.takes_any, name


@pytest.mark.parametrize(
    ("reward", "needs"),
    [
        ("canoe.len_reward", {"problem"}),
        ("canoe.influence_reward", {"solution", "completions_long_answer"}),
        ("vlm_r1.iou_reward", {"solution"}),
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
            'no column "answr", which "accuracy_reward" needs as solution; did',
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
    same = only("vlm_r1.default_accuracy_reward", params={"solution": "B"})
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
