r"""A gold in, and out come the answers that an honest model would write, in the usual formats.

    "4"  ->  "\boxed{4}", "<answer>4</answer>", "$4$", "4", …

Which of the formats a reward wants is found by trying them on some rows: see `_calibrate`.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from plaudit import boxes, extract
from plaudit.answers import final_answer
from plaudit.trainers import gold_of

ALTERNATIVES = 8  # of a gold that has several, how many are tried
ANSWER = "{answer}"

_THINKING = "<think>I know the answer.</think>\n"
_TEMPLATES = (
    r"\boxed{{answer}}",
    "<answer>{answer}</answer>",
    "${answer}$",
    "{answer}",
    r"<answer>\boxed{{answer}}</answer>",
    "<answer>${answer}$</answer>",
    "<answer>```json\n{answer}\n```</answer>",
    "```json\n{answer}\n```",
    "#### {answer}",
    "The answer is {answer}.",
)
_FENCE = re.compile(r"^```(?:json)?\s*(.*?)\s*```$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Format:
    r"""How an answer is written.

    >>> Format(r"So it is \boxed{{answer}}.").text("4")
    'So it is \\boxed{4}.'
    """

    template: str

    def text(self, gold: str) -> str:
        """A completion with this answer."""
        return self.template.replace(ANSWER, gold)

    @property
    def name(self) -> str:
        """The format for a person.

        >>> Format("<answer>{answer}</answer>").name
        '<answer>…</answer>'
        """
        template = self.template.replace(_THINKING, "<think>…</think> ").replace(ANSWER, "…")
        return " ".join(template.split())


FORMATS = tuple(Format(start + template) for start in ("", _THINKING) for template in _TEMPLATES)


def format_of(template: str) -> Format:
    """The format that a user gives.

    >>> format_of("It is 4.")
    Traceback (most recent call last):
    ...
    ValueError: a template must contain {answer}, in place of the answer, got 'It is 4.'
    """
    if ANSWER not in template:
        wanted = f"a template must contain {ANSWER}, in place of the answer"
        raise ValueError(f"{wanted}, got {template!r:.80}")
    return Format(template)


def written_answers(gold: Any, separator: str | None = None) -> list[str]:
    r"""The answers that are right by a gold, without what it is dressed in.

    separator: the text between the alternatives of a gold that is one text

    >>> written_answers("<answer>$4$</answer>"), written_answers(["UK", "Britain"])
    (['4'], ['UK', 'Britain'])
    >>> written_answers(r"So it is \boxed{4}."), written_answers([10, 10, 20, 20])
    (['4'], ['[10, 10, 20, 20]'])
    """
    if isinstance(gold, list | tuple) and not boxes_in(gold):
        return [text for one in gold[:ALTERNATIVES] for text in written_answers(one, separator)]
    if isinstance(gold, list | tuple):
        return [json.dumps(gold)]
    text = text_of_gold(gold)
    if separator:
        return [_bare(part) for part in text.split(separator)[:ALTERNATIVES] if part.strip()]
    return [_bare(text)]


def text_of_gold(gold: Any) -> str:
    """A gold as text; what a dict around it holds, where a key says so.

    >>> text_of_gold({"ground_truth": "4", "style": "rule"}), text_of_gold(4.0)
    ('4', '4')
    """
    if isinstance(gold, str) and not gold.lstrip().startswith("{"):
        return gold
    try:
        read = gold_of(gold)
    except (TypeError, ValueError):
        read = gold
    if isinstance(read, Mapping | list):
        return json.dumps(read, default=repr)
    return str(int(read) if isinstance(read, float) and read.is_integer() else read)


def _bare(text: str) -> str:
    """The text inside the tag, the box, the fence or the dollars that enclose all of it."""
    tagged = extract.first_tag(text, "answer")
    text = text if tagged is None else tagged
    if "\\boxed" in text or "####" in text:
        text = final_answer(text).text or text
    if fenced := _FENCE.match(text.strip()):
        text = fenced[1]
    inside = text.strip()
    if len(inside) > 2 and inside[0] == inside[-1] == "$" and "$" not in inside[1:-1]:
        inside = inside[1:-1].strip()
    return inside


def boxes_in(gold: Any) -> list[boxes.Corners]:
    """The boxes of a gold that is nothing but boxes: corners, or a list of labelled ones.

    >>> boxes_in("<answer>[1, 2, 3, 4]</answer>"), boxes_in([{"bbox_2d": [1, 2, 3, 4]}])
    ([(1.0, 2.0, 3.0, 4.0)], [(1.0, 2.0, 3.0, 4.0)])
    >>> boxes_in("4"), boxes_in([1, 2])
    ([], [])
    """
    if isinstance(gold, str):
        gold = extract.json_items(_bare(gold)) if "[" in gold else None
    if isinstance(gold, Mapping):
        gold = [gold]
    if not isinstance(gold, list | tuple) or not gold:
        return []
    alone = boxes.corners_of(list(gold))
    found = [alone] if alone else [boxes.box_of(item).corners for item in gold]
    return [corners for corners in found if corners is not None]
