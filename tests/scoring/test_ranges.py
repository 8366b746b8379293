"""A file that is read in ranges has the same records and lines as one that is read whole."""

import io
import json
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import examples
from plaudit.scoring import StoppedError, _chunks, _readers, find_inputs
from plaudit.scoring._chunks import chunks_of, ranges_of
from plaudit.scoring._readers import blocks_of
from plaudit.scoring._records import _parsed_by_python, parsed
from plaudit.scoring._rows import records_in

LINES = st.sampled_from(
    [b"", b" \t", b"\r", b"{}", b'{"a": 1}\r', b'{"long": "' + b"x" * 40 + b'"}']
)
PLAN = SimpleNamespace(listed=False, completions="completions")


def read(files, plan, packed):
    """The line and the text of every record, by the chunks, and their places."""
    found = []
    for number, chunk in enumerate(chunks_of(files, plan, None)):
        assert chunk.number == number
        assert chunk.first_record == chunk.first_row == len(found)
        own = chunk.packed() if packed else chunk
        for block in own.blocks:
            assert packed != isinstance(block.records, list)
            found += zip([block.file] * len(block), block.numbers, records_in(block), strict=True)
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
        patch.setattr(_chunks, "RANGE_BYTES", size)
        assert read(files, PLAN, packed=True) == whole
        read_bytes = sum(chunk.read for chunk in chunks_of(files, PLAN, None))
        assert read_bytes <= sum(file.size for file in files)


def test_small_files_share_a_range_and_row_groups_are_kept_together(tmp_path, monkeypatch):
    for number in range(6):
        (tmp_path / f"{number}.jsonl").write_text('{"a": 1}\n')
    table = pa.table({"a": list(range(1000))})
    pq.write_table(table, tmp_path / "z.parquet", row_group_size=100)
    files = find_inputs(tmp_path)
    assert len(list(ranges_of(files))) == 1
    monkeypatch.setattr(_chunks, "RANGE_BYTES", 2000)
    ranges = list(ranges_of(files))
    assert [extent.file for extent in ranges[0]][:6] == list(range(6))
    groups = [extent for some in ranges for extent in some if extent.file == 6]
    assert len(groups) > 1
    assert [one.start for one in groups] == [0, *(one.end for one in groups[:-1])]
    rows = [
        (number, value)
        for chunk in chunks_of(files, PLAN, None)
        for block in chunk.packed().blocks
        if block.file == 6
        for number, value in zip(block.numbers, block.table()["a"].to_pylist(), strict=True)
    ]
    assert rows == [(n + 1, n) for n in range(1000)]
    read_bytes = sum(chunk.read for chunk in chunks_of(files, PLAN, None))
    assert 0.9 < read_bytes / sum(file.size for file in files) < 1.1


def test_a_file_that_changes_during_the_run_stops_it(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text('{"a": 1}\n' * 3)
    (chunk,) = (one.packed() for one in chunks_of(find_inputs(file), PLAN, None))
    assert len(records_in(chunk.blocks[0])) == 3
    file.write_text('{"a": 1}\n' * 2)
    with pytest.raises(StoppedError, match=r"a.jsonl was changed during the run: start over"):
        records_in(chunk.blocks[0])


def test_a_line_longer_than_its_range_is_read_once_more_and_no_oftener(tmp_path, monkeypatch):
    """Else each range of a large file without line ends would read all the rest of it."""
    file = tmp_path / "a.jsonl"
    file.write_text('{"long": "' + "x" * 1_000_000 + '"}\n{}\n')
    read = []

    class Counting(io.FileIO):
        def readinto(self, buffer):
            read.append(super().readinto(buffer))
            return read[-1]

    monkeypatch.setattr(_chunks, "RANGE_BYTES", 50_000)
    monkeypatch.setattr(_readers, "PIECE", 1000)
    monkeypatch.setattr(
        _readers, "open_input", lambda path, end: io.BufferedReader(Counting(path), 1000)
    )
    assert sum(len(chunk.counts()) for chunk in chunks_of(find_inputs(file), PLAN, None)) == 2
    assert sum(read) < 2.2 * file.stat().st_size


def test_a_worker_that_moves_to_another_folder_reads_on(tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n')
    monkeypatch.chdir(tmp_path)
    (chunk,) = (one.packed() for one in chunks_of(find_inputs("a.jsonl"), PLAN, None))
    monkeypatch.chdir("/")
    assert records_in(chunk.blocks[0]) == [{"a": 1}]
    (tmp_path / "a.jsonl").unlink()
    with pytest.raises(StoppedError, match=r"cannot read .*a.jsonl: No such file"):
        records_in(chunk.blocks[0])


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
