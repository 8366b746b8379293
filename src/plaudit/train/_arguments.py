"""Tables of a run's file in; the configurations of TRL and PEFT that they describe out."""

import types
from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from enum import Enum
from importlib import import_module
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from plaudit.recipes import Recipe
from plaudit.train._run_file import Run

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
    """The trainer's configuration, made of what the file says under [trainer]."""
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
    """Whether a value of a TOML file is of an argument's type.

    >>> _fits(1, float), _fits("1e-6", float), _fits(True, int), _fits("steps", str | None)
    (True, False, False, True)
    """
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
    """An argument's type in words.

    >>> _described(float | None), _described(dict | str | None)
    ('a number', 'a table or text')
    """
    if get_origin(hint) is Literal:
        return " or ".join(map(repr, get_args(hint)))
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    words = [
        _described(kind) if get_origin(kind) is Literal else _WORDS.get(get_origin(kind) or kind)
        for kind in kinds
    ]
    return " or ".join(dict.fromkeys(word for word in words if word)) or str(hint)
