"""What a trainer passes in, and out comes what it expects of a recipe: one small module a trainer.

    reward.custom_reward_function.path=pkg://plaudit.trainers.verl        # verl
    --custom-rm-path plaudit.trainers.slime.custom_rm                     # slime

Which recipe: an argument `recipe` where the trainer passes arguments to a reward, else the
environment variable PLAUDIT_RECIPE; a preset's name, or the path of a TOML file.

Where a trainer has a protocol for remote rewards, its module has `batch_of(body)`, from a request
to what a recipe scores, and `reply_of(scores, body)`, from what came of that to the answer.
"""

from plaudit.golds import gold_of
from plaudit.trainers._chosen import chosen
from plaudit.trainers._rows import Batch, response_of

__all__ = ["Batch", "chosen", "gold_of", "response_of"]
