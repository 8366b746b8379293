"""`plaudit train`: arguments in; a trained model, a line for each step, and an exit code out."""

import argparse
import sys
from pathlib import Path

from plaudit.train._run_file import read_run
from plaudit.train._training import train

STOPPED, WRONG, INTERRUPTED = 1, 2, 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plaudit train` to a parser.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["run.toml"]).overwrite
    False
    """
    parser.add_argument(
        "run_file",
        metavar="RUN.toml",
        type=Path,
        help="says model, data, recipe and output, and the arguments of TRL under [trainer]",
    )
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="start anew, and remove what an earlier call wrote; "
        "default: go on from its last checkpoint",
    )


def run(arguments: argparse.Namespace) -> int:
    """Train as the file says, and return the exit code.

    It is 2 if something in the file is wrong, 1 if a model, a dataset or a folder cannot be read or
    written, and 130 after Ctrl-C.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> run(parser.parse_args(["no-such-run.toml"]))
    2
    """
    try:
        model = train(read_run(arguments.run_file), arguments.overwrite)
    except (ValueError, ImportError) as error:
        print(f"plaudit: {_told(error)}", file=sys.stderr)
        return WRONG
    except BrokenPipeError:
        raise  # nobody reads the output: the command line exits without a message
    except OSError as error:  # which transformers and datasets raise for names that nobody knows
        print(f"plaudit: {error}", file=sys.stderr)
        return STOPPED
    except KeyboardInterrupt:
        print("plaudit: interrupted. The same command goes on from here.", file=sys.stderr)
        return INTERRUPTED
    print(f"plaudit: the model is in {model}", file=sys.stderr)
    return 0


def _told(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name in ("trl", "datasets", "transformers"):
        return f"this needs {error.name}: pip install 'plaudit[train]'"
    return str(error)
