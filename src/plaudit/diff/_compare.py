"""Two runs -> what is different between them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from plaudit.diff._difference import Difference
    from plaudit.recipes import Recipe


def compare(a: Path, b: Path, limit: int = 20, out: Path | None = None) -> "Difference":
    """What is different between two folders that `plaudit score` wrote.

    The `limit` largest changes are in the answer; every one is written to `out`, a line of JSON
    each, where that is given.

    >>> compare(Path("no-such-run"), Path("another"))
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.InputError: there is no folder no-such-run
    """
    try:
        from plaudit.diff._tally import difference_of
    except ImportError as missing:
        raise ImportError("diff needs pyarrow: pip install 'plaudit[score]'") from missing
    return difference_of(Path(a), Path(b), limit, out)


def compare_recipes(
    inputs: Sequence[Path],
    a: "Recipe",
    b: "Recipe",
    limit: int = 20,
    out: Path | None = None,
    progress: TextIO | None = None,
) -> "Difference":
    """What is different between what two recipes give the same rows.

    `progress` is where to show how far the scoring is.

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
