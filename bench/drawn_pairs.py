"""Whether a worker compares like math-verify as released, on random pairs of every kind.

    python bench/drawn_pairs.py --pairs 100000

Intervals, unions, tuples, equations, inequalities, matrices, words and more: a pair is either two
texts that were generated to look alike, or texts of two such pairs. math-verify runs in processes
that load nothing of plaudit's workers. Pairs that take either side more than a few seconds are
counted separately; so are those on which math-verify itself says now this, now that, since sympy
checks facts in random order. If a verdict differs, it shows the first such pairs and exits with 1.
100,000 pairs take about an hour.
"""

import multiprocessing
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests" / "judge"))  # what the tests draw, too

from drawn_kinds import pairs as drawn_pairs

from report import Table, arguments, show

DRAWN, CROSSED = 10, 30  # pairs of a block: its texts are parsed once, and compared more often
SECONDS = 3
TRIES = 20
Block = list[tuple[str, str]]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--pairs", type=int, default=2_000, help="how many, at least")
    parser.add_argument("--first-block", type=int, default=0, help="where to begin: others follow")
    parser.add_argument("--processes", type=int, default=2, help="for each of the two")
    options = parser.parse_args()
    count = -(-options.pairs // (DRAWN + CROSSED))
    blocks = [block(options.first_block + number) for number in range(count)]
    released = _in_processes(as_released, blocks, options.processes)
    ours = _in_processes(as_workers_do, blocks, options.processes)

    pairs = [pair for each in blocks for pair in each]
    both = list(zip(pairs, released, ours, strict=True))
    compared = [each for each in both if "trouble" not in each[1:]]
    differing = [each for each in compared if each[1] != each[2]]
    different = [each for each in differing if not contradicts_itself(each[0], each[2])]
    verdicts = Counter(verdict for _, verdict, _ in compared)
    counts = [
        ["pairs", len(pairs)],
        ["compared", len(compared)],
        *([f"math-verify: {what}", number] for what, number in sorted(verdicts.items())),
        ["**differing verdicts**", f"**{len(different)}**"],
        ["math-verify contradicts itself", len(differing) - len(different)],
        ["math-verify took too long", released.count("trouble")],
        ["a worker would have taken too long", ours.count("trouble")],
    ]
    show(Table("Drawn pairs, compared by a worker and by math-verify", ["", "count"], counts))
    for (gold, answer), theirs, mine in different[:10]:
        print(f"gold {gold!r}, answer {answer!r}: {mine}, but {theirs}", file=sys.stderr)
    sys.exit(bool(different))


def block(number: int) -> Block:
    """Drawn pairs, and their members crossed."""
    drawn = drawn_pairs(f"block {number}", DRAWN)
    chance = random.Random(number)
    texts = sorted({text for pair in drawn for text in pair})
    return drawn + [(chance.choice(texts), chance.choice(texts)) for _ in range(CROSSED)]


def _in_processes(judged: Callable[[Block], list[str]], blocks: list[Block], count: int) -> list:
    with multiprocessing.get_context("spawn").Pool(count) as pool:
        return [verdict for each in pool.imap(judged, blocks) for verdict in each]


def as_released(pairs: Block) -> list[str]:
    """The verdicts of math-verify itself."""
    _quietly()
    from math_verify import grader, parser

    assert "plaudit.judge.workers._symbolic" not in sys.modules
    parse = lru_cache(maxsize=None)(_or_none(parser.parse_latex_cached.__wrapped__))
    return [_verdict(parse, grader.sympy_expr_eq, pair) for pair in pairs]


def contradicts_itself(pair: tuple[str, str], ours: str) -> bool:
    """Whether math-verify comes to our verdict, too, in another process."""
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        return any(pool.map(as_released, [[pair]])[0][0] == ours for _ in range(TRIES))


def as_workers_do(pairs: Block) -> list[str]:
    """The verdicts of a worker, with all that makes it faster."""
    _quietly()
    from plaudit.judge.workers import _symbolic
    from plaudit.judge.workers._worker import leave_nothing_to_chance

    leave_nothing_to_chance()
    parse = lru_cache(maxsize=None)(_or_none(_symbolic._parse_latex))
    return [_verdict(parse, _symbolic.grader.sympy_expr_eq, pair) for pair in pairs]


def _verdict(parse: Callable[[str], Any], equal: Callable[..., bool], pair: tuple[str, str]) -> str:
    signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        gold, answer = map(parse, pair)
        if gold is None or answer is None:
            return "not parsed"
        return "equal" if equal(gold, answer, 6, 15) else "different"
    except TooLong:
        return "trouble"
    except Exception:  # math-verify makes this of whatever is raised
        return "different"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


class TooLong(BaseException):
    """No library catches it."""


def _stop(*_: object) -> None:
    raise TooLong


def _or_none(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    def parsed(text: str) -> Any:
        try:
            return parse(text)
        except Exception:
            return None

    return parsed


def _quietly() -> None:
    import logging
    import warnings

    logging.disable()
    warnings.simplefilter("ignore")


if __name__ == "__main__":
    main()
