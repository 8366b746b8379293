"""What is kept of every row in, and out come the findings about rows of the same prompt.

It is kept in files, by the first digits of the prompt's digest, so that memory does not grow with
the table: rows of the same prompt are in the same file, and one file is read at a time.
"""

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import IO, Any

from plaudit.checking._check_chunk import PromptRow, digest, suspicion
from plaudit.checking._findings import Finding, shown
from plaudit.checking._golds import honest_answers, is_right, scores_of
from plaudit.checking._plan import CheckPlan
from plaudit.scores import STOPPED, Score
from plaudit.scoring import Block, Chunk, records_in

FEWEST, MOST = 16, 256  # files, all of which are open
OF_A_FILE = 32 << 20  # bytes of the input for each
PAIRS = 256  # golds that a worker compares at once

Work = Callable[[Iterator[Chunk], Callable[[Chunk, CheckPlan], Any]], Generator[Any]]


class PromptFiles:
    """Keeps rows by their prompts; `size` is that of the input, in bytes."""

    def __init__(self, folder: Path, size: int) -> None:
        self._folder = folder
        self._count = min(max(size // OF_A_FILE, FEWEST), MOST)
        self._files: dict[int, IO[str]] = {}

    def add(self, rows: Iterable[PromptRow]) -> None:
        """Keep rows, which come in the order of the table."""
        for row in rows:
            number = int(row.key[:8], 16) % self._count
            if number not in self._files:
                path = self._folder / f"prompts-{number:04}.jsonl"
                self._files[number] = path.open("w+", encoding="ascii")
            self._files[number].write(json.dumps(astuple(row)) + "\n")

    def prompts(self) -> Iterator[list[PromptRow]]:
        """The rows of each prompt that has more than one, in the order of the table."""
        for number in sorted(self._files):
            file = self._files[number]
            file.seek(0)
            rows = sorted((PromptRow(*json.loads(line)) for line in file), key=_place)
            for _, same in groupby(rows, key=lambda row: row.key):
                if len(found := list(same)) > 1:
                    yield found

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()


def _place(row: PromptRow) -> tuple[str, int]:
    return row.key, row.row


@dataclass(frozen=True, slots=True)
class Compared:
    """Which golds of a prompt are not equal to its first one, by prompt and the gold's digest."""

    different: frozenset[tuple[str, str]]


def findings_of_prompts(files: PromptFiles, plan: CheckPlan, work: Work) -> Iterator[list[Finding]]:
    """The findings about the rows of each prompt; `work` has workers compare golds."""
    different: set[tuple[str, str]] = set()
    done = work(_pairs(files, plan), compare_golds)
    for compared in done:
        different |= compared.different
    for rows in files.prompts():
        yield _findings(rows, different, plan)


def _pairs(files: PromptFiles, plan: CheckPlan) -> Iterator[Chunk]:
    """Chunks of golds that differ as text from the first one of their prompt."""
    pairs = (pair for rows in files.prompts() for pair in _pairs_of(rows))
    number = 0
    while some := list(islice(pairs, PAIRS)):
        lines = [pair["line"] for pair in some]
        file = plan.files.index(some[0]["file"])
        block = Block(file, lines, [{**pair} for pair in some], 0)
        yield Chunk(number, 0, 0, (block,), ([1] * len(some),), 0)
        number += 1


def _pairs_of(rows: Sequence[PromptRow]) -> Iterator[dict[str, Any]]:
    first, seen = rows[0], {rows[0].gold}
    for row in rows[1:]:
        if row.gold not in seen:
            seen.add(row.gold)
            place = {"key": row.key, "file": row.file, "line": row.line, "columns": row.columns}
            yield {**place, "gold": row.gold, "first": first.gold}


def compare_golds(chunk: Chunk, plan: CheckPlan) -> Compared:
    """Compare the pairs of golds of a chunk, each way: one as the answer, the other as the gold."""
    comparison = plan.comparisons[0]
    pairs = [record for block in chunk.blocks for record in records_in(block)]
    known = [pair for pair in pairs if isinstance(pair, dict)]
    rows, texts = [], []
    for pair in known:
        golds = [json.loads(pair[name]) for name in ("gold", "first")]
        sides = [{**json.loads(pair["columns"]), comparison.column: gold} for gold in golds]
        answers = [_answer(side, plan) for side in sides]
        rows += sides
        texts += [_text(answers[1], plan), _text(answers[0], plan)]
    outcomes = scores_of(rows, texts, comparison)
    different = {
        (pair["key"], digest(pair["gold"]))
        for pair, there, back in zip(known, outcomes[::2], outcomes[1::2], strict=True)
        if not is_right(there, comparison)
        and not is_right(back, comparison)
        and not (_is_stopped(there) or _is_stopped(back))
    }
    return Compared(frozenset(different))


def _answer(row: dict[str, Any], plan: CheckPlan) -> str:
    try:
        return honest_answers(row, plan.comparisons[0])[0]
    except ValueError:  # of an image
        return ""


def _text(answer: str, plan: CheckPlan) -> str:
    wanted = plan.comparisons[0].format or plan.formats[0]
    return wanted.text(answer)


def _is_stopped(outcome: Score | Exception) -> bool:
    """Whether nobody knows if two golds are equal; the golds themselves have findings then."""
    return isinstance(outcome, Exception) or outcome.status in (*STOPPED, "bad_gold")


def _findings(
    rows: Sequence[PromptRow], different: set[tuple[str, str]], plan: CheckPlan
) -> list[Finding]:
    others = {row.gold for row in rows if (row.key, digest(row.gold)) in different}
    if others:
        return [_conflict(row, rows, others, plan) for row in rows]
    found = _twice(rows, plan)
    if plan.rollouts and plan.scored and (why := suspicion([(r.answer, r.right) for r in rows])):
        found += [_finding("suspicious_gold", row, None, why, plan) for row in rows]
    return found


def _conflict(
    row: PromptRow, rows: Sequence[PromptRow], others: set[str], plan: CheckPlan
) -> Finding:
    # The first row's gold is the one that all were compared with.
    other = rows[0] if row.gold in others else next(one for one in rows if one.gold in others)
    gold = shown(json.loads(other.gold), 80)
    why = f"{_other(other)} has the same prompt and the gold {gold}."
    return _finding("conflicting_golds", row, other, why, plan)


def _twice(rows: Sequence[PromptRow], plan: CheckPlan) -> list[Finding]:
    """A finding for each row that occurs again; with completions, if the whole row is the same."""
    first: dict[str, PromptRow] = {}
    found = []
    for row in rows:
        earlier = first.setdefault(row.record, row)  # without completions, no digest differs
        if earlier is not row:
            same = "is the same row" if plan.rollouts else "has the same prompt and an equal gold"
            why = f"{_other(earlier)} {same}."
            found.append(_finding("duplicate_row", row, earlier, why, plan))
    return found


def _other(row: PromptRow) -> str:
    return f"Line {row.line} of {row.file}" if row.file else f"Row {row.row}"


def _finding(
    kind: str, row: PromptRow, other: PromptRow | None, why: str, plan: CheckPlan
) -> Finding:
    comparison = plan.comparisons[0]
    value = shown(json.loads(row.gold))
    name = "" if kind == "duplicate_row" else comparison.name
    place = (kind, row.file, row.line, row.row, comparison.column, value, why, name)
    return Finding(*place, None if other is None else other.row, row.prompt)
