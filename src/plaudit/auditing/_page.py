"""An audit in, one HTML page out, by the report's code: a matrix of attacks and components."""

from importlib.resources import files
from pathlib import Path

from plaudit.auditing._attacks import ATTACKS, CLASSES, RAISES
from plaudit.auditing._findings import LISTED, MISSED, Audit, Finding, Tried
from plaudit.report import html_page, render_html

_LONGEST = 4000  # characters of a completion on the page


def write_page(found: Audit, directory: Path) -> Path:
    """Write the page of an audit to `directory/index.html`, and return its path."""
    directory.mkdir(parents=True, exist_ok=True)
    page = directory / "index.html"
    page.write_text(page_of(found), encoding="utf-8", newline="\n")
    return page


def page_of(found: Audit) -> str:
    """The page as HTML."""
    components = list(found.formats)
    body = render_html(
        _file("page.html.jinja"),
        found=found,
        components=components,
        rows=_matrix(found, components),
        places={id(finding): number for number, finding in enumerate(found.findings, 1)},
        holes=sum(finding.is_hole for finding in found.findings),
        missed=sum(finding.kind == MISSED for finding in found.findings),
        clean=_clean(found.findings, components),
        about={attack.name: attack.about for attack in ATTACKS},
        longest=_LONGEST,
    )
    return html_page(
        found.recipe,
        body,
        kind="plaudit audit",
        about=f"{found.rows} rows, {len(found.matrix)} pairs of an attack and a component.",
        sections={"findings": "Findings", "matrix": "Matrix", "formats": "Formats"},
        styles=[_file("page.css")],
        scripts=[_file("page.js")],
    )


def _clean(findings: tuple[Finding, ...], components: list[str]) -> list[str]:
    """The components of which nothing was found."""
    named = {finding.component for finding in findings}
    return [component for component in components if component not in named]


def _matrix(
    found: Audit, components: list[str]
) -> list[tuple[str, str, list[tuple[Tried | None, int]]]]:
    """A row for each attack: class, name, and for each component the share and its finding."""
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


def _file(name: str) -> str:
    return files("plaudit.auditing").joinpath(name).read_text(encoding="utf-8")
