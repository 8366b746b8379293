"""`check` and `check_table`: find rows from which a model cannot learn, in memory or in files.

Each row is checked by itself, then all rows of the same prompt together. Workers check chunks of
rows. What is needed to compare rows of one prompt is kept in a database on disk, so that memory
does not grow with the table.
"""

import json
import re
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import astuple, dataclass, field, replace
from hashlib import blake2b
from itertools import groupby, islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TextIO

from plaudit.inputs.columns import PROMPT, first_of
from plaudit.inputs.completions import prompt_text_of, text_of
from plaudit.judge import warn_of_untested_version
from plaudit.recipes import Recipe
from plaudit.recipes.recipe import as_recipe
from plaudit.reports import ReportError
from plaudit.reports.check._findings import (
    FINDINGS,
    KINDS,
    PAGE,
    SHOWN,
    CheckFinding,
    CheckSummary,
    FindingsFile,
    drop_rows,
    output_paths,
    read_findings,
    sentence,
    shown,
    write_page,
)
from plaudit.reports.check._plan import (
    CheckOptions,
    CheckPlan,
    GoldComparison,
    ProgramTests,
    as_json,
    make_plan,
    prompt_key,
)
from plaudit.reports.check._row_checks import (
    Calibration,
    ScoreOrError,
    box_problem,
    calibrate,
    gold_problems,
    honest_answers,
    image_problems,
    is_right,
    option_problem,
    schema_problem,
    scores_of,
    stated_answer,
)
from plaudit.reports.honest_answers import alternatives
from plaudit.rewards.code import code_reward, tests_problem
from plaudit.scores.score import PROBLEM_STATUSES, UNFINISHED_STATUSES
from plaudit.tables import InputError, StoppedError
from plaudit.tables.engines import process_locally
from plaudit.tables.inputs import InputFile, find_inputs
from plaudit.tables.memory import MemoryTable, table_of
from plaudit.tables.plan import Head, check_numbers, filled_heads, heads_of, with_columns
from plaudit.tables.readers import (
    Block,
    Chunk,
    UnreadableRecord,
    chunks_of,
    names_files,
    records_in,
)
from plaudit.tables.storage import local_path, path_here, stopping_on_system_errors
from plaudit.tables.summary import ScoreProgress

_AGREEING = 4  # completions of a prompt that there must be, to trust most of them
_NOTHING = re.compile(r"\\boxed\{\s*\}|<answer>\s*</answer>|\$\s*\$")  # a format without an answer
_KEPT = 2_000  # characters of a column that are kept to compare golds of one prompt
_PAIRS = 256  # golds that a worker compares at once

Answer = tuple[str | None, bool | None]  # of a completion, and whether it is right
Work = Callable[[Iterator[Chunk], Callable[[Chunk, CheckPlan], Any]], Generator[Any]]


@dataclass(slots=True)
class _CheckedRow:
    """A row while it is checked."""

    number: int
    file: str
    line: int
    record: Mapping[str, Any]
    findings: list[CheckFinding] = field(default_factory=list)
    prompt: str = ""

    def add(self, kind: str, column: str, why: str, component: str = "") -> None:
        """Add a finding; of each kind a row has one."""
        if all(finding.kind != kind for finding in self.findings):
            found = self.record.get(column)
            value = "" if found is None else shown(found)
            known = (kind, self.file, self.line, self.number, column, value, why, component)
            self.findings.append(CheckFinding(*known, prompt=self.prompt))


@dataclass(frozen=True, slots=True)
class PromptRow:
    """What is kept of a row to compare it with others of the same prompt."""

    key: str  # the digest of its prompt
    row: int
    file: str
    line: int
    record: str  # the digest of all that was read of the row
    gold: str  # its gold, as JSON
    columns: str  # what else is needed to compare golds, as JSON
    prompt: str
    answer: str | None = None  # what its completion answers, if completions are scored
    right: bool | None = None  # whether that is right; None if nobody knows

    def __str__(self) -> str:
        return f"Line {self.line} of {self.file}" if self.file else f"Row {self.row}"


@dataclass(frozen=True, slots=True)
class CheckedChunk:
    """The findings of a chunk, and what is needed to compare its rows with others."""

    number: int
    rows: int
    findings: list[CheckFinding]
    prompts: list[PromptRow]


def check_chunk(chunk: Chunk, plan: CheckPlan) -> CheckedChunk:
    """Check the rows of a chunk, each by itself."""
    rows, findings = _rows(chunk, plan)
    for row in rows:
        _check_without_reward(row, plan)
    for program in plan.programs:
        _check_references([row for row in rows if not row.findings], program)
    sound = [row for row in rows if not row.findings]
    for comparison in plan.comparisons:
        problems = gold_problems([row.record for row in sound], comparison, plan)
        for row, problem in zip(sound, problems, strict=True):
            if problem:
                row.add(problem.kind, comparison.column, problem.why, comparison.name)
    answers = _answers([row for row in sound if not row.findings], plan)
    for row in sound if plan.groups else ():
        if why := _suspicion(answers.get(row.number, [])):
            comparison = plan.comparisons[0]
            row.add("suspicious_gold", comparison.column, why, comparison.name)
    findings += [finding for row in rows for finding in row.findings]
    findings.sort(key=lambda finding: finding.row)
    prompts = [kept for row in rows if (kept := _prompt_row(row, answers, plan))]
    return CheckedChunk(chunk.number, len(chunk.records), findings, prompts)


def _check_references(rows: list[_CheckedRow], program: ProgramTests) -> None:
    """Run the program that a row says is right against the row's own tests."""
    there = [row for row in rows if isinstance(row.record.get(program.reference), str)]
    texts = [row.record[program.reference] for row in there]
    tests = [row.record[program.tests] for row in there]
    scores = code_reward.scores(texts, tests, **program.params) if there else []
    for row, score in zip(there, scores, strict=True):
        if score.value == 0.0:
            row.add("failing_reference", program.reference, score.why, program.name)


def _rows(chunk: Chunk, plan: CheckPlan) -> tuple[list[_CheckedRow], list[CheckFinding]]:
    rows: list[_CheckedRow] = []
    unreadable: list[CheckFinding] = []
    number = chunk.first_record
    wanted = None if plan.rollouts else plan.columns
    file = plan.files[chunk.records.file]
    numbers = chunk.records.numbers
    for record, line in zip(records_in(chunk.records, wanted), numbers, strict=True):
        if isinstance(record, UnreadableRecord):
            known = ("unreadable_row", file, line, number, "", shown(record.start))
            unreadable.append(CheckFinding(*known, sentence(record.reason)))
        else:
            rows.append(_CheckedRow(number, file, line, record, prompt=_prompt(record, plan)))
        number += 1
    return rows, unreadable


def _prompt(record: Mapping[str, Any], plan: CheckPlan) -> str:
    if not plan.prompts or not (value := record.get(plan.prompts[0])):
        return ""
    try:
        return shown(prompt_text_of(value, plan.prompts[0]))
    except (TypeError, ValueError):
        return shown(value)


def _check_without_reward(row: _CheckedRow, plan: CheckPlan) -> None:
    record = row.record
    # An empty list may be a gold: no call of a tool is right.
    takes_no_call = "tools" in plan.read and bool(record.get("tools"))
    for column in plan.required:
        if column not in record:
            row.add("missing_value", column, f"The row has no column {column}.")
        elif _is_empty(record[column]) and not (record[column] == [] and takes_no_call):
            what = "null" if record[column] is None else "empty"
            row.add("missing_value", column, f"The column {column} is {what}.")
    texts = _prompt_texts(record, plan)
    if texts is not None and not any(texts) and not any(record.get(name) for name in plan.images):
        row.add("missing_value", plan.prompts[0], "The prompt is empty.")
    for column, why in image_problems(record, plan, row.file).items():
        row.add("unreadable_image", column, sentence(why))
    if "schema" in plan.required and "schema" in record and not row.findings:
        unusable, violation = schema_problem(record, record.get("solution"), plan)
        if unusable:
            row.add("unreadable_gold", "schema", sentence(unusable))
        elif violation:
            row.add("schema_violation", "solution", f"The gold violates its schema: {violation}.")
    for program in plan.programs:
        if not row.findings and (why := tests_problem(record.get(program.tests))):
            row.add("unreadable_tests", program.tests, sentence(why), program.name)
    for column in dict.fromkeys(comparison.column for comparison in plan.comparisons):
        if row.findings or column not in record:
            continue
        gold = record[column]
        if "tools" in plan.read and (violation := schema_problem(record, gold, plan)[1]):
            row.add("schema_violation", column, f"The gold violates its schema: {violation}.")
            continue
        is_plain = isinstance(gold, str | int | float) and not isinstance(gold, bool)
        answers = alternatives(gold) if is_plain else []
        if why := box_problem(record, gold, plan, row.file):
            row.add("box_outside_image", column, why)
        elif why := option_problem(record, gold, plan):
            row.add("unknown_option", column, why)
        elif stated := stated_answer("\n".join(texts or []), answers):
            why = f"The prompt says: {shown(stated, 100)}"
            row.add("answer_in_prompt", plan.prompts[0], sentence(why))


def _prompt_texts(record: Mapping[str, Any], plan: CheckPlan) -> list[str] | None:
    """Return the texts of a row's prompt; None if no column holds prompts as texts."""
    columns = [name for name in plan.prompts if first_of(PROMPT, [name])]
    try:
        texts = [prompt_text_of(v, n) for n in columns if (v := record.get(n))]
    except (TypeError, ValueError):
        return None
    return [text for text in texts if text.strip()] if columns else None


def _is_empty(value: Any) -> bool:
    if isinstance(value, str):
        return not _NOTHING.sub("", value).strip()
    return value is None or value == []


# --- completions ----------------------------------------------------------------------------------


def _answers(rows: Sequence[_CheckedRow], plan: CheckPlan) -> dict[int, list[Answer]]:
    """Return what the completions of each row answer, and whether that is right."""
    if not plan.scored:
        return {}
    comparison = plan.comparisons[0]
    each = [
        (row, text)
        for row in rows
        for text in _completions(row.record.get(plan.completions), plan.groups)
    ]
    scores = scores_of([row.record for row, _ in each], [text for _, text in each], comparison)
    answers: dict[int, list[Answer]] = {}
    for (row, _), score in zip(each, scores, strict=True):
        answers.setdefault(row.number, []).append(_answer(score, comparison))
    return answers


def _completions(value: Any, groups: bool) -> list[str]:
    listed = value if groups and isinstance(value, list) else [value]
    texts = []
    for one in listed:
        with suppress(TypeError, ValueError):  # what is no completion has no answer
            texts.append(text_of(one))
    return texts


def _answer(score: ScoreOrError, comparison: GoldComparison) -> Answer:
    if isinstance(score, Exception) or score.status in PROBLEM_STATUSES:
        return None, None
    answer = "".join((score.answer or "").replace("$", "").split())[:SHOWN]
    return answer or None, is_right(score, comparison)


def _suspicion(answers: Sequence[Answer]) -> str:
    """Return why the gold of these answers looks wrong; "" if it does not."""
    known = [(answer, right) for answer, right in answers if right is not None]
    if len(known) < _AGREEING or any(right for _, right in known):
        return ""
    counts = Counter(answer for answer, _ in known if answer)
    answer, count = counts.most_common(1)[0] if counts else ("", 0)
    if 2 * count <= len(known):
        return ""
    return f"{count} of {len(known)} completions answer {shown(answer, 80)}, and none is right."


# --- rows of the same prompt ----------------------------------------------------------------------


def _prompt_row(
    row: _CheckedRow, answered: Mapping[int, list[Answer]], plan: CheckPlan
) -> PromptRow | None:
    key = prompt_key(row.record, plan.prompts)
    if not key or not plan.comparisons or row.findings:
        return None  # of a gold that has a finding, no other need be said
    column = plan.comparisons[0].column
    if _is_empty(row.record.get(column)):
        return None
    others = {n: row.record[n] for n in plan.read if n in row.record and n != column}
    small = {
        name: value
        for name, value in others.items()
        if not isinstance(value, bytes) and len(repr(value)) <= _KEPT
    }
    answers = answered.get(row.number, []) if plan.rollouts else []
    answer, right = answers[0] if len(answers) == 1 else (None, None)
    return PromptRow(
        _digest(key),
        row.number,
        row.file,
        row.line,
        _digest(as_json(row.record)) if plan.rollouts else "",
        as_json(row.record[column]),
        as_json(small),
        row.prompt,
        answer,
        right,
    )


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


class PromptRows:
    """Keeps rows by their prompts."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._rows = database
        self._rows.execute("PRAGMA journal_mode = OFF")
        self._rows.execute("CREATE TABLE kept (prompt TEXT, row INTEGER, content TEXT)")

    def add(self, rows: Iterable[PromptRow]) -> None:
        """Keep rows; their texts may have lone surrogates, which JSON escapes."""
        kept = ((row.key, row.row, json.dumps(astuple(row))) for row in rows)
        self._rows.executemany("INSERT INTO kept VALUES (?, ?, ?)", kept)

    def prompts(self) -> Iterator[list[PromptRow]]:
        """Yield the rows of each prompt that has more than one, in the order of the table."""
        kept = self._rows.execute("SELECT prompt, content FROM kept ORDER BY prompt, row")
        for _, same in groupby(kept, key=lambda row: row[0]):
            if len(found := [PromptRow(*json.loads(content)) for _, content in same]) > 1:
                yield found


def check_prompts(kept: PromptRows, plan: CheckPlan, work: Work) -> Iterator[list[CheckFinding]]:
    """Yield the findings about the rows of each prompt; `work` has workers compare golds."""
    different: set[tuple[str, str]] = set()
    for some in work(_pairs(kept, plan), different_golds):
        different |= some
    for rows in kept.prompts():
        others = {row.gold for row in rows if (row.key, _digest(row.gold)) in different}
        if others:
            # The first row's gold is the one that all were compared with.
            unequal = next(row for row in rows if row.gold in others)
            pairs = [(row, rows[0] if row.gold in others else unequal) for row in rows]
            why = "{} has the same prompt and the gold {}."
            yield [
                _finding("conflicting_golds", row, other, why.format(other, _gold(other, 80)), plan)
                for row, other in pairs
            ]
            continue
        found = _duplicates(rows, plan)
        why = _suspicion([(row.answer, row.right) for row in rows])
        if plan.rollouts and plan.scored and why:
            found += [_finding("suspicious_gold", row, None, why, plan) for row in rows]
        yield found


def _pairs(kept: PromptRows, plan: CheckPlan) -> Iterator[Chunk]:
    """Yield chunks of golds that differ as text from the first one of their prompt."""
    pairs = (pair for rows in kept.prompts() for pair in _pairs_of(rows))
    number = 0
    while some := list(islice(pairs, _PAIRS)):
        file = plan.files.index(some[0]["file"])
        block = Block(file, [pair["line"] for pair in some], some, 0)
        yield Chunk(number, block)
        number += 1


def _pairs_of(rows: Sequence[PromptRow]) -> Iterator[dict[str, Any]]:
    first, seen = rows[0], {rows[0].gold}
    for row in rows[1:]:
        if row.gold not in seen:
            seen.add(row.gold)
            known = {"key": row.key, "file": row.file, "line": row.line, "columns": row.columns}
            yield {**known, "gold": row.gold, "first": first.gold}


def different_golds(chunk: Chunk, plan: CheckPlan) -> set[tuple[str, str]]:
    """Compare pairs of golds, each as the answer to the other; return the unequal ones' digests."""
    comparison = plan.comparisons[0]
    pairs = [pair for pair in records_in(chunk.records) if isinstance(pair, dict)]
    rows, texts = [], []
    for pair in pairs:
        golds = [json.loads(pair[name]) for name in ("gold", "first")]
        sides = [{**json.loads(pair["columns"]), comparison.column: gold} for gold in golds]
        rows += sides
        texts += [_honest_text(side, plan) for side in reversed(sides)]
    scores = scores_of(rows, texts, comparison)
    stopped = (*UNFINISHED_STATUSES, "bad_gold")  # such golds have findings of their own
    return {
        (pair["key"], _digest(pair["gold"]))
        for pair, *both in zip(pairs, scores[::2], scores[1::2], strict=True)
        if not any(
            isinstance(score, Exception) or score.status in stopped or is_right(score, comparison)
            for score in both
        )
    }


def _honest_text(row: dict[str, Any], plan: CheckPlan) -> str:
    comparison = plan.comparisons[0]
    try:
        answer = honest_answers(row, comparison)[0]
    except ValueError:  # of an image
        answer = ""
    return (comparison.format or plan.formats[0]).write(answer)


def _duplicates(rows: Sequence[PromptRow], plan: CheckPlan) -> list[CheckFinding]:
    """Return a finding for each row that occurs again; of completions, only if all is the same."""
    first: dict[str, PromptRow] = {}
    found = []
    same = "is the same row" if plan.rollouts else "has the same prompt and an equal gold"
    for row in rows:
        earlier = first.setdefault(row.record, row)  # without completions, no digest differs
        if earlier is not row:
            found.append(_finding("duplicate_row", row, earlier, f"{earlier} {same}.", plan))
    return found


def _finding(
    kind: str, row: PromptRow, other: PromptRow | None, why: str, plan: CheckPlan
) -> CheckFinding:
    comparison = plan.comparisons[0]
    name = "" if kind == "duplicate_row" else comparison.name
    known = (kind, row.file, row.line, row.row, comparison.column, _gold(row), why, name)
    return CheckFinding(*known, None if other is None else other.row, row.prompt)


def _gold(row: PromptRow, most: int = SHOWN) -> str:
    return shown(json.loads(row.gold), most)


# --- a whole table --------------------------------------------------------------------------------

AnyPath = str | PathLike[str]

_AGAIN = "Run the same command again."
_WHEN_FIXED = "When that is fixed, run the same command again."
_AT_ONCE = 256  # rows of a table in memory that a worker gets
_FIRST = 2000  # rows that are looked at before all are checked


@dataclass(frozen=True, slots=True)
class CheckResult:
    """All that was found in a table.

    findings: in the order of the rows
    summary: counts, formats and notes; printing it gives what `plaudit check` prints

    >>> check([{"solution": "4"}, {"solution": None}], "math").failed_rows
    [1]
    """

    findings: list[CheckFinding]
    summary: CheckSummary

    @property
    def failed_rows(self) -> list[int]:
        """The numbers of the rows that have findings, from 0."""
        return sorted({finding.row for finding in self.findings})

    def __str__(self) -> str:
        return str(self.summary)


def check(
    table: Any,
    recipe: Any,
    *,
    completions: str | None = None,
    group: str | None = None,
    template: str | None = None,
    skip: Sequence[str] = (),
    workers: int | None = None,
    progress: TextIO | None = None,
    **columns: str,
) -> CheckResult:
    r"""Find bad golds, duplicates and more in a table, before it is trained on.

    table: the path of a file or folder, or several; or a table in memory: a list of dicts, a dict
        of lists, a pandas or polars DataFrame, an Arrow table, a Hugging Face Dataset
    recipe: a Recipe, the name of a preset, a TOML file, a reward (a function, or its name), or a
        list of rewards
    columns: which column an argument of a reward is read from, such as solution="answer"; default:
        the column of that name, else a guess, which a note tells

    The other options are those of `check_table`.

    >>> rows = [
    ...     {"question": "What is half of 1?", "solution": "1/2"},
    ...     {"question": "What is half of 1?", "solution": "0.5"},
    ...     {"question": "What is half of 3?", "solution": r"\frac{3}{2"},
    ... ]
    >>> for finding in check(rows, "math").findings:
    ...     print(finding.row, finding.kind, finding.why)
    1 duplicate_row Row 0 has the same prompt and an equal gold.
    2 unreadable_gold It is LaTeX with a { that is never closed.
    """
    recipe = as_recipe(recipe)
    options = CheckOptions(completions, group, columns, template, skip, workers, progress)
    start = time.monotonic()
    with stopping_on_system_errors(_AGAIN), tempfile.TemporaryDirectory(prefix="plaudit-") as temp:
        if names_files(table):
            source = _rows_of_files(find_inputs(table, None, "check"))
        else:
            source = _rows_of_table(table_of(table))
        path = Path(temp, FINDINGS)
        _, summary = _check_source(source, recipe, options, path)
        summary = replace(summary, seconds=time.monotonic() - start)
        return CheckResult(read_findings(path), summary)


def check_table(
    inputs: AnyPath | Sequence[AnyPath],
    recipe: Any,
    *,
    out: AnyPath | None = None,
    drop: AnyPath | None = None,
    completions: str | None = None,
    group: str | None = None,
    columns: Mapping[str, str] | None = None,
    template: str | None = None,
    skip: Sequence[str] = (),
    workers: int | None = None,
    limit: int | None = None,
    progress: TextIO | None = None,
) -> CheckSummary:
    """Check the rows of some files before they are trained on with a recipe.

    inputs: a file or a folder, or several, which together are one table
    recipe: as for `plaudit.check`
    out: the folder to write `findings.parquet` and a page to; default: none
    drop: where to write the table without the rows that have findings: a file with the format of
        the input, or a folder if the input is a folder or several files; default: nowhere
    completions: the column that a model wrote; default: `completion` or `completions`, if the table
        has one of them
    group: the column that tells prompts apart; default: `prompt`, `problem` and `question`, with
        the context and the image
    columns: which column an argument of a reward is read from, such as {"solution": "answer"};
        default: the column of that name, else a guess, which a note tells
    template: how an answer is written, with {answer} in it, such as "<answer>{answer}</answer>";
        default: the usual formats are tried on some rows
    skip: kinds of findings to leave out, such as ["suspicious_gold"]; default: none
    workers: how many processes; default: one per core
    limit: check only so many rows; default: all
    progress: where to show progress, such as sys.stderr; default: nowhere

    >>> file = Path(tempfile.mkdtemp(), "train.jsonl")
    >>> _ = file.write_text('{"question": "1 + 1?", "solution": "2"}\\n{"question": "Why?"}')
    >>> check_table(file, "math").counts
    {'missing_value': 1}
    """
    start = time.monotonic()
    options = CheckOptions(completions, group, columns or {}, template, skip, workers, progress)
    check_numbers(limit=limit)
    if limit is not None and drop is not None:
        raise InputError("--drop needs all rows to be checked: leave --limit out")
    named = [inputs] if isinstance(inputs, str | PathLike) else inputs
    paths = [local_path(fspath(one)) for one in named]
    recipe = as_recipe(recipe)
    folder = None if out is None else path_here(out)
    dropped_to = None if drop is None else path_here(drop)
    with stopping_on_system_errors(_AGAIN), tempfile.TemporaryDirectory(prefix="plaudit-") as temp:
        files = find_inputs(named, folder, "check")
        kept = [] if dropped_to is None else output_paths(files, paths, dropped_to)
        path = (Path(temp) if folder is None else _make_folder(folder)) / FINDINGS
        findings, summary = _check_source(_rows_of_files(files, limit), recipe, options, path)
        left = drop_rows(files, kept, findings.has) if kept else 0
    seconds = time.monotonic() - start
    summary = replace(summary, out=folder, dropped_to=dropped_to, left=left, seconds=seconds)
    if folder is not None:
        try:
            write_page(summary, ", ".join(path.name for path in paths), folder / PAGE)
        except ReportError as error:  # a package that the page needs is missing
            return replace(summary, notes=(*summary.notes, f"{error}"))
    return summary


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}") from error
    return folder


@dataclass(frozen=True, slots=True)
class RowSource:
    """Where rows come from."""

    heads: Sequence[Head]  # the first rows of each file
    files: tuple[str, ...]  # the names of the files
    size: int  # of all of it, as the chunks count what was read
    chunks: Iterator[Chunk]  # all rows


def _rows_of_files(files: Sequence[InputFile], limit: int | None = None) -> RowSource:
    names = tuple(file.name for file in files)
    size = sum(file.size for file in files)
    heads = filled_heads(heads_of(files), "check")
    return RowSource(heads, names, size, chunks_of(files, limit))


def _rows_of_table(table: MemoryTable) -> RowSource:
    if not len(table):
        raise InputError("there are no rows to check: the table is empty")
    first = table.block(table.names, 0, min(_FIRST, len(table)), first=1)
    head = Head("the table", first.records_from(range(len(first))), table.names, None, False, "")
    return RowSource([head], ("",), len(table), _chunks(table))


def _chunks(table: MemoryTable) -> Iterator[Chunk]:
    for number, start in enumerate(range(0, len(table), _AT_ONCE)):
        block = table.block(table.names, start, min(start + _AT_ONCE, len(table)), first=1)
        yield Chunk(number, block, start, len(block))


def _check_source(
    source: RowSource, recipe: Recipe, options: CheckOptions, path: Path
) -> tuple[FindingsFile, CheckSummary]:
    """Check all rows, and write what is found to the file `path`."""
    check_numbers(workers=options.workers)
    for kind in options.skip:
        if kind not in KINDS:
            raise InputError(f"there is no kind {kind!r} to skip; the kinds are {', '.join(KINDS)}")
    recipe, notes = _with_columns(recipe, options, source.heads[0].columns)
    plan, sample, more = make_plan(source.heads, recipe, options)
    warn_of_untested_version()  # here, and not in each of the workers
    plan, unknown = _calibrate(replace(plan, files=source.files), sample, options.workers)
    with (
        FindingsFile(path, options.skip) as findings,
        tempfile.TemporaryDirectory(prefix="plaudit-") as scratch,
        closing(sqlite3.connect(Path(scratch, "prompts.sqlite"))) as database,
    ):
        prompts = PromptRows(database)
        rows = _check_rows(source, plan, options, findings, prompts)
        for found in check_prompts(prompts, plan, _work(plan, options.workers)):
            findings.add(found)
    first = findings.first()
    summary = CheckSummary(
        rows,
        findings.rows,
        {kind: findings.counts[kind] for kind in first},
        first,
        {c.name: c.format.name for c in plan.comparisons if c.format is not None},
        (*notes, *more, *unknown),
    )
    return findings, summary


def _with_columns(
    recipe: Recipe, options: CheckOptions, available: Sequence[str]
) -> tuple[Recipe, list[str]]:
    """Return the recipe with columns that are said or guessed, and notes on the guesses."""
    own = {"completions": options.completions} if options.completions else {}
    recipe = with_columns(recipe, {**options.columns, **own})
    _, guessed = recipe.with_guessed_columns(available)
    # Completions need not be there: a column that may be something else is not read as such.
    guessed = {
        argument: column for argument, column in guessed.items() if argument != "completions"
    }
    notes = [
        f"{argument}: column {column} (for another, say --column {argument}=COLUMN)"
        for argument, column in guessed.items()
    ]
    return with_columns(recipe, guessed), notes


def _work(plan: CheckPlan, workers: int | None) -> Work:
    """Return a function that has workers apply another to chunks."""
    return lambda chunks, function: process_locally(
        chunks, plan, function, workers, resume_hint=_AGAIN, retry_hint=_WHEN_FIXED
    )


def _calibrate(
    plan: CheckPlan, sample: list[dict[str, Any]], workers: int | None
) -> tuple[CheckPlan, list[str]]:
    """Find the formats that the comparisons want; add notes on those that were not found."""
    if not plan.comparisons:
        return plan, ["no reward of the recipe compares with a gold"]
    block = Block(0, range(1, len(sample) + 1), list(sample), 0)
    chunk = Chunk(0, block)
    found: Calibration = next(_work(plan, workers)(iter([chunk]), calibrate))
    if found.failure is not None:
        example = found.failure.description
        raise StoppedError(
            f"every row fails with the same error, for example\n{example}\n{_WHEN_FIXED}"
        )
    return replace(plan, comparisons=found.comparisons), [
        f"{name}: a gold is right in none of the usual formats, so golds were not compared "
        "with themselves; say how an answer is written with --template"
        for name in found.unknown
    ]


def _check_rows(
    source: RowSource,
    plan: CheckPlan,
    options: CheckOptions,
    findings: FindingsFile,
    prompts: PromptRows,
) -> int:
    """Check every row by itself; findings are written in the order of the table."""
    progress = ScoreProgress(options.progress, source.size, bad="findings")
    read: dict[int, int] = {}
    early: dict[int, CheckedChunk] = {}

    def chunks() -> Iterator[Chunk]:
        for chunk in source.chunks:
            read[chunk.number] = chunk.read
            yield chunk

    done = _work(plan, options.workers)(chunks(), check_chunk)
    rows = number = 0
    try:
        for checked in done:
            progress.scored(checked.rows, len(checked.findings), {}, read.pop(checked.number))
            rows += checked.rows
            early[checked.number] = checked
            while number in early:
                ready = early.pop(number)
                findings.add(ready.findings)
                prompts.add(ready.prompts)
                number += 1
    finally:
        done.close()
        progress.close()
    return rows
