"""Trains three tiny models with stock TRL: mathematics, CANOE, boxes; shows that rewards rise.

    python run.py                     each once, as many at a time as there are cores
    python run.py --seeds 0 1 2       three times each
    python run.py --task canoe        one of them

Nothing is downloaded. Results go to runs/ beside this file; `plaudit watch` shows a run.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).parent
RUNS = HERE / "runs"
TASKS = ("mathematics", "canoe", "boxes")
# By how much the mean of the last ten steps must be above that of the first ten.
WANTED = {
    "mathematics": {"total": 0.3},
    "canoe": {"total": 1.0, "influence_reward": 0.4},
    "boxes": {"total": 0.3, "iou_reward": 0.2, "on drawings never seen": 0.2},
}
FEW = 10


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--task", choices=TASKS, action="append", help="may be repeated")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="runs at a time")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)  # of a child
    options = parser.parse_args()
    runs = [(task, seed) for task in options.task or TASKS for seed in options.seeds]
    if options.here:
        return trained(*runs[0])
    start = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda run: child(*run), runs))
    print(f"\n{len(runs)} runs, {time.monotonic() - start:.0f} s")
    enough = [told(run, result) for run, result in zip(runs, results, strict=True)]
    return 0 if all(enough) else 1


def child(task: str, seed: int) -> dict:
    """Train in a separate process, and show every tenth step."""
    command = [sys.executable, __file__, "--here", "--task", task, "--seeds", str(seed)]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    log = folder_of(task, seed).with_suffix(".log")
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
        return {}
    return json.loads((folder_of(task, seed) / "result.json").read_text())


def folder_of(task: str, seed: int) -> Path:
    return RUNS / (task if seed == 0 else f"{task}-{seed}")


def trained(task: str, seed: int) -> int:
    import torch

    torch.set_num_threads(1)  # several times quicker than two, for models this small
    folder = folder_of(task, seed)
    start = time.monotonic()
    curves, more = (boxes if task == "boxes" else by_file)(task, seed, folder, start)
    (folder / "result.json").write_text(json.dumps({"curves": curves, "more": more}))
    return 0


def by_file(task: str, seed: int, folder: Path, start: float) -> tuple[dict, dict]:
    """Mathematics and CANOE: what `plaudit train` does with the file of the task."""
    from importlib import import_module

    from plaudit.train import read_run, train

    rows = import_module(task).make(folder / "start", seed)
    (folder / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    print(f"warmed up in {time.monotonic() - start:.0f} s", flush=True)
    run = read_run(HERE / f"{task}.toml")
    run = replace(
        run,
        model=str(folder / "start"),
        data=str(folder / "data.jsonl"),
        output=folder / "grpo",
        trainer={**run.trainer, "seed": seed},
    )
    train(run, overwrite=run.output.exists())
    state = folder / "grpo" / f"checkpoint-{run.trainer['max_steps']}" / "trainer_state.json"
    return curves_of(json.loads(state.read_text())["log_history"]), {}


def boxes(task: str, seed: int, folder: Path, start: float) -> tuple[dict, dict]:
    """Boxes: forty lines of Python in place of a file."""
    import train_boxes

    model, processor = train_boxes.boxes.make(seed)
    print(f"warmed up in {time.monotonic() - start:.0f} s", flush=True)
    before = train_boxes.boxes.measured(model, processor)
    history = train_boxes.train(model, processor, folder, seed)
    after = train_boxes.boxes.measured(model, processor)
    blank = train_boxes.boxes.measured(model, processor, blank=True)
    return curves_of(history), {"before": before, "after": after, "blank": blank}


def curves_of(history: list[dict]) -> dict[str, list[float]]:
    """The mean of the total and of each component, for each step."""
    steps = [log for log in history if "reward" in log]
    names = [n for n in steps[0] if n.startswith("rewards/") and n.endswith("/mean")]
    curves = {"total": [log["reward"] for log in steps]}
    return curves | {name.split("/")[1]: [log[name] for log in steps] for name in names}


def told(run: tuple[str, int], result: dict) -> bool:
    """Print by how much each mean rose, and return whether that is enough."""
    task, seed = run
    if not result:
        return False
    print(f"\n{task}, seed {seed}")
    enough = True
    for name, curve in result["curves"].items():
        first, last = sum(curve[:FEW]) / FEW, sum(curve[-FEW:]) / FEW
        enough &= line(name, first, last, WANTED[task].get(name))
    if more := result["more"]:
        name = "on drawings never seen"
        enough &= line(name, more["before"], more["after"], WANTED[task][name])
        print(f"  {'on blank paper':28} {'':8} {more['blank']:.3f}")
    return enough


def line(name: str, first: float, last: float, wanted: float | None) -> bool:
    enough = wanted is None or last - first >= wanted
    note = "" if wanted is None else f"  wanted +{wanted}: {'yes' if enough else 'NO'}"
    print(f"  {name:28} {first:.3f} -> {last:.3f}{note}")
    return enough


if __name__ == "__main__":
    sys.exit(main())
