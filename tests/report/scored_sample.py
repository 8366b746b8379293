"""A folder as `plaudit score` writes it, made up: for the tests, and to look at a report.

python tests/report/scored_rows.py OUT [--rows 100000] [--boxes]
"""

import argparse
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image, ImageDraw

REASON = pa.struct(
    [
        ("component", pa.string()),
        ("value", pa.float64()),
        ("status", pa.string()),
        ("decided_by", pa.string()),
        ("answer", pa.string()),
        ("gold", pa.string()),
        ("why", pa.string()),
        ("right", pa.bool_()),
        ("ungated", pa.float64()),
        ("partial_gold", pa.bool_()),
    ]
)
# For `page._CODE`, in place of Vega, which takes seconds to bundle.
SMALL_BUNDLE = "print('window.vegaEmbed = 0;')"
MATH = ["accuracy_reward", "think_format_reward", "repetition_penalty"]
RECIPE = '[[reward]]\nname = "trl.accuracy_reward"\nweight = 1.0\n'
HOSTILE = "</script><script>window.broken = 1</script><img src=x onerror='window.broken=1'>\0\"&"
WORDS = "so we add the two and carry one hence it must be that both sides are equal again".split()


# What the rewards that compare say of what is right; others say nothing.
RIGHT = {
    "equal": True,
    **dict.fromkeys(["different", "no_answer", "timeout", "limit", "error"], False),
}


def reason(
    component, value, status="scored", answer=None, gold=None, why="", decided_by="", **more
):
    """Why a component has its value, as it is written."""
    known = {"right": RIGHT.get(status), "ungated": None, "partial_gold": False, **more}
    return {
        **known,
        "component": component,
        "value": value,
        "status": status,
        "decided_by": decided_by,
        "answer": answer,
        "gold": gold,
        "why": why,
    }


def write_folder(folder, rows, components, rejected=(), part_rows=50_000, **run):
    """Write rows, an iterable of dictionaries, as a scored folder; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = list(rows)
    schema = schema_of(rows, components)
    for part, start in enumerate(range(0, max(len(rows), 1), part_rows)):
        table = pa.Table.from_pylist(rows[start : start + part_rows], schema=schema)
        pq.write_table(table, folder / f"part-{part:05}.parquet")
    run = {"components": components, "recipe": RECIPE, "inputs": ["rollouts.jsonl"], **run}
    (folder / "_run.json").write_text(json.dumps(run), encoding="utf-8")
    lines = "".join(json.dumps(line) + "\n" for line in rejected)
    (folder / "_rejected.jsonl").write_text(lines, encoding="utf-8")
    return folder


def schema_of(rows, components):
    fixed = {
        "row_id": pa.int64(),
        "group_id": pa.string(),
        **dict.fromkeys([*components, "total"], pa.float64()),
        "status": pa.string(),
        "explanation": pa.list_(REASON),
    }
    given = [name for name in (rows[0] if rows else {}) if name not in fixed]
    inputs = {name: pa.array([row[name] for row in rows[:100]]).type for name in given}
    return pa.schema({**inputs, **fixed})


def math_rows(count, group=8, seed=0, tokens=True):
    """Sums and products, each with `group` completions; some go wrong in every way there is."""
    dice = random.Random(seed)
    for row in range(count):
        number = row // group
        if row % group == 0:
            a, b = dice.randint(12, 99), dice.randint(12, 99)
            skill = min(1.0, max(0.0, dice.gauss(0.55, 0.45)))
        yield math_row(dice, row, number, (a, b), skill, tokens)


def math_row(dice, row, number, factors, skill, tokens):
    a, b = factors
    gold, right = str(a * b), dice.random() < skill
    status = dice.choices(["scored", "timeout", "limit", "bad_gold", "error"], [970, 12, 10, 6, 2])[
        0
    ]
    judged = {"scored": "equal" if right else "different"}.get(status, status)
    silent = not right and status == "scored" and dice.random() < 0.2
    judged = "no_answer" if silent else judged
    answer = (
        None if silent else gold if right else str(a * b + dice.choice([-10, 1, 1, 1, 10, 100]))
    )
    accuracy = None if status == "bad_gold" else float(judged == "equal")
    steps = dice.randint(4, 40) + (0 if right else dice.randint(0, 40))
    thinks = number % 3 == 0 or dice.random() < 0.85
    text = " ".join(dice.choice(WORDS) for _ in range(steps))
    text = f"<think>{text}.</think>\n\n" if thinks else text + ". "
    text += "I cannot say." if silent else f"Therefore {a} × {b} = \\boxed{{{answer}}}."
    form = float(thinks)
    repetition = (
        round(-0.004 * steps * dice.random(), 6) if number % 2 and dice.random() < 0.5 else 0.0
    )
    total = None if accuracy is None else round(accuracy + 0.2 * form + repetition, 6)
    why = {
        "equal": f"{answer} is equal to the gold {gold}.",
        "different": f"{answer} is not equal to the gold {gold}.",
        "no_answer": "Nothing in the text can be read as an answer.",
        "timeout": "Comparing was stopped after 5 s.",
        "limit": "Too large to compare: a tower of powers.",
        "bad_gold": "The gold cannot be read, so there is nothing to compare with.",
        "error": "Comparing failed: the worker died on it again and again.",
    }[judged]
    found = {
        "prompt": f"What is {a} × {b}? Think first, then put the answer into \\boxed{{}}.",
        "completion": text,
        "solution": gold,
        "row_id": row,
        "group_id": f"q{number:05}",
        "accuracy_reward": accuracy,
        "think_format_reward": form,
        "repetition_penalty": repetition,
        "total": total,
        "status": status,
        "explanation": [
            reason("accuracy_reward", accuracy, judged, answer, gold, why, "numbers"),
            reason(
                "think_format_reward",
                form,
                why="It starts with <think>." if thinks else "No <think>.",
            ),
            reason("repetition_penalty", repetition, why=f"{steps} words.", decided_by="2-grams"),
        ],
    }
    return found | ({"completion_ids": list(range(steps + 12))} if tokens else {})


def run_rows(count, seed=0, skill=0.5, group=4, steps=10):
    """A training run: rows with a step, a source, a level and a label, and formulas in their texts.

    Runs with another seed have the same prompts and other completions.
    """
    dice = random.Random(seed)
    for row in range(count):
        number = row // group
        step = 10 * (1 + row * steps // count)
        a, b = 12 + number * 7 % 83, 12 + number * 11 % 79
        chance = skill * (0.6 + 0.06 * step / steps) * (1.2 - 0.2 * (number % 3))
        found = math_row(dice, row, number, (a, b), chance, False)
        right = found["accuracy_reward"] == 1.0
        text = (
            f"We use $(x+y)^2 = x^2 + 2xy + y^2$, so\n\n\\[\\frac{{{a}}}{{2}} \\cdot 2 = {a}\\]\n\n"
        )
        yield found | {
            "prompt": f"What is ${a} \\times {b}$? Put the answer into \\boxed{{}}.",
            "completion": text + found["completion"],
            "step": step,
            "source": ["algebra", "arithmetic", "word problems"][number % 3],
            "level": 1 + number % 5,
            "label": right if dice.random() < 0.97 else not right,
            "meta": {"id": f"problem-{number}", "tags": ["sum", "easy"]},
        }


def hostile_row(row_id=0, **changes):
    """A row whose every text tries to break the page."""
    why = reason("accuracy_reward", 0.0, "timeout", HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    return {
        "prompt": HOSTILE,
        "completion": f"It is {HOSTILE}.",
        "solution": HOSTILE,
        "row_id": row_id,
        "group_id": HOSTILE,
        "accuracy_reward": 0.0,
        "total": 0.0,
        "status": "timeout",
        "explanation": [why],
    } | changes


def box_rows(folder, count=16, seed=1):
    """Kites to find in images, which are written into `folder`."""
    dice = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for row in range(count):
        if row % 4 == 0:
            gold = [(x := dice.randint(30, 330)), (y := dice.randint(30, 200)), x + 150, y + 120]
            kite(folder / f"kite-{row}.png", gold)
        shift = dice.randint(0, 60) * (row % 4)
        box = [gold[0] + shift, gold[1] + shift // 2, gold[2] + shift, gold[3] + shift // 2]
        value = max(0.0, round(1 - shift / 120, 3))
        why = f"The boxes overlap with an IoU of {value:.3f}."
        yield {
            "prompt": "Where is the kite?",
            "completion": f"<think>Up there.</think><answer>{box}</answer>",
            "solution": f"<answer>{gold}</answer>",
            "image_path": [f"kite-{row - row % 4}.png"],
            "row_id": row,
            "group_id": f"kite {row // 4}",
            "iou_reward": value,
            "total": value,
            "status": "scored",
            "explanation": [reason("iou_reward", value, "scored", str(box), str(gold), why, "IoU")],
        }


def kite(file, gold):
    """A sky, a meadow, and a kite that fills the gold box."""
    image = Image.new("RGB", (560, 400), "#a9d4f5")
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 330, 560, 400), fill="#7cb56b")
    left, top, right, bottom = gold
    across, down = (left + right) / 2, (top + bottom) / 2
    pen.polygon([(across, top), (right, down), (across, bottom), (left, down)], fill="#c0392b")
    pen.line([(across, bottom), (across - 40, 395)], fill="#555555", width=2)
    image.save(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--boxes", action="store_true", help="images and boxes instead of sums")
    asked = parser.parse_args()
    if asked.boxes:
        write_folder(asked.out, box_rows(asked.out, asked.rows), ["iou_reward"])
    else:
        rejected = [{"file": "rollouts.jsonl", "line": 7, "reason": "not JSON: line 7 column 12"}]
        write_folder(asked.out, math_rows(asked.rows), MATH, rejected)


if __name__ == "__main__":
    main()
