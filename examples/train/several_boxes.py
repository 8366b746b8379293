"""Does a hole of a reward matter? One square, and a model that may write several boxes.

    python several_boxes.py                 three seeds with each reward, and a picture
    python several_boxes.py --seeds 0       one of them

The same tiny model is trained with `vlm_r1.detection_score`, which takes little off for boxes that
are too many, and with `vision.box_reward`, which wants one. In half of the drawings the square
cannot be seen, as small things in photographs: there a guess is all that a model has. Both runs are
logged with the number of boxes and the share of answers that are right: one box, on the square.
Nothing is downloaded. Results go to runs/ in this folder.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RUNS = HERE / "runs"
PICTURE = RUNS / "several_boxes.png"
STEPS = 120
REWARDS = ("vlm_r1.detection_score", "vision.box_reward")
LABEL = "square"
HIDDEN = 0.5  # share of drawings in which the square cannot be seen


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--train", nargs=2, help=argparse.SUPPRESS)  # of a child: reward, seed
    options = parser.parse_args()
    if options.train:
        train(options.train[0], int(options.train[1]))
        return 0
    start = time.monotonic()
    for seed in options.seeds:
        for name in REWARDS:
            command = [sys.executable, __file__, "--train", name, str(seed)]
            environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
            curves = json.loads(result_of(name, seed).read_text())
            shown = ", ".join(f"{key} {_end(values):.2f}" for key, values in curves.items())
            print(f"{name:24} seed {seed}: {shown} ({time.monotonic() - start:.0f} s)", flush=True)
    draw(options.seeds, PICTURE)
    print(PICTURE)
    return 0


def _end(values: list[float]) -> float:
    return sum(values[-10:]) / 10


def result_of(name: str, seed: int) -> Path:
    return RUNS / f"several-{name}-{seed}.json"


# --- the task -------------------------------------------------------------------------------------


def written(cells: list[int]) -> str:
    """A list of boxes, as VLM-R1's models write it."""
    from boxes import box_of

    listed = ", ".join(f'{{"bbox_2d": {box_of(cell)}, "label": "{LABEL}"}}' for cell in cells)
    return f"<answer>```json\n[{listed}]\n```</answer>"


def drawing(draw: random.Random) -> dict[str, Any]:
    """A drawing of a square, which cannot be seen in half of them."""
    import boxes

    one = boxes.row(draw)
    return one if draw.random() > HIDDEN else {**one, "image": boxes.Image.fromarray(boxes.paper())}


def answer(one: dict[str, Any], draw: random.Random, is_late: bool) -> str:
    """One to four boxes; late in the warm-up, any of them, so that nothing is preferred."""
    cells = list(range(4))
    draw.shuffle(cells)
    if not is_late or draw.random() < 0.3:
        cells.sort(key=lambda cell: cell != one["cell"])
    return written(cells[: draw.choice([1, 1, 1, 2, 3, 4])])


def make(seed: int) -> tuple[Any, Any]:
    """A model that was warmed up, and its processor."""
    import boxes
    import tiny
    import torch

    # A box is one token: the number of boxes does not change how hard an answer is to write.
    pieces = rf'\{{"bbox_2d": [^}}]*\}}|{tiny.PIECES}'
    texts = [boxes.ASKED, *(written([cell]) for cell in range(4)), written([0, 1])]
    special = [boxes.IMAGE, boxes.VIDEO, "<|vision_start|>"]
    tokenizer = tiny.tokenizer_of(texts, special=special, pieces=pieces)
    image_processor = boxes.Qwen2VLImageProcessorPil()
    processor = boxes.Processor(image_processor, tokenizer, chat_template=boxes.CHAT)
    model = boxes.model_of(processor, seed)

    def batch(draw: random.Random, is_late: bool) -> dict[str, torch.Tensor]:
        drawn = [drawing(draw) for _ in range(64)]
        return boxes.batch_of(processor, drawn, [answer(one, draw, is_late) for one in drawn])

    tiny.warm_up(model, batch, 300, seed)
    return model, processor


# --- training -------------------------------------------------------------------------------------


def train(name: str, seed: int) -> None:
    """Train with one of the rewards, and write the curves."""
    import boxes
    import torch
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    from plaudit.rewards.vision import box_reward
    from plaudit.rewards.vlm_r1 import detection_score

    torch.set_num_threads(1)  # several times quicker than two, for models this small
    seen, drawn = [boxes.SIDE * boxes.EDGE] * 2, [boxes.WIDTH, boxes.HEIGHT]

    def right(completions: list[Any], solution: list[str], **_: Any) -> list[float]:
        texts = [one[-1]["content"] if isinstance(one, list) else one for one in completions]
        count = len(texts)
        sizes = {"image_size": [drawn] * count, "input_size": [seen] * count}
        return box_reward(texts, solution, **sizes, scale="model", threshold=0.5)

    def spray(
        completions: list[Any], solution: list[str], cell: list[int], **_: Any
    ) -> list[float]:
        texts = [one[-1]["content"] if isinstance(one, list) else one for one in completions]
        return [detection_score(t, written([c])) for t, c in zip(texts, cell, strict=True)]

    def number_of_boxes(completions: list[Any], **_: Any) -> list[float]:
        return [float(str(one).count("bbox_2d")) for one in completions]

    draw_rows = random.Random(1000 + seed)
    rows = [drawing(draw_rows) for _ in range(STEPS * 8)]
    weights = [1.0, 0.0, 0.0] if name == REWARDS[0] else [0.0, 1.0, 0.0]
    model, processor = make(seed)
    trainer = GRPOTrainer(
        model=model,
        processing_class=processor,
        train_dataset=Dataset.from_list(rows),
        reward_funcs=[spray, right, number_of_boxes],
        args=GRPOConfig(
            output_dir=str(RUNS / f"several-{name}-{seed}"),
            reward_weights=weights,
            max_steps=STEPS,
            learning_rate=5e-4,
            warmup_steps=5,
            per_device_train_batch_size=64,
            num_generations=8,
            max_completion_length=24,
            logging_steps=1,
            report_to="none",
            save_strategy="no",
            use_cpu=True,
            bf16=False,
            seed=seed,
        ),
    )
    trainer.train()
    logs = [log for log in trainer.state.log_history if "rewards/right/mean" in log]
    names = {"right": "right", "boxes": "number_of_boxes", "detection_score": "spray"}
    curves = {key: [log[f"rewards/{one}/mean"] for log in logs] for key, one in names.items()}
    RUNS.mkdir(exist_ok=True)
    result_of(name, seed).write_text(json.dumps(curves))


def draw(seeds: list[int], out: Path) -> None:
    """Draw the number of boxes and the share of right answers, with a thin line for each run."""
    import altair as alt
    from curves import smoothed

    panels = []
    for key, title, top in (("boxes", "Boxes per answer", 4), ("right", "One box, and right", 1)):
        rows = [
            {"reward": name, "seed": seed, "step": step, "value": value}
            for name in REWARDS
            for seed in seeds
            for step, value in smoothed(
                list(enumerate(json.loads(result_of(name, seed).read_text())[key])), 5
            )
        ]
        lines = alt.Chart(alt.Data(values=rows)).encode(
            x=alt.X("step:Q", title="step"), color=alt.Color("reward:N", title=None)
        )
        y = alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, top]))
        each = lines.mark_line(opacity=0.35, strokeWidth=1).encode(y=y, detail="seed:N")
        mean = lines.mark_line(strokeWidth=2.5).encode(y=alt.Y("mean(value):Q"))
        panels.append((each + mean).properties(title=title, width=280, height=200))
    chart = alt.hconcat(*panels).configure_view(stroke=None).configure_legend(orient="bottom")
    chart.save(str(out), scale_factor=1.5)


if __name__ == "__main__":
    sys.exit(main())
