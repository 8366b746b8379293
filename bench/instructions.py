"""Instruction following: IFEval's responses, and texts of a megabyte, against the reference.

    python bench/instructions.py [--data FOLDER] [--reference FOLDER]

--data is a folder with IFEval's input_data.jsonl and a file of responses (input_response_data_*).
--reference is a folder that holds the package instruction_following_eval, with what it needs
installed, and nltk's splitter of sentences (NLTK_DATA). It takes turns with plaudit on the same
rows, after both have loaded what they know of languages.
"""

import json
import sys
from collections.abc import Callable
from functools import partial
from inspect import Parameter
from pathlib import Path
from typing import Literal, get_args, get_origin

from plaudit.rewards.instructions import INSTRUCTIONS, instruction_reward
from report import Table, arguments, best_in_turns, seconds, show, timed, times

TURNS = 7
MEGABYTE = {
    "words": "word " * 200_000,
    "sentences": "This is a sentence. " * 50_000,
    "capitals": "WORDS " * 170_000,
    "bullets": "* one\n" * 170_000,
    "stars": "*" * 1_000_000,
    "brackets": "[" * 1_000_000,
    "spaces": " " * 999_999 + "x",
    "quotes": '"' * 1_000_000,
    "Chinese": "这是一个句子。" * 140_000,
}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--reference", type=Path)
    options = parser.parse_args()
    if options.data:
        show(responses(options.data, options.reference))
    show(megabytes())


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def responses(folder: Path, reference: Path | None) -> Table:
    """Time the responses cold and in turns with the reference; count what is followed."""
    rows = lines_of(folder / "input_data.jsonl")
    # By position: the wording of a prompt was corrected after the responses were written.
    answers = lines_of(next(iter(sorted(folder.glob("input_response_data_*")))))
    texts = [row["response"] for row in answers]
    columns = (
        [row["instruction_id_list"] for row in rows],
        [row["kwargs"] for row in rows],
    )

    def run(**settings: object) -> list[float | None]:
        return instruction_reward(texts, *columns, partial=True, **settings)

    runs = {
        "repaired": run,
        "strict": partial(run, faithful=True),
        "loose": partial(run, faithful=True, mode="loose"),
    }
    cold, _ = timed(run)
    followed = {
        name: sum(round(share * len(ids)) for share, ids in zip(call(), columns[0], strict=True))
        for name, call in runs.items()
    }
    written = {row["prompt"]: text for row, text in zip(rows, texts, strict=True)}
    theirs = by_reference(rows, written, reference) if reference else {}
    best = best_in_turns({**runs, **{f"reference {name}": theirs[name] for name in theirs}}, TURNS)
    lines = []
    for name in runs:
        line = [name, seconds(best[name]), followed[name], "", "", ""]
        if name in theirs:
            taken = best[f"reference {name}"]
            count = sum(sum(one.follow_instruction_list) for one in theirs[name]())
            line[3:] = [seconds(taken), count, times(taken / best[name])]
        lines.append(line)
    titles = ["", "plaudit", "followed", "reference", "followed", "ratio"]
    note = f"The first call of a process takes {seconds(cold)}; below, the best of {TURNS} calls."
    return Table(
        f"{len(rows)} responses, {sum(map(len, columns[0]))} instructions", titles, lines, note
    )


def by_reference(
    rows: list[dict], written: dict[str, str], folder: Path
) -> dict[str, Callable[[], list]]:
    """Return how to run the reference in each mode."""
    sys.path.insert(0, str(folder))
    from instruction_following_eval import evaluation_lib

    examples = [
        evaluation_lib.InputExample(
            row["key"], row["instruction_id_list"], row["prompt"], row["kwargs"]
        )
        for row in rows
    ]
    strict = evaluation_lib.test_instruction_following_strict
    loose = evaluation_lib.test_instruction_following_loose
    return {
        name: lambda check=check: [check(row, written) for row in examples]
        for name, check in (("strict", strict), ("loose", loose))
    }


def example(parameter: Parameter) -> object:
    """An argument of the kind that a checker takes."""
    kind = parameter.annotation
    if get_origin(kind) is Literal:
        return get_args(kind)[0]
    special = {"language": "en", "phrase": "word word"}
    return special.get(parameter.name, {int: 3, float: 3.0, list[str]: ["word"]}.get(kind, "w"))


def megabytes() -> Table:
    """Time every instruction on texts of a megabyte; show the slowest of each text."""
    lines = []
    for name, text in MEGABYTE.items():
        slowest = (0.0, "")
        for found in INSTRUCTIONS.values():
            arguments = {key: example(one) for key, one in found.arguments.items()}
            taken, _ = timed(partial(instruction_reward, [text], [[found.id]], [[arguments]]))
            slowest = max(slowest, (taken, found.id))
        lines.append([name, seconds(slowest[0]), slowest[1]])
    return Table("A megabyte: the slowest instruction", ["text", "time", "instruction"], lines)


if __name__ == "__main__":
    main()
