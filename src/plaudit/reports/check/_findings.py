"""What a check finds: the kinds of findings, one finding as data, and a summary of all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SHOWN = 300  # characters of a value or a prompt that a finding holds
_EXAMPLES = 3  # of each kind that are printed


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A kind of findings.

    title: a heading for all findings of the kind
    meaning: what such a row does to a training run
    advice: what to do about it
    """

    title: str
    meaning: str
    advice: str


# In the order in which they are shown.
KINDS = {
    "unreadable_row": FindingKind(
        "Rows that cannot be read",
        "A loader stops at such a row, or silently leaves it out.",
        "Write the row again, or drop it.",
    ),
    "missing_value": FindingKind(
        "Rows without a prompt, or without a value that the recipe needs",
        "Without a gold no completion can be right: the row is skipped, or always gets 0. Without "
        "a prompt there is nothing to answer.",
        "Fill the value in, or drop the row.",
    ),
    "placeholder_gold": FindingKind(
        "Golds that are placeholders",
        "The gold stands where an answer was to be written, such as N/A, TODO or see solution: "
        "right answers get nothing.",
        "Write the answer, or drop the row.",
    ),
    "markup_gold": FindingKind(
        "Golds that are a link or HTML",
        "A model does not write the link or the HTML of the page that the gold was copied from, "
        "so right answers get nothing.",
        "Write the answer as plain text or LaTeX, or drop the row.",
    ),
    "unreadable_gold": FindingKind(
        "Golds that cannot be read",
        "The reward cannot compare anything with such a gold.",
        "Write the gold as text or as a number; look for a broken escape or a missing brace.",
    ),
    "schema_violation": FindingKind(
        "Golds that violate their own schema",
        "The gold calls a function that is not among the tools, or has an argument or a value that "
        "its schema does not allow: a model that keeps to the schema cannot be right.",
        "Correct the gold or the schema, or drop the row.",
    ),
    "unreadable_tests": FindingKind(
        "Tests that cannot be read",
        "No program can be run against them: the row is skipped.",
        "Write the tests in one of the shapes of docs/code.md, or drop the row.",
    ),
    "failing_reference": FindingKind(
        "References that fail their own tests",
        "The program that the table has as the right one does not pass, so the tests are wrong, "
        "need more time, or need something that is not there.",
        "Correct the tests, or drop the row.",
    ),
    "unequal_gold": FindingKind(
        "Golds that do not equal themselves",
        "Even a completion whose answer is the gold, word for word, is not right, so none can be.",
        "Write the gold as the reward reads it, such as in $…$, or use a reward that can read it.",
    ),
    "partial_gold": FindingKind(
        "Golds that are read in part",
        "The reward takes a part of the gold for all of it, so that wrong answers are right.",
        'Write golds as $…$, or put golds = "latex" into the recipe.',
    ),
    "expensive_gold": FindingKind(
        "Golds that are too expensive to compare",
        "Comparing an answer with such a gold ends at a limit of time or size: a step waits for "
        "it, and the completion gets nothing.",
        "Write the gold in a simpler form, or drop the row.",
    ),
    "suspicious_gold": FindingKind(
        "Golds that look wrong",
        "Most completions of a prompt agree on another answer, and not one is right.",
        "Solve the prompt by hand: either the gold is wrong, or the reward cannot see that the "
        "answers are right.",
    ),
    "conflicting_golds": FindingKind(
        "Prompts with different golds",
        "The same prompt has golds that are not equal: whatever is answered, one of them says no.",
        "Keep the right one, or put both into one list where both are right.",
    ),
    "answer_in_prompt": FindingKind(
        "Prompts that state their answer",
        "The prompt says what the answer is, so the model learns to copy it.",
        "Take the answer out of the prompt, or drop the row.",
    ),
    "duplicate_row": FindingKind(
        "Rows that occur more than once",
        "The same prompt, whatever its white space, with an equal gold counts twice in training; "
        "it may also be in both the training and the test set.",
        "Drop all but the first.",
    ),
    "unknown_option": FindingKind(
        "Golds that are no option",
        "The gold of a multiple-choice question is none of its options.",
        "Correct the letter or the options, or drop the row.",
    ),
    "unreadable_image": FindingKind(
        "Images that cannot be read",
        "The trainer stops when it loads such a row, or trains without the image.",
        "Correct the path or the file. Relative paths start in the working directory.",
    ),
    "box_outside_image": FindingKind(
        "Boxes outside their image",
        "A box that reaches out of its image, or has no area, cannot be matched; often the box "
        "belongs to the image at another size.",
        "Scale the box to the size of the image, or drop the row.",
    ),
}


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """Something wrong with a row.

    kind: one of KINDS
    file, line: where the row is; in a file without lines, such as Parquet, the line is the number
        of the row in the file, from 1; for a table in memory, the file is ""
    row: its number among all rows, from 0
    column: the column that it is about; "" for the whole row
    value: the beginning of the column's value
    why: what is wrong, in a sentence
    component: the reward of the recipe that said so; "" if none did
    related_row: the number of the other row, for findings about two
    prompt: the beginning of the row's prompt, if it has one
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
    def location(self) -> str:
        """Where the row is, for a person."""
        return f"{self.file}, line {self.line}" if self.file else f"row {self.row}"

    def __str__(self) -> str:
        named = f"{self.column} " if self.column else ""
        value = f' {named}"{shown(self.value, 60)}":' if self.value else ""
        return f"{self.location}:{value} {shown(self.why, 240)}"


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """What a check found; printing it gives what `plaudit check` prints.

    rows: how many rows were checked
    failed: how many of them have a finding
    counts: how many findings of each kind there are
    first: the first findings of each kind, at most 200
    formats: how each component wants an answer, found by trying
    notes: what was not checked, and why
    seconds: how long it took
    out: the folder with `findings.parquet` and the page, if one was written
    dropped_to: the table without the rows that failed, if one was written
    left: how many rows that has

    >>> print(CheckSummary(120, 0, {}, {}, {"accuracy": "<answer>…</answer>"}, ()))
    120 rows checked, no findings
    accuracy compares answers written as <answer>…</answer>
    """

    rows: int
    failed: int
    counts: Mapping[str, int]
    first: Mapping[str, Sequence[CheckFinding]]
    formats: Mapping[str, str]
    notes: Sequence[str]
    seconds: float = 0.0
    out: Path | None = None
    dropped_to: Path | None = None
    left: int = 0

    def __str__(self) -> str:
        have = "has" if self.failed == 1 else "have"
        found = f"{self.failed:,} {have} findings" if self.failed else "no findings"
        lines = [f"{_rows(self.rows)} checked, {found}"]
        for name, written in self.formats.items():
            lines.append(f"{name} compares answers written as {written}")
        lines += [f"note: {note}" for note in self.notes]
        for kind, findings in self.first.items():
            lines += ["", f"{KINDS[kind].title} ({kind}): {self.counts[kind]:,}"]
            lines += [f"  {finding}" for finding in findings[:_EXAMPLES]]
            if self.counts[kind] > _EXAMPLES:
                lines.append(f"  … and {self.counts[kind] - _EXAMPLES:,} more")
        if self.dropped_to is not None:
            lines += ["", f"{self.dropped_to}: {_rows(self.left)} without findings"]
        if self.out is not None:
            lines += ["", f"{self.out / 'index.html'}"]
        return "\n".join(lines)


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


def sentence(reason: str) -> str:
    """Return a reason as a sentence."""
    return f"{reason[:1].upper()}{reason[1:].removesuffix('.')}."


def shown(value: object, most: int = SHOWN) -> str:
    """Return the beginning of a value, as text on one line.

    >>> shown("two\\nlines"), shown([1, b"image"]), shown("xxxx", most=3)
    ('two lines', "[1, '5 bytes']", 'xx…')
    """
    text = value if isinstance(value, str) else repr(_without_bytes(value))
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _without_bytes(value: object) -> object:
    """Return the same value, with the size of bytes instead of the bytes."""
    if isinstance(value, bytes):
        return f"{len(value):,} bytes"
    if isinstance(value, Mapping):
        return {name: _without_bytes(inner) for name, inner in value.items()}
    return [_without_bytes(inner) for inner in value] if isinstance(value, list) else value
