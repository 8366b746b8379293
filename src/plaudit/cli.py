"""The command line: `plaudit list` names the rewards, `plaudit try` scores one completion.

    $ plaudit try trl.accuracy_reward --completion 'So \\boxed{2/4}.' --solution '1/2'
    $ plaudit score rollouts.jsonl --recipe trl-math --out scored

What a command needs is imported only when it is given, so that `--help` is instant.
"""

import argparse
import inspect
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import plaudit

if TYPE_CHECKING:
    from plaudit.scores import Score

AnyReward = Callable[..., Any]

HOW_TO_PASS = {
    "solution": "--solution TEXT",
    "completion_ids": "--column completion_ids='[1, 2, 3]'",
}
INTERRUPTED = 130  # what shells report after Ctrl-C: 128 + SIGINT
PIPE_CLOSED = 141  # and after writing into a closed pipe: 128 + SIGPIPE

# Commands that live in packages of their own: each has `add_arguments` and `run`.
PACKAGES = {
    "score": ("plaudit.scoring", "Score a table of rollouts, into a folder of Parquet files."),
    "report": ("plaudit.report", "Write an HTML report of a folder that `plaudit score` wrote."),
    "diff": ("plaudit.diff", "Show which rows differ between two scored tables, and why."),
    "serve": ("plaudit.serve", "Score completions over HTTP."),
    "doctor": ("plaudit.doctor", "Look for what is wrong with this installation."),
    "watch": ("plaudit.watch", "Follow a recorded training run on a page of this machine."),
}
EXTRAS = {
    "plaudit.report": "report",
    "plaudit.serve": "serve",
    "plaudit.watch": "watch",
}  # what installs the packages that it needs

ABOUT = """\
Verifiable rewards for reinforcement learning: what a completion is worth, and why.

examples:
  plaudit list
  plaudit try trl.accuracy_reward --completion 'So it is \\boxed{\\frac{2}{4}}.' --solution '1/2'
  plaudit score rollouts.jsonl --recipe trl-math --out scored
  plaudit report scored
  plaudit serve --recipe trl-math
"""

ABOUT_TRY = """\
Score one completion, and say why it got what it got.

TEXT is taken as it stands; @FILE reads a file and - reads standard input, both as UTF-8 and
without their final newline. A completion that is a JSON list of messages is taken as messages.
A TEXT that begins with a dash needs an equals sign: --solution=-x
Where a reward needs a tokenizer, a word counts as a token here.
"""

EXAMPLES_OF_TRY = """\
examples:
  plaudit try trl.accuracy_reward --completion 'So \\boxed{0.5}.' --solution '1/2'
  plaudit try think_format_reward --completion @completion.txt --json
  plaudit try canoe.len_reward --completion '<long_answer>It rains.</long_answer>' \\
      --column problem='<context>It has been raining.</context>'
  plaudit try trl.get_cosine_scaled_reward --param max_len=100 \\
      --completion '\\boxed{4}' --solution 4 --column completion_ids='[1, 2, 3]'
  plaudit try vlm_r1.cosine_reward --completion 'four words of text' --column acc_reward=1.0
"""


class UsageError(Exception):
    """Something that the person at the keyboard can mend; the message says how.

    >>> raise UsageError("no reward is called 'acuracy'")
    Traceback (most recent call last):
    ...
    plaudit.cli.UsageError: no reward is called 'acuracy'
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return its exit code.

    >>> main(["try", "trl.think_format_reward", "--completion", "<think>Hm.</think> 4", "--json"])
    ... # doctest: +ELLIPSIS
    {"reward": "trl.think_format_reward", "value": 1.0, ...}
    0
    """
    try:
        options = _parser().parse_args(arguments)
        code = options.run(options)
        sys.stdout.flush()
    except UsageError as error:
        print(f"plaudit: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        # Python flushes standard output once more on its way out, and would complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return PIPE_CLOSED
        print(f"plaudit: cannot write: {error.strerror}", file=sys.stderr)
        return 1
    return code or 0


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="plaudit", description=ABOUT, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"plaudit {plaudit.__version__}")
    parser.set_defaults(run=lambda options: _ask_for_a_command(parser))
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Command)

    about_list = "Name every reward, with its signature and what it rewards."
    lister = commands.add_parser("list", help=about_list, description=about_list)
    lister.set_defaults(run=lambda options: _list(sys.stdout))

    trier = commands.add_parser(
        "try",
        help="Score one completion, and say why it got what it got.",
        description=ABOUT_TRY,
        epilog=EXAMPLES_OF_TRY,
        formatter_class=raw,
    )
    trier.add_argument(
        "reward",
        metavar="REWARD",
        help="such as trl.accuracy_reward, iou_reward, or my_rewards:polite for one of your own",
    )
    trier.add_argument("--completion", metavar="TEXT", required=True, help="what the model wrote")
    trier.add_argument("--solution", metavar="TEXT", help="the gold answer")
    trier.add_argument(
        "--column",
        metavar="NAME=VALUE",
        type=_setting,
        action="append",
        default=[],
        help="this row's value of a dataset column; JSON where it is JSON, else text",
    )
    trier.add_argument(
        "--param",
        metavar="NAME=VALUE",
        type=_setting,
        action="append",
        default=[],
        help="a parameter of the reward itself, such as max_len=100",
    )
    trier.add_argument("--json", action="store_true", help="print one JSON object")
    trier.set_defaults(run=lambda options: _try(options, sys.stdout))

    for name, (package, about) in PACKAGES.items():
        commands.add_parser(
            name, help=about, description=about, package=package, formatter_class=raw
        )
    return parser


class Command(argparse.ArgumentParser):
    """A command's parser. One that lives in a package of its own asks that for its arguments.

    >>> Command(prog="plaudit report", package="plaudit.report").parse_args(["scored"]).directory
    PosixPath('scored')
    """

    def __init__(self, package: str = "", **settings: Any) -> None:
        super().__init__(**settings)
        self._package = package

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, after the package has been imported, which takes a while: not for `--help`."""
        if self._package:
            command = _imported(self._package)
            command.add_arguments(self)
            self.set_defaults(run=command.run)
        return super().parse_known_args(args, namespace)


def _imported(package: str) -> Any:
    from importlib import import_module

    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get(package, "score")
        raise UsageError(f"this needs {error.name}: pip install 'plaudit[{extra}]'") from error


def _ask_for_a_command(parser: argparse.ArgumentParser) -> None:
    parser.print_help(sys.stderr)
    raise UsageError("say what to do: plaudit score INPUT, plaudit try REWARD, or plaudit list")


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


def _list(out: TextIO) -> None:
    from plaudit.rewards import all_rewards, broken_systems

    for name, reward in all_rewards().items():
        print(f"{name}{_signature(reward)}\n    {_first_line(reward)}", file=out)
    for system, why in broken_systems().items():
        print(f"plaudit: no rewards of {system}: {why}", file=sys.stderr)


def _signature(reward: AnyReward) -> str:
    """The names and defaults alone: the types are for the documentation."""
    signature = inspect.signature(reward)
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _first_line(reward: AnyReward) -> str:
    return (inspect.getdoc(reward) or "").partition("\n")[0]


def _try(options: argparse.Namespace, out: TextIO) -> None:
    is_own = ":" in options.reward
    name, reward = (options.reward, None) if is_own else _named(options.reward)
    completion = _messages_or_text(_read(options.completion))
    solution = None if options.solution is None else _read(options.solution)
    given = completion, solution, dict(options.param), dict(options.column)
    try:
        score = _explained_own(name, *given) if is_own else _explained(reward, *given)
    except (ValueError, TypeError, OSError, ImportError, RuntimeError) as error:
        raise UsageError(f"{name}: {error}") from error
    print(_as_json(name, score) if options.json else _as_text(name, score), file=out)


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
    return plaudit.explain(reward, completion, solution, **params, **columns)


def _explained_own(
    reference: str,
    completion: Any,
    solution: str | None,
    params: dict[str, Any],
    columns: dict[str, Any],
) -> "Score":
    """The score by a function of the user's, as a recipe would call it."""
    from plaudit.recipes import Component, Recipe

    component = Component("", reference, params=params, folder=str(Path.cwd()))
    given = [*columns, *(["solution"] if solution is not None else [])]
    _ask_for_missing(component.needs({}), given, "--column")
    (reward,) = Recipe("try", (component,)).reward_funcs()
    return plaudit.explain(reward, completion, solution, **columns)


def _named(wanted: str) -> tuple[str, AnyReward]:
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
    """A tokenizer for the command line, which has no model at hand: a word is a token.

    >>> len(Words().encode("four words of text"))
    4
    """

    def encode(self, text: str) -> list[str]:
        """The words of a text."""
        return text.split()


def _ask_for_missing(needed: Iterable[str], given: Iterable[str], option: str) -> None:
    """Complain of the first argument that is needed and not given, and say how to pass it."""
    for name in needed:
        if name not in given:
            how = HOW_TO_PASS.get(name, f"{option} {name}=VALUE")
            raise ValueError(f"needs {name}: pass {how}")


def _as_json(name: str, score: "Score") -> str:
    return json.dumps({"reward": name, **asdict(score)})


def _as_text(name: str, score: "Score") -> str:
    value = "None (the row is skipped)" if score.value is None else str(score.value)
    facts = {"reward": name, "value": value, "answer": score.answer, "gold": score.gold}
    facts |= {"method": score.method, "status": score.status, "why": score.why}
    facts |= {"problem": score.problem}
    return "\n".join(f"{fact:<8}{_one_line(text)}" for fact, text in facts.items() if text)


def _one_line(text: str, width: int = 200) -> str:
    """Text that cannot move the cursor, nor fill the screen."""
    shown = text if len(text) <= width else text[: width - 1] + "…"
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in shown)
