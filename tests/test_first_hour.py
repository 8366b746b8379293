"""The first hour: the mistakes that people make with plaudit, and what they are told.

Each message names the row, or the option or the argument to change; where what looks like a mistake
has one meaning only, it works.
"""

import json
import re
import subprocess
import sys

import datasets
import numpy as np
import pandas as pd
import polars as pl
import pytest

import plaudit
from plaudit.cli import main
from plaudit.recipes import Component, Recipe, load
from plaudit.rewards.trl import accuracy_reward
from test_columns import Tensor

RIGHT = r"So it is \boxed{4}."
ROWS = [{"completion": RIGHT, "solution": "4"}, {"completion": "No idea.", "solution": "5"}]
FRAME = pd.DataFrame(ROWS)
MATH = load("trl-math")


def one_number(completions, **kwargs):
    return 1.0


def one_text(completion):
    return 1.0


def local():
    return Recipe("mine", (Component("short", lambda completions, **kwargs: [1.0] * 2),))


PYTHON = {
    "a column of one's own name": (
        lambda: plaudit.score([{"completion": "4", "my_gold": "4"}], "trl-math"),
        'there is no column "solution", which "accuracy_reward" needs.*'
        'solution="COLUMN" in plaudit.score.*The columns are "completion", "my_gold"',
    ),
    "the values in place of a column's name": (
        lambda: plaudit.score(FRAME, "trl-math", solution=FRAME["solution"]),
        "solution must be the name of a column, such as solution='gold', got Series",
    ),
    "a Series for a table": (
        lambda: plaudit.score(FRAME["completion"], "trl-math"),
        "a Series is one column: pass the whole table",
    ),
    "a file for a table": (
        lambda: plaudit.score("rollouts.jsonl", "trl-math"),
        "'rollouts.jsonl' is the name of a file: score it with plaudit.tables.score_table",
    ),
    "a generator for a table": (
        lambda: plaudit.score((row for row in ROWS), "trl-math"),
        r"a generator can be read only once: pass list\(…\) of it",
    ),
    "a DatasetDict for a table": (
        lambda: plaudit.score(
            datasets.DatasetDict(train=datasets.Dataset.from_list(ROWS)), "trl-math"
        ),
        r"a DatasetDict has several tables, 'train': pass one, table\['train'\]",
    ),
    "a LazyFrame for a table": (
        lambda: plaudit.score(pl.DataFrame(ROWS).lazy(), "trl-math"),
        r"a LazyFrame has no rows yet: pass table.collect\(\)",
    ),
    "a table for a column": (
        lambda: accuracy_reward(FRAME, solution=["4", "5"]),
        r"completions must be .*got DataFrame: pass one of its columns, or the whole table to "
        r"plaudit.score",
    ),
    "a generator for a column": (
        lambda: MATH((row["completion"] for row in ROWS), solution=["4", "5"]),
        r"completions must be a list .*got generator: pass list\(…\) of it",
    ),
    "one text for a column": (
        lambda: accuracy_reward([RIGHT], solution="4"),
        "solution must be a list with one entry per completion, got str",
    ),
    "columns of several lengths": (
        lambda: MATH([RIGHT, RIGHT], solution=["4"]),
        "solution has 1 entries, completions has 2",
    ),
    "token ids for completions": (
        lambda: accuracy_reward(Tensor([[1, 2], [3, 4]]), ["4", "4"]),
        r"completion 0 must be text or a list of messages, got list: \[1, 2\]",
    ),
    "several golds for a reward of one": (
        lambda: accuracy_reward([RIGHT] * 2, ["4", ["4", "four"]]),
        "solution 1 is a list of 2 texts, and this reward takes one gold.*answers.answer_reward",
    ),
    "a dict that is no message": (
        lambda: accuracy_reward([RIGHT, {"response": "4"}], ["4", "4"]),
        "completion 1: a message must have `content`.*'response'",
    ),
    "a misspelt preset": (
        lambda: plaudit.score(FRAME, "trl-maths"),
        'there is no recipe "trl-maths".*did you mean "trl-math"',
    ),
    "a misspelt reward": (
        lambda: plaudit.score(FRAME, ["trl.acuracy_reward"]),
        "no reward is called 'trl.acuracy_reward'. Did you mean trl.accuracy_reward",
    ),
    "a gate that comes later": (
        lambda: Recipe("r", (Component("a", accuracy_reward, gate="b"),)),
        'a: the gate "b" is not an earlier reward; it is the first',
    ),
    "a reward that gives one number": (
        lambda: plaudit.score(FRAME, one_number),
        "one_number must give a list with a number for each of the 2 completions, got float: 1.0",
    ),
    "a reward of one text": (
        lambda: plaudit.score(FRAME, one_text),
        "one_text takes no completions.*one that scores a single text with @plaudit.text_reward",
    ),
    "a function of a notebook for other processes": (
        lambda: plaudit.score(FRAME, local(), workers=4),
        "workers=4 has no effect: short .* cannot be sent to another process",
    ),
}


@pytest.mark.parametrize(("mistake", "message"), PYTHON.values(), ids=list(PYTHON))
def test_a_mistake_in_python_is_told(mistake, message):
    with pytest.raises((TypeError, ValueError), match=f"(?s){message}"):
        mistake()


def write(folder, name, text, encoding="utf-8"):
    (folder / name).write_text(text, encoding=encoding)


LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
SCORE = ["score", "a.jsonl", "--recipe", "trl-math", "--out", "scored"]
COMMANDS = {
    "a column that nothing can be guessed for": (
        {"a.jsonl": '{"completion": "4", "my_gold": "4"}'},
        SCORE,
        "say --column solution=COLUMN on the command line",
    ),
    "--column the wrong way round": (
        {"a.jsonl": '{"completion": "4", "gold": "4"}'},
        [*SCORE, "--column", "gold=solution"],
        "The argument comes first: did you mean --column solution=gold",
    ),
    "an empty file": ({"a.jsonl": ""}, SCORE, "no rows to score: a.jsonl is empty"),
    "a file without rows": (
        {"a.csv": "completion,solution\n"},
        ["score", "a.csv", *SCORE[2:]],
        "no rows to score: a.csv is empty",
    ),
    "a file of unknown format": (
        {"a.txt": LINES},
        ["score", "a.txt", *SCORE[2:]],
        "cannot tell the format of a.txt from its name: expected .jsonl",
    ),
    "a file that is not there": ({}, SCORE, "there is no a.jsonl"),
    "a misspelt preset": (
        {"a.jsonl": LINES},
        ["score", "a.jsonl", "--recipe", "trl-maths", "--out", "scored"],
        'did you mean "trl-math"',
    ),
    "a reward whose module is elsewhere": (
        {"a.jsonl": LINES, "r.toml": '[[rewards]]\nreward = "far_rewards:f"\n'},
        ["score", "a.jsonl", "--recipe", "r.toml", "--out", "scored"],
        "there is no module far_rewards; put it next to the recipe, in .*PYTHONPATH",
    ),
    "a folder that holds something else": (
        {"a.jsonl": LINES},
        ["report", "."],
        r"\. has no _run.json: it is not a folder that `plaudit score` wrote",
    ),
    "a recipe for a scored folder": (
        {"a.jsonl": LINES},
        ["diff", "trl-math", "trl-reasoning"],
        "trl-math is a recipe: name the file to score with --input FILE",
    ),
    "no gold to try a recipe with": (
        {},
        ["try", "--recipe", "trl-math", "--completion", "4"],
        "trl-math: needs solution: pass --solution TEXT",
    ),
    "a word that no reward has": ({}, ["list", "polite"], "none of .* rewards has 'polite'"),
    "a preset that is none": (
        {},
        ["presets", "maths"],
        "choose one of canoe, .*, math, qa",
    ),
}


@pytest.mark.parametrize(("files", "command", "message"), COMMANDS.values(), ids=list(COMMANDS))
def test_a_mistake_on_the_command_line_is_told(
    files, command, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for name, text in files.items():
        write(tmp_path, name, text)
    assert main(command) == 2
    told = capsys.readouterr().err
    assert re.search(message, told), told
    assert told.count("\n") == 1


def test_another_recipe_into_the_same_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "a.jsonl", LINES)
    assert main([*SCORE, "--quiet"]) == 0
    assert main([*SCORE[:3], "trl-reasoning", *SCORE[4:]]) == 2
    told = capsys.readouterr().err
    assert "another run: it has another recipe, other components" in told
    assert "choose another folder, or start over with --overwrite" in told


@pytest.mark.parametrize(
    ("package", "command", "extra"),
    [
        ("pyarrow", "import plaudit; plaudit.score([], 'trl-math')", "score"),
        ("httpx", "import plaudit; plaudit.Client", "client"),
        ("huggingface_hub", "score hf://datasets/org/name --recipe trl-math --out scored", "hub"),
    ],
)
def test_a_missing_extra_is_named(package, command, extra):
    run = (
        command if "import" in command else f"import plaudit.cli as c; c.main({command.split()!r})"
    )
    code = f"import sys; sys.modules[{package!r}] = None; {run}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"pip install 'plaudit[{extra}]'" in ended.stderr.splitlines()[-1]


def test_a_reward_is_imported_without_what_it_does_not_need():
    heavy = ("numpy", "torch", "sympy", "pandas", "polars", "pyarrow", "datasets", "json")
    code = f"import sys, plaudit.rewards.trl; print([n for n in {heavy} if n in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.stdout == "[]\n"


# --- what looks like a mistake, and has one meaning -----------------------------------------------


@pytest.mark.parametrize(
    "as_column",
    [tuple, np.array, pd.Series, pl.Series, Tensor, lambda column: pd.Series(column, index=[7, 9])],
    ids=[
        "a tuple",
        "an array",
        "a Series",
        "one of polars",
        "a tensor",
        "a Series from the middle",
    ],
)
def test_a_column_may_be_anything_that_has_rows(as_column):
    def first(completions, solution, **kwargs):
        return [float(completions[0] == RIGHT and solution[0] == "4")] * len(completions)

    columns = [as_column([row[name] for row in ROWS]) for name in ("completion", "solution")]
    assert accuracy_reward(*columns) == [1.0, 0.0]
    if as_column is not Tensor:  # which has no [0] here
        rows = Recipe("r", (Component("", first),))(columns[0], solution=columns[1])
        assert [row.total for row in rows] == [1.0, 1.0]


@pytest.mark.parametrize("gold", [["4"], ("4",), 4, np.int64(4), {"answer": "4"}, np.array(["4"])])
def test_a_gold_may_stand_in_a_list_of_one(gold):
    assert accuracy_reward([RIGHT], [gold]) == [1.0]


def test_a_csv_of_a_spreadsheet_begins_with_a_mark(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "a.csv", "completion,solution\n\\boxed{4},4\n", encoding="utf-8-sig")
    assert main(["score", "a.csv", *SCORE[2:]]) == 0
    assert "mean 1.000" in capsys.readouterr().out


def test_a_reward_beside_the_recipe_is_found(tmp_path, monkeypatch, capsys):
    write(
        tmp_path, "near_rewards.py", "def near(completions):\n    return [1.0] * len(completions)\n"
    )
    write(tmp_path, "r.toml", '[[rewards]]\nreward = "near_rewards:near"\n')
    assert main(["try", "--recipe", str(tmp_path / "r.toml"), "--completion", "4"]) == 0
    assert "total       1.0" in capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    assert main(["try", "near_rewards:near", "--completion", "4"]) == 0


def test_a_gap_in_a_data_frame_is_named():
    with pytest.warns(UserWarning, match="row 1: completion is null"):
        scored = plaudit.score(pd.DataFrame({"completion": [RIGHT, np.nan], "solution": 4}), MATH)
    assert scored["status"].tolist() == ["scored", "rejected"]


def test_a_broken_line_is_named_and_the_others_are_scored(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "a.jsonl", LINES + '{"completion": "4", "sol')
    assert main(SCORE) == 3
    assert "1 row rejected, see scored/_rejected.jsonl" in capsys.readouterr().out
    (bad,) = map(json.loads, (tmp_path / "scored" / "_rejected.jsonl").read_text().splitlines())
    assert (bad["file"], bad["line"]) == ("a.jsonl", 3)
