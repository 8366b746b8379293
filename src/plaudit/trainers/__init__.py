"""Adapters: the rewards of a recipe in each trainer's own format.

There is one small module for each trainer:

    reward.custom_reward_function.path=pkg://plaudit.trainers.verl        # verl
    --custom-rm-path plaudit.trainers.slime.custom_rm                     # slime

The recipe is the argument `recipe`, if the trainer passes arguments to a reward, else the one that
the environment variable PLAUDIT_RECIPE names: a preset, or the path of a TOML file.

If a trainer has a protocol for remote rewards, its module has `batch_of(body)`, which makes a batch
for the recipe out of a request, and `reply_of(scores, body)`, which makes the reply.
"""

from plaudit.inputs.golds import gold_of
from plaudit.trainers._rows import Batch as Batch
from plaudit.trainers._rows import chosen, response_of

__all__ = ["chosen", "gold_of", "response_of"]
