"""A reward in a Ray actor: it starts its own workers there, and gives what it gives anywhere."""

import ray


@ray.remote(num_cpus=1)
class Trainer:
    def rewards(self):
        from plaudit.rewards.trl import accuracy_reward

        return accuracy_reward([r"\boxed{\sin^2 x + \cos^2 x}", r"\boxed{\tan x}"], ["1", "1"])


def test_a_reward_in_an_actor():
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        assert ray.get(Trainer.remote().rewards.remote(), timeout=120) == [1.0, 0.0]
    finally:
        ray.shutdown()
