"""Rows of one or two runs in; the data of a page's table out: by column, each text once.

    {"runs": ["before", "after"], "components": ["accuracy_reward"], "columns": ["source"],
     "strings": ["2 + 2?", "It is 4.", …], "id": [0, 1, …], "prompt": [0, 0, …], …}

A text is given as its place in `strings`; a completion that is too long as [head, characters left
out, tail].
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from plaudit.report._content import Run
from plaudit.report._folder import Folder, completion_text, prompt_text
from plaudit.report._sample import CUT, LONGEST, cut, json_number

_PROMPT, _REASON, _OTHER = 4000, 2000, 1000  # characters, in rows with their whole text
_CUT_PROMPT, _CUT_REASON, _CUT_OTHER = 300, 160, 80  # and in the others
_OTHERS = 4_000_000  # characters of all other columns; after that they are cut shorter still
_SHORTEST = 24
_ITEMS = 100  # of a list in another column
_BYTES = "(bytes: not shown)"
_NAMES = "id run group status total length values prompt gold text reasons right label others"
_LATEX = re.compile(r"\$[^$\n]+\$|\\[\[(]|\\[a-zA-Z]{2,}")


class RowTable:
    """The rows of the page's table. `has_latex` says whether a text in it may have formulas."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self._runs = runs
        folders = [run.folder for run in runs]
        self._components = _distinct(f.components for f in folders)
        self._columns = _distinct((*f.others, *f.unread) for f in folders)
        self._strings: dict[str, int] = {}
        self._rows: list[list[Any]] = []
        self._left = _OTHERS
        self._pairs: dict[int, int] = {}
        self.has_latex = False

    def add(self, run: int, place: int, row: dict[str, Any], full: bool) -> None:
        """Add a row of a run: its whole text, or its beginning and end."""
        folder, numbers = self._runs[run].folder, self._runs[run].numbers
        prompt_size, size = (_PROMPT, _REASON) if full else (_CUT_PROMPT, _CUT_REASON)
        text = completion_text(value_of(row, folder.completion))
        head, left_out, tail = cut(text, LONGEST if full else CUT)
        self.has_latex = self.has_latex or bool(_LATEX.search(head) or _LATEX.search(tail))
        gold = value_of(row, folder.gold)
        labels = numbers.labels
        self._rows.append(
            [
                row["row_id"],
                run,
                self._string(str(row["group_id"]), size),
                self._string(str(row["status"]), size),
                json_number(row["total"]),
                int(numbers.lengths[place]),
                [json_number(row.get(name)) for name in self._components],
                self._string(prompt_text(value_of(row, folder.prompt)), prompt_size),
                None if gold is None else self._string(completion_text(gold), size),
                [head, left_out, tail] if left_out else head,
                [self._reason(entry, size) for entry in row["explanation"] or ()],
                json_number(numbers.right[place]),
                None if labels is None else json_number(labels[place]),
                self._others(folder, row, _OTHER if full else _CUT_OTHER),
            ]
        )

    def _reason(self, entry: dict[str, Any], size: int) -> list[Any]:
        texts = (entry[name] for name in ("component", "status", "method", "answer", "gold", "why"))
        known = [None if text is None else self._string(text, size) for text in texts]
        return [json_number(entry["value"]), *known, json_number(entry["ungated"])]

    def _others(self, folder: Folder, row: dict[str, Any], size: int) -> list[int | None]:
        found: list[int | None] = []
        for name in self._columns:
            value = _BYTES if name in folder.unread else row.get(name)
            if value is None:
                found.append(None)
                continue
            # What a report is split by is filtered by: it stays as it is, unless it is very long.
            most = _OTHER if name in folder.by else size if self._left > 0 else _SHORTEST
            before = len(self._strings)
            place = self._string(_value_text(value), most)
            self._left -= most if len(self._strings) > before else 0
            found.append(place)
        return found

    def _string(self, text: str, most: int) -> int:
        head, left_out, tail = cut(text, most)
        short = f"{head} … {tail}" if left_out else head
        known = self._strings.setdefault(short, len(self._strings))
        if known == len(self._strings) - 1 and not self.has_latex:
            self.has_latex = bool(_LATEX.search(short))
        return known

    def pair(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Say which rows, by their place in the table, are shown side by side."""
        for a, b in pairs:
            self._pairs[a], self._pairs[b] = b, a

    def data(self) -> dict[str, Any]:
        """The data of the table."""
        names = _NAMES.split()
        columns = zip(*self._rows, strict=True) if self._rows else [[] for _ in names]
        return {
            "runs": [run.name for run in self._runs],
            "components": self._components,
            "columns": self._columns,
            "strings": list(self._strings),
            **dict(zip(names, columns, strict=True)),
            "pair": [self._pairs.get(place) for place in range(len(self._rows))],
        }


def value_of(row: dict[str, Any], column: str | None) -> Any:
    """The value of a column, None if there is no such column."""
    return None if column is None else row[column]


def _distinct(names: Any) -> list[str]:
    return list(dict.fromkeys(name for group in names for name in group))


def _value_text(value: Any) -> str:
    """A value of any kind, as text.

    >>> _value_text("algebra"), _value_text([1, 2]), _value_text(list(range(1000)))[-22:]
    ('algebra', '[1, 2]', '98, 99, … 1,000 in all')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list) and len(value) > _ITEMS:
        start = json.dumps(value[:_ITEMS], ensure_ascii=False, default=str)
        return f"{start[:-1]}, … {len(value):,} in all"
    return json.dumps(value, ensure_ascii=False, default=str)
