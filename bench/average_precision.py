"""COCO libraries on one-image calls: agreement, speed, import, size, and use after a fork.

    pip install pycocotools faster-coco-eval hotcoco
    python bench/average_precision.py

Each row of a detection reward is one image with a handful of boxes, so what matters is the cost of
a call, not of a dataset. Ratios are against pycocotools.
"""

import contextlib
import io
import multiprocessing
import random
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import metadata
from typing import Any

from plaudit.scores.boxes import Box, average_precision

Coco = tuple[dict[str, Any], list[dict[str, Any]]]
LIBRARIES = {
    "pycocotools": "pycocotools.cocoeval",
    "faster-coco-eval": "faster_coco_eval",
    "hotcoco": "hotcoco",
}


def with_pycocotools(golds: dict[str, Any], preds: list[dict[str, Any]]) -> tuple[float, float]:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = golds
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(preds), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return evaluation.stats[0], evaluation.stats[1]


def with_faster_coco_eval(
    golds: dict[str, Any], preds: list[dict[str, Any]]
) -> tuple[float, float]:
    from faster_coco_eval import COCO, COCOeval_faster

    truth = COCO(golds)
    evaluation = COCOeval_faster(truth, truth.loadRes(preds), "bbox")
    evaluation.print_function = lambda *_: None
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    return evaluation.stats[0], evaluation.stats[1]


def with_hotcoco(golds: dict[str, Any], preds: list[dict[str, Any]]) -> tuple[float, float]:
    from hotcoco import COCO, COCOeval

    truth = COCO(golds)
    evaluation = COCOeval(truth, truth.loadRes(preds), "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summary_lines()
    return evaluation.stats[0], evaluation.stats[1]


RUNS = {
    "pycocotools": with_pycocotools,
    "faster-coco-eval": with_faster_coco_eval,
    "hotcoco": with_hotcoco,
}


def images(count: int = 120, seed: int = 0) -> list[tuple[list[Box], list[Box]]]:
    """Predictions and gold boxes: most hit, some are shifted, mislabelled, missing or too many."""
    rng = random.Random(seed)
    made = []
    while len(made) < count:
        golds = [_box(rng) for _ in range(rng.choice([1, 1, 2, 3, 3, 5, 5, 8, 12, 20, 50]))]
        preds = [_shifted(box, rng) for box in golds if rng.random() < 0.8]
        preds += [_box(rng) for _ in range(rng.randrange(3))]
        rng.shuffle(preds)
        if {box.label for box in preds} & {box.label for box in golds}:
            made.append((preds, golds))
    return made


def _box(rng: random.Random) -> Box:
    left, top = rng.uniform(0, 400), rng.uniform(0, 400)
    return Box(
        (left, top, left + rng.uniform(5, 200), top + rng.uniform(5, 200)), rng.choice("abc")
    )


def _shifted(box: Box, rng: random.Random) -> Box:
    left, top, right, bottom = box.corners or (0.0, 0.0, 0.0, 0.0)
    move = lambda: rng.uniform(-2, 2)  # noqa: E731
    return Box((left + move(), top + move(), right + move(), bottom + move()), box.label)


def as_coco(preds: list[Box], golds: list[Box]) -> Coco:
    ids = {label: number for number, label in enumerate(dict.fromkeys(b.label for b in golds), 1)}

    def record(box: Box, number: int) -> dict[str, Any]:
        left, top, right, bottom = box.corners or (0.0, 0.0, 0.0, 0.0)
        width, height = right - left, bottom - top
        return {
            "id": number,
            "image_id": 1,
            "category_id": ids[box.label],
            "bbox": [left, top, width, height],
            "area": width * height,
            "iscrowd": 0,
            "score": 1.0,
        }

    truth = {
        "images": [{"id": 1}],
        "categories": [{"id": number, "name": str(label)} for label, number in ids.items()],
        "annotations": [record(box, number) for number, box in enumerate(golds, 1)],
    }
    return truth, [record(box, n) for n, box in enumerate(preds, 1) if box.label in ids]


def seconds(runs: dict[str, Callable[[], object]], repeat: int = 7) -> dict[str, float]:
    """The best of several times for each, in turns: a busy machine slows all alike."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(repeat):
        for name, run in runs.items():
            start = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def import_seconds(module: str) -> float:
    code = f"import time, numpy; s = time.time(); import {module}; print(time.time() - s)"
    command = [sys.executable, "-c", code]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(5)]
    return min(float(run.stdout) for run in runs)


def megabytes(package: str) -> float:
    files = metadata.files(package) or []
    return sum(file.size or 0 for file in files) / 1e6


def lives_after_a_fork(run: Callable[..., object], image: Coco) -> bool:
    """Whether a forked child can call what its parent has called before."""
    run(*image)
    child = multiprocessing.get_context("fork").Process(target=run, args=image)
    child.start()
    child.join(10)
    alive = child.is_alive()
    child.kill()
    child.join()
    return not alive


def main() -> None:
    boxes = images()
    cocos = [as_coco(preds, golds) for preds, golds in boxes]
    found = {name: partial(_each, run, cocos) for name, run in RUNS.items()}
    found["plaudit"] = partial(_each, average_precision, boxes)
    wanted, taken = found["pycocotools"](), seconds(found)
    print(f"{'':18}ms a call   ratio  differs by  import s   MB  after a fork")
    for name, run in found.items():
        base, off = taken["pycocotools"], _largest_difference(run(), wanted)
        line = f"{name:18}{taken[name] / len(cocos) * 1e3:9.3f}{base / taken[name]:8.1f}{off:12.1e}"
        if name in RUNS:
            fork = "works" if lives_after_a_fork(RUNS[name], cocos[-1]) else "hangs"
            line += f"{import_seconds(LIBRARIES[name]):10.3f}{megabytes(name):5.1f}  {fork}"
        print(line)


def _each(run: Callable[..., tuple[float, float]], images: list[Any]) -> list[tuple[float, float]]:
    return [run(*image) for image in images]


def _largest_difference(found: list[Any], wanted: list[Any]) -> float:
    pairs = zip(found, wanted, strict=True)
    return max(abs(a - b) for one, other in pairs for a, b in zip(one, other, strict=True))


if __name__ == "__main__":
    main()
