"""A TOML file in; a `Run` out: what to train, with what, and where the results go."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

from plaudit.recipes import presets

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
        table has a column `prompt`, or another that `plaudit.column_names` lists
    trainer: arguments of TRL's `GRPOConfig` or `RLOOConfig`, such as {"max_steps": 500}; default:
        TRL's own, but a log line for each step and a checkpoint every 50
    peft: arguments of `peft.LoraConfig`, such as {"r": 16}; default: all weights are trained

    >>> Run("Qwen/Qwen2.5-0.5B-Instruct", "train.jsonl", "trl-math", Path("runs/1")).algorithm
    'grpo'
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
        """What must be the same when a run is continued from a checkpoint.

        >>> run = Run("m", "d", "trl-math", Path("o"), trainer={"max_steps": 9, "beta": 0.1})
        >>> run.lasting()["trainer"]
        {'beta': 0.1}
        """
        trainer = {name: self.trainer[name] for name in sorted(self.trainer) if name not in _FREE}
        settings = {name: getattr(self, name) for name in _KEYS if name != "output"}
        return {**settings, "trainer": trainer}


def read_run(path: str | PathLike[str]) -> Run:
    """The run that a TOML file describes; paths in it are relative to its folder.

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
    """The path in the file's folder if it exists; else the name, as the Hub knows it."""
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
