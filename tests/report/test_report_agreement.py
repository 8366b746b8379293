"""Labels of any kind, and how a reward agrees with them."""

import math

import pyarrow as pa
import pytest
from scored_sample import MATH, hostile_row, reason, run_rows, write_folder

from plaudit.reports._scored_run import ReportOptions, read_labels
from plaudit.reports._summary import run_of
from plaudit.tables import InputError
from plaudit.tables.summary import ProgressLine


def read(values):
    column = values if isinstance(values, pa.Array) else pa.array(values)
    found = read_labels(column, pa.array(range(len(column))), "label", strict=True)
    return [None if math.isnan(value) else value for value in found.tolist()]


def test_labels_are_read_however_they_are_written():
    assert read([True, False, None]) == [1, 0, None]
    assert read([1, 0, -1]) == [1, 0, 0]
    assert read([0.5, 0.49, float("nan")]) == [1, 0, None]
    assert read(["Correct", " wrong ", "", "1.0", "no", "N/A"]) == [1, 0, None, 1, 0, None]
    assert read(pa.array(["yes", "no", None]).dictionary_encode()) == [1, 0, None]
    assert read(pa.array([], pa.string())) == []


@pytest.mark.parametrize("bad", ["cat", 4, -2.0, [1]], ids=str)
def test_what_is_no_label_is_named_with_its_row(bad):
    column = pa.array([None, bad, bad])
    with pytest.raises(InputError, match=r"--label: column label must hold true or false.*row 8"):
        read_labels(column, pa.array([7, 8, 9]), "label", strict=True)
    assert read_labels(column, pa.array(range(3)), "label", strict=False) is None


def labelled(right, label, row):
    status = {True: "equal", False: "different", None: "bad_gold"}[right]
    why = reason("accuracy_reward", float(bool(right)), status)
    return hostile_row(row, label=label, explanation=[why])


def run_with(folder, rows, components=("accuracy_reward",), **asked):
    written = write_folder(folder, rows, list(components))
    return run_of(written, ReportOptions(**asked), ProgressLine(None))


def test_agreement_is_counted(tmp_path):
    kinds = [(True, 1)] * 5 + [(True, 0)] * 2 + [(False, 1)] + [(False, 0)] * 2
    kinds += [(None, 1)] * 3 + [(True, None)]
    rows = [labelled(right, label, row) for row, (right, label) in enumerate(kinds)]
    found = run_with(tmp_path, rows).agreement
    assert (found.both_right, found.both_wrong, found.undecided) == (5, 2, 3)
    assert (found.wrongly_paid, found.wrongly_refused) == ([5, 6], [7])
    assert (found.rows, found.agreeing) == (10, 7)
    assert (found.precision, found.recall) == (5 / 7, 5 / 6)
    # By hand: 0.7 agree, and by chance 0.7 * 0.6 + 0.3 * 0.4 would.
    assert found.kappa == pytest.approx((0.7 - 0.54) / (1 - 0.54))


def test_where_nothing_can_be_compared_nothing_is_said(tmp_path):
    assert run_with(tmp_path / "a", [labelled(None, 1, 0)]).agreement is None
    assert run_with(tmp_path / "b", [labelled(True, "cat", 0)]).agreement is None
    assert run_with(tmp_path / "c", [hostile_row(0)]).agreement is None


def test_a_label_in_another_column_is_asked_for(tmp_path):
    rows = [{**row, "human": "right" if row["label"] else "wrong"} for row in run_rows(80)]
    run = run_with(tmp_path, rows, MATH, label="human")
    assert run.agreement.label == "human"
    assert run.agreement == run_with(tmp_path, rows, MATH, label="human").agreement
    assert run.agreement.rows == sum(row["accuracy_reward"] is not None for row in rows)
