"""skyrl_gym makes the environment and steps through it."""

import pytest
import skyrl_gym
from skyrl_gym.metrics import aggregate_for_environment

from plaudit.recipes import Component, Recipe
from plaudit.trainers.skyrl import environment_class, register


def test_an_episode_of_one_turn():
    register("plaudit-test", recipe="trl-math")
    prompt = [{"role": "user", "content": "What is 2 + 2?"}]
    metrics = []
    for action, reward in ((r"\boxed{4}<|im_end|>", 1.0), (r"\boxed{5}", 0.0)):
        extras = {"reward_spec": {"method": "rule", "ground_truth": "4"}, "max_turns": 1}
        environment = skyrl_gym.make("plaudit-test", env_config={}, extras=extras)
        assert environment.init(prompt) == (prompt, {})
        output = environment.step(action)
        assert (output["reward"], output["done"], output["observations"]) == (reward, True, [])
        metrics.append(environment.get_metrics())
        environment.close()
    told = aggregate_for_environment("plaudit-test", metrics)
    assert (told["accuracy_reward"], told["skipped"], told["status_no_answer"]) == (0.5, 0.0, 0.0)


TOOLS = Recipe(
    "tools",
    (
        Component("called", "messages.tool_use_reward", weight=0.5),
        Component("right", "trl.accuracy_reward"),
    ),
)
CALL = '<tool_call>{"name": "add", "arguments": {"a": 2}}</tool_call>'


@pytest.mark.parametrize(
    ("actions", "rewards"),
    [
        ([CALL, r"\boxed{4}"], [0.5, 1.0]),
        ([CALL, CALL, r"\boxed{5}"], [0.5, 0.0, 0.0]),
        (["<tool_call>what</tool_call>", r"\boxed{4}"], [0.0, 1.0]),
        ([r"\boxed{4}"], [1.0]),
    ],
)
def test_each_turn_of_an_episode_with_tools_gets_what_it_adds_to_the_total(actions, rewards):
    class WithTools(environment_class(TOOLS)):
        def respond(self, action):
            is_call = "<tool_call>" in action
            return [{"role": "tool", "content": "4"}] if is_call else []

    name = f"with-tools-{actions}"
    skyrl_gym.register(id=name, entry_point=WithTools)
    extras = {"reward_spec": {"method": "rule", "ground_truth": "4"}}
    environment = skyrl_gym.make(name, env_config={}, extras=extras)
    environment.init([{"role": "user", "content": "What is 2 + 2?"}])
    steps = [environment.step(action) for action in actions]
    assert [step["reward"] for step in steps] == rewards
    assert [step["done"] for step in steps] == [False] * (len(actions) - 1) + [True]
    environment.close()
