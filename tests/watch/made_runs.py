"""Runs that are made up, recorded by plaudit itself: healthy ones, and ones with a fault.

A plan gives the shares and numbers of each step: {"right": 0.4, "format": 0.9, "length": 60}.
"""

import random
import sys
import time
from types import SimpleNamespace

import plaudit
from plaudit.runs import finish
from plaudit.scores import Score, reward

ROWS, GROUP = 64, 8


class Trainer:
    """As much of TRL's trainer as a recorded run can see."""

    def __init__(self):
        self.num_generations = self.num_generations_eval = GROUP
        self.model = SimpleNamespace(training=True)
        self.state = SimpleNamespace(global_step=0)

    def log_metric(self, name, value):
        """Called by rewards; the recorder finds the trainer by it."""

    def score(self, functions, step, **batch):
        """Score a batch as in the step that the trainer logs by this number."""
        self.state.global_step = step - self.model.training
        hooks = {"trainer_state": self.state, "log_metric": self.log_metric}
        return [function(**batch, **hooks) for function in functions]


@reward(columns=["solution"])
def accuracy_reward(completions, solution, **kwargs):
    """1.0 if the last word is the gold; "?" takes too long, "-" is no answer, "/" is cut off."""
    return [
        _judged(text.split()[-1], gold) for text, gold in zip(completions, solution, strict=True)
    ]


def _judged(answer, gold):
    if answer == "?":
        return Score(0.0, "It took too long to compare.", gold=gold, status="timeout", right=False)
    if answer == "/":
        return Score(0.0, "The completion was cut off.", gold=gold, status="truncated", right=False)
    if answer == "-":
        return Score(0.0, "There is no answer.", gold=gold, status="no_answer", right=False)
    is_right = answer == gold
    why = f"{answer} is {'' if is_right else 'not '}equal to the gold {gold}."
    status = "equal" if is_right else "different"
    return Score(float(is_right), why, answer, gold, "numbers", status, is_right)


@reward
def think_format_reward(completions, **kwargs):
    """1.0 where there are tags."""
    return [
        Score(
            float(text.startswith("<think>")),
            "The tags are there." if text[0] == "<" else "No tags.",
        )
        for text in completions
    ]


def healthy(step):
    """Learning: both rewards rise, and completions get a little longer."""
    return {
        "right": min(0.9, 0.3 + 0.01 * step),
        "format": min(0.98, 0.4 + 0.015 * step),
        "length": 40 + step / 3,
    }


def batch(step, plan, seed=0, prompts=ROWS // GROUP):
    """A batch of a step, by its plan."""
    chance = random.Random(seed * 10_007 + step)
    batch = {"prompts": [], "completions": [], "solution": []}
    for row in range(prompts * GROUP):
        prompt = (step * prompts + row // GROUP) % 96
        gold = str(prompt % 12 + 3)
        # Prompts may differ in how hard they are: those of a step are few.
        harder = plan.get("uneven", 0.0) * (random.Random(prompt).random() - 0.5)
        answer = gold if chance.random() < plan["right"] - harder else str(chance.randrange(40, 90))
        draw = chance.random()
        for word in ("no_answer", "timeout", "truncated", "one"):
            if draw < plan.get(word, 0.0):
                answer = {"no_answer": "-", "timeout": "?", "truncated": "/", "one": "7"}[word]
                break
        body = "so " * max(1, round(chance.gauss(plan["length"], 4)))
        tags = chance.random() < plan["format"]
        if plan.get("same"):  # all completions of a group are alike
            answer, tags = gold if prompt % 3 == 0 else "41", True
        batch["prompts"].append(f"What is {prompt} plus nothing, in words that a child would use?")
        batch["completions"].append(
            f"{'<think>' if tags else ''}{body}{'</think>' if tags else ''} {answer}"
        )
        batch["solution"].append(gold)
    return batch


def make(folder, steps, plan=healthy, first=1, seed=0, pause=0.0, prompts=ROWS // GROUP):
    """Record a run of some steps, by a trainer that counts them from 1."""
    functions = plaudit.record([accuracy_reward, think_format_reward], folder)
    trainer = Trainer()
    for step in range(first, first + steps):
        given = batch(step, plan(step), seed, prompts)
        lengths = [[0] * len(text.split()) for text in given["completions"]]
        trainer.score(functions, step, **given, completion_ids=lengths)
        if pause:
            time.sleep(pause)
    finish(folder)


if __name__ == "__main__":  # a run that goes on, for a page to follow
    make(sys.argv[1], int(sys.argv[2]), pause=float(sys.argv[3]))
