"""On real rows: every fault that is planted is found, and every other finding is explained."""

import json

import pytest
from planted_faults import planted

from plaudit.recipes import load
from plaudit.reports.check import check_table
from plaudit.reports.check._findings import read_findings

pytestmark = pytest.mark.long

# Line -> why there is a finding, for the file as it is.
EXPLAINED = {
    "missing_value": {
        1154: "the file has no gold here: the answer is a word, east",
        1282: "the same",
        **dict.fromkeys(range(1643, 1663), "the row has no question, though the table has some"),
    },
    "unreadable_gold": {
        1436: "the backslash of \\text was taken for an escape: the gold begins with a tab",
        1478: "the same",
        1518: "the same",
        1537: "the same",
    },
    "duplicate_row": {
        448: "the same as line 447, in every column",
        482: "the same as line 481",
        661: "the same as line 660",
        670: "the same as line 669",
        678: "the same as line 677",
    },
}
# First line of a prompt -> why its gold looks wrong though it is right: small models make the same
# mistake most of the time, as can be seen by solving the problem.
SUSPICIOUS = {
    802: "the gold is -1, since the signs alternate; most answers leave the sign out",
    805: "the gold is 211; the models do not count, and guess from the example",
    812: "25, 100, …, 1600 are 8; most count 0 too, or go one too far",
    824: "the gold is 45; the models write down the one arrangement that is shown",
    843: "0 and six roots of unity are 7; most forget 0",
}


@pytest.fixture(scope="module")
def original(shared):
    return (shared / "data" / "math.jsonl").read_bytes()


def checked(file, folder, **options):
    table = folder / "math.jsonl"
    table.write_bytes(file)
    out = folder / "out"
    columns = {"solution": "gold"}
    summary = check_table(table, load("math"), out=out, columns=columns, **options)
    return summary, read_findings(out / "findings.parquet")


@pytest.fixture(scope="module")
def untouched(original, tmp_path_factory):
    return checked(original, tmp_path_factory.mktemp("untouched"))


def test_every_finding_in_the_untouched_file_is_explained(untouched):
    summary, findings = untouched
    found = {}
    for finding in findings:
        if finding.kind != "suspicious_gold":
            found.setdefault(finding.kind, set()).add(finding.line)
    assert found == {kind: set(lines) for kind, lines in EXPLAINED.items()}
    first = {}
    for finding in findings:
        if finding.kind == "suspicious_gold":
            first.setdefault(finding.prompt, finding.line)
    assert set(first.values()) == set(SUSPICIOUS)
    assert summary.rows == 1662
    assert summary.formats == {"accuracy": r"\boxed{…}"}


def test_every_planted_fault_is_found_and_nothing_else(original, untouched, tmp_path):
    rows = [json.loads(line) for line in original.splitlines()]
    file, expected = planted(rows, tmp_path)
    kinds = {kind for kind, _ in expected}
    assert len(kinds) == 14
    summary, findings = checked(file, tmp_path, drop=tmp_path / "clean.jsonl")
    found = {(finding.kind, finding.line) for finding in findings}
    before = {(finding.kind, finding.line) for finding in untouched[1]}
    assert found - before == expected
    assert before <= found
    again = check_table(tmp_path / "clean.jsonl", load("math"), columns={"solution": "gold"})
    assert again.failed == 0
    assert again.rows == summary.left == summary.rows - summary.failed
