"""Inputs that are not what they seem: links, pipes, cut files, times that Python does not know."""

import gzip
import json
import os
import subprocess
import sys
from datetime import date, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plaudit.cli import main
from plaudit.tables import InputError, score_table
from plaudit.tables.readers import python_rows, read_rows
from tables import content, jsonl, rejected, scored

GOOD = {"prompt": "2 + 2?", "completion": r"<think>…</think> \boxed{4}", "solution": "4"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in" / "inner").mkdir(parents=True)
    jsonl(tmp_path / "in" / "inner" / "a.jsonl", [GOOD])
    return tmp_path / "in"


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    "links",
    [
        {"loop": "."},
        {"inner/up": "../"},
        {"inner/up": "..", "other": "inner", "inner/self": "."},
        {"inner/latest.jsonl": "a.jsonl"},
        {"Z.jsonl": "inner/a.jsonl", "zz.jsonl": "Z.jsonl"},
        {"dangling": "nowhere", "around": "around"},
    ],
)
def test_a_row_is_read_once_whatever_links_lead_to_it(tmp_path, recipe, folder, links):
    for name, target in links.items():
        (folder / name).symlink_to(target)
    assert score_table([folder], recipe, tmp_path / "out").rows == 1


@pytest.mark.usefixtures("in_process")
def test_links_that_lead_out_of_a_folder_are_followed(tmp_path, recipe, folder):
    jsonl(tmp_path / "blob", [GOOD])
    (tmp_path / "away").mkdir()
    jsonl(tmp_path / "away" / "c.jsonl", [GOOD])
    (folder / "first.jsonl").symlink_to(tmp_path / "blob")
    (folder / "second.jsonl").symlink_to(tmp_path / "blob")
    (folder / "there").symlink_to(tmp_path / "away")
    (tmp_path / "away" / "back").symlink_to(folder)
    assert score_table([folder], recipe, tmp_path / "out").rows == 4


def cut_off(path, raw, many):
    path.write_bytes(raw[:many])
    return path


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("codec", "rows"),
    [("gzip", 200), pytest.param("gzip", 30_000, marks=pytest.mark.long), ("zstd", 30_000)],
)
def test_a_compressed_file_that_is_cut_off_gives_every_row_before_the_cut(
    tmp_path, recipe, codec, rows
):
    lines = [
        json.dumps({**GOOD, "n": n, "noise": f"{n * 7919 % 10007}"}) + "\n" for n in range(rows)
    ]
    raw = "".join(lines).encode()
    packed = pa.compress(raw, codec, asbytes=True) if codec == "zstd" else gzip.compress(raw)
    suffix = {"gzip": "gz", "zstd": "zst"}[codec]
    file = cut_off(tmp_path / f"a.jsonl.{suffix}", packed, len(packed) * 2 // 3)
    summary = score_table([file], recipe, tmp_path / "out")
    (bad,) = rejected(tmp_path / "out")
    lost = 0 if codec == "gzip" else 1000  # Arrow's reader loses what it was just reading
    assert 0 <= readable(file, suffix, tmp_path) - summary.rows <= lost
    assert summary.rows > rows // 3
    assert bad["line"] == summary.rows + 1
    assert bad["reason"].startswith("the file cannot be read from here on: ")
    again = score_table([file], recipe, tmp_path / "out", overwrite=True)
    assert again.rows == summary.rows


def readable(file, suffix, tmp_path):
    """The whole lines that the usual tool gets out of a file."""
    tool = {"gz": "gzip", "zst": "zstd"}[suffix]
    try:
        out = subprocess.run([tool, "-dc", file], capture_output=True, check=False).stdout
    except FileNotFoundError:
        pytest.skip(f"there is no {tool} here")
    return out.count(b"\n")


@pytest.mark.usefixtures("in_process")
def test_an_array_and_a_csv_that_are_cut_off_give_every_row_before_the_cut(tmp_path, recipe):
    many = [{**GOOD, "noise": f"{n * 7919 % 10007}"} for n in range(3000)]
    array = gzip.compress(json.dumps(many).encode())
    table = gzip.compress(
        b"completion,solution\n" + b"".join(b"\\boxed{%d},4\n" % (n * 7919) for n in range(9000))
    )
    for name, raw in (("a.json.gz", array), ("b.csv.gz", table)):
        file = cut_off(tmp_path / name, raw, len(raw) // 2)
        out = tmp_path / f"out-{name}"
        summary = score_table([file], recipe, out)
        assert summary.rows > 1000
        (bad,) = rejected(out)
        assert "cannot be read from here on" in bad["reason"]


@pytest.mark.long
@pytest.mark.usefixtures("in_process")
def test_a_damaged_gz_gives_what_comes_before_the_damage(tmp_path, recipe):
    raw = b"".join(json.dumps({**GOOD, "n": n * 7919}).encode() + b"\n" for n in range(60_000))
    packed = bytearray(gzip.compress(raw))
    packed[len(packed) // 2 : len(packed) // 2 + 64] = bytes(range(64))
    (tmp_path / "a.jsonl.gz").write_bytes(packed)
    summary = score_table([tmp_path / "a.jsonl.gz"], recipe, tmp_path / "out")
    assert summary.rows > 20_000
    assert rejected(tmp_path / "out")


def test_an_empty_name_is_not_the_current_folder(tmp_path, recipe, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = jsonl(tmp_path / "a.jsonl", [GOOD])
    for arguments in (("", recipe, "out"), (file, recipe, "")):
        with pytest.raises(InputError, match="the name of a file or folder is empty"):
            score_table(*arguments)
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_columns_of_the_same_name_are_refused(tmp_path, recipe, suffix):
    names = ["completion", "solution", "solution"]
    table = pa.table([pa.array([value]) for value in (r"\boxed{4}", "4", "5")], names=names)
    file = tmp_path / f"a.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, file)
    else:
        with pa.ipc.new_stream(str(file), table.schema) as stream:
            stream.write_table(table)
    with pytest.raises(InputError, match="two columns are called 'solution'"):
        score_table([file], recipe, tmp_path / "out")
    with pytest.raises(InputError, match="line 1: two columns are called 'solution'"):
        read_rows([file])


TIMES = {
    "at": (pa.timestamp("ns"), 1_700_000_000_123_456_789),
    "zoned": (pa.timestamp("ns", "UTC"), 1_700_000_000_123_456_789),
    "far": (pa.timestamp("s"), 253_402_300_800),
    "lasted": (pa.duration("ns"), 2**62 + 1),
    "long": (pa.duration("s"), 2**55),
    "noon": (pa.time64("ns"), 12 * 3600 * 10**9 + 1),
    "late": (pa.date32(), 2**30),
    "list": (pa.list_(pa.timestamp("ns")), [1, None]),
    "large_list": (pa.large_list(pa.timestamp("ns")), [1]),
    "struct": (pa.struct([("a", pa.timestamp("ns"))]), {"a": 1}),
    "map": (pa.map_(pa.string(), pa.timestamp("ns")), [("k", 1)]),
}


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("name", TIMES)
def test_times_that_python_does_not_know_are_kept(tmp_path, recipe, suffix, name):
    kind, value = TIMES[name]
    one = {"completion": ["a"] * 2, "solution": ["4"] * 2}
    table = pa.table({**one, name: pa.array([value, None], kind)})
    file = tmp_path / f"a.{suffix}"
    if suffix == "parquet":
        pq.write_table(table, file)
        table = pq.read_table(file)
    else:
        with pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table)
    assert score_table([file], recipe, tmp_path / "out", group=name).rows == 2
    kept = scored(tmp_path / "out")[name].cast(table[name].type)  # Parquet has no seconds
    assert kept.combine_chunks() == table[name].combine_chunks()


def test_what_a_reward_gets_of_such_times():
    table = pa.table({name: pa.array([value, None], kind) for name, (kind, value) in TIMES.items()})
    first, second = python_rows(table)
    assert first["at"] == datetime(2023, 11, 14, 22, 13, 20, 123456)
    assert first["far"] == "10000-01-01 00:00:00"
    assert first["lasted"] == timedelta(microseconds=2**62 // 1000)
    assert first["struct"] == {"a": datetime(1970, 1, 1)}
    assert first["map"] == [("k", datetime(1970, 1, 1))]
    assert first["list"] == [datetime(1970, 1, 1), None]
    assert set(second.values()) == {None}
    plain = pa.table({"n": [1, None], "on": [date(2020, 1, 1)] * 2})
    assert python_rows(plain) == plain.to_pylist()
    assert python_rows(plain.select([])) == [{}, {}]


def test_a_pipe_is_refused_and_never_waited_for(tmp_path, recipe, capsys):
    os.mkfifo(tmp_path / "a.jsonl")
    command = ["--recipe", "trl-math", "--out", str(tmp_path / "out")]
    assert main(["score", str(tmp_path / "a.jsonl"), *command]) == 2
    said = capsys.readouterr().err
    assert "a.jsonl is a pipe, not a regular file: an input is read more than once" in said
    assert "write it to a file first" in said
    with pytest.raises(InputError, match=r"is a pipe, not a regular file"):
        score_table([tmp_path], recipe, tmp_path / "out")


def test_what_a_shell_substitutes_for_a_command_is_a_pipe(tmp_path):
    start = "import sys; from plaudit.cli import main; sys.exit(main())"
    score = f"score <(cat) --recipe trl-math --out {tmp_path / 'out'}"
    line = f'"{sys.executable}" -c "{start}" {score}'
    ended = subprocess.run(["bash", "-c", line], capture_output=True, text=True, stdin=-3)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "is a pipe, not a regular file" in ended.stderr


def test_standard_input_and_devices_are_refused(tmp_path, recipe):
    with pytest.raises(InputError, match="standard input cannot be read: an input is read more"):
        score_table([tmp_path.__class__("-")], recipe, tmp_path / "out")
    (tmp_path / "zero.jsonl").symlink_to("/dev/zero")
    with pytest.raises(InputError, match=r"zero.jsonl is a device, not a regular file"):
        score_table([tmp_path / "zero.jsonl"], recipe, tmp_path / "out")


@pytest.mark.long
@pytest.mark.usefixtures("in_process")
def test_a_folder_without_its_report_can_be_read_as_one_table(tmp_path, rows, recipe):
    """As `pandas.read_parquet` does it, which asks this."""
    file = jsonl(tmp_path / "a.jsonl", [*rows, {"completion": None}])
    score_table([file], recipe, tmp_path / "out")
    assert main(["report", str(tmp_path / "out")]) == 0
    assert pq.read_table(tmp_path / "out").num_rows == 12
    score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out", overwrite=True)
    assert pq.read_table(tmp_path / "out").num_rows == 12


@pytest.mark.long
@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("kept", [[], ["mine.png"]])
def test_overwriting_removes_the_report_and_nothing_else(tmp_path, rows, recipe, kept):
    file = jsonl(tmp_path / "a.jsonl", rows)
    score_table([file], recipe, tmp_path / "out")
    before = content(tmp_path / "out")
    assert main(["report", str(tmp_path / "out")]) == 0
    assert main(["report", str(tmp_path / "out"), str(tmp_path / "out")]) == 0
    for name in kept:
        (tmp_path / "out" / "_report" / name).write_text("mine")
    score_table([file], recipe, tmp_path / "out", overwrite=True)
    assert content(tmp_path / "out") == {
        **before,
        **{f"_report/{name}": b"mine" for name in kept},
    }
    assert (tmp_path / "out" / "_report").exists() == bool(kept)
