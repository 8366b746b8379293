"""Sums, and a model that knows the form of an answer but is wrong most of the time."""

import random
from pathlib import Path

from tiny import language_model, save, tokenizer_of, warm_up, written

LARGEST = 4
SUMS = [(a, b) for a in range(LARGEST + 1) for b in range(LARGEST + 1)]
RIGHT, FORM = 0.3, 0.7  # share of answers that are right, and well-formed, late in the warm-up


def row(a: int, b: int) -> dict[str, str]:
    return {"prompt": f"What is {a} + {b}?", "solution": f"${a + b}$"}


def answer(a: int, b: int, draw: random.Random, is_late: bool = True) -> str:
    said = draw.randrange(2 * LARGEST + 1) if is_late and draw.random() > RIGHT else a + b
    opening = "" if is_late and draw.random() > FORM else "<think>"
    return rf"{opening}{a} + {b}</think>$\boxed{{{said}}}$"


def make(folder: Path, seed: int, steps: int = 300) -> list[dict[str, str]]:
    """Save a model that was warmed up, and return the rows to train it with."""
    draw = random.Random(seed)
    sample = [row(a, b)["prompt"] + answer(a, b, draw) for a, b in SUMS for _ in range(20)]
    tokenizer = tokenizer_of([*sample, "<think>", *map(str, range(2 * LARGEST + 1))])
    model = language_model(tokenizer, seed)

    def batch(draw: random.Random, is_late: bool) -> dict:
        asked = [draw.choice(SUMS) for _ in range(64)]
        return written(tokenizer, [(row(*s)["prompt"], answer(*s, draw, is_late)) for s in asked])

    warm_up(model, batch, steps, seed)
    save(model, tokenizer, folder)
    return [row(*draw.choice(SUMS)) for _ in range(2000)]
