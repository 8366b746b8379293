"""Tables in the shapes of well-known datasets, through every command, without naming a column."""

import contextlib
import io
import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import plaudit
from plaudit.cli import main
from plaudit.inputs.columns import GOLD, first_of
from plaudit.recipes import load
from plaudit.recipes.row_score import free_names, read_names
from plaudit.reports import write_report
from plaudit.runs import open_recorded
from plaudit.tables import open_scored, score_table

ROWS = 12
LETTERS = "ABCD"
COLOURS = ["red", "green", "blue", "black"]


def _messages(text):
    return [{"role": "user", "content": text}]


def _gsm8k(n):
    worked = f"Add them: <<{n}+{n}={2 * n}>>{2 * n}.\n#### {2 * n}"
    return {"question": f"What is {n} + {n}?", "answer": worked}, rf"It is \boxed{{{2 * n}}}."


def _math(n):
    half = rf"\frac{{{n}}}{{2}}"
    solution = rf"Double both sides, so that $x = {half}$. The answer is $\boxed{{{half}}}$."
    row = {"problem": f"Solve 2x = {n}.", "level": "Level 1", "solution": solution, "answer": half}
    return row, rf"So $x = \boxed{{{n}/2}}$."


def _mmlu(n):
    row = {"question": f"Which colour has number {n}?", "choices": COLOURS, "answer": n % 4}
    return row, f"The answer is ({LETTERS[n % 4]})."


def _mmlu_letters(n):
    row, completion = _mmlu(n)
    return {**row, "answer": LETTERS[n % 4]}, completion


def _dapo(n):
    row = {"prompt": _messages(f"3 * {n}?"), "reward_model": {"ground_truth": str(3 * n)}}
    return row, f"Answer: {3 * n}"


def _verl(n):
    row, completion = _dapo(n)
    told = {"style": "rule", **row["reward_model"]}
    about = {"data_source": "math_dapo", "ability": "math", "extra_info": {"index": n}}
    return {**about, **row, "reward_model": told}, completion


# The shape of a row, the column of its completion, and the file that the table is in.
SHAPES = {
    "gsm8k": (_gsm8k, "completion", "jsonl"),
    "math": (_math, "completion", "jsonl"),
    "mmlu": (_mmlu, "completion", "jsonl"),
    "mmlu with letters": (_mmlu_letters, "generated_text", "jsonl"),
    "dapo": (_dapo, "response", "jsonl"),
    "verl": (_verl, "response", "parquet"),
}


def rows_of_shape(shape):
    """Rows of which those with an odd number are right."""
    make, column, _ = SHAPES[shape]
    rows = []
    for n in range(1, ROWS + 1):
        row, right = make(n)
        rows.append({**row, column: right if n % 2 else "I do not know."})
    return rows


@pytest.fixture(params=SHAPES)
def shape(request):
    return request.param


@pytest.fixture
def table(shape, tmp_path):
    rows, form = rows_of_shape(shape), SHAPES[shape][2]
    file = tmp_path / f"table.{form}"
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), file)
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def run(*arguments):
    """What a command prints; it must succeed."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(list(map(str, arguments))) == 0
    return out.getvalue()


def test_score_and_report_take_it_as_it_is(shape, table, tmp_path):
    rows, scored = rows_of_shape(shape), tmp_path / "scored"
    told = run("score", table, "--recipe", "math", "--out", scored, "--quiet")
    assert told == ""
    found = pq.read_table(scored / "part-00000.parquet")
    assert found["total"].to_pylist() == [1.0, 0.0] * (ROWS // 2)
    for name in rows[0]:  # every column is there, under its own name
        assert found[name].to_pylist() == [row[name] for row in rows]
    assert len(set(found["group_id"].to_pylist())) == ROWS  # each prompt is a group
    page = run("report", scored)
    assert page.strip() == str(scored / "_report" / "index.html")
    assert plaudit.score(rows, "math")[0]["accuracy"] == 1.0


def test_check_finds_nothing_wrong_with_it(table):
    assert "no findings" in run("check", table, "--recipe", "math")


def test_audit_knows_what_a_right_answer_is(table):
    line = ("audit", table, "--recipe", "math", "--rows", "6", "--only", "missed,empty", "--quiet")
    told = run(*line)
    assert "a right answer gets 1" in told
    assert "skipped" not in told


def test_a_named_column_counts_more_than_its_synonyms():
    table = [{"completion": r"\boxed{2}", "solution": "1", "answer": "2", "ground_truth": "3"}]
    assert plaudit.score(table, "math")[0]["total"] == 0.0
    assert plaudit.score(table, "math", solution="answer")[0]["total"] == 1.0


@pytest.mark.parametrize(
    "column",
    "gold answer ref reference label target target_answer ground_truth reference_answer "
    "expected_answer correct_answer final_answer answers Ground-Truth".split(),
)
def test_golds_have_many_names(column):
    with pytest.warns(UserWarning, match=f"solution: column {column}"):
        (row,) = plaudit.score([{"completion": r"\boxed{2}", column: "2"}], "math")
    assert (row["accuracy"], row["extracted_answer"]) == (1.0, "2")


def test_of_several_synonyms_the_first_of_a_stated_order_is_read():
    names = ["label", "answer", "target", "gold", "Ground truth", "ref"]
    assert first_of(GOLD, names) == "Ground truth"
    assert first_of(GOLD, names[::-1]) == "Ground truth"
    assert first_of(GOLD, ["prompt", "level"]) is None


# --- columns that have the names of those that are added ------------------------------------------

ADDED = "row_id group_id accuracy total status explanation".split()
ADDED += ["other_values", "why", "extracted_answer"]


def crowded(n, **more):
    own = dict.fromkeys(ADDED, f"mine {n % 2}")
    return {**own, "question": f"{n}?", "answer": "4", "step": n, "tokens": 3, **more}


@pytest.fixture
def crowded_folder(tmp_path):
    def made(name, right):
        rows = [
            crowded(n, completion=rf"\boxed{{{4 if n < right else 5}}}", seconds=0.0)
            for n in range(8)
        ]
        file = tmp_path / f"{name}.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        told = io.StringIO()
        score_table(file, "math", tmp_path / name, progress=told)
        assert "keeps its own accuracy, row_id, group_id, total, status, explanation;" in (
            told.getvalue()
        )
        return tmp_path / name

    return made


def test_a_column_keeps_its_name_whatever_it_is_called(crowded_folder):
    table = pq.read_table(crowded_folder("a", right=2) / "part-00000.parquet")
    assert [table[name].to_pylist()[1] for name in ADDED] == ["mine 1"] * len(ADDED)
    assert table["plaudit_total"].to_pylist() == [1.0] * 2 + [0.0] * 6
    assert table["plaudit_row_id"].to_pylist() == list(range(8))
    assert "plaudit_other_values" in table.column_names
    assert "plaudit_why" not in table.column_names  # a folder has no such column


def test_readers_of_a_scored_folder_tell_them_apart(crowded_folder, tmp_path):
    folders = crowded_folder("a", right=2), crowded_folder("b", right=3)
    (batch,) = [one for _, one in open_scored(folders[0]).batches(["total", "total (input)"])]
    assert batch.to_pylist()[0] == {"total": 1.0, "total (input)": "mine 0"}
    told = run("diff", *folders)
    assert "8 rows in both: 1 with other values, 0 with another status alone" in told
    write_report(*folders, out=tmp_path / "both")
    page = write_report(folders[0], by=["status", "accuracy"]).read_text()
    assert "status (input)" in page
    assert re.search(r"mine 0.*mine 1", page, re.DOTALL)
    watched = open_recorded(folders[0])
    watched.refresh()
    assert not watched.unreadable
    assert [step.values["total"].total for step in watched.steps[:1]] == [1.0]
    assert watched.step_rows(7)[0]["total"] == 0.0


def test_a_table_in_memory_keeps_its_columns_too():
    with pytest.warns(UserWarning, match="own accuracy, total, status, extracted_answer, why;"):
        (row,) = plaudit.score([crowded(0, completion=r"\boxed{4}")], "math", solution="answer")
    assert [row[name] for name in ADDED] == ["mine 0"] * len(ADDED)
    assert (row["plaudit_total"], row["plaudit_extracted_answer"]) == (1.0, "4")
    arrow = plaudit.score(pa.table({"completion": [""], "status": [1], "gold": ["4"]}), "math")
    assert arrow["plaudit_status"].to_pylist() == ["no_answer"]


def test_a_new_name_is_free_among_the_added_columns_too():
    assert free_names(["plaudit_total", "total"], ["total"]) == {"total": "plaudit_plaudit_total"}
    names = ["total", "plaudit_total", "plaudit_plaudit_total"]
    read = read_names(names, {"total": "plaudit_plaudit_total"})
    assert read == {
        "total (input)": "total",
        "plaudit_total": "plaudit_total",
        "total": "plaudit_plaudit_total",
    }


# --- which column, said by the user ---------------------------------------------------------------


def test_a_loaded_recipe_reads_other_columns():
    recipe = load("math", columns={"solution": "answer"})
    assert recipe([r"\boxed{4}"], answer=["4"])[0].total == 1.0
    assert recipe.reward_funcs()[0](completions=[r"\boxed{4}"], answer=["4"]) == [1.0]
    with pytest.raises(ValueError, match='no reward takes "soluton"; did you mean "solution"'):
        load("math", columns={"soluton": "answer"})
