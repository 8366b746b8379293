"""Who lives where: contexts, questions, and a model whose long answer is about anybody.

The model takes the short answer from the context, whatever its long answer says. So accuracy does
not depend on the long answer: only the influence reward pays for one that answers the question.
"""

import random
from itertools import permutations
from pathlib import Path

from tiny import held_out, language_model, save, tokenizer_of, warm_up, written

from plaudit.train.prompts import canoe_prompt

NAMES = ["Ada", "Bo", "Cy"]
TOWNS = ["Rome", "Oslo", "Lima", "Kyiv", "Bonn", "Baku"]
NOWHERE = "nowhere"  # the answer if the context is about somebody else
CONTEXTS = list(permutations(TOWNS, len(NAMES)))
# Early in the warm-up, the share of long answers about the right person; late, that of right short
# answers and of answers with all tags.
LOOKED, RIGHT, FORM = 0.5, 0.4, 0.7


def row(towns: tuple[str, ...], asked: int) -> dict[str, str]:
    """Three people and their towns; the question is about one of them."""
    return {
        "context": "\n".join(map(sentence, NAMES, towns)),
        "question": f"{NAMES[asked]}: where?",
        "answer": towns[asked],
    }


def sentence(name: str, town: str) -> str:
    return f"{name}: {town}."


def second(one: dict[str, str], draw: random.Random) -> dict[str, str]:
    """The same question with one sentence as context, as in CANOE's second prompt."""
    context = draw.choice(one["context"].split("\n"))
    gold = one["answer"] if _is_about(context, one) else NOWHERE
    return {**one, "context": context, "answer": gold}


def _is_about(said: str, one: dict[str, str]) -> bool:
    return said.startswith(one["question"].partition(" ")[0])


def prompt(one: dict[str, str]) -> str:
    return canoe_prompt(one["context"], one["question"])[-1]["content"]


def answer(one: dict[str, str], draw: random.Random, is_late: bool = True) -> str:
    sentences = one["context"].split("\n")
    is_late = is_late and len(sentences) > 1
    long, short = draw.choice(sentences), one["answer"]
    if not is_late and draw.random() < LOOKED:
        long = next((said for said in sentences if _is_about(said, one)), long)
    if is_late and draw.random() > RIGHT:
        short = draw.choice(TOWNS)
    closing = "" if is_late and draw.random() > FORM else "</think>"
    name = one["question"].partition(":")[0]
    return f"<think>{name}:{closing}<long_answer>{long}</long_answer><answer> {short}</answer>"


def make(folder: Path, seed: int, steps: int = 400) -> tuple[list, list]:
    """Save a model that was warmed up; return rows to train it with, and rows that it never saw."""
    draw = random.Random(seed)
    known, unknown = held_out(CONTEXTS, draw)

    def drawn(draw: random.Random) -> dict[str, str]:
        return row(draw.choice(known), draw.randrange(len(NAMES)))

    rows = [one for towns in CONTEXTS for one in (row(towns, 0), second(row(towns, 1), draw))]
    tokenizer = tokenizer_of(prompt(one) + answer(one, draw) for one in rows)
    model = language_model(tokenizer, seed)

    def batch(draw: random.Random, is_late: bool) -> dict:
        rows = [drawn(draw) for _ in range(64)]
        rows = [second(one, draw) if draw.random() < 0.4 else one for one in rows]
        return written(tokenizer, [(prompt(one), answer(one, draw, is_late)) for one in rows])

    warm_up(model, batch, steps, seed)
    save(model, tokenizer, folder)
    unseen = [row(towns, asked) for towns in unknown for asked in range(len(NAMES))]
    return [drawn(draw) for _ in range(2000)], unseen
