"""Instruction following: IFEval's responses, and texts of a megabyte, against the reference.

    python bench/instructions.py [--data FOLDER] [--reference FOLDER]

--data is a folder with IFEval's input_data.jsonl and a file of responses (input_response_data_*).
--reference is a folder that holds the package instruction_following_eval, with what it needs
installed; it is timed on the same rows. Without nltk's trained splitter of sentences, an untrained
one takes its place: as fast, but not always of the same opinion.
"""

import json
import sys
from functools import partial
from inspect import Parameter
from pathlib import Path
from typing import Literal, get_args, get_origin

from plaudit.rewards.instructions import INSTRUCTIONS, instruction_reward
from report import Table, arguments, seconds, show, timed, times

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
    """Time the responses cold, and count the instructions that they follow."""
    rows = lines_of(folder / "input_data.jsonl")
    # By position: the wording of a prompt was corrected after the responses were written.
    answers = lines_of(next(iter(sorted(folder.glob("input_response_data_*")))))
    texts = [row["response"] for row in answers]
    written = {row["prompt"]: text for row, text in zip(rows, texts, strict=True)}
    columns = (
        [row["instruction_id_list"] for row in rows],
        [row["kwargs"] for row in rows],
    )
    count = sum(map(len, columns[0]))
    theirs = by_reference(rows, written, reference) if reference else {}
    lines = []
    for name, settings in (
        ("repaired", {}),
        ("strict", {"faithful": True}),
        ("loose", {"faithful": True, "mode": "loose"}),
    ):
        taken, shares = timed(
            lambda settings=settings: instruction_reward(texts, *columns, partial=True, **settings)
        )
        followed = sum(
            round(share * len(ids)) for share, ids in zip(shares, columns[0], strict=True)
        )
        line = [name, seconds(taken), f"{followed} of {count}"]
        if name in theirs:
            line += [seconds(theirs[name][0]), theirs[name][1], times(theirs[name][0] / taken)]
        lines.append(line + [""] * (6 - len(line)))
    titles = ["", "plaudit", "followed", "reference", "followed", "ratio"]
    return Table(f"{len(rows)} responses, cold", titles, lines)


def by_reference(
    rows: list[dict], written: dict[str, str], folder: Path
) -> dict[str, tuple[float, int]]:
    """Return the seconds of the reference for each mode, and how many instructions are followed."""
    sys.path.insert(0, str(folder))
    import nltk
    from instruction_following_eval import evaluation_lib, instructions_util

    try:
        instructions_util.count_sentences("One. Two.")
    except LookupError:
        splitter = nltk.tokenize.punkt.PunktSentenceTokenizer()
        instructions_util._get_sentence_tokenizer = lambda: splitter
        nltk.tokenize.sent_tokenize = splitter.tokenize
        nltk.word_tokenize = nltk.tokenize.NLTKWordTokenizer().tokenize
    examples = [
        evaluation_lib.InputExample(
            row["key"], row["instruction_id_list"], row["prompt"], row["kwargs"]
        )
        for row in rows
    ]
    found = {}
    for mode in ("strict", "loose"):
        check = getattr(evaluation_lib, f"test_instruction_following_{mode}")
        taken, outputs = timed(lambda check=check: [check(row, written) for row in examples])
        found[mode] = (taken, sum(sum(output.follow_instruction_list) for output in outputs))
    return found


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
