"""Random LaTeX thrown at the judge: no hang, no crash, no leak, whatever comes.

A small grammar writes formulas, some of them with huge numbers, towers and deep nesting; mutations
then cut, double, swap and replace characters. Answers and golds are judged by both rules with a
deadline of a second. A hang is a batch that takes longer than all its deadlines one after another:
then every thread's stack is printed and the process ends. Exits with 1 where a verdict is an error,
a process is left behind or memory keeps growing. An hour's worth is about --count 200000.
"""

import faulthandler
import os
import random
import sys
from collections import Counter

import plaudit.judge
from plaudit.judge import Pair, Rule, judge
from processes import descendants, left_after, resident_mib
from report import Table, arguments, fresh_judge, seconds, show, timed

BATCH = 64
SLACK = 30.0  # seconds that a batch may take over its deadlines, on a busy machine
GROWTH = 400.0  # MiB that the parent may grow: the cache alone may hold 256 MiB of text
ATOMS = ["x", "y", "n", r"\pi", "e", "i", r"\infty", r"\text{cm}", r"\emptyset", "A", r"\alpha"]
NUMBERS = ["0", "1", "-1", "2", "7", "0.5", ".25", "12", "1,234", "3.14159", "999999", "10^{9}"]
FORMS = [
    r"\frac{{{}}}{{{}}}", r"\dfrac{{{}}}{{{}}}", "{}^{{{}}}", "{}_{{{}}}", "{} + {}", "{} - {}",
    r"{} \cdot {}", "{}{}", "({}, {})", "[{}, {})", r"\{{ {}, {} \}}", "{} = {}", "{} < {}",
    r"{} \leq {}", r"\sqrt[{}]{{{}}}", r"\binom{{{}}}{{{}}}", r"\int_0^{{{}}} {} dx",
    r"\sum_{{k=1}}^{{{}}} {}", r"\lim_{{x \to {}}} {}", r"\log_{{{}}} {}", r"{} \cup {}",
    r"\begin{{pmatrix}} {} \\ {} \end{{pmatrix}}", r"\gcd({}, {})", r"{} \pmod{{{}}}", "{}/{}",
    r"{} \text{{ or }} {}", r"\left( {} \right) {}", "{}!{}", r"{}\% {}",
]  # fmt: skip
WRAPPINGS = [
    r"The answer is $\boxed{{{}}}$.", r"\boxed{{{}}}", "${}$", r"\[{}\]", "{}", "$${}$$",
    r"final answer is {}. I hope it is right", r"\boxed{{{}", r"answer: \({}\)",
]  # fmt: skip
NOISE = "\\{}[]()$^_&%~\n\t ,.=<>+-*/!0123456789abxyzπ√∞答\x00\ud83d" + "\U0001f600"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--count", type=int, default=2_000, help="pairs to judge")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--deadline", type=float, default=1.0)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    fresh_judge(deadline=options.deadline)
    statuses: Counter[str] = Counter()
    slowest, before = 0.0, resident_mib()
    for start in range(0, options.count, BATCH):
        pairs = [_pair(rng) for _ in range(min(BATCH, options.count - start))]
        faulthandler.dump_traceback_later(BATCH * options.deadline + SLACK, exit=True)
        taken, verdicts = timed(lambda pairs=pairs: judge(pairs))
        faulthandler.cancel_dump_traceback_later()
        slowest = max(slowest, taken)
        statuses.update(verdict.status.value for verdict in verdicts)
    growth, started = resident_mib() - before, descendants(os.getpid())
    plaudit.judge.shared_judge().close()
    left = left_after(started, patience=5)
    lines = [
        *([f"status: {status}", count] for status, count in statuses.most_common()),
        ["slowest batch of 64", seconds(slowest)],
        ["memory that the parent gained", f"{growth:.0f} MiB"],
        ["processes while it ran, and after", f"{len(started)}, {len(left)}"],
    ]
    title = f"{options.count:,} pairs of random LaTeX, deadline {options.deadline:g} s"
    show(Table(title, ["", ""], lines))
    settings = plaudit.judge.shared_judge().settings
    too_many = len(started) > settings.workers + 1
    bad = statuses["error"] or statuses.total() != options.count
    sys.exit(bool(left or too_many or growth > GROWTH or bad))


def _pair(rng: random.Random) -> Pair:
    gold = formula(rng)
    answer = gold if rng.random() < 0.2 else formula(rng)
    answer, gold = (rng.choice(WRAPPINGS).format(text) for text in (answer, gold))
    answer = mutated(rng, answer) if rng.random() < 0.5 else answer
    gold = mutated(rng, gold) if rng.random() < 0.2 else gold
    return Pair(answer, gold, rng.choice(list(Rule)))


def formula(rng: random.Random, depth: int = 4) -> str:
    """A formula of the grammar; now and then something far too large."""
    if rng.random() < 0.01:
        return rng.choice(("9^{" * 6 + "9" + "}" * 6, "(" * 300 + "1" + ")" * 300, "7" * 5000))
    if depth == 0 or rng.random() < 0.25:
        return rng.choice(rng.choice((ATOMS, NUMBERS)))
    return rng.choice(FORMS).format(formula(rng, depth - 1), formula(rng, depth - 1))


def mutated(rng: random.Random, text: str) -> str:
    """The text after a few cuts, doublings, swaps and replacements."""
    for _ in range(rng.randint(1, 5)):
        start, stop = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        match rng.randrange(4):
            case 0:
                text = text[:start] + text[stop:]
            case 1:
                text = text[:stop] + text[start:stop] + text[stop:]
            case 2:
                text = text[:start] + rng.choice(NOISE) + text[start + 1 :]
            case _:
                text = text[start:] + text[:start]
    return text


if __name__ == "__main__":
    main()
