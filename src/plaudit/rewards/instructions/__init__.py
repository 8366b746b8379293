"""Instruction following: the instructions of IFEval, IFBench and open-instruct's IFEvalG.

    from plaudit.rewards.instructions import instruction_reward

    instruction_reward(
        ["Tea and milk"],
        instruction_id_list=[["punctuation:no_comma", "count:word_count_range"]],
        kwargs=[[{}, {"min_words": 2, "max_words": 5}]],
    )   # [1.0]

A verdict is a fact about the text: nothing is drawn at random and nothing is downloaded. The
checkers look at form alone, and never at whether the response answers the prompt.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from plaudit.inputs.columns import kind_of, naming_row, plain, rows_of, same_length
from plaudit.inputs.completions import Completion, prompt_text_of, texts_of
from plaudit.judge import Status
from plaudit.rewards.instructions import _fixed_prompts, _formats, _training_set, _words  # noqa: F401  (they register their checkers)
from plaudit.rewards.instructions._registry import (
    INSTRUCTIONS,
    Finding,
    Instruction,
    instruction,
    instruction_of,
)
from plaudit.scores import Score, reward
from plaudit.scores.score import logged

__all__ = ["INSTRUCTIONS", "Finding", "Instruction", "instruction", "instruction_reward"]


NO_INSTRUCTIONS = Score(
    None, "There are no instructions: the row is skipped.", status=Status.BAD_GOLD
)


class _AskedInstruction(NamedTuple):
    """One instruction of a row, with its arguments."""

    instruction: Instruction
    arguments: dict[str, Any]


@reward(
    columns=("instruction_id_list", "kwargs", "prompt", "ground_truth"),
    needs_any=("instruction_id_list", "ground_truth"),
)
def instruction_reward(
    completions: Sequence[Completion],
    instruction_id_list: Sequence[Any] | None = None,
    kwargs: Sequence[Any] | None = None,
    prompt: Sequence[Completion | None] | None = None,
    ground_truth: Sequence[Any] | None = None,
    mode: str = "strict",
    partial: bool = False,
    faithful: bool = False,
    **columns: Any,
) -> list[Score]:
    """1.0 if a response follows every instruction of its row, 0.0 if not; None without any.

    instruction_id_list: the list of each row's instruction ids, or the list as JSON text
    kwargs: for each row, the list of each instruction's arguments, or the list as JSON text;
        arguments that are None do not count. Default: no instruction has arguments
    prompt: the prompt of each row, for checkers that name it. Default: not known
    ground_truth: the column of open-instruct, instead of the two: a list with one dict of
        `instruction_id` and `kwargs`, or such a list as text. Default: there is none
    mode: "strict": the response as it is; "loose": or without its first line, its last, or both,
        each with and without its asterisks. Default: "strict"
    partial: whether the value is the share of the instructions that are followed. Default: False
    faithful: whether to give the reference's verdict, bug for bug, to compare with published
        numbers. Default: False, the repaired checkers, see docs/differences.md

    >>> ids = [["punctuation:no_comma", "length_constraints:number_words"]]
    >>> arguments = [[{}, {"num_words": 3, "relation": "at least"}]]
    >>> instruction_reward(["Tea and milk."], ids, arguments)
    [1.0]
    >>> instruction_reward(["Tea."], ids, arguments, partial=True)
    [0.5]
    """
    if mode not in ("strict", "loose"):
        raise ValueError(f'mode must be "strict" or "loose", got {mode!r:.80}')
    texts = texts_of(completions)
    rows = _rows(completions, instruction_id_list, kwargs, ground_truth)
    prompts = _prompts(completions, prompt)
    scores = [
        _score(text, tasks, {"faithful": faithful, "prompt": asked}, mode == "loose", partial)
        for text, tasks, asked in zip(texts, rows, prompts, strict=True)
    ]
    return logged(scores, columns)


def _rows(
    completions: Sequence[Completion], ids: Any, kwargs: Any, ground_truth: Any
) -> list[list[_AskedInstruction]]:
    """Return the tasks of each row."""
    if ids is None and ground_truth is None:
        raise TypeError("instruction_reward needs instruction_id_list and kwargs, or ground_truth")
    if ids is None:
        same_length(completions, ground_truth=ground_truth)
        pairs = [_of_ground_truth(plain(entry)) for entry in rows_of(ground_truth, "ground_truth")]
    else:
        same_length(completions, instruction_id_list=ids)
        kwargs = [None] * len(completions) if kwargs is None else kwargs
        same_length(completions, kwargs=kwargs)
        pairs = list(
            zip(rows_of(ids, "instruction_id_list"), rows_of(kwargs, "kwargs"), strict=True)
        )
    return [_tasks_of_row(row, *pair) for row, pair in enumerate(pairs)]


def _of_ground_truth(entry: Any) -> tuple[Any, Any]:
    """Return the ids and arguments of an entry of open-instruct."""
    if isinstance(entry, str):
        entry = _parsed(entry, "ground_truth")
    if isinstance(entry, list) and len(entry) == 1:
        entry = entry[0]
    if entry is None:
        return None, None
    if not isinstance(entry, Mapping) or "instruction_id" not in entry:
        raise TypeError(
            f"ground_truth must have a dict with instruction_id and kwargs, got {kind_of(entry)}"
        )
    return entry["instruction_id"], entry.get("kwargs")


def _tasks_of_row(row: int, ids: Any, kwargs: Any) -> list[_AskedInstruction]:
    try:
        return _tasks(ids, kwargs)
    except (TypeError, ValueError):
        with naming_row(row):  # entering it for every row would take as long as reading the row
            raise


def _tasks(ids: Any, kwargs: Any) -> list[_AskedInstruction]:
    ids = _listed(ids, "instruction_id_list")
    arguments = _listed(kwargs, "kwargs") or [{}] * len(ids)
    if len(arguments) != len(ids):
        raise ValueError(
            f"kwargs has {len(arguments)} entries, instruction_id_list has {len(ids)}: "
            "each instruction has a dict of its arguments, which may be empty"
        )
    found = []
    for id_, its in zip(ids, arguments, strict=True):
        if its is not None and not isinstance(its, Mapping):
            raise TypeError(f"the kwargs of {id_} must be a dict, got {kind_of(its)}")
        instruction = instruction_of(id_)
        found.append(_AskedInstruction(instruction, instruction.arguments_of(its or {})))
    return found


def _listed(entry: Any, name: str) -> list[Any]:
    entry = plain(entry)
    if isinstance(entry, str):
        entry = _parsed(entry, name)
    if entry is None:
        return []
    if not isinstance(entry, list | tuple):
        raise TypeError(f"{name} must be a list, or a list as JSON text, got {kind_of(entry)}")
    return list(entry)


def _parsed(text: str, name: str) -> Any:
    """Return what a JSON text says; open-instruct writes Python literals, which are read too."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    from ast import literal_eval

    try:
        return literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise TypeError(
            f"{name} must be a list, or a list as JSON text, got {kind_of(text)}"
        ) from error


def _prompts(completions: Sequence[Completion], prompt: Any) -> list[str | None]:
    if prompt is None:
        return [None] * len(completions)
    same_length(completions, prompt=prompt)
    return [
        None if entry is None else prompt_text_of(entry, "prompt", row)
        for row, entry in enumerate(rows_of(prompt, "prompt"))
    ]


_VERDICTS = {True: "followed", False: "not followed", None: "no verdict"}


def _score(
    text: str, tasks: list[_AskedInstruction], passed: dict[str, Any], loose: bool, partial: bool
) -> Score:
    if not tasks:
        return NO_INSTRUCTIONS
    others: list[str] | None = None
    verdicts, lines = [], []
    for task in tasks:
        finding = _finding(text, task, passed)
        if loose and _is_broken(finding):
            others = _variants(text) if others is None else others
            found = (_finding(variant, task, passed) for variant in others)
            finding = next((one for one in found if not _is_broken(one)), finding)
        verdicts.append(finding.followed)
        lines.append(f"{task.instruction.id}: {_VERDICTS[finding.followed]}, {finding.why}.")
    why = "\n".join(lines)
    if None in verdicts:
        return Score(None, why, decided_by="instructions", status=Status.UNDECIDED)
    right = all(verdicts)
    value = sum(map(bool, verdicts)) / len(verdicts) if partial else float(right)
    return Score(value, why, decided_by="instructions", right=right)


def _is_broken(finding: Finding) -> bool:
    return not finding.followed and finding.followed is not None


def _variants(text: str) -> list[str]:
    """Return the texts of which one may follow an instruction in the loose mode instead."""
    lines = text.split("\n")
    cut = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    bare = [variant.replace("*", "") for variant in (text, *cut)]
    return [variant for variant in dict.fromkeys([*cut, *bare]) if variant not in ("", text)]


def _finding(text: str, task: _AskedInstruction, passed: dict[str, Any]) -> Finding:
    if not text or text.isspace():
        return Finding(False, "the response is empty")
    more = {name: passed[name] for name in task.instruction.passed}
    return task.instruction.check(text, **task.arguments, **more)
