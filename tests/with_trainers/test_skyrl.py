"""skyrl_gym makes the environment and steps through it."""

import skyrl_gym
from skyrl_gym.metrics import aggregate_for_environment

from plaudit.trainers.skyrl import register


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
