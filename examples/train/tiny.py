"""A tokenizer and a model that are small enough to train on a CPU."""

import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from torch.nn.utils import clip_grad_norm_
from transformers import Olmo2Config, Olmo2ForCausalLM, PreTrainedTokenizerFast, set_seed

# A tag, a command of LaTeX, a word, a number, or any other character: nothing is lost.
PIECES = r"<[^<>]*>|\\\w+| ?[A-Za-z]+:?|\d+|.|\n"
END, UNKNOWN = "<end>", "<unk>"
# Only the user's last message: these models do not know the words of the others.
CHAT = "{{ messages[-1]['content'] }}"


def tokenizer_of(
    texts: Iterable[str], special: Iterable[str] = (), pieces: str = PIECES
) -> PreTrainedTokenizerFast:
    """A tokenizer that knows the pieces of these texts, and reproduces each text exactly."""
    split = pre_tokenizers.Split(Regex(pieces), "isolated")
    found = {piece for text in texts for piece, _ in split.pre_tokenize_str(text)}
    known = [END, UNKNOWN, *special, *sorted(found - {END, UNKNOWN, *special})]
    words = Tokenizer(models.WordLevel({p: n for n, p in enumerate(known)}, unk_token=UNKNOWN))
    words.pre_tokenizer, words.decoder = split, decoders.Fuse()
    # No token but the last is left out of what is read: a model would learn to hide in others.
    return PreTrainedTokenizerFast(
        tokenizer_object=words,
        pad_token=END,
        eos_token=END,
        padding_side="left",
        chat_template=CHAT,
        extra_special_tokens=list(special),
    )


def language_model(tokenizer: PreTrainedTokenizerFast, seed: int) -> Olmo2ForCausalLM:
    """Two layers of width 64, untrained."""
    set_seed(seed)
    return Olmo2ForCausalLM(
        Olmo2Config(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=256,
            tie_word_embeddings=False,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
        )
    )


def warm_up(
    model: torch.nn.Module,
    batch_of: Callable[[random.Random, bool], dict[str, torch.Tensor]],
    steps: int,
    seed: int,
    rate: float = 3e-3,
) -> None:
    """Teach a model to answer; in the last quarter of the steps, many answers are wrong.

    So the model can answer, but does so only now and then: the rest is left to the rewards.
    """
    set_seed(seed)
    draw = random.Random(seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, total_steps=steps)
    model.train()
    for step in range(steps):
        loss = model(**batch_of(draw, step > 0.75 * steps)).loss
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()


def held_out(problems: Sequence[Any], draw: random.Random) -> tuple[list[Any], list[Any]]:
    """Four fifths of the problems, and the others, which are never trained on."""
    shuffled = draw.sample(problems, len(problems))
    return shuffled[len(problems) // 5 :], shuffled[: len(problems) // 5]


def written(
    tokenizer: PreTrainedTokenizerFast, pairs: Iterable[tuple[str, str]]
) -> dict[str, torch.Tensor]:
    """A batch of prompts and what should follow them; only what follows counts for the loss."""
    ids, labels = [], []
    for prompt, answer in pairs:
        asked = tokenizer(prompt)["input_ids"]
        said = [*tokenizer(answer)["input_ids"], tokenizer.eos_token_id]
        ids.append(asked + said)
        labels.append([-100] * len(asked) + said)
    longest = max(map(len, ids))
    pad = tokenizer.pad_token_id
    return {
        "input_ids": torch.tensor([row + [pad] * (longest - len(row)) for row in ids]),
        "attention_mask": torch.tensor([[1] * len(r) + [0] * (longest - len(r)) for r in ids]),
        "labels": torch.tensor([row + [-100] * (longest - len(row)) for row in labels]),
    }


def save(model: torch.nn.Module, tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
