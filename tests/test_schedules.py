"""The curves at their ends, in the middle and beyond."""

import pytest

from plaudit.scores.algorithms import cosine, soft_overlong


@pytest.mark.parametrize(("length", "value"), [(0, 1.0), (512, 0.75), (1024, 0.5), (2048, 1.0)])
def test_cosine(length, value):
    assert cosine(length, 1024, start=1.0, end=0.5) == pytest.approx(value)


def test_cosine_rises_where_it_ends_higher():
    values = [cosine(length, 100, start=-0.5, end=0.0) for length in range(101)]
    assert values == sorted(values)
    assert (values[0], values[-1]) == (-0.5, 0.0)


@pytest.mark.parametrize(
    ("length", "value"), [(0, 0.0), (80, 0.0), (81, -0.05), (90, -0.5), (100, -1.0), (500, -1.0)]
)
def test_soft_overlong(length, value):
    assert soft_overlong(length, longest=100, margin=20) == pytest.approx(value)


def test_without_a_margin_there_is_no_soft_zone():
    assert soft_overlong(100, longest=100, margin=0) == 0.0
    assert soft_overlong(101, longest=100, margin=0) == -1.0
