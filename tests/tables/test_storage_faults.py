"""Storage that fails, odd names in it, and how much is read of it."""

import gzip
import json
import os
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_ray_engine import FakeRay

import plaudit
from plaudit.tables import InputError, StoppedError, readers, score_table, storage
from plaudit.tables.inputs import find_inputs
from plaudit.tables.readers import blocks_of, ranges_of, read_range
from plaudit.tables.storage import RemoteFolder
from s3 import BUCKET, s3_server

pytest.importorskip("moto")


@pytest.fixture(scope="module")
def server():
    with s3_server() as store:
        yield store


@pytest.fixture
def store(server, monkeypatch):
    """The server, of which each request is tried once."""
    monkeypatch.setattr(storage, "ATTEMPTS", 1)
    storage._s3.cache_clear()
    server.requests.clear()
    yield server
    server.refuses = lambda request: False
    storage._s3.cache_clear()


def lines(rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def arrow(rows) -> bytes:
    table = pa.Table.from_pylist(rows)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table, max_chunksize=100)
    return sink.getvalue().to_pybytes()


def parquet(rows) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink, row_group_size=100, compression="none")
    return sink.getvalue().to_pybytes()


FORMATS = {
    "a.jsonl": lines,
    "a.jsonl.gz": lambda rows: gzip.compress(lines(rows), mtime=0),
    "a.parquet": parquet,
    "a.arrow": arrow,
}


def refusing_after(many, name):
    """Refuse to read an object once it was read so often."""
    answered = []

    def refuses(request):
        is_read = request.method == "GET" and name in request.path
        answered.extend([request] * is_read)
        return is_read and len(answered) > many

    return refuses


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("name", FORMATS)
def test_storage_that_fails_stops_the_run_and_no_row_is_lost(tmp_path, recipe, rows, store, name):
    """It would be easy to take a file that cannot be read now for one that is damaged."""
    noisy = [{**row, "noise": os.urandom(2000).hex()} for row in rows * 60]
    url = store.put(f"{tmp_path.name}/{name}", FORMATS[name](noisy))
    out = f"s3://{BUCKET}/{tmp_path.name}/out"
    store.requests.clear()
    score_table(url, recipe, tmp_path / "whole")
    reads = [one for one in store.requests if one.method == "GET" and name in one.path]
    for many in (0, len(reads) // 2, len(reads) - 1):
        store.refuses = refusing_after(many, name)
        with pytest.raises((InputError, StoppedError), match=r"cannot read s3://.*INTERNAL_FAIL"):
            score_table(url, recipe, out, overwrite=True)
    store.refuses = lambda request: False
    assert score_table(url, recipe, out).rows == len(noisy)
    assert store.content(f"{tmp_path.name}/out").keys() == {
        path.name for path in (tmp_path / "whole").iterdir()
    }


@pytest.mark.parametrize("refused", ["uploads", "partNumber=1", "uploadId"])
def test_an_upload_that_fails_leaves_nothing(tmp_path, store, refused):
    """Arrow would close the file, and an empty object would stand for a part."""
    folder = RemoteFolder(f"s3://{BUCKET}/{tmp_path.name}", ".progress")
    large = os.urandom(11 << 20)
    store.refuses = lambda request: refused in request.query
    with pytest.raises(OSError, match="no luck"):
        folder.write("part-00000.parquet", large)
    assert store.content(tmp_path.name) == {}
    store.refuses = lambda request: False
    folder.write("part-00000.parquet", large)
    folder.write("small", b"small")
    folder.write("pieces", iter([b"one ", b"two"]))
    folder.write("none", iter([]))
    written = {"part-00000.parquet": large, "small": b"small", "pieces": b"one two", "none": b""}
    assert store.content(tmp_path.name) == written
    assert sum(one.path.endswith("/small") and one.method == "PUT" for one in store.requests) == 1


def test_a_limit_cuts_a_chunk_that_a_worker_reads(tmp_path, recipe, rows, store, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", FakeRay())
    url = store.put(f"{tmp_path.name}/a.jsonl", lines(rows * 60))
    summary = score_table(url, recipe, tmp_path / "out", engine="ray", limit=300)
    plaudit.configure(workers=2)
    assert (summary.rows, summary.parts) == (300, 1)


ODD = ["x#1.jsonl", "x?y.jsonl", "x y.jsonl", "x%20y.jsonl", "x[1].jsonl", "x:1.jsonl", "é*.jsonl"]


@pytest.mark.usefixtures("in_process")
def test_names_are_taken_as_they_are(tmp_path, recipe, rows, store):
    for name in ODD:
        url = store.put(f"{tmp_path.name}/odd/{name}", lines(rows))
        assert [file.name for file in find_inputs(url)] == [url]
    out = f"s3://{BUCKET}/{tmp_path.name}/out #1?region=us-east-1"
    summary = score_table(f"s3://{BUCKET}/{tmp_path.name}/odd", recipe, out)
    assert summary.rows == len(ODD) * len(rows)
    assert "_run.json" in store.content(f"{tmp_path.name}/out #1")
    with pytest.raises(InputError, match=r"there is no s3://.*/none\*"):
        find_inputs(f"s3://{BUCKET}/{tmp_path.name}/odd/none*")


@pytest.mark.usefixtures("in_process")
def test_what_a_run_wrote_is_no_input_of_it(tmp_path, recipe, rows, store):
    folder = f"s3://{BUCKET}/{tmp_path.name}"
    store.put(f"{tmp_path.name}/a.jsonl", lines(rows))
    out = f"{folder}/scored/?region=us-east-1"
    score_table(f"{folder}/", recipe, out)
    assert score_table(folder, recipe, out).was_finished


def test_no_more_is_read_than_is_wanted(tmp_path, store, monkeypatch):
    text = lines([{"noise": "x" * 1000}] * 6000)
    url = store.put(f"{tmp_path.name}/a.jsonl", text)
    store.requests.clear()
    (file,) = find_inputs(url)
    samples = [one for one in store.requests if one.method == "GET" and one.path.endswith("jsonl")]
    assert sum(one.end - one.start for one in samples) == 2 << 16
    monkeypatch.setattr(readers, "SMALLEST", 3 << 20)
    for one in ranges_of(file, 0):
        store.requests.clear()
        read_range(file, one)
        reads = [one for one in store.requests if one.method == "GET"]
        asked = sum(one.end - one.start for one in reads)
        assert asked <= (3 << 20) + 1 + (1 << 16)


def test_row_groups_of_a_remote_file_are_read_one_by_one(tmp_path, rows, store):
    noisy = [{**row, "noise": os.urandom(1000).hex()} for row in rows * 100]
    content = parquet(noisy)
    (file,) = find_inputs(store.put(f"{tmp_path.name}/a.parquet", content))
    store.requests.clear()
    blocks = blocks_of(file, 0)
    next(blocks)
    asked = sum(one.end - one.start for one in store.requests if one.method == "GET")
    blocks.close()
    assert asked < len(content) / 4
