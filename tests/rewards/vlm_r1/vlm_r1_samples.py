"""What the tests of VLM-R1's rewards share: boxes, a tokenizer, rows of real runs."""

import json
from pathlib import Path

from plaudit.recipes import explain
from plaudit.rewards import vlm_r1


class Words:
    """A tokenizer for tests: a word is a token."""

    def encode(self, text):
        return text.split()


def fenced(*items):
    return f"```json\n{json.dumps(items)}\n```"


def box(left, top, right, bottom, label="cat"):
    return {"bbox_2d": [left, top, right, bottom], "label": label}


CAT, DOG = box(0, 0, 100, 100), box(200, 200, 300, 300, "dog")


def accuracy(method, completion, gold):
    score = explain(vlm_r1.accuracy_reward, completion, gold, accu_reward_method=method)
    assert vlm_r1.accuracy_reward([completion], [gold], accu_reward_method=[method]) == [
        score.value
    ]
    return score


def rows(shared: Path, name: str):
    with (shared / "data" / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
