"""Rows and files that are bad: what is said of them, and that the others are scored."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import plaudit.tables.readers
from plaudit.tables import InputError, RejectedRowError, StoppedError, score_table
from tables import jsonl, rejected, scored

pytestmark = pytest.mark.usefixtures("in_process")

GOOD = {"prompt": "2 + 2?", "completion": r"<think>…</think> \boxed{4}", "solution": "4"}


def lines(tmp_path, *bad, name="a.jsonl"):
    """Six good rows, the bad ones, and a good one."""
    good = json.dumps(GOOD).encode()
    file = tmp_path / name
    file.write_bytes(b"\n".join([*[good] * 6, *bad, good]))
    return file


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"completion": "x"', "not JSON: Expecting ',' delimiter at column 19"),
        (b'"completion"', "a row must be a JSON object, got str"),
        (b'{"completion": "\xff"}', "not UTF-8"),
        (b"[" * 200_000, "cannot be parsed: maximum recursion depth exceeded"),
        (b'{"completion": ' + b"9" * 5000 + b"}", "cannot be parsed: Exceeds the limit"),
        (b'{"completion": "x"}', "the row has no column solution"),
        (b'{"solution": "x"}', "the row has no column completion"),
        (b'{"completion": null, "solution": "x"}', "completion is null"),
        (
            b'{"completion": 4, "solution": "x"}',
            "completion must be text or a list of messages, got int",
        ),
        (
            b'{"completion": ["x"], "solution": "x"}',
            "completion must be text or a list of messages, got a list with str in it",
        ),
        (
            b'{"completion": "x", "solution": {"a": 1}}',
            "solution must be text, a number or None, got dict: {'a': 1} (in accuracy (trl.",
        ),
        (
            b'{"completion": {"content": 4}, "solution": "x"}',
            "completion: a message's content must be text",
        ),
    ],
)
def test_a_bad_row_is_rejected_with_its_line_and_the_others_are_scored(
    tmp_path, recipe, line, reason
):
    summary = score_table([lines(tmp_path, line)], recipe, tmp_path / "out")
    (bad,) = rejected(tmp_path / "out")
    assert (bad["file"], bad["line"], bad["row_id"]) == (str(tmp_path / "a.jsonl"), 7, 6)
    assert bad["reason"].startswith(reason)
    assert len(bad["row"]) <= 200
    assert (summary.rows, summary.rejected) == (7, 1)
    *first, last = scored(tmp_path / "out")["row_id"].to_pylist()
    assert (first, last > 6) == ([0, 1, 2, 3, 4, 5], True)
    assert "1 row rejected" in str(summary)


def test_strict_stops_at_the_first_bad_row_and_can_go_on_without(tmp_path, recipe):
    good = json.dumps(GOOD)
    rows = [good] * 3000
    rows[2000] = rows[100] = "{"
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    for _ in range(2):
        with pytest.raises(RejectedRowError, match=r"a.jsonl, line 101: not JSON"):
            score_table([tmp_path / "a.jsonl"], recipe, tmp_path / "out", strict=True)
    assert not (tmp_path / "out" / "_rejected.jsonl").exists()
    summary = score_table([tmp_path / "a.jsonl"], recipe, tmp_path / "out")
    assert (summary.rows, summary.rejected) == (2998, 2)
    assert [bad["line"] for bad in rejected(tmp_path / "out")] == [101, 2001]


def test_many_bad_rows_are_told_apart_from_good_ones(tmp_path, recipe):
    rows = [{**GOOD, "solution": {"n": n} if n % 7 == 0 else "4"} for n in range(600)]
    summary = score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
    assert [bad["row_id"] for bad in rejected(tmp_path / "out")] == list(range(0, 600, 7))
    assert summary.values["accuracy"] == (600 - 86, 1.0)


@pytest.mark.parametrize(
    ("completions", "reason"),
    [
        ("text", "completions must be a list of completions, as in the first rows, got str"),
        ([], "completions is empty"),
        (None, "completions is null"),
    ],
)
def test_bad_lists_of_completions(tmp_path, recipe, completions, reason):
    good = {"completions": ["a", "b"], "solution": "4"}
    rows = [good, {**good, "completions": completions}, good]
    score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
    (bad,) = rejected(tmp_path / "out")
    assert (bad["reason"], bad["line"]) == (reason, 2)
    assert scored(tmp_path / "out")["row_id"].to_pylist() == [0, 1, 3, 4]


def test_one_bad_completion_in_a_list_costs_no_other(tmp_path, recipe):
    rows = [{"completions": ["a", None, "b"], "solution": "4"}]
    score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
    (bad,) = rejected(tmp_path / "out")
    assert bad["reason"] == "completions[1] must be text or a list of messages, got NoneType"
    assert scored(tmp_path / "out")["row_id"].to_pylist() == [0, 2]


def test_golds_of_which_a_reward_takes_none_stop_the_run(tmp_path, recipe):
    rows = [{**GOOD, "solution": {"n": n}} for n in range(3)]
    with pytest.raises(
        StoppedError, match=r"every row fails with the same error(.|\n)*\{'n': 0\} \(in"
    ):
        score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")


def test_a_run_that_stops_after_its_first_rows_does_not_speak_of_all(tmp_path, recipe):
    rows = [{**GOOD, "solution": {"n": 0}}] * 3000 + [GOOD] * 9
    with pytest.raises(
        StoppedError, match=r"each of the first 2,\d\d\d rows fails with the same err"
    ):
        score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")


def test_a_table_without_a_single_good_row_has_an_empty_part(tmp_path, recipe):
    rows = [{**GOOD, "completion": None} for n in range(3)]
    summary = score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
    assert (summary.rows, summary.rejected, summary.parts) == (0, 3, 1)
    assert scored(tmp_path / "out").num_rows == 0
    assert "no values" in str(summary)


def test_nulls_of_parquet_are_rejected_by_their_row(tmp_path, recipe):
    table = pa.table({"completion": ["a", None, "b"], "solution": ["4", "4", None]})
    pq.write_table(table, tmp_path / "a.parquet")
    score_table([tmp_path / "a.parquet"], recipe, tmp_path / "out")
    (bad,) = rejected(tmp_path / "out")
    assert (bad["line"], bad["reason"]) == (2, "completion is null")
    assert bad["row"] == '{"completion": null, "solution": "4"}'


def test_lists_of_parquet_with_nulls(tmp_path, recipe):
    table = pa.table({"completions": [["a"], None, [], ["b", "c"]], "solution": ["4"] * 4})
    pq.write_table(table, tmp_path / "a.parquet")
    score_table([tmp_path / "a.parquet"], recipe, tmp_path / "out")
    assert [bad["line"] for bad in rejected(tmp_path / "out")] == [2, 3]
    assert scored(tmp_path / "out")["completion"].to_pylist() == ["a", "b", "c"]
    assert scored(tmp_path / "out")["row_id"].to_pylist() == [0, 3, 4]


@pytest.mark.long
def test_a_truncated_gz_gives_the_rows_before_the_cut(tmp_path, recipe):
    rows = [{**GOOD, "noise": f"{n * 7919 % 10007}"} for n in range(60_000)]
    raw = gzip.compress("".join(json.dumps(row) + "\n" for row in rows).encode())
    (tmp_path / "a.jsonl.gz").write_bytes(raw[: len(raw) * 2 // 3])
    more = jsonl(tmp_path / "b.jsonl", [GOOD])
    summary = score_table([tmp_path / "a.jsonl.gz", more], recipe, tmp_path / "out")
    (bad,) = rejected(tmp_path / "out")
    assert 10_000 < summary.rows < 60_000
    assert bad["line"] == summary.rows
    assert "cannot be read from here on: Compressed file ended before" in bad["reason"]


@pytest.mark.parametrize(
    ("name", "raw", "said"),
    [
        ("a.jsonl", b"", "there are no rows to score: .*a.jsonl is empty"),
        ("a.jsonl", b"\n \n", "there are no rows to score: .*a.jsonl is empty"),
        ("a.parquet", b"", "there are no rows to score: .*a.parquet is empty"),
        ("a.csv", b"completion,solution\n", "there are no rows to score: .*a.csv is empty"),
        ("a.json", b"[]", "there are no rows to score: .*a.json is empty"),
        ("a.jsonl", b"{\n{", "a.jsonl has no row that can be read: not JSON"),
        ("a.jsonl.gz", b"hello, hello", "no row that can be read: the file cannot be read"),
        (
            "a.jsonl.gz",
            gzip.compress(b"{}", mtime=0)[:12],
            "no row that can be read: the file cannot be",
        ),
        ("a.parquet", b"PAR1 hello PAR1", "no row that can be read: the file cannot be read"),
        ("a.arrow", b"hello, hello, hello", "no row that can be read: the file cannot be read"),
        ("a.csv", b"a,a\n1,2\n", "no row that can be read: two columns are called 'a'"),
        ("a.txt", b"hello", "cannot tell the format of .*a.txt from its name: expected .jsonl"),
        ("a.parquet.gz", b"hello", "cannot tell the format of .*a.parquet.gz from"),
        ("README", b"hello", "cannot tell the format of .*README from"),
    ],
)
def test_files_that_cannot_be_scored(tmp_path, recipe, name, raw, said):
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(InputError, match=said):
        score_table([tmp_path / name], recipe, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_files_that_are_not_there(tmp_path, recipe):
    with pytest.raises(InputError, match=r"there is no .*a.jsonl"):
        score_table([tmp_path / "a.jsonl"], recipe, tmp_path / "out")
    with pytest.raises(InputError, match=r"has no table in it: expected .jsonl"):
        score_table([tmp_path], recipe, tmp_path / "out")
    with pytest.raises(InputError, match=r"pass at least one file"):
        score_table([], recipe, tmp_path / "out")
    (tmp_path / "state.json").write_text("{")
    (tmp_path / "dataset_info.json").write_text("{}")
    with pytest.raises(InputError, match=r"state.json: not JSON"):
        score_table([tmp_path], recipe, tmp_path / "out")


def test_an_empty_file_among_others_is_passed_over(tmp_path, recipe):
    (tmp_path / "a.jsonl").write_bytes(b"")
    jsonl(tmp_path / "b.jsonl", [GOOD])
    inputs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    assert score_table(inputs, recipe, tmp_path / "out").rows == 1


@pytest.mark.parametrize("mebibytes", [3, pytest.param(50, marks=pytest.mark.long)])
def test_mebibytes_in_one_line(tmp_path, recipe, mebibytes):
    rows = [
        GOOD,
        {**GOOD, "completion": "<think>" + "x" * (mebibytes << 20) + r"</think> \boxed{4}"},
        GOOD,
    ]
    summary = score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
    assert summary.statuses == {"limit": 1, "scored": 2}  # the judge does not read so much
    assert scored(tmp_path / "out")["total"].to_pylist() == [1.5, 0.5, 1.5]
    assert scored(tmp_path / "out")["completion"][1].as_py() == rows[1]["completion"]


def test_a_line_without_end_is_rejected_and_read_past(tmp_path, recipe, monkeypatch):
    monkeypatch.setattr(plaudit.tables.readers, "MAX_LINE_BYTES", 4 << 20)
    file = lines(tmp_path, b'{"x": "' + b"x" * (5 << 20) + b'"}')
    summary = score_table([file], recipe, tmp_path / "out")
    (bad,) = rejected(tmp_path / "out")
    assert (bad["line"], bad["reason"]) == (7, "the line is longer than 4 MiB")
    assert bad["row"].startswith('{"x": "xxx')
    assert summary.rows == 7


def test_an_array_that_breaks_off(tmp_path, recipe, monkeypatch):
    good = json.dumps(GOOD)
    (tmp_path / "a.json").write_text(f"[{good},\n{good},\n{{,\n{good},\n[" + '"x')
    score_table([tmp_path / "a.json"], recipe, tmp_path / "out")
    assert scored(tmp_path / "out").num_rows == 2
    (bad,) = rejected(tmp_path / "out")
    assert (bad["line"], bad["reason"]) == (3, "the file ends in the middle of the array")
    monkeypatch.setattr(plaudit.tables.readers, "MAX_LINE_BYTES", 1 << 20)
    (tmp_path / "b.json").write_text(f"[{good},\n" + '"' + "x" * (3 << 20) + '"]')
    score_table([tmp_path / "b.json"], recipe, tmp_path / "more")
    assert rejected(tmp_path / "more")[0]["reason"] == "an element is longer than 1 MiB"


def test_broken_csv(tmp_path, recipe):
    raw = b'completion,solution\na,4\nb\n"c"d,4\n\xff,4\n\n"e\ne",4\n"f,4\n'
    (tmp_path / "a.csv").write_bytes(raw)
    score_table([tmp_path / "a.csv"], recipe, tmp_path / "out")
    assert scored(tmp_path / "out")["completion"].to_pylist() == ["a", "e\ne"]
    assert [(bad["line"], bad["reason"]) for bad in rejected(tmp_path / "out")] == [
        (3, "the row has 1 cells, the header has 2"),
        (4, "not CSV: ',' expected after '\"'"),
        (5, "not UTF-8"),
        (9, "not CSV: unexpected end of data"),
    ]


def test_csv_with_a_line_without_end(tmp_path, recipe, monkeypatch):
    monkeypatch.setattr(plaudit.tables.readers, "MAX_LINE_BYTES", 1 << 20)
    (tmp_path / "a.csv").write_bytes(
        b"completion,solution\na,4\n" + b"b" * (2 << 20) + b",4\nc,4\n"
    )
    score_table([tmp_path / "a.csv"], recipe, tmp_path / "out")
    (bad,) = rejected(tmp_path / "out")
    assert (bad["line"], bad["reason"]) == (3, "the line is longer than 1 MiB")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"engine": "dask"}, "there is no engine 'dask': choose local or ray"),
        ({"workers": 0}, "workers must be 1 or more, got 0"),
        ({"limit": -1}, "limit must be 1 or more, got -1"),
        ({"workers": float("nan")}, "workers must be a whole number, got nan"),
        ({"workers": "2"}, "workers must be a whole number, got '2'"),
        ({"limit": 1.5}, r"limit must be a whole number, got 1\.5"),
    ],
)
def test_settings_that_make_no_sense(tmp_path, recipe, settings, said):
    with pytest.raises(InputError, match=said):
        score_table([jsonl(tmp_path / "a.jsonl", [GOOD])], recipe, tmp_path / "out", **settings)
