"""The command line: arguments in, an exit code out. Each command is a module or a package.

    $ plaudit try trl.accuracy_reward --completion 'So \\boxed{2/4}.' --solution '1/2'
    $ plaudit score rollouts.jsonl --recipe trl-math --out scored

The package of a command is imported only when that command is given: `plaudit --help` is instant.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

import plaudit
from plaudit.commands import UsageError

INTERRUPTED = 130  # what shells report after Ctrl-C: 128 + SIGINT
PIPE_CLOSED = 141  # and after writing into a closed pipe: 128 + SIGPIPE

# Where each command lives: a module or a package that has `add_arguments` and `run`.
PACKAGES = {
    "list": ("plaudit.commands.list_rewards", "List the rewards, and what each of them rewards."),
    "try": ("plaudit.commands.try_reward", "Score one completion, and say why it got that score."),
    "presets": ("plaudit.commands.presets", "List plaudit's own recipes, or print one of them."),
    "score": ("plaudit.scoring", "Score a table of rollouts into a folder of Parquet files."),
    "report": ("plaudit.report", "Write an HTML report on a folder that `plaudit score` wrote."),
    "diff": ("plaudit.diff", "Show which rows differ between two scored tables, and why."),
    "check": ("plaudit.checking", "Find bad golds, duplicates and more in a training table."),
    "audit": ("plaudit.auditing", "Find wrong completions that a reward pays for."),
    "serve": ("plaudit.serve", "Score completions over HTTP."),
    "doctor": ("plaudit.doctor", "Check this installation, and say what to fix."),
    "watch": ("plaudit.watch", "Follow a recorded training run on a local web page."),
    "train": ("plaudit.train", "Train a model with TRL and a recipe, from a TOML file."),
}
EXTRAS = {
    "plaudit.report": "report",
    "plaudit.serve": "serve",
    "plaudit.watch": "watch",
    "plaudit.train": "train",
}  # the extra that installs what a package imports; "score" for those that are not listed

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
        print(f"plaudit: {_told(error)}", file=sys.stderr)
        return 1
    return code or 0


def _told(error: OSError) -> str:
    """What went wrong; an error that names no file is one of standard output: a full disk."""
    if error.strerror is None or error.filename is not None:
        return str(error)
    return f"cannot write: {error.strerror}"


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="plaudit", description=ABOUT, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"plaudit {plaudit.__version__}")
    parser.set_defaults(run=lambda options: _ask_for_a_command(parser))
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=Command)

    for name, (package, about) in PACKAGES.items():
        commands.add_parser(
            name, help=about, description=about, package=package, formatter_class=raw
        )
    return parser


class Command(argparse.ArgumentParser):
    """The parser of one command, whose arguments are added by the package that implements it.

    package: that package, or a module, such as "plaudit.report"
    settings: those of `argparse.ArgumentParser`

    >>> Command(prog="plaudit report", package="plaudit.report").parse_args(["scored"]).directory
    PosixPath('scored')
    """

    def __init__(self, package: str = "", **settings: Any) -> None:
        super().__init__(**settings)
        self._package = package

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Import the package, which takes a while, and parse; `plaudit --help` needs neither."""
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
    raise UsageError("choose a command, such as plaudit list, plaudit try or plaudit score")
