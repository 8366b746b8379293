"""The table without the rows that have findings: each format, as it was."""

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from inline_work import check_here

from plaudit.recipes import load
from plaudit.reports.check import check_table
from plaudit.tables import InputError

ROWS = [
    {"question": 'What is "half" of 1,\nplease?', "solution": "1/2"},
    {"question": "And of 2?", "solution": ""},
    {"question": "And of 4 €?", "solution": "2"},
]
GOOD = [ROWS[0], ROWS[2]]


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    check_here(monkeypatch)


def json_lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def csv_text(rows, mark=","):
    lines = [mark.join(["question", "solution"])]
    lines += [mark.join(_cell(value, mark) for value in row.values()) for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value, mark):
    quote = any(character in value for character in ('"', "\n", mark))
    return '"' + value.replace('"', '""') + '"' if quote else value


def array(rows):
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n"


TEXTS = {
    "a.jsonl": json_lines,
    "b.json": array,
    "c.json": json_lines,
    "d.csv": csv_text,
    "e.tsv": lambda rows: csv_text(rows, "\t"),
}


def dropped(table, out):
    summary = check_table(table, load("math"), drop=out)
    assert summary.left == 2
    return out


@pytest.mark.parametrize("name", list(TEXTS))
def test_texts(tmp_path, name):
    table = tmp_path / name
    table.write_text(TEXTS[name](ROWS))
    out = tmp_path / "out" / name
    assert dropped(table, out).read_text() == TEXTS[name](GOOD)
    assert [file.name for file in out.parent.iterdir()] == [name]


def test_compressed_text(tmp_path):
    table, out = tmp_path / "a.jsonl.gz", tmp_path / "clean.jsonl.gz"
    table.write_bytes(gzip.compress(json_lines(ROWS).encode()))
    assert gzip.decompress(dropped(table, out).read_bytes()).decode() == json_lines(GOOD)


def test_lines_are_written_byte_for_byte(tmp_path):
    table, out = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    table.write_bytes(b'{"solution":1.0 , "question":"\\u20ac"}\r\n\n{"solution": null}\n')
    check_table(table, load("math"), drop=out)
    assert out.read_bytes() == b'{"solution":1.0 , "question":"\\u20ac"}\r\n'


def test_parquet_keeps_its_schema(tmp_path):
    schema = pa.schema([("question", pa.large_string()), ("solution", pa.string())], {"by": "us"})
    pq.write_table(pa.Table.from_pylist(ROWS, schema), tmp_path / "a.parquet")
    table = pq.read_table(dropped(tmp_path / "a.parquet", tmp_path / "b.parquet"))
    assert table.to_pylist() == GOOD
    assert table.schema.equals(schema, check_metadata=True)


def saved_dataset(folder):
    """What `datasets.Dataset.save_to_disk` writes."""
    folder.mkdir()
    table = pa.Table.from_pylist(ROWS)
    with pa.ipc.new_stream(folder / "data-00000-of-00001.arrow", table.schema) as stream:
        stream.write_table(table)
    files = [{"filename": "data-00000-of-00001.arrow"}]
    (folder / "state.json").write_text(json.dumps({"_data_files": files, "_fingerprint": "ab12"}))
    (folder / "dataset_info.json").write_text("{}")
    return folder


def test_a_saved_dataset_can_be_loaded_again(tmp_path):
    out = dropped(saved_dataset(tmp_path / "saved"), tmp_path / "clean")
    assert check_table(out, load("math")).rows == 2
    assert json.loads((out / "state.json").read_text())["_fingerprint"] != "ab12"


def test_a_folder(tmp_path):
    folder = tmp_path / "rows"
    (folder / "more").mkdir(parents=True)
    (folder / "a.jsonl").write_text(json_lines(ROWS[:2]))
    (folder / "more" / "b.csv").write_text(csv_text(ROWS[2:]))
    out = dropped(folder, tmp_path / "clean")
    assert (out / "a.jsonl").read_text() == json_lines(ROWS[:1])
    assert (out / "more" / "b.csv").read_text() == csv_text(ROWS[2:])


@pytest.mark.parametrize(
    ("drop", "said"),
    [
        ("a.jsonl", "would overwrite the input"),
        ("clean.csv", r"name a file that ends in \.jsonl, got"),
        ("there.jsonl", "is there already: remove it"),
    ],
    ids=["itself", "format", "there"],
)
def test_what_cannot_be_written_is_said_before_anything_is_checked(tmp_path, drop, said):
    (tmp_path / "a.jsonl").write_text(json_lines(ROWS))
    (tmp_path / "there.jsonl").touch()
    with pytest.raises(InputError, match=said):
        check_table(tmp_path / "a.jsonl", load("math"), drop=tmp_path / drop)


def test_not_with_a_limit(tmp_path):
    (tmp_path / "a.jsonl").write_text(json_lines(ROWS))
    with pytest.raises(InputError, match="leave --limit out"):
        check_table(tmp_path / "a.jsonl", load("math"), drop=tmp_path / "b.jsonl", limit=1)


def test_a_row_that_cannot_be_read_is_not_counted_as_left(tmp_path):
    table = tmp_path / "a.csv"
    table.write_text("question,solution\n2 + 2?,4\n2 + 3?,5,6\n2 + 4?,6\n")
    summary = check_table(
        table, load("math"), drop=tmp_path / "clean.csv", skip=["unreadable_row"], workers=1
    )
    assert (tmp_path / "clean.csv").read_text() == "question,solution\n2 + 2?,4\n2 + 4?,6\n"
    assert summary.left == 2
