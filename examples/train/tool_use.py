r"""Trains a tiny model to use a tool: rewards that fail, and rewards for each turn.

    python tool_use.py                        both experiments, three seeds each
    python tool_use.py --only turns --seeds 0

An episode has two turns. The model is asked for the code of a key, and may look it up:

    code of 17?   [find(key=17)]   <tool>4</tool>   \boxed{4}

"failures": 19 codes of 20 are 0, so that a guess is right 19 times of 20, and looking up
always. One reward in ten of those episodes in which the tool was called fails, as if its sandbox
had died. If such a row is paid 0, the model learns to guess; if it is skipped, it learns to call.

"turns": codes are random, and the model makes mistakes in both turns. Each turn is paid for itself
(`RowScore.turns`), or all tokens get the total of the episode.

The trainer is GRPO in forty lines, since TRL takes no rewards for turns. It has no KL term: other
learning rates, widths and warm-ups were tried, and some runs of "turns" collapsed late. Results and
curves go to runs/ beside this file.
"""

import argparse
import json
import os
import random
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from tiny import tokenizer_of, warm_up, written

from plaudit import Score, reward
from plaudit.inputs.messages import ChatMessage
from plaudit.recipes import Component, Recipe, RowScore
from plaudit.rewards.answers import answer_reward

RUNS = Path(__file__).parent / "runs" / "tool_use"
KEYS, CODES, USUAL = range(10, 15), range(5), 0
WARM_UP = {"failures": 2500, "turns": 1200}
STEPS, RATE = 200, 1e-3
LONGEST = 9  # tokens of a turn
GROUPS, SIZE = 16, 8  # of each step: prompts, and episodes for each
FAILING = 0.1  # of the episodes that call the tool
_draw = random.Random(0)

# What each curve is called: the experiment's variants.
VARIANTS = {
    "failures": ("no failures", "failures are skipped", "failures are zeros"),
    "turns": ("a reward for each turn", "the total alone"),
}


# --- rewards --------------------------------------------------------------------------------------


@reward(reads="messages")
def unreliable(
    completions: Sequence[Sequence[ChatMessage]], solution: Sequence[str], share: float = 0.0
) -> list[Score]:
    """Whether the last message has the gold; a share of the episodes that call a tool fails."""
    texts = [messages[-1].text for messages in completions]
    scores = answer_reward.scores(completions=texts, solution=solution)
    died = Score(None, "The sandbox died.", status="error")
    return [
        died if any(m.calls for m in messages) and _draw.random() < share else score
        for messages, score in zip(completions, scores, strict=True)
    ]


def recipe_of(variant: str) -> Recipe:
    if variant in VARIANTS["turns"]:
        called = Component("called", "messages.tool_use_reward")
        return Recipe(variant, (called, Component("right", "answers.answer_reward")))
    share = 0.0 if variant == "no failures" else FAILING
    on = {"error": "zero"} if variant == "failures are zeros" else {}
    return Recipe(variant, (Component("right", unreliable, params={"share": share}, on=on),))


# --- episodes -------------------------------------------------------------------------------------


@dataclass
class Episode:
    """A prompt and its gold; what the assistant and the tool wrote; which turns came to an end."""

    key: int
    gold: str
    texts: list[str] = field(default_factory=list)
    ended: list[bool] = field(default_factory=list)

    @property
    def messages(self) -> list[dict[str, str]]:
        roles = ["assistant", "tool", "assistant"]
        return [{"role": r, "content": t} for r, t in zip(roles, self.texts, strict=False)]


def prompt_of(key: int) -> str:
    return f"code of {key}?"


def looked_up(episode: Episode) -> str | None:
    """What the tool answers: the code of the key that was asked for; None if it is not called."""
    text = episode.texts[0]
    if not text.startswith("["):
        return None
    is_known = text == f"[find(key={episode.key})]"
    return episode.gold if is_known else "Error: there is no such key"


def code_of(draw: random.Random, experiment: str) -> str:
    usual = experiment == "failures" and draw.random() < 0.95
    others = [code for code in CODES if code != USUAL] if experiment == "failures" else CODES
    return str(USUAL if usual else draw.choice(others))


def examples(draw: random.Random, experiment: str, is_late: bool) -> list[tuple[str, str]]:
    """What a model is warmed up with: each turn, and what is before it."""
    key, code = draw.choice(KEYS), str(draw.choice(CODES))
    if experiment == "failures" and draw.random() < 0.5:
        return [(prompt_of(key), rf"\boxed{{{USUAL}}}")]
    wrong = experiment == "turns" and is_late
    asked = draw.choice(KEYS) if wrong and draw.random() < 0.7 else key
    said = draw.choice(CODES) if wrong and draw.random() < 0.7 else code
    call = f"[find(key={asked})]"
    result = code if asked == key else "Error: there is no such key"
    context = f"{prompt_of(key)}{call}<tool>{result}</tool>"
    return [(prompt_of(key), call), (context, rf"\boxed{{{said}}}")]


# --- the model ------------------------------------------------------------------------------------


class Writer(torch.nn.Module):
    """A recurrent network that writes: small enough for a step to take a twentieth of a second."""

    def __init__(self, vocabulary: int, width: int = 96) -> None:
        super().__init__()
        self.read = torch.nn.Embedding(vocabulary, width)
        self.think = torch.nn.GRU(width, width, batch_first=True)
        self.write = torch.nn.Linear(width, vocabulary)

    def forward(
        self, input_ids: torch.Tensor, labels: torch.Tensor | None = None, **_: Any
    ) -> SimpleNamespace:
        logits = self.write(self.think(self.read(input_ids))[0])
        loss = None
        if labels is not None:
            loss = torch.nn.functional.cross_entropy(
                logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()
            )
        return SimpleNamespace(logits=logits, loss=loss)

    @torch.no_grad()
    def generate(self, contexts: Sequence[Sequence[int]], longest: int) -> torch.Tensor:
        """Sample what follows each context."""
        most = max(map(len, contexts))
        padded = torch.tensor([[*ids, *[0] * (most - len(ids))] for ids in contexts])
        last = torch.tensor([len(ids) - 1 for ids in contexts])
        state = self.think(self.read(padded))[0][torch.arange(len(last)), last][None]
        tokens = []
        for _ in range(longest):
            chances = torch.softmax(self.write(state[0]), -1)
            tokens.append(torch.multinomial(chances, 1))
            state = self.think(self.read(tokens[-1]), state)[1]
        return torch.cat(tokens, dim=1)


# --- training -------------------------------------------------------------------------------------


def trained(experiment: str, seed: int) -> None:
    """Warm up a model, and train a copy of it with each variant."""
    torch.set_num_threads(1)
    draw = random.Random(seed)
    pairs = [pair for _ in range(3000) for pair in examples(draw, experiment, True)]
    tokenizer = tokenizer_of("".join(pair) for pair in pairs)
    torch.manual_seed(seed)
    model = Writer(len(tokenizer))

    def batch(draw: random.Random, is_late: bool) -> dict:
        drawn = [examples(draw, experiment, is_late) for _ in range(48)]
        return written(tokenizer, [pair for pairs in drawn for pair in pairs])

    warm_up(model, batch, WARM_UP[experiment], seed, rate=5e-3)
    for variant in VARIANTS[experiment]:
        curve = curve_of(deepcopy(model), tokenizer, experiment, variant, seed)
        file_of(experiment, variant, seed).write_text(json.dumps(curve))
        print(f"{experiment}, {variant}, seed {seed}: {ends(curve)}", flush=True)


def curve_of(
    model: Writer, tokenizer: Any, experiment: str, variant: str, seed: int
) -> list[dict[str, float]]:
    """Train; return the shares of answers that are right, and of episodes with a call, by step."""
    _draw.seed(seed)
    torch.manual_seed(seed)
    draw, recipe, curve = random.Random(seed), recipe_of(variant), []
    optimizer = torch.optim.AdamW(model.parameters(), RATE, weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, STEPS)
    for _ in range(STEPS):
        asked = [(draw.choice(KEYS), code_of(draw, experiment)) for _ in range(GROUPS)]
        episodes = [Episode(key, gold) for key, gold in asked for _ in range(SIZE)]
        played(model, tokenizer, episodes)
        scores = recipe([e.messages for e in episodes], solution=[e.gold for e in episodes])
        advantages = advantages_of(scores, by_turn=variant == "a reward for each turn")
        loss = loss_of(model, tokenizer, episodes, advantages)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        right = [e.texts[-1] == rf"\boxed{{{e.gold}}}" for e in episodes]
        calls = [len(e.texts) > 1 for e in episodes]
        curve.append({"right": sum(right) / len(right), "calls": sum(calls) / len(calls)})
    return curve


def played(model: Writer, tokenizer: Any, episodes: list[Episode]) -> None:
    """Have the model write the first turn of each episode, and the second if it calls the tool."""
    write_turn(model, tokenizer, episodes)
    results = [(episode, looked_up(episode)) for episode in episodes]
    called = [episode for episode, result in results if result is not None]
    for episode, result in results:
        episode.texts += [] if result is None else [result]
    if called:
        write_turn(model, tokenizer, called)


def context_of(episode: Episode, turn: int) -> str:
    """The text before a turn of the assistant."""
    before = f"{episode.texts[0]}<tool>{episode.texts[1]}</tool>" if turn else ""
    return prompt_of(episode.key) + before


def write_turn(model: Writer, tokenizer: Any, episodes: list[Episode]) -> None:
    """Have the model write the next turn of each episode."""
    contexts = [context_of(episode, len(episode.texts) // 2) for episode in episodes]
    tokens = model.generate(tokenizer(contexts)["input_ids"], LONGEST).tolist()
    for episode, ids in zip(episodes, tokens, strict=True):
        end = ids.index(tokenizer.eos_token_id) if tokenizer.eos_token_id in ids else None
        episode.texts.append(tokenizer.decode(ids[:end]))
        episode.ended.append(end is not None)


def advantages_of(scores: Sequence[RowScore], by_turn: bool) -> list[list[float]]:
    """Return the advantage of each turn of each episode; 0 for one that was skipped.

    A turn counts what it and the later ones are worth. It is compared with the same turn of the
    group's other episodes.
    """
    returns: list[list[float] | None] = []
    for row in scores:
        if row.total is None:
            returns.append(None)
        elif by_turn and row.turns is not None:
            returns.append([sum(row.turns[turn:]) for turn in range(len(row.turns))])
        else:
            returns.append([row.total] * 2)
    advantages = []
    for start in range(0, len(returns), SIZE):
        group = returns[start : start + SIZE]
        for values in group:
            own = []
            for turn, value in enumerate(values or []):
                same = [v[turn] for v in group if v is not None and len(v) > turn]
                mean = sum(same) / len(same)
                deviation = (sum((v - mean) ** 2 for v in same) / max(len(same) - 1, 1)) ** 0.5
                own.append((value - mean) / (deviation + 1e-4))
            advantages.append(own or [0.0, 0.0])
    return advantages


def loss_of(
    model: Writer, tokenizer: Any, episodes: list[Episode], advantages: list[list[float]]
) -> Any:
    """The policy gradient: each token of a turn counts with the advantage of the turn."""
    pairs, weights, ended = [], [], []
    for episode, own in zip(episodes, advantages, strict=True):
        for turn, text in enumerate(episode.texts[::2]):
            pairs.append((context_of(episode, turn), text))
            weights.append(own[turn])
            ended.append(episode.ended[turn])
    batch = written(tokenizer, pairs)
    labels = batch.pop("labels")[:, 1:]
    logits = model(**batch).logits[:, :-1]
    # The token that ends a turn counts only if the model has written it.
    is_end = labels == tokenizer.eos_token_id
    known = (labels != -100) & ~(is_end & ~torch.tensor(ended)[:, None])
    chosen = torch.log_softmax(logits, -1).gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    return -(chosen * known * torch.tensor(weights)[:, None]).sum() / known.sum()


# --- runs and curves ------------------------------------------------------------------------------


def file_of(experiment: str, variant: str, seed: int) -> Path:
    return RUNS / f"{experiment}-{variant.replace(' ', '-')}-{seed}.json"


def ends(curve: list[dict[str, float]]) -> str:
    """How a run began and ended: means of ten steps."""
    shown = []
    for name in curve[0]:
        first, last = (sum(one[name] for one in part) / 10 for part in (curve[:10], curve[-10:]))
        shown.append(f"{name} {first:.2f} → {last:.2f}")
    return ", ".join(shown)


def draw(experiment: str, seeds: Sequence[int], out: Path) -> None:
    """Draw the curves; a thin line is a run, a thick line the mean over seeds."""
    import altair as alt

    rows = []
    for variant in VARIANTS[experiment]:
        for seed in seeds:
            curve = json.loads(file_of(experiment, variant, seed).read_text())
            for at in range(9, len(curve), 5):
                part = curve[at - 9 : at + 1]
                for name in ("right", "calls"):
                    value = sum(one[name] for one in part) / len(part)
                    rows.append({"run": variant, "seed": seed, "step": at + 1})
                    rows[-1] |= {"of": name, "value": value}
    titles = {"right": "share of answers that are right", "calls": "share that calls the tool"}
    colour = alt.Color("run:N", title=None, sort=list(VARIANTS[experiment]))
    panels = []
    for name, title in titles.items():
        data = alt.Data(values=[row for row in rows if row["of"] == name])
        y = alt.Y("value:Q", title=None, scale=alt.Scale(zero=False))
        lines = alt.Chart(data).encode(x=alt.X("step:Q", title="step"), color=colour)
        each = lines.mark_line(opacity=0.35, strokeWidth=1).encode(y=y, detail="seed:N")
        mean = lines.mark_line(strokeWidth=2.5).encode(y=alt.Y("mean(value):Q"))
        panels.append((each + mean).properties(title=title, width=300, height=200))
        if experiment == "turns":
            break
    chart = alt.hconcat(*panels).configure_view(stroke=None)
    chart.configure_legend(orient="bottom", symbolOpacity=1).save(str(out), scale_factor=1.5)
    print(out)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", choices=VARIANTS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time")
    options = parser.parse_args()
    experiments = [options.only] if options.only else list(VARIANTS)
    RUNS.mkdir(parents=True, exist_ok=True)
    runs = [(experiment, seed) for seed in options.seeds for experiment in experiments]
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        list(pool.map(trained, *zip(*runs, strict=True)))
    for experiment in experiments:
        draw(experiment, options.seeds, RUNS / f"{experiment}.png")


if __name__ == "__main__":
    main()
