"""Train the model of a run, and print a line for each step."""

import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

import plaudit
from plaudit.recipes import Recipe, load
from plaudit.train._run import (
    Run,
    dataset_of,
    lora_arguments,
    not_loaded,
    prepare,
    steps_if_trained,
    trainer_arguments,
)
from plaudit.trainers.trl import LONG_ANSWER, dual


def line_of(
    logs: Mapping[str, Any],
    components: Sequence[str],
    step: int,
    steps: int,
    seconds: float | None = None,
) -> str:
    """One line: the step, the mean total, each component's mean, the length, and what is left.

    logs: what TRL logs of a step, or of an evaluation, whose names begin with `eval_`
    seconds: how long the last step took; None for an evaluation
    """
    kind, prefix = ("eval", "eval_") if seconds is None else ("step", "")
    parts = [f"{kind} {step}/{steps}", f"total {logs[prefix + 'reward']:.3f}"]
    means = {name: logs.get(f"{prefix}rewards/{name}/mean") for name in components}
    parts += [f"{name} {mean:.3f}" for name, mean in means.items() if mean is not None]
    if (length := logs.get(f"{prefix}completions/mean_length")) is not None:
        parts.append(f"length {length:.1f}")
    if seconds is not None:
        parts.append(f"{seconds:.1f} s a step, {_duration(seconds * (steps - step))} left")
    return "  ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


class Progress:
    """Prints a line for each step that a trainer logs."""

    def __init__(self, components: Sequence[str], out: TextIO | None = None) -> None:
        self.components = list(components)
        self._out = out or sys.stdout
        self._last = (0, time.perf_counter())

    def log(self, logs: Mapping[str, Any], step: int, steps: int) -> None:
        """Print the line of a step or an evaluation; other logs have no reward."""
        if "eval_reward" in logs:
            print(line_of(logs, self.components, step, steps), file=self._out, flush=True)
            self._last = (step, time.perf_counter())
        if "reward" not in logs:
            return
        now = time.perf_counter()
        before, then = self._last
        seconds = (now - then) / max(step - before, 1)
        self._last = (step, now)
        print(line_of(logs, self.components, step, steps, seconds), file=self._out, flush=True)

    def start(self, step: int) -> None:
        """Count the time from here on."""
        self._last = (step, time.perf_counter())


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
    """Return the recipe for the columns of a dataset; raises ValueError if one is missing."""
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
