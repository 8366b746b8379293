"""What an attack is, and the case that it gets: a row, its right answer and wrong ones."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plaudit.inputs.columns import CHOICES, PROMPT
from plaudit.inputs.completions import gold_text_of
from plaudit.reports.honest_answers import (
    AnswerFormat,
    GoldAnswer,
    GoldKind,
    NumberText,
    number_text,
)
from plaudit.scores.boxes import Corners

Completions = Iterator[tuple[str, str]]
Builder = Callable[["Case"], Completions]

CLASSES = (
    *("empty", "structure", "key", "echo", "hedge", "neighbour"),
    *("retract", "stuffing", "length", "code", "unstable", "cost", "missed"),
)
RAISES = "raises"  # the class of a reward that raises on an attack
MISSED = "missed"  # the class of right answers that are not paid, which is no hole
NUMERIC = (GoldKind.NUMBER, GoldKind.QUANTITY)
BOXED = (GoldKind.BOX, GoldKind.BOXES)

QUESTIONS = (*PROMPT[2:], *PROMPT[:2])  # a prompt may hold more than the question
_CONTEXTS = ("context", "passage", "document", "documents", "article")
_SIDES = (("image_width", "width"), ("image_height", "height"))
_LEADING_TAG = re.compile(r"\s*<(\w+)>")


@dataclass(frozen=True)
class Attack:
    """An attack, which `attack` makes of a function.

    build: yields completions for a case, each with the name of its variant; a variant that does not
        fit a row is left out for it
    """

    name: str
    kind: str
    build: Builder
    ignores_gold: bool = False
    allows_partial_credit: bool = False
    relative_to_wrong: bool = False
    golds: Collection[GoldKind] = tuple(GoldKind)

    @property
    def about(self) -> str:
        """The first paragraph of its docstring."""
        doc = self.build.__doc__ or self.name
        return " ".join(doc.partition("\n\n")[0].split())


def attack(
    kind: str,
    *,
    ignores_gold: bool = False,
    allows_partial_credit: bool = False,
    relative_to_wrong: bool = False,
    golds: Collection[GoldKind] = tuple(GoldKind),
) -> Callable[[Builder], Attack]:
    """Make an attack of a function that takes a `Case` and yields (variant, completion).

    kind: its class, such as "hedge"
    ignores_gold: whether it also counts for components that ignore the gold, such as formats
    allows_partial_credit: whether partial credit for it is no hole, since it is nearly right
    relative_to_wrong: whether only what it earns above a plain wrong answer counts
    golds: the kinds of golds that it is for

    >>> @attack("key")
    ... def shouting(case):
    ...     '''The question in capitals.'''
    ...     yield "capitals", case.question.upper()
    >>> shouting.name, shouting.kind
    ('shouting', 'key')
    """
    if kind not in CLASSES:
        raise ValueError(f"there is no class {kind!r}: the classes are {', '.join(CLASSES)}")

    def made(build: Builder) -> Attack:
        flags = (ignores_gold, allows_partial_credit, relative_to_wrong)
        return Attack(build.__name__, kind, build, *flags, golds)

    return made


@dataclass(frozen=True)
class Case:
    r"""One row as an attack sees it.

    index: the index of the row in the sample; attacks rotate by it, so that what is right stands
        in another position from row to row
    row: the row's columns
    gold: its gold, read; None if the table has none
    answer: the text of the right answer
    format: the format that pays
    others: answers that are wrong, those of other rows first
    lengths: the numbers that the rewards name, which may be lengths that they like
    tags: the tags that prompts, completions and rewards name
    thinks: whether anything names <think>

    >>> case = Case(0, {"question": "2 + 2?"}, None, "4", AnswerFormat("#### {answer}"), ("5", "6"))
    >>> case.full(case.wrong)
    '#### 5'
    """

    index: int
    row: Mapping[str, Any]
    gold: GoldAnswer | None
    answer: str
    format: AnswerFormat
    others: tuple[str, ...] = ()
    lengths: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()
    thinks: bool = False

    @property
    def kind(self) -> GoldKind:
        """What the gold is; text if there is none."""
        return GoldKind.TEXT if self.gold is None else self.gold.kind

    @property
    def wrong(self) -> str:
        """An answer that is wrong, and not nearly right."""
        return self.others[0]

    def full(self, answer: str) -> str:
        """Return the completion of an honest model with this answer."""
        return self.format.write(answer, row=self.index)

    def marked(self, answer: str) -> str:
        r"""Return the answer with its mark alone, such as `\boxed{4}`."""
        before, after = self.format.mark
        return f"{before}{answer}{after}"

    def joined(self, answers: Sequence[str], separators: Mapping[str, str]) -> Completions:
        """Yield completions with several answers instead of one, by the text between them."""
        for name, separator in separators.items():
            yield name, self.full(separator.join(answers))

    def among(self, answers: Sequence[str]) -> list[str]:
        """Return the right answer among wrong ones, in a position that changes by row."""
        at = self.index % (len(answers) + 1)
        return [*answers[:at], self.answer, *answers[at:]]

    @property
    def number(self) -> NumberText | None:
        """The answer, taken apart, if it is a number."""
        return number_text(self.answer) if self.kind in NUMERIC else None

    @property
    def question(self) -> str:
        """What is asked."""
        return _text_in(self.row, QUESTIONS)

    @property
    def prompt(self) -> str:
        """The whole prompt."""
        return _text_in(self.row, ("prompt", *QUESTIONS))

    @property
    def context(self) -> str:
        """The text that the question is about, if there is one."""
        inside = re.search(r"<context>(.*?)</context>", self.prompt, re.DOTALL)
        return _text_in(self.row, _CONTEXTS) or (inside[1] if inside else "")

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts of the options, if there are some."""
        found = next((self.row[name] for name in CHOICES if self.row.get(name)), ())
        return tuple(map(str, found)) if isinstance(found, list | tuple) else ()

    @property
    def letters(self) -> list[str]:
        """The letters of the options."""
        named = re.findall(r"^\s*\(?([A-J])[).:]", self.prompt, re.MULTILINE)
        count = max(len(self.choices), len(set(named)), 4)
        return [chr(ord("A") + i) for i in range(min(count, 10))]

    @property
    def boxes(self) -> tuple[Corners, ...]:
        """The gold's boxes."""
        return () if self.gold is None else self.gold.boxes

    @property
    def size(self) -> tuple[float, float]:
        """The width and the height of the image; if the row has none, what holds all boxes."""
        sizes = []
        for names, corner in zip(_SIDES, (2, 3), strict=True):
            known = (self.row[n] for n in names if isinstance(self.row.get(n), int | float))
            largest = max((box[corner] for box in self.boxes), default=1000)
            sizes.append(next(known, 0) or 1.2 * largest)
        return sizes[0], sizes[1]

    @property
    def items(self) -> tuple[str, ...]:
        """The items of a list, all of which are wanted; none if one of them is enough."""
        if self.gold is None or self.kind is not GoldKind.ITEMS:
            return ()
        return self.gold.items if self.answer in self.gold.texts[:3] else ()

    def listed(self, items: Iterable[str]) -> str:
        """Return items, written as the answer writes them."""
        on_lines = "\n" in self.answer or "," not in self.answer
        return ("\n" if on_lines else ", ").join(items)

    def boxed(self, boxes: Sequence[Sequence[float]]) -> str:
        """Return boxes, written as the gold writes them."""
        shaped = [[_short(v) for v in box] for box in boxes]
        if '"' not in self.answer:
            single = self.kind is GoldKind.BOX and len(shaped) == 1
            return json.dumps(shaped[0] if single else shaped)
        label = self.gold.labels[0] if self.gold and self.gold.labels else "object"
        listed = [{"bbox_2d": box, "label": label} for box in shaped]
        single = self.answer.lstrip().startswith("{") and len(listed) == 1
        return json.dumps(listed[0] if single else listed)


def _short(value: float) -> float:
    return int(value) if float(value).is_integer() else round(float(value), 2)


def _text_in(row: Mapping[str, Any], names: Sequence[str]) -> str:
    """Return the text of the first of these columns; of messages, what the user says last."""
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


def differing(answers: Sequence[str], answer: str) -> list[str]:
    """Return the answers that are not this one, nor nearly it, each once."""
    right = number_text(answer)
    found = []
    for one in dict.fromkeys(answers):
        other = number_text(one)
        if right is not None and other is not None:
            a, b = abs(right.value), abs(other.value)
            if abs(other.value - right.value) <= 0.3 * max(a, b) or a == b:
                continue
        if one.strip().lower() != answer.strip().lower():
            found.append(one)
    return found


def pad(completion: str, padding: str) -> str:
    """Return a completion with more text at the beginning of its reasoning."""
    leading = _LEADING_TAG.match(completion)
    at = leading.end() if leading and leading[1] not in ("answer", "context") else 0
    return completion[:at] + padding + completion[at:]


def plain_number(value: float) -> str:
    """Return a number as a person writes it, such as 94, 16.5 or -0.0000001."""
    return str(gold_text_of(round(value, 10))).removesuffix(".0") if value else "0"
