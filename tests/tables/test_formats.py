"""The same rows in every format that can be read give the same scored table."""

import csv
import gzip
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plaudit.tables import InputError, StoppedError, score_table
from tables import content, jsonl, rejected, scored

pytestmark = pytest.mark.usefixtures("in_process")


def as_jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_csv(rows, delimiter=","):
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def as_zst(raw):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(raw)
    return sink.getvalue().to_pybytes()


def as_parquet(rows):
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows), sink, row_group_size=5)
    return sink.getvalue().to_pybytes()


def as_arrow(rows, new=pa.ipc.new_stream):
    table = pa.Table.from_pylist(rows)
    sink = pa.BufferOutputStream()
    with new(sink, table.schema) as stream:
        stream.write_table(table, 5)
    return sink.getvalue().to_pybytes()


FILES = {
    "a.jsonl": as_jsonl,
    "a.ndjson": lambda rows: b"\xef\xbb\xbf" + as_jsonl(rows).replace(b"\n", b"\r\n\n"),
    "a.jsonl.gz": lambda rows: (
        gzip.compress(as_jsonl(rows[:5])) + gzip.compress(as_jsonl(rows[5:]))
    ),
    "a.jsonl.zst": lambda rows: as_zst(as_jsonl(rows)),
    "a.json": lambda rows: json.dumps(rows, indent=2).encode(),
    "b.json": as_jsonl,
    "a.json.gz": lambda rows: gzip.compress(b"\xef\xbb\xbf \n" + json.dumps(rows).encode()),
    "a.csv": as_csv,
    "a.csv.gz": lambda rows: gzip.compress(as_csv(rows)),
    "a.tsv": lambda rows: as_csv(rows, "\t"),
    "a.parquet": as_parquet,
    "a.arrow": as_arrow,
    "b.arrow": lambda rows: as_arrow(rows, pa.ipc.new_file),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_scores(tmp_path, rows, recipe, name):
    (tmp_path / name).write_bytes(FILES[name](rows))
    summary = score_table([tmp_path / name], recipe, tmp_path / "out")
    table = scored(tmp_path / "out")
    assert (summary.rows, summary.rejected) == (12, 0)
    assert table["row_id"].to_pylist() == list(range(12))
    assert table["accuracy"].to_pylist() == [float(n % 3 == n // 4 + 1) for n in range(12)]
    assert table["format"].to_pylist() == [1.0] * 12
    assert table["total"].to_pylist() == [value + 0.5 for value in table["accuracy"].to_pylist()]
    for column in ("prompt", "completion", "solution"):
        assert table[column].to_pylist() == [row[column] for row in rows]
    steps = table["step"].to_pylist()
    assert steps == [str(n) if "sv" in name else n for n in range(12)]


def test_the_columns_and_their_types(tmp_path, rows, recipe):
    score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
    names = "component value status decided_by answer gold why right ungated".split()
    names += ["partial_gold", "problem"]
    kinds = {"value": pa.float64(), "right": pa.bool_(), "ungated": pa.float64()}
    kinds["partial_gold"] = pa.bool_()
    reason = pa.struct([(name, kinds.get(name, pa.string())) for name in names])
    assert scored(tmp_path / "out").schema == pa.schema(
        [
            ("prompt", pa.string()),
            ("completion", pa.string()),
            ("solution", pa.string()),
            ("step", pa.int64()),
            ("other_values", pa.string()),
            ("row_id", pa.int64()),
            ("group_id", pa.string()),
            ("accuracy", pa.float64()),
            ("format", pa.float64()),
            ("total", pa.float64()),
            ("status", pa.string()),
            ("explanation", pa.list_(reason)),
        ]
    )


def test_the_explanation_says_what_each_component_gave(tmp_path, rows, recipe):
    score_table([jsonl(tmp_path / "a.jsonl", rows[:2])], recipe, tmp_path / "out")
    accuracy, form = scored(tmp_path / "out")["explanation"][1].as_py()
    assert accuracy["component"] == "accuracy"
    assert (accuracy["value"], accuracy["status"]) == (1.0, "equal")
    assert (accuracy["answer"], accuracy["gold"]) == ("1", "1")
    assert form["why"] == "The text starts with one <think>…</think>."


def test_a_folder_is_read_by_name_with_its_folders(tmp_path, rows, recipe):
    folder = tmp_path / "in"
    (folder / "b").mkdir(parents=True)
    jsonl(folder / "c.jsonl", rows[8:])
    (folder / "b" / "b.parquet").write_bytes(as_parquet(rows[4:8]))
    (folder / "a.csv").write_bytes(as_csv(rows[:4]).replace(b"step", b"moment"))
    (folder / ".hidden.jsonl").write_text("no")
    (folder / "README.md").write_text("no")
    summary = score_table([folder], recipe, folder / "out")
    table = scored(folder / "out")
    assert summary.rows == 12
    assert table["completion"].to_pylist() == [row["completion"] for row in rows]
    assert table["step"].to_pylist() == [None] * 4 + list(range(4, 12))
    assert table["moment"].to_pylist() == [str(n) for n in range(4)] + [None] * 8
    again = score_table([folder], recipe, folder / "out")
    assert again.rows == 12


def save_to_disk(folder, rows, shards=2):
    """What `datasets.Dataset.save_to_disk` writes."""
    folder.mkdir(parents=True)
    names = [f"data-{i:05}-of-{shards:05}.arrow" for i in range(shards)]
    size = -(-len(rows) // shards)
    for i, name in enumerate(names):
        (folder / name).write_bytes(as_arrow(rows[i * size : (i + 1) * size]))
    (folder / "state.json").write_text(
        json.dumps({"_data_files": [{"filename": name} for name in names], "_split": "train"})
    )
    (folder / "dataset_info.json").write_text("{}")


def test_a_dataset_saved_to_disk(tmp_path, rows, recipe):
    save_to_disk(tmp_path / "saved", rows)
    score_table([tmp_path / "saved"], recipe, tmp_path / "out")
    assert scored(tmp_path / "out")["step"].to_pylist() == list(range(12))


def test_a_dictionary_of_datasets_saved_to_disk(tmp_path, rows, recipe):
    save_to_disk(tmp_path / "saved" / "train", rows[:8])
    save_to_disk(tmp_path / "saved" / "a-test", rows[8:], shards=1)
    (tmp_path / "saved" / "dataset_dict.json").write_text('{"splits": ["train", "a-test"]}')
    score_table([tmp_path / "saved"], recipe, tmp_path / "out")
    assert scored(tmp_path / "out")["step"].to_pylist() == list(range(12))


def test_a_dataset_with_a_selection_of_rows_is_refused(tmp_path, rows, recipe):
    save_to_disk(tmp_path / "saved", rows)
    (tmp_path / "saved" / "state.json").write_text('{"_indices_data_files": [{"filename": "i"}]}')
    with pytest.raises(InputError, match=r"flatten_indices"):
        score_table([tmp_path / "saved"], recipe, tmp_path / "out")


def test_files_of_several_kinds_share_one_schema(tmp_path, rows, recipe):
    pq.write_table(
        pa.table({"completion": ["a"], "solution": ["1"], "step": pa.array([7], pa.int32())}),
        tmp_path / "a.parquet",
    )
    jsonl(tmp_path / "b.jsonl", [{"completion": "b", "solution": None, "step": 2**40}])
    score_table([tmp_path / "a.parquet", tmp_path / "b.jsonl"], recipe, tmp_path / "out")
    table = scored(tmp_path / "out")
    assert table["step"].to_pylist() == [7, 2**40]
    assert table["other_values"].to_pylist() == [None, None]


def test_types_that_do_not_go_together_are_an_error(tmp_path, recipe):
    row = {"completion": "a", "solution": "1"}
    (tmp_path / "a.parquet").write_bytes(as_parquet([{**row, "x": 1}]))
    (tmp_path / "b.parquet").write_bytes(as_parquet([{**row, "x": [1]}]))
    inputs = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    with pytest.raises(
        InputError, match=r"column x has a different type in each file: int64, list"
    ):
        score_table(inputs, recipe, tmp_path / "out")
    jsonl(tmp_path / "c.jsonl", [{**row, "x": 1}, {**row, "x": "y"}])
    with pytest.raises(InputError, match=r"int64, JSON of several types"):
        score_table([inputs[0], tmp_path / "c.jsonl"], recipe, tmp_path / "out")


def test_a_number_too_large_for_the_type_of_all_files_is_kept_beside_its_column(tmp_path, recipe):
    row = {"completion": "a", "solution": "1"}
    (tmp_path / "a.parquet").write_bytes(
        as_parquet([{**row, "x": x} for x in (1, 2**53 + 1, None)])
    )
    jsonl(tmp_path / "b.jsonl", [{**row, "x": 0.5}])
    score_table([tmp_path / "a.parquet", tmp_path / "b.jsonl"], recipe, tmp_path / "out")
    table = scored(tmp_path / "out")
    assert table["x"].to_pylist() == [1.0, None, None, 0.5]
    assert table["other_values"].to_pylist() == [None, f'{{"x": {2**53 + 1}}}', None, None]


def test_a_number_that_has_no_place_in_the_output_stops_the_run(tmp_path, recipe):
    row = {"completion": "a", "solution": "1"}
    (tmp_path / "a.parquet").write_bytes(as_parquet([{**row, "x": 0.5}]))
    (tmp_path / "b.parquet").write_bytes(as_parquet([{**row, "x": 2**53 + 1}]))
    with pytest.raises(StoppedError, match=r"the column x of .*b.parquet .* int64, .* as double"):
        score_table([tmp_path / "a.parquet", tmp_path / "b.parquet"], recipe, tmp_path / "out")


def test_a_list_view_is_a_list(tmp_path, recipe):
    said = pa.array([[r"\boxed{1}", r"\boxed{2}"], [r"\boxed{2}"]], pa.list_view(pa.string()))
    table = pa.table({"completions": said, "solution": ["1", "2"]})
    with pa.ipc.new_file(tmp_path / "a.arrow", table.schema) as file:
        file.write_table(table)
    score_table([tmp_path / "a.arrow"], recipe, tmp_path / "out")
    assert scored(tmp_path / "out")["total"].to_pylist() == [1.0, 0.0, 1.0]


def test_nested_messages_of_parquet_are_kept(tmp_path, recipe):
    said = [{"role": "assistant", "content": r"<think>…</think> \boxed{4}"}]
    prompt = [{"role": "user", "content": "2 + 2?"}]
    rows = [{"prompt": prompt, "completion": said, "solution": "4"}] * 3
    (tmp_path / "a.parquet").write_bytes(as_parquet(rows))
    summary = score_table([tmp_path / "a.parquet"], recipe, tmp_path / "out")
    table = scored(tmp_path / "out")
    assert summary.values["total"] == (3, 1.5)
    assert table["completion"].to_pylist() == [said] * 3
    assert len(set(table["group_id"].to_pylist())) == 1
    assert "other_values" not in table.column_names


def test_a_limit_counts_records_over_all_files(tmp_path, rows, recipe):
    inputs = [jsonl(tmp_path / "a.jsonl", rows[:5]), jsonl(tmp_path / "b.jsonl", rows[5:])]
    score_table(inputs, recipe, tmp_path / "out", limit=7)
    assert scored(tmp_path / "out")["step"].to_pylist() == list(range(7))


def test_a_scored_folder_can_be_scored_again(tmp_path, rows, recipe):
    score_table([jsonl(tmp_path / "a.jsonl", rows)], recipe, tmp_path / "out")
    first = scored(tmp_path / "out")
    for name in ("again", "once more"):
        score_table([tmp_path / "out"], recipe, tmp_path / name)
        score_table([tmp_path / name], recipe, tmp_path / "out", overwrite=True)
    last = scored(tmp_path / "out")
    assert last.select(first.column_names).equals(first)
    assert last["plaudit_plaudit_plaudit_plaudit_total"].equals(first["total"])


@pytest.mark.usefixtures("many_parts")
def test_the_parts_are_the_same_whatever_the_number_of_workers(tmp_path, rows, recipe):
    many = [dict(row, step=n) for n, row in enumerate(rows * 70)]
    file = jsonl(tmp_path / "a.jsonl", many)
    for workers in (1, 3):
        score_table([file], recipe, tmp_path / str(workers), workers=workers)
    assert len(list((tmp_path / "1").glob("part-*"))) > 4
    assert content(tmp_path / "1") == content(tmp_path / "3")
    assert rejected(tmp_path / "1") == []
