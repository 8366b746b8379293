r"""Honest answers: the texts that say a gold, and the formats in which a reward may want them.

    gold                        kind       texts                     in a format
    "<answer>\frac{7}{12}…"     number     \frac{7}{12}              \boxed{\frac{7}{12}}
    [473, 85, 602, 217]         box        [473, 85, 602, 217]       <answer>[473, …]</answer>
    ["blue", "white"]           items      "blue\nwhite", "blue"     blue, white

`plaudit check` scores them to find bad golds, `plaudit audit` to know what an attack is worth.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Any

from plaudit.answers import final_answer
from plaudit.inputs import extract
from plaudit.inputs.columns import GOLD_KEYS
from plaudit.inputs.completions import gold_text_of
from plaudit.inputs.golds import gold_of
from plaudit.rewards.code import examples_of, tests_problem
from plaudit.scores.boxes import Corners

_ALTERNATIVES = 8  # of a gold that has several, how many are tried
_BOX_KEYS = ("bbox_2d", "bbox", "box", "box_2d")
_FENCED = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
_TAGGED = re.compile(r"\s*<(\w+)>(.*?)</\1>\s*", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[-+]?\.\d+")
_FRACTION = re.compile(r"(-?)\\[dt]?frac\{(-?\d+)\}\{(\d+)\}|(-?)(\d+)/(\d+)")
_QUANTITY = re.compile(
    r"(?P<value>[-+]?\d[\d,]*(?:\.\d+)?)"
    r"(?P<power>\s*(?:\\times|×|x|\*)\s*10\^\{?(?P<exponent>-?\d+)\}?|[eE](?P<e>[-+]?\d+))?"
    r"(?P<unit>\s*\\?(?:text\{\s*)?[A-Za-z°%µΩ][^\d\s=+,]{0,12}(?:[\d/^·*{}-]+[^\s,]{0,8})*)?"
)
_LONGEST_NUMBER = 300  # characters: what has more may be no finite float


# --- golds ----------------------------------------------------------------------------------------


class GoldKind(StrEnum):
    """What a gold is, as far as honest and dishonest answers differ by it."""

    NUMBER = "number"
    QUANTITY = "quantity"
    LETTER = "letter"
    BOX = "box"
    BOXES = "boxes"
    ITEMS = "items"
    TEXT = "text"
    CALLS = "calls"
    OBJECT = "object"
    PROGRAM = "program"


@dataclass(frozen=True)
class GoldAnswer:
    """The answers that say a gold.

    texts: how an honest model may write it, the likeliest first; a reward may take only one of them
    items: the texts of a list; whether all are wanted, or one is enough, is what the reward pays
    boxes: the corners of a box, or of several
    labels: what the boxes are of, if the gold says so
    data: the calls or the object, with one value of each argument; for programs, what tests show
    """

    kind: GoldKind
    texts: tuple[str, ...]
    items: tuple[str, ...] = ()
    boxes: tuple[Corners, ...] = ()
    labels: tuple[str, ...] = ()
    data: Any = field(default=None, compare=False)

    def text(self, number: int) -> str:
        """Return one of the texts; the last if there are fewer."""
        return self.texts[min(number, len(self.texts) - 1)]


def read_gold(value: Any, has_choices: bool = False) -> GoldAnswer | None:
    """Return the answers that say a gold; None if there is none, or none that an answer could be.

    has_choices: whether the row lists options, so that any single letter names one
    """
    if hasattr(value, "tolist"):  # an array or a single number of numpy, or a tensor
        value = value.tolist()
    if isinstance(value, bool):
        return GoldAnswer(GoldKind.TEXT, (str(value),))
    if isinstance(value, dict) and any(key in value for key in GOLD_KEYS):
        value = gold_of(value)  # of verl: {"ground_truth": "4", "style": "rule"}
    if isinstance(value, dict):
        return _boxes_gold(value) or _object_gold(value)
    if calls := calls_in(value):
        return _calls_gold(calls)
    try:
        if isinstance(value, list | tuple):
            return _boxes_gold(list(value)) or _items_gold([gold_text_of(one) for one in value])
        text = gold_text_of(value)
    except TypeError:
        return None
    return None if text is None or not text.strip() else _text_gold(text, has_choices)


def _text_gold(text: str, has_choices: bool) -> GoldAnswer:
    bare = bare_answer(text)
    while tagged := _TAGGED.fullmatch(bare):
        bare = bare_answer(tagged[2])
    texts = (bare, text) if bare != text else (bare,)
    if bare[:1] in ("[", "{") and (boxes := _boxes_gold(_parse_json(bare), texts)):
        return boxes
    is_letter = re.fullmatch(r"\(?[A-Z]\)?", bare) is not None
    if is_letter and (has_choices or bare.strip("()") <= "J"):
        return GoldAnswer(GoldKind.LETTER, (bare.strip("()"), *texts[1:]))
    quantity = _QUANTITY.fullmatch(bare)
    if _NUMBER.fullmatch(bare) or _FRACTION.fullmatch(bare):
        return GoldAnswer(GoldKind.NUMBER, texts)
    if quantity and (quantity["unit"] or quantity["power"]):
        return GoldAnswer(GoldKind.QUANTITY, texts)
    return GoldAnswer(GoldKind.NUMBER if quantity else GoldKind.TEXT, texts)


def calls_in(gold: Any) -> list[dict[str, Any]]:
    """Return the calls of a gold, with the first accepted value of each argument; else none.

    [{"f": {"a": [1, 2], "b": [""]}}] is [{"name": "f", "arguments": {"a": 1}}], as BFCL has it.
    """
    if isinstance(gold, str):
        gold = _parse_json(gold) if gold.lstrip()[:1] == "[" else None
    calls = [_call_in(one) for one in gold] if isinstance(gold, list | tuple) else []
    return [] if None in calls else [call for call in calls if call is not None]


def _call_in(entry: Any) -> dict[str, Any] | None:
    if not isinstance(entry, Mapping):
        return None
    call = entry["function"] if isinstance(entry.get("function"), Mapping) else entry
    if isinstance(call.get("name"), str):
        arguments = call.get("arguments", call.get("parameters"))
        arguments = _parse_json(arguments) if isinstance(arguments, str) else arguments
        known = isinstance(arguments, Mapping)
        return {"name": call["name"], "arguments": dict(arguments)} if known else None
    name, values = next(iter(call.items()), ("", None))
    listed = isinstance(values, Mapping) and all(isinstance(v, list) for v in values.values())
    if len(call) != 1 or not listed or not isinstance(values, Mapping):
        return None
    chosen = {key: several[0] for key, several in values.items() if several and several[0] != ""}
    return {"name": name, "arguments": {key: _first(value) for key, value in chosen.items()}}


def _first(value: Any) -> Any:
    """Return an accepted value of BFCL, in which an object lists the accepted ones of each key."""
    if isinstance(value, list):
        return [_first(one) for one in value]
    if not isinstance(value, Mapping):
        return value
    listed = {key: one if isinstance(one, list) else [one] for key, one in value.items()}
    return {key: _first(one[0]) for key, one in listed.items() if one and one[0] != ""}


def _calls_gold(calls: list[dict[str, Any]]) -> GoldAnswer:
    tagged = "\n".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls)
    python = [
        f"{call['name']}({', '.join(f'{k}={v!r}' for k, v in call['arguments'].items())})"
        for call in calls
    ]
    texts = (json.dumps(calls), tagged, f"[{', '.join(python)}]")
    return GoldAnswer(GoldKind.CALLS, texts, data=calls)


def _object_gold(value: Mapping[str, Any]) -> GoldAnswer | None:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return GoldAnswer(GoldKind.OBJECT, (text,), data=value) if value else None


def program_gold(tests: Any, reference: Any) -> GoldAnswer | None:
    """Return the programs that pass tests: the row's reference, or one that looks results up.

    None if the tests cannot be read, or if there is neither.
    """
    if tests_problem(tests):
        return None
    examples = examples_of(tests)
    known = reference if isinstance(reference, str) and reference.strip() else examples.program
    texts = (f"```python\n{known.strip()}\n```", known)
    return GoldAnswer(GoldKind.PROGRAM, texts, data=examples) if known else None


def _items_gold(values: list[str | None]) -> GoldAnswer | None:
    items = [value for value in values if value]
    if not items:
        return None
    listed = json.dumps(items, ensure_ascii=False)
    texts = dict.fromkeys(["\n".join(items), ", ".join(items), listed, items[0]])
    return GoldAnswer(GoldKind.ITEMS, tuple(texts), items=tuple(items))


def _boxes_gold(value: Any, texts: tuple[str, ...] = ()) -> GoldAnswer | None:
    """Return the gold of a box, or of a list of boxes; None if it is neither."""
    if box := _corners(value):
        written = [json.dumps(one) for one in (value, list(box), [{"bbox_2d": list(box)}])]
        click = f"({(box[0] + box[2]) / 2:g}, {(box[1] + box[3]) / 2:g})"
        ways = tuple(dict.fromkeys([*texts, *written, click]))
        return GoldAnswer(GoldKind.BOX, ways, boxes=(box,), labels=_labels([value]))
    boxes = [_corners(one) for one in value] if isinstance(value, list) else []
    found = tuple(box for box in boxes if box)
    if not found or len(found) < len(boxes):
        return None
    ways = tuple(dict.fromkeys([*texts, json.dumps(value), json.dumps([*map(list, found)])]))
    return GoldAnswer(GoldKind.BOXES, ways, boxes=found, labels=_labels(value))


def _labels(values: list[Any]) -> tuple[str, ...]:
    named = [str(v["label"]) for v in values if isinstance(v, dict) and "label" in v]
    return tuple(named) if len(named) == len(values) else ()


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def boxes_in(gold: Any) -> list[Corners]:
    """Return the boxes of a gold that is nothing but boxes: corners, or a list of labelled ones."""
    if isinstance(gold, str):
        gold = extract.json_items(bare_answer(gold)) if "[" in gold else None
    alone = _corners(gold)
    found = [alone] if alone else [*map(_corners, gold)] if isinstance(gold, list | tuple) else []
    return [corners for corners in found if corners is not None]


def _corners(value: Any) -> Corners | None:
    """Return four finite numbers, alone or under a key; integers stay integers, to be written."""
    if isinstance(value, Mapping):
        value = next((value[key] for key in _BOX_KEYS if key in value), None)
    if not isinstance(value, list | tuple) or len(value) != 4:
        return None
    # By the exact type: True is an int as well, but not a coordinate.
    if not {type(v) for v in value} <= {int, float} or not all(map(isfinite, value)):
        return None
    left, top, right, bottom = value
    return left, top, right, bottom


def alternatives(gold: Any, separator: str | None = None) -> list[str]:
    r"""Return the answers each of which is right by a gold, without marks around them.

    separator: the text between the alternatives of a gold that is one text
    """
    if isinstance(gold, list | tuple):
        if boxes_in(gold):
            return [json.dumps(gold)]
        if calls := calls_in(gold):
            return [json.dumps(calls)]
        return [text for one in gold[:_ALTERNATIVES] for text in alternatives(one, separator)]
    text = text_of_gold(gold)
    parts = text.split(separator)[:_ALTERNATIVES] if separator else [text]
    return [bare_answer(part) for part in parts if part.strip() or not separator]


def text_of_gold(gold: Any) -> str:
    """Return a gold as text; what a dict around it holds, if one of its keys says so."""
    if isinstance(gold, str) and not gold.lstrip().startswith("{"):
        return gold
    try:
        read = gold_of(gold)
    except (TypeError, ValueError):
        read = gold
    if isinstance(read, Mapping | list):
        return json.dumps(read, default=repr)
    return str(int(read) if isinstance(read, float) and read.is_integer() else read)


def bare_answer(text: str) -> str:
    """Return a gold without the tag, the box, the fence or the dollars around it."""
    tagged = extract.first_tag(text, "answer")
    bare = (text if tagged is None else tagged).strip()
    if "####" in bare or "\\boxed" in bare:  # GSM8K and MATH keep the whole solution as its gold
        bare = (final_answer(bare).text or bare).strip()
    if (fenced := _FENCED.fullmatch(bare)) and fenced[1]:
        return fenced[1]
    for before, after in (("$$", "$$"), ("$", "$"), (r"\(", r"\)")):
        inner = bare[len(before) : len(bare) - len(after)].strip()
        if bare.startswith(before) and bare.endswith(after) and inner and before not in inner:
            return bare_answer(inner)
    return bare


# --- numbers --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NumberText:
    """A number as it is written: sign, digits, and what follows them."""

    sign: str
    digits: str
    denominator: str = ""
    rest: str = ""  # exponent and unit
    exponent: str | None = None

    def text(self) -> str:
        """Return the number, written again."""
        if self.denominator:
            return f"{self.sign}\\frac{{{self.digits}}}{{{self.denominator}}}"
        return f"{self.sign}{self.digits}{self.rest}"

    @property
    def value(self) -> float:
        """Its value, without exponent and unit."""
        top = float(self.digits)
        return (-top if self.sign == "-" else top) / float(self.denominator or 1)


def number_text(text: str) -> NumberText | None:
    """Take a number or a quantity apart; None if a text is neither, or has too many digits."""
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
    exponent = (found["exponent"] or found["e"]) if found else None
    return NumberText(sign, digits, "", text[len(value) :], exponent)


# --- formats --------------------------------------------------------------------------------------

ANSWER, REASONING = "{answer}", "{reasoning}"
_REASONING = (
    "Let me look at what is asked here, take the facts one after another, and check the result "
    "once more before I write it down."
)
# Of formats that a reward pays alike, the first is taken.
_TEMPLATES = (
    "{answer}",
    "<answer>{answer}</answer>",
    "{reasoning}\n<answer>{answer}</answer>",
    "<think>{reasoning}</think>\n<answer>{answer}</answer>",
    "<think>{reasoning}</think><answer>{answer}</answer>",
    "<think>\n{reasoning}\n</think>\n<answer>\n{answer}\n</answer>",
    "\\boxed{{answer}}",
    "{reasoning}\n\nThe final answer is $\\boxed{{answer}}$.",
    "<think>{reasoning}</think>\n\n\\boxed{{answer}}",
    "<think>{reasoning}</think>\n<answer>\\boxed{{answer}}</answer>",
    "<think>{reasoning}</think>\n\n{answer}",
    "{reasoning}\n#### {answer}",
    "{reasoning}\nAnswer: {answer}",
    "{reasoning}\nThe answer is {answer}.",
    "{reasoning}\nFinal Answer: The final answer is ${answer}$. I hope it is correct.",
    "```json\n{answer}\n```",
    "<think>{reasoning}</think>\n<answer>\n```json\n{answer}\n```\n</answer>",
    "<answer>\n```json\n{answer}\n```\n</answer>",
    "<reasoning>\n{reasoning}\n</reasoning>\n<answer>\n{answer}\n</answer>\n",
    "<long_answer>{reasoning}</long_answer>\n<answer>{answer}</answer>",
    "<think>{reasoning}</think><long_answer>{reasoning}</long_answer><answer>{answer}</answer>",
    "{reasoning}\n{answer}",
    '{"answer": "{answer}"}',
    "${answer}$",
)
_OPENINGS = re.compile(
    r"(?:<(?P<tag>\w+)>\s*|\\boxed\{|(?:####|\*\*)[ \t]*|```\w*\n"
    r"|[A-Z]\w*(?: \w+)?:[ \t]*)$"
)


@dataclass(frozen=True)
class AnswerFormat:
    r"""How an answer is written down.

    template: the text, with {answer} and, if there is reasoning, {reasoning} in it
    heads: the text before the answer, for rows whose own completion shows it
    closing: the text after the answer in these rows
    text: which of a gold's texts is the answer
    """

    template: str
    heads: Mapping[int, str] = field(default_factory=dict, compare=False)
    closing: str = ""
    text: int = 0

    @classmethod
    def of(cls, template: str) -> "AnswerFormat":
        """Return the format of a user's template; raise ValueError if it has no {answer}."""
        if ANSWER not in template:
            wanted = f"a template must contain {ANSWER}, where the answer goes"
            raise ValueError(f"{wanted}, got {template!r:.80}")
        return cls(template)

    def write(self, answer: str, reasoning: str = _REASONING, row: int = -1) -> str:
        """Return the completion with this answer, after the row's own words if they are known."""
        head = self.heads.get(row)
        if head is not None:
            return head + answer + self.closing
        return self.template.replace(REASONING, reasoning).replace(ANSWER, answer)

    @property
    def name(self) -> str:
        r"""The format for a person, such as `<think>…</think> \boxed{…}`."""
        return " ".join(self.template.replace(REASONING, "…").replace(ANSWER, "…").split())

    @property
    def mark(self) -> tuple[str, str]:
        r"""What stands right before and right after the answer, such as `\boxed{` and `}`."""
        before, _, after = self.template.partition(ANSWER)
        found = _OPENINGS.search(before)
        if found is None:
            return "", ""
        opening = found[0]
        if found["tag"]:
            close = f"</{found['tag']}>"
            end = after.find(close)
            return opening, after[: end + len(close)] if end >= 0 else close
        if opening == "\\boxed{":
            return opening, "}"
        if opening.startswith("```"):
            return opening, "\n```"
        return opening, "**" if opening.startswith("**") else ""


def usual_formats(tags: Sequence[str] = ()) -> list[AnswerFormat]:
    """Return the usual formats, and those of the tags that prompts and rewards name."""
    templates = list(_TEMPLATES)
    # The same without a word before the answer, for rewards that want nothing else.
    bare = [t.removeprefix(REASONING).lstrip() for t in _TEMPLATES if t.startswith(REASONING)]
    templates += bare
    for order in (tags, sorted(tags, key=lambda tag: tag == "answer")):
        if order:
            parts = [f"<{tag}>{REASONING}</{tag}>" for tag in order[:-1]]
            templates.append("\n".join([*parts, f"<{order[-1]}>{ANSWER}</{order[-1]}>"]))
    return [AnswerFormat(template) for template in dict.fromkeys(templates)]


def learn_format(
    completions: Mapping[int, str], golds: Mapping[int, Sequence[str]]
) -> AnswerFormat | None:
    """Return the format of completions that hold their row's gold; None if fewer than two do."""
    split: dict[int, tuple[str, str, int]] = {}
    for row, completion in completions.items():
        for number, gold in enumerate(golds.get(row, ())):
            at = completion.rfind(gold)
            if at >= 0 and gold.strip():
                split[row] = (completion[:at], completion[at + len(gold) :], number)
                break
    seams = Counter((head[-6:], tail[:6], number) for head, tail, number in split.values())
    if not seams or seams.most_common(1)[0][1] < 2:
        return None
    seam = seams.most_common(1)[0][0]
    alike = {
        row: (head, tail)
        for row, (head, tail, number) in split.items()
        if (head[-6:], tail[:6], number) == seam
    }
    heads = {row: head for row, (head, _) in alike.items()}
    first = _common_start([*heads.values()])
    before = _common_start([head[::-1] for head in heads.values()])[::-1]
    after = Counter(tail for _, tail in alike.values()).most_common(1)[0][0]
    for row, completion in completions.items():
        at = completion.rfind(before) if len(before.strip()) > 1 else -1
        if row not in heads and at >= 0:
            heads[row] = completion[:at] + before
    shortest = min(map(len, heads.values()))
    # A row without a completion gets the beginning that all have, and reasoning of ours.
    opening = first if len(first) + len(before) <= shortest else ""
    template = before + ANSWER + after
    if shortest > len(before):
        template = opening + REASONING + template
    return AnswerFormat(template, heads, after, seam[2])


def _common_start(texts: list[str]) -> str:
    first, last = min(texts), max(texts)
    same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    return first if same is None else first[:same]
