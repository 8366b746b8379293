"""Train a model with unmodified TRL and a recipe, from a TOML file.

    model = "Qwen/Qwen2.5-0.5B-Instruct"
    data = "train.jsonl"
    recipe = "trl-reasoning"
    output = "runs/first"

    [trainer]
    learning_rate = 1e-6
    max_steps = 500

`plaudit train RUN.toml` prints the mean of each component in each step, records every batch in
`output/record`, and continues from its last checkpoint when it is called again.
"""

import json
import re
import shutil
import sys
import time
import tomllib
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from enum import Enum
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import plaudit
from plaudit.inputs.columns import PROMPT, first_of
from plaudit.recipes import Recipe, load, presets
from plaudit.train.prompts import canoe_rows, vlm_r1_rows
from plaudit.trainers.trl import LONG_ANSWER, dual

__all__ = ["train"]


ALGORITHMS = ("grpo", "rloo")
TEMPLATES = {
    "canoe": ("context", "question", "answer"),
    "vlm-r1-rec": ("image_folder", "accu_reward_method"),
    "vlm-r1-detection": ("image_folder", "accu_reward_method"),
    "vlm-r1-free": ("image_folder", "accu_reward_method"),
}
_TEXTS = ("model", "data", "recipe", "output")
_TABLES = ("columns", "prompts", "trainer", "peft")
_KEYS = (*_TEXTS, "eval_data", "algorithm", *_TABLES)
# What may differ when a run is continued: how long it trains, what it logs and saves, and when it
# evaluates.
_FREE = (
    *("max_steps", "num_train_epochs", "logging_steps", "save_steps", "save_total_limit"),
    *("eval_steps", "eval_on_start"),
)


@dataclass(frozen=True)
class Run:
    """What to train, as a TOML file describes it.

    model: a folder, or a name on the Hugging Face Hub
    data: a table that `plaudit score` reads, or the name of a dataset on the Hub
    recipe: a preset's name, or the path of a TOML file
    output: the folder of the checkpoints, of the final model and of the record
    eval_data: another table or dataset, which is scored now and then, and not trained on; default:
        none
    algorithm: "grpo" or "rloo"
    columns: which column an argument of the rewards is read from, such as {"solution": "answer"};
        default: the recipe's choice, else the column of that name, else a guess, which is printed
    prompts: how prompts are made of the table's rows, such as {"template": "canoe"}; default: the
        table has a column `prompt`, or another that `plaudit.inputs.columns` lists
    trainer: arguments of TRL's `GRPOConfig` or `RLOOConfig`, such as {"max_steps": 500}; default:
        TRL's own, but a log line for each step and a checkpoint every 50
    peft: arguments of `peft.LoraConfig`, such as {"r": 16}; default: all weights are trained
    """

    model: str
    data: str
    recipe: str
    output: Path
    algorithm: str = "grpo"
    columns: Mapping[str, str] = field(default_factory=dict)
    prompts: Mapping[str, Any] = field(default_factory=dict)
    trainer: Mapping[str, Any] = field(default_factory=dict)
    peft: Mapping[str, Any] = field(default_factory=dict)
    eval_data: str = ""

    def lasting(self) -> dict[str, Any]:
        """Return what must be the same when a run is continued from a checkpoint."""
        trainer = {name: self.trainer[name] for name in sorted(self.trainer) if name not in _FREE}
        settings = {name: getattr(self, name) for name in _KEYS if name != "output"}
        return {**settings, "trainer": trainer}


def read_run(path: str | PathLike[str]) -> Run:
    """Return the run that a TOML file describes; paths in it are relative to its folder.

    >>> import os, tempfile
    >>> file = os.path.join(tempfile.mkdtemp(), "run.toml")
    >>> with open(file, "w") as run:
    ...     _ = run.write('model = "m"\\ndata = "d"\\nrecipe = "trl-math"\\noutput = "o"\\n')
    >>> read_run(file).recipe
    'trl-math'
    """
    file = Path(path)
    try:
        table = tomllib.loads(file.read_text("utf-8-sig"))  # editors on Windows add a mark
        return _run(table, file.parent)
    except OSError as error:
        raise ValueError(f"cannot read {file}: {error.strerror}") from error
    except ValueError as error:  # of TOML, of UTF-8, and of what the file says
        raise ValueError(f"{file}: {error}") from error


def _run(table: Mapping[str, Any], folder: Path) -> Run:
    _check_keys(table, _KEYS, "")
    for name in (*_TEXTS, "eval_data"):
        if name in _TEXTS and name not in table:
            raise ValueError(f'{name} is missing: add {name} = "…"')
        if name in table and (not isinstance(table[name], str) or not table[name]):
            raise ValueError(f"{name} must be text, got {table[name]!r:.80}")
    for name in _TABLES:
        if not isinstance(table.get(name, {}), dict):
            raise ValueError(f"[{name}] must be a table, got {table[name]!r:.80}")
    algorithm = table.get("algorithm", ALGORITHMS[0])
    if algorithm not in ALGORITHMS:
        raise ValueError(f"algorithm must be one of {', '.join(ALGORITHMS)}, got {algorithm!r:.80}")
    prompts = dict(table.get("prompts", {}))
    _check_prompts(prompts)
    if "image_folder" in prompts:
        prompts["image_folder"] = str(folder / prompts["image_folder"])
    recipe = table["recipe"]
    return Run(
        model=_here(table["model"], folder),
        data=_here(table["data"], folder),
        recipe=recipe if recipe in presets() else str(folder / recipe),
        output=folder / table["output"],
        algorithm=algorithm,
        columns=table.get("columns", {}),
        prompts=prompts,
        trainer=table.get("trainer", {}),
        peft=table.get("peft", {}),
        eval_data=_here(table.get("eval_data", ""), folder),
    )


def _here(name: str, folder: Path) -> str:
    """Return the path in the file's folder if it exists; else the name, as the Hub knows it."""
    return str(folder / name) if name and (folder / name).exists() else name


def _check_prompts(prompts: Mapping[str, Any]) -> None:
    if not prompts:
        return
    template = prompts.get("template")
    if not isinstance(template, str) or template not in TEMPLATES:
        known = ", ".join(TEMPLATES)
        raise ValueError(f"[prompts] template must be one of {known}, got {template!r:.80}")
    _check_keys(prompts, ("template", *TEMPLATES[template]), "[prompts] ")
    for name, value in prompts.items():
        if not isinstance(value, str):
            raise ValueError(f"[prompts] {name} must be text, got {value!r:.80}")


def _check_keys(table: Mapping[str, Any], known: tuple[str, ...], label: str) -> None:
    for key in table:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"choose one of {', '.join(known)}"
            raise ValueError(f'{label}there is no key "{key}"; {hint}')


# What this command decides itself.
_OWN = ("output_dir", "reward_weights", "resume_from_checkpoint")
_DEFAULTS = {"logging_steps": 1, "report_to": "none", "disable_tqdm": True, "save_steps": 50}
_WORDS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a table",
}


def trainer_arguments(run: Run, recipe: Recipe, config: Any) -> Any:
    """Return the trainer's configuration, made of what the file says under [trainer]."""
    for name in run.trainer:
        if name in _OWN:
            raise ValueError(f"[trainer] {name} is set by plaudit train: leave it out")
    own = {"output_dir": str(run.output), "reward_weights": recipe.reward_weights()}
    return _made(config, run.trainer, "trainer", {**_DEFAULTS, **_evaluation(run)}, own)


def _evaluation(run: Run) -> dict[str, Any]:
    """When to evaluate, if there is something to evaluate on."""
    if not run.eval_data:
        return {}
    size = run.trainer.get("per_device_train_batch_size")  # TRL's default need not fit the groups
    batch = {} if size is None else {"per_device_eval_batch_size": size}
    steps = run.trainer.get("save_steps", _DEFAULTS["save_steps"])
    return {"eval_strategy": "steps", "eval_steps": steps, "eval_on_start": True, **batch}


def lora_arguments(run: Run) -> Any:
    """The configuration of LoRA, made of what the file says under [peft]; None without it."""
    if not run.peft:
        return None
    config = import_module("peft").LoraConfig
    return _made(config, run.peft, "peft", {"task_type": "CAUSAL_LM"}, {})


def _made(
    config: Any,
    table: Mapping[str, Any],
    label: str,
    defaults: Mapping[str, Any],
    own: Mapping[str, Any],
) -> Any:
    known = {f.name for f in fields(config) if f.init}
    hints = get_type_hints(config)
    for name, value in table.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f'; did you mean "{near[0]}"?' if near else ""
            raise ValueError(f'[{label}] {config.__name__} has no argument "{name}"{hint}')
        if not _fits(value, hints[name]):
            wanted = _described(hints[name])
            raise ValueError(f"[{label}] {name} must be {wanted}, got {value!r:.80}")
    try:
        return config(**{**defaults, **table, **own})
    except (TypeError, ValueError) as error:
        raise ValueError(f"[{label}] {error}") from error


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a value of a TOML file is of an argument's type."""
    if get_origin(hint) in (Union, types.UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    kind = get_origin(hint) or hint
    if not isinstance(kind, type):
        return True
    if kind in (int, float):
        return isinstance(value, int if kind is int else int | float) and not isinstance(
            value, bool
        )
    return isinstance(value, str if issubclass(kind, Enum) else kind)


def _described(hint: Any) -> str:
    """Return an argument's type in words."""
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    words = [
        _described(kind) if get_origin(kind) is Literal else _WORDS.get(get_origin(kind) or kind)
        for kind in kinds
    ]
    return " or ".join(dict.fromkeys(word for word in words if word)) or str(hint)


_IMAGES = ("image", "images")
_SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".arrow", ".gz", ".zst")


def dataset_of(data: str, prompts: Mapping[str, Any]) -> Any:
    """Return the `datasets.Dataset` of a table or of a name on the Hub, with a column `prompt`.

    prompts: how prompts are made, see `Run`
    """
    datasets = import_module("datasets")
    is_table = _is_table(data)
    table = data if is_table else _loaded(datasets, data)
    if prompts:
        rows = _dataset_rows(table, prompts)
    elif is_table:
        rows = _records(data)
    else:
        return _checked(table, data)
    if not rows:
        raise ValueError(f"{data} has no rows")
    return _with_images(_checked(datasets.Dataset.from_list(rows), data), datasets)


def _loaded(datasets: Any, name: str) -> Any:
    try:
        return datasets.load_dataset(name, split="train")
    except (OSError, ValueError) as error:
        raise OSError(not_loaded("dataset", name, error)) from error


def not_loaded(kind: str, name: str, error: Exception) -> str:
    """Say that a model or a dataset is neither here nor on the Hub."""
    why = str(error).strip().partition("\n")[0].rstrip(".")
    if Path(name).exists():
        return f"the {kind} in {name} cannot be loaded: {why}"
    return (
        f'there is no {kind} "{name}": no file or folder has this name, and the Hugging Face Hub '
        f"does not have it, or cannot be reached ({why})"
    )


def _is_table(data: str) -> bool:
    """Return whether a name is that of a file, a folder or a URL; else it is one of the Hub's."""
    if "://" in data or Path(data).exists():
        return True
    if Path(data).suffix in _SUFFIXES:
        raise ValueError(f"there is no {data}")
    return False


def _records(data: str) -> list[dict[str, Any]]:
    from plaudit.tables.readers import read_rows  # needs pyarrow

    return read_rows([data])


def _dataset_rows(table: Any, prompts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows with the prompts that a template of `plaudit.train.prompts` makes."""
    settings = {name: value for name, value in prompts.items() if name != "template"}
    system, _, kind = prompts["template"].partition("vlm-r1-")
    if system == "canoe":
        return canoe_rows(table, **settings)
    return vlm_r1_rows(table, template=kind, **settings)


def _checked(dataset: Any, data: str) -> Any:
    meant = first_of(PROMPT, dataset.column_names)
    if meant is not None:
        return dataset if meant == "prompt" else dataset.add_column("prompt", list(dataset[meant]))
    shown = ", ".join(f'"{name}"' for name in dataset.column_names)
    raise ValueError(
        f'{data} has no column "prompt", with the text or the messages that the model is '
        f"asked: add it, or say how to make it under [prompts]. The columns are {shown}"
    )


def _with_images(dataset: Any, datasets: Any) -> Any:
    """Return the dataset with images in place of their paths or bytes."""
    for name in _IMAGES:
        if name in dataset.column_names:
            image = datasets.Image()
            kind = datasets.List(image) if isinstance(dataset[0][name], list) else image
            dataset = dataset.cast_column(name, kind)
    return dataset


_SETTINGS = "plaudit-run.json"
_STATE = "trainer_state.json"


def last_checkpoint(folder: Path) -> Path | None:
    """Return the latest checkpoint that is complete; None if there is none.

    A trainer writes its state last, so a checkpoint without it was cut off.
    """
    named = (
        (re.fullmatch(r"checkpoint-(\d+)", path.name), path) for path in folder.glob("checkpoint-*")
    )
    found = sorted((int(match[1]), path) for match, path in named if match)
    return next((path for _, path in reversed(found) if "global_step" in _state_in(path)), None)


def _state_in(folder: Path) -> dict[str, Any]:
    """Return the state that a trainer saved in a folder; empty if there is none."""
    try:
        state = json.loads((folder / _STATE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return state if isinstance(state, dict) else {}


def steps_if_trained(folder: Path, max_steps: int, epochs: float) -> int | None:
    """Return the steps of a saved state that has been trained as long as wanted; else None."""
    state = _state_in(folder)
    steps = int(state.get("global_step", -1))
    by_epochs = (state.get("epoch") or 0) >= epochs and steps >= 0
    return steps if (steps >= max_steps if max_steps > 0 else by_epochs) else None


def prepare(run: Run, overwrite: bool, contents: Mapping[str, str]) -> Path | None:
    """Make the folder of a run ready, and return the checkpoint to continue from, if there is one.

    Raises ValueError if the folder holds something else, or a run with other settings that has
    made a step.

    overwrite: whether to remove the folder first, if `plaudit train` wrote it
    contents: what else must be the same when the run is continued, by name
    """
    if overwrite and run.output.exists():
        if not (run.output / _SETTINGS).exists():
            raise ValueError(f"{run.output} was not written by plaudit train: remove it yourself")
        shutil.rmtree(run.output)
    settings, file = {**run.lasting(), **contents}, run.output / _SETTINGS
    unfinished = file.with_suffix(".unfinished")
    if file.exists():
        before = _settings_in(file)
        changed = [name for name in settings if before.get(name) != settings[name]]
        if not changed:
            return last_checkpoint(run.output)
        if _has_trained(run.output):
            raise ValueError(
                f"{run.output} has a run with another {' and '.join(changed)}: choose another "
                "output, or start over with --overwrite"
            )
    elif run.output.exists() and any(path != unfinished for path in run.output.iterdir()):
        raise ValueError(
            f"{run.output} is not empty, and was not written by plaudit train: choose another "
            "folder"
        )
    run.output.mkdir(parents=True, exist_ok=True)
    unfinished.write_text(json.dumps(settings, indent=2, default=str) + "\n", "utf-8")
    unfinished.replace(file)  # at once: half of it would keep the run from going on
    return None


def _has_trained(output: Path) -> bool:
    """Whether a run has made a step: a recorded batch, a checkpoint or a model is left of it."""
    written = ("record/_run.json", "checkpoint-*", "model")
    return any(path for pattern in written for path in output.glob(pattern))


def _settings_in(file: Path) -> dict[str, Any]:
    try:
        settings = json.loads(file.read_text("utf-8"))
    except ValueError as error:
        settings = error
    if not isinstance(settings, dict):
        raise ValueError(f"{file} is damaged: start over with --overwrite")
    return settings


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

    def __init__(self, components: Sequence[str]) -> None:
        self.components = list(components)
        self._last = (0, time.perf_counter())

    def log(self, logs: Mapping[str, Any], step: int, steps: int) -> None:
        """Print the line of a step or an evaluation; other logs have no reward."""
        if "eval_reward" in logs:
            print(line_of(logs, self.components, step, steps), flush=True)
            self._last = (step, time.perf_counter())
        if "reward" not in logs:
            return
        now = time.perf_counter()
        before, then = self._last
        seconds = (now - then) / max(step - before, 1)
        self._last = (step, now)
        print(line_of(logs, self.components, step, steps, seconds), flush=True)

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
