"""`plaudit train`."""

import sys
from pathlib import Path
from typing import Annotated

from plaudit.cli.arguments import fail
from plaudit.train import read_run, train

_NEEDED = ("trl", "datasets", "transformers", "peft")
STOPPED, WRONG, INTERRUPTED = 1, 2, 130


def run(run_file: Annotated[Path, "RUN.toml"], *, overwrite: bool = False) -> int:
    """Train a model with TRL's GRPO or RLOO and the rewards of a recipe.

    RUN.toml says what to train:

      model = "Qwen/Qwen2.5-0.5B-Instruct"   # a folder, or a name on the Hugging Face Hub
      data = "train.jsonl"                   # a table with a column prompt, or a dataset on the Hub
      eval_data = "held_out.jsonl"           # optional: scored now and then, not trained on
      recipe = "trl-reasoning"               # a preset, or a TOML file
      output = "runs/first"                  # the folder for checkpoints, the model, the record

      [trainer]                              # arguments of TRL's GRPOConfig
      learning_rate = 1e-6
      max_steps = 500

      [peft]                                 # optional: arguments of peft.LoraConfig
      r = 16

    A line is printed for each step. Every batch is recorded: `plaudit watch runs/first/record`.

    run_file: the file that describes the run
    overwrite: start over, and remove the output of an earlier call (default: continue from its last
        checkpoint)

    exit codes:
      0 finished    1 a model, dataset or folder cannot be read or written
      2 wrong usage, or something in RUN.toml is wrong    130 interrupted: run it again to go on
    """
    try:
        model = train(read_run(run_file), overwrite)
    except (ValueError, ImportError) as error:
        if isinstance(error, ModuleNotFoundError) and error.name in _NEEDED:
            return fail(WRONG, f"this needs {error.name}: pip install 'plaudit[train]'")
        return fail(WRONG, error)
    except BrokenPipeError:
        raise  # nobody reads the output: the command line exits without a message
    except OSError as error:  # transformers and datasets raise it for unknown names, too
        return fail(STOPPED, error)
    except KeyboardInterrupt:
        return fail(
            INTERRUPTED, "interrupted. The same command continues from the last checkpoint."
        )
    print(f"plaudit: the model is in {model}", file=sys.stderr)
    return 0
