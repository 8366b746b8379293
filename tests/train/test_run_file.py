"""What a run's file says, and what is wrong with one that cannot be run."""

import json
import re
import sys
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Literal

import datasets
import pytest

from plaudit.cli import main
from plaudit.recipes import load
from plaudit.train import (
    Progress,
    Run,
    _checked,
    _for_columns,
    _is_table,
    _made,
    dataset_of,
    last_checkpoint,
    line_of,
    lora_arguments,
    prepare,
    read_run,
    steps_if_trained,
)

GOOD = {"model": "org/model", "data": "rows.jsonl", "recipe": "trl-math", "output": "runs/1"}


@pytest.fixture
def written(tmp_path):
    def toml(tables="", **changes):
        said = {name: value for name, value in {**GOOD, **changes}.items() if value is not None}
        lines = [f"{name} = {json.dumps(value)}" for name, value in said.items()]
        (tmp_path / "run.toml").write_text("\n".join([*lines, tables]))
        return tmp_path / "run.toml"

    return toml


def test_paths_are_relative_to_the_file(written, tmp_path):
    (tmp_path / "rows.jsonl").touch()
    run = read_run(written(recipe="mine.toml"))
    assert (run.model, run.data) == ("org/model", str(tmp_path / "rows.jsonl"))
    assert (run.recipe, run.output) == (str(tmp_path / "mine.toml"), tmp_path / "runs" / "1")
    assert read_run(written()).recipe == "trl-math"


def test_a_file_may_begin_with_a_byte_order_mark(written):
    file = written()
    file.write_text("\ufeff" + file.read_text())
    assert read_run(file).recipe == "trl-math"


def test_prompts_and_arguments_are_tables(written, tmp_path):
    tables = '[prompts]\ntemplate = "vlm-r1-rec"\nimage_folder = "images"\n[trainer]\nbeta = 0.04\n'
    run = read_run(written(tables, algorithm="rloo"))
    assert run.prompts == {"template": "vlm-r1-rec", "image_folder": str(tmp_path / "images")}
    assert (run.algorithm, run.trainer) == ("rloo", {"beta": 0.04})


def test_evaluation_data_and_lora_belong_to_a_run(written, tmp_path):
    (tmp_path / "held_out.jsonl").touch()
    run = read_run(written("[peft]\nr = 16", eval_data="held_out.jsonl"))
    assert (run.eval_data, run.peft) == (str(tmp_path / "held_out.jsonl"), {"r": 16})
    assert run.lasting()["peft"] == {"r": 16}
    assert (read_run(written()).eval_data, read_run(written()).peft) == ("", {})


@pytest.mark.parametrize(
    ("tables", "changes", "complaint"),
    [
        ("", {"model": None}, 'model is missing: add model = "…"'),
        ("", {"data": 3}, "data must be text, got 3"),
        ("", {"recipe": ""}, "recipe must be text, got ''"),
        ("", {"receipt": "x"}, 'there is no key "receipt"; did you mean "recipe"?'),
        ("", {"algorithm": "ppo"}, "algorithm must be one of grpo, rloo, got 'ppo'"),
        ("", {"trainer": 3}, r"\[trainer\] must be a table, got 3"),
        ('[prompts]\ntemplate = "x"', {}, r"\[prompts\] template must be one of canoe, vlm-r1-rec"),
        ('[prompts]\ntemplate = "canoe"\nquestions = "q"', {}, 'did you mean "question"?'),
        ('[prompts]\ntemplate = "canoe"\nquestion = 3', {}, r"\[prompts\] question must be text"),
        ('[prompts]\ntemplate = ["canoe"]', {}, r"\[prompts\] template must be one of canoe"),
        ("[trainer", {}, "Expected ']'"),
        ("", {"eval_data": 3}, "eval_data must be text, got 3"),
        ("", {"peft": 3}, r"\[peft\] must be a table, got 3"),
    ],
)
def test_what_is_wrong_is_said(written, tables, changes, complaint):
    with pytest.raises(ValueError, match=complaint) as refused:
        read_run(written(tables, **changes))
    assert "run.toml: " in str(refused.value)


def test_a_file_that_is_not_there(tmp_path, capsys):
    assert main(["train", str(tmp_path / "none.toml")]) == 2
    assert "cannot read" in capsys.readouterr().err


def test_without_trl_the_command_says_what_to_install(written, capsys):
    try:
        import trl  # noqa: F401
    except ImportError:
        assert main(["train", str(written())]) == 2
        assert "this needs trl: pip install 'plaudit[train]'" in capsys.readouterr().err


def test_without_peft_the_command_says_what_to_install(written, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    monkeypatch.setattr("plaudit.cli.train.train", lambda run, _: lora_arguments(run))
    assert main(["train", str(written("[peft]\nr = 16"))]) == 2
    assert "this needs peft: pip install 'plaudit[train]'" in capsys.readouterr().err


def test_what_cannot_be_read_or_written_is_said(written, capsys, monkeypatch):
    def no_such_model(run, overwrite):
        raise OSError("org/model is not a valid model identifier")

    monkeypatch.setattr("plaudit.cli.train.train", no_such_model)
    assert main(["train", str(written())]) == 1
    assert capsys.readouterr().err == "plaudit: org/model is not a valid model identifier\n"


def test_data_is_a_table_or_the_name_of_a_dataset(tmp_path):
    (tmp_path / "rows.jsonl").touch()
    assert _is_table(str(tmp_path / "rows.jsonl"))
    assert _is_table(str(tmp_path))
    assert _is_table("s3://bucket/rows.jsonl")
    assert _is_table("hf://datasets/org/name")
    assert not _is_table("org/name")
    with pytest.raises(ValueError, match=r"there is no none\.jsonl"):
        _is_table("none.jsonl")


def checkpoint(folder, step, state):
    (folder / f"checkpoint-{step}").mkdir(parents=True)
    if state is not None:
        (folder / f"checkpoint-{step}" / "trainer_state.json").write_text(state)


def test_a_checkpoint_that_was_cut_off_is_not_gone_on_from(tmp_path):
    whole = json.dumps({"global_step": 5})
    checkpoint(tmp_path, 5, whole)
    checkpoint(tmp_path, 10, whole)
    checkpoint(tmp_path, 15, whole[:7])
    checkpoint(tmp_path, 20, None)
    checkpoint(tmp_path, "final", whole)
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"


def test_a_folder_goes_on_with_the_run_that_it_has(tmp_path):
    run = Run("m", "d", "trl-math", tmp_path / "out", trainer={"beta": 0.1, "max_steps": 5})
    assert prepare(run, False, {}) is None
    checkpoint(run.output, 5, json.dumps({"global_step": 5}))
    longer = replace(run, trainer={"beta": 0.1, "max_steps": 9})
    assert prepare(longer, False, {}) == run.output / "checkpoint-5"
    with pytest.raises(ValueError, match="has a run with another recipe and trainer: choose"):
        prepare(replace(run, recipe="math", trainer={"beta": 0.2}), False, {})
    assert prepare(replace(run, recipe="math"), True, {}) is None
    assert not (run.output / "checkpoint-5").exists()


@pytest.mark.parametrize("name", ["data", "eval_data", "the recipe"])
def test_a_changed_file_is_noticed(tmp_path, name):
    run = Run("m", "d", "trl-math", tmp_path / "out")
    prepare(run, False, {f"content of {name}": "1"})
    checkpoint(run.output, 5, json.dumps({"global_step": 5}))
    assert prepare(run, False, {f"content of {name}": "1"}) == run.output / "checkpoint-5"
    with pytest.raises(ValueError, match=f"has a run with another content of {name}: choose"):
        prepare(run, False, {f"content of {name}": "2"})


def test_rows_have_another_fingerprint_if_one_has_changed(tmp_path):
    def fingerprint(gold):
        rows = [{"question": "2 + 2?", "answer": "4"}, {"question": "3 + 3?", "answer": gold}]
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return dataset_of(str(tmp_path / "rows.jsonl"), {})._fingerprint

    assert fingerprint("6") == fingerprint("6") != fingerprint("7")


@pytest.mark.parametrize("left", ["record/_run.json", "model/x"])
def test_only_a_run_that_has_trained_refuses_other_settings(tmp_path, left):
    run = Run("modle", "d", "trl-math", tmp_path / "out")
    assert prepare(run, False, {}) is None
    (run.output / left).parent.mkdir()  # as a run leaves it whose model cannot be loaded
    corrected = replace(run, model="model")
    if not left.startswith("model"):
        assert prepare(corrected, False, {}) is None
        assert json.loads((run.output / "plaudit-run.json").read_text())["model"] == "model"
    (run.output / left).touch()
    with pytest.raises(ValueError, match="has a run with another model: choose another output"):
        prepare(replace(run, model="another"), False, {})


@pytest.mark.parametrize(
    ("state", "length", "steps"),
    [
        ({"global_step": 100, "epoch": 0.4}, (100, 3.0), 100),
        ({"global_step": 100, "epoch": 0.4}, (50, 3.0), 100),
        ({"global_step": 100, "epoch": 0.4}, (200, 3.0), None),
        ({"global_step": 100, "epoch": 3.0}, (-1, 3.0), 100),
        ({"global_step": 100, "epoch": 3.0}, (-1, 4.0), None),
        ({}, (-1, 0.0), None),
        ([], (100, 3.0), None),
    ],
)
def test_whether_a_run_is_finished(tmp_path, state, length, steps):
    (tmp_path / "trainer_state.json").write_text(json.dumps(state))
    assert steps_if_trained(tmp_path, *length) == steps


class Colour(Enum):
    RED = "red"


@dataclass
class Config:
    rate: float = 1.0
    steps: int = 1
    log: bool = False
    scheduler: Colour | str = "x"
    more: dict[str, Any] | str | None = None
    names: list[str] | None = None
    bias: Literal["none", "all"] = "none"


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("rate", "1e-6", "a number"),
        ("rate", True, "a number"),
        ("steps", 2.5, "a whole number"),
        ("log", "yes", "true or false"),
        ("log", 1, "true or false"),
        ("scheduler", 3, "text"),
        ("more", 3, "a table or text"),
        ("names", "x", "a list"),
        ("bias", "some", "'none' or 'all'"),
    ],
)
def test_a_wrong_type_is_an_error_with_the_key_and_the_type(name, value, wanted):
    with pytest.raises(ValueError, match=re.escape(f"[trainer] {name} must be {wanted}, got")):
        _made(Config, {name: value}, "trainer", {}, {})


def test_right_types_are_taken():
    table = {"rate": 1, "steps": 2, "log": True, "scheduler": "x", "more": {"a": 1}, "bias": "all"}
    assert _made(Config, table, "trainer", {"steps": 9}, {}) == Config(**table)


def test_a_missing_column_is_named_in_the_file_of_the_run():
    table = datasets.Dataset.from_list([{"prompt": "2 + 2?", "results": "4"}])
    with pytest.raises(ValueError, match=r'write solution = "COLUMN" under \[columns\]\.') as error:
        _for_columns(load("trl-math"), "rows.jsonl", table, is_dual=False)
    assert str(error.value).startswith("rows.jsonl: ")
    assert "--column" not in str(error.value)


@pytest.mark.parametrize("settings", ["", "{", "[]"])
def test_a_run_whose_settings_are_damaged_can_be_started_anew(tmp_path, settings):
    run = Run("m", "d", "trl-math", tmp_path)
    (tmp_path / "plaudit-run.json").write_text(settings)
    with pytest.raises(ValueError, match=r"plaudit-run\.json is damaged: start over"):
        prepare(run, False, {})
    assert prepare(run, True, {}) is None
    assert [file.name for file in tmp_path.iterdir()] == ["plaudit-run.json"]


def test_a_run_that_was_killed_before_its_settings_were_written_can_be_started(tmp_path):
    (tmp_path / "plaudit-run.unfinished").write_text("{")
    assert prepare(Run("m", "d", "trl-math", tmp_path), False, {}) is None
    assert [file.name for file in tmp_path.iterdir()] == ["plaudit-run.json"]


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").touch()
    run = Run("m", "d", "trl-math", tmp_path)
    with pytest.raises(ValueError, match="is not empty, and was not written by plaudit train: cho"):
        prepare(run, False, {})
    with pytest.raises(ValueError, match="was not written by plaudit train: remove it yourself"):
        prepare(run, True, {})
    assert (tmp_path / "thesis.tex").exists()


@pytest.mark.parametrize(
    ("seconds", "left"), [(0.5, "45 s"), (10.0, "15 min"), (200.0, "5.0 h")], ids=str
)
def test_what_is_left_is_told(seconds, left):
    line = line_of({"reward": 1.0}, ["form"], step=10, steps=100, seconds=seconds)
    assert line == f"step 10/100  total 1.000  {seconds:.1f} s a step, {left} left"


def test_only_steps_and_evaluations_are_lines(capsys):
    progress = Progress(["form"])
    progress.start(3)
    progress.log({"train_runtime": 3.0}, 4, 5)
    progress.log({"reward": 0.25, "rewards/form/mean": 0.5}, 4, 5)
    progress.log({"eval_reward": 0.75, "eval_rewards/form/mean": 1.0}, 5, 5)
    step, evaluation = capsys.readouterr().out.splitlines()
    assert step.startswith("step 4/5  total 0.250  form 0.500  ")
    assert evaluation == "eval 5/5  total 0.750  form 1.000"


def test_a_run_says_which_columns_the_rewards_read(written):
    run = read_run(written('[columns]\nsolution = "answer"', recipe="math"))
    assert run.columns == {"solution": "answer"}
    assert load(run.recipe, columns=run.columns).needs() == {"solution": "answer"}
    assert run.lasting() != read_run(written(recipe="math")).lasting()
    with pytest.raises(ValueError, match=r"\[columns\] must be a table, got 3"):
        read_run(written(columns=3))


@pytest.mark.parametrize("column", ["prompt", "question", "query"])
def test_a_prompt_is_found_by_its_usual_names(column):
    table = datasets.Dataset.from_list([{column: "2 + 2?", "answer": "4"}])
    assert list(_checked(table, "rows.jsonl")["prompt"]) == ["2 + 2?"]
    with pytest.raises(ValueError, match=r'has no column "prompt".*The columns are "answer"'):
        _checked(table.remove_columns(column), "rows.jsonl")
