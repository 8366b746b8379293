"""Trains a random model with canoe-dual for a few steps, and writes what each row got to a file.

python dual_run.py FOLDER subclass|rollout|rloo|silent

Each process writes FOLDER/<mode>-<rank>.json: the calls of the rewards, in order. A model that is
`silent` has no way to write a long answer.
"""

import json
import os
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from datasets import Dataset
from tiny_models import model_of
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer, RLOOConfig, RLOOTrainer

from plaudit.recipes import load
from plaudit.rewards.canoe import second_prompt
from plaudit.trainers.trl import dual, dual_rollout

STEPS, ROWS = 2, 8
LONG = [f"<long_answer>{name} is here</long_answer>" for name in ("Ada", "Bo", "Cy")]
SAID = ["<think>a</think>", "<answer>Ada</answer>", "<answer>Bo</answer>"]
ASKED = ["<context>", "</context>", "Who", "?", " ", *"0123456789", "Ada", "Bo", "Cy", "is", "here"]
PIECES = r"<(think|long_answer|answer)>[^<>]*</\1>|<[^<>]*>|[A-Za-z]+|."


def tokenizer_of(words):
    vocabulary = {word: number for number, word in enumerate(["<end>", "<unk>", *words])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Split(Regex(PIECES), "isolated")
    made.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<end>", eos_token="<end>")


class Calls:
    """A reward that notes what it is given."""

    __name__ = "calls"

    def __init__(self):
        self.rows = []

    def __call__(self, prompts, completions, completions_long_answer, **columns):
        given = zip(prompts, completions, completions_long_answer, strict=True)
        self.rows.append([list(row) for row in given])
        return [0.0] * len(prompts)


def watch_generation(trainer, asked):
    """Note the prompts and the ids of each generation of this process."""
    generate = trainer._generate_single_turn

    def noted(prompt_ids, *rest, **options):
        given = generate(prompt_ids, *rest, **options)
        ids = given[0] if isinstance(given, tuple) else given
        texts = trainer.processing_class.batch_decode
        asked.append([texts(prompt_ids), texts(ids, skip_special_tokens=True)])
        return given

    noted.__signature__ = __import__("inspect").signature(generate)
    trainer._generate_single_turn = noted


def main(folder, mode):
    torch.set_num_threads(1)
    tokenizer = tokenizer_of([*SAID, *ASKED] if mode == "silent" else [*LONG, *SAID, *ASKED])
    prompts = [f"<context>Cy is here</context> Who ?{number}" for number in range(16)]
    rows = {"prompt": prompts, "problem": prompts, "solution": ["Ada"] * len(prompts)}
    config, trainer_class = (
        (RLOOConfig, RLOOTrainer) if mode == "rloo" else (GRPOConfig, GRPOTrainer)
    )
    recipe, calls = load("canoe-dual"), Calls()
    arguments = config(
        output_dir=str(folder / "out"),
        use_cpu=True,
        bf16=False,
        seed=7,
        max_steps=STEPS,
        per_device_train_batch_size=ROWS,
        num_generations=4,
        max_completion_length=6,
        logging_steps=1,
        beta=0.0,
        reward_weights=[*recipe.reward_weights(), 0.0],
        report_to="none",
        save_strategy="no",
        disable_tqdm=True,
    )
    is_rollout = mode == "rollout"
    set_seed(7)
    trainer = (trainer_class if is_rollout else dual(trainer_class))(
        model=model_of(tokenizer),
        processing_class=tokenizer,
        train_dataset=Dataset.from_dict(rows),
        reward_funcs=[*recipe.reward_funcs(), calls],
        args=arguments,
        **({"rollout_func": dual_rollout} if is_rollout else {}),
    )
    asked = []
    watch_generation(trainer, asked)
    trainer.train()
    for batch in calls.rows:
        for prompt, completion, again in batch:
            assert (second_prompt(prompt, completion) is None) == (again is None), (prompt, again)
    told = [log for log in trainer.state.log_history if "reward" in log]
    rewards = [
        {name: value for name, value in log.items() if name.startswith("rewards/")} for log in told
    ]
    rank = trainer.accelerator.process_index
    (folder / f"{mode}-{rank}.json").write_text(
        json.dumps({"calls": calls.rows, "asked": asked, "rewards": rewards})
    )
    if torch.distributed.is_initialized():  # a process that ends without may be aborted by gloo
        torch.distributed.barrier()
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
