"""Rows of a real file with faults planted among them, four of each kind."""

import json
import random

from PIL import Image

CHOICES = ["red", "green", "blue", "black"]
GOLDS = {
    "missing_value": [None, "", "  ", r"\boxed{}"],
    "unreadable_gold": [{"colour": "red"}, r"\frac{1}{", "\frac{1}{2}", r"\sqrt{3}}"],
    "unequal_gold": ["$", "\\"],
    "placeholder_gold": ["N/A", "TODO", "None", "see solution", "."],
    "markup_gold": ["https://example.org", "<p>4</p>", "4<br>", "www.example.org/a"],
    "expensive_gold": ["9^{9^{9^9}}", r"(10^{10})!", r"\binom{10^9}{10^8}", "2^{2^{100}}"],
}
OPTIONS = [
    {"gold": "E", "choices": CHOICES},
    {"gold": "F", "question": "Which colour has the sky? (A) red (B) green (C) blue (D) black"},
    {"gold": "purple", "choices": CHOICES},
    {"gold": "D", "choices": {"label": ["A", "B", "C"], "text": CHOICES[:3]}},
]
BOXES = [
    "[10, 10, 400, 100]",
    "[-20, 0, 50, 50]",
    "<answer>[60, 60, 20, 100]</answer>",
    '[{"bbox_2d": [0, 0, 280, 900], "label": "kite"}]',
]
BROKEN_LINES = [b'{"gold": "4", "question": ', b'["4"]', b'{"gold": "\xff"}', b"gold: 4"]


def planted(rows, folder):
    """The lines of a file with the faults, and the (kind, line) of each finding to expect."""
    chosen = random.Random(13)
    rows = [dict(row) for row in rows]
    questions = [row.get("question") for row in rows]
    clean = [
        place
        for place, row in enumerate(rows)
        if row["set"] == "gsm8k_openai" and questions.count(row["question"]) == 1
    ]
    places = iter(chosen.sample(clean, 72))
    expected = set()

    def change(kind, **values):
        place = next(places)
        rows[place] |= values
        expected.add((kind, place))

    for kind, golds in GOLDS.items():
        for gold in golds:
            change(kind, gold=gold)
    for place in [next(places) for _ in range(4)]:
        question = f"{rows[place]['question']} The answer is {rows[place]['gold']}."
        rows[place]["question"] = question
        expected.add(("answer_in_prompt", place))
    for values in OPTIONS:
        change("unknown_option", **values)
    for path in broken_images(folder):
        change("unreadable_image", image=str(path))
    kite = folder / "kite.png"
    Image.new("RGB", (280, 140)).save(kite)
    for box in BOXES:
        change("box_outside_image", gold=box, image=str(kite))
    lines = {place: json.dumps(row).encode() for place, row in enumerate(rows)}
    for line in BROKEN_LINES:
        place = next(places)
        lines[place] = line
        expected.add(("unreadable_row", place))
    for _ in range(4):
        place = next(places)
        expected.add(("duplicate_row", len(lines)))
        lines[len(lines)] = lines[place]
    for _ in range(4):
        place = next(places)
        expected |= {("conflicting_golds", place), ("conflicting_golds", len(lines))}
        lines[len(lines)] = json.dumps({**rows[place], "gold": "-1234567"}).encode()
    for _ in range(4):
        place = next(places)
        rows[place] |= {"gold": "-1234567", "completion": r"So it is \boxed{76543}."}
        lines[place] = json.dumps(rows[place]).encode()
        expected.add(("suspicious_gold", place))
        for number in range(4):
            said = rf"Hm, {number}. So it is \boxed{{{76543 + (number == 3)}}}."
            expected.add(("suspicious_gold", len(lines)))
            lines[len(lines)] = json.dumps({**rows[place], "completion": said}).encode()
    file = b"".join(lines[place] + b"\n" for place in range(len(lines)))
    return file, {(kind, place + 1) for kind, place in expected}


def broken_images(folder):
    """Paths of images that cannot be read: none, no image, one that is cut off, an empty file."""
    text, cut, empty = (folder / name for name in ("text.png", "cut.jpg", "empty.png"))
    text.write_text("no image")
    Image.effect_noise((200, 100), 80).convert("RGB").save(cut)
    cut.write_bytes(cut.read_bytes()[:-3000])
    empty.touch()
    return [folder / "missing.png", text, cut, empty]
