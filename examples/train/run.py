"""Trains tiny models with stock TRL: mathematics, CANOE, boxes; shows what the rewards teach.

    python run.py                     each once, as many at a time as there are cores
    python run.py --seeds 0 1 2       three times each
    python run.py --task canoe        one of them

Mathematics and CANOE are trained again with shuffled golds, CANOE without the influence reward, and
boxes with plaudit's own reward.
Nothing is downloaded. Results go to runs/ beside this file.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).parent
RUNS = HERE / "runs"
PICTURE = RUNS / "curves.png"
SHUFFLED, ABLATED, VISION = "shuffled-golds", "without-influence", "vision"
# For each task and variant: at least or at most how much a mean must rise on held-out problems.
WANTED = {
    "mathematics": {
        "": {"reasoning_accuracy_reward": (0.3, 1)},
        SHUFFLED: {"reasoning_accuracy_reward": (-1, 0.1)},
    },
    "canoe": {
        "": {"accuracy_reward": (0.3, 1), "influence_reward": (0.3, 1)},
        ABLATED: {"accuracy_reward": (0.3, 1), "influence_reward": (-1, 0.15)},
        SHUFFLED: {"accuracy_reward": (-1, 0.1), "influence_reward": (-1, 0.15)},
    },
    "boxes": {"": {"iou_reward": (0.2, 1)}, VISION: {"iou_reward": (0.2, 1)}},
}
FEW = 10


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--task", choices=WANTED, action="append", help="may be repeated")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)  # of a child
    options = parser.parse_args()
    # The task that takes longest is started first.
    tasks = sorted(options.task or WANTED, key=lambda task: -len(WANTED[task]))
    runs = [(task, seed) for task in tasks for seed in options.seeds]
    if options.here:
        return trained(*runs[0])
    start = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        succeeded = list(pool.map(lambda run: child(*run), runs))
    print(f"\n{time.monotonic() - start:.0f} s")
    enough = [reported(*run) for run, success in zip(runs, succeeded, strict=True) if success]
    show_where(runs)
    return 0 if all(succeeded) and all(enough) else 1


def child(task: str, seed: int) -> bool:
    """Train in a separate process, and show every tenth step; return whether it succeeded."""
    command = [sys.executable, __file__, "--here", "--task", task, "--seeds", str(seed)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    log = folder_of(task, "", seed).with_suffix(".log")
    log.parent.mkdir(parents=True, exist_ok=True)
    with (
        log.open("w") as errors,
        subprocess.Popen(
            command, env=environment, text=True, stdout=subprocess.PIPE, stderr=errors
        ) as process,
    ):
        for number, line in enumerate(process.stdout):
            is_dictionary = line.startswith("{")  # what TRL prints by default
            if not is_dictionary and (number % FEW == 0 or not line.startswith("step")):
                print(f"{task:11} {seed} | {line}", end="", flush=True)
    if process.returncode:
        print(f"{task} failed: {log}\n{log.read_text()[-2000:]}", file=sys.stderr)
    return process.returncode == 0


def folder_of(task: str, variant: str, seed: int) -> Path:
    return RUNS / "-".join([task, *filter(None, [variant]), *([str(seed)] if seed else [])])


def trained(task: str, seed: int) -> int:
    import torch

    torch.set_num_threads(1)  # several times quicker than two, for models this small
    (boxes if task == "boxes" else by_file)(task, seed, time.monotonic())
    return 0


def by_file(task: str, seed: int, start: float) -> None:
    """Mathematics and CANOE: what `plaudit train` does with the file of the task."""
    from importlib import import_module

    from plaudit.train import read_run, train

    base = folder_of(task, "", seed)
    rows, unseen = import_module(task).make(base / "start", seed)
    write_rows(base / "held_out.jsonl", unseen)
    print(f"warmed up in {time.monotonic() - start:.0f} s", flush=True)
    for variant in WANTED[task]:
        print(f"training {variant.replace('-', ' ')}", flush=True)
        folder = folder_of(task, variant, seed)
        write_rows(folder / "data.jsonl", shuffled(rows, seed) if variant == SHUFFLED else rows)
        run = read_run(HERE / f"{task}.toml")
        run = replace(
            run,
            model=str(base / "start"),
            data=str(folder / "data.jsonl"),
            eval_data=str(base / "held_out.jsonl"),
            recipe=str(HERE / "canoe_without_influence.toml") if variant == ABLATED else run.recipe,
            output=folder / "grpo",
            trainer={**run.trainer, "seed": seed},
        )
        train(run, overwrite=run.output.exists())
        history = json.loads((run.output / "trainer_state.json").read_text())["log_history"]
        write_result(folder, curves_of(history), curves_of(history, "eval_"))


def write_rows(file: Path, rows: list[dict]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def shuffled(rows: list[dict], seed: int) -> list[dict]:
    """The rows, each with the gold of another: there is nothing to learn from these."""
    gold = "answer" if "answer" in rows[0] else "solution"
    golds = [row[gold] for row in rows]
    random.Random(seed).shuffle(golds)
    return [{**row, gold: other} for row, other in zip(rows, golds, strict=True)]


def boxes(task: str, seed: int, start: float) -> None:
    """Boxes: forty lines of Python in place of a file, with VLM-R1's reward and plaudit's own."""
    from copy import deepcopy

    import train_boxes

    measured = train_boxes.boxes.measured
    warmed_up, processor = train_boxes.boxes.make(seed)
    print(f"warmed up in {time.monotonic() - start:.0f} s", flush=True)
    for variant in WANTED[task]:
        folder, model = folder_of(task, variant, seed), deepcopy(warmed_up)
        recipe = str(HERE / "boxes_vision.toml") if variant == VISION else "vlm-r1-rec"
        before = measured(model, processor)
        curves = curves_of(train_boxes.train(model, processor, folder, seed, recipe))
        after, blank = measured(model, processor), measured(model, processor, blank=True)
        held_out = {"iou_reward": [(0, before), (len(curves["total"]), after)]}
        write_result(folder, curves, {**held_out, "on blank paper": [(0, 0.0), (80, blank)]})


def write_result(folder: Path, curves: dict, held_out: dict) -> None:
    result = {"training": curves, "held out": held_out}
    (folder / "result.json").write_text(json.dumps(result))


def curves_of(history: list[dict], prefix: str = "") -> dict[str, list[tuple[int, float]]]:
    """The steps and means of the total and of each component."""
    logs = [log for log in history if f"{prefix}reward" in log]
    names = [n for n in logs[0] if n.startswith(f"{prefix}rewards/") and n.endswith("/mean")]
    means = {"total": f"{prefix}reward", **{name.split("/")[1]: name for name in names}}
    return {name: [(log.get("step", 0), log[key]) for log in logs] for name, key in means.items()}


def reported(task: str, seed: int) -> bool:
    """Print how the means of a task changed, and return whether that is as wanted."""
    enough = True
    for variant, wanted in WANTED[task].items():
        result = json.loads((folder_of(task, variant, seed) / "result.json").read_text())
        print(f"\n{' '.join([task, variant.replace('-', ' ')]).strip()}, seed {seed}")
        for name, curve in result["training"].items():
            values = [value for _, value in curve]
            first, last = sum(values[:FEW]) / FEW, sum(values[-FEW:]) / FEW
            print(f"  {'training':9} {name:28} {first:.3f} -> {last:.3f}")
        for name, curve in result["held out"].items():
            (_, first), (_, last) = curve[0], curve[-1]
            low, high = wanted.get(name, (-9, 9))
            is_enough = low <= last - first <= high
            bound = f"at least {low:+}" if high == 1 else f"at most {high:+}"
            note = f"  wanted {bound}: {'yes' if is_enough else 'NO'}" if name in wanted else ""
            print(f"  {'held out':9} {name:28} {first:.3f} -> {last:.3f}{note}")
            enough &= is_enough
    return enough


def show_where(runs: list[tuple[str, int]]) -> None:
    """Draw the curves, and say where the records are and how to look at them."""
    import curves

    curves.draw(RUNS, PICTURE)
    plaudit = os.path.relpath(Path(sys.executable).parent / "plaudit")
    print(f"\nThe curves are in {os.path.relpath(PICTURE)}. To look at the recorded runs:")
    for task, seed in runs:
        folders = [folder_of(task, variant, seed) for variant in WANTED[task]]
        records = [
            one / "record" if task == "boxes" else one / "grpo" / "record" for one in folders
        ]
        for record in records:
            print(f"  {plaudit} watch {os.path.relpath(record)}")


if __name__ == "__main__":
    sys.exit(main())
