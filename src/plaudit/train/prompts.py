"""Prompts: rows of a table as what a trainer takes.

    {"context": "Paris is the capital.", "question": "Which city is it?", "answer": "Paris"}

    {"prompt": [{"role": "system", …}, {"role": "user", "content": "<context>Paris is…"}],
     "problem": "<context>Paris is…", "solution": "Paris"}

The templates ask for the tags that the rewards of CANOE and VLM-R1 read. They are plaudit's own
words, not those of the papers.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from math import isnan
from os import PathLike
from typing import Any

from plaudit.inputs.columns import is_missing
from plaudit.inputs.completions import Message
from plaudit.inputs.extract import first_tag

__all__ = ["canoe_rows", "vlm_r1_rows"]


Row = Mapping[str, Any]
Table = str | PathLike[str] | Iterable[Row]


def rows_in(table: Table) -> Iterator[tuple[int, Row]]:
    """The rows of a file, or of anything that can be looped over, with their numbers from 0 on."""
    if isinstance(table, str | PathLike):
        from plaudit.tables.readers import read_rows  # needs pyarrow, which rows in memory do not

        yield from enumerate(read_rows([table]))
        return
    for number, row in enumerate(table):
        if not isinstance(row, Mapping):
            raise TypeError(f"row {number} must be a dict, got {type(row).__name__}: {row!r:.60}")
        yield number, row


def entry_of(row: Row, name: str, number: int) -> Any:
    """What a row has in a column; raises ValueError if it has nothing: None, NaN, pandas.NA."""
    entry = row.get(name)
    if is_nothing(entry):
        names = ", ".join(f'"{key}"' for key in row) or "none"
        raise ValueError(f'row {number} has no "{name}"; its columns are {names}')
    return entry


def is_nothing(value: Any) -> bool:
    """Whether a value means that there is none: None, NaN, or what pandas writes in their place."""
    return value is None or is_missing(value) or (isinstance(value, float) and isnan(value))


CANOE_SYSTEM = """\
You answer questions about a passage, which stands between <context> and </context>. Rely on the \
passage alone, also where it contradicts what you know. Reply with three parts and nothing else:

<think>how the passage leads to the answer</think>
<long_answer>the answer in full sentences, with what the passage says in support of it; somebody \
who reads this and not the passage must be able to answer the question</long_answer>
<answer>the answer alone, as short as can be</answer>"""
CANOE_QUESTION = "<context>{context}</context>\n\n{question}"


def canoe_prompt(context: str, question: str) -> list[Message]:
    """Return the messages that ask a question about a context.

    The presets `canoe` and `canoe-dual` score what the model then writes.

    context: the passage, without <context> tags
    question: what to ask about it

    >>> system, user = canoe_prompt("Paris is the capital of France.", "Which city is it?")
    >>> user["content"]
    '<context>Paris is the capital of France.</context>\\n\\nWhich city is it?'
    """
    return [
        {"role": "system", "content": CANOE_SYSTEM},
        # In one pass: a context may have braces in it.
        {"role": "user", "content": CANOE_QUESTION.format(context=context, question=question)},
    ]


def canoe_rows(
    table: Table, *, context: str = "context", question: str = "question", answer: str = "answer"
) -> list[dict[str, Any]]:
    """Return the rows that a trainer takes, made of rows with a context, a question and an answer.

    A row has `prompt` (see `canoe_prompt`), `problem` (what the user says in it, which
    `len_reward` reads) and `solution`; the table's other columns stay as they are.

    table: a file or URL that `plaudit score` reads, or rows: a list of dicts, a dataset
    context, question, answer: the names of these columns in the table

    >>> [row] = canoe_rows([{"context": "Ada wrote it.", "question": "Who?", "answer": "Ada"}])
    >>> row["problem"], row["solution"]
    ('<context>Ada wrote it.</context>\\n\\nWho?', 'Ada')
    """
    made = []
    for number, row in rows_in(table):
        passage, asked, gold = (entry_of(row, name, number) for name in (context, question, answer))
        if not isinstance(passage, str) or "<context>" in passage or "</context>" in passage:
            raise ValueError(
                f'row {number}: "{context}" must be text without <context> tags, '
                f"got {passage!r:.80}"
            )
        kept = {key: row[key] for key in row if key not in (context, question, answer)}
        prompt = canoe_prompt(passage, str(asked))
        made.append({**kept, "prompt": prompt, "problem": prompt[-1]["content"], "solution": gold})
    return made


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
    """Return the rows that a trainer takes, made of the lines of VLM-R1's JSONL.

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
    """Return the problem and the answer of a line."""
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
    """Return the names of a line's images: of one, of several, or of none."""
    named: Any = next((row[key] for key in ("image", "images") if not is_nothing(row.get(key))), [])
    is_list = isinstance(named, Iterable) and not isinstance(named, str | Mapping)
    files = list(named) if is_list else [named]
    if not all(isinstance(name, str | PathLike) for name in files):
        raise ValueError(f'row {number}: "image" must name files, got {named!r:.80}')
    return [os.fspath(name) for name in files]
