"""An array is cut into its elements, however the file is read."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit.tables.readers import UnreadableError, elements

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('"\\[]{},\n é'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('"\\[]{},'), inner),
    max_leaves=8,
)


def cut(raw, piece=1 << 20, longest=1 << 20):
    """The elements, read some bytes at a time."""
    file = io.BytesIO(raw)
    return list(elements(lambda size: file.read(min(size, piece)), b"", 1, longest))


@given(st.lists(values), st.sampled_from([None, 1]), st.integers(1, 9))
def test_elements_are_those_that_json_reads(items, indent, piece):
    raw = json.dumps(items, indent=indent, ensure_ascii=False).encode()
    found = cut(raw[1:], piece)
    assert [json.loads(text) for _, text in found] == items
    if indent and items:
        assert found[0][0] == 2


@pytest.mark.parametrize(
    ("raw", "line", "reason"),
    [
        (b"1,\n2", 2, "the file ends in the middle of the array"),
        (b'1,\n"2', 2, "the file ends in the middle of the array"),
        (b"1}", 1, "a } has no matching {"),
        (b"1]\n2", 1, "there is more after the end of the array"),
        (b'1,\n"' + b"x" * 3_000_000, 2, "an element is longer than 1 MiB"),
    ],
)
def test_what_is_wrong_with_an_array(raw, line, reason):
    with pytest.raises(UnreadableError, match=reason) as raised:
        cut(raw)
    assert raised.value.line == line


def test_a_broken_element_costs_no_other():
    assert cut(b'{"a": 1},{"a" 2},{"a": 3}]') == [
        (1, b'{"a": 1}'),
        (1, b'{"a" 2}'),
        (1, b'{"a": 3}'),
    ]
