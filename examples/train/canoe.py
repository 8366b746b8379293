"""Who lives where: contexts, questions, and a model that often looks at the wrong sentence."""

import random
from pathlib import Path

from tiny import language_model, save, tokenizer_of, warm_up, written

from plaudit.prompts import canoe_prompt

NAMES = ["Ada", "Bo"]
TOWNS = ["Rome", "Oslo", "Lima", "Kyiv", "Bonn", "Baku"]
# The share of answers, late in the warm-up, in which the long answer is about the right person, the
# short answer agrees with the long one, and all tags are there.
LOOKED, AGREED, FORM = 0.1, 0.3, 0.5


def row(draw: random.Random) -> dict[str, str]:
    """Two people and their towns; the question is about one of them."""
    towns = draw.sample(TOWNS, len(NAMES))
    asked = draw.randrange(len(NAMES))
    return {
        "context": "\n".join(map(sentence, NAMES, towns)),
        "question": f"{NAMES[asked]}: where?",
        "answer": towns[asked],
    }


def sentence(name: str, town: str) -> str:
    return f"{name}: {town}."


def prompt(one: dict[str, str]) -> str:
    return canoe_prompt(one["context"], one["question"])[-1]["content"]


def answer(one: dict[str, str], draw: random.Random, is_late: bool = True) -> str:
    name = one["question"].partition(":")[0]
    long, short = sentence(name, one["answer"]), one["answer"]
    if is_late and draw.random() > LOOKED:
        long = draw.choice(one["context"].split("\n"))
    if is_late and draw.random() > AGREED:
        short = draw.choice(TOWNS)
    closing = "" if is_late and draw.random() > FORM else "</think>"
    return f"<think>{name}:{closing}<long_answer>{long}</long_answer><answer> {short}</answer>"


def second(one: dict[str, str]) -> dict[str, str]:
    """The same question with one sentence as context, as in CANOE's second prompt."""
    return {**one, "context": sentence(one["question"].partition(":")[0], one["answer"])}


def make(folder: Path, seed: int, steps: int = 300) -> list[dict[str, str]]:
    """Save a model that was warmed up, and return the rows to train it with."""
    draw = random.Random(seed)
    rows = [row(draw) for _ in range(500)]
    tokenizer = tokenizer_of(prompt(one) + answer(one, draw) for one in rows)
    model = language_model(tokenizer, seed)

    def batch(draw: random.Random, is_late: bool) -> dict:
        rows = [row(draw) for _ in range(64)]
        rows = [second(one) if draw.random() < 0.25 else one for one in rows]
        return written(tokenizer, [(prompt(one), answer(one, draw, is_late)) for one in rows])

    warm_up(model, batch, steps, seed)
    save(model, tokenizer, folder)
    return [row(draw) for _ in range(2000)]
