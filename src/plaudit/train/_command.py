"""`plaudit train`: arguments in; a trained model, a line for each step, and an exit code out."""

import argparse
import sys
from pathlib import Path

from plaudit.train._run_file import read_run
from plaudit.train._training import train

_NEEDED = ("trl", "datasets", "transformers", "peft")
STOPPED, WRONG, INTERRUPTED = 1, 2, 130

ABOUT = """\
Train a model with TRL's GRPO or RLOO and the rewards of a recipe. RUN.toml says what to train:

  model = "Qwen/Qwen2.5-0.5B-Instruct"   # a folder, or a name on the Hugging Face Hub
  data = "train.jsonl"                   # a table with a column prompt, or a dataset on the Hub
  eval_data = "held_out.jsonl"           # optional: scored now and then, not trained on
  recipe = "trl-reasoning"               # a preset, or a TOML file
  output = "runs/first"                  # the folder for checkpoints, the final model, the record

  [trainer]                              # arguments of TRL's GRPOConfig
  learning_rate = 1e-6
  max_steps = 500

  [peft]                                 # optional: arguments of peft.LoraConfig
  r = 16

A line is printed for each step. Every batch is recorded: `plaudit watch runs/first/record`.
"""

EXIT_CODES = """\
exit codes:
  0 finished    1 a model, dataset or folder cannot be read or written
  2 wrong usage, or something in RUN.toml is wrong    130 interrupted: run it again to go on
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plaudit train` to a parser.

    >>> parser = argparse.ArgumentParser()
    >>> add_arguments(parser)
    >>> parser.parse_args(["run.toml"]).overwrite
    False
    """
    parser.description, parser.epilog = ABOUT, EXIT_CODES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "run_file", metavar="RUN.toml", type=Path, help="the file that describes the run"
    )
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="start over, and remove the output of an earlier call "
        "(default: continue from its last checkpoint)",
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
    except OSError as error:  # transformers and datasets raise it for unknown names, too
        print(f"plaudit: {error}", file=sys.stderr)
        return STOPPED
    except KeyboardInterrupt:
        print(
            "plaudit: interrupted. The same command continues from the last checkpoint.",
            file=sys.stderr,
        )
        return INTERRUPTED
    print(f"plaudit: the model is in {model}", file=sys.stderr)
    return 0


def _told(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name in _NEEDED:
        return f"this needs {error.name}: pip install 'plaudit[train]'"
    return str(error)
