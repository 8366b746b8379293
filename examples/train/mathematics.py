"""Sums of three numbers, and a model that knows the form of an answer but is often wrong."""

import random
from itertools import product
from pathlib import Path

from tiny import held_out, language_model, save, tokenizer_of, warm_up, written

LARGEST = 4
SUMS = list(product(range(LARGEST + 1), repeat=3))
RIGHT, FORM = 0.3, 0.7  # share of answers that are right, and well-formed, late in the warm-up

Sum = tuple[int, int, int]


def row(numbers: Sum) -> dict[str, str]:
    return {"prompt": f"What is {' + '.join(map(str, numbers))}?", "solution": f"${sum(numbers)}$"}


def answer(numbers: Sum, draw: random.Random, is_late: bool = True) -> str:
    a, b, c = numbers
    said = draw.randrange(3 * LARGEST + 1) if is_late and draw.random() > RIGHT else a + b + c
    opening = "" if is_late and draw.random() > FORM else "<think>"
    return rf"{opening}{a} + {b} = {a + b}</think>$\boxed{{{said}}}$"


def make(folder: Path, seed: int, steps: int = 400) -> tuple[list, list]:
    """Save a model that was warmed up; return rows to train it with, and rows that it never saw."""
    draw = random.Random(seed)
    known, unknown = held_out(SUMS, draw)
    sample = [row(numbers)["prompt"] + answer(numbers, draw) for numbers in SUMS for _ in range(5)]
    tokenizer = tokenizer_of([*sample, "<think>", *map(str, range(3 * LARGEST + 1))])
    model = language_model(tokenizer, seed)

    def batch(draw: random.Random, is_late: bool) -> dict:
        asked = [draw.choice(known) for _ in range(64)]
        return written(tokenizer, [(row(s)["prompt"], answer(s, draw, is_late)) for s in asked])

    warm_up(model, batch, steps, seed)
    save(model, tokenizer, folder)
    return [row(draw.choice(known)) for _ in range(2000)], [row(numbers) for numbers in unknown]
