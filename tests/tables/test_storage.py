"""Inputs and outputs in the storage of a cluster: a real server that speaks as S3 does."""

import gzip
import json
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_ray_engine import FakeRay

import plaudit
from plaudit.cli import main
from plaudit.tables import (
    InputError,
    StoppedError,
    open_scored,
    output,
    readers,
    score_table,
    storage,
)
from s3 import BUCKET, s3_server
from tables import content

pytest.importorskip("moto")


@pytest.fixture(scope="module")
def store():
    with s3_server() as server:
        yield server


def lines(rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def parquet(rows) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink, row_group_size=100)
    return sink.getvalue().to_pybytes()


@pytest.fixture
def tables(tmp_path, rows, store):
    """The same tables here and there, of each kind that is read in another way; a broken line."""
    own = [{**row, "step": place} for place, row in enumerate(rows * 60)]
    text = b"\n\n" + lines(own) + b"{\n" + lines(own[:5])
    files = {"a.jsonl": text, "b/c.jsonl.gz": gzip.compress(lines(own[:300]), mtime=0)}
    files |= {"b/d.parquet": parquet(own), "_not.jsonl": b"{}", "notes.txt": b"none"}
    for name, data in files.items():
        path = tmp_path / "tables" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        store.put(f"{tmp_path.name}/tables/{name}", data)
    return f"s3://{BUCKET}/{tmp_path.name}"


def assert_same(here: dict[str, bytes], there: dict[str, bytes]) -> None:
    """Two runs wrote the same, but for the names of the inputs and how these are recognised."""
    runs = [json.loads(folder.pop("_run.json")) for folder in (here, there)]
    assert [len(run.pop("inputs")) for run in runs] == [3, 3]
    assert runs[0] == runs[1]
    rejected = [
        [{**json.loads(line), "file": ""} for line in folder.pop("_rejected.jsonl").splitlines()]
        for folder in (here, there)
    ]
    assert rejected[0] == rejected[1]
    assert here == there


@pytest.mark.long
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_the_same_bytes_as_on_this_machine(tmp_path, recipe, store, tables, engine, monkeypatch):
    monkeypatch.setattr(readers, "SMALLEST", 20_000)  # many ranges
    local = score_table(tmp_path / "tables", recipe, tmp_path / "out")
    if engine == "ray":
        monkeypatch.setitem(sys.modules, "ray", FakeRay())
    out = f"{tables}/{engine}"
    summary = score_table(f"{tables}/tables/", recipe, out, engine=engine)
    plaudit.configure(workers=2)
    assert (summary.rows, summary.rejected) == (local.rows, local.rejected) == (1745, 1)
    assert str(summary).startswith(f"{out}: 1,745 rows in ")
    there = store.content(f"{tmp_path.name}/{engine}")
    assert_same(content(tmp_path / "out"), there)
    assert score_table(f"{tables}/tables", recipe, out).was_finished


@pytest.mark.usefixtures("in_process")
def test_a_limit_a_pattern_and_one_file(tmp_path, recipe, store, tables, monkeypatch):
    only = score_table(f"{tables}/tables/a.jsonl", recipe, tmp_path / "one", limit=300)
    assert (only.rows, only.parts) == (300, 1)
    some = score_table(f"{tables}/tables/*/c.*", recipe, tmp_path / "some")
    assert some.rows == 300
    with pytest.raises(InputError, match=r"cannot tell the format of s3://.*notes.txt"):
        score_table(f"{tables}/tables/notes.txt", recipe, tmp_path / "none")
    store.put(f"{tmp_path.name}/saved/state.json", b"{}")
    with pytest.raises(InputError, match=r"saved to disk: name its shards, as .*/data-\*.arrow"):
        score_table(f"{tables}/saved", recipe, tmp_path / "none")
    monkeypatch.delenv("AWS_ENDPOINT_URL")  # the URLs say it
    there = f"?endpoint_override={store.endpoint}"
    inside = f"{tables}/tables/b/scored{there}"
    again = score_table(f"{tables}/tables/b/*{there}", recipe, inside, limit=310)
    assert (again.rows, again.parts) == (310, 2)
    assert "part-00001.parquet" in store.content(f"{tmp_path.name}/tables/b/scored")
    more = score_table(f"{tables}/tables/b{there}", recipe, inside, limit=310)
    assert more.was_finished  # what it wrote is no input of it


@pytest.mark.long
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_a_run_that_was_stopped_is_resumed(
    tmp_path, recipe, store, tables, monkeypatch, in_process, engine
):
    whole, out = f"{tables}/whole", f"{tables}/out"
    score_table(f"{tables}/tables", recipe, whole)
    if engine == "ray":
        monkeypatch.setitem(sys.modules, "ray", FakeRay())
    write = output.write_part
    seen = []

    def stopping(folder, scored, path):
        seen.append(scored.number)
        if len(seen) == 6:
            raise StoppedError("the power is gone")
        write(folder, scored, path)

    with monkeypatch.context() as patch:
        patch.setattr(output, "write_part", stopping)
        with pytest.raises(StoppedError, match="the power is gone"):
            score_table(f"{tables}/tables", recipe, out, engine=engine)
    left = store.content(f"{tmp_path.name}/out")
    assert sum(name.startswith("part-") for name in left) == 5
    assert sum(name.startswith(".progress/part-") for name in left) == 5
    with pytest.raises(InputError, match="another run: it has another limit"):
        score_table(f"{tables}/tables", recipe, out, limit=9)
    part = min(name for name in left if name.startswith("part-"))
    store.remove(f"{tmp_path.name}/out/{part}")  # its counts are there
    score_table(f"{tables}/tables", recipe, out, engine=engine)
    plaudit.configure(workers=2)
    assert store.content(f"{tmp_path.name}/out") == store.content(f"{tmp_path.name}/whole")
    store.put(f"{tmp_path.name}/out/of-mine.txt", b"stays")
    again = score_table(f"{tables}/tables/a.jsonl", recipe, out, overwrite=True, limit=9)
    assert (again.rows, again.parts) == (9, 1)
    names = {"_run.json", "_rejected.jsonl", "part-00000.parquet", "of-mine.txt"}
    assert set(store.content(f"{tmp_path.name}/out")) == names


@pytest.mark.usefixtures("in_process", "many_parts")
def test_any_storage_that_fsspec_opens(tmp_path, recipe, rows):
    """A store that renames: files are written under another name there."""
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.pipe("/tables/a.jsonl", lines(rows * 60))
    summary = score_table("memory://tables", recipe, "memory://scored")
    assert summary.rows == 720
    names = {Path(name).name for name in memory.find("/scored")}
    assert names == {"_run.json", "_rejected.jsonl", *(f"part-{n:05}.parquet" for n in range(10))}
    assert score_table("memory://tables", recipe, "memory://scored").was_finished


@pytest.mark.usefixtures("in_process")
def test_urls_of_this_machine(tmp_path, recipe, rows):
    (tmp_path / "my rows.jsonl").write_bytes(lines(rows))
    there = tmp_path.as_uri()
    for number, url in enumerate([f"{there}/my%20rows.jsonl", f"file:{tmp_path}/my rows.jsonl"]):
        summary = score_table(url, recipe, f"{there}/out-{number}")
        assert (summary.rows, summary.out) == (12, tmp_path / f"out-{number}")
    assert score_table(Path(f"{there}/my%20rows.jsonl"), recipe, tmp_path / "out-2").rows == 12


def test_what_is_wrong_is_said(tmp_path, recipe, rows, store, monkeypatch, capsys):
    out = tmp_path / "out"
    url = store.put(f"{tmp_path.name}/a.jsonl", lines(rows))
    with pytest.raises(InputError, match=f"there is no s3://{BUCKET}/none"):
        score_table(f"s3://{BUCKET}/none", recipe, out)
    with pytest.raises(InputError, match="there is no s3://no-such/a/"):
        score_table("s3://no-such/a/", recipe, out)
    with pytest.raises(InputError, match=r"cannot write to s3://no-such/out: .*NO_SUCH_BUCKET"):
        score_table(url, recipe, "s3://no-such/out")
    with pytest.raises(InputError, match=r"did you mean s3://.*: pass it as text"):
        score_table(Path(url), recipe, out)
    with pytest.raises(InputError, match=r"s3:// names no bucket: expected s3://BUCKET/PATH"):
        score_table("s3://", recipe, out)
    with pytest.raises(InputError, match=r"cannot open odd://x/a.jsonl: .*odd"):
        score_table("odd://x/a.jsonl", recipe, out)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(InputError, match=r"opened with fsspec: pip install fsspec"):
        score_table("odd://x/a.jsonl", recipe, out)
    with pytest.raises(InputError, match=r"copy it first, .*aws s3 sync s3://b/scored scored"):
        open_scored("s3://b/scored")
    assert main(["report", "s3://b/scored"]) == 2
    assert "aws s3 sync s3://b/scored" in capsys.readouterr().err
    with pytest.raises(InputError, match=r"\?user= is not known: .* endpoint_override and region"):
        score_table(f"{url}?user=me", recipe, out)
    monkeypatch.setattr(storage, "ATTEMPTS", 1)
    with pytest.raises(InputError, match=r"cannot open .*AWS_ENDPOINT_URL"):
        score_table(f"{url}?endpoint_override=http://127.0.0.1:1", recipe, out)


def test_credentials_that_are_refused(tmp_path, recipe, rows, store):
    from moto.core import set_initial_no_auth_action_count

    url = store.put(f"{tmp_path.name}/a.jsonl", lines(rows))
    refused = set_initial_no_auth_action_count(0)(score_table)
    with pytest.raises(InputError, match=r"cannot open s3://.*: give credentials in AWS_ACCESS"):
        refused(url.replace("/a.jsonl", "/"), recipe, tmp_path / "out")
