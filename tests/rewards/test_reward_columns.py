"""No reward makes a value of a column entry of the wrong kind, and none minds the kind of array."""

import numpy as np
import pytest
from PIL import Image

from plaudit.rewards import all_rewards, canoe, trl, vlm_r1
from plaudit.rewards.trl import get_cosine_scaled_reward, get_repetition_penalty_reward

BOXES = '```json\n[{"bbox_2d": [0, 0, 10, 10], "label": "cup"}]\n```'


class Words:
    def encode(self, text):
        return text.split()


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "cup.png"
    Image.new("RGB", (56, 56)).save(path)
    return str(path)


@pytest.fixture
def rows(image):
    """Two good rows of every column that a reward can be given."""
    return {
        "solution": ["[0, 0, 10, 10]"] * 2,
        "problem": ["<context>It rained all day.</context>"] * 2,
        "completion_ids": [[1, 2, 3]] * 2,
        "completions_long_answer": ["4", None],
        "accu_reward_method": ["default", "mcq"],
        "image_grid_thw": [[1, 4, 4]] * 2,
        "image_path": [[image]] * 2,
        "acc_reward": [1.0, 0.0],
        "kind": ["list", None],
        "choices": [["yes", "no"], None],
        "question": ["Where is it?", None],
    }


# The columns that decide a reward's value.
READ = {
    "answers.answer_reward": ["solution", "kind", "choices", "question"],
    "answers.choice_reward": ["solution", "choices", "question"],
    "answers.mention_reward": ["solution"],
    "answers.exact_match_reward": ["solution"],
    "answers.f1_reward": ["solution"],
    "canoe.accuracy_reward": ["solution"],
    "canoe.influence_reward": ["solution", "completions_long_answer"],
    "canoe.format_reward": [],
    "canoe.len_reward": ["problem"],
    "vlm_r1.default_accuracy_reward": ["solution"],
    "vlm_r1.detection_score": ["solution"],
    "vlm_r1.cosine_reward": ["acc_reward"],
    "vlm_r1.repetition_reward": [],
    "vlm_r1.accuracy_reward": ["solution", "accu_reward_method"],
    "vlm_r1.iou_reward": ["solution", "image_grid_thw", "image_path"],
    "vlm_r1.format_reward": [],
    "vlm_r1.format_reward_rec": [],
    "vlm_r1.cosine_rewards": ["solution"],
    "vlm_r1.get_cosine_rewards": ["solution"],
    "vlm_r1.repetition_rewards": [],
    "trl.accuracy_reward": ["solution"],
    "trl.reasoning_accuracy_reward": ["solution"],
    "trl.think_format_reward": [],
    "trl.get_cosine_scaled_reward": ["solution", "completion_ids"],
    "trl.get_repetition_penalty_reward": ["completion_ids"],
    "trl.get_soft_overlong_punishment": ["completion_ids"],
}
PARAMS = {
    "vlm_r1.get_cosine_rewards": {"tokenizer": Words()},
    "trl.get_cosine_scaled_reward": {"max_len": 100},
    "trl.get_repetition_penalty_reward": {},
    "trl.get_soft_overlong_punishment": {"max_completion_len": 100, "soft_punish_cache": 20},
}
WRONG = {
    "completions": [4, None, b"4", {}, ["4"], [{"role": "agent", "content": "4"}], {"a": "4"}],
    "solution": [{"a": "4"}, ["4", "5"], ["4", 5], b"4", {1}, object()],
    "problem": [4, None, b"4", ["4"], {"context": "4"}],
    "completion_ids": ["1 2 3", "[1, 2]", b"12345678", None, 4, {1}, {"a": 1}, ["1"], [1.5], [[1]]],
    "completions_long_answer": [4, b"4", ["4"], {"a": "4"}],
    "accu_reward_method": [4, None, ["mcq"], "mcqs", {"mcq": 1}],
    "image_grid_thw": ["144", ["1", "4", "4"], [1, 4.5, 4], [1, 4], 4, [[1, 4, 4]], b"144"],
    "image_path": [None, [], ["no such file"]],
    "acc_reward": ["1.0", None, float("nan"), [1.0], {}],
    "kind": [4, b"number", ["number"], {}],
    "choices": ["yes", [4], 4, [["yes"]]],
    "question": [4, b"?", ["?"], {}],
}


def scores_of(name, columns):
    reward = all_rewards()[name]
    reward = reward(**PARAMS[name]) if name in PARAMS else reward
    texts = ["<think>4</think><answer>[0, 0, 10, 10]</answer>"] * 2
    if name == "vlm_r1.detection_score":
        columns = {key: columns[key] for key in ("completions", "solution") if key in columns}
    given = {"completions": texts, "tokenizer": Words(), **columns}
    if name.startswith(("vlm_r1.default", "vlm_r1.detection", "vlm_r1.repetition_reward")):
        given.pop("tokenizer")
    return reward.scores(**given)


def test_every_reward_is_looked_at():
    # Golds of the other namespaces are of kinds of their own, and have tests of their own.
    namespaces = {name.partition(".")[0] for name in READ}
    known = {name for name in all_rewards() if name.partition(".")[0] in namespaces}
    assert set(READ) == known


@pytest.mark.parametrize("name", READ)
def test_a_good_row_has_a_value(name, rows):
    assert all(isinstance(score.value, float) for score in scores_of(name, rows)), name


CASES = [
    (name, column, wrong)
    for name, read in READ.items()
    for column in ["completions", *read]
    for wrong in WRONG[column]
    # The rewards of `answers` read a list of golds as alternatives.
    if not (name.startswith("answers.") and column == "solution" and isinstance(wrong, list))
    and (name, column)
    not in [
        # These read the ids alone.
        ("trl.get_repetition_penalty_reward", "completions"),
        ("trl.get_soft_overlong_punishment", "completions"),
    ]
]


@pytest.mark.parametrize(
    ("name", "column", "wrong"), CASES, ids=[f"{n}-{c}-{w!r:.20}" for n, c, w in CASES]
)
def test_an_entry_of_the_wrong_kind_is_an_error_that_names_its_row(name, column, wrong, rows):
    good = rows.get(column, ["<think>4</think><answer>[0, 0, 10, 10]</answer>"] * 2)
    with pytest.raises((TypeError, ValueError), match=r"(^|\D)1(\D|$)"):
        scores_of(name, {**rows, column: [good[0], wrong]})


@pytest.mark.parametrize("name", READ)
def test_columns_may_be_arrays_and_tuples(name, rows):
    def objects(column):
        made = np.empty(len(column), dtype=object)
        made[:] = column
        return made

    expected = scores_of(name, rows)
    assert scores_of(name, {key: tuple(column) for key, column in rows.items()}) == expected
    assert scores_of(name, {key: objects(column) for key, column in rows.items()}) == expected
    arrays = {key: np.array(rows[key]) for key in ("completion_ids", "image_grid_thw", "solution")}
    assert scores_of(name, {**rows, **arrays}) == expected


def test_a_tensor_of_ids_repeats_what_its_list_repeats():
    penalty = get_repetition_penalty_reward(ngram_size=2)
    ids = [[5, 5, 5, 5, 5], [1, 2, 3, 4, 5]]
    assert penalty(completion_ids=np.array(ids)) == penalty(completion_ids=ids) == [-0.75, 0.0]
    with pytest.raises(TypeError, match="completion_ids 0 must be a list of token ids, got text"):
        penalty(completion_ids=["[5, 5, 5, 5, 5]", "[1, 2]"])


def test_lengths_of_texts_are_no_lengths_in_tokens():
    brief = get_cosine_scaled_reward(max_len=100)
    with pytest.raises(TypeError, match="completion_ids 0 must be a list of token ids"):
        brief([r"\boxed{4}"], ["4"], completion_ids=["[1, 2, 3]"])
    with pytest.raises(TypeError, match="completion_ids 0 must be a list of token ids"):
        trl.get_soft_overlong_punishment(100, 20)(completion_ids=["[1, 2, 3]"])


def test_a_context_may_stand_in_the_messages_of_a_prompt():
    text, prompt = "<long_answer>all day</long_answer>", "<context>It rained all day.</context>"
    problem = [[{"role": "system", "content": "Be brief."}, {"role": "user", "content": prompt}]]
    assert canoe.len_reward([text], problem=problem) == [1.0]


def test_an_accuracy_of_one_text_must_be_a_number():
    with pytest.raises(TypeError, match=r"acc_reward must be a number, got str: '0\.9'"):
        vlm_r1.cosine_reward("4", Words(), acc_reward="0.9")
