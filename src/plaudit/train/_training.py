"""A run in; the trained model out, in the run's folder."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import plaudit
from plaudit.recipes import Recipe, load
from plaudit.train._arguments import lora_arguments, trainer_arguments
from plaudit.train._checkpoints import prepare, steps_if_trained
from plaudit.train._data import dataset_of, not_loaded
from plaudit.train._progress import Progress
from plaudit.train._run_file import Run
from plaudit.trainers.trl import LONG_ANSWER, dual

_CLASSES = {"grpo": ("GRPOConfig", "GRPOTrainer"), "rloo": ("RLOOConfig", "RLOOTrainer")}
_GIVEN_BY_TRL = ("completions", "completion_ids", "prompts")


def train(run: Run, overwrite: bool = False) -> Path:
    """Train a model, from the last checkpoint of the run if there is one.

    Returns the folder of the final model. Every batch is recorded in the folder `record` beside it,
    those of the evaluation data in `record/evaluation`. A run that is finished is left as it is.

    run: what to train, see `read_run`
    overwrite: whether to remove what an earlier call wrote to the run's folder, and start over;
        default: continue that run, or raise ValueError if its settings, its recipe or its data
        differ

    >>> train(Run("Qwen/Qwen2.5-0.5B-Instruct", "train.jsonl", "trl-math", Path("runs/1")))
    ... # doctest: +SKIP
    PosixPath('runs/1/model')
    """
    recipe = load(run.recipe, columns=run.columns)
    trl = import_module("trl")
    config_name, trainer_name = _CLASSES[run.algorithm]
    arguments = trainer_arguments(run, recipe, getattr(trl, config_name))
    lora = lora_arguments(run)
    datasets = {"data": dataset_of(run.data, run.prompts)}
    if run.eval_data:
        datasets["eval_data"] = dataset_of(run.eval_data, run.prompts)
    _check_model(run.model)
    contents = {f"content of {name}": data._fingerprint for name, data in datasets.items()}
    contents["content of the recipe"] = recipe.to_toml()
    is_dual = LONG_ANSWER in recipe.needs().values() and not any(
        LONG_ANSWER in dataset.column_names for dataset in datasets.values()
    )
    for name, dataset in datasets.items():
        recipe = _for_columns(recipe, getattr(run, name), dataset, is_dual)
    with arguments.main_process_first(local=False):
        start = prepare(run, overwrite and arguments.process_index == 0, contents)
    model = run.output / "model"
    length = arguments.max_steps, arguments.num_train_epochs
    if (steps := steps_if_trained(run.output, *length)) is not None:
        print(
            f"plaudit: the run in {run.output} is finished, after {steps} steps. To train on, "
            "raise max_steps or num_train_epochs under [trainer]; to start over, use --overwrite",
            file=sys.stderr,
        )
        return model
    recorded = plaudit.record(recipe, run.output / "record")
    plaudit.warm_up()
    trainer_class = getattr(trl, trainer_name)
    trainer = (dual(trainer_class) if is_dual else trainer_class)(
        model=run.model,
        train_dataset=datasets["data"],
        eval_dataset=datasets.get("eval_data"),
        reward_funcs=recorded.reward_funcs(),
        args=arguments,
        peft_config=lora,
    )
    _show_progress(trainer, Progress([component.name for component in recipe.components]))
    if start is not None and steps_if_trained(start, *length) is not None:
        trainer._load_from_checkpoint(str(start))  # `train` would make one more step
    else:
        trainer.train(resume_from_checkpoint=None if start is None else str(start))
        _evaluate_at_the_end(trainer)
    trainer.save_model(str(model))
    trainer.save_state()  # in run.output, which says that the run is finished
    return model


def _for_columns(recipe: Recipe, data: str, dataset: Any, is_dual: bool) -> Recipe:
    """The recipe for the columns of a dataset; raises ValueError if one is missing."""
    names = [*dataset.column_names, *_GIVEN_BY_TRL, *([LONG_ANSWER] if is_dual else [])]
    recipe, guessed = recipe.with_guessed_columns(names)
    for argument, column in guessed.items():
        hint = f'for another, write {argument} = "COLUMN" under [columns]'
        print(f"plaudit: {argument}: column {column} ({hint})", file=sys.stderr)
    try:
        recipe.check(names, run_file=True)
    except ValueError as error:
        raise ValueError(f"{data}: {error}") from error
    return recipe


def _check_model(model: str) -> None:
    """Raise OSError if there is no such model, before anything is written."""
    try:
        import_module("transformers").AutoConfig.from_pretrained(model)
    except (OSError, ValueError) as error:
        raise OSError(not_loaded("model", model, error)) from error


def _evaluate_at_the_end(trainer: Any) -> None:
    """Evaluate the final model, unless its last step was evaluated."""
    steps = [log["step"] for log in trainer.state.log_history if "eval_reward" in log]
    if trainer.eval_dataset is not None and trainer.state.global_step not in steps:
        trainer.evaluate()


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
