"""A reward with a hole, trained on with the demonstration's model: the record's alarm tells of it.

The form is paid for empty tags too, and the more the fewer words there are: so the model learns to
leave its answers out.
"""

import json
import sys
from pathlib import Path

import pytest
import torch

from plaudit.runs import open_recorded
from plaudit.runs.alarms import AlarmLog
from plaudit.train import read_run, train

DEMO = Path(__file__).parents[2] / "examples" / "train"
FORM = '''
def brief_form(completions, **kwargs):
    """1.0 for empty tags and nothing else, less for each character more."""
    tagged = [text.startswith("<think>") and "</think>" in text for text in completions]
    lengths = [len(text) - len("<think></think>") for text in completions]
    return [max(0.0, 1 - n / 40) if has else 0.0 for has, n in zip(tagged, lengths)]
'''
RECIPE = """
name = "with-a-hole"
[[rewards]]
reward = "trl.reasoning_accuracy_reward"
[[rewards]]
reward = "hole:brief_form"
weight = 10.0
"""
RUN = """
model = "start"
data = "data.jsonl"
recipe = "recipe.toml"
output = "grpo"
[trainer]
max_steps = 30
learning_rate = 2e-3
warmup_steps = 5
per_device_train_batch_size = 64
num_generations = 8
max_completion_length = 20
use_cpu = true
bf16 = false
save_strategy = "no"
"""


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    """The steps of a run that was recorded."""
    folder = tmp_path_factory.mktemp("hack")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DEMO))
        import mathematics

        torch.set_num_threads(1)
        rows, _ = mathematics.make(folder / "start", seed=0)
    for name, text in (("hole.py", FORM), ("recipe.toml", RECIPE), ("run.toml", RUN)):
        (folder / name).write_text(text)
    (folder / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    train(read_run(folder / "run.toml"))
    sys.modules.pop("hole", None)
    run = open_recorded(folder / "grpo" / "record")
    run.refresh()
    return run.steps


def test_the_alarm_is_raised_within_five_steps_of_being_visible(steps):
    def mean(name, some):
        return sum(step.values[name].mean for step in some) / len(some)

    right, form = "reasoning_accuracy_reward", "brief_form"
    visible = next(
        place
        for place in range(5, len(steps))
        if mean(right, steps[place - 2 : place + 1]) <= mean(right, steps[:5]) - 0.15
        and mean(form, steps[place - 2 : place + 1]) >= mean(form, steps[:5]) + 0.1
    )
    raised = [one for one in AlarmLog().update(steps, 0) if one.kind == "form over answers"]
    assert raised
    assert raised[0].first <= steps[visible].step + 5
