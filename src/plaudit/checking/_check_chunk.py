"""A chunk of rows in, and out come its findings, and what is needed to compare it with others."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from plaudit.checking._findings import SHOWN, Finding, sentence, shown
from plaudit.checking._formats import written_answers
from plaudit.checking._golds import gold_problems, is_right, scores_of
from plaudit.checking._images import box_problem, image_problems
from plaudit.checking._leaks import stated_answer
from plaudit.checking._options import option_problem
from plaudit.checking._plan import CheckPlan, Comparison, as_json, prompt_key
from plaudit.column_names import PROMPT, first_of
from plaudit.completions import prompt_text_of, text_of
from plaudit.scores import TROUBLE, Score
from plaudit.scoring import Chunk, UnreadableRecord, records_in

AGREEING = 4  # completions of a prompt that there must be, to trust most of them
_NOTHING = re.compile(r"\\boxed\{\s*\}|<answer>\s*</answer>|\$\s*\$")  # a format without an answer
SAME_PROMPT = 2_000  # characters of a column that are kept to compare golds of one prompt


@dataclass(slots=True)
class CheckedRow:
    """A row while it is checked."""

    number: int
    file: str
    line: int
    record: Mapping[str, Any]
    findings: list[Finding] = field(default_factory=list)
    prompt: str = ""

    def add(self, kind: str, column: str, why: str, component: str = "") -> None:
        """Add a finding; of each kind there is one a row."""
        if all(finding.kind != kind for finding in self.findings):
            found = self.record.get(column)
            value = "" if found is None else shown(found)
            place = (kind, self.file, self.line, self.number, column, value, why, component)
            self.findings.append(Finding(*place, prompt=self.prompt))


@dataclass(frozen=True, slots=True)
class PromptRow:
    """What is kept of a row to compare it with others of the same prompt.

    key: the digest of its prompt
    record: the digest of all that was read of the row
    gold: its gold, as JSON
    columns: what else is needed to compare golds, as JSON
    answer: what its completion answers, if completions are scored
    right: whether that is right; None where nobody knows
    """

    key: str
    row: int
    file: str
    line: int
    record: str
    gold: str
    columns: str
    prompt: str
    answer: str | None = None
    right: bool | None = None


@dataclass(frozen=True, slots=True)
class CheckedChunk:
    """What came of a chunk."""

    number: int
    rows: int
    findings: list[Finding]
    prompts: list[PromptRow]


def check_chunk(chunk: Chunk, plan: CheckPlan) -> CheckedChunk:
    """Check the rows of a chunk."""
    rows, findings = _rows(chunk, plan)
    for row in rows:
        _check_alone(row, plan)
    sound = [row for row in rows if not row.findings]
    for comparison in plan.comparisons:
        problems = gold_problems([row.record for row in sound], comparison, plan)
        for row, problem in zip(sound, problems, strict=True):
            if problem:
                row.add(problem.kind, comparison.column, problem.why, comparison.name)
    answered = _answers([row for row in sound if not row.findings], plan)
    if plan.groups:
        _check_groups(sound, answered, plan)
    findings += [finding for row in rows for finding in row.findings]
    findings.sort(key=lambda finding: finding.row)
    prompts = [kept for row in rows if (kept := _prompt_row(row, answered, plan))]
    return CheckedChunk(chunk.number, sum(map(len, chunk.blocks)), findings, prompts)


def _rows(chunk: Chunk, plan: CheckPlan) -> tuple[list[CheckedRow], list[Finding]]:
    rows: list[CheckedRow] = []
    unreadable: list[Finding] = []
    number = chunk.first_record
    wanted = None if plan.rollouts else plan.columns
    for block in chunk.blocks:
        file = plan.files[block.file]
        for record, line in zip(records_in(block, wanted), block.numbers, strict=True):
            if isinstance(record, UnreadableRecord):
                place = ("unreadable_row", file, line, number, "", shown(record.start))
                unreadable.append(Finding(*place, sentence(record.reason)))
            else:
                rows.append(CheckedRow(number, file, line, record, prompt=_prompt(record, plan)))
            number += 1
    return rows, unreadable


def _prompt(record: Mapping[str, Any], plan: CheckPlan) -> str:
    if not plan.prompts or not (value := record.get(plan.prompts[0])):
        return ""
    try:
        return shown(prompt_text_of(value, plan.prompts[0]))
    except (TypeError, ValueError):
        return shown(value)


def _check_alone(row: CheckedRow, plan: CheckPlan) -> None:
    """Check all that needs no reward."""
    record = row.record
    for column in plan.required:
        if column not in record:
            row.add("missing_value", column, f"The row has no column {column}.")
        elif _is_empty(record[column]):
            what = "null" if record[column] is None else "empty"
            row.add("missing_value", column, f"The column {column} is {what}.")
    texts = _prompt_texts(record, plan)
    if texts is not None and not any(texts) and not any(record.get(name) for name in plan.images):
        row.add("missing_value", plan.prompts[0], "The prompt is empty.")
    for column, why in image_problems(record, plan, row.file).items():
        row.add("unreadable_image", column, sentence(why))
    for column in dict.fromkeys(comparison.column for comparison in plan.comparisons):
        if row.findings or column not in record:
            continue
        if why := box_problem(record, record[column], plan, row.file):
            row.add("box_outside_image", column, why)
        elif why := option_problem(record, record[column], plan):
            row.add("unknown_option", column, why)
        elif stated := stated_answer("\n".join(texts or []), _answers_in(record[column])):
            why = f"The prompt says: {shown(stated, 100)}"
            row.add("answer_in_prompt", plan.prompts[0], sentence(why))


def _prompt_texts(record: Mapping[str, Any], plan: CheckPlan) -> list[str] | None:
    """The texts of a row's prompt; None if there is no column of prompts, or none of texts."""
    columns = [name for name in plan.prompts if first_of(PROMPT, [name])]
    try:
        texts = [prompt_text_of(v, n) for n in columns if (v := record.get(n))]
    except (TypeError, ValueError):
        return None
    return [text for text in texts if text.strip()] if columns else None


def _answers_in(gold: Any) -> list[str]:
    is_plain = isinstance(gold, str | int | float) and not isinstance(gold, bool)
    return written_answers(gold) if is_plain else []


def _is_empty(value: Any) -> bool:
    if isinstance(value, str):
        return not _NOTHING.sub("", value).strip()
    return value is None or value == []


# --- completions ----------------------------------------------------------------------------------

Answer = tuple[str | None, bool | None]


def _answers(rows: Sequence[CheckedRow], plan: CheckPlan) -> dict[int, list[Answer]]:
    """For each row, what its completions answer and whether that is right."""
    if not plan.scored:
        return {}
    comparison = plan.comparisons[0]
    each = [
        (row, text)
        for row in rows
        for text in _completions(row.record.get(plan.completions), plan.groups)
    ]
    outcomes = scores_of([row.record for row, _ in each], [text for _, text in each], comparison)
    answers: dict[int, list[Answer]] = {}
    for (row, _), outcome in zip(each, outcomes, strict=True):
        answers.setdefault(row.number, []).append(_answer(outcome, comparison))
    return answers


def _completions(value: Any, groups: bool) -> list[str]:
    listed = value if groups and isinstance(value, list) else [value]
    texts = []
    for one in listed:
        with suppress(TypeError, ValueError):  # what is no completion has no answer
            texts.append(text_of(one))
    return texts


def _answer(outcome: Score | Exception, comparison: Comparison) -> Answer:
    if isinstance(outcome, Exception) or outcome.status in TROUBLE:
        return None, None
    answer = "".join((outcome.answer or "").replace("$", "").split())[:SHOWN]
    return answer or None, is_right(outcome, comparison)


def _check_groups(
    rows: Sequence[CheckedRow], answered: Mapping[int, list[Answer]], plan: CheckPlan
) -> None:
    for row in rows:
        if why := suspicion(answered.get(row.number, [])):
            comparison = plan.comparisons[0]
            row.add("suspicious_gold", comparison.column, why, comparison.name)


def suspicion(answers: Sequence[Answer]) -> str:
    """Why the gold of these answers looks wrong; "" if it does not.

    >>> suspicion([("5", False)] * 3 + [("6", False)])
    '3 of 4 completions answer 5, and none is right.'
    >>> suspicion([("5", False)] * 3 + [("4", True)])
    ''
    """
    known = [(answer, right) for answer, right in answers if right is not None]
    if len(known) < AGREEING or any(right for _, right in known):
        return ""
    said = Counter(answer for answer, _ in known if answer)
    answer, count = said.most_common(1)[0] if said else ("", 0)
    if 2 * count <= len(known):
        return ""
    return f"{count} of {len(known)} completions answer {shown(answer, 80)}, and none is right."


# --- what is kept to compare rows of the same prompt ---------------------------------------------


def _prompt_row(
    row: CheckedRow, answered: Mapping[int, list[Answer]], plan: CheckPlan
) -> PromptRow | None:
    key = prompt_key(row.record, plan.prompts)
    if not key or not plan.comparisons or row.findings:
        return None  # of a gold that has a finding, no other need be said
    column = plan.comparisons[0].column
    if _is_empty(row.record.get(column)):
        return None
    beside = {
        name: row.record[name]
        for name in plan.read
        if name in row.record and name != column and _is_small(row.record[name])
    }
    answers = answered.get(row.number, []) if plan.rollouts else []
    answer, right = answers[0] if len(answers) == 1 else (None, None)
    return PromptRow(
        digest(key),
        row.number,
        row.file,
        row.line,
        digest(as_json(row.record)) if plan.rollouts else "",
        as_json(row.record[column]),
        as_json(beside),
        row.prompt,
        answer,
        right,
    )


def _is_small(value: Any) -> bool:
    return not isinstance(value, bytes) and len(repr(value)) <= SAME_PROMPT


def digest(text: str) -> str:
    """A short text that stands for a long one.

    >>> digest("What is 2 + 2?") == digest("What is 2 + 2?")
    True
    """
    return blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()
