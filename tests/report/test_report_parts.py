"""A run by the values of a column, and over its steps, against plain computation."""

import statistics
from collections import defaultdict

import numpy as np
import pytest
from scored_sample import MATH, hostile_row, run_rows, write_folder

from plaudit.reports._charts import step_charts
from plaudit.reports._scored_run import ReportOptions, numbers_of, open_folder
from plaudit.reports._summary import POINTS, breakdown_of, curves_of, run_of
from plaudit.tables.summary import ProgressLine


@pytest.fixture(scope="module")
def rows():
    return list(run_rows(600, seed=3))


@pytest.fixture(scope="module")
def run(rows, tmp_path_factory):
    folder = write_folder(tmp_path_factory.mktemp("scored"), rows, MATH, part_rows=250)
    return run_of(folder, ReportOptions(), ProgressLine(None))


def parted(rows, column):
    parts = defaultdict(list)
    for row in rows:
        parts[row[column]].append(row)
    return parts


def assert_figures(part, rows):
    """The figures of a part are those of its rows."""
    totals = [row["total"] for row in rows if row["total"] is not None]
    assert part.rows == len(rows)
    assert part.total == pytest.approx(statistics.fmean(totals))
    assert part.quartile1 == pytest.approx(np.quantile(totals, 0.25))
    assert part.quartile3 == pytest.approx(np.quantile(totals, 0.75))
    judged = [row["accuracy_reward"] for row in rows if row["accuracy_reward"] is not None]
    assert (part.right, part.decided) == (sum(judged), len(judged))
    assert part.troubled == sum(row["status"] != "scored" for row in rows)
    assert part.length == pytest.approx(statistics.fmean(len(row["completion"]) for row in rows))
    groups = parted(rows, "group_id").values()
    flat = [len({row["total"] for row in group} - {None}) < 2 for group in groups]
    assert (part.groups, part.flat) == (len(groups), sum(flat))
    for name in MATH:
        values = [row[name] for row in rows if row[name] is not None]
        assert part.means[name] == pytest.approx(statistics.fmean(values))


def test_columns_with_a_few_short_values_split_the_run(run):
    assert run.folder.by == ("source", "level")
    assert (run.folder.step, run.folder.label) == ("step", "label")


def test_the_parts_of_a_column_are_those_of_plain_computation(run, rows):
    by_source, by_level = run.breakdowns
    expected = parted(rows, "source")
    assert [part.name for part in by_source.parts] == sorted(expected)
    for part in by_source.parts:
        assert_figures(part, expected[part.name])
        assert part.exact
    assert [part.name for part in by_level.parts] == ["1", "2", "3", "4", "5"]
    assert by_source.width(max(by_source.parts, key=lambda part: part.total)) == 100


def test_curves_are_those_of_plain_computation(run, rows):
    expected = parted(rows, "step")
    assert run.curves.steps == sorted(expected)
    for step, part in zip(run.curves.steps, run.curves.parts, strict=True):
        assert_figures(part, expected[step])
    names = [chart.name for chart in step_charts([run])]
    assert names == [f"steps-{n}" for n in "total components right signal trouble length".split()]
    values = next(step_charts([run])).spec["data"]["values"]
    assert [value["x"] for value in values] == run.curves.steps


def numbers_by(folder, rows, *columns):
    written = write_folder(folder, rows, ["accuracy_reward"])
    return numbers_of(open_folder(written, ReportOptions(by=columns)), "accuracy_reward")


def test_a_column_may_hold_anything(tmp_path):
    sources = ["b", None, "10", "9", "b"]
    rows = [hostile_row(n, source=s, tags=[1, n % 2]) for n, s in enumerate(sources)]
    numbers = numbers_by(tmp_path, rows, "source", "tags")
    parts = breakdown_of(numbers, "source").parts
    assert [(p.name, p.rows, p.exact) for p in parts] == [
        ("9", 1, True),
        ("10", 1, True),
        ("b", 2, True),
        ("(none)", 1, False),
    ]
    assert {p.name for p in breakdown_of(numbers, "tags").parts} == {"[1, 0]", "[1, 1]"}


def test_many_values_are_put_together(tmp_path):
    rows = [hostile_row(n, name=f"n{n // 2}", score=n / 7) for n in range(200)]
    numbers = numbers_by(tmp_path, rows, "name", "score")
    names = breakdown_of(numbers, "name")
    assert (len(names.parts), names.others, names.parts[-1].name) == (30, 71, "(71 others)")
    assert sum(part.rows for part in names.parts) == 200
    scores = breakdown_of(numbers, "score")
    assert scores.binned and not scores.others
    assert len(scores.parts) == 10
    assert sum(part.rows for part in scores.parts) == 200
    assert all(15 <= part.rows <= 25 and not part.exact for part in scores.parts)


@pytest.mark.parametrize("steps", [1, 2, POINTS + 1])
def test_many_steps_are_put_together_and_one_is_no_curve(tmp_path, steps):
    rows = [hostile_row(n, global_step=n % steps) for n in range(2 * steps)]
    curves = curves_of(numbers_by(tmp_path, rows, "group_id"))
    if steps == 1:
        assert curves is None
    else:
        assert len(curves.steps) <= POINTS
        assert sum(part.rows for part in curves.parts) == 2 * steps
        assert curves.together == (1 if steps == 2 else 2)
