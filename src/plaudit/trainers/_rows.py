"""The rows and the recipe of a trainer: responses, golds and fields as trainers pass them."""

import contextlib
import os
import threading
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from os import PathLike
from typing import Any

from plaudit.inputs.columns import GOLD, GROUP, PROMPT, kind_of
from plaudit.inputs.golds import Gold, gold_of
from plaudit.judge import warm_up
from plaudit.recipes import Recipe, RowScore, load, presets
from plaudit.runs.recording import recorded
from plaudit.scores.decorators import HOOKS
from plaudit.scores.score import NOT_APPLICABLE, REPORTED_STATUSES


def text_in(body: object, name: str) -> str:
    """Return the text that a body holds under a name."""
    value = entry_in(body, name)
    if not isinstance(value, str):
        raise TypeError(f'"{name}" must be text, got {_kind(value)}')
    return value


def texts_in(body: object, name: str) -> list[str]:
    """Return the list of texts that a body holds under a name."""
    value = list_in(body, name)
    for place, entry in enumerate(value):
        if not isinstance(entry, str):
            raise TypeError(f'"{name}" must be a list of texts, entry {place} is {_kind(entry)}')
    return value


def list_in(body: object, name: str, rows: int | None = None) -> list[Any]:
    """Return the list that a body holds under a name; as long as `rows`, if that is passed."""
    value = entry_in(body, name)
    if not isinstance(value, list):
        raise TypeError(f'"{name}" must be a list, got {_kind(value)}')
    if rows is not None and len(value) != rows:
        raise ValueError(f'"{name}" has {len(value)} entries for {rows} responses')
    return value


def table_in(body: object, name: str) -> Mapping[str, Any]:
    """Return the object that a body holds under a name."""
    value = entry_in(body, name)
    if not isinstance(value, Mapping):
        raise TypeError(f'"{name}" must be an object, got {_kind(value)}')
    return value


def entry_in(body: object, name: str) -> Any:
    """Return what a body holds under a name."""
    if not isinstance(body, Mapping):
        raise TypeError(f"the body must be a JSON object, got {_kind(body)}")
    if name not in body:
        has = ", ".join(f'"{key}"'[:40] for key in list(body)[:8]) or "nothing"
        raise ValueError(f'the body has no "{name}"; it has {has}')
    return body[name]


def _kind(value: object) -> str:
    """Return what JSON calls a value."""
    kinds = {str: "text", bool: "a boolean", int: "a number", float: "a number", list: "a list"}
    if value is None:
        return "null"
    return "an object" if isinstance(value, Mapping) else kinds.get(type(value), repr(type(value)))


VARIABLE, COLUMNS = "PLAUDIT_RECIPE", "PLAUDIT_COLUMNS"
AnyRecipe = Recipe | str | PathLike[str] | None


def chosen(recipe: AnyRecipe = None) -> Recipe:
    """The recipe that is given, or the one that the environment variable PLAUDIT_RECIPE names.

    Raises ValueError if there is neither: a default would be a training run with wrong rewards.
    The first call in a process starts the judge's workers in the background. What the recipe scores
    is recorded if PLAUDIT_RECORD names a folder.

    recipe: a Recipe, the name of a preset such as "trl-math", or the path of a TOML file, which a
        process reads only once; default: the recipe that PLAUDIT_RECIPE names. For a name or a
        path, PLAUDIT_COLUMNS says which columns its rewards read, such as "solution=answer", with
        commas between several

    >>> chosen("trl-math").name
    'trl-math'
    >>> os.environ["PLAUDIT_RECIPE"] = "trl-reasoning"
    >>> chosen().name
    'trl-reasoning'
    >>> del os.environ["PLAUDIT_RECIPE"]
    """
    if isinstance(recipe, Recipe):
        _warm_up_once(os.getpid())
        return recorded(recipe)
    name = recipe or os.environ.get(VARIABLE)
    if not name:
        raise ValueError(
            "no recipe is chosen: pass recipe=… where the trainer takes arguments for a reward, "
            f"or set the environment variable {VARIABLE} wherever rewards are computed; "
            f"to a TOML file, or to one of {', '.join(presets())}"
        )
    loaded = _loaded(os.fspath(name), os.environ.get(COLUMNS, ""))
    _warm_up_once(os.getpid())
    return recorded(loaded)


def warm_up_if_chosen() -> None:
    """Start the judge's workers in the background, if PLAUDIT_RECIPE names a recipe.

    Adapters call it when they are imported, long before the first step. It never raises: the first
    call of a reward says what is wrong.
    """
    if os.environ.get(VARIABLE):
        _warm_up_once(os.getpid())


@cache  # a process that was forked has workers of its own
def _warm_up_once(process: int) -> None:
    with contextlib.suppress(Exception):  # such as settings in the environment that are no numbers
        warm_up()


@cache
def _loaded(name: str, columns: str) -> Recipe:
    pairs = [pair.strip().partition("=") for pair in columns.split(",") if pair.strip()]
    if not all(argument and column for argument, _, column in pairs):
        raise ValueError(f"{COLUMNS} must be like solution=answer,problem=question, got {columns}")
    return load(name, columns={argument: column for argument, _, column in pairs})


@dataclass(frozen=True)
class Batch:
    """What a recipe scores: what the model wrote in each row, and the columns beside it."""

    completions: list[Any]
    columns: dict[str, list[Any]] = field(default_factory=dict)

    def scores(self, recipe: Recipe) -> list[RowScore]:
        """Return what each row got from a recipe."""
        return self.with_neutral(recipe, recipe(self.completions, **self.columns))

    async def scores_async(self, recipe: Recipe) -> list[RowScore]:
        """Return the same, for an event loop."""
        rows = await recipe.score_async(self.completions, **self.columns)
        return self.with_neutral(recipe, rows)

    def with_neutral(self, recipe: Recipe, rows: list[RowScore]) -> list[RowScore]:
        """Return the rows, those without a total with the value that moves no other row's."""
        skipped = any(row.total is None for row in rows)
        if not skipped and len(rows) > FEW:
            return rows  # its groups are whole: nothing of them is needed later
        keys = group_keys(self.columns, len(rows))
        means = _means.setdefault(recipe.name, GroupMeans())
        means.add(rows, keys)
        if not skipped:
            return rows
        batch = GroupMeans()
        batch.add(rows, keys)
        if isinstance(recipe.neutral, str):
            # The rows of its group in this batch, else in earlier ones, else those of all groups.
            values = [batch.of(key) or means.of(key) or means.fallback(key) for key in keys]
        else:
            values = [{recipe.components[0].name: recipe.neutral}] * len(rows)
        return [
            replace(row, neutral=value)
            if row.total is None and row.status not in OF_GROUPS
            else row
            for row, value in zip(rows, values, strict=True)
        ]


# A gold that cannot be read is that of the whole group, and so is a task to which no reward
# applies: no row of the group moves another.
OF_GROUPS = ("bad_gold", NOT_APPLICABLE)
FEW = 64  # rows: trainers that score a group row by row, or in parts
KEPT = 4096  # groups whose means are remembered


class GroupMeans:
    """The mean of each component in each group, by what was scored so far in this process."""

    def __init__(self) -> None:
        self._sums: OrderedDict[Hashable, dict[str, tuple[float, int]]] = OrderedDict()
        self._fallbacks: OrderedDict[Hashable, dict[str, float]] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, rows: Sequence[RowScore], keys: Sequence[Hashable]) -> None:
        """Add the rows that have a total."""
        with self._lock:
            for row, key in zip(rows, keys, strict=True):
                for one in (key, None) if row.total is not None else ():
                    sums = self._sums.setdefault(one, {})
                    self._sums.move_to_end(one)
                    for name, score in row.components.items():
                        total, count = sums.get(name, (0.0, 0))
                        if score.value is not None:
                            sums[name] = total + score.value, count + 1
            while len(self._sums) > KEPT:
                self._sums.popitem(last=False)

    def fallback(self, key: Hashable) -> dict[str, float]:
        """Return the means of all groups, the same for every row of a group that has none.

        Means that differ by little would become advantages that differ by much.
        """
        means = self.of(None)
        with self._lock:
            kept = self._fallbacks.setdefault(key, means)
            while len(self._fallbacks) > KEPT:
                self._fallbacks.popitem(last=False)
        return kept

    def of(self, key: Hashable) -> dict[str, float]:
        """Return the means of a group, by component; of all groups if the key is None."""
        with self._lock:
            sums = self._sums.get(key, {})
            return {name: total / count for name, (total, count) in sums.items() if count}


_means: dict[str, GroupMeans] = {}


def group_keys(columns: Mapping[str, Any], count: int) -> list[Hashable]:
    """Return what tells the group of each row: the trainer's id, else the prompt, else the gold."""
    for name in (*GROUP, *PROMPT, "index", "solution"):
        column = columns.get(name)
        if isinstance(column, list) and len(column) == count and column.count(None) < count:
            return [hash(repr(entry)) for entry in column]
    return [0] * count


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
    """Return where the special tokens at the end of the text begin."""
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
    """Return what the model wrote in each row: see `response_of`."""
    before = [None] * len(texts) if prompts is None else prompts
    pairs = zip(texts, before, strict=True)
    return [response_of(text, prompt, row) for row, (text, prompt) in enumerate(pairs)]


def columns_of(rows: Iterable[object]) -> dict[str, list[Any]]:
    """The columns that the fields of each row make; None for a field that a row does not have.

    Rows that are not dicts have no fields. Names that a recipe gives another meaning, such as
    `completions`, are left out.
    """
    tables = [row if isinstance(row, Mapping) else {} for row in rows]
    names = dict.fromkeys(name for table in tables for name in table if isinstance(name, str))
    taken = ("self", "completions", *HOOKS)
    return {name: [t.get(name) for t in tables] for name in names if name not in taken}


def golds_of(labels: Sequence[Any]) -> list[Gold]:
    """Return the gold of each label."""
    return [gold_of(label, row) for row, label in enumerate(labels)]


def gold_in(fields: Mapping[str, Any], row: int = 0) -> Gold:
    """The gold among the fields of a dataset's row: that of the first synonym that it has."""
    return gold_of(next((fields[name] for name in GOLD if fields.get(name) is not None), None), row)


def metrics_of(row: RowScore, taken: Iterable[str] = ()) -> dict[str, float]:
    """The metrics of a row: each component's value, how many skipped the row, and its status.

    Most trainers take only numbers. So a component that skipped the row is 0.0, which is what it
    adds to the total; and the status is six numbers, of which one is 1.0, or none if the row was
    scored. A component that does not apply to the row is not counted as one that skipped it.
    Raises ValueError for a component that has the name of another metric.

    taken: names that the trainer gives a meaning of its own, which no component may have
    """
    statuses = {f"status_{status}": float(status == row.status) for status in REPORTED_STATUSES}
    for name in ("skipped", *statuses, *taken):
        if name in row.components:
            raise ValueError(
                f'a component is called "{name}", which means something else to the trainer: '
                "give it another name in the recipe"
            )
    values = {name: score.value for name, score in row.components.items()}
    scores = row.components.values()
    skipped = sum(score.value is None and score.status != NOT_APPLICABLE for score in scores)
    numbers = {name: value or 0.0 for name, value in values.items()}
    return {**numbers, "skipped": float(skipped), **statuses}


def total_of(row: RowScore) -> float:
    """The total, for a trainer that takes only numbers: the neutral value of a skipped row."""
    return sum(row.weighted.values()) if row.total is None else row.total
