"""TRL's own trainers train with the rewards of a recipe, whichever way they are called."""

import json
import os
import subprocess
import sys
from math import isnan
from pathlib import Path

import pytest
from transformers import TrainerCallback, set_seed
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

import plaudit
from plaudit import AsyncClient, Client
from plaudit.rewards.trl import accuracy_reward, think_format_reward
from plaudit.runs import finish, open_recorded
from plaudit.serve import serving

STEPS = 2


class Rows(TrainerCallback):
    """What the trainer logs of each row, kept from every step."""

    def __init__(self):
        self.columns = {}

    def on_step_end(self, args, state, control, **kwargs):
        logs = self.trainer._logs
        columns = {"completions": logs["completion"], **logs["rewards"], **logs["extra"]}
        for name, column in columns.items():
            self.columns.setdefault(name, []).extend(none_for_nan(value) for value in column)


def none_for_nan(value):
    return None if isinstance(value, float) and isnan(value) else value


def trained(trainer_class, config_class, model, tokenizer, dataset, functions, weights, folder):
    """What a trainer tells of two steps with these reward functions: the rows, and the metrics."""
    arguments = config_class(
        output_dir=str(folder),
        use_cpu=True,
        bf16=False,
        seed=7,
        max_steps=STEPS,
        per_device_train_batch_size=8,
        num_generations=4,
        max_completion_length=6,
        logging_steps=1,
        log_completions=True,
        beta=0.0,
        reward_weights=weights,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
    )
    set_seed(7)
    rows = Rows()
    trainer = rows.trainer = trainer_class(
        model=model,
        processing_class=tokenizer,
        train_dataset=dataset,
        reward_funcs=functions,
        args=arguments,
        callbacks=[rows],
    )
    trainer.train()
    steps = [
        {name: none_for_nan(value) for name, value in step.items() if is_of_rewards(name)}
        for step in trainer.state.log_history[:STEPS]
    ]
    return rows.columns, steps


def is_of_rewards(metric):
    """How long something took is another number in every run."""
    return (metric.startswith("reward") or "/" in metric) and not metric.endswith("seconds")


@pytest.fixture(scope="module")
def train(new_model, tokenizer, dataset, tmp_path_factory):
    def with_rewards(functions, weights, trainer_class=GRPOTrainer, config_class=GRPOConfig):
        folder = tmp_path_factory.mktemp("run")
        made = (new_model(), tokenizer, dataset, functions, weights, folder)
        return trained(trainer_class, config_class, *made)

    return with_rewards


@pytest.fixture(scope="module")
def directly(train, recipe):
    """What a run with plain functions tells, to which every other is compared."""
    return train(recipe.reward_funcs(), recipe.reward_weights())


def test_metrics_carry_every_components_name(directly, recipe):
    rows, steps = directly
    assert len(steps) == STEPS
    for step in steps:
        for component in recipe.components:
            assert f"rewards/{component.name}/mean" in step
            assert f"rewards/{component.name}/std" in step
        assert "accuracy/timeout" in step  # what plaudit says of rows in trouble
    assert {"accuracy", "form", "brevity"} <= set(rows)


def test_the_extra_columns_say_what_was_read(directly):
    rows, _ = directly
    for name in ("solution", "gold_parsed", "answer_parsed"):
        assert len(rows[name]) == len(rows["completions"])
    assert "4" in rows["gold_parsed"]


def test_the_rewards_are_those_of_a_direct_call(directly):
    """The random model gets some right and some wrong, and rows without a gold are skipped."""
    rows, _ = directly
    assert len(rows["completions"]) == 8 * STEPS
    assert set(rows["accuracy"]) == {0.0, 1.0, None}
    assert rows["accuracy"] == accuracy_reward(rows["completions"], rows["solution"])
    assert rows["form"] == think_format_reward(rows["completions"])


def test_asynchronous_functions_give_the_same(directly, train, recipe):
    functions = recipe.reward_funcs(asynchronous=True)
    assert train(functions, recipe.reward_weights()) == directly


def test_a_server_gives_the_same(directly, train, recipe):
    with serving(recipe) as url:
        client = Client(url)
        assert train(client.reward_funcs(), client.reward_weights()) == directly


def test_a_server_gives_the_same_on_an_event_loop(directly, train, recipe):
    with serving(recipe) as url:
        client = AsyncClient(url)
        assert train(client.reward_funcs(), client.reward_weights()) == directly


def test_rloo_takes_them_too(train, recipe):
    rows, steps = train(recipe.reward_funcs(), recipe.reward_weights(), RLOOTrainer, RLOOConfig)
    assert {0.0, 1.0} <= set(rows["accuracy"])
    assert all("rewards/form/mean" in step for step in steps)


@pytest.mark.parametrize(
    ("trainer", "config"), [(GRPOTrainer, GRPOConfig), (RLOOTrainer, RLOOConfig)]
)
def test_the_record_has_the_steps_and_groups_that_the_trainer_logs(
    trainer, config, new_model, tokenizer, dataset, recipe, tmp_path
):
    """All rows have one prompt: only the trainer knows that each step has two groups."""
    recorded = plaudit.record(recipe, tmp_path / "run" / "record")
    arguments = config(
        output_dir=str(tmp_path / "run"),
        use_cpu=True,
        bf16=False,
        seed=7,
        max_steps=3,
        per_device_train_batch_size=8,
        per_device_eval_batch_size=8,
        num_generations=4,
        max_completion_length=6,
        logging_steps=1,
        eval_strategy="steps",
        eval_steps=2,
        beta=0.0,
        reward_weights=recorded.reward_weights(),
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
    )
    set_seed(7)
    running = trainer(
        model=new_model(),
        processing_class=tokenizer,
        train_dataset=dataset,
        eval_dataset=dataset.select(range(4)),
        reward_funcs=recorded.reward_funcs(),
        args=arguments,
    )
    running.train()
    finish(tmp_path / "run" / "record")
    run = open_recorded(tmp_path / "run")
    run.refresh()
    logged = {log["step"]: log for log in running.state.log_history if "reward" in log}
    assert [step.step for step in run.steps] == list(logged) == [1, 2, 3]
    for step in run.steps:
        assert (step.rows, step.groups) == (8, 2)
        assert step.values["total"].mean == pytest.approx(logged[step.step]["reward"], abs=1e-4)
        assert step.flat / 2 == pytest.approx(logged[step.step]["frac_reward_zero_std"])
    evaluated = open_recorded(tmp_path / "run" / "record" / "evaluation")
    evaluated.refresh()
    logged = {log["step"]: log for log in running.state.log_history if "eval_reward" in log}
    assert [step.step for step in evaluated.steps] == list(logged)
    for step in evaluated.steps:
        assert (step.rows, step.groups) == (16, 4)
        assert step.flat / 4 == pytest.approx(logged[step.step]["eval_frac_reward_zero_std"])


@pytest.mark.parametrize(
    ("names", "weights", "metric"),
    [
        (["accuracy", "form_async", "brevity"], ["1.0", "0.5", "0.25"], "rewards/form/mean"),
        (["total"], ["1.0"], "brief-math/form"),
    ],
)
def test_the_command_line_takes_them_by_dotted_path(
    names, weights, metric, new_model, tokenizer, dataset, recipe, tmp_path
):
    new_model().save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    (tmp_path / "data").mkdir()
    dataset.to_json(tmp_path / "data" / "train.jsonl")
    (tmp_path / "brief-math.toml").write_text(recipe.to_toml())
    command = [
        *(str(Path(sys.executable).with_name("trl")), "grpo"),
        *(
            "--model_name_or_path",
            str(tmp_path / "model"),
            "--dataset_name",
            str(tmp_path / "data"),
        ),
        *("--reward_funcs", *(f"plaudit.trainers.trl.{name}" for name in names)),
        *("--reward_weights", *weights, "--output_dir", str(tmp_path / "out")),
        *("--max_steps", "1", "--per_device_train_batch_size", "4", "--num_generations", "4"),
        *("--max_completion_length", "6", "--use_cpu", "--bf16", "False"),
        *("--report_to", "none", "--logging_steps", "1", "--save_strategy", "steps"),
    ]
    environment = {**os.environ, "PLAUDIT_RECIPE": str(tmp_path / "brief-math.toml")}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    [state] = (tmp_path / "out").glob("checkpoint-*/trainer_state.json")
    assert metric in json.loads(state.read_text())["log_history"][0]
