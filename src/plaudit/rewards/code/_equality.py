"""Whether an output or a value is right, as judges of contests decide it."""

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

TOLERANCE = 1e-6  # absolute or relative, as judges of contests allow for numbers with a point
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)


def same_output(got: str, expected: str) -> bool:
    r"""Return whether two outputs have the same tokens in each line.

    White space at the ends of lines and empty lines do not count. A number with a point may be off
    by 1e-6, absolute or relative; a whole number must be the same.

    >>> same_output("1 2 \n0.3333333\n", "1 2\n0.33333333333")
    True
    >>> same_output("6.0", "6"), same_output("nan", "1.5"), same_output("2000000001", "2000000000")
    (False, False, False)
    """
    got_lines, expected_lines = _lines(got), _lines(expected)
    if got_lines == expected_lines:
        return True
    if len(got_lines) != len(expected_lines):
        return False
    return all(
        one == other
        or (len(a := one.split()) == len(b := other.split()) and all(map(_same_token, a, b)))
        for one, other in zip(got_lines, expected_lines, strict=True)
    )


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.split("\n")) if line]


def _same_token(got: str, expected: str) -> bool:
    if got == expected:
        return True
    if _INTEGER.fullmatch(expected) or not _NUMBER.fullmatch(expected):
        return False
    return bool(_NUMBER.fullmatch(got)) and _close(float(got), float(expected))


def _close(got: float, expected: float) -> bool:
    if not (math.isfinite(got) and math.isfinite(expected)):
        return got == expected
    return abs(got - expected) <= TOLERANCE * max(1.0, abs(expected))


def same_value(got: Any, expected: Any, wrapped: bool = True) -> bool:
    """Return whether a call returned the right value, which comes from JSON.

    Numbers of any type are equal if their values are; a tuple is as good as a list, and a key of a
    dict as its text, since JSON has neither tuples nor other keys.

    wrapped: whether a list of one may stand for what it holds

    >>> same_value((1, 2), [1, 2]), same_value({1: 2.0}, {"1": 2}), same_value(3, [3])
    (True, True, True)
    >>> same_value([1, 2], [1, 3]), same_value(1, [1, 2])
    (False, False)
    """
    if _same(got, expected):
        return True
    is_wrapped = wrapped and isinstance(expected, list) and len(expected) == 1
    return is_wrapped and _same(got, expected[0])


def _same(got: Any, expected: Any) -> bool:
    if hasattr(got, "tolist") and type(got).__module__ == "numpy":
        got = got.tolist()
    if isinstance(expected, list | tuple):
        is_list = isinstance(got, list | tuple)
        return is_list and len(got) == len(expected) and all(map(_same, got, expected))
    if isinstance(expected, dict):
        return isinstance(got, dict) and _same_dict(got, expected)
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        return bool(got == expected)
    if isinstance(expected, float) and isinstance(got, int | float | Decimal | Fraction):
        return bool(got == expected) or _close_numbers(got, expected)
    return bool(got == expected)


def _close_numbers(got: Any, expected: float) -> bool:
    try:
        number = float(got)
    except (OverflowError, ValueError):
        return False
    return (math.isnan(number) and math.isnan(expected)) or _close(number, expected)


def _same_dict(got: dict[Any, Any], expected: dict[Any, Any]) -> bool:
    if len(got) != len(expected):
        return False
    if all(isinstance(key, str) for key in expected):
        got = {key if isinstance(key, str) else str(key): value for key, value in got.items()}
    return all(key in got and _same(got[key], value) for key, value in expected.items())
