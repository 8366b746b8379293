r"""What a completion of 1,000 characters costs the calling process.

Rows that need a worker are left out: `step.py` and `workers.py` have those. The others are scored
by `plaudit.rewards.trl.accuracy_reward` in batches:

    seen before                 the same texts again
    new text, known answer      other texts, whose answers were judged before with their golds
    new answer, equal as text   the gold is known, as in a group after its first completion
    new gold, equal as text     neither the answer nor the gold is known
    new gold, number compare    the same, for answers that are compared as numbers

In the last three, no answer comes twice with the same gold. The texts are those of --data, a
JSON-lines file with `completion` and `gold`, or generated ones, cut or padded at the start. Times
are CPU time of the calling thread, the best of --repeat.

The stages are timed one by one on the same rows. *Finding* goes from a text to the LaTeX that
counts, *opening* from that to what is in the box, *reading* puts it (and the gold, if it is new)
into normal form. The rest is comparing, look-ups, scores and their sentences.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import traffic
from plaudit.inputs import golds
from plaudit.inputs.completions import gold_texts_of, texts_of
from plaudit.judge import Rule
from plaudit.judge._reading import _normalise, best_candidate, opened, read, reading_of, short_form
from plaudit.rewards.trl import accuracy_reward
from plaudit.scores import Score
from report import Table, arguments, fresh_judge, show

FILLER = "so we see that it holds, and go on with what is left of it. "


class Row(NamedTuple):
    """A completion without what stands before it, and its gold."""

    text: str
    gold: str


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--characters", type=int, default=1_000, help="of a completion")
    parser.add_argument("--prompts", type=int, default=512, help="of the generated rows")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--data", type=Path, help="a JSON-lines file")
    options = parser.parse_args()
    generated = traffic.step(options.prompts)
    lines = measured("generated", generated, options.characters, options.repeat)
    if options.data:
        real = traffic.from_file(options.data)
        lines += measured(options.data.name, real, options.characters, options.repeat)
    columns = ["rows", "", "number of rows", "µs a row", "columns", "finding", "opening"]
    columns += ["reading", "the rest"]
    note = "Each stage as a share of the whole."
    show(Table(f"The caller, {options.characters:,} characters", columns, lines, note))


def measured(name: str, step: traffic.Step, characters: int, repeat: int) -> list[list[object]]:
    """The lines of one set of rows."""
    rows = [Row(text, str(gold)) for text, gold in zip(step.texts, step.solution, strict=True)]
    scores = accuracy_reward.scores(batch(rows, characters), [row.gold for row in rows])
    here = [(row, s) for row, s in zip(rows, scores, strict=True) if s.decided_by != "math-verify"]
    every = [row for row, _ in here]
    lines = []
    for label, some, known in (
        ("seen before", every, "texts"),
        ("new text, known answer", every, "answers"),
        ("new answer, equal as text", distinct(here, "same text"), "golds"),
        ("new gold, equal as text", distinct(here, "same text"), ""),
        ("new gold, number compare", distinct(here, "numbers"), ""),
    ):
        if some:
            whole, stages = timed_rows(some, known, characters, repeat)
            shares = [f"{100 * stage / whole:.0f} %" for stage in stages]
            lines.append([name, label, len(some), f"{1e6 * whole / len(some):.1f}", *shares])
    return lines


def distinct(scored: Sequence[tuple[Row, Score]], method: str) -> list[Row]:
    """Rows that were decided so, one of each answer and gold."""
    found = {(score.answer, row.gold): row for row, score in scored if score.decided_by == method}
    return list(found.values())


def batch(rows: Sequence[Row], characters: int, start: str = "") -> list[list[dict[str, str]]]:
    """The rows' texts, all of one length, as a trainer hands them over."""
    texts = [_of_length(row.text, characters, f"Row {n}{start}. ") for n, row in enumerate(rows)]
    return [[{"role": "assistant", "content": text}] for text in texts]


def _of_length(text: str, characters: int, start: str) -> str:
    room = max(characters - len(start), 0)
    kept = text[-room:] if room else ""
    filler = FILLER * (room // len(FILLER) + 1)
    return start + filler[: room - len(kept)] + kept


def timed_rows(
    rows: Sequence[Row], known: str, characters: int, repeat: int
) -> tuple[float, list[float]]:
    """The best time of a batch, and that of each of its stages with what is left.

    known: what is remembered before: "texts", "answers", "golds" or nothing
    """
    solution, best = [row.gold for row in rows], [float("inf")] * 5
    for turn in range(repeat):
        completions = batch(rows, characters, f", turn {turn}")
        forget()
        if known == "golds":
            accuracy_reward(["I do not know."] * len(rows), solution)
        elif known:
            accuracy_reward(batch(rows, characters), solution)
        if known == "texts":
            accuracy_reward(completions, solution)
        whole = cpu(partial(accuracy_reward, completions, solution))
        stages = _stages(completions, solution, known)
        best = [min(pair) for pair in zip(best, [whole, *stages], strict=True)]
    whole, *stages = best
    return whole, [*stages, max(whole - sum(stages), 0.0)]


def _stages(
    completions: list[list[dict[str, str]]], solution: list[str], known: str
) -> list[float]:
    columns = cpu(lambda: (texts_of(completions), gold_texts_of(solution)))
    if known == "texts":
        return [columns, 0.0, 0.0, 0.0]
    texts = texts_of(completions)
    finding = cpu(lambda: [best_candidate(text, Rule.LATEX) for text in texts])
    found = [best_candidate(text, Rule.LATEX) for text in texts]
    forget_readings()
    opening = cpu(lambda: [short_form(one) for one in found])
    reading = 0.0
    if known != "answers":
        forget_readings()
        pairs = list(zip(found, texts, strict=True))
        read_all = cpu(lambda: [reading_of(one, text, Rule.LATEX) for one, text in pairs])
        reading = max(read_all - opening, 0.0)  # which opens boxes first
    if not known:
        reading += cpu(lambda: [read(gold, Rule.ANYWHERE) for gold in dict.fromkeys(solution)])
    return [columns, finding, opening, reading]


def forget() -> None:
    """Nothing is remembered: neither verdicts nor readings."""
    fresh_judge()
    forget_readings()
    golds._leaves_out.cache_clear()


def forget_readings() -> None:
    _normalise.cache_clear()
    opened.cache_clear()


def cpu(run: Callable[[], object]) -> float:
    """The CPU seconds that a call takes of this thread: other work on the machine counts less."""
    start = time.thread_time()
    run()
    return time.thread_time() - start


if __name__ == "__main__":
    main()
