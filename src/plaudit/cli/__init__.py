"""The command line: arguments in, an exit code out.

    $ plaudit try trl.accuracy_reward --completion 'So \\boxed{2/4}.' --solution '1/2'
    $ plaudit score rollouts.jsonl --recipe trl-math --out scored

Each command is a typed function, whose module is imported only when the command is called:
`plaudit --help` is instant.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import plaudit
from plaudit.cli.arguments import UsageError, add_arguments, fail

INTERRUPTED = 130  # what shells report after Ctrl-C: 128 + SIGINT
PIPE_CLOSED = 141  # and after writing into a closed pipe: 128 + SIGPIPE

# The function of each command, in a module of plaudit, and what `plaudit --help` says of it.
COMMANDS = {
    "list": ("cli.rewards:list_rewards", "List the rewards, and what each of them rewards."),
    "try": ("cli.rewards:try_reward", "Score one completion, and say why it got that score."),
    "presets": ("cli.rewards:list_presets", "List plaudit's own recipes, or print one of them."),
    "score": ("cli.score:run", "Score a table of rollouts into a folder of Parquet files."),
    "report": (
        "cli.report:run_report",
        "Write an HTML report on a folder that `plaudit score` wrote.",
    ),
    "diff": ("cli.report:run_diff", "Show which rows differ between two scored tables, and why."),
    "check": ("cli.check:run_check", "Find bad golds, duplicates and more in a training table."),
    "audit": ("cli.check:run_audit", "Find wrong completions that a reward pays for."),
    "serve": ("cli.serve:run", "Score completions over HTTP."),
    "doctor": ("doctor:run", "Check this installation, and say what to fix."),
    "watch": ("cli.watch:run", "Follow a recorded training run on a local web page."),
    "train": ("cli.train:run", "Train a model with TRL and a recipe, from a TOML file."),
}
# The extra that installs what a command imports, if it is not "score".
EXTRAS = {name: name for name in ("report", "serve", "watch", "train")}

ABOUT = """\
Verifiable rewards for reinforcement learning: what a completion is worth, and why.

examples:
  plaudit list
  plaudit presets
  plaudit try trl.accuracy_reward --completion 'So it is \\boxed{\\frac{2}{4}}.' --solution '1/2'
  plaudit score rollouts.jsonl --recipe trl-math --out scored
  plaudit report scored
  plaudit serve --recipe trl-math
  plaudit train run.toml
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return its exit code."""
    try:
        options = _parser().parse_args(arguments)
        code = options.run(options)
        sys.stdout.flush()
    except UsageError as error:
        return fail(2, error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        # Python flushes standard output once more on its way out, and would complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED if isinstance(error, BrokenPipeError) else fail(1, _message(error))
    return code or 0


def _message(error: OSError) -> str:
    """Return what went wrong; an error that names no file is one of standard output."""
    if error.strerror is None or error.filename is not None:
        return str(error)
    return f"cannot write: {error.strerror}"


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="plaudit", description=ABOUT, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"plaudit {plaudit.__version__}")
    parser.set_defaults(run=lambda options: _ask_for_a_command(parser))
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_Command)
    for name, (function, about) in COMMANDS.items():
        commands.add_parser(name, help=about, function=function)
    return parser


class _Command(argparse.ArgumentParser):
    """The parser of one command, whose module is imported when its arguments are parsed."""

    def __init__(self, function: str = "", **settings: Any) -> None:
        super().__init__(**settings)
        self._function = function

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        module, _, name = self._function.partition(":")
        try:
            command = getattr(import_module(f"plaudit.{module}"), name)
        except ModuleNotFoundError as error:
            extra = EXTRAS.get(self.prog.split()[-1], "score")
            raise UsageError(f"this needs {error.name}: pip install 'plaudit[{extra}]'") from error
        add_arguments(self, command)
        return super().parse_known_args(args, namespace)


def _ask_for_a_command(parser: argparse.ArgumentParser) -> None:
    parser.print_help(sys.stderr)
    raise UsageError("choose a command, such as plaudit list, plaudit try or plaudit score")
