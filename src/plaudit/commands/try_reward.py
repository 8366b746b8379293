r"""`plaudit try`: a reward or a recipe and one completion in; its score and the reasons out.

$ plaudit try trl.accuracy_reward --completion 'So \boxed{2/4}.' --solution '1/2'
$ plaudit try --recipe trl-reasoning --completion '<think>…</think> \boxed{4}' --solution 4
"""

import argparse
import inspect
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plaudit.commands import UsageError
from plaudit.recipes import explain

if TYPE_CHECKING:
    from plaudit.recipes import Recipe, RowScore
    from plaudit.scores import Score

__all__ = ["Words", "add_arguments", "run"]

HOW_TO_PASS = {
    "solution": "--solution TEXT",
    "completion_ids": "--column completion_ids='[1, 2, 3]'",
}

ABOUT = """\
Score one completion with a reward, or with a whole recipe, and say why it got what it got.

TEXT is used as it is. @FILE reads a file and - reads standard input, both as UTF-8 and without
their final newline. A completion that is a JSON list of messages is read as messages.
A TEXT that begins with a dash needs an equals sign: --solution=-x
For a reward that needs a tokenizer, each word counts as one token.
"""

EXAMPLES = """\
examples:
  plaudit try --recipe trl-reasoning --completion '<think>…</think> \\boxed{4}' --solution 4
  plaudit try my_rewards:polite --completion 'Yes, please.'
  plaudit try trl.accuracy_reward --completion 'So \\boxed{0.5}.' --solution '1/2'
  plaudit try think_format_reward --completion @completion.txt --json
  plaudit try canoe.len_reward --completion '<long_answer>It rains.</long_answer>' \\
      --column problem='<context>It has been raining.</context>'
  plaudit try trl.get_cosine_scaled_reward --param max_len=100 \\
      --completion '\\boxed{4}' --solution 4 --column completion_ids='[1, 2, 3]'
  plaudit try vlm_r1.cosine_reward --completion 'four words of text' --column acc_reward=1.0
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plaudit try` to a parser.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["--recipe", "trl-math", "--completion", "4"]).recipe
    'trl-math'
    """
    parser.description, parser.epilog = ABOUT, EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.set_defaults(complain=parser.error)
    parser.add_argument(
        "reward",
        metavar="REWARD",
        nargs="?",
        help="such as trl.accuracy_reward, iou_reward, or my_rewards:polite for one of your own",
    )
    parser.add_argument(
        "--recipe",
        metavar="R",
        help="a preset such as trl-math, or a TOML file, in place of REWARD",
    )
    parser.add_argument("--completion", metavar="TEXT", required=True, help="what the model wrote")
    parser.add_argument("--solution", metavar="TEXT", help="the gold answer")
    parser.add_argument(
        "--column",
        metavar="NAME=VALUE",
        type=_setting,
        action="append",
        default=[],
        help="the value of a dataset column, read as JSON if it is JSON and else as text; may be "
        "repeated",
    )
    parser.add_argument(
        "--param",
        metavar="NAME=VALUE",
        type=_setting,
        action="append",
        default=[],
        help="a parameter of the reward itself, such as max_len=100; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"expected NAME=VALUE, got {text!r}")
    return name, _json_or_text(value)


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def run(options: argparse.Namespace) -> None:
    """Print the score of a completion, and the reasons for it.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> run(parser.parse_args(["think_format_reward", "--completion", "<think>Hm.</think> 4"]))
    reward  trl.think_format_reward
    value   1.0
    status  scored
    why     The text starts with one <think>…</think>.
    """
    if (options.reward is None) == (options.recipe is None):
        options.complain("name either a REWARD or a --recipe")
    if options.recipe is not None and options.param:
        options.complain("--param is for a REWARD; a recipe has its params in its file")
    completion = _messages_or_text(_read(options.completion))
    solution = None if options.solution is None else _read(options.solution)
    columns = dict(options.column)
    if options.recipe is not None:
        _try_recipe(options, completion, solution, columns)
    else:
        _try_reward(options, completion, solution, columns)


def _try_reward(
    options: argparse.Namespace, completion: Any, solution: str | None, columns: dict[str, Any]
) -> None:
    is_own = ":" in options.reward
    name, reward = (options.reward, None) if is_own else _named(options.reward)
    given = completion, solution, dict(options.param), columns
    try:
        score = _explained_own(name, *given) if is_own else _explained(reward, *given)
    except (ValueError, TypeError, OSError, ImportError, RuntimeError) as error:
        raise UsageError(f"{name}: {error}") from error
    if options.json:
        print(json.dumps({"reward": name, **asdict(score)}))
    else:
        print(_as_text({"reward": name, **_facts(score)}))


def _try_recipe(
    options: argparse.Namespace, completion: Any, solution: str | None, columns: dict[str, Any]
) -> None:
    from plaudit.recipes import load

    try:
        recipe = load(options.recipe)
        row = _row(recipe, completion, solution, columns)
    except (ValueError, TypeError, OSError, ImportError, RuntimeError) as error:
        raise UsageError(f"{options.recipe}: {error}") from error
    if options.json:
        scores = {name: asdict(score) for name, score in row.components.items()}
        facts = {"recipe": recipe.name, "total": row.total, "status": row.status}
        print(json.dumps({**facts, "components": scores}))
        return
    total = "None (every reward skips the row)" if row.total is None else str(row.total)
    print(_as_text({"recipe": recipe.name, "total": total, "status": row.status}))
    for component in recipe.components:
        weight = f", weight {component.weight:g}" if component.weight != 1.0 else ""
        print(f"\n{component.name} ({component.reference}{weight})")
        print(_as_text(_facts(row.components[component.name]), "  "))


def _row(
    recipe: "Recipe", completion: Any, solution: str | None, columns: dict[str, Any]
) -> "RowScore":
    given = {**columns, **({} if solution is None else {"solution": solution})}
    for argument, column in recipe.needs().items():
        if argument not in given and column not in given:
            _ask_for_missing(["solution" if argument == "solution" else column], given, "--column")
    return recipe([completion], **{name: [value] for name, value in given.items()})[0]


def _explained(
    reward: Any,
    completion: Any,
    solution: str | None,
    params: dict[str, Any],
    columns: dict[str, Any],
) -> "Score":
    from plaudit.declarations import arguments_of, declaration_of, is_reward_factory

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
    given = [declaration.batch_names.get(name, name) for name in (*params, *columns)]
    given += ["solution"] if solution is not None else []
    needed = [name for name in declaration.needs if name in declaration.settings]
    _ask_for_missing(needed, given, "--param")
    _ask_for_missing(declaration.needs, given, "--column")
    return explain(reward, completion, solution, **params, **columns)


def _explained_own(
    reference: str,
    completion: Any,
    solution: str | None,
    params: dict[str, Any],
    columns: dict[str, Any],
) -> "Score":
    """The score that the user's own function gives, called as a recipe would call it."""
    from plaudit.recipes import Component, Recipe

    component = Component("", reference, params=params, folder=str(Path.cwd()))
    given = [*columns, *(["solution"] if solution is not None else [])]
    _ask_for_missing(component.needs({}), given, "--column")
    (reward,) = Recipe("try", (component,)).reward_funcs()
    return explain(reward, completion, solution, **columns)


def _named(wanted: str) -> tuple[str, Any]:
    from plaudit.rewards import reward_named

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
    """A tokenizer for the command line, which has no model: each word is a token.

    >>> len(Words().encode("four words of text"))
    4
    """

    def encode(self, text: str) -> list[str]:
        """The words of a text."""
        return text.split()


def _ask_for_missing(needed: Iterable[str], given: Iterable[str], option: str) -> None:
    """Raise ValueError for the first argument that is missing; the message says how to pass it."""
    for name in needed:
        if name not in given:
            how = HOW_TO_PASS.get(name, f"{option} {name}=VALUE")
            raise ValueError(f"needs {name}: pass {how}")


def _facts(score: "Score") -> dict[str, str | None]:
    value = "None (the row is skipped)" if score.value is None else str(score.value)
    facts = {"value": value, "answer": score.answer, "gold": score.gold, "method": score.method}
    return {**facts, "status": score.status, "why": score.why, "problem": score.problem}


def _as_text(facts: dict[str, str | None], indent: str = "") -> str:
    return "\n".join(f"{indent}{fact:<8}{_one_line(text)}" for fact, text in facts.items() if text)


def _one_line(text: str, width: int = 200) -> str:
    """Text that neither moves the cursor nor fills the screen: escaped, and cut to a width."""
    shown = text if len(text) <= width else text[: width - 1] + "…"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)
