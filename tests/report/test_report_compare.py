"""Two runs side by side: which rows and prompts belong together, and what the page says."""

import html
import re

import numpy as np
import pytest
from page_contents import data_of, text_of
from scored_sample import (
    MATH,
    SMALL_BUNDLE,
    hostile_row,
    math_rows,
    reason,
    run_rows,
    write_folder,
)

from plaudit.reports import ReportError, _charts, write_report
from plaudit.reports._report import content_of_two, measures_of, paired_rows, prompts_of
from plaudit.reports._scored_run import ReportOptions
from plaudit.reports._summary import run_of
from plaudit.tables.summary import ProgressLine


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    later = list(run_rows(320, seed=2, skill=0.8))[:300]
    return (
        write_folder(root / "base", run_rows(320, seed=1), MATH),
        write_folder(root / "tuned", later, [*MATH[:2], MATH[2]]),
    )


@pytest.fixture(scope="module")
def runs(folders):
    return [run_of(f, ReportOptions(), ProgressLine(None), prompts=True) for f in folders]


@pytest.fixture(scope="module")
def page(folders):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("plaudit.reports.page._CODE", SMALL_BUNDLE)
        return write_report(*folders)


def test_the_same_completion_of_the_same_prompt_is_a_pair(tmp_path):
    prompts = [["a", "b", "a", "c"], ["b", "a", "d", "a", "a"]]
    folders = [
        write_folder(
            tmp_path / str(which),
            [hostile_row(row, prompt=prompt) for row, prompt in enumerate(found)],
            ["accuracy_reward"],
        )
        for which, found in enumerate(prompts)
    ]
    before, after = (run_of(f, ReportOptions(), ProgressLine(None), prompts=True) for f in folders)
    pairs = set(zip(*(rows.tolist() for rows in paired_rows(before, after)), strict=True))
    assert pairs == {(0, 1), (1, 0), (2, 3)}
    found = prompts_of(before, after)
    assert (found.both, found.only_before, found.only_after) == (2, 1, 1)
    assert (found.higher, found.lower, found.rose, found.fell) == (0, 0, [], [])


@pytest.mark.parametrize("empty", ["", None], ids=["empty", "none"])
def test_rows_without_a_prompt_are_matched_by_their_group(tmp_path, empty):
    rows = [hostile_row(n, prompt=empty if n else "a", group_id=f"g{n}") for n in range(3)]
    folders = [
        write_folder(tmp_path / name, found, ["accuracy_reward"])
        for name, found in (
            ("a", rows),
            ("b", [{**row, "row_id": n} for n, row in enumerate(rows[::-1])]),
        )
    ]
    before, after = (run_of(f, ReportOptions(), ProgressLine(None), prompts=True) for f in folders)
    pairs = set(zip(*(rows.tolist() for rows in paired_rows(before, after)), strict=True))
    assert pairs == {(0, 2), (1, 1), (2, 0)}
    assert prompts_of(before, after).both == 3


def test_prompts_that_changed_are_those_of_plain_computation(runs):
    before, after = runs
    means = []
    for run in runs:
        texts = [f"{p}" for p in run.numbers.prompts]
        totals = {}
        for text, total in zip(texts, run.numbers.totals, strict=True):
            totals.setdefault(text, []).append(total)
        means.append({text: np.nanmean(found) for text, found in totals.items()})
    both = set(means[0]) & set(means[1])
    change = {text: means[1][text] - means[0][text] for text in both}
    found = prompts_of(before, after)
    assert (found.both, found.only_before) == (len(both), len(set(means[0]) - both))
    assert found.higher == sum(value > 1e-9 for value in change.values())
    assert found.lower == sum(value < -1e-9 for value in change.values())
    most = max(change.values())
    assert found.rose[0].after - found.rose[0].before == pytest.approx(most)


def test_measures_are_those_of_each_run(runs):
    before, after = runs
    measures = {measure.name: measure for measure in measures_of(before, after)}
    total = measures["mean total"]
    assert (total.before, total.after) == (before.summary.total.mean, after.summary.total.mean)
    assert total.change == pytest.approx(total.after - total.before)
    assert measures["right"].after == after.summary.right / after.summary.decided
    assert set(MATH) <= set(measures)


def test_the_page_has_the_rows_of_both_beside_one_another(page, folders):
    assert page == folders[1] / "_report" / "against-base" / "index.html"
    data = data_of(page)
    assert data["runs"] == ["base", "tuned"]
    assert len(data["id"]) == 620
    for row, beside in enumerate(data["pair"]):
        if beside is not None:
            assert data["pair"][beside] == row
            assert data["prompt"][row] == data["prompt"][beside]
            assert data["run"][row] != data["run"][beside]
    assert sum(beside is not None for beside in data["pair"]) == 600
    text = html.unescape(text_of(page))
    assert "What changed from base to tuned" in text
    assert "accuracy_reward: rows by value" in text
    names = {file.stem for file in page.parent.glob("*.png")}
    assert {"total", "at-k", "groups", "length", "steps-total"} <= names
    assert re.search(r'data-column="source" data-value="algebra"', text)


def test_of_many_rows_those_beside_one_another_are_chosen(runs):
    content = content_of_two(*runs, rows=100)
    earlier, later = (sample.rows.tolist() for sample in content.samples)
    partner = dict(zip(*(rows.tolist() for rows in content.changes.pairs[::-1]), strict=True))
    assert (len(earlier), len(later)) == (50, 50)
    assert {partner[row] for row in later} == set(earlier)


@pytest.fixture
def no_pictures(monkeypatch):
    """Pages without the scripts and pictures of their charts, which other tests look at."""
    monkeypatch.setattr("plaudit.reports.page._CODE", SMALL_BUNDLE)
    monkeypatch.setattr(_charts, "png_of", lambda chart: b"")


@pytest.mark.usefixtures("no_pictures")
def test_runs_may_have_other_components_columns_and_prompts(tmp_path):
    a = write_folder(tmp_path / "x" / "scored", math_rows(16), MATH)
    b = write_folder(tmp_path / "y" / "scored", [hostile_row(0, source="s")], ["accuracy_reward"])
    for pair in ((a, b), (b, a), (a, write_folder(tmp_path / "none", [], MATH))):
        data = data_of(write_report(*pair))
        assert set(data["components"]) == set(MATH)
        assert data["pair"] == [None] * len(data["id"])
    assert data_of(write_report(a, b))["runs"] == ["x/scored", "y/scored"]


@pytest.mark.usefixtures("no_pictures")
def test_what_is_right_may_be_decided_by_a_component_of_one_run(tmp_path):
    row = hostile_row(0, explanation=[reason("answer", 1.0, "equal")], answer=1.0)
    a = write_folder(tmp_path / "a", math_rows(8), MATH)
    b = write_folder(tmp_path / "b", [row], ["answer"])
    for chosen in ("answer", "accuracy_reward"):
        about = text_of(write_report(a, b, correct=chosen))
        assert "<code>accuracy_reward</code>" in about and "<code>answer</code>" in about
    with pytest.raises(ReportError, match="no component is called 'right'"):
        write_report(a, b, correct="right")
