"""Rewards as people write them, for the tests of recipes."""

from dataclasses import dataclass

from plaudit.scores import Score, reward, text_reward


def brief(completions, **kwargs):
    return [len(c) < 9 for c in completions]


def strict(completions, answers, difficulty=None):
    return [1.0 if c == a else None for c, a in zip(completions, answers, strict=True)]


def keywords(**kwargs):
    return [sorted(kwargs).index("completions") * 1.0 for _ in kwargs["completions"]]


@reward
def explained(completions, **kwargs):
    return [Score(0.5, "half") for _ in completions]


@text_reward
def starts(content, sol, **kwargs):
    return Score(float(content.startswith(sol)), "It starts so.")


def factory(limit=3):
    return lambda completions, **kwargs: [float(len(c) <= limit) for c in completions]


def ids(completion_ids):
    return [float(len(i)) for i in completion_ids]


@dataclass
class Shorter:
    than: int

    def __call__(self, completions, **kwargs):
        return [float(len(c) < self.than) for c in completions]


class Longer:
    def __init__(self, **options):
        self.than = options["than"]

    def __call__(self, completions, **kwargs):
        return [float(len(c) > self.than) for c in completions]


def too_few(completions, **kwargs):
    return [1.0]


def odd(completions, **kwargs):
    return [float("nan"), None, "x"][: len(completions)]


async def later(completions, **kwargs):
    return [1.0 for _ in completions]


def makes_nothing(limit=3):
    return None


constant = 3
