"""What a trainer hands over -> a batch for a recipe; the one place that knows how trainers differ.

A response ends with the tokens that ended it, stands behind its prompt, or both:

    "<|im_start|>user\\nWhat is 2 + 2?<|im_end|>\\n<|im_start|>assistant\\n4<|im_end|>\\n"  -> "4"

A gold is text, a number, a list, a dict around one of these, that dict as JSON, or missing:

    {"ground_truth": "4", "style": "rule"}  -> "4"
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import islice
from math import isnan
from typing import Any

from plaudit.declarations import HOOKS
from plaudit.recipes import Recipe, RowScore
from plaudit.scores import TOLD


@dataclass(frozen=True)
class Batch:
    """What a recipe scores: what the model wrote in each row, and the columns beside it.

    >>> from plaudit.recipes import load
    >>> batch = Batch([r"\\boxed{4}", r"\\boxed{5}"], {"solution": ["4", "4"]})
    >>> [row.total for row in batch.scores(load("trl-math"))]
    [1.0, 0.0]
    """

    completions: list[Any]
    columns: dict[str, list[Any]] = field(default_factory=dict)

    def scores(self, recipe: Recipe) -> list[RowScore]:
        """What each row got from a recipe."""
        return recipe(self.completions, **self.columns)

    async def scores_async(self, recipe: Recipe) -> list[RowScore]:
        """The same, for an event loop."""
        return await recipe.score_async(self.completions, **self.columns)


# What may end a response: the ends of a turn or a text, and what fills up a batch behind them.
ENDS = (
    "<|im_end|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|finetune_right_pad_id|>",
    "<|eot|>",
    "</s>",
    "<eos>",
    "<end_of_turn>",
    "<|end|>",
    "<|return|>",
    "<｜end▁of▁sentence｜>",
    "<|end▁of▁sentence|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|user|>",  # GLM stops at the next turn's first token
    "<|observation|>",
    "<pad>",
    "<|pad|>",
    "[PAD]",
)
STARTS = ("<s>", "<bos>", "<|begin_of_text|>", "<｜begin▁of▁sentence｜>", "<|startoftext|>")


def response_of(text: str, prompt: object = None) -> str:
    """What the model wrote: without the prompt in front, and without special tokens at the end.

    A prompt is cut off where the text starts with it. Whitespace may differ, since decoding what
    was encoded changes it; the text may begin with a token that starts every text; and a prompt
    that was too long may have lost its beginning, if half of it is there. Where none of that is
    so, nothing is cut. What is not text is not a prompt to look for.

    Of what stands at the end, special tokens go, and whitespace between and behind them; text in
    the middle never changes, and without special tokens nothing does.

    >>> response_of("It is 4.<|im_end|>\\n<|endoftext|><|endoftext|>")
    'It is 4.'
    >>> response_of("<s> What is 2 + 2?\\nIt is 4.</s>", prompt="What is 2 + 2?")
    '\\nIt is 4.'
    """
    start = _prompt_end(text, prompt) if isinstance(prompt, str) else 0
    return text[start : _tokens_start(text, start)]


def _tokens_start(text: str, start: int) -> int:
    """Where the special tokens at the end of the text begin."""
    end = len(text)
    while True:
        last = end
        while last > start and text[last - 1].isspace():
            last -= 1
        token = next((t for t in ENDS if text.endswith(t, start, last)), None)
        if token is None:
            return end
        end = last - len(token)


def _prompt_end(text: str, prompt: str) -> int:
    if text.startswith(prompt):
        return len(prompt)
    wanted = "".join(prompt.split())
    written = (place for place, character in enumerate(text) if not character.isspace())
    places = list(islice(written, len(wanted) + max(map(len, STARTS))))
    given = "".join(text[place] for place in places)
    first = next((len(s) for s in STARTS if given.startswith(s) and not wanted.startswith(s)), 0)
    given, places = given[first:], places[first:]
    known = len(wanted) if given.startswith(wanted) else _overlap(wanted, given[: len(wanted)])
    if known == 0 or 2 * known < len(wanted):
        return 0
    return places[known - 1] + 1


def _overlap(ending: str, beginning: str) -> int:
    """The length of the longest end of the one text with which the other begins; in linear time."""
    fallback = [0] * len(beginning)  # of Knuth, Morris and Pratt
    known = 0
    for place in range(1, len(beginning)):
        while known and beginning[place] != beginning[known]:
            known = fallback[known - 1]
        known += beginning[place] == beginning[known]
        fallback[place] = known
    known = 0
    for character in ending:
        while known and (known == len(beginning) or character != beginning[known]):
            known = fallback[known - 1]
        known += known < len(beginning) and character == beginning[known]
    return known


# What a dict calls the gold that it holds; the first that is not None counts.
# Not "label", which is what a detected box is called.
GOLD_KEYS = ("ground_truth", "solution", "answer", "expected_answer", "target", "gold")
_DEEPEST = 8


def gold_of(label: Any, row: int = 0) -> str | float | None:
    """The gold that a trainer's label holds, as text or a number; None where there is none.

    - None, not a number, and text without a character other than whitespace: no gold.
    - Text stays as it is, and so do numbers; those of numpy become Python's.
    - A dict that has one of GOLD_KEYS holds the gold there; another is the gold itself, as JSON.
      Text that is the JSON of a dict with such a key is read as well.
    - A list of one text, number or dict with a gold is that one; an empty list is no gold. Any
      other is the gold itself, as JSON: a box, or several. Several texts are an error, since they
      may be alternatives or one answer in parts, and plaudit does not guess.

    >>> gold_of({"ground_truth": ["4"]}), gold_of('{"target": 4}'), gold_of(float("nan"))
    ('4', 4, None)
    >>> gold_of([10, 20, 30.5, 40])
    '[10, 20, 30.5, 40]'
    >>> gold_of(["1", "2"], row=3)
    Traceback (most recent call last):
    ...
    ValueError: label 3 is a list of 2 texts: write the gold as one text, or as several rows
    """
    value = label
    for _ in range(_DEEPEST):
        inner = _unwrapped(value)
        if inner is value:
            return _plain_gold(value, row)
        value = inner
    raise ValueError(f"label {row} holds its gold more than {_DEEPEST} levels deep")


def _unwrapped(value: Any) -> Any:
    """What is one layer further in, or the value itself."""
    if isinstance(value, str):
        return _read_json(value)
    if isinstance(value, Mapping):
        held = [value[key] for key in GOLD_KEYS if key in value]
        return next((one for one in held if one is not None), None) if held else value
    if hasattr(value, "tolist"):  # numpy's scalars and arrays, and tensors
        return value.tolist()
    if isinstance(value, list | tuple) and len(value) <= 1:
        return _only(value)
    return value


def _only(value: Sequence[Any]) -> Any:
    """What a list of one holds; a list of one box, or of one list, is itself the gold."""
    if not value:
        return None
    is_gold = isinstance(value[0], list | tuple) or (
        isinstance(value[0], Mapping) and not any(key in value[0] for key in GOLD_KEYS)
    )
    return value if is_gold else value[0]


def _read_json(text: str) -> Any:
    """The dict that a text is the JSON of, where that holds a gold; else the text."""
    if text.lstrip()[:1] != "{" or not any(f'"{key}"' in text for key in GOLD_KEYS):
        return text
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return read if any(key in read for key in GOLD_KEYS) else text


def _plain_gold(value: Any, row: int) -> str | float | None:
    if value is None or (isinstance(value, float) and isnan(value)):
        return None
    if isinstance(value, bool | Decimal | Fraction):
        return str(value)
    if isinstance(value, str):
        return str(value) if value.strip() else None
    if isinstance(value, int | float):
        return value
    if isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value):
        raise ValueError(
            f"label {row} is a list of {len(value)} texts: "
            "write the gold as one text, or as several rows"
        )
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(
            f"label {row} must be text, a number, a list, a dict or None, "
            f"got {type(value).__name__}: {value!r:.80}"
        ) from error


def _plain(value: Any) -> Any:
    """What JSON has a form for, of what it does not know."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def columns_of(rows: Iterable[object]) -> dict[str, list[Any]]:
    """The columns of what stands beside each row; None where a row has no such entry.

    What is not a dict has no columns. Names that mean something else to a recipe are left out.

    >>> columns_of([{"problem": "2 + 2"}, {"level": 3}, None])
    {'problem': ['2 + 2', None, None], 'level': [None, 3, None]}
    """
    tables = [row if isinstance(row, Mapping) else {} for row in rows]
    names = dict.fromkeys(name for table in tables for name in table if isinstance(name, str))
    taken = ("self", "completions", *HOOKS)
    return {name: [t.get(name) for t in tables] for name in names if name not in taken}


def golds_of(labels: Sequence[Any]) -> list[str | float | None]:
    """The gold of each label.

    >>> golds_of(["4", {"ground_truth": 4}, None])
    ['4', 4, None]
    """
    return [gold_of(label, row) for row, label in enumerate(labels)]


def gold_in(fields: Mapping[str, Any], row: int = 0) -> str | float | None:
    """The gold among the fields of a dataset's row: under the first of GOLD_KEYS that there is.

    >>> gold_in({"question": "2 + 2?", "answer": "4"}), gold_in({"question": "2 + 2?"})
    ('4', None)
    """
    return gold_of({key: fields[key] for key in GOLD_KEYS if key in fields} or None, row)


def metrics_of(row: RowScore, taken: Iterable[str] = ()) -> dict[str, float]:
    """Each component's value by its name, how many of them skipped the row, and what went wrong.

    Most trainers take nothing but numbers, so a component that skipped the row is 0.0 here: what
    it adds to the total. For the same reason the status is five numbers: 1.0 is the row's, and
    all are 0.0 where it was scored. `taken` are names that the trainer gives a meaning of its own.

    >>> from plaudit.recipes import load
    >>> metrics_of(load("trl-reasoning")(["<think>…</think> 4"], solution=[None])[0])
    {'reasoning_accuracy_reward': 0.0, 'think_format_reward': 1.0, 'skipped': 1.0, \
'status_error': 0.0, 'status_timeout': 0.0, 'status_limit': 0.0, 'status_bad_gold': 1.0, \
'status_no_answer': 0.0}
    """
    statuses = {f"status_{status}": float(status == row.status) for status in TOLD}
    for name in ("skipped", *statuses, *taken):
        if name in row.components:
            raise ValueError(
                f'a component is called "{name}", which means something else to the trainer: '
                "give it another name in the recipe"
            )
    values = {name: score.value for name, score in row.components.items()}
    skipped = sum(value is None for value in values.values())
    numbers = {name: value or 0.0 for name, value in values.items()}
    return {**numbers, "skipped": float(skipped), **statuses}


def total_of(row: RowScore) -> float:
    """The total, for a trainer that takes nothing but numbers: 0.0 where every component skipped.

    >>> total_of(RowScore(None, {}))
    0.0
    """
    return row.total or 0.0
