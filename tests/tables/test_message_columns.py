"""What a user reads who passes the wrong file, the wrong column or the wrong object."""

import json

import pytest

import plaudit
from plaudit.cli import main
from plaudit.recipes import Recipe, load
from plaudit.rewards.trl import get_repetition_penalty_reward, get_soft_overlong_punishment
from plaudit.tables import InputError, score_table
from plaudit.tables.inputs import find_inputs

ROW = {"completion": r"\boxed{4}", "solution": "4"}


def told(capsys, *arguments):
    """What a command that fails prints."""
    assert main(list(map(str, arguments))) == 2
    return capsys.readouterr().err


def test_a_csv_may_have_semicolons(tmp_path):
    (tmp_path / "a.csv").write_text('completion;solution\n"one, two \\boxed{4}";4\n')
    summary = score_table(tmp_path / "a.csv", "math", tmp_path / "out")
    assert (summary.rows, summary.values["total"]) == (1, (1, 1.0))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_utf_16_is_named(tmp_path, name):
    (tmp_path / name).write_text(json.dumps(ROW), "utf-16")
    with pytest.raises(InputError, match=r"is UTF-16, and text must be UTF-8: .*iconv"):
        find_inputs(tmp_path / name)


def test_an_excel_file_is_read_by_pandas(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    file = tmp_path / "a.xlsx"
    pandas.DataFrame([ROW, {**ROW, "solution": None}, {**ROW, "solution": 5}]).to_excel(file)
    summary = score_table(file, "math", tmp_path / "out")
    assert (summary.rows, summary.values["total"]) == (3, (2, 0.5))
    assert score_table(file, "math", tmp_path / "out").was_finished


def test_a_damaged_excel_file_is_named(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match=r"a\.xlsx (as an Excel file|is an Excel file)"):
        find_inputs(tmp_path / "a.xlsx")


def test_a_dataset_of_the_hub_needs_its_address():
    with pytest.raises(InputError, match="Hub is named hf://datasets/openai/gsm8k"):
        find_inputs("openai/gsm8k")
    with pytest.raises(InputError, match=r"^there is no runs/rollouts.jsonl$"):
        find_inputs("runs/rollouts.jsonl")


def test_a_report_of_a_table_says_to_score_it(tmp_path, capsys):
    (tmp_path / "base.jsonl").write_text(json.dumps(ROW))
    assert "is a table, and not a folder of scores: score it first, with `plaudit score" in told(
        capsys, "report", tmp_path / "base.jsonl"
    )


def test_a_misspelt_argument_gets_one_hint(tmp_path, capsys):
    file = tmp_path / "a.jsonl"
    file.write_text(json.dumps(ROW))
    line = ("score", file, "--recipe", "math", "--out", tmp_path / "out", "--column")
    misspelt = told(capsys, *line, "soluton=solution")
    assert 'did you mean "solution"?' in misspelt
    assert "comes first" not in misspelt
    assert "did you mean --column solution=answer?" in told(capsys, *line, "answer=solution")


def test_a_recipe_takes_rewards_by_name():
    recipe = Recipe("x", ("answers.answer_reward", "trl.think_format_reward"))
    assert [one.name for one in recipe.components] == ["answer_reward", "think_format_reward"]
    assert Recipe("x", "answers.answer_reward").components == recipe.components[:1]
    with pytest.raises(ValueError, match="reward must be text or a function, got 3"):
        Recipe("x", (3,))


def test_a_recipe_is_loaded_by_its_name():
    with pytest.raises(TypeError, match="the path of a TOML file, got NoneType: None"):
        load(None)


def test_token_ids_may_be_named():
    ids = [[1] * 90]
    assert get_soft_overlong_punishment(100, 20)(["text"], completion_ids=ids) == [-0.5]
    assert get_repetition_penalty_reward()(["text"], completion_ids=[[1, 2, 3]]) == [0.0]
    with pytest.raises(ValueError, match="are they swapped"):
        get_soft_overlong_punishment(20, 100)


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("x.csv", "read_csv('x.csv')"),
        ("x.jsonl", "read_json('x.jsonl', lines=True)"),
        ("x.parquet", "read_parquet('x.parquet')"),
        ("x.xlsx", "read_excel('x.xlsx')"),
    ],
)
def test_the_name_of_a_file_is_no_table(name, reader):
    with pytest.raises(InputError) as error:
        plaudit.score(name, "math")
    assert f"pandas.{reader}" in str(error.value)


# --- what the terminal says of rows without a score, and with 0 -----------------------------------


def test_the_summary_says_why_rows_were_rejected_and_why_they_got_0(tmp_path, capsys):
    rows = [ROW, {**ROW, "solution": "5"}, {**ROW, "completion": ""}]
    rows += [{**ROW, "completion": None}] * 5 + [{**ROW, "solution": {"n": n}} for n in range(3)]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"completion": "x"}\nno\n')
    line = ["score", str(file), "--recipe", "math", "--out", str(tmp_path / "out")]
    for _ in range(2):  # the second time, the run is finished
        assert main(line) == 3
        printed = capsys.readouterr().out
        assert "  rejected  5 rows: completion is null\n" in printed
        assert "            3 rows: solution must be text" in printed
        assert "            1 row: other reasons\n" in printed
        assert "  total 0   accuracy: different 1, no_answer 1\n" in printed
