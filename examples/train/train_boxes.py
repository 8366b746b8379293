"""Boxes in Python: a recipe's rewards, stock TRL, and the recorded run."""

from pathlib import Path

import boxes
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

import plaudit
from plaudit.recipes import load


def train(
    model: object, processor: boxes.Processor, folder: Path, seed: int, name: str = "vlm-r1-rec"
) -> list:
    """Train for 80 steps, each on new drawings, and return what was logged.

    name: the recipe, a preset or a file
    """
    rows = boxes.rows(count=80 * 8, seed=1000 + seed)
    recipe = plaudit.record(load(name), folder / "record")
    trainer = GRPOTrainer(
        model=model,
        processing_class=processor,
        train_dataset=Dataset.from_list(rows),
        reward_funcs=recipe.reward_funcs(),
        args=GRPOConfig(
            output_dir=str(folder / "grpo"),
            reward_weights=recipe.reward_weights(),
            max_steps=80,
            learning_rate=5e-4,
            warmup_steps=5,
            per_device_train_batch_size=64,
            num_generations=8,
            max_completion_length=32,
            logging_steps=1,
            report_to="none",
            save_strategy="no",
            use_cpu=True,
            bf16=False,
            seed=seed,
        ),
    )
    trainer.train()
    return trainer.state.log_history
