"""Two scored runs, side by side."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plaudit.cli import main
from plaudit.recipes import load
from plaudit.reports.diff import compare, compare_recipes
from plaudit.tables.output import AT_ONCE

EXPLANATION = pa.list_(
    pa.struct(
        [
            ("component", pa.string()),
            ("value", pa.float64()),
            ("status", pa.string()),
            ("decided_by", pa.string()),
            ("answer", pa.string()),
            ("gold", pa.string()),
            ("why", pa.string()),
        ]
    )
)


def row(row_id, status="scored", total="sum", **values):
    """A row of a scored table; the total is the sum of the components unless it is said."""
    known = [value for value in values.values() if value is not None]
    explanation = [
        {"component": name, "value": value, "status": status, "why": f"{name} is {value}."}
        for name, value in values.items()
    ]
    return {
        "completion": "…",
        "row_id": row_id,
        "group_id": "g",
        **values,
        "total": (sum(known) if known else None) if total == "sum" else total,
        "status": status,
        "explanation": explanation,
    }


def write_run(folder, rows, components=("accuracy", "form"), parts=2, inputs=("in.jsonl",)):
    """A folder as `plaudit score` writes it."""
    folder.mkdir()
    schema = pa.schema(
        [
            ("completion", pa.string()),
            ("row_id", pa.int64()),
            ("group_id", pa.string()),
            *((name, pa.float64()) for name in components),
            ("total", pa.float64()),
            ("status", pa.string()),
            ("explanation", EXPLANATION),
        ]
    )
    size = -(-len(rows) // parts) or 1
    for part in range(parts):
        table = pa.Table.from_pylist(rows[part * size : (part + 1) * size], schema)
        pq.write_table(table, folder / f"part-{part:05}.parquet")
    about = {"recipe": "", "components": list(components), "inputs": list(inputs)}
    (folder / "_run.json").write_text(json.dumps(about))
    return folder


@pytest.fixture
def two(tmp_path):
    """Two runs of which rows 1, 2 and 4 are not the same, and 3 and 6 are in one alone."""
    before = [
        row(0, accuracy=1.0, form=1.0),
        row(1, accuracy=0.0, form=1.0),
        row(2, accuracy=1.0, form=0.0),
        row(3, accuracy=1.0, form=1.0),
        row(4, accuracy=None, form=None, status="bad_gold"),
    ]
    after = [
        row(0, accuracy=1.0, form=1.0),
        row(1, accuracy=0.25, form=1.0),
        row(2, accuracy=0.0, form=0.0, status="timeout"),
        row(4, accuracy=0.0, form=0.0),
        row(6, accuracy=1.0, form=1.0),
    ]
    return write_run(tmp_path / "a", before), write_run(tmp_path / "b", after, parts=3)


def test_which_rows_changed_and_by_how_much(two):
    difference = compare(*two)
    assert (difference.rows, difference.changed) == (4, 3)
    assert (difference.only_a, difference.only_b) == ((1, (3,)), (1, (6,)))
    assert [change.row_id for change in difference.changes] == [2, 1, 4]
    assert [change.delta for change in difference.changes] == [-1.0, 0.25, None]
    assert difference.statuses == {("scored", "timeout"): 1, ("bad_gold", "scored"): 1}
    assert not difference.is_empty


def test_the_summary_has_means_over_the_rows_that_both_have(two):
    total, accuracy, form = compare(*two).measures
    assert (total.name, total.before, total.after) == ("total", 4 / 3, 3.25 / 4)
    assert (total.up, total.down, total.skipped, total.changed) == (1, 1, 1, 3)
    assert (accuracy.before, accuracy.after) == (2 / 3, 1.25 / 4)
    assert (form.up, form.down, form.skipped) == (0, 0, 1)


def test_a_change_has_both_sentences(two):
    change = compare(*two).changes[0]
    assert change.components() == ["accuracy"]
    assert change.before.why["accuracy"] == "accuracy is 1.0."
    assert change.after.why["accuracy"] == "accuracy is 0.0."


def test_another_status_alone_is_no_other_value(tmp_path):
    rows = [row(number, accuracy=0.0, form=1.0) for number in range(3)]
    other = [
        row(0, accuracy=0.0, form=1.0, status="timeout"),
        rows[1],
        row(2, accuracy=1.0, form=1.0),
    ]
    runs = write_run(tmp_path / "a", rows), write_run(tmp_path / "b", other)
    difference = compare(*runs)
    assert (difference.changed, difference.status_only) == (1, 1)
    told = difference.as_text()
    assert "3 rows in both: 1 with other values, 1 with another status alone; 0 only" in told
    assert not compare(runs[0], write_run(tmp_path / "c", [other[0], *rows[1:]])).is_empty


def test_the_same_run_twice_is_no_difference(two):
    difference = compare(two[0], two[0])
    assert (difference.rows, difference.changed, difference.changes) == (5, 0, ())
    assert difference.is_empty


def test_only_the_largest_changes_are_kept(two):
    assert [change.row_id for change in compare(*two, limit=2).changes] == [2, 1]
    none = compare(*two, limit=0)
    assert (none.changed, none.changes, none.only_a) == (3, (), (1, ()))
    with pytest.raises(ValueError, match="limit must be 0 or more, got -1"):
        compare(*two, limit=-1)


def test_every_change_is_written_as_a_line_of_json(two, tmp_path):
    out = tmp_path / "changes.jsonl"
    compare(*two, limit=1, out=out)
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    by_row = {line["row_id"]: line for line in lines}
    assert sorted(by_row) == [1, 2, 3, 4, 6]
    assert by_row[3] == {"row_id": 3, "only_in": "a"}
    assert by_row[2]["after"]["status"] == "timeout"
    assert by_row[1]["before"]["why"]["accuracy"] == "accuracy is 0.0."


def test_changes_of_the_same_size_are_in_the_order_of_their_rows(tmp_path):
    many = range(50)
    a = write_run(tmp_path / "a", [row(i, accuracy=0.0, form=0.0) for i in many])
    b = write_run(tmp_path / "b", [row(i, accuracy=1.0, form=0.0) for i in many])
    assert [change.row_id for change in compare(a, b, limit=3).changes] == [0, 1, 2]


def test_components_that_only_one_run_has(tmp_path):
    a = write_run(tmp_path / "a", [row(0, old=1.0, form=1.0)], ("old", "form"))
    b = write_run(tmp_path / "b", [row(0, new=0.5, form=1.0)], ("form", "new"))
    difference = compare(a, b)
    assert (difference.components_a, difference.components_b) == (("old",), ("new",))
    assert [measure.name for measure in difference.measures] == ["total", "form"]
    text = difference.as_text()
    assert "  old 1 -> absent\n    A: old is 1.0." in text
    assert "  new absent -> 0.5\n    B: new is 0.5." in text


def test_runs_longer_than_a_batch_and_with_gaps(tmp_path):
    before = [row(i, accuracy=float(i % 2), form=0.0) for i in range(0, 3 * AT_ONCE, 2)]
    after = [row(i, accuracy=0.5, form=0.0) for i in range(0, 4 * AT_ONCE, 3)]
    a = write_run(tmp_path / "a", before, parts=5)
    b = write_run(tmp_path / "b", after, parts=1)
    difference = compare(a, b, limit=4)
    both = set(range(0, 3 * AT_ONCE, 6))
    assert difference.rows == difference.changed == len(both)
    assert difference.only_a[0] == len(before) - len(both)
    assert difference.only_b == (len(after) - len(both), (3, 9, 15, 21))
    mirrored = compare(b, a)
    assert (mirrored.only_a[0], mirrored.only_b[0]) == (difference.only_b[0], difference.only_a[0])


def test_empty_runs(tmp_path, two):
    empty = write_run(tmp_path / "empty", [])
    assert compare(empty, empty).is_empty
    assert compare(empty, empty).measures[0].before is None
    assert compare(empty, two[0]).only_b[0] == 5
    assert compare(two[0], empty).only_a[0] == 5


def test_runs_of_different_inputs_are_noted(two, tmp_path):
    other = write_run(tmp_path / "c", [row(0, accuracy=1.0, form=1.0)], inputs=["other.jsonl"])
    assert "different inputs" in compare(two[0], other).notes[0]
    assert "Note: the runs have different inputs" in compare(two[0], other).as_text()


def test_values_that_differ_by_rounding_are_the_same(tmp_path):
    a = write_run(tmp_path / "a", [row(0, accuracy=0.3, form=0.0)])
    b = write_run(tmp_path / "b", [row(0, accuracy=0.1 + 0.2, form=0.0)])
    assert compare(a, b).is_empty


# --- what it refuses ------------------------------------------------------------------------------


def test_what_is_no_run(two, tmp_path):
    a, _ = two
    with pytest.raises(ValueError, match=r"there is no folder .*none"):
        compare(a, tmp_path / "none")
    (tmp_path / "bare").mkdir()
    with pytest.raises(ValueError, match=r"bare has no _run.json"):
        compare(a, tmp_path / "bare")
    (tmp_path / "bare" / "_run.json").write_text("{}")
    with pytest.raises(ValueError, match=r"_run.json has no list of components"):
        compare(a, tmp_path / "bare")


def test_a_part_that_is_broken_or_of_another_run(two):
    a, b = two
    (a / "part-00001.parquet").write_bytes(b"PAR1 cut")
    with pytest.raises(ValueError, match=r"cannot read .*part-00001.parquet"):
        compare(a, b)
    pq.write_table(pa.table({"row_id": [9]}), a / "part-00001.parquet")
    with pytest.raises(ValueError, match=r"part-00001.parquet has no column total"):
        compare(a, b)


@pytest.mark.parametrize("ids", [[1, 0], [0, 0], [0, 2, 1]])
def test_rows_out_of_order(ids, tmp_path, two):
    rows = [row(i, accuracy=0.0, form=0.0) for i in ids]
    mixed = write_run(tmp_path / "mixed", rows)
    with pytest.raises(ValueError, match="row_id must rise from row to row"):
        compare(two[0], mixed)


@pytest.mark.parametrize("ids", [[0, None], [0.5, 1.0]])
def test_row_ids_that_are_no_whole_numbers(ids, tmp_path, two):
    write_run(tmp_path / "odd", [row(0), row(1)], parts=1)
    [part] = (tmp_path / "odd").glob("part-*.parquet")
    table = pq.read_table(part)
    place = table.column_names.index("row_id")
    pq.write_table(table.set_column(place, "row_id", pa.array(ids)), part)
    with pytest.raises(ValueError, match="row_id must be a whole number in every row"):
        compare(tmp_path / "odd", two[1])


def test_without_pyarrow_it_says_what_to_install():
    code = "import sys; sys.modules['pyarrow'] = None; import plaudit.reports.diff"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'plaudit[score]'" in ran.stderr


# --- the command ----------------------------------------------------------------------------------


def command(*arguments):
    return main(["diff", *map(str, arguments)])


def test_what_a_person_reads(two, capsys):
    assert command(*two) == 0
    a, b = two
    assert (
        capsys.readouterr().out
        == f"""\
A: {a}
B: {b}
4 rows in both: 3 with other values, 0 with another status alone; 1 only in A, 1 only in B
rows only in A: 3
rows only in B: 6

           mean A   mean B   change       up     down  skipped
total      1.3333   0.8125  -0.5208        1        1        1
accuracy   0.6667   0.3125  -0.3542        1        1        1
form       0.6667   0.5000  -0.1667        0        0        1

status scored -> timeout: 1 row
status bad_gold -> scored: 1 row

The largest changes of the total:

row 2  total 1 -> 0  (-1)
  status scored -> timeout
  accuracy 1 -> 0
    A: accuracy is 1.0.
    B: accuracy is 0.0.

row 1  total 1 -> 1.25  (+0.25)
  accuracy 0 -> 0.25
    A: accuracy is 0.0.
    B: accuracy is 0.25.

row 4  total None -> 0
  status bad_gold -> scored
  accuracy None -> 0
    A: accuracy is None.
    B: accuracy is 0.0.
  form None -> 0
    A: form is None.
    B: form is 0.0.
"""
    )


def test_what_is_left_out_is_said(tmp_path, capsys):
    a = write_run(tmp_path / "a", [row(i, accuracy=0.0, form=0.0) for i in range(9)])
    b = write_run(tmp_path / "b", [row(i, accuracy=1.0, form=0.0) for i in range(4)])
    command(a, b, "--limit", 2)
    out = capsys.readouterr().out
    assert "rows only in A: 4, 5, …" in out
    assert "The largest changes of the total (2 of 4):" in out


def test_a_sentence_cannot_move_the_cursor_nor_fill_the_screen(tmp_path, capsys):
    odd = row(0, accuracy=1.0, form=0.0)
    odd["explanation"][0]["why"] = "\x1b[2J" + "x" * 300
    odd["explanation"][1]["why"] = None
    a = write_run(tmp_path / "a", [row(0, accuracy=0.0, form=1.0)])
    command(a, write_run(tmp_path / "b", [odd]))
    out = capsys.readouterr().out
    assert "\\x1b[2Jxxx" in out
    assert "\x1b" not in out
    assert max(map(len, out.splitlines())) < 250


def test_as_json(two, capsys):
    assert command(*two, "--json", "--exit-code") == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["rows"], said["changed"]) == (4, 3)
    assert said["only_b"] == {"count": 1, "first": [6]}
    assert said["statuses"][0] == {"before": "scored", "after": "timeout", "rows": 1}
    assert said["changes"][0]["after"]["values"] == {"accuracy": 0.0, "form": 0.0}


def test_exit_codes(two, tmp_path, capsys):
    a, b = two
    assert command(a, a, "--exit-code") == 0
    assert command(a, b, "--exit-code") == 1
    assert command(a, tmp_path / "none") == 2
    assert command(a, b, "--out", tmp_path / "none" / "x.jsonl") == 2
    complaints = capsys.readouterr().err.splitlines()
    assert complaints[0].startswith("plaudit: there is no folder")
    assert "No such file" in complaints[1]


@pytest.fixture
def rollouts(tmp_path):
    file = tmp_path / "rollouts.jsonl"
    completions = [r"<think>2 + 2</think> \boxed{4}", r"\boxed{4}", "4"]
    rows = [{"completion": completion, "answer": "4"} for completion in completions]
    file.write_text("".join(json.dumps(line) + "\n" for line in rows))
    return file


@pytest.fixture
def recipes(tmp_path):
    """Two files of recipes; the second wants the reasoning to end, too."""
    paths = []
    for name, reward in (("a", "accuracy_reward"), ("b", "reasoning_accuracy_reward")):
        path = tmp_path / f"{name}.toml"
        path.write_text(
            f'columns = {{ solution = "answer" }}\n[[rewards]]\n'
            f'name = "right"\nreward = "trl.{reward}"\n'
        )
        paths.append(path)
    return paths


def test_two_recipes_on_one_input(rollouts, recipes):
    difference = compare_recipes([rollouts], *map(load, recipes))
    assert (difference.a, difference.b) == ("a", "b")
    assert (difference.rows, difference.changed, difference.notes) == (3, 1, ())
    change = difference.changes[0]
    assert (change.row_id, change.delta) == (1, -1.0)
    assert change.after.why == {"right": "The reasoning never ends."}


@pytest.mark.long
def test_two_recipes_from_the_command_line(rollouts, recipes, capsys):
    a, b = recipes
    assert command("--input", rollouts, a, b, "--exit-code") == 1
    assert capsys.readouterr().out.startswith(
        f"A: {a}\nB: {b}\n3 rows in both: 1 with other values"
    )
    assert command("--input", rollouts, a, a, "--exit-code") == 0


def test_columns_of_other_names_are_named(tmp_path, capsys):
    file = tmp_path / "rollouts.jsonl"
    file.write_text(json.dumps({"said": r"\boxed{4}", "meant": "4", "gold": "5"}) + "\n")
    columns = ("--completions", "said", "--column", "solution=meant")
    asked = ("--input", file, "trl-math", "trl-reasoning", *columns, "--json")
    assert command(*asked) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["changes"][0]["before"]["total"] == 1.0
    assert "solution: column" not in printed.err


def test_recipes_and_inputs_that_are_not_there(rollouts, recipes, tmp_path, capsys):
    def complaint():
        return capsys.readouterr().err.splitlines()[-1]

    assert command("trl-math", recipes[0]) == 2
    assert "trl-math is a recipe: name the file to score with --input FILE" in complaint()
    assert command("--input", rollouts, "trl-maths", "trl-math") == 2
    assert 'did you mean "trl-math"' in complaint()
    assert command("--input", rollouts, "trl-math", "trl-math", "--column", "solution=golds") == 2
    assert 'no column "golds", which "accuracy_reward" needs as solution' in complaint()
    assert command("--input", rollouts, "trl-math", "trl-math", "--column", "answer=solution") == 2
    assert "no reward of trl-math nor trl-math takes answer" in complaint()
    assert command(tmp_path, tmp_path, "--completions", "text") == 2
    assert "name it with --input FILE" in complaint()
    assert command("--input", tmp_path / "none.jsonl", *recipes) == 2
    assert "none.jsonl" in complaint()
