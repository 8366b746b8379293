r"""Golds as datasets and trainers write them -> text, a number or alternatives.

    {"ground_truth": ["4"], "style": "rule"}  -> "4"
    [10, 20, 30.5, 40]                        -> "[10, 20, 30.5, 40]": a box
    ["UK", "Britain"]                         -> ["UK", "Britain"]: each is right

And which golds math-verify reads in part. LaTeX has to stand in an environment, `$2\sqrt{2}$`.
Without one, math-verify takes the first or the last number in it for the gold: `2\sqrt{2}` is read
as 2, so that `\boxed{2}` is right. TRL does the same, so the rewards keep to it; but they say so,
in a warning and in each score.
"""

import re
import warnings
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from math import isnan
from numbers import Integral, Rational
from typing import Any

from plaudit.inputs.columns import GOLD_KEYS, is_missing, python_values

Gold = str | float | list[str] | None

_DEEPEST = 8

# What has more characters is not an expression but a worked solution.
_LONGEST = 1000
_ANCHOR = re.compile(r"(?<!\\)(?:\$|\\\(|\\\[|\\boxed\b)")
_LATEX = re.compile(r"\\[A-Za-z]|[\^_{]")
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{2,}")
_WORDS = re.compile(_WORD.pattern + r"\s+[A-Za-z]{2}")
_TAG = re.compile(r"</?\w{1,20}>")
_TAGGED = re.compile(r"(<answer>)(.*?)(</answer>)", re.DOTALL)
# What may stand around an expression that was read whole: a unit, degrees, spacing.
_DRESS = re.compile(
    r"\\(?:text|textrm|textbf|mathrm|mbox)\s?\{[^{}]*\}(?:\^\{?\d\}?)?"
    r"|\^?\{?\\(?:circ|degree)\b\}?|\\[%$,;:! ]|\\(?:quad|qquad|left|right|displaystyle)\b|[\s%$]"
)
_NAME = re.compile(r"^[A-Za-z]\w*(?:_\{\w+\})?(?:\([A-Za-z]\))?=")  # of what it is: x=, f(x)=
_NO_MATHEMATICS = re.compile(r"[^\w+*/=<>:|!≠≤≥±√π∞-]|_")
_warned: set[str] = set()


# --- what holds a gold ----------------------------------------------------------------------------


def gold_of(label: Any, row: int = 0) -> Gold:
    """The gold that a label holds, as text, a number or alternatives; None if there is none.

    - None, not a number, and text without a character other than whitespace: no gold.
    - Text stays as it is, and so do numbers; those of numpy become Python's.
    - A dict that has one of GOLD_KEYS holds the gold there; another is the gold itself, as JSON.
      Text that is the JSON of a dict with such a key is read as well.
    - A list of one text, number or dict with a gold is that one; an empty list is no gold. Several
      texts are alternatives, and stay a list: the rewards of `answers` take them, others refuse
      them. Any other list is the gold itself, as JSON: a box, or several.

    >>> gold_of({"ground_truth": ["4"]}), gold_of('{"target": 4}'), gold_of(float("nan"))
    ('4', 4, None)
    >>> gold_of([10, 20, 30.5, 40]), gold_of(("UK", "Britain"))
    ('[10, 20, 30.5, 40]', ['UK', 'Britain'])
    >>> gold_of(b"4", row=3)
    Traceback (most recent call last):
    ...
    TypeError: label 3 must be text, a number, a list, a dict or None, got bytes: b'4'
    """
    return read_gold(label, f"label {row}")


def read_gold(value: Any, label: str) -> Gold:
    """Return the same as `gold_of`; `label` is what to call it in errors."""
    for _ in range(_DEEPEST):
        inner = _unwrapped(value)
        if inner is value:
            return _plain_gold(value, label)
        value = inner
    raise ValueError(f"{label} holds its gold more than {_DEEPEST} levels deep")


def holds_gold(value: Any) -> bool:
    """Whether a list or a dict can be read without a guess: one gold, alternatives or boxes."""
    if isinstance(value, Mapping):
        known = any(key in value for key in GOLD_KEYS)
        return known or any(isinstance(inner, list | tuple) for inner in value.values())
    if not isinstance(value, list | tuple):
        return isinstance(value, Decimal | Rational)
    kinds: tuple[Any, ...] = (str, (int, float), (Mapping, list, tuple))
    inner = [one for one in value if isinstance(one, kinds[2])]
    return all(map(holds_gold, inner)) and (
        len(value) <= 1 or any(all(isinstance(one, kind) for one in value) for kind in kinds)
    )


def as_option(gold: Any, choices: Any) -> Any:
    """The letter of the option that a gold counts from 0, as in MMLU; any other gold as it is.

    gold: only a whole number counts options; text, such as "2", never does
    choices: the options of the row; None if it has none
    """
    is_index = isinstance(gold, Integral) and not isinstance(gold, bool)
    if not is_index or isinstance(choices, str) or not hasattr(choices, "__len__"):
        return gold
    return chr(ord("A") + int(gold)) if 0 <= gold < min(len(choices), 26) else gold


def _unwrapped(value: Any) -> Any:
    """Return what is one layer further in, or the value itself."""
    if isinstance(value, str):
        return _read_json(value)
    if isinstance(value, Mapping):
        held = [value[key] for key in GOLD_KEYS if key in value]
        return next((one for one in held if one is not None), None) if held else value
    if hasattr(value, "tolist"):  # numpy's scalars and arrays, and tensors
        return python_values(value)
    if isinstance(value, list | tuple) and len(value) <= 1:
        return _only(value)
    return None if is_missing(value) else value


def _only(value: Sequence[Any]) -> Any:
    """Return what a list of one holds; a list of one box, or of one list, is itself the gold."""
    if not value:
        return None
    is_gold = isinstance(value[0], list | tuple) or (
        isinstance(value[0], Mapping) and not any(key in value[0] for key in GOLD_KEYS)
    )
    return value if is_gold else value[0]


def _read_json(text: str) -> Any:
    """Return the dict that a text is the JSON of, where that holds a gold; else the text."""
    if text.lstrip()[:1] != "{" or not any(f'"{key}"' in text for key in GOLD_KEYS):
        return text
    import json  # few golds need it

    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return read if any(key in read for key in GOLD_KEYS) else text


def _plain_gold(value: Any, label: str) -> Gold:
    if value is None or (isinstance(value, float) and isnan(value)):
        return None
    if isinstance(value, str):
        return str(value) if value.strip() else None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, bool | Decimal | Rational):
        return str(value)
    if isinstance(value, list | tuple) and all(isinstance(entry, str) for entry in value):
        return list(value)
    import json  # few golds need it

    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise TypeError(
            f"{label} must be text, a number, a list, a dict or None, "
            f"got {type(value).__name__}: {value!r:.80}"
        ) from error


def _plain(value: Any) -> Any:
    """Return a value that `json` cannot write, as one that it can."""
    if hasattr(value, "tolist"):
        return python_values(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


# --- what math-verify reads in part ---------------------------------------------------------------


def read_in_part(gold: str, read: str | None) -> bool:
    r"""Return whether what was read of a gold leaves out some of its mathematics.

    That can happen only to golds without an environment: to LaTeX, and to an expression that has
    no words in it, such as `2x + 3`.
    """
    if read is None or gold == read or len(gold) > _LONGEST:
        return False
    return _leaves_out(gold, read)


@lru_cache(4096)
def _leaves_out(gold: str, read: str) -> bool:
    if _ANCHOR.search(gold):
        return False
    if not _LATEX.search(gold) and _WORD.search(_TAG.sub("", gold)):
        return False
    return len(_mathematics(gold)) > len(_mathematics(read))


def _mathematics(text: str) -> str:
    """Return the letters, digits and operators of an expression, without what only dresses it."""
    bare = _WORD.sub("", _TAG.sub("", text)).replace("dfrac", "frac")
    return _NO_MATHEMATICS.sub("", _NAME.sub("", _DRESS.sub("", bare)))


def in_part(gold: str, read: str | None) -> str:
    """Return a sentence on a gold that was read in part, else ""; warn of the first."""
    if not read_in_part(gold, read):
        return ""
    shown = f"{gold:.80}"
    if not _warned:
        _warned.add(gold)
        warnings.warn(
            f"the gold {shown} is read as {read}: math-verify reads only a part of mathematics "
            f"that is not in $…$. Write the golds as ${shown}$; for the rewards of trl, a recipe "
            'with golds = "latex" does so. Every score whose gold is read in part is partial_gold.',
            UserWarning,
            stacklevel=2,
        )
    return f"The gold was read as {read}, out of {shown}."


def as_latex(gold: Any) -> Any:
    r"""Return a gold with `$…$` around it, so that it is read whole.

    Left as it is: what is not text, or stands in an environment; and prose, which is not LaTeX.
    """
    if not isinstance(gold, str) or len(gold) > _LONGEST:
        return gold
    if _TAGGED.search(gold):
        return _TAGGED.sub(lambda found: f"{found[1]}{_wrapped(found[2])}{found[3]}", gold)
    return _wrapped(gold)


def _wrapped(gold: str) -> str:
    is_prose = _WORDS.search(_DRESS.sub(" ", gold))
    if not gold.strip() or is_prose or _ANCHOR.search(gold):
        return gold
    return f"${' '.join(gold.split())}$"  # a line break would end the environment
