"""`vlm_r1.detection_score` and `vision.boxes_reward` with 1 to 300 boxes a side.

`detection_score` is compared with a plain-Python greedy loop.

The loop does what VLM-R1 describes: it takes the IoU of every pair, then repeatedly the best pair
that is left. Both read the boxes from fenced JSON, as the reward gets them. Scores may differ in
the last bit, since sums are taken in another order.

`boxes_reward` scores a batch of 1,024 images; of its time, comparing is what remains after parsing.
"""

import json
import random
import re

from plaudit.rewards.vision import boxes_reward
from plaudit.rewards.vision._shapes import GoldBoxes, compared
from plaudit.rewards.vlm_r1 import detection_score
from plaudit.scores.boxes import Box, box_of
from report import Table, arguments, best_in_turns, seconds, show, times

Boxes = list[dict[str, object]]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--boxes", type=int, nargs="+", default=[1, 10, 100, 300])
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    lines = []
    for count in options.boxes:
        content, gold = image(count)
        calls = max(1, 1000 // count**2)
        taken = best_in_turns(
            {
                "loop": lambda c=content, g=gold, n=calls: [plain_score(c, g) for _ in range(n)],
                "ours": lambda c=content, g=gold, n=calls: [
                    detection_score(c, g) for _ in range(n)
                ],
            },
            options.repeat,
        )
        loop, ours = taken["loop"] / calls, taken["ours"] / calls
        apart = abs(plain_score(content, gold) - detection_score(content, gold))
        lines.append([count, seconds(loop), seconds(ours), times(loop / ours), f"{apart:.0e}"])
    columns = ["boxes a side", "plain loop", "plaudit", "ratio", "difference of the scores"]
    show(Table("`detection_score`", columns, lines))
    show(Table("`boxes_reward`", ["boxes a side", "images", "in all", "comparing"],
               [batch(count, options.repeat) for count in options.boxes]))  # fmt: skip


IMAGES = 1024


def batch(count: int, repeat: int) -> list[object]:
    """Score a batch whole, and its boxes once they are read."""
    rows = [image(count, seed) for seed in range(max(1, min(IMAGES, 10 * IMAGES // count)))]
    contents, golds = zip(*rows, strict=True)
    read = [
        (read_boxes(content), GoldBoxes(tuple(read_boxes(gold)), gold)) for content, gold in rows
    ]
    taken = best_in_turns(
        {
            "all": lambda: boxes_reward(contents, golds),
            "comparing": lambda: [compared(*pair, "exact", [0.5]) for pair in read],
        },
        repeat,
    )
    return [count, len(rows), seconds(taken["all"]), seconds(taken["comparing"])]


def read_boxes(text: str) -> list[Box]:
    boxes = json.loads(text.partition("json\n")[2].partition("\n```")[0])
    return [box_of(one) for one in boxes]


def image(count: int, seed: int = 0) -> tuple[str, str]:
    """Predictions and gold boxes of one image: most are near, some wrong in place or label."""
    rng = random.Random(seed + count)
    golds, preds = [], []
    for _ in range(count):
        left, top = rng.randint(0, 900), rng.randint(0, 900)
        box = [left, top, left + rng.randint(20, 120), top + rng.randint(20, 120)]
        label = rng.choice(("cat", "dog", "car"))
        golds.append({"bbox_2d": box, "label": label})
        moved = [edge + rng.randint(-6, 6) for edge in box]
        preds.append({"bbox_2d": moved, "label": label if rng.random() < 0.9 else "cow"})
    rng.shuffle(preds)
    return fenced(preds), fenced(golds)


def fenced(boxes: Boxes) -> str:
    return f"<answer>```json\n{json.dumps(boxes)}\n```</answer>"


def plain_score(content: str, gold: str, threshold: float = 0.5) -> float:
    """The score with VLM-R1's usual weights: 0.7 for position, 0.3 for completeness."""
    preds, golds = boxes_of(content), boxes_of(gold)
    overlaps = [[plain_iou(p["bbox_2d"], g["bbox_2d"]) for g in golds] for p in preds]
    free_preds, free_golds = list(range(len(preds))), list(range(len(golds)))
    position = 0.0
    while free_preds and free_golds:
        best, pred, gold_place = -1.0, -1, -1
        for p in free_preds:
            for g in free_golds:
                if overlaps[p][g] > best:
                    best, pred, gold_place = overlaps[p][g], p, g
        if best < threshold:
            break
        if str(preds[pred]["label"]).lower() == str(golds[gold_place]["label"]).lower():
            position += best
        free_preds.remove(pred)
        free_golds.remove(gold_place)
    missed, vain = len(free_golds) / len(golds), len(free_preds) / len(preds)
    return 0.7 * position / len(golds) + 0.3 * (1.0 - (missed + vain) / 2.0)


def boxes_of(text: str) -> Boxes:
    """The boxes of the fenced JSON in the cleaned text, which VLM-R1 cleans like this."""
    answers = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
    text = answers[-1] if answers else text
    for character in ("\n", "\r"):
        text = re.sub(rf"(?<=\s){character}", "", text)
        text = re.sub(rf"(?<!\s){character}", " ", text)
    block = re.search(r"```json(.*?)```", text.strip().rstrip(".").lower(), re.DOTALL)
    boxes: Boxes = json.loads(block[1]) if block else []
    return boxes


def plain_iou(a: list[float], b: list[float]) -> float:
    left, top = max(a[0], b[0]), max(a[1], b[1])
    right, bottom = min(a[2], b[2]), min(a[3], b[3])
    if left >= right - 1 or top >= bottom - 1:
        return 0.0
    both = (right - left) * (bottom - top)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


if __name__ == "__main__":
    main()
