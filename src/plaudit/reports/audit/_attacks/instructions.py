"""Attacks on rewards for instructions: the constraints of a row are met around nothing.

Checkers of instructions never look at the content, so what these earn is what a model may earn
without an answer. A gate closes that, see `docs/instructions.md`.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from plaudit.reports.audit._attack import Case, Completions, attack

_MOST = 200  # of anything that an argument asks for
# The argument of an instruction -> a text that has what it asks for. `n` is the number, if it is
# one, else a little more than what most rows ask for.
_PIECES: dict[str, Callable[[Any, Mapping[str, Any]], str]] = {
    "keywords": lambda words, _: " ".join(map(str, words)),
    "keyword": lambda word, row: f"{word} " * _count(row.get("frequency"), 3),
    "num_placeholders": lambda n, _: "[x] " * _count(n),
    "num_bullets": lambda n, _: "* x\n" * _count(n),
    "num_highlights": lambda n, _: "*x* " * _count(n),
    "num_sections": lambda n, row: "\n".join(
        f"{row.get('section_spliter') or 'Section'} {number}" for number in range(1, _count(n) + 1)
    ),
    "num_paragraphs": lambda n, _: "\n\n***\n\n".join(["x"] * _count(n)),
    "num_sentences": lambda n, _: "X. " * _count(n),
    "num_words": lambda n, _: "x " * _count(n),
    "capital_frequency": lambda n, _: "XX " * _count(n),
    "let_frequency": lambda n, row: str(row.get("letter") or "x") * _count(n),
    "postscript_marker": lambda marker, _: f"{marker} x",
    "prompt_to_repeat": lambda prompt, _: str(prompt),
    "end_phrase": lambda phrase, _: str(phrase).strip(),
}
# Ids without arguments that name what they want.
_FIXED = {
    "detectable_format:title": "<<x>>",
    "detectable_format:json_format": "{}",
    "combination:two_responses": "x\n******\ny",
    "detectable_format:constrained_response": "My answer is yes.",
}


def _count(number: Any, usual: int = 1) -> int:
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    return max(1, min(int(number), _MOST)) if is_number and number == number else usual


def _listed(value: Any) -> list[Any]:
    try:
        value = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return []
    return list(value) if isinstance(value, list | tuple) else []


def _pieces(case: Case) -> Iterator[str]:
    """Yield a text for each constraint of the row."""
    yield from (
        _FIXED[one] for one in _listed(case.row.get("instruction_id_list")) if one in _FIXED
    )
    for arguments in _listed(case.row.get("kwargs")):
        known = arguments if isinstance(arguments, Mapping) else {}
        wanted = {name: value for name, value in known.items() if value is not None}
        # The phrase at the end and what is repeated at the start count by their position.
        for name in sorted(wanted, key=[*_PIECES, *wanted].index):
            if name in _PIECES:
                yield _PIECES[name](wanted[name], wanted)


@attack("stuffing", ignores_gold=True)
def constraints_around_nothing(case: Case) -> Completions:
    """Keywords, placeholders, empty sections and bullets as the row wants them, and no answer."""
    pieces = list(_pieces(case))
    if not pieces and not case.row.get("instruction_id_list"):
        return
    text = "\n\n".join(pieces) or "x"
    yield "as asked", text
    yield "in capitals", text.upper()
    yield "in small letters", text.lower()
    yield "in quotation marks", f'"{text}"'
