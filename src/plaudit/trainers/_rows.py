"""Responses, golds and fields as trainers pass them in; the columns of a batch out.

A response may end with special tokens, may begin with its prompt, or both:

    "<|im_start|>user\\nWhat is 2 + 2?<|im_end|>\\n<|im_start|>assistant\\n4<|im_end|>\\n"  -> "4"

Golds are read by `plaudit.golds.gold_of`, for the trainers as for the rewards.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from plaudit.column_names import GOLD
from plaudit.columns import kind_of
from plaudit.declarations import HOOKS
from plaudit.golds import Gold, gold_of
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


# Special tokens at the end of a response: those that end a turn or a text, and padding.
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


def response_of(text: str, prompt: object = None, row: int = 0) -> str:
    """What the model wrote: without the prompt in front, and without special tokens at the end.

    A prompt is cut off if the text starts with it. Whitespace may differ, since encoding and
    decoding change it; a token that starts every text, such as <s>, may precede it; and a prompt
    that was too long may have lost its beginning, as long as half of it is left. Otherwise nothing
    is cut off. A prompt that is not text, such as a list of messages, is ignored.

    At the end, special tokens are removed, with the whitespace between and after them. Text in the
    middle never changes, and without special tokens nothing does.

    text: what the trainer decoded, such as "It is 4.<|im_end|>"
    prompt: the text that may precede the response. Default: none does
    row: the index of the response in its batch, named in errors

    >>> response_of("It is 4.<|im_end|>\\n<|endoftext|><|endoftext|>")
    'It is 4.'
    >>> response_of("<s> What is 2 + 2?\\nIt is 4.</s>", prompt="What is 2 + 2?")
    '\\nIt is 4.'
    >>> response_of(None, row=3)
    Traceback (most recent call last):
    ...
    TypeError: response 3 must be text, got NoneType: None
    """
    if not isinstance(text, str):
        raise TypeError(f"response {row} must be text, got {kind_of(text)}")
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


def responses_of(texts: Sequence[Any], prompts: Sequence[object] | None = None) -> list[str]:
    """What the model wrote in each row: see `response_of`.

    >>> responses_of(["4</s>", "5"])
    ['4', '5']
    """
    before = [None] * len(texts) if prompts is None else prompts
    pairs = zip(texts, before, strict=True)
    return [response_of(text, prompt, row) for row, (text, prompt) in enumerate(pairs)]


def columns_of(rows: Iterable[object]) -> dict[str, list[Any]]:
    """The columns that the fields of each row make; None for a field that a row does not have.

    Rows that are not dicts have no fields. Names that a recipe gives another meaning, such as
    `completions`, are left out.

    >>> columns_of([{"problem": "2 + 2"}, {"level": 3}, None])
    {'problem': ['2 + 2', None, None], 'level': [None, 3, None]}
    """
    tables = [row if isinstance(row, Mapping) else {} for row in rows]
    names = dict.fromkeys(name for table in tables for name in table if isinstance(name, str))
    taken = ("self", "completions", *HOOKS)
    return {name: [t.get(name) for t in tables] for name in names if name not in taken}


def golds_of(labels: Sequence[Any]) -> list[Gold]:
    """The gold of each label.

    >>> golds_of(["4", {"ground_truth": 4}, None])
    ['4', 4, None]
    """
    return [gold_of(label, row) for row, label in enumerate(labels)]


def gold_in(fields: Mapping[str, Any], row: int = 0) -> Gold:
    """The gold among the fields of a dataset's row: that of the first synonym that it has.

    >>> gold_in({"question": "2 + 2?", "answer": "4"}), gold_in({"question": "2 + 2?"})
    ('4', None)
    """
    return gold_of(next((fields[name] for name in GOLD if fields.get(name) is not None), None), row)


def metrics_of(row: RowScore, taken: Iterable[str] = ()) -> dict[str, float]:
    """The metrics of a row: each component's value, how many skipped the row, and its status.

    Most trainers take only numbers. So a component that skipped the row is 0.0, which is what it
    adds to the total; and the status is five numbers, of which one is 1.0, or none if the row was
    scored. Raises ValueError for a component that has the name of another metric.

    taken: names that the trainer gives a meaning of its own, which no component may have

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
    """The total, for a trainer that takes only numbers: 0.0 if every component skipped the row.

    >>> total_of(RowScore(None, {}))
    0.0
    """
    return row.total or 0.0
