"""Rewards as people write them, for the tests of recipes."""

import json
from dataclasses import dataclass
from functools import partial
from os import system

from plaudit import reward_factory
from plaudit.rewards import trl
from plaudit.scores import Score, reward, text_reward

called = []  # what a recipe called though it should not


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


@reward_factory
def factory(limit=3):
    return lambda completions, **kwargs: [float(len(c) <= limit) for c in completions]


def ids(completion_ids):
    return [float(len(i)) for i in completion_ids]


@reward_factory
@dataclass
class Shorter:
    than: int

    def __call__(self, completions, **kwargs):
        return [float(len(c) < self.than) for c in completions]


@reward_factory
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


@reward_factory
def makes_nothing(limit=3):
    return None


def unmarked(limit=3):
    called.append("unmarked")
    return brief


class Unmarked:
    def __init__(self, limit=3):
        called.append("Unmarked")

    def __call__(self, completions, **kwargs):
        return [1.0 for _ in completions]


class Scorer:
    def score(self, completions, **kwargs):
        return [1.0 for _ in completions]


shorter_than_three = Shorter(3)
half = partial(brief, limit=0.5)
method = Scorer().score
brief_math = trl.get_cosine_scaled_reward(100)
dumps, length, command = json.dumps, len, system  # no recipe may reach these through here


constant = 3
