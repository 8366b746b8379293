"""A row that failed, in the format of each trainer: skipped, masked, or worth its group's mean."""

import asyncio
from pathlib import Path
from types import SimpleNamespace as Some

import pytest

from plaudit.recipes import Component, Recipe
from plaudit.trainers import (
    _rows,
    areal,
    easyr1,
    ms_swift,
    nemo_gym,
    nemo_rl,
    openrlhf,
    skyrl,
    slime,
    trl,
    verifiers,
    verl,
)

pytestmark = pytest.mark.filterwarnings("ignore:plaudit. .* skips rows")
# A group of four: its mean is 0.5, whatever comes of the third row.
GROUP = ["1 scored", "0 scored", "0 {}", "0.5 scored"]
FAILURES = ("timeout", "error")


@pytest.fixture(autouse=True)
def recipe(tmp_path, monkeypatch):
    file = tmp_path / "failing.toml"
    file.write_text(
        "[[rewards]]\nname = 'said'\nreward = 'failing_rewards:says'\n"
        "[[rewards]]\nname = 'long'\nreward = 'failing_rewards:long'\nweight = 0.5\n"
        "[on]\ntruncated = 'skip'\n"
    )
    monkeypatch.setenv("PLAUDIT_RECIPE", str(file))
    _rows._means.clear()
    return str(file)


@pytest.fixture(params=FAILURES)
def group(request):
    return [text.format(request.param) for text in GROUP]


def test_trl_gets_none_from_every_function(group):
    assert trl.total(group, prompts=["p"] * 4) == [1.0, 0.0, None, 1.0]
    said, long = trl.said, trl.long
    assert said(completions=group) == [1.0, 0.0, None, 0.5]
    assert long(completions=group) == [0.0, 0.0, None, 1.0]


def test_ms_swift_gets_the_mean_of_the_group_for_each_component(group, recipe):
    classes = ms_swift.reward_classes(_rows.chosen(recipe))
    given = {"completions": group, "messages": [[{"role": "user", "content": "p"}]] * 4}
    assert classes["plaudit_said"]()(**given) == [1.0, 0.0, 0.5, 0.5]
    assert classes["plaudit_long"]()(**given) == pytest.approx([0.0, 0.0, 1 / 3, 1.0])


NEUTRAL = 0.5 + 0.5 / 3  # the means of said and of long, by their weights


def test_verl_gets_the_mean_of_the_group(group):
    arguments = ["math"] * 4, group, ["4"] * 4, [{"index": 7}] * 4
    scores = [one["score"] for one in verl.compute_scores(*arguments)]
    assert scores == pytest.approx([1.0, 0.0, NEUTRAL, 1.0])
    rows = [verl.compute_score("math", text, "5", {"index": 8}) for text in row_by_row(group)]
    assert [row["score"] for row in rows] == pytest.approx([1.0, 0.0, 1.0, NEUTRAL])
    assert [row["skipped"] for row in rows] == [0.0, 0.0, 0.0, 2.0]


def test_verl_gets_the_number_that_the_recipe_names(group, recipe, tmp_path):
    fixed = tmp_path / "fixed.toml"
    fixed.write_text("neutral = -1\n" + Path(recipe).read_text())
    arguments = ["math"] * 4, group, ["4"] * 4, [{"index": 7}] * 4
    scores = [one["score"] for one in verl.compute_scores(*arguments, recipe=str(fixed))]
    assert scores == [1.0, 0.0, -1.0, 1.0]


def test_openrlhf_gets_the_mean_of_the_group(group):
    queries = ["p" + text for text in group]
    reply = openrlhf.reward_func(queries, ["p"] * 4, ["4"] * 4)
    assert reply["rewards"] == pytest.approx([1.0, 0.0, NEUTRAL, 1.0])
    assert reply["extra_logs"]["skipped"] == [0.0, 0.0, 2.0, 0.0]


def test_slime_removes_the_sample(group):
    samples = [
        Some(response=text, label="4", prompt="p", metadata={}, remove_sample=False, status=None)
        for text in group
    ]
    rewards = asyncio.run(slime.custom_rm(Some(), samples))
    assert rewards == pytest.approx([1.0, 0.0, NEUTRAL, 1.0])
    assert [one.remove_sample for one in samples] == [False, False, True, False]


def test_slime_removes_what_it_cut_off():
    cut_off = Some(value="truncated")  # an enum of slime's
    sample = Some(response="1 scored", label="4", prompt="p", metadata={}, status=cut_off)
    sample.remove_sample = False
    asyncio.run(slime.custom_rm(Some(), sample))
    assert sample.remove_sample is True


def test_nemo_gym_masks_the_sample(group):
    replies = [asked(text) for text in group]
    assert [one["mask_sample"] for one in replies] == [False, False, True, False]
    assert [one["reward"] == sum(one["reward_components"].values()) for one in replies] == [
        True
    ] * 4
    assert "So;" in replies[2]["failure_reason"]


def test_nemo_gym_masks_what_was_cut_off():
    reply = asked("1 scored", incomplete_details={"reason": "max_output_tokens"})
    assert (reply["mask_sample"], reply["status"]) == (True, "truncated")


def asked(text, **response):
    message = {"role": "assistant", "content": [{"type": "output_text", "text": text}]}
    body = {
        "responses_create_params": {"input": "p"},
        "response": {"output": [message], **response},
        "expected_answer": "4",
    }
    return nemo_gym.reply_of(nemo_gym.batch_of(body).scores(_rows.chosen()), body)


@pytest.mark.parametrize("components", [False, True])
def test_nemo_rl_gets_the_mean_of_the_group_for_each_component(group, components):
    logs = [
        [{"role": "user", "content": "p"}, {"role": "assistant", "content": text}] for text in group
    ]
    metadata = [{"ground_truth": "4"}] * 4
    rewards = nemo_rl.step_fields(_rows.chosen(), logs, metadata, components)["rewards"]
    if components:
        assert rewards["reward/said"] == [1.0, 0.0, 0.5, 0.5]
        assert rewards["reward/long"] == pytest.approx([0.0, 0.0, 0.5 / 3, 0.5])
    else:
        assert rewards == pytest.approx([1.0, 0.0, NEUTRAL, 1.0])


def row_by_row(rewards):
    """The third row again, once the group is known."""
    return [*rewards[:2], *rewards[3:], rewards[2]]


def test_areal_gets_the_mean_of_the_rows_so_far(group):
    rewards = [areal.reward_fn("p", text, answer="4") for text in row_by_row(group)]
    assert rewards == pytest.approx([1.0, 0.0, 1.0, NEUTRAL])


def test_skyrl_gets_the_mean_of_the_rows_so_far(group):
    spec = {"reward_spec": {"ground_truth": "4"}}
    rows = [
        skyrl.step_output(skyrl.batch_of(text, spec, "p").scores(_rows.chosen())[0])
        for text in row_by_row(group)
    ]
    assert [row["reward"] for row in rows] == pytest.approx([1.0, 0.0, 1.0, NEUTRAL])
    assert rows[3]["metadata"]["status"] in FAILURES


def test_verifiers_gets_the_mean_of_the_rows_so_far(group):
    task, told = Some(prompt="p", answer="4"), {}
    traces = [Some(last_reply=text, record_metrics=told.update) for text in row_by_row(group)]
    rewards = [asyncio.run(verifiers.reward(task, trace)) for trace in traces]
    assert rewards == pytest.approx([1.0, 0.0, 1.0, NEUTRAL])
    assert told["skipped"] == 2.0
    cut_off = Some(last_reply="1 scored", record_metrics=told.update, is_truncated=True)
    assert asyncio.run(verifiers.reward(task, cut_off)) == pytest.approx(NEUTRAL)
    assert told["status_truncated"] == 1.0


def test_easyr1_gets_the_mean_of_the_group(group):
    inputs = [{"response": text, "ground_truth": "4", "prompt": "p"} for text in group]
    overall = [one["overall"] for one in easyr1.compute_score(inputs)]
    assert overall == pytest.approx([1.0, 0.0, NEUTRAL, 1.0])


# --- every way to fail, in every trainer: no other row changes ------------------------------------

MASKED = "masked"


def in_trl(texts, cut):
    ids = [[2, 2, 2, 2] if row in cut else [2, 1] for row in range(len(texts))]
    return trl.total(texts, completion_ids=ids, log_metric=Trainer().log)


def in_ms_swift(texts, cut):
    classes = ms_swift.reward_classes(_rows.chosen())
    passed = {"completions": texts, "is_truncated": [row in cut for row in range(len(texts))]}
    said, long = (classes[f"plaudit_{name}"]()(**passed) for name in ("said", "long"))
    return [one + 0.5 * two for one, two in zip(said, long, strict=True)]


def in_verl(texts, cut):
    infos = [{"index": 7, "truncated": row in cut} for row in range(len(texts))]
    return [r["score"] for r in verl.compute_scores(["m"] * 4, texts, ["4"] * 4, infos)]


def in_easyr1(texts, cut):
    rows = [
        {"response": text, "ground_truth": "4", "prompt": "p", "truncated": row in cut}
        for row, text in enumerate(texts)
    ]
    return [one["overall"] for one in easyr1.compute_score(rows)]


def in_openrlhf(texts, cut):
    return openrlhf.reward_func(["p" + text for text in texts], ["p"] * 4, ["4"] * 4)["rewards"]


def in_slime(texts, cut):
    statuses = ["truncated" if row in cut else "completed" for row in range(len(texts))]
    samples = [
        Some(response=text, label="4", prompt="p", metadata={}, remove_sample=False, status=status)
        for text, status in zip(texts, statuses, strict=True)
    ]
    rewards = asyncio.run(slime.custom_rm(Some(), samples))
    pairs = zip(samples, rewards, strict=True)
    return [MASKED if sample.remove_sample else reward for sample, reward in pairs]


def in_nemo_gym(texts, cut):
    details = {"incomplete_details": {"reason": "max_output_tokens"}}
    replies = [asked(text, **(details if row in cut else {})) for row, text in enumerate(texts)]
    return [MASKED if one["mask_sample"] else one["reward"] for one in replies]


def in_nemo_rl(texts, cut):
    logs = [
        [{"role": "user", "content": "p"}, {"role": "assistant", "content": text}] for text in texts
    ]
    metadata = [{"ground_truth": "4", "truncated": row in cut} for row in range(len(texts))]
    return nemo_rl.step_fields(_rows.chosen(), logs, metadata)["rewards"]


def in_areal(texts, cut):
    reasons = ["length" if row in cut else "stop" for row in range(len(texts))]
    return [
        areal.reward_fn("p", text, answer="4", finish_reason=reason)
        for text, reason in zip(texts, reasons, strict=True)
    ]


def in_skyrl(texts, cut):
    rewards = []
    for row, text in enumerate(texts):
        extras = {"reward_spec": {"ground_truth": "4"}, "truncated": row in cut}
        [score] = skyrl.batch_of(text, extras, "p").scores(_rows.chosen())
        rewards.append(skyrl.step_output(score)["reward"])
    return rewards


def in_verifiers(texts, cut):
    task = Some(prompt="p", answer="4")
    traces = [
        Some(last_reply=text, record_metrics=lambda _: None, is_truncated=row in cut)
        for row, text in enumerate(texts)
    ]
    return [asyncio.run(verifiers.reward(task, trace)) for trace in traces]


def in_a_rubric(texts, cut):
    """Up to 0.3 of verifiers."""
    totals = []
    for row, text in enumerate(texts):
        state = {"is_truncated": row in cut}
        passed = {"prompt": "p", "completion": text, "answer": "4", "state": state}
        said, long = (asyncio.run(one(**passed)) for one in verifiers.reward_funcs())
        totals.append(said + 0.5 * long)
    return totals


TRAINERS = {
    "trl": (in_trl, None),
    "nemo_gym": (in_nemo_gym, MASKED),
    "slime": (in_slime, MASKED),
    "ms_swift": (in_ms_swift, NEUTRAL),
    "verl": (in_verl, NEUTRAL),
    "easyr1": (in_easyr1, NEUTRAL),
    "openrlhf": (in_openrlhf, NEUTRAL),
    "nemo_rl": (in_nemo_rl, NEUTRAL),
    "areal": (in_areal, NEUTRAL),
    "skyrl": (in_skyrl, NEUTRAL),
    "verifiers": (in_verifiers, NEUTRAL),
    "a rubric of verifiers": (in_a_rubric, NEUTRAL),
}


@pytest.mark.parametrize("trainer", TRAINERS)
@pytest.mark.parametrize("way", ["- scored", "0 timeout", "0 error", "- undecided", "truncated"])
def test_a_row_that_fails_arrives_as_documented_and_changes_no_other(trainer, way):
    score, expected = TRAINERS[trainer]
    others = ["1 scored", "0 scored", "0.5 scored"]
    sound = score([*others, "1 scored"], cut=())
    _rows._means.clear()
    if way == "truncated" and trainer == "openrlhf":
        pytest.skip("OpenRLHF does not say that a completion was cut off")
    cut = {3} if way == "truncated" else ()
    failed = score([*others, "1 scored" if way == "truncated" else way], cut)
    assert failed[:3] == sound[:3] == [1.0, 0.0, 1.0]
    assert failed[3] == (pytest.approx(expected) if isinstance(expected, float) else expected)


def test_a_group_of_which_every_row_fails_has_one_value_though_other_groups_go_on():
    def reward(text, prompt):
        return verl.compute_score("m", text, "4", {"index": prompt})["score"]

    rewards = []
    for row in range(4):
        for value in range(4):
            reward(f"{value + row} scored", "another group")
        rewards.append(reward("0 timeout", "the group"))
    assert len(set(rewards)) == 1


# --- what trainers say of completions that were cut off -------------------------------------------


class Trainer:
    """What TRL's trainers have, as far as it is read."""

    max_completion_length = 4
    eos_token_ids = (1,)
    _tokenizer = Some(pad_token_id=0)

    def log(self, name, value):
        pass


CUT = Recipe("cut", (Component("long", "failing_rewards:long"),), on={"truncated": "skip"})


@pytest.mark.parametrize(
    "columns",
    [
        {"truncated": [False, True, False]},
        {"is_truncated": [False, True, None]},
        {"finish_reason": ["stop", "length", "stop"]},
        {"stop_reason": ["end_turn", "max_tokens", None]},
        {"completion_ids": [[2, 2, 2, 1], [2, 2, 2, 2], [2, 2]], "log_metric": Trainer().log},
    ],
)
def test_completions_that_were_cut_off_are_known_by_what_a_trainer_says(columns):
    rows = CUT(["a", "b", "c"], **columns)
    assert [row.status for row in rows] == ["scored", "truncated", "scored"]
    assert [row.total for row in rows] == [0.0, None, 0.0]
    kept = Recipe("kept", CUT.components)(["a", "b", "c"], **columns)
    assert [row.total for row in kept] == [0.0, 0.0, 0.0]
    assert kept[1].components["long"].why.startswith("The completion was cut off.")


@pytest.mark.parametrize("columns", [{"truncated": ["a", "b", "c"]}, {"finish_reason": [None] * 3}])
def test_a_column_that_says_nothing_of_it_is_none(columns):
    assert [row.status for row in CUT(["a", "b", "c"], **columns)] == ["scored"] * 3
