"""A run in; the trained model out, in the run's folder."""

import sys
from dataclasses import fields
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

import plaudit
from plaudit.recipes import Recipe, load
from plaudit.train._checkpoints import prepare
from plaudit.train._data import dataset_of
from plaudit.train._progress import Progress
from plaudit.train._run_file import Run
from plaudit.trainers.trl import LONG_ANSWER, dual

_CLASSES = {"grpo": ("GRPOConfig", "GRPOTrainer"), "rloo": ("RLOOConfig", "RLOOTrainer")}
# What this command decides itself.
_OWN = ("output_dir", "reward_weights", "resume_from_checkpoint")
_GIVEN_BY_TRL = ("completions", "completion_ids", "prompts")
_DEFAULTS = {"logging_steps": 1, "report_to": "none", "disable_tqdm": True, "save_steps": 50}


def train(run: Run, overwrite: bool = False) -> Path:
    """Train a model, from the last checkpoint of the run if there is one.

    Returns the folder of the final model. Every batch is recorded in the folder `record` beside it.

    run: what to train, see `read_run`
    overwrite: whether to remove what an earlier call wrote to the run's folder, and start over;
        default: continue that run, or raise ValueError if its settings differ

    >>> train(Run("Qwen/Qwen2.5-0.5B-Instruct", "train.jsonl", "trl-math", Path("runs/1")))
    ... # doctest: +SKIP
    PosixPath('runs/1/model')
    """
    recipe = load(run.recipe, columns=run.columns)
    trl = import_module("trl")
    config_name, trainer_name = _CLASSES[run.algorithm]
    arguments = _arguments(run, recipe, getattr(trl, config_name))
    dataset = dataset_of(run)
    is_dual = LONG_ANSWER in recipe.needs().values() and LONG_ANSWER not in dataset.column_names
    made = [LONG_ANSWER] if is_dual else []
    names = [*dataset.column_names, *_GIVEN_BY_TRL, *made]
    recipe, guessed = recipe.with_guessed_columns(names)
    for argument, column in guessed.items():
        hint = f'for another, write {argument} = "COLUMN" under [columns]'
        print(f"plaudit: {argument}: column {column} ({hint})", file=sys.stderr)
    recipe.check(names)
    with arguments.main_process_first(local=False):
        start = prepare(run, overwrite and arguments.process_index == 0)
    recorded = plaudit.record(recipe, run.output / "record")
    plaudit.warm_up()
    trainer_class = getattr(trl, trainer_name)
    trainer = (dual(trainer_class) if is_dual else trainer_class)(
        model=run.model,
        train_dataset=dataset,
        reward_funcs=recorded.reward_funcs(),
        args=arguments,
    )
    _show_progress(trainer, Progress([component.name for component in recipe.components]))
    trainer.train(resume_from_checkpoint=None if start is None else str(start))
    trainer.save_model(str(run.output / "model"))
    return run.output / "model"


def _arguments(run: Run, recipe: Recipe, config: Any) -> Any:
    """The trainer's configuration, of what the file says under [trainer]."""
    known = {f.name for f in fields(config) if f.init}
    for name in run.trainer:
        if name in _OWN:
            raise ValueError(f"[trainer] {name} is set by plaudit train: leave it out")
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise ValueError(f'[trainer] {config.__name__} has no argument "{name}"{hint}')
    own = {"output_dir": str(run.output), "reward_weights": recipe.reward_weights()}
    try:
        return config(**{**_DEFAULTS, **run.trainer, **own})
    except (TypeError, ValueError) as error:
        raise ValueError(f"[trainer] {error}") from error


def _show_progress(trainer: Any, progress: Progress) -> None:
    """Print a line for each step in place of the dictionaries that transformers prints."""
    transformers = import_module("transformers")

    class Lines(transformers.TrainerCallback):  # type: ignore[misc, name-defined]
        def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            progress.start(state.global_step)

        def on_log(
            self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any
        ) -> None:
            if state.is_world_process_zero and logs:
                progress.log(logs, state.global_step, state.max_steps)

    trainer.remove_callback(transformers.PrinterCallback)
    trainer.add_callback(Lines())
