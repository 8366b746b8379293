r"""A gold in; out come its kind, the text that an honest model would write, and what is like it.

    "\\frac{7}{12}"            -> a number
    "6 \\times 10^{4} J"       -> a quantity
    "[473, 85, 602, 217]"      -> a box
    ["blue", "white", "red"]   -> items, which may also be aliases: what pays decides

Nothing here judges answers: it only builds texts that are the gold, or are not.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from plaudit.answers import final_answer
from plaudit.column_names import GOLD_KEYS
from plaudit.completions import gold_text_of
from plaudit.golds import gold_of

Box = tuple[float, float, float, float]

_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[-+]?\.\d+")
_FRACTION = re.compile(r"(-?)\\[dt]?frac\{(-?\d+)\}\{(\d+)\}|(-?)(\d+)/(\d+)")
_QUANTITY = re.compile(
    r"(?P<value>[-+]?\d[\d,]*(?:\.\d+)?)"
    r"(?P<power>\s*(?:\\times|×|x|\*)\s*10\^\{?(?P<exponent>-?\d+)\}?|[eE](?P<e>[-+]?\d+))?"
    r"(?P<unit>\s*\\?(?:text\{\s*)?[A-Za-z°%µΩ][^\d\s=+,]{0,12}(?:[\d/^·*{}-]+[^\s,]{0,8})*)?"
)
_TAGGED = re.compile(r"\s*<(\w+)>(.*?)</\1>\s*", re.DOTALL)
_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)
_LONGEST_NUMBER = 300  # characters: what has more may be no finite float
_BOX_KEYS = ("bbox_2d", "bbox", "box", "box_2d")


class Kind(StrEnum):
    """What a gold is, as far as attacks care.

    >>> read_gold("-7").kind
    <Kind.NUMBER: 'number'>
    """

    NUMBER = "number"
    QUANTITY = "quantity"
    LETTER = "letter"
    BOX = "box"
    BOXES = "boxes"
    ITEMS = "items"
    TEXT = "text"


@dataclass(frozen=True)
class Gold:
    """A gold that was read.

    kind: what it is
    texts: how an honest model may write it, the likeliest first; each attack uses the one that pays
    items: the texts of a list of items
    boxes: the corners of a box, or of several
    labels: what the boxes are of, where the gold says so

    >>> read_gold(["blue", "red"]).texts
    ('blue\\nred', 'blue, red', '["blue", "red"]', 'blue')
    """

    kind: Kind
    texts: tuple[str, ...]
    items: tuple[str, ...] = ()
    boxes: tuple[Box, ...] = ()
    labels: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The likeliest of its texts."""
        return self.texts[0]


def read_gold(value: Any, choices: Sequence[Any] | None = None) -> Gold | None:
    """The gold of a row; None where there is none, or none that an answer could be.

    >>> read_gold("<answer> 5 </answer>").texts
    ('5', '<answer> 5 </answer>')
    >>> read_gold(None) is None
    True
    """
    if hasattr(value, "tolist"):  # an array or a single number of numpy, or a tensor
        value = value.tolist()
    if isinstance(value, bool):
        return _text_gold(str(value))
    if isinstance(value, dict) and any(key in value for key in GOLD_KEYS):
        value = gold_of(value)  # of verl: {"ground_truth": "4", "style": "rule"}
    if isinstance(value, dict):
        return _json_gold(value)
    if isinstance(value, list | tuple):
        return _list_gold(list(value))
    try:
        text = gold_text_of(value)
    except TypeError:
        return None
    return None if text is None or not text.strip() else _of_text(text, choices)


def _of_text(text: str, choices: Sequence[Any] | None) -> Gold:
    bare = unwrapped(text)
    others = (text,) if bare != text else ()
    boxes = _json_gold(_parsed(bare), (bare, *others)) if bare[:1] in ("[", "{") else None
    if boxes is not None:
        return boxes
    is_letter = re.fullmatch(r"\(?[A-Z]\)?", bare) is not None
    if is_letter and (choices is not None or bare.strip("()") <= "J"):
        return Gold(Kind.LETTER, (bare.strip("()"), *others))
    if _NUMBER.fullmatch(bare) or _FRACTION.fullmatch(bare):
        return Gold(Kind.NUMBER, (bare, *others))
    if quantity := _QUANTITY.fullmatch(bare):
        kind = Kind.QUANTITY if quantity["unit"] or quantity["power"] else Kind.NUMBER
        return Gold(kind, (bare, *others))
    return Gold(Kind.TEXT, (bare, *others))


def _text_gold(text: str) -> Gold:
    return Gold(Kind.TEXT, (text,))


def unwrapped(text: str) -> str:
    r"""A gold without the tags, the fence, the box or the dollars around it.

    >>> unwrapped("<answer> 5 </answer>"), unwrapped("$x^2$"), unwrapped(r"\boxed{4}")
    ('5', 'x^2', '4')
    """
    bare = text.strip()
    if "####" in bare or "\\boxed" in bare:  # GSM8K and MATH keep the whole solution as its gold
        bare = final_answer(bare).text or bare
    if tagged := re.search(r"<answer>(.*?)</answer>", bare, re.DOTALL):
        return unwrapped(tagged[1])
    if tagged := _TAGGED.fullmatch(bare):
        return unwrapped(tagged[2])
    if (fenced := _FENCED.fullmatch(bare)) and fenced[1].strip():
        return fenced[1].strip()
    for before, after in (("$$", "$$"), ("$", "$"), (r"\boxed{", "}"), (r"\(", r"\)")):
        inner = bare[len(before) : len(bare) - len(after)]
        is_whole = bare.startswith(before) and bare.endswith(after) and len(bare) > len(before)
        if (
            is_whole
            and inner.strip()
            and before not in inner
            and inner.count("}") == inner.count("{")
        ):
            return unwrapped(inner)
    return bare


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _list_gold(values: list[Any]) -> Gold | None:
    gold = _json_gold(values)
    if gold is not None:
        return gold
    try:
        items = [gold_text_of(one) for one in values]
    except TypeError:
        return None
    texts = tuple(item for item in items if item)
    if not texts:
        return None
    ways = (
        "\n".join(texts),
        ", ".join(texts),
        json.dumps(list(texts), ensure_ascii=False),
        texts[0],
    )
    return Gold(Kind.ITEMS, tuple(dict.fromkeys(ways)), items=texts)


def _json_gold(value: Any, texts: tuple[str, ...] = ()) -> Gold | None:
    """The gold of a box, or of a list of boxes; None where it is neither."""
    if (box := _box(value)) is not None:
        ways = (
            *texts,
            json.dumps(value),
            json.dumps(list(box)),
            json.dumps([{"bbox_2d": list(box)}]),
        )
        return Gold(Kind.BOX, tuple(dict.fromkeys(ways)), boxes=(box,), labels=_labels([value]))
    if isinstance(value, list) and value:
        found = [_box(one) for one in value]
        if all(box is not None for box in found):
            boxes = tuple(box for box in found if box is not None)
            ways = (*texts, json.dumps(value), json.dumps([list(box) for box in boxes]))
            return Gold(Kind.BOXES, tuple(dict.fromkeys(ways)), boxes=boxes, labels=_labels(value))
    return None


def _box(value: Any) -> Box | None:
    if isinstance(value, dict):
        inner = next((value[key] for key in _BOX_KEYS if key in value), None)
        return None if inner is None else _box(inner)
    if not isinstance(value, list | tuple) or len(value) != 4:
        return None
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in value):
        return None
    left, top, right, bottom = value
    return (left, top, right, bottom)


def _labels(values: list[Any]) -> tuple[str, ...]:
    named = [str(v["label"]) for v in values if isinstance(v, dict) and "label" in v]
    return tuple(named) if len(named) == len(values) else ()


# --- numbers --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NumberText:
    r"""A number as it is written: sign, digits, and what follows them.

    >>> number_text("-2.5e3 km").digits, number_text(r"-\frac{2}{3}").bottom
    ('2.5', '3')
    """

    sign: str
    digits: str
    bottom: str = ""  # of a fraction
    rest: str = ""  # exponent and unit
    exponent: str | None = None

    def text(self) -> str:
        """The number, written again."""
        if self.bottom:
            return f"{self.sign}\\frac{{{self.digits}}}{{{self.bottom}}}"
        return f"{self.sign}{self.digits}{self.rest}"

    @property
    def value(self) -> float:
        """Its value, without exponent and unit."""
        top = float(self.digits)
        return (-top if self.sign == "-" else top) / float(self.bottom or 1)


def number_text(text: str) -> NumberText | None:
    """A number or a quantity, taken apart; None where a text is neither, or has too many digits.

    >>> number_text("Paris") is None, number_text("9" * 1000) is None
    (True, True)
    """
    if len(text) > _LONGEST_NUMBER:
        return None
    if fraction := _FRACTION.fullmatch(text):
        sign = fraction[1] or fraction[4] or ""
        top, bottom = fraction[2] or fraction[5], fraction[3] or fraction[6]
        if top.startswith("-"):
            sign, top = ("" if sign else "-"), top[1:]
        return NumberText(sign, top, bottom) if int(bottom) else None
    found = _QUANTITY.fullmatch(text)
    if found is None and not _NUMBER.fullmatch(text):
        return None
    value = found["value"] if found else text
    sign = "-" if value.startswith("-") else ""
    digits = value.lstrip("+-").replace(",", "")
    rest = text[len(value) :] if found else ""
    exponent = (found["exponent"] or found["e"]) if found else None
    return NumberText(sign, digits, "", rest, exponent)


def written(value: float) -> str:
    """A number as a person writes it.

    >>> written(94.0), written(16.50), written(-0.25)
    ('94', '16.5', '-0.25')
    """
    return gold_text_of(round(value, 10)).removesuffix(".0") if value else "0"  # type: ignore[union-attr]
