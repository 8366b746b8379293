"""`plaudit check` as a person uses it: exit codes, what is printed, what is written."""

import json
import signal
import subprocess
import sys
import time

import pyarrow.parquet as pq
import pytest
from inline_work import check_here

from plaudit.cli import main
from plaudit.recipes import load
from plaudit.reports.check import check_table
from plaudit.reports.check._findings import (
    KINDS,
    CheckFinding,
    CheckSummary,
    FindingsFile,
    write_page,
)
from plaudit.tables import InputError

ROWS = [{"question": f"What is {n} + 1?", "solution": str(n + 1)} for n in range(12)]


@pytest.fixture
def in_process(monkeypatch):
    check_here(monkeypatch)


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(*rows, name="train.jsonl"):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return name

    return write


@pytest.mark.usefixtures("in_process")
def test_no_findings(table, capsys):
    assert main(["check", table(*ROWS), "--recipe", "math"]) == 0
    assert capsys.readouterr().out == (
        "12 rows checked, no findings\naccuracy compares answers written as \\boxed{…}\n"
    )


@pytest.mark.parametrize("option", ["--out", "--drop"])
def test_a_url_to_write_to_is_refused(table, capsys, tmp_path, option):
    """It would become a folder called s3: here."""
    assert main(["check", table(*ROWS), "--recipe", "math", option, "s3://bucket/x.jsonl"]) == 2
    assert "s3://bucket/x.jsonl cannot be written from here" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["train.jsonl"]


@pytest.mark.usefixtures("in_process")
def test_findings_are_printed_and_written(table, capsys, tmp_path):
    bad = [{"question": f"Which {n}?", "solution": r"\frac{1}{"} for n in range(5)]
    name = table(*ROWS, *bad, {"question": "Why?"})
    code = main(["check", name, "--recipe", "math", "--out", "out", "--drop", "clean.jsonl"])
    printed = capsys.readouterr().out
    assert code == 3
    assert "18 rows checked, 6 have findings" in printed
    assert 'train.jsonl, line 13: solution "\\frac{1}{": It is LaTeX with a { that' in printed
    assert "  … and 2 more" in printed
    assert "clean.jsonl: 12 rows without findings" in printed
    found = pq.read_table(tmp_path / "out" / "findings.parquet").to_pylist()
    assert [row["line"] for row in found] == [13, 14, 15, 16, 17, 18]
    assert len((tmp_path / "clean.jsonl").read_text().splitlines()) == 12
    page = (tmp_path / "out" / "index.html").read_text()
    assert "Golds that cannot be read: 5" in page
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        "findings.parquet",
        "index.html",
    ]


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        ([{"question": "a", "key": "4"}], [], "if it has another name, say --column solution="),
        ([], [], "there are no rows to check: train.jsonl is empty"),
        (ROWS, ["--column", "gold=solution"], "The argument comes first: did you mean"),
        (ROWS, ["--completions", "answer"], "has no column answer (--completions)"),
        (ROWS, ["--group", "id"], "has no column id (--group)"),
        (ROWS, ["--template", "<answer>"], "--template: a template must contain {answer}"),
        (ROWS, ["--skip", "golds"], "there is no kind 'golds' to skip"),
        (ROWS, ["--workers", "0"], "workers must be 1 or more, got 0"),
        (ROWS, ["--out", "train.jsonl"], "cannot write to train.jsonl"),
    ],
    ids="gold empty turned completions group template skip workers out".split(),
)
def test_what_is_wrong_is_said(table, capsys, rows, options, said):
    assert main(["check", table(*rows), "--recipe", "math", *options]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", ["workers", "limit"])
@pytest.mark.parametrize("value", [float("nan"), 1.5, "2"])
def test_what_is_counted_is_a_whole_number(table, name, value):
    with pytest.raises(InputError, match=f"{name} must be a whole number, got {value!r}"):
        check_table([table(*ROWS)], load("math"), **{name: value})


def test_a_table_that_is_not_there_and_a_recipe_that_is_none(table, capsys):
    assert main(["check", "none.jsonl", "--recipe", "math"]) == 2
    assert "there is no none.jsonl" in capsys.readouterr().err
    assert main(["check", table(*ROWS), "--recipe", "maths"]) == 2
    assert 'did you mean "math"' in capsys.readouterr().err


@pytest.mark.long
def test_the_findings_are_the_same_whatever_the_number_of_workers(table, tmp_path):
    rows = [{**row, "solution": None if n % 7 == 3 else row["solution"]} for n, row in
            enumerate(ROWS * 200)]  # fmt: skip
    name = table(*rows)
    for workers in ("1", "2"):
        options = ["--workers", workers, "--out", f"out-{workers}", "--quiet"]
        assert main(["check", name, "--recipe", "math", *options]) == 3
    one, two = (pq.read_table(tmp_path / f"out-{n}" / "findings.parquet") for n in "12")
    assert one.equals(two)
    pages = [(tmp_path / f"out-{n}" / "index.html").read_bytes() for n in "12"]
    assert pages[0] == pages[1]


@pytest.mark.long
def test_an_interrupted_check_writes_nothing(table, tmp_path):
    name = table(*({"question": str(n), "solution": f"x^{n} + {n}"} for n in range(60_000)))
    command = [sys.executable, "-m", "plaudit", "check", name, "--recipe", "math", "--out", "out"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    folder = tmp_path / "out"
    end = time.monotonic() + 60
    while not folder.exists() and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert "interrupted. No findings were written." in process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert list(folder.iterdir()) == []


def test_findings_that_cannot_be_written_leave_no_file(tmp_path, monkeypatch):
    def full(self, table):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    finding = CheckFinding("missing_value", "", 1, 0, "solution", "", "The column is null.")
    with (
        pytest.raises(OSError, match="No space left"),
        FindingsFile(tmp_path / "findings.parquet") as file,
    ):
        file.add([finding])
    assert list(tmp_path.iterdir()) == []


def test_the_page_says_of_every_kind_what_to_do(tmp_path):
    first = {kind: [CheckFinding(kind, "", 0, 0, "", "", "Why.")] for kind in KINDS}
    summary = CheckSummary(1, 1, dict.fromkeys(KINDS, 1), first, {}, ())
    write_page(summary, "table", tmp_path / "index.html")
    page = (tmp_path / "index.html").read_text("utf-8")
    assert all(f'<section id="{kind}">\n<h2>{title}: 1' in page for kind, title in KINDS.items())
