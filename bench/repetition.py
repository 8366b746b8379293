"""`trl.get_repetition_penalty_reward` over long completions, against a plain-Python loop.

The loop makes every n-gram a tuple and puts it into a set, as TRL does. A few token ids are
frequent and most are rare, as in texts; a part of each completion repeats an earlier part.
"""

import random

from plaudit.rewards.trl import get_repetition_penalty_reward
from report import Table, arguments, best_in_turns, seconds, show, times

VOCABULARY = 150_000


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--tokens", type=int, nargs="+", default=[1_000, 8_000, 32_000])
    parser.add_argument("--sizes", type=int, nargs="+", default=[3, 6, 20], help="of n-grams")
    parser.add_argument("--repeat", type=int, default=7)
    options = parser.parse_args()
    lines = []
    for tokens in options.tokens:
        ids = [completion(tokens)]
        for size in options.sizes:
            reward = get_repetition_penalty_reward(ngram_size=size)
            taken = best_in_turns(
                {
                    "loop": lambda ids=ids, size=size: plain_penalty(ids, size),
                    "ours": lambda ids=ids, reward=reward: reward(ids),
                },
                options.repeat,
            )
            ratio = times(taken["loop"] / taken["ours"])
            same = plain_penalty(ids, size) == reward(ids)
            line = [f"{tokens:,}", size, seconds(taken["loop"]), seconds(taken["ours"]), ratio]
            lines.append([*line, 0 if same else 1])
    columns = ["tokens", "n", "plain loop", "plaudit", "ratio", "differing rewards"]
    show(Table("Repetition", columns, lines))


def completion(tokens: int, seed: int = 0) -> list[int]:
    """Token ids; the last fifth was there before."""
    rng = random.Random(seed)
    ids = [min(int(rng.paretovariate(0.5)), VOCABULARY) for _ in range(tokens)]
    return ids[: tokens - tokens // 5] + ids[: tokens // 5]


def plain_penalty(completion_ids: list[list[int]], size: int) -> list[float]:
    rewards = []
    for ids in completion_ids:
        if len(ids) < size:
            rewards.append(0.0)
            continue
        ngrams = list(zip(*(ids[start:] for start in range(size)), strict=False))
        share = 1 - len(set(ngrams)) / len(ngrams)
        rewards.append(share * -1.0 if share else 0.0)
    return rewards


if __name__ == "__main__":
    main()
