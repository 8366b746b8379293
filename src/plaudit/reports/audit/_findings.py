"""What an audit finds: plain data, JSON, a table for a person, and a page."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from plaudit.reports.audit._attack import CLASSES, MISSED, RAISES
from plaudit.reports.audit._attacks import ATTACKS
from plaudit.reports.audit._reward_process import TOTAL
from plaudit.reports.honest_answers import GoldKind
from plaudit.scores.score import html_table

LISTED, HOLE = 0.1, 0.5  # a finding is listed from the first on, and is a hole from the second on
_SHOWN = 160  # characters of a completion that are printed
_LONGEST = 4000  # characters of a completion on the page


@dataclass(frozen=True)
class Example:
    """One row that shows a finding."""

    row: int  # its number in the table, from 0 on
    completion: str  # what was scored; of a very long text the beginning and the end
    value: float | None  # what it got; None if it got no number
    why: str  # one sentence


@dataclass(frozen=True)
class AuditFinding:
    """One hole, or what may become one.

    kind: its class, such as "hedge"
    attack: what was tried
    component: the reward that paid, or "total"
    share: from 0 to 1, the mean over the rows of what it earned, as a share of an honest right
        answer's pay; `unstable`: rows whose value changed; `missed`: rows that were not paid in
        full; `cost`: 1.0
    rows, paid: how many rows it was tried on, and on how many of them it paid
    advice: what to do about it
    """

    kind: str
    attack: str
    component: str
    share: float
    rows: int
    paid: int
    example: Example
    advice: str

    @property
    def is_hole(self) -> bool:
        """Whether what deserves nothing gets at least half of what an honest right answer gets."""
        return self.share >= HOLE and self.kind != MISSED

    def as_json(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        data = asdict(self)
        return {"class": data.pop("kind"), **data}


@dataclass(frozen=True)
class Tried:
    """What an attack earned from a component, hole or not: a cell of the matrix."""

    kind: str
    attack: str
    component: str
    share: float


@dataclass(frozen=True, repr=False)
class Audit:
    """All that an audit found; printing it gives what `plaudit audit` prints.

    recipe: the name of what was audited
    rows: how many rows of the table were used
    findings: from a share of 0.1 on, the worst first; those of the class `missed` come last
    skipped: what was not tried, and why
    formats: the honest format of each component, with the pay of a right answer in it
    matrix: the share of every attack, for every component that it counts for
    wrong_share: the share of the total that a wrong answer in the right form gets
    ignore_gold: the components that pay a right answer and never read the gold
    guessed: the column that was guessed for an argument

    >>> Audit("math", 64, (), (), {}, ())
    math: 64 rows; nothing found
    """

    recipe: str
    rows: int
    findings: tuple[AuditFinding, ...]
    skipped: tuple[str, ...]
    formats: Mapping[str, tuple[str, float]]
    matrix: tuple[Tried, ...]
    wrong_share: float | None = None
    ignore_gold: tuple[str, ...] = ()
    guessed: Mapping[str, str] = field(default_factory=dict)

    @property
    def worst(self) -> float:
        """The largest share that was found, without right answers that are not paid."""
        return max((one.share for one in self.findings if one.kind != MISSED), default=0.0)

    def as_json(self) -> dict[str, Any]:
        """Return the findings and what was skipped, as plain data."""
        return {
            "findings": [finding.as_json() for finding in self.findings],
            "skipped": list(self.skipped),
        }

    def __repr__(self) -> str:
        lines = [f"{self.recipe}: {self.rows} rows; {self._count()}", *self._notes()]
        for component, (form, pay) in self.formats.items():
            lines.append(f"  {component}: a right answer gets {pay:g}, written as {_line(form)}")
        for title, findings in self._groups().items():
            lines += ["", f"{title}:"] if findings else []
            lines += _lines_of(findings)
        if self.skipped:
            lines += ["", "skipped:", *(f"  {what}" for what in self.skipped)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the findings as a table in a notebook."""
        head = ["share", "class", "attack", "component", "rows", "completion", "why", "advice"]
        lines = [
            [*_cells(one), one.example.completion, one.example.why, one.advice]
            for one in self.findings
        ]
        caption = f"{self.recipe}: {self.rows} rows; {self._count()}"
        return html_table(caption, head, lines, " ".join([*self._notes(), *self.skipped]))

    def _groups(self) -> dict[str, list[AuditFinding]]:
        small = [one for one in self.findings if not one.is_hole and one.kind != MISSED]
        return {
            "holes": [one for one in self.findings if one.is_hole],
            "smaller findings": small,
            "right answers that are not paid": [f for f in self.findings if f.kind == MISSED],
        }

    def _count(self) -> str:
        counts = (f"{title}: {len(found)}" for title, found in self._groups().items() if found)
        components = {name for name in self.formats if name != TOTAL}
        never = (
            ["the gold is never read"] if components and components == {*self.ignore_gold} else []
        )
        return "; ".join([*counts, *never]) or "nothing found"

    def _notes(self) -> list[str]:
        notes = [f"{argument}: column {name}, a guess" for argument, name in self.guessed.items()]
        if self.wrong_share is not None:
            notes.append(
                f"A wrong answer in the right form gets {self.wrong_share:.0%} of the total."
            )
        if self.ignore_gold:
            reads = "reads" if len(self.ignore_gold) == 1 else "read"
            notes.append(f"{', '.join(self.ignore_gold)} never {reads} the gold.")
        return notes


def _lines_of(findings: Sequence[AuditFinding]) -> list[str]:
    """Return a line for each finding, in columns, and below it an example and the advice."""
    rows = [_cells(finding) for finding in findings]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for cells, finding in zip(rows, findings, strict=True):
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        shown = finding.example
        lines += [
            "  ".join(padded).rstrip(),
            f"      row {shown.row}: {_line(shown.completion)}",
            f"      {shown.why}",
            f"      {finding.advice}",
        ]
    return lines


def _cells(finding: AuditFinding) -> list[str]:
    rows = f"{finding.paid} of {finding.rows} rows"
    return [f"{finding.share:4.0%}", finding.kind, finding.attack, finding.component, rows]


def _line(text: str) -> str:
    """Return a text on one line, quoted, without what moves a cursor."""
    shown = text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]}…{text[-_SHOWN // 2 :]}"
    return json.dumps(shown, ensure_ascii=False)


# --- advice ---------------------------------------------------------------------------------------

_OWN_ANSWER = "answers.answer_reward (preset math)"
_REPLACEMENT: Mapping[GoldKind, str] = {
    GoldKind.NUMBER: _OWN_ANSWER,
    GoldKind.QUANTITY: _OWN_ANSWER,
    GoldKind.LETTER: f"{_OWN_ANSWER} with a column choices",
    GoldKind.BOX: "vision.box_reward (preset grounding)",
    GoldKind.BOXES: "vision.boxes_reward (preset detection)",
    GoldKind.ITEMS: f'{_OWN_ANSWER} with kind = "list"',
    GoldKind.CALLS: "tools.tool_call_reward",
    GoldKind.OBJECT: "structured.fields_reward",
    GoldKind.PROGRAM: "code.code_reward (preset code)",
    GoldKind.TEXT: "answers.exact_match_reward, or answers.mention_reward (preset qa) for prose",
}
_GATE = 'give it gate = "…" in the recipe, so that it counts only if the answer is right'
_READS_GOLD = {
    "empty": "Give 0 if no answer is found, before anything is compared",
    "structure": "Give 0 if the answer is empty",
    "key": "Compare by rules first, and show a judge the final answer alone, quoted as data",
    "echo": "Ask for the final answer alone, and refuse what is the question or much longer than "
    "the gold",
    "hedge": "Refuse more than one answer",
    "neighbour": "Compare exactly, or within a tolerance that is written down",
    "retract": "Read the last answer after the thinking, and what is said of it",
    "stuffing": "Read one answer, and take something off for all that is too much",
    "length": "Let length change the pay of right answers only: {gate}",
    "code": "Keep the tests, and the process that decides, out of the process of the program",
    "missed": "Read the answer as people write it",
}
_ONLY_FORM = {
    "empty": "Ask for an answer before any form is paid, or {gate}",
    "structure": "Ask for words and an answer inside the form, or {gate}",
    "echo": "Count only what is not in the prompt, or {gate}",
    "stuffing": "Count different sentences, not words, or {gate}",
    "length": "Do not pay for length alone: {gate}",
    "missed": "Take the form with any white space and any words inside",
}
_ALWAYS = {
    "unstable": "Make the value a function of the row alone: no state, no random numbers, nothing "
    "of the other rows; and refuse NaN",
    "cost": "Bound the text before it is searched, and use patterns that cannot backtrack; the "
    "rewards of plaudit take time linear in the text",
    "raises": "Give a value for every text: a trainer stops if a reward raises",
}


def advice(kind: str, gold: GoldKind, reads_gold: bool) -> str:
    """Return what to do about a finding of a class, in a sentence."""
    said = _ALWAYS.get(kind) or (_READS_GOLD if reads_gold else _ONLY_FORM).get(kind, "")
    is_closed = kind in _READS_GOLD and kind != "length"
    does = f"; {_REPLACEMENT[gold]} does" if is_closed and reads_gold else ""
    return f"{said.format(gate=_GATE)}{does}." if said else ""


# --- the page -------------------------------------------------------------------------------------


def write_page(found: Audit, directory: Path) -> Path:
    """Write the page of an audit to `directory/index.html`, and return its path."""
    html = page_of(found)
    directory.mkdir(parents=True, exist_ok=True)
    page = directory / "index.html"
    page.write_text(html, encoding="utf-8", newline="\n")
    return page


def page_of(found: Audit) -> str:
    """Return the page as HTML."""
    from plaudit.reports import html_page, package_file, render_html  # which need Jinja

    components = list(found.formats)
    with_findings = {finding.component for finding in found.findings}
    body = render_html(
        package_file("audit/page.html.jinja"),
        found=found,
        components=components,
        rows=_matrix(found, components),
        holes=sum(finding.is_hole for finding in found.findings),
        missed=sum(finding.kind == MISSED for finding in found.findings),
        clean=[one for one in components if one not in with_findings],
        about={attack.name: attack.about for attack in ATTACKS},
        longest=_LONGEST,
    )
    return html_page(
        found.recipe,
        body,
        kind="plaudit audit",
        about=f"{found.rows} rows, {len(found.matrix)} pairs of an attack and a component.",
        sections={"findings": "Findings", "matrix": "Matrix", "formats": "Formats"},
        styles=[package_file("audit/page.css")],
        scripts=[package_file("audit/page.js")],
    )


def _matrix(
    found: Audit, components: list[str]
) -> list[tuple[str, str, list[tuple[Tried | None, int]]]]:
    """Return a row for each attack: its class and name, each component's share and finding."""
    shares: dict[tuple[str, str], dict[str, Tried]] = {}
    for tried in found.matrix:
        shares.setdefault((tried.kind, tried.attack), {})[tried.component] = tried
    numbers = {
        (finding.kind, finding.attack, finding.component): number
        for number, finding in enumerate(found.findings, 1)
    }
    for finding in found.findings:
        if finding.share >= LISTED:
            cell = Tried(finding.kind, finding.attack, finding.component, finding.share)
            shares.setdefault((finding.kind, finding.attack), {})[finding.component] = cell
    order = {kind: n for n, kind in enumerate((*CLASSES, RAISES))}
    names = sorted(shares, key=lambda key: order[key[0]])
    return [
        (
            kind,
            name,
            [
                (shares[kind, name].get(component), numbers.get((kind, name, component), 0))
                for component in components
            ],
        )
        for kind, name in names
    ]
