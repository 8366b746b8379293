r"""Long completions: finding the answer in 1k, 10k, 100k and 1M characters.

The texts are reasoning with an answer, reasoning without one, and inputs on which math-verify's
regular expressions take time quadratic in the length: `\[`, `\(` or `\boxed{` never closed, spaces
inside a box, many `\text{a}`. Only finding (`candidates`) is timed, by TRL's rule and by
math-verify's defaults. math-verify's expressions, by TRL's rule, are stopped after --limit seconds,
and larger sizes of that text are not tried. `whole reward` is `accuracy_reward` on one row that is
not in the cache.
"""

import random
import signal
from collections.abc import Callable
from itertools import groupby

from math_verify.parser import get_extraction_regexes

import plain_loop
import traffic
from plaudit.judge import Rule
from plaudit.judge._candidates import candidates
from plaudit.rewards.trl import accuracy_reward
from report import Table, arguments, fresh_judge, seconds, show, timed, times

SIZES = (1_000, 10_000, 100_000, 1_000_000)
TEXTS: dict[str, Callable[[int], str]] = {
    "reasoning": lambda size: f"{_prose(size)} So it is $\\boxed{{\\frac{{1}}{{2}}}}$.",
    "reasoning, no answer": lambda size: _prose(size),
    r"`\[` never closed": lambda size: r"\[" * (size // 2),
    r"`\[ x` never closed": lambda size: r"\[ x " * (size // 5),
    r"`\(` never closed": lambda size: r"\( x " * (size // 5),
    r"`\boxed{` never closed": lambda size: r"\boxed{" * (size // 7),
    "spaces inside a box": lambda size: r"\boxed{1" + " " * size + "2}",
    r"many `\text{a}` in a box": lambda size: r"\boxed{" + r"\text{a}" * (size // 8) + "}",
    "`$` again and again": lambda size: "$1$ $" * (size // 5),
    "`answer` again and again": lambda size: "the final answer is " * (size // 20),
}


class TooSlowError(Exception):
    """The regular expressions had their time."""


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--limit", type=int, default=5, help="seconds for math-verify's regexes")
    options = parser.parse_args()
    fresh_judge()
    lines = []
    for name, make in TEXTS.items():
        slow = False
        for size in options.sizes:
            text = make(size)
            ours, anywhere = (_found(text, rule) for rule in (Rule.LATEX, Rule.ANYWHERE))
            whole, _ = timed(lambda text=text: accuracy_reward([text], [f"{len(text)}/7"]))
            theirs = None if slow else _by_regexes(text, options.limit)
            slow = theirs is None
            shown = f"over {options.limit} s" if theirs is None else seconds(theirs)
            ratio = "" if theirs is None else times(theirs / ours)
            times_of_ours = [seconds(taken) for taken in (ours, anywhere, whole)]
            lines.append([name, f"{size:,}", shown, times_of_ours[0], ratio, *times_of_ours[1:]])
    columns = ["text", "characters", "math-verify's regexes", "plaudit", "ratio"]
    columns += ["by math-verify's defaults", "whole reward"]
    show(Table("Long completions", columns, lines))


def _prose(size: int) -> str:
    rng, parts, length = random.Random(size), [], 0
    while length < size:
        parts.append(traffic.reasoning(rng))
        length += len(parts[-1]) + 1
    return " ".join(parts)[:size]


def _found(text: str, rule: Rule) -> float:
    return min(timed(lambda: list(candidates(text, rule)))[0] for _ in range(3))


def _by_regexes(text: str, limit: int) -> float | None:
    """The seconds that the expressions take up to the first that matches; None beyond the limit."""
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(limit)
    try:
        return timed(lambda: _first_group(text))[0]
    except TooSlowError:
        return None
    finally:
        signal.alarm(0)


def _first_group(text: str) -> bool:
    patterns = [found for group, _ in get_extraction_regexes(plain_loop.ANSWER) for found in group]
    patterns.sort(key=_priority)
    return any(
        [match for pattern, _ in group for match in pattern.finditer(text)]
        for _, group in groupby(patterns, key=_priority)
    )


def _priority(pattern: tuple[object, int]) -> int:
    return pattern[1]


def _stop(*_: object) -> None:
    raise TooSlowError


if __name__ == "__main__":
    main()
