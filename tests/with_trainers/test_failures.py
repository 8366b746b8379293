"""A row that fails in real trainers: it has no advantage, and moves that of no other row."""

import time

import pytest
import torch
from transformers import set_seed
from trl import GRPOConfig, GRPOTrainer

from plaudit.recipes import Component, Recipe
from plaudit.scores import Score
from plaudit.trainers.trl import row_total

pytestmark = pytest.mark.filterwarnings("ignore:plaudit. .* skips rows")
FAILED = 1  # the row of each batch that fails


def last(completions, **kwargs):
    return [float(text.endswith("so")) + len(text) % 7 for text in completions]


def failing_on_a_row(completions, **kwargs):
    scores = [Score(len(text) / 100, "So long.") for text in completions]
    scores[FAILED] = Score(0.0, "It hung.", status="timeout")
    return scores


class Watched(GRPOTrainer):
    """Keeps the advantages and the values of each batch."""

    def _generate_and_score_completions(self, inputs):
        made = super()._generate_and_score_completions(inputs)
        self.kept.append(made["advantages"])
        return made

    def _calculate_rewards(self, *arguments):
        self.values = super()._calculate_rewards(*arguments)
        return self.values


def trained(
    recipe,
    model,
    tokenizer,
    dataset,
    folder,
    aggregation="sum_then_normalize",
    functions=None,
    arguments=None,
):
    config = GRPOConfig(
        output_dir=str(folder),
        use_cpu=True,
        bf16=False,
        seed=7,
        max_steps=1,
        per_device_train_batch_size=8,
        num_generations=4,
        max_completion_length=6,
        beta=0.0,
        reward_weights=recipe.reward_weights(),
        multi_objective_aggregation=aggregation,
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
    )
    set_seed(7)
    trainer = Watched(
        model=model,
        args=config,
        processing_class=tokenizer,
        train_dataset=dataset,
        reward_funcs=functions or recipe.reward_funcs(),
        **(arguments or {}),
    )
    trainer.kept = []
    trainer.train()
    return trainer.kept[0], trainer.values


@pytest.mark.parametrize("aggregation", ["sum_then_normalize", "normalize_then_sum"])
def test_trl_learns_nothing_from_a_row_that_failed(
    new_model, tokenizer, dataset, tmp_path, aggregation
):
    failing = Recipe("failing", (Component("hangs", failing_on_a_row), Component("last", last)))
    advantages, values = trained(failing, new_model(), tokenizer, dataset, tmp_path, aggregation)
    assert torch.isnan(values[FAILED]).all()  # in every component
    assert not torch.isnan(advantages).any()
    assert advantages[FAILED] == 0
    assert advantages == pytest.approx(without(values, FAILED, aggregation), abs=1e-5)


# How rows of which the reward fails arrive: without a value, or with 0 if it takes all memory.
WAYS = {"sleep": None, "lock": None, "exit": None, "eat": 0.0}
DEADLINE = 4


@pytest.mark.parametrize("way", WAYS)
def test_trl_goes_on_whatever_a_reward_does(new_model, tokenizer, dataset, tmp_path, way):
    reward = "hanging_rewards:fails_on_a_length"
    limits = {"deadline": DEADLINE, "memory": 1024}
    failing = Component("fails", reward, params={"way": way}, **limits)
    recipe = Recipe("hanging", (failing, Component("last", last)), fail_above=1.0)
    recipe.score_batch(["of 9 char"])  # the process of the reward starts
    seconds = []
    function = recipe.reward_funcs()[0]

    def timed(**columns):
        start = time.monotonic()
        values = function(**columns)
        seconds.append(time.monotonic() - start)
        return values

    advantages, values = trained(
        recipe, new_model(), tokenizer, dataset, tmp_path, functions=[timed, last]
    )
    failed = torch.isnan(values[:, 0]) if WAYS[way] is None else values[:, 0] == 0
    assert 0 < failed.sum() < len(values)
    assert not torch.isnan(advantages).any()
    assert max(seconds) < DEADLINE + 1


def without(values, row, aggregation):
    """The advantages as TRL would compute them if the row had not been drawn."""
    kept = [index for index in range(len(values)) if index != row]
    groups = [[i for i in kept if i < 4], [i for i in kept if i >= 4]]
    advantages = torch.zeros(len(values))
    if aggregation == "sum_then_normalize":
        for group in groups:
            rewards = values[group].sum(dim=1)
            advantages[group] = (rewards - rewards.mean()) / (rewards.std() + 1e-4)
        return advantages
    rewards = torch.zeros(len(values))
    for group in groups:
        each = values[group]
        rewards[group] = ((each - each.mean(dim=0)) / (each.std(dim=0) + 1e-4)).sum(dim=1)
    advantages[kept] = (rewards[kept] - rewards[kept].mean()) / (rewards[kept].std() + 1e-4)
    return advantages


class Desk:
    """An environment of TRL's that owns its reward; of a row without a gold there is none."""

    def reset(self, answer=None, **row):
        self.gold = answer

    def get_reward(self):
        return (
            None if self.gold is None else row_total(r"\boxed{4}", "trl-math", solution=self.gold)
        )


TEMPLATE = (
    "{% for m in messages %}{{ m.role }}{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}{{ c.function.name }}{{ c.function.arguments }}{% endfor %}"
    "{% endfor %}"
)


def test_a_recipe_is_the_reward_of_an_environment_and_beside_it(
    new_model, tokenizer, dataset, tmp_path, monkeypatch
):
    monkeypatch.setattr(tokenizer, "chat_template", TEMPLATE)
    chats = dataset.map(lambda row: {"prompt": [{"role": "user", "content": row["prompt"]}]})
    recipe = Recipe("beside", (Component("form", "trl.think_format_reward"),))
    arguments = {"environment_factory": Desk}
    advantages, values = trained(
        recipe, new_model(), tokenizer, chats, tmp_path, arguments=arguments
    )
    assert values.shape[1] == 2
    owned = values[:, 1]
    assert {1.0, 0.0} & set(owned[~torch.isnan(owned)].tolist())
    assert not torch.isnan(values[:, 0]).any()
    assert not torch.isnan(advantages).any()
