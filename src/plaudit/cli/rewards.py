"""`plaudit list`, `plaudit presets` and `plaudit try`."""

import argparse
import inspect
import json as json_text
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from plaudit.cli.arguments import Option, UsageError
from plaudit.inputs.errors import one_line
from plaudit.recipes import Component, Recipe, explain, load, presets
from plaudit.rewards import all_rewards, broken_namespaces, reward_named
from plaudit.scores import Score
from plaudit.scores.decorators import arguments_of, declaration_of, is_reward_factory

HOW_TO_PASS = {
    "solution": "--solution TEXT",
    "completion_ids": "--column completion_ids='[1, 2, 3]'",
}


def list_rewards(words: Annotated[Sequence[str], "WORD"] = ()) -> None:
    """List the rewards, and what each of them rewards.

    words: list only the rewards whose name or description contains every WORD
    """
    rewards = all_rewards()
    lower = [word.lower() for word in words]
    found = {
        name: reward
        for name, reward in rewards.items()
        if all(word in f"{name} {_first_line(reward)}".lower() for word in lower)
    }
    for name, reward in found.items():
        print(f"{name}{_signature(reward)}\n    {_first_line(reward)}")
    for namespace, why in broken_namespaces().items():
        print(f"plaudit: no rewards of {namespace}: {why}", file=sys.stderr)
    if not found:
        raise UsageError(
            f"none of {len(rewards)} rewards has {' and '.join(map(repr, lower))} in its name or "
            "description: `plaudit list` names them all"
        )


def _signature(reward: Any) -> str:
    """Return the parameters without their types, which would fill the screen."""
    signature = inspect.signature(reward)
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _first_line(reward: Any) -> str:
    return (inspect.getdoc(reward) or "").partition("\n")[0]


def list_presets(name: Annotated[str | None, "NAME"] = None) -> None:
    """List plaudit's own recipes, or print one of them.

    name: print this recipe as a TOML file, as a start for one of your own
    """
    if name is not None:
        if name not in presets():
            known = ", ".join(presets())
            raise UsageError(f"there is no preset {name!r}: choose one of {known}")
        print(load(name).to_toml(), end="")
        return
    for preset in presets():
        recipe = load(preset)
        rewards = ", ".join(component.reference for component in recipe.components)
        needs = ", ".join(["completions", *recipe.needs()])
        print(f"{preset}\n    {rewards}\n    columns: {needs}")


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    return name, _json_or_text(value)


def _json_or_text(text: str) -> Any:
    try:
        return json_text.loads(text)
    except (ValueError, RecursionError):
        return text


Settings = Annotated[Sequence[tuple[str, Any]], Option("NAME=VALUE", "", _setting)]


def try_reward(
    reward: Annotated[str | None, "REWARD"] = None,
    *,
    recipe: Annotated[str | None, "R"] = None,
    completion: Annotated[str, "TEXT"],
    solution: Annotated[str | None, "TEXT"] = None,
    column: Settings = (),
    param: Settings = (),
    json: bool = False,
) -> None:
    r"""Score one completion with a reward, or with a whole recipe, and say why it got what it got.

    TEXT is used as it is. @FILE reads a file and - reads standard input, both as UTF-8 and without
    their final newline. A completion that is a JSON list of messages is read as messages.
    A TEXT that begins with a dash needs an equals sign: --solution=-x
    For a reward that needs a tokenizer, each word counts as one token.

    reward: such as trl.accuracy_reward, iou_reward, or my_rewards:polite for one of your own
    recipe: a preset such as trl-math, or a TOML file, instead of REWARD
    completion: what the model wrote
    solution: the gold answer
    column: the value of a dataset column, read as JSON if it is JSON and else as text; may be
        repeated
    param: a parameter of the reward itself, such as max_len=100; may be repeated
    json: print one JSON object

    examples:
      plaudit try --recipe trl-reasoning --completion '<think>…</think> \boxed{4}' --solution 4
      plaudit try my_rewards:polite --completion 'Yes, please.'
      plaudit try trl.accuracy_reward --completion 'So \boxed{0.5}.' --solution '1/2'
      plaudit try think_format_reward --completion @completion.txt --json
      plaudit try canoe.len_reward --completion '<long_answer>It rains.</long_answer>' \
          --column problem='<context>It has been raining.</context>'
      plaudit try trl.get_cosine_scaled_reward --param max_len=100 \
          --completion '\boxed{4}' --solution 4 --column completion_ids='[1, 2, 3]'
      plaudit try vlm_r1.cosine_reward --completion 'four words of text' --column acc_reward=1.0
    """
    if (reward is None) == (recipe is None):
        raise UsageError("name either a REWARD or a --recipe")
    if recipe is not None and param:
        raise UsageError("--param is for a REWARD; a recipe has its params in its file")
    text, columns = _messages_or_text(_read(completion)), dict(column)
    if solution is not None:
        columns["solution"] = _read(solution)
    try:
        shown = (
            _try_recipe(load(recipe), text, columns, json)
            if recipe is not None
            else _try_reward(reward or "", text, dict(param), columns, json)
        )
    except (ValueError, TypeError, OSError, ImportError, RuntimeError) as error:
        raise UsageError(f"{reward or recipe}: {error}") from error
    print(shown)


def _try_reward(
    name: str, completion: Any, params: dict[str, Any], columns: dict[str, Any], json: bool
) -> str:
    """Return what a reward says of a completion, as text or JSON."""
    if ":" in name:  # the user's own function, called as a recipe would call it
        component = Component("", name, params=params, folder=str(Path.cwd()))
        _ask_for_missing(component.needs({}), columns, "--column")
        (reward,) = Recipe("try", (component,)).reward_funcs()
        score = explain(reward, completion, **columns)
    else:
        name, reward = _find_reward(name)
        score = _explain_reward(reward, completion, params, columns)
    if json:
        return json_text.dumps({"reward": name, **asdict(score)})
    return _as_text({"reward": name, **_facts(score)})


def _explain_reward(
    reward: Any, completion: Any, params: dict[str, Any], columns: dict[str, Any]
) -> Score:
    known = inspect.signature(reward).parameters
    for name in params:
        if name not in known:
            raise ValueError(f"has no parameter {name}; it has {', '.join(known)}")
    if "tokenizer" in known:
        params = {"tokenizer": Words(), **params}
    if is_reward_factory(reward):
        _ask_for_missing(arguments_of(reward)[2], params, "--param")
        reward, params = reward(**params), {}
    declaration = declaration_of(reward)
    needed = [name for name in declaration.needs if name in declaration.settings]
    _ask_for_missing(needed, {**params, **columns}, "--param")
    _ask_for_missing(declaration.needs, {**params, **columns}, "--column")
    return explain(reward, completion, **params, **columns)


def _try_recipe(recipe: Recipe, completion: Any, columns: dict[str, Any], json: bool) -> str:
    """Return what a recipe says of a completion, as text or JSON."""
    for argument, column in recipe.needs().items():
        if argument not in columns and column not in columns:
            wanted = "solution" if argument == "solution" else column
            _ask_for_missing([wanted], columns, "--column")
    listed = {name: [value] for name, value in columns.items()}
    (row,) = recipe.score_batch([completion], **listed).rows
    if json:
        scores = {one: asdict(score) for one, score in row.components.items()}
        facts = {"recipe": recipe.name, "total": row.total, "status": row.status}
        return json_text.dumps({**facts, "components": scores})
    total = "None (every reward skips the row)" if row.total is None else str(row.total)
    lines = [_as_text({"recipe": recipe.name, "total": total, "status": row.status})]
    for component in recipe.components:
        weight = f", weight {component.weight:g}" if component.weight != 1.0 else ""
        lines.append(f"\n{component.name} ({component.reference}{weight})")
        lines.append(_as_text(_facts(row.components[component.name]), "  "))
    return "\n".join(lines)


def _find_reward(wanted: str) -> tuple[str, Any]:
    try:
        return reward_named(wanted)
    except ValueError as error:
        raise UsageError(str(error)) from error


def _read(text: str) -> str:
    if text != "-" and not text.startswith("@"):
        return text
    try:
        raw = sys.stdin.buffer.read() if text == "-" else Path(text[1:]).read_bytes()
        return raw.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except OSError as error:
        raise UsageError(f"cannot read {text[1:]}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {text}: it is not UTF-8 text") from error


def _messages_or_text(text: str) -> Any:
    value = _json_or_text(text) if text.lstrip().startswith("[{") else text
    if isinstance(value, list) and all(isinstance(m, dict) and "content" in m for m in value):
        return value
    return text


class Words:
    """A tokenizer for the command line, which has no model: each word is a token."""

    def encode(self, text: str) -> list[str]:
        """Return the words of a text."""
        return text.split()


def _ask_for_missing(needed: Iterable[str], passed: Iterable[str], option: str) -> None:
    """Raise ValueError for the first argument that is missing; the message says how to pass it."""
    for name in needed:
        if name not in passed:
            how = HOW_TO_PASS.get(name, f"{option} {name}=VALUE")
            raise ValueError(f"needs {name}: pass {how}")


def _facts(score: Score) -> dict[str, str | None]:
    value = "None (the row is skipped)" if score.value is None else str(score.value)
    facts = {
        "value": value,
        "answer": score.answer,
        "gold": score.gold,
        "decided_by": score.decided_by,
    }
    return {**facts, "status": score.status, "why": score.why, "problem": score.problem}


def _as_text(facts: dict[str, str | None], indent: str = "") -> str:
    return "\n".join(f"{indent}{fact:<12}{one_line(text)}" for fact, text in facts.items() if text)
