"""Which rows the page holds."""

import numpy as np
import pytest
from scored_sample import MATH, hostile_row, math_rows, write_folder

from plaudit.reports import _report
from plaudit.reports._report import cut, evenly_spaced, json_number, sample_of
from plaudit.reports._scored_run import numbers_of, open_folder
from plaudit.reports._summary import summary_of


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    folder = write_folder(tmp_path_factory.mktemp("scored"), math_rows(4000), MATH)
    return numbers_of(open_folder(folder), MATH[0])


def sampled(numbers, rows):
    return sample_of(numbers, summary_of(numbers, MATH[0]), rows, [17])


def test_all_rows_are_there_where_there_is_room(numbers):
    sample = sampled(numbers, 20_000)
    assert sorted(sample.rows) == list(range(4000))
    assert sample.full == set(range(4000))


def test_rows_in_trouble_come_first_and_the_others_are_even_by_total(numbers):
    sample = sampled(numbers, 1500)
    assert len(sample.rows) == len(set(sample.rows.tolist())) == 1500
    assert 17 in sample.rows
    scored = numbers.status_names.index("scored")
    assert set(np.flatnonzero(numbers.statuses != scored)) <= set(sample.rows.tolist())
    means = [np.nanmean(numbers.totals[rows]) for rows in (slice(None), sample.rows)]
    assert means[0] == pytest.approx(means[1], abs=0.1)
    assert (sample.rows == sampled(numbers, 1500).rows).all()


def test_a_few_rows_are_those_that_the_page_points_at(numbers):
    sample = sampled(numbers, 5)
    assert len(sample.rows) == 5
    assert sample.rows[0] == 17


def test_the_hardest_and_the_most_contested_groups_are_found(numbers):
    sample, groups = sampled(numbers, 100), summary_of(numbers, MATH[0]).groups
    assert groups.mean[sample.hardest[0]] == np.nanmin(groups.mean)
    assert groups.variance[sample.contested[0]] == np.nanmax(groups.variance)
    assert len(sample.hardest) == len(sample.contested) == 10
    assert all(groups.without_signal[group] for group in sample.without_signal)


def test_whole_texts_are_bounded(tmp_path):
    rows = [hostile_row(row, completion="x" * 50_000) for row in range(450)]
    numbers = numbers_of(
        open_folder(write_folder(tmp_path, rows, ["accuracy_reward"])), "accuracy_reward"
    )
    sample = sample_of(numbers, summary_of(numbers, "accuracy_reward"), 450, [])
    assert len(sample.rows) == 450
    assert len(sample.full) == _report.FULL_TEXT // _report.LONGEST


def test_even_takes_from_the_first_to_the_last():
    assert evenly_spaced(np.arange(5), 9).tolist() == [0, 1, 2, 3, 4]
    assert evenly_spaced(np.arange(100), 3).tolist() == [0, 50, 99]
    assert evenly_spaced(np.arange(3), 0).tolist() == []
    assert all(len(set(evenly_spaced(np.arange(97), n).tolist())) == n for n in range(97))


def test_cut_keeps_beginning_and_end():
    head, left_out, tail = cut("a" * 500 + "b" * 500, 300)
    assert (head, left_out, tail) == ("a" * 100, 700, "b" * 200)


def test_numbers_for_the_page():
    found = [json_number(value) for value in (None, float("nan"), float("inf"), 1 / 3)]
    assert found == [None, None, None, 0.333333]
