"""The options of a multiple-choice row and its gold in, and out comes whether it is one of them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from plaudit.checking._formats import written_answers
from plaudit.checking._plan import CheckPlan

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_LETTER = re.compile(r"(?:\\text(?:bf)?\{)?\(?([A-Z])\)?\}?[.):]?")
# (A) …, A. …, A) … in a prompt, at the beginning of a word.
_OPTION = re.compile(r"(?<![A-Za-z0-9])\(?([A-J])(?:\)|[.:](?=\s))")


def option_problem(row: Mapping[str, Any], gold: Any, plan: CheckPlan) -> str:
    """Why a gold is no option of its row, as far as the row says what the options are; else ""."""
    if not isinstance(gold, str):
        return ""
    found = _LETTER.fullmatch("".join(written_answers(gold)[:1]).strip())
    for column in plan.choices:
        letters, texts = _options(row.get(column))
        if letters:
            return _by_options(gold, found and found[1], letters, texts)
    if found is None:
        return ""
    listed = options_in(" ".join(str(row.get(name) or "") for name in plan.prompts))
    if listed and found[1] not in listed:
        return f"The prompt has the options {listed[0]} to {listed[-1]}, and no {found[1]}."
    return ""


def option_texts(row: Mapping[str, Any], plan: CheckPlan) -> list[str]:
    """The texts of all options that the columns of a row list."""
    return [text for column in plan.choices for text in _options(row.get(column))[1]]


def _options(choices: Any) -> tuple[list[str], list[str]]:
    """The letters and the texts of options: a list of texts, or lists of labels and texts."""
    labels = None
    if isinstance(choices, Mapping):
        is_by_letter = all(name in LETTERS for name in choices)  # {"A": "red", "B": "green"}
        labels = list(choices) if is_by_letter else choices.get("label")
        choices = list(choices.values()) if is_by_letter else choices.get("text")
    if not isinstance(choices, list | tuple) or not choices or len(choices) > len(LETTERS):
        return [], []
    texts = [str(choice) for choice in choices]
    has_labels = isinstance(labels, list | tuple) and len(labels) == len(texts)
    return [str(label) for label in labels or ()] if has_labels else [*LETTERS[: len(texts)]], texts


def _by_options(gold: str, letter: str | None, letters: Sequence[str], texts: Sequence[str]) -> str:
    known = {_plain(text) for text in texts}
    is_place = gold.strip().isdigit()  # of an option, counted from 0 or from 1
    if is_place or letter in letters or gold.strip() in letters or _plain(gold) in known:
        return ""
    if any(_plain(answer) in known for answer in written_answers(gold)):
        return ""
    if letter is None and len(letters) < 2:
        return ""
    what = f"no {letter}" if letter else "the gold is none of their texts"
    return f"The row has the options {letters[0]} to {letters[-1]}, and {what}."


def _plain(text: str) -> str:
    return " ".join(text.replace("$", "").casefold().rstrip(".").split())


def options_in(prompt: str) -> str:
    """The letters of the options that a prompt lists: from A on, none left out; "" for fewer.

    >>> options_in("Which? (A) red (B) green (C) blue"), options_in("Points A. and C.")
    ('ABC', '')
    """
    letters = ""
    for found in _OPTION.finditer(prompt):
        if len(letters) < len(LETTERS) and found[1] == LETTERS[len(letters)]:
            letters += found[1]
    return letters if len(letters) > 1 else ""
