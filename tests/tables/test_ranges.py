"""A file that is read in ranges has the same records and lines as one that is read whole."""

import io
import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from plaudit.tables import StoppedError, readers
from plaudit.tables.inputs import find_inputs
from plaudit.tables.readers import (
    _parsed_by_python,
    blocks_of,
    chunks_of,
    parsed,
    ranges_of,
    read_range,
    records_in,
)

LINES = st.sampled_from(
    [b"", b" \t", b"\r", b"{}", b'{"a": 1}\r', b'{"long": "' + b"x" * 40 + b'"}']
)


def read_in_ranges(files):
    """The file, the line and the text of every record, by the ranges of the files."""
    found, numbers = [], []
    lines = dict.fromkeys(range(len(files)), 0)
    for chunk in chunks_of(files, ranges=True):
        numbers.append(chunk.number)
        block = chunk.loaded(files).block
        for number, record in zip(block.numbers, records_in(block), strict=True):
            found.append((block.file, number + lines[block.file], record))
        lines[block.file] += block.lines
    assert numbers == list(range(len(numbers)))
    return found


@given(st.lists(LINES, max_size=30), st.integers(3, 90), st.booleans(), st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_lines_are_the_same_in_ranges_of_any_size(some, size, ends, marked):
    folder = Path(tempfile.mkdtemp())
    text = b"\n".join(some) + b"\n" * ends
    for name in ("a.jsonl", "b.jsonl"):
        (folder / name).write_bytes(b"\xef\xbb\xbf" * marked + text)
    files = find_inputs(folder)
    whole = [
        (block.file, number, parsed(record))
        for file in (0, 1)
        for block in blocks_of(files[file], file)
        for number, record in zip(block.numbers, block.records, strict=True)
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "SMALLEST", size)
        assert read_in_ranges(files) == whole
        read_bytes = sum(chunk.read for chunk in chunks_of(files, ranges=True))
        assert read_bytes == sum(file.size for file in files)


def test_what_is_read_here_has_the_same_records_and_knows_how_many_precede_it(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n\n' * 20_000)
    (tmp_path / "b.csv").write_text("a\n" + "1\n" * 900)
    files = find_inputs(tmp_path)
    for limit in (None, 5, 20_000, 20_100):
        chunks = list(chunks_of(files, limit))
        assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
        before = 0
        for chunk in chunks:
            assert chunk.first_record == before
            before += len(chunk.block)
        assert before == min(limit or 20_900, 20_900)
    assert len(chunks) == 3
    assert sum(chunk.read for chunk in chunks_of(files)) == sum(file.size for file in files)
    assert chunks[0].block.numbers[:2] == [1, 3]


def test_row_groups_are_kept_together_unless_they_are_large(tmp_path, monkeypatch):
    table = pa.table({"a": list(range(1000))})
    pq.write_table(table, tmp_path / "z.parquet", row_group_size=100)
    (file,) = find_inputs(tmp_path)
    assert [(one.start, one.end) for one in ranges_of(file, 0)] == [
        (0, 2),
        (2, 4),
        (4, 6),
        (6, 8),
        (8, 10),
    ]
    monkeypatch.setattr(readers, "SMALLEST", 3000)
    ranges = ranges_of(file, 0)
    assert len(ranges) > 3
    assert [one.start for one in ranges] == [0, *(one.end for one in ranges[:-1])]
    blocks = [read_range(file, one) for one in ranges]
    numbers = [number for block in blocks for number in block.numbers]
    values = [record["a"] for block in blocks for record in records_in(block)]
    assert list(zip(numbers, values, strict=True)) == [(n + 1, n) for n in range(1000)]
    assert 0.9 < sum(one.size for one in ranges) / file.size <= 1
    monkeypatch.setattr(readers, "LARGEST", 500)
    assert ranges_of(file, 0) is None
    assert sum(len(chunk.block) for chunk in chunks_of([file], ranges=True)) == 1000


def test_a_file_that_changes_during_the_run_stops_it(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n' * 3)
    (file,) = find_inputs(path)
    (chunk,) = chunks_of([file], ranges=True)
    assert len(chunk.loaded([file]).block) == 3
    path.write_text('{"a": 1}\n' * 2)
    with pytest.raises(StoppedError, match=r"a.jsonl was changed during the run: start over"):
        chunk.loaded([file])
    path.unlink()
    with pytest.raises(StoppedError, match=r"cannot read .*a.jsonl: No such file"):
        chunk.loaded([file])


def test_a_line_longer_than_its_range_is_read_once_more_and_no_oftener(tmp_path, monkeypatch):
    """Else each range of a large file without line ends would read all the rest of it."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"long": "' + "x" * 1_000_000 + '"}\n{}\n')
    read = []

    class Counting(io.FileIO):
        def readinto(self, buffer):
            read.append(super().readinto(buffer))
            return read[-1]

    monkeypatch.setattr(readers, "SMALLEST", 50_000)
    monkeypatch.setattr(readers, "PIECE", 1000)
    files = find_inputs(path)
    monkeypatch.setattr(readers, "open_input", lambda path: io.BufferedReader(Counting(path), 1000))
    assert len(read_in_ranges(files)) == 2
    assert sum(read) < 2.2 * path.stat().st_size


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.booleans(), st.binary(max_size=3))
@settings(max_examples=examples(500), deadline=None)
def test_json_is_read_as_python_reads_it(row, ascii_only, noise):
    """NaN, halves of surrogate pairs, integers of any size; and what is broken."""
    text = json.dumps(row, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    for record in (text, text + noise, noise + text, text[: len(text) // 2]):
        assert repr(parsed(record)) == repr(_parsed_by_python(record))
