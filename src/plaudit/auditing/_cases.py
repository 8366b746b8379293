"""A row and the format that pays in; a case out: all that an attack may use for a completion."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plaudit.auditing._dresses import Dress
from plaudit.auditing._golds import Box, Gold, Kind, number_text
from plaudit.column_names import CHOICES

QUESTIONS = ("question", "problem", "query", "instruction", "prompt")
CONTEXTS = ("context", "passage", "document", "documents", "article")
WIDTHS, HEIGHTS = ("image_width", "width"), ("image_height", "height")


@dataclass(frozen=True)
class Case:
    r"""One row as an attack sees it.

    place: the number of the row in the sample; attacks rotate by it, so that what is right stands
        in another position from row to row
    row: the row's columns
    gold: its gold, read; None where the table has none
    answer: the text of the right answer
    dress: the format that pays
    others: answers that are wrong, those of other rows first
    lengths: the numbers that the rewards name, which may be lengths that they like
    tags: the tags that prompts, completions and rewards name
    thinks: whether anything names <think>

    >>> case = Case(0, {"question": "2 + 2?"}, None, "4", Dress("#### {answer}"), ("5", "6"))
    >>> case.full(case.others[0])
    '#### 5'
    """

    place: int
    row: Mapping[str, Any]
    gold: Gold | None
    answer: str
    dress: Dress
    others: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    thinks: bool = False

    @property
    def kind(self) -> Kind:
        """What the gold is; text where there is none."""
        return Kind.TEXT if self.gold is None else self.gold.kind

    @property
    def wrong(self) -> str:
        """An answer that is wrong, and not nearly right."""
        return self.others[0]

    def full(self, answer: str) -> str:
        """The completion of an honest model with this answer."""
        return self.dress.written(answer, place=self.place)

    def marked(self, answer: str) -> str:
        r"""The answer with its mark alone, such as `\boxed{4}`."""
        return self.dress.marked(answer)

    def among(self, answers: Sequence[str]) -> list[str]:
        """The right answer among wrong ones, in a position that rotates from row to row.

        >>> Case(1, {}, None, "4", Dress("{answer}")).among(["5", "6"])
        ['5', '4', '6']
        """
        at = self.place % (len(answers) + 1)
        return [*answers[:at], self.answer, *answers[at:]]

    @property
    def question(self) -> str:
        """What is asked."""
        return text_in(self.row, QUESTIONS)

    @property
    def prompt(self) -> str:
        """The whole prompt."""
        return text_in(self.row, ("prompt", *QUESTIONS))

    @property
    def context(self) -> str:
        """The text that the question is about, where there is one."""
        return text_in(self.row, CONTEXTS) or next(
            iter(re.findall(r"<context>(.*?)</context>", self.prompt, re.DOTALL)), ""
        )

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts of the options, where there are some."""
        found = next((self.row[name] for name in CHOICES if self.row.get(name)), ())
        return tuple(map(str, found)) if isinstance(found, list | tuple) else ()

    @property
    def letters(self) -> list[str]:
        """The letters of the options."""
        named = re.findall(r"^\s*\(?([A-J])[).:]", self.prompt, re.MULTILINE)
        count = max(len(self.choices), len(set(named)), 4)
        return [chr(ord("A") + i) for i in range(min(count, 10))]

    @property
    def boxes(self) -> tuple[Box, ...]:
        """The gold's boxes."""
        return () if self.gold is None else self.gold.boxes

    @property
    def size(self) -> tuple[float, float]:
        """The width and the height of the image; where the row has none, what holds all boxes."""
        sizes = []
        for names, corner in ((WIDTHS, 2), (HEIGHTS, 3)):
            told = next((self.row[n] for n in names if isinstance(self.row.get(n), int | float)), 0)
            sizes.append(told or 1.2 * max((box[corner] for box in self.boxes), default=1000))
        return sizes[0], sizes[1]

    @property
    def items(self) -> tuple[str, ...]:
        """The items of a list, all of which are wanted; none where one of them is enough."""
        if self.gold is None or self.kind is not Kind.ITEMS:
            return ()
        return self.gold.items if self.answer in self.gold.texts[:3] else ()

    def listed(self, items: Iterable[str]) -> str:
        """Items, written as the answer writes them."""
        on_lines = "\n" in self.answer or "," not in self.answer
        return ("\n" if on_lines else ", ").join(items)

    def boxed(self, boxes: Sequence[Sequence[float]]) -> str:
        """Boxes, written as the gold writes them."""
        shaped = [[_short(v) for v in box] for box in boxes]
        if '"' not in self.answer:
            single = self.kind is Kind.BOX and len(shaped) == 1
            return json.dumps(shaped[0] if single else shaped)
        label = self.gold.labels[0] if self.gold and self.gold.labels else "object"
        listed = [{"bbox_2d": box, "label": label} for box in shaped]
        single = self.answer.lstrip().startswith("{") and len(listed) == 1
        return json.dumps(listed[0] if single else listed)


def _short(value: float) -> float:
    return int(value) if float(value).is_integer() else round(float(value), 2)


def text_in(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """The text of the first of these columns that a row has; of messages, what the user says last.

    >>> text_in({"prompt": [{"role": "user", "content": "2 + 2?"}]}, ["question", "prompt"])
    '2 + 2?'
    """
    for name in names:
        value = row.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            return "\n".join(value)
        if isinstance(value, list) and value and isinstance(value[-1], dict):
            said = [m.get("content") for m in value if m.get("role") == "user"]
            if said and isinstance(said[-1], str):
                return said[-1]
    return ""


def differing(answers: Sequence[str], than: str) -> list[str]:
    """The answers that are not this one, nor nearly it, each once.

    >>> differing(["94", "94.0", "95", "28"], "94")
    ['28']
    """
    mine = number_text(than)
    found = []
    for answer in dict.fromkeys(answers):
        other = number_text(answer)
        if mine is not None and other is not None:
            near = abs(other.value - mine.value) <= 0.3 * max(abs(other.value), abs(mine.value))
            if near or abs(other.value) == abs(mine.value):
                continue
        if answer.strip().lower() != than.strip().lower():
            found.append(answer)
    return found
