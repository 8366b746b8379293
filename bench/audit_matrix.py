"""Audit the presets and every reward of plaudit, and print a table of rewards and their holes.

    python bench/audit_matrix.py --write        # puts the table into bench/results/audit.md

The tables are small and generated here, one for each kind of gold. A reward is listed with each
class of which an attack got a tenth or more, and with the largest share.
"""

import argparse
import json
import sys
from importlib import import_module
from pathlib import Path

from PIL import Image

import plaudit
from plaudit.recipes import Component, Recipe, load
from plaudit.reports.audit import Audit
from plaudit.reports.audit._attack import CLASSES

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "audit"))
tables = import_module("audited_tables")
START, END = "<!-- audit matrix -->", "<!-- end of the audit matrix -->"


def _rows(name: str) -> list[dict]:
    """A table in the form that the systems want: golds in <answer>, labelled boxes, images."""
    rows = tables.TABLES[name]()
    for row in rows:
        row.setdefault("problem", row["prompt"])
        row["accu_reward_method"] = "default"
        if name in ("box", "boxes"):
            gold = json.loads(row["solution"])
            row["image"] = Image.new("RGB", (row["image_width"], row["image_height"]))
            row["solution"] = f"<answer>{LABELLED[name](gold)}</answer>"
            row.pop("completion", None)
    return rows


def _one_box(box: list[float]) -> str:
    return str([round(edge) for edge in box])


def _several_boxes(boxes: list[list[int]]) -> str:
    listed = [{"bbox_2d": box, "label": "cup"} for box in boxes]
    return f"```json\n{json.dumps(listed)}\n```"


LABELLED = {"box": _one_box, "boxes": _several_boxes}


OVERLONG = {"max_completion_len": 400, "soft_punish_cache": 100}
# What is audited: its name in the table, the recipe or the reward, the golds, and its parameters.
AUDITED = (
    ("preset math", "math", "boxed", {}),
    ("preset qa", "qa", "words", {}),
    ("preset trl-math", "trl-math", "boxed", {}),
    ("preset trl-reasoning", "trl-reasoning", "boxed", {}),
    ("preset canoe", "canoe", "contexts", {}),
    ("preset vlm-r1-rec", "vlm-r1-rec", "box", {}),
    ("preset vlm-r1-od", "vlm-r1-od", "boxes", {}),
    ("answers.answer_reward", "", "numbers", {}),
    ("answers.mention_reward", "", "words", {}),
    ("answers.exact_match_reward", "", "contexts", {}),
    ("answers.f1_reward", "", "contexts", {}),
    ("trl.accuracy_reward", "", "boxed", {}),
    ("trl.reasoning_accuracy_reward", "", "boxed", {}),
    ("trl.think_format_reward", "", "numbers", {}),
    ("trl.get_soft_overlong_punishment", "", "numbers", OVERLONG),
    ("trl.get_repetition_penalty_reward", "", "numbers", {"ngram_size": 3, "max_penalty": -1.0}),
    ("trl.get_cosine_scaled_reward", "", "boxed", {"max_len": 1000}),
    ("canoe.accuracy_reward", "", "contexts", {}),
    ("canoe.format_reward", "", "contexts", {}),
    ("canoe.len_reward", "", "contexts", {}),
    ("vlm_r1.default_accuracy_reward", "", "words", {}),
    ("vlm_r1.accuracy_reward", "", "words", {}),
    ("vlm_r1.iou_reward", "", "box", {}),
    ("vlm_r1.format_reward", "", "numbers", {}),
    ("vlm_r1.format_reward_rec", "", "box", {}),
    ("vlm_r1.cosine_rewards", "", "boxes", {"tokenizer": tables.Words()}),
    ("vlm_r1.repetition_rewards", "", "numbers", {}),
    ("vlm_r1.detection_score", "", "boxes", {}),
)


def audited(preset: str, name: str, table: str, params: dict, skip: list[str]) -> Audit:
    if preset:
        return plaudit.audit(_rows(table), load(preset), skip=skip)
    recipe = Recipe(name, (Component("", name, params=params),))
    return plaudit.audit(_rows(table), recipe, skip=skip)


def line_of(name: str, found: Audit) -> str:
    worst = dict.fromkeys(CLASSES, 0.0)
    total = len(found.formats) > 1
    for finding in found.findings:
        if finding.kind in worst and (not total or finding.component == "total"):
            worst[finding.kind] = max(worst[finding.kind], finding.share)
    cells = [f"`{kind}` {share:.2f}" for kind, share in worst.items() if share]
    return f"| `{name}` | {', '.join(cells)} |" if cells else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into bench/results")
    parser.add_argument("names", nargs="*", help="what to audit (default: all)")
    parser.add_argument("--skip", default="", help="classes to leave out, with commas")
    options = parser.parse_args()
    skip = [kind for kind in options.skip.split(",") if kind]
    lines = ["| reward | classes |", "|---|---|"]
    clean = []
    print("\n".join(lines), flush=True)
    for name, preset, table, params in AUDITED:
        if options.names and name not in options.names:
            continue
        found = audited(preset, name, table, params, skip)
        line = line_of(name, found)
        print(line or f"| `{name}` | – |", flush=True)
        if line:
            lines.append(line)
        else:
            clean.append(f"`{name}`")
        for skipped in found.skipped:
            print(f"    skipped: {skipped[:150]}", file=sys.stderr, flush=True)
        for finding in found.findings[:3]:
            print(
                f"    {finding.share} {finding.kind} {finding.attack} {finding.component} "
                f"{finding.example.completion[:80]!r}",
                file=sys.stderr,
                flush=True,
            )
    if options.write:
        page = ROOT / "bench" / "results" / "audit.md"
        text = page.read_text(encoding="utf-8")
        before, _, rest = text.partition(START)
        after = rest.partition(END)[2]
        table = "\n".join([*lines, f"| {', '.join(clean)} | – |"])
        page.write_text(f"{before}{START}\n{table}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
