"""Two scored folders in, or an input and two recipes; the difference between them out."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from plaudit.diff._difference import Difference
    from plaudit.recipes import Recipe


def compare(a: Path, b: Path, limit: int = 20, out: Path | None = None) -> "Difference":
    """The difference between two folders that `plaudit score` wrote.

    a, b: the folders, before and after
    limit: how many of the largest changes the result holds
    out: a file to write every change to, as one line of JSON each; default: none is written

    >>> compare(Path("no-such-run"), Path("another"))
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.InputError: there is no folder no-such-run
    """
    try:
        from plaudit.diff._tally import difference_of
    except ImportError as missing:
        raise ImportError("plaudit.diff needs pyarrow: pip install 'plaudit[score]'") from missing
    return difference_of(Path(a), Path(b), limit, out)


def compare_recipes(
    inputs: Sequence[Path],
    a: "Recipe",
    b: "Recipe",
    limit: int = 20,
    out: Path | None = None,
    progress: TextIO | None = None,
) -> "Difference":
    """The difference between the scores that two recipes give the same rows.

    inputs: the files to score
    limit, out: as for `compare`
    progress: where to show the progress of scoring, such as sys.stderr; default: nowhere

    >>> import tempfile
    >>> from plaudit.recipes import load
    >>> file = Path(tempfile.mkdtemp(), "rollouts.jsonl")
    >>> _ = file.write_text('{"completion": "<think>Hm.</think> 4", "solution": "4"}')
    >>> math, reasoning = load("trl-math"), load("trl-reasoning")
    >>> difference = compare_recipes([file], math, reasoning)
    >>> difference.changed, difference.components_b
    (1, ('reasoning_accuracy_reward', 'think_format_reward'))
    """
    from plaudit.scoring import score_table

    with TemporaryDirectory(prefix="plaudit-diff-") as folder:
        runs = Path(folder, "a"), Path(folder, "b")
        for recipe, run in zip((a, b), runs, strict=True):
            score_table(inputs, recipe, run, progress=progress)
        return replace(compare(*runs, limit, out), a=a.name, b=b.name)
