"""A problem in, a prompt that asks for VLM-R1's tags out; lines of its JSONL in, rows out."""

import os
from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

from plaudit.completions import Message
from plaudit.extract import first_tag
from plaudit.prompts._table import Row, Table, entry_of, is_nothing, rows_in

_THINK = (
    "First write your reasoning between <think> and </think>, then the answer between <answer> and "
    "</answer>, and nothing else."
)
# Each asks for what a reward reads: "rec" for iou_reward and format_reward_rec, "detection" for the
# boxes of accuracy_reward, "free" for its answers.
VLM_R1_TEMPLATES = {
    "rec": "Find this in the image: {problem}\n\n"
    f"{_THINK} "
    'The answer is one box in pixels, as {{"bbox_2d": [left, top, right, bottom]}}.',
    "detection": "{problem}\n\n"
    f"{_THINK} "
    "The answer is a list of all boxes in pixels with their labels, fenced as JSON:\n"
    '```json\n[{{"bbox_2d": [left, top, right, bottom], "label": "…"}}]\n```\n'
    "If there is nothing to find, the answer is None.",
    "free": f"{{problem}}\n\n{_THINK}",
}


def vlm_r1_prompt(problem: str, template: str = "rec") -> list[Message]:
    """The messages that ask about images; TRL puts the images themselves in front of the text.

    problem: what is to be found, or the question
    template: "rec" for one box, "detection" for all boxes, "free" for a text, a number or a letter

    >>> [message] = vlm_r1_prompt("the red kite")
    >>> message["content"].splitlines()[0]
    'Find this in the image: the red kite'
    """
    if template not in VLM_R1_TEMPLATES:
        known = ", ".join(VLM_R1_TEMPLATES)
        raise ValueError(f"template must be one of {known}, got {template!r:.80}")
    text = VLM_R1_TEMPLATES[template].format(problem=problem)
    return [{"role": "user", "content": text}]


def vlm_r1_rows(
    table: Table,
    image_folder: str | PathLike[str] = "",
    *,
    template: str = "rec",
    accu_reward_method: str = "default",
) -> list[dict[str, Any]]:
    """The rows that a trainer takes, made of the lines of VLM-R1's JSONL.

    A line holds `conversations` (the first message is the problem, the second the answer), `image`
    (a file's name, or several), and sometimes `accu_reward_method`:

        {"image": "kite.png", "conversations": [{"from": "human", "value": "<image>the red kite"},
                                                {"from": "gpt", "value": [10, 20, 110, 220]}]}

    A row has `prompt` (see `vlm_r1_prompt`), `problem`, `solution`, `accu_reward_method`, and
    `image_path` and `images`, both lists of the files' paths; the line's other entries stay.

    table: a JSONL file, or any other table that `plaudit score` reads, or rows
    image_folder: the folder that the names of images are relative to; default: the current one
    template: "rec", "detection" or "free", see `vlm_r1_prompt`
    accu_reward_method: how `accuracy_reward` compares answers, such as "mcq", for lines that do
        not say so

    >>> said = [{"value": "<image>the kite"}, {"value": [1, 2, 3, 4]}]
    >>> [row] = vlm_r1_rows([{"image": "kite.png", "conversations": said}], "images")
    >>> row["problem"], row["solution"], row["image_path"]
    ('the kite', '<answer>[1, 2, 3, 4]</answer>', ['images/kite.png'])
    """
    made = []
    for number, row in rows_in(table):
        problem, answer = _said(row, number)
        paths = [os.path.join(image_folder, name) for name in _files(row, number)]  # noqa: PTH118
        kept = {key: row[key] for key in row if key not in ("conversations", "image", "images")}
        given = {
            "prompt": vlm_r1_prompt(problem, template),
            "problem": problem,
            "solution": f"<answer>{answer}</answer>",
            "accu_reward_method": row.get("accu_reward_method") or accu_reward_method,
        }
        made.append({**kept, **given, **({"image_path": paths, "images": paths} if paths else {})})
    return made


def _said(row: Row, number: int) -> tuple[str, str]:
    """The problem and the answer of a line."""
    said = entry_of(row, "conversations", number)
    messages = said if isinstance(said, Iterable) else ()
    values = [one.get("value") for one in messages if isinstance(one, Mapping)]
    if len(values) < 2 or not isinstance(values[0], str) or is_nothing(values[1]):
        raise ValueError(
            f'row {number}: "conversations" must hold the problem and the answer, each as '
            f'{{"from": …, "value": …}}, got {said!r:.120}'
        )
    answer = str(values[1])
    tagged = first_tag(answer, "answer")
    return values[0].replace("<image>", "").strip(), answer.strip() if tagged is None else tagged


def _files(row: Row, number: int) -> list[str]:
    """The names of a line's images: of one, of several, or of none."""
    named: Any = next((row[key] for key in ("image", "images") if not is_nothing(row.get(key))), [])
    is_list = isinstance(named, Iterable) and not isinstance(named, str | Mapping)
    files = list(named) if is_list else [named]
    if not all(isinstance(name, str | PathLike) for name in files):
        raise ValueError(f'row {number}: "image" must name files, got {named!r:.80}')
    return [os.fspath(name) for name in files]
