"""Columns, as trainers and tables name and hold them -> a sequence with one entry per row.

What datasets and trainers call their columns is one table of synonyms, for every command. A column
that has the very name that a reward asks for, such as `solution`, is always the one that is read.
If there is none, the first synonym that the table has is, in the order below.

Columns may be lists, arrays, tensors or Series. What is of another shape is a TypeError that names
the row and shows what came.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from math import isnan
from numbers import Real
from operator import index
from typing import Any

COMPLETION = (
    *("completion", "completions", "response", "generation", "output", "prediction", "text"),
    *("responses", "generations", "outputs", "predictions", "generated_text", "model_output"),
    *("model_response", "messages"),
)
PROMPT = (
    *("prompt", "prompts", "problem", "question", "query", "instruction", "input"),
    *("problems", "questions"),
)
# Names that say what they hold come before `answer`, which may be what a model answered.
GOLD_KEYS = (
    *("ground_truth", "solution", "gold", "expected_answer", "gold_answer", "correct_answer"),
    *("target_answer", "reference_answer", "final_answer", "answer", "target"),
)
# Keys of a dict that holds a gold are GOLD_KEYS alone: the label of a box is no gold.
GOLD = (
    *GOLD_KEYS,
    *("reference", "ref", "golden_answer", "expected", "expected_output"),
    *("answer_key", "reward_model", "reward_spec", "label"),
    *("golds", "answers", "targets", "references", "solutions", "labels"),
)
CHOICES = ("choices", "options")
TESTS = (
    *("tests", "test_cases", "input_output", "verification_info", "unittest", "test_list", "test"),
    *("test_code", "public_test_cases", "reward_model", "ground_truth"),
)
# A program that passes the tests of its row.
PROGRAM = ("reference_solution", "canonical_solution", "reference_program", "solution", "code")
IMAGE = ("image_path", "image", "images", "image_paths", "image_file")
GROUP = ("uid", "prompt_id", "group_index")  # of verl, ms-swift and slime: what they drew together
STEP = ("step", "global_step", "global_steps", "training_step", "rollout_id")
TOKENS = (
    *("completion_ids", "token_ids", "response_ids", "output_ids", "output_token_ids", "tokens"),
)

# The argument of a reward -> what tables call its column.
SYNONYMS = {
    "completions": COMPLETION,
    "solution": GOLD,
    "prompts": PROMPT,
    "problem": PROMPT,
    "choices": CHOICES,
    "tests": TESTS,
    "completion_ids": TOKENS,
    "image_path": (*IMAGE, "file_name"),
    "image_grid_thw": ("grid_thw", "image_grid", "grid"),
    "accu_reward_method": ("reward_method", "method"),
}


def first_of(names: Iterable[str], available: Collection[str]) -> str | None:
    """The first of these names that a table has, as the table spells it; None if it has none.

    Case and what separates words do not matter: "Ground Truth" is ground_truth.
    """
    spelt = {_bare(name): name for name in reversed(list(available))} | {n: n for n in available}
    return next((spelt[key] for name in names for key in (name, _bare(name)) if key in spelt), None)


def _bare(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


_MISSING = ("NAType", "NaTType")  # what pandas writes where there is nothing
# What numpy, pandas, polars and torch, and Arrow, call short floats, and `struct`.
_NARROW_FLOATS = {"float32": "f", "float": "f", "float16": "e", "halffloat": "e"}
_PLAIN = frozenset((str, int, bool, list, tuple, dict, type(None)))


def rows_of(column: Any, name: str) -> Sequence[Any]:
    """Return a column as a sequence with one entry per row, whatever kind of array it is."""
    _length(column, name)
    rows = plain(column)
    return rows if isinstance(rows, Sequence) else list(rows)


def _length(column: Any, name: str) -> int:
    # A set has no order, and a dict has none that means rows.
    if not isinstance(column, str | bytes | bytearray | Mapping | Set) and not _is_table(column):
        try:
            return len(column)
        except TypeError:  # arrays of no dimension have a length that cannot be asked for
            pass
    raise TypeError(
        f"{name} must be a list with one entry per completion, got {type(column).__name__}"
        f"{_instead(column)}"
    )


def _is_table(value: Any) -> bool:
    """Whether it is a DataFrame, an Arrow table or a Dataset: many columns where one is meant."""
    return any(hasattr(value, name) for name in ("columns", "column_names"))


def _instead(column: Any) -> str:
    if _is_table(column):
        return ": pass one of its columns, or the whole table to plaudit.score(table, recipe)"
    return ": pass list(…) of it" if isinstance(column, Iterator) else ""


def same_length(completions: Any, **columns: Any) -> None:
    """Raise if a column is not as long as `completions`."""
    wanted = _length(completions, "completions")
    for name, column in columns.items():
        rows = _length(column, name)
        if rows != wanted:
            raise ValueError(
                f"{name} has {rows} entries, completions has {wanted}: they must be equally long"
            )


@contextmanager
def naming_row(row: int, file: str = "") -> Iterator[None]:
    """Name the row, and the file where it names one, in an error about what it holds."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        place = f"row {row} ({file})" if file else f"row {row}"
        raise kind(f"{place}: {error}") from error


def ids_of(completion_ids: Any) -> list[Sequence[int]]:
    """Return the token ids of each completion, from lists, arrays or tensors."""
    return [
        whole_numbers(ids, f"completion_ids {row}", "a list of token ids")
        for row, ids in enumerate(rows_of(completion_ids, "completion_ids"))
    ]


def whole_numbers(entry: Any, label: str, wanted: str) -> Sequence[int]:
    """Return whole numbers, as an array if they fit into one; errors name `label`."""
    held = plain(entry)
    if isinstance(held, str | bytes | bytearray):
        raise TypeError(
            f"{label} must be {wanted}, got text: {shortened(entry)}; "
            "where a file holds it as text, read it with json.loads"
        )
    if not isinstance(held, Sequence):
        raise TypeError(f"{label} must be {wanted}, got {kind_of(entry)}")
    try:
        return array("q", held)  # in C, since a batch has a million of them
    except (TypeError, OverflowError):
        return [_whole(number, label, wanted) for number in held]


def _whole(number: Any, label: str, wanted: str) -> int:
    try:
        is_whole = isinstance(number, float) and number.is_integer()
        return int(number) if is_whole else index(number)
    except TypeError as error:
        raise TypeError(f"{label} must be {wanted}, and has {kind_of(number)} in it") from error


def number_of(value: Any, label: str) -> float:
    """Return a number; `label` is what to call it in errors."""
    if type(value) is float and not isnan(value):
        return value
    number = plain(value)
    if not isinstance(number, Real) or isnan(number):
        raise TypeError(f"{label} must be a number, got {kind_of(value)}")
    return float(number)


def plain(value: Any) -> Any:
    """Return an array, a tensor, a Series or an Arrow column as Python values."""
    if type(value) in _PLAIN:  # most of them: asking for the others' methods takes longer
        return value
    for name in ("tolist", "to_pylist", "to_list"):  # of numpy, pandas and torch; Arrow; polars
        if hasattr(value, name):
            return python_values(value, name)
    return None if is_missing(value) else value


def is_missing(value: object) -> bool:
    """Return whether a value is the NA or NaT of pandas, which stand for a missing value."""
    return type(value).__name__ in _MISSING


def python_values(value: Any, method: str = "tolist") -> Any:
    """What an array, a tensor, a Series or a scalar of numpy holds, as Python's lists and numbers.

    A float of 32 or 16 bits becomes the number that was meant when it was written, 0.1, and not
    what its bits are worth as a float of 64 bits, 0.10000000149011612.

    method: what gives the values: `tolist` for numpy, pandas and torch, `to_pylist` for Arrow
    """
    held = getattr(value, method)()
    kind = getattr(value, "dtype" if hasattr(value, "dtype") else "type", "")  # `type` is Arrow's
    code = _NARROW_FLOATS.get(str(kind).rpartition(".")[2].lower())
    return held if code is None else _shortest(held, code)


def _shortest(held: Any, code: str) -> Any:
    """Each float as the shortest decimal that has the same bits in the format of this code."""
    if isinstance(held, list):
        return [_shortest(inner, code) for inner in held]
    if not isinstance(held, float):
        return held
    from struct import pack  # few columns need it

    for digits in range(1, 10):
        short = float(f"{held:.{digits}g}")
        with suppress(OverflowError):  # rounded up beyond the largest
            if pack(code, short) == pack(code, held):
                return short
    return held


def kind_of(value: object) -> str:
    """Return what an error says of a value: its type, and the value itself."""
    return f"{type(value).__name__}: {shortened(value)}"


def shortened(value: object) -> str:
    """Return a value as an error shows it."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


TRUNCATION = ("truncated", "is_truncated", "finish_reason", "stop_reason")
CUT_OFF = ("length", "max_tokens", "max_output_tokens", "model_length", "model_context_window")


def truncated_rows(columns: Mapping[str, Any], count: int) -> list[int]:
    """Return the indices of the completions that were cut off, by what a trainer passes."""
    for name in TRUNCATION:
        rows = _listed_rows(columns.get(name), count)
        if any(_is_said(entry) for entry in rows):
            return [row for row, entry in enumerate(rows) if entry is True or entry in CUT_OFF]
    trainer = getattr(columns.get("log_metric"), "__self__", None)
    most = getattr(trainer, "max_completion_length", None)
    ids = _listed_rows(columns.get("completion_ids"), count)
    if not isinstance(most, int) or not ids:
        return []
    ends = _ends(trainer)
    return [row for row, one in enumerate(ids) if len(one) >= most and int(one[-1]) not in ends]


def _listed_rows(column: Any, count: int) -> Sequence[Any]:
    try:
        rows = rows_of(column, "a column")
    except TypeError:
        return ()
    return rows if len(rows) == count else ()


def _is_said(entry: object) -> bool:
    """Return whether an entry says anything; a column may have a name of these by chance."""
    return isinstance(entry, bool) or entry in (*CUT_OFF, "stop", "eos", "end_turn", "tool_calls")


def _ends(trainer: Any) -> set[int]:
    """Return the tokens that end a text: a completion of just the maximum may end with one."""
    tokenizer = getattr(trainer, "_tokenizer", None) or getattr(trainer, "processing_class", None)
    known = getattr(trainer, "eos_token_ids", None) or [getattr(tokenizer, "eos_token_id", None)]
    ends = [*known, getattr(tokenizer, "pad_token_id", None)]
    return {end for end in ends if isinstance(end, int)}
