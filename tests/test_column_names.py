"""Every synonym of a column, and that each command reads it the same way."""

import json

import pyarrow as pa
import pytest

from plaudit.inputs.columns import (
    CHOICES,
    COMPLETION,
    GOLD,
    GROUP,
    IMAGE,
    PROMPT,
    STEP,
    SYNONYMS,
    TOKENS,
    first_of,
)
from plaudit.recipes import load
from plaudit.recipes.row_score import parquet_of, scored_columns
from plaudit.reports._scored_run import open_folder
from plaudit.reports.audit._attack import QUESTIONS
from plaudit.reports.audit._paid_formats import sample_of
from plaudit.reports.check._plan import CheckOptions, make_plan
from plaudit.runs._recorder import RecordedBatch, arrow_batch, steps_of
from plaudit.tables.memory import table_of
from plaudit.tables.plan import Head, plan_of
from plaudit.train import _checked
from plaudit.trainers._rows import gold_in

RECIPE = load("math")
ROWS = RECIPE.score_batch(["4"] * 3, solution=["4"] * 3).rows


def plan(**row):
    """What `plaudit score` makes of a table with such a row."""
    names = list(row)
    return plan_of([Head("a.jsonl", [row], names, None, False, "")], RECIPE)


@pytest.fixture
def reported(tmp_path):
    """What `plaudit report` makes of the columns of a scored folder."""

    def of(**row):
        batch = RECIPE.score_batch(["4"], solution=["4"])
        table = pa.Table.from_pylist([{**row, "row_id": 0, "group_id": "a"}])
        columns = scored_columns(batch.components, batch.totals, batch.statuses)
        (tmp_path / "part-00000.parquet").write_bytes(parquet_of(table, columns))
        (tmp_path / "_run.json").write_text(json.dumps({"components": ["accuracy"]}))
        return open_folder(tmp_path)

    return of


@pytest.mark.parametrize("name", COMPLETION)
def test_completions(name, reported):
    assert plan(**{name: "4", "solution": "4"}).completions == name
    assert reported(**{name: "4", "solution": "4"}).completion == name


@pytest.mark.parametrize("name", GOLD)
def test_golds(name, reported):
    row = {"completion": "4", name: "4"}
    wanted = {} if name == "solution" else {"solution": name}
    assert plan(**row).guessed == wanted
    head = Head("a.jsonl", [row], list(row), None, False, "")
    checked = make_plan([head], RECIPE.with_guessed_columns(list(row))[0], CheckOptions())[0]
    assert checked.comparisons[0].column == name
    table = sample_of(table_of([row]), RECIPE.with_guessed_columns(list(row))[0], 1, 0)
    assert table.gold_column == name
    assert reported(**row).gold == name
    assert gold_in({name: "4"}) == "4"


class Dataset:
    """What `plaudit train` asks of a dataset."""

    def __init__(self, **columns):
        self.columns, self.column_names = columns, list(columns)

    def __getitem__(self, name):
        return self.columns[name]

    def add_column(self, name, values):
        return Dataset(**self.columns, **{name: values})


@pytest.mark.parametrize("name", PROMPT)
def test_prompts(name, reported, tmp_path):
    row = {name: "2 + 2?", "completion": "4", "solution": "4"}
    assert plan(**row).group == name
    head = Head("a.jsonl", [row], list(row), None, False, "")
    assert make_plan([head], RECIPE, CheckOptions())[0].prompts == (name,)
    assert name in QUESTIONS
    assert reported(**row).prompt == name
    assert _checked(Dataset(**{name: ["2 + 2?"]}), "data")["prompt"] == ["2 + 2?"]
    recorded = RecordedBatch(["4"], {name: ["2 + 2?"]}, ROWS[:1], 0.0)
    batch = arrow_batch(recorded, ["accuracy"], {}, 0, 0, 0, tmp_path)
    assert batch.column("prompt").to_pylist() == ["2 + 2?"]


@pytest.mark.parametrize("name", STEP)
def test_steps(name, reported):
    assert steps_of(RecordedBatch(["4"], {name: [7]}, ROWS[:1], 0.0)) == ([7], False)
    assert reported(completion="4", **{name: 7}).step == name


@pytest.mark.parametrize("name", GROUP)
def test_groups_of_a_trainer(name, tmp_path):
    recorded = RecordedBatch(["4"] * 3, {"prompts": ["p"] * 3, name: ["a", "b", "a"]}, ROWS, 0.0)
    groups = (
        arrow_batch(recorded, ["accuracy"], {}, 0, 0, 0, tmp_path).column("group_id").to_pylist()
    )
    assert groups[0] == groups[2] != groups[1]


@pytest.mark.parametrize("name", CHOICES)
def test_choices(name):
    row = {"question": "Which?", "solution": "B", name: ["red", "green"]}
    head = Head("a.jsonl", [row], list(row), None, False, "")
    assert make_plan([head], RECIPE, CheckOptions())[0].choices == (name,)


@pytest.mark.parametrize("name", TOKENS)
def test_tokens(name, reported):
    assert reported(completion="4", **{name: [1, 2]}).tokens == name


@pytest.mark.parametrize("name", IMAGE)
def test_images(name):
    row = {"image": None, "question": "Where?", "solution": "4", name: "a.png"}
    head = Head("a.jsonl", [row], list(row), None, False, "")
    assert name in make_plan([head], RECIPE, CheckOptions())[0].images


@pytest.mark.parametrize("argument", SYNONYMS)
def test_a_synonym_is_found_whatever_its_case_and_its_separators(argument):
    for name in SYNONYMS[argument]:
        spelt = name.replace("_", " ").title()
        assert first_of(SYNONYMS[argument], ["other", spelt]) == spelt
