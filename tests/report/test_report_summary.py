"""The aggregates against plain computation."""

import statistics
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scored_sample import MATH, math_rows, reason, write_folder

from plaudit.reports._scored_run import numbers_of, open_folder
from plaudit.reports._summary import (
    by_length,
    correlation,
    histogram,
    spread_of,
    summary_of,
)

numbers = st.floats(-1e6, 1e6) | st.integers(-3, 3).map(float)


@pytest.fixture(scope="module")
def rows():
    return list(math_rows(1500, group=6, seed=3))


@pytest.fixture(scope="module")
def summary(rows, tmp_path_factory):
    folder = write_folder(tmp_path_factory.mktemp("scored"), rows, MATH, part_rows=700)
    return summary_of(numbers_of(open_folder(folder), MATH[0]), MATH[0])


def grouped(rows):
    groups = defaultdict(list)
    for row in rows:
        groups[row["group_id"]].append(row)
    return groups


def test_spreads_are_those_of_plain_computation(rows, summary):
    for name in MATH:
        values = [row[name] for row in rows if row[name] is not None]
        spread = summary.spreads[name]
        assert spread.count == len(values)
        assert spread.missing == len(rows) - len(values)
        assert spread.mean == pytest.approx(statistics.fmean(values))
        assert spread.std == pytest.approx(statistics.pstdev(values))
        assert (spread.low, spread.high) == (min(values), max(values))
        assert spread.median == pytest.approx(statistics.median(values))


def test_rows_statuses_and_right_ones_are_counted(rows, summary):
    assert summary.rows == len(rows)
    assert summary.statuses == Counter(row["status"] for row in rows)
    judged = [row["accuracy_reward"] for row in rows if row["accuracy_reward"] is not None]
    assert (summary.right, summary.decided) == (sum(judged), len(judged))
    assert summary.troubled == sum(row["status"] != "scored" for row in rows)
    reasons = [(r["component"], r["status"]) for row in rows for r in row["explanation"]]
    assert summary.component_statuses == Counter(reasons)


def test_groups_without_signal_are_those_whose_totals_are_the_same(rows, summary):
    flat = {
        name
        for name, members in grouped(rows).items()
        if len({row["total"] for row in members} - {None}) < 2
    }
    names = np.array(summary.groups.names)
    assert set(names[summary.groups.without_signal]) == flat
    signal = summary.signal
    assert (signal.groups, signal.without_signal) == (250, len(flat))
    parts = (signal.all_right, signal.all_wrong, signal.single, signal.otherwise)
    assert sum(parts) == len(flat)


def test_means_and_variances_of_groups_are_those_of_plain_computation(rows, summary):
    groups = summary.groups
    for place, (name, members) in enumerate(grouped(rows).items()):
        totals = [row["total"] for row in members if row["total"] is not None]
        assert groups.names[place] == name
        assert rows[groups.first[place]] is members[0]
        assert groups.mean[place] == pytest.approx(statistics.fmean(totals))
        assert groups.variance[place] == pytest.approx(statistics.pvariance(totals))
        assert groups.right[place] == sum(bool(row["accuracy_reward"]) for row in members)


def shares_of(tmp_path, *groups):
    """The shares of groups that are given by what is right in each."""
    rows = [
        {
            "row_id": place,
            "group_id": str(number),
            "accuracy": float(bool(right)),
            "total": float(bool(right)),
            "status": "scored",
            "explanation": [
                reason("accuracy", float(bool(right)), right=None if right is None else bool(right))
            ],
        }
        for place, (number, right) in enumerate(
            (number, right) for number, group in enumerate(groups) for right in group
        )
    ]
    folder = open_folder(write_folder(tmp_path, rows, ["accuracy"]))
    found = summary_of(numbers_of(folder, "accuracy"), "accuracy").right_shares
    return {share.label: (share.count, share.mixed) for share in found}


def test_groups_of_one_size_are_shown_by_single_completions(tmp_path):
    assert shares_of(tmp_path, [1, 0, 0], [1, 0, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0]) == {
        "0/3": (1, False),
        "1/3": (2, True),
        "2/3": (1, True),
        "3/3": (1, False),
    }


def test_groups_of_different_sizes_are_shown_by_their_shares(tmp_path):
    """Most have one completion: a group of four with two right ones is not among "1/1"."""
    groups = [[1], [0], [1], [1, 1, 0, 0], [1, *[0] * 19], [*[1] * 19, 0], [1] * 7, [None]]
    shares = shares_of(tmp_path, *groups)
    filled = {label: count for label, (count, _) in shares.items() if count}
    assert filled == {"none": 1, "0–10%": 1, "50–60%": 1, "90–100%": 1, "all": 3}
    assert [mixed for _, mixed in shares.values()] == [False, *[True] * 10, False]


def test_shares_of_right_completions_count_every_judged_group(summary):
    shares = summary.right_shares
    assert sum(share.count for share in shares) == (summary.groups.decided > 0).sum()


def test_large_groups_are_shown_by_tenths(tmp_path):
    folder = write_folder(tmp_path, math_rows(320, group=32), MATH)
    shares = summary_of(numbers_of(open_folder(folder), MATH[0]), MATH[0]).right_shares
    assert [share.label for share in shares[:3]] == ["none", "0–10%", "10–20%"]
    assert shares[-1].label == "all"


def test_pass_at_one_is_the_mean_over_groups(rows, summary):
    means = []
    for members in grouped(rows).values():
        judged = [row["accuracy_reward"] for row in members if row["accuracy_reward"] is not None]
        means += [statistics.fmean(judged)] if judged else []
    assert summary.at_k[0].passed == pytest.approx(statistics.fmean(means))


@given(st.lists(numbers | st.just(np.nan), max_size=80))
def test_a_histogram_counts_every_value_once(values):
    bins = histogram(np.array(values, float))
    finite = [value for value in values if np.isfinite(value)]
    assert sum(b.count for b in bins) == len(finite)
    assert all(a.high <= b.low or a.low == a.high for a, b in pairwise(bins))
    if finite:
        assert bins[0].low <= min(finite)
        assert bins[-1].high >= max(finite)


@pytest.mark.parametrize(
    "values",
    [
        np.linspace(-1, 1, 40) * 1.7e308,
        np.linspace(1e300, 1.0000001e300, 40),
        1.0 + np.arange(40) * 2.3e-16,
        np.arange(40) * 5e-324,
        np.linspace(0, 1, 40),
    ],
)
def test_a_histogram_of_strange_ranges_is_complete(values):
    assert sum(b.count for b in histogram(values)) == 40


def test_what_is_not_finite_is_missing():
    spread = spread_of(np.array([1.0, np.inf, np.nan]))
    assert (spread.count, spread.missing, spread.mean) == (1, 2, 1.0)
    assert spread_of(np.array([np.nan])).mean is None


@given(st.lists(st.tuples(st.integers(0, 500), numbers), min_size=1, max_size=120))
def test_every_row_is_in_one_bin_of_length(rows):
    lengths, totals = map(np.array, zip(*rows, strict=True))
    bins = by_length(lengths, totals.astype(float))
    assert sum(b.count for b in bins) == len(rows)
    assert all(a.high < b.low for a, b in pairwise(bins))
    mean = sum(b.mean * b.count for b in bins) / len(rows)
    assert mean == pytest.approx(statistics.fmean(totals), abs=1e-6)


def test_correlation_is_over_the_rows_that_have_both():
    a, b = np.array([0.0, 1.0, 2.0, np.nan]), np.array([1.0, 0.0, 5.0, 9.0])
    found = correlation([a, b, np.ones(4)])
    assert found[0][1] == pytest.approx(statistics.correlation(a[:3], b[:3]))
    assert found[2] == [None, None, None]
    assert correlation([np.array([1e308, -1e308, 0.0])] * 2)[0][0] in (None, 1.0)


def test_nothing_but_none(tmp_path):
    row = {
        "prompt": None,
        "completion": None,
        "row_id": 0,
        "group_id": "a",
        "accuracy_reward": None,
        "total": None,
        "status": "bad_gold",
        "explanation": [reason("accuracy_reward", None, "bad_gold")],
    }
    folder = write_folder(tmp_path, [row, {**row, "row_id": 1}], ["accuracy_reward"])
    summary = summary_of(numbers_of(open_folder(folder), "accuracy_reward"), "accuracy_reward")
    assert (summary.rows, summary.decided, summary.troubled) == (2, 0, 2)
    assert (summary.at_k, summary.right_shares, summary.lengths) == ([],) * 3
    assert (summary.signal.without_signal, summary.signal.single) == (1, 1)
