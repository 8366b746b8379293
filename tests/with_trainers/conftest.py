"""A model small enough to train here: made on the spot, nothing is downloaded."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"  # before anything imports the hub's client

from functools import partial

import pytest
from tiny_models import model_of
from transformers import PreTrainedTokenizerFast

# What the model can say. It knows nothing, so it says these at random, and is right now and then.
WORDS = [r"\boxed{4}", r"\boxed{2+2}", r"\boxed{5}", "<think>", "</think>", "so", "What is 2 + 2?"]
SPECIAL = ["<pad>", "<eos>", "<unk>"]


@pytest.fixture(scope="session")
def tokenizer():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *WORDS])}
    words = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Split("|", "removed")
    words.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )


@pytest.fixture(scope="session")
def new_model(tokenizer):
    """Makes the same model again and again."""
    return partial(model_of, tokenizer)


@pytest.fixture(scope="session")
def dataset():
    from datasets import Dataset

    rows = 16
    golds = ["4", "4", "5", None]
    return Dataset.from_dict(
        {"prompt": ["What is 2 + 2?"] * rows, "answer": golds * (rows // len(golds))}
    )


@pytest.fixture(scope="session")
def recipe():
    from plaudit.recipes import Component, Recipe

    return Recipe(
        "brief-math",
        (
            Component("accuracy", "trl.accuracy_reward"),
            Component("form", "trl.think_format_reward", weight=0.5),
            Component(
                "brevity",
                "trl.get_soft_overlong_punishment",
                weight=0.25,
                gate="accuracy",
                params={"max_completion_len": 8, "soft_punish_cache": 6},
            ),
        ),
        columns={"solution": "answer"},
    )
