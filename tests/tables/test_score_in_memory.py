"""`plaudit.score`: any table in, the same kind of table with its scores out."""

import io
import json
import subprocess
import sys
import warnings

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import own_rewards
import plaudit
from plaudit.recipes import Component, Recipe
from plaudit.tables import InputError, RejectedRowError, StoppedError, score_table
from tables import jsonl

ADDED = ["accuracy", "format", "total", "status", "extracted_answer", "why"]
KINDS = {
    "pandas": (pd.DataFrame, lambda table: table.to_dict("records")),
    "polars": (pl.DataFrame, lambda table: table.to_dicts()),
    "arrow": (pa.Table.from_pylist, lambda table: table.to_pylist()),
    "datasets": (datasets.Dataset.from_list, lambda table: table.to_list()),
    "dicts": (list, list),
    "lists": (
        lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
        lambda table: [
            dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)
        ],
    ),
}


@pytest.fixture(params=KINDS, ids=list(KINDS))
def kind(request):
    return KINDS[request.param]


def brief(completions, **kwargs):
    return [float(len(text) < 60) for text in completions]


def test_the_same_kind_comes_out_with_the_scores_of_the_folder(kind, rows, recipe, tmp_path):
    make, as_rows = kind
    table = make(rows)
    scored = plaudit.score(table, recipe)
    assert type(scored) is type(table)
    found = as_rows(scored)
    assert [list(row) for row in found] == [[*rows[0], *ADDED]] * len(rows)
    assert [{name: row[name] for name in rows[0]} for row in found] == rows
    direct = recipe([row["completion"] for row in rows], solution=[row["solution"] for row in rows])
    assert [row["total"] for row in found] == [row.total for row in direct]
    assert [row["why"] for row in found] == [row.why for row in direct]
    assert {row["status"] for row in found} == {"scored"}
    answers = [row.components["accuracy"].answer for row in direct]
    assert [row["extracted_answer"] for row in found] == answers
    assert all(answers)
    assert as_rows(table) == rows  # what was passed in is as it was


def test_lists_of_completions_get_a_row_each(kind):
    make, as_rows = kind
    rows = [
        {"completions": [r"\boxed{1}", r"\boxed{2}"], "completion_ids": [[1], [2, 3]], "gold": 2},
        {"completions": [r"\boxed{3}"], "completion_ids": [[7]], "gold": 3},
    ]
    found = as_rows(plaudit.score(make(rows), "trl-math", solution="gold"))
    assert [row["completion"] for row in found] == [r"\boxed{1}", r"\boxed{2}", r"\boxed{3}"]
    assert [list(row["completion_ids"]) for row in found] == [[1], [2, 3], [7]]
    assert [row["gold"] for row in found] == [2, 2, 3]
    assert [row["total"] for row in found] == [0.0, 1.0, 1.0]
    assert "completions" not in found[0]


def test_a_row_that_cannot_be_scored_says_why_and_the_others_are_scored(kind, rows, recipe):
    make, as_rows = kind
    rows[7]["completion"] = None
    with pytest.warns(UserWarning, match=r"1 of 12 rows .*'rejected'.*row 7: completion is null"):
        found = as_rows(plaudit.score(make(rows), recipe))
    assert (found[7]["status"], found[7]["why"]) == ("rejected", "completion is null")
    assert found[7]["total"] is None or np.isnan(found[7]["total"])
    assert [row["status"] for row in found].count("scored") == 11
    with pytest.raises(RejectedRowError, match="the table, row 7: completion is null"):
        plaudit.score(make(rows), recipe, strict=True)


def test_a_data_frame_keeps_its_index_and_its_types(rows, recipe):
    table = pd.DataFrame(rows, index=[f"row {number}" for number in range(12)])
    scored = plaudit.score(table[::2], recipe)
    assert list(scored.index) == list(table.index[::2])
    assert scored["step"].dtype == table["step"].dtype
    assert (scored["total"].dtype, scored["accuracy"].dtype) == (float, float)


def test_a_dataset_keeps_its_format_and_its_selection(rows, recipe):
    table = datasets.Dataset.from_list(rows).select([3, 1]).with_format("numpy")
    scored = plaudit.score(table, recipe)
    assert scored.format["type"] == "numpy"
    assert list(scored["step"]) == [3, 1]
    assert isinstance(scored[0]["total"], np.float64)


def test_what_parquet_makes_of_lists_and_messages_is_read(tmp_path):
    rows = [{"completion": [{"role": "assistant", "content": r"\boxed{4}"}], "solution": ["4"]}]
    pd.DataFrame(rows).to_parquet(tmp_path / "a.parquet")
    assert plaudit.score(pd.read_parquet(tmp_path / "a.parquet"), "trl-math")["total"][0] == 1.0


def test_workers_give_what_this_process_gives(rows, recipe):
    table = pd.DataFrame(rows * 100)
    out = io.StringIO()
    scored = plaudit.score(table, recipe, workers=2, progress=out)
    pd.testing.assert_frame_equal(scored[:1000], plaudit.score(table[:1000], recipe))
    assert scored["total"].tolist() == scored["total"][:12].tolist() * 100


def test_a_function_of_this_process_is_a_reward(rows):
    seen = []

    def noted(completions, solution, **kwargs):
        seen.append(type(solution))
        return np.array([0.25 for _ in completions])

    scored = plaudit.score(pd.DataFrame(rows * 100), [noted, brief, "trl.think_format_reward"])
    assert list(scored.columns[-7:]) == [*("noted", "brief", "think_format_reward"), *ADDED[2:]]
    assert set(scored["noted"]) == {0.25}
    assert set(seen) == {list}  # a Series would not begin at [0]


def test_a_function_that_another_process_cannot_import_needs_this_one(rows, tmp_path):
    local = Recipe(
        "mine", (Component("short", lambda completions, **kwargs: [1.0] * len(completions)),)
    )
    with pytest.raises(InputError, match=r"workers=2 has no effect: short .*put it into a module"):
        plaudit.score(rows, local, workers=2)
    with pytest.raises(InputError, match=r"short is a function that no other process can import"):
        score_table(jsonl(tmp_path / "a.jsonl", rows), local, tmp_path / "out")


def test_functions_of_modules_go_by_their_names():
    assert Component("", own_rewards.brief).reward == "own_rewards:brief"
    assert Component("", plaudit.rewards.trl.accuracy_reward).reward == "trl.accuracy_reward"
    made = Component("", own_rewards.Shorter, params={"than": 3})
    assert (made.reward, made.name) == ("own_rewards:Shorter", "Shorter")
    assert Component("", own_rewards.shorter_than_three).name == "Shorter"


def test_columns_are_guessed_by_their_meaning_and_said(recipe):
    rows = [{"Response": r"<think>…</think> \boxed{4}", "Ground Truth": 4, "resolution": "3"}]
    with pytest.warns(
        UserWarning, match="completions: column Response, solution: column Ground Tr"
    ):
        assert plaudit.score(rows, recipe)[0]["total"] == 1.5
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        names = {"completions": "Response", "solution": "Ground Truth"}
        assert plaudit.score(rows, recipe, **names)[0]["total"] == 1.5
    with pytest.raises(InputError, match=r'no column "solution".*did you mean "resolution"'):
        plaudit.score([{"completion": "4", "resolution": "3"}], recipe)


def test_a_table_without_rows_gets_the_columns(recipe):
    empty = pd.DataFrame({"completion": [], "solution": []})
    assert list(plaudit.score(empty, recipe).columns) == ["completion", "solution", *ADDED]
    assert plaudit.score([], recipe) == []
    with pytest.raises(InputError, match='no column "solution"'):
        plaudit.score(pd.DataFrame({"completion": []}), recipe)


def test_a_reward_that_fails_on_every_row_stops(rows):
    def broken(completions, **kwargs):
        return [kwargs["nothing"] for _ in completions]

    with pytest.raises(StoppedError, match=r"(?s)every row fails.*KeyError: 'nothing'") as caught:
        plaudit.score(rows, broken)
    assert "--overwrite" not in str(caught.value)


def test_none_of_the_packages_is_imported_unless_the_caller_did():
    code = (
        "import json, sys, plaudit\n"
        "rows = [{'completion': r'\\boxed{4}', 'solution': '4'}] * 3\n"
        "print(plaudit.score(rows, 'trl-math')[0]['total'])\n"
        "print([name for name in ('pandas', 'polars', 'datasets', 'torch') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("1.0\n[]\n", "")


@pytest.mark.usefixtures("in_process")
def test_a_scored_folder_is_one_table_to_pandas(tmp_path, rows, recipe):
    (tmp_path / "out" / "_report").mkdir(parents=True)
    (tmp_path / "out" / "_report" / "index.html").write_text("a report")
    score_table(jsonl(tmp_path / "a.jsonl", rows * 60), recipe, tmp_path / "out")
    folder = pd.read_parquet(tmp_path / "out")
    assert len(folder) == 720
    assert json.loads((tmp_path / "out" / "_run.json").read_text())["rows"] == 720
    assert (
        folder["total"].tolist() == plaudit.score(pd.DataFrame(rows * 60), recipe)["total"].tolist()
    )


def test_a_gold_in_a_column_of_short_floats_is_the_number_that_was_meant():
    golds = np.array([0.1, 3.7], np.float32)
    columns = {"completion": [r"\boxed{0.1}", r"\boxed{3.7}"], "solution": golds}
    for table in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns), columns):
        assert list(plaudit.score(table, "math")["total"]) in ([1.0, 1.0], [pa.scalar(1.0)] * 2)
