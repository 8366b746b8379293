"""What can be wrong with a row: the kinds of findings, and one finding as data."""

from collections.abc import Mapping
from dataclasses import dataclass

SHOWN = 300  # characters of a value or a prompt that a finding holds


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of findings.

    title: a heading for all findings of the kind
    meaning: what such a row does to a training run
    advice: what to do about it

    >>> KINDS["conflicting_golds"].title
    'Prompts with different golds'
    """

    title: str
    meaning: str
    advice: str


# In the order in which they are shown.
KINDS = {
    "unreadable_row": Kind(
        "Rows that cannot be read",
        "A loader stops at such a row, or silently leaves it out.",
        "Write the row again, or drop it.",
    ),
    "missing_value": Kind(
        "Rows without a prompt, or without a value that the recipe needs",
        "Without a gold no completion can be right: the row is skipped, or always gets 0. Without "
        "a prompt there is nothing to answer.",
        "Fill the value in, or drop the row.",
    ),
    "placeholder_gold": Kind(
        "Golds that are placeholders",
        "The gold stands where an answer was to be written, such as N/A, TODO or see solution: "
        "right answers get nothing.",
        "Write the answer, or drop the row.",
    ),
    "markup_gold": Kind(
        "Golds that are a link or HTML",
        "A model does not write the link or the HTML of the page that the gold was copied from, "
        "so right answers get nothing.",
        "Write the answer as plain text or LaTeX, or drop the row.",
    ),
    "unreadable_gold": Kind(
        "Golds that cannot be read",
        "The reward cannot compare anything with such a gold.",
        "Write the gold as text or as a number; look for a broken escape or a missing brace.",
    ),
    "unequal_gold": Kind(
        "Golds that do not equal themselves",
        "Even a completion whose answer is the gold, word for word, is not right, so none can be.",
        "Write the gold as the reward reads it, such as in $…$, or use a reward that can read it.",
    ),
    "partial_gold": Kind(
        "Golds that are read in part",
        "The reward takes a part of the gold for all of it, so that wrong answers are right.",
        'Write golds as $…$, or put golds = "latex" into the recipe.',
    ),
    "expensive_gold": Kind(
        "Golds that are too expensive to compare",
        "Comparing an answer with such a gold ends at a limit of time or size: a step waits for "
        "it, and the completion gets nothing.",
        "Write the gold in a simpler form, or drop the row.",
    ),
    "suspicious_gold": Kind(
        "Golds that look wrong",
        "Most completions of a prompt agree on another answer, and not one is right.",
        "Solve the prompt by hand: either the gold is wrong, or the reward cannot see that the "
        "answers are right.",
    ),
    "conflicting_golds": Kind(
        "Prompts with different golds",
        "The same prompt has golds that are not equal: whatever is answered, one of them says no.",
        "Keep the right one, or put both into one list where both are right.",
    ),
    "answer_in_prompt": Kind(
        "Prompts that state their answer",
        "The prompt says what the answer is, so the model learns to copy it.",
        "Take the answer out of the prompt, or drop the row.",
    ),
    "duplicate_row": Kind(
        "Rows that occur more than once",
        "The same prompt, whatever its white space, with an equal gold counts twice in training; "
        "it may also be in both the training and the test set.",
        "Drop all but the first.",
    ),
    "unknown_option": Kind(
        "Golds that are no option",
        "The gold of a multiple-choice question is none of its options.",
        "Correct the letter or the options, or drop the row.",
    ),
    "unreadable_image": Kind(
        "Images that cannot be read",
        "The trainer stops when it loads such a row, or trains without the image.",
        "Correct the path or the file. Relative paths start in the working directory.",
    ),
    "box_outside_image": Kind(
        "Boxes outside their image",
        "A box that reaches out of its image, or has no area, cannot be matched; often the box "
        "belongs to the image at another size.",
        "Scale the box to the size of the image, or drop the row.",
    ),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with a row.

    kind: one of KINDS
    file, line: where the row is; in a file without lines, such as Parquet, the line is the number
        of the row in the file, from 1; for a table in memory, the file is ""
    row: its number among all rows, from 0
    column: the column that it is about; "" for the whole row
    value: the beginning of what stands there
    why: what is wrong, in a sentence
    component: the reward of the recipe that said so; "" where none did
    related_row: the number of the other row, for findings about two
    prompt: the beginning of the row's prompt, where it has one

    >>> finding = Finding("missing_value", "a.jsonl", 3, 2, "solution", "", "solution is null.")
    >>> finding.line, finding.related_row
    (3, None)
    """

    kind: str
    file: str
    line: int
    row: int
    column: str
    value: str
    why: str
    component: str = ""
    related_row: int | None = None
    prompt: str = ""

    @property
    def place(self) -> str:
        """Where the row is, for a person.

        >>> Finding("unreadable_row", "a.jsonl", 3, 2, "", "", "Not JSON.").place
        'a.jsonl, line 3'
        """
        return f"{self.file}, line {self.line}" if self.file else f"row {self.row}"


def sentence(reason: str) -> str:
    """A reason as a sentence.

    >>> sentence("not JSON")
    'Not JSON.'
    """
    return f"{reason[:1].upper()}{reason[1:].removesuffix('.')}."


def shown(value: object, most: int = SHOWN) -> str:
    """The beginning of a value, as text on one line.

    >>> shown("two\\nlines"), shown([1, b"image"]), shown("xxxx", most=3)
    ('two lines', "[1, '5 bytes']", 'xx…')
    """
    text = value if isinstance(value, str) else repr(_without_bytes(value))
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _without_bytes(value: object) -> object:
    """The same, with the size of bytes in their place."""
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    if isinstance(value, Mapping):
        return {name: _without_bytes(inner) for name, inner in value.items()}
    return [_without_bytes(inner) for inner in value] if isinstance(value, list) else value
