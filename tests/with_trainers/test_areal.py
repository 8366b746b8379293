"""AReaL's own wrapper calls the reward in its processes."""

import asyncio

from areal.api.reward_api import AsyncRewardWrapper
from areal.utils.dynamic_import import import_from_string


def test_the_reward_is_found_by_its_path_and_called_in_a_process(monkeypatch):
    monkeypatch.setenv("PLAUDIT_RECIPE", "trl-math")
    reward = AsyncRewardWrapper(
        import_from_string("plaudit.trainers.areal.reward_fn"), max_workers=1, max_retries=0
    )

    async def rewards():
        rows = [(r"\boxed{2+2}<|im_end|>", "4"), (r"\boxed{5}", 4), (r"\boxed{5}", None)]
        return [
            await reward("What is 2 + 2?", said, [1, 2], [3], answer=gold, messages=[])
            for said, gold in rows
        ]

    assert asyncio.run(rewards()) == [1.0, 0.0, 0.0]
