"""A scored folder in; all that a page says about the run, except its rows, out."""

from dataclasses import dataclass
from pathlib import Path

from plaudit.report._agreement import Agreement, agreement_of
from plaudit.report._explained import right_component
from plaudit.report._folder import Asked, Folder, RejectedRows, open_folder, rejected_rows
from plaudit.report._numbers import Numbers, numbers_of
from plaudit.report._parts import Breakdown, Curves, breakdown_of, curves_of
from plaudit.report._progress import Progress
from plaudit.report._summary import Summary, summary_of


@dataclass(frozen=True, slots=True)
class Run:
    """What a page says about a run; `name` is that of its folder."""

    name: str
    folder: Folder
    numbers: Numbers
    summary: Summary
    breakdowns: list[Breakdown]
    curves: Curves | None
    agreement: Agreement | None
    rejected: RejectedRows


def run_of(
    directory: Path, asked: Asked, progress: Progress, name: str = "", prompts: bool = False
) -> Run:
    """The run in a folder; prompts: whether its prompts are matched with those of another run."""
    folder = open_folder(directory, asked)
    correct = right_component(folder, asked.correct)
    numbers = numbers_of(
        folder,
        correct,
        prompts=prompts,
        strict_labels=asked.label is not None,
        progress=progress,
    )
    progress.tell("summing up")
    return Run(
        name=name or directory.resolve().name,
        folder=folder,
        numbers=numbers,
        summary=summary_of(numbers, correct),
        breakdowns=[breakdown_of(numbers, column) for column in folder.by],
        curves=curves_of(numbers),
        agreement=agreement_of(numbers, folder.label),
        rejected=rejected_rows(folder.scored.path),
    )
