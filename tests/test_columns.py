"""A column is a sequence with one entry per row, whatever holds it."""

import numpy as np
import pyarrow as pa
import pytest

from plaudit.inputs.columns import ids_of, number_of, plain, rows_of, same_length


class Tensor:
    """As much of a tensor as matters: equal tensors do not hash alike, and `tolist` says all."""

    def __init__(self, values):
        self.values = values

    def tolist(self):
        return self.values

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return map(Tensor, self.values)

    def __index__(self):
        return self.values


def test_columns_must_be_as_long_as_the_completions():
    same_length(["a", "b"], solution=["1", "2"], ids=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="ids has 3 entries, completions has 2"):
        same_length(["a", "b"], solution=["1", "2"], ids=[1, 2, 3])


@pytest.mark.parametrize("column", ["ab", {"a": 1, "b": 2}, 5, None])
def test_a_column_must_be_a_list(column):
    with pytest.raises(TypeError, match="solution must be a list with one entry per completion"):
        same_length(["a", "b"], solution=column)


@pytest.mark.parametrize("column", [{1, 2}, np.array(4), b"ab", Tensor(3)])
def test_what_has_no_rows_is_no_column(column):
    with pytest.raises(TypeError, match="solution must be a list with one entry per completion"):
        rows_of(column, "solution")
    with pytest.raises(TypeError, match="solution must be a list with one entry per completion"):
        same_length(["a", "b"], solution=column)


IDS = [[5, 5, 6], [7, 7, 8]]


@pytest.mark.parametrize(
    "ids",
    [
        IDS,
        tuple(map(tuple, IDS)),
        np.array(IDS),
        [np.array(row) for row in IDS],
        np.array(IDS, dtype=object),
        Tensor(IDS),
        [Tensor(row) for row in IDS],
        [[Tensor(one) for one in row] for row in IDS],
        [[np.int64(one) for one in row] for row in IDS],
        [[float(one) for one in row] for row in IDS],
    ],
)
def test_ids_are_plain_numbers_whatever_held_them(ids):
    read = [list(row) for row in ids_of(ids)]
    assert read == IDS
    assert {type(one) for row in read for one in row} == {int}


def test_ids_may_be_of_any_size():
    assert [list(row) for row in ids_of([[2**70, 1], []])] == [[2**70, 1], []]


@pytest.mark.parametrize(
    ("ids", "complaint"),
    [
        ("[1, 2]", r"got text: '\[1, 2\]'; where a file holds it as text, read it with json.loads"),
        (b"12345678", "got text: b'12345678'"),
        (None, "got NoneType: None"),
        (5, "got int: 5"),
        ({1, 2}, "got set"),
        ({"input_ids": [1]}, "got dict"),
        (["1", "2"], "and has str: '1' in it"),
        ([1, 1.5], "and has float: 1.5 in it"),
        ([[1, 2]], r"and has list: \[1, 2\] in it"),
        (np.array([0.5]), "and has float: 0.5 in it"),
    ],
)
def test_what_are_no_ids_is_refused_with_the_row(ids, complaint):
    with pytest.raises(
        TypeError, match=f"completion_ids 1 must be a list of token ids, {complaint}"
    ):
        ids_of([[1], ids])


def test_a_short_float_is_the_number_that_was_meant():
    pandas = pytest.importorskip("pandas")
    tenths = [0.1, 0.7, 123456.7]
    for kind in (np.float32, "float32"):
        assert plain(np.array(tenths, kind)) == tenths
    assert plain(np.array([tenths], np.float32)) == [tenths]
    assert plain(np.array([0.1], np.float16)) == [0.1]
    assert number_of(np.float32(0.7), "acc_reward") == 0.7
    assert plain(pa.array([0.1, None], pa.float32())) == [0.1, None]
    assert plain(pandas.Series([0.1], dtype="float32")) == [0.1]
    largest = float(np.finfo(np.float32).max)
    assert np.float32(plain(np.array([largest], np.float32))[0]) == np.float32(largest)
