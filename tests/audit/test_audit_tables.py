"""What can be audited: tables of every kind, columns of every name; and how the result is shown."""

import json
from pathlib import Path

import datasets
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from audited_tables import numbers

import plaudit
from plaudit.cli import main
from plaudit.recipes import Component, Recipe
from plaudit.reports.audit._findings import page_of

HERE = Path(__file__).parent
REWARD = "answers.exact_match_reward"
ROWS = [{key: row[key] for key in ("question", "solution")} for row in numbers()]


def own(name):
    return Recipe(name, (Component("", f"audited_failures:{name}", folder=str(HERE)),))


def written(rows, path):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "table",
    [
        lambda folder: ROWS,
        lambda folder: {name: [row[name] for row in ROWS] for name in ROWS[0]},
        lambda folder: pd.DataFrame(ROWS),
        lambda folder: pl.DataFrame(ROWS),
        lambda folder: pa.Table.from_pylist(ROWS),
        lambda folder: datasets.Dataset.from_list(ROWS),
        lambda folder: written(ROWS, folder / "rows.jsonl"),
        lambda folder: str(written(ROWS, folder / "rows.jsonl")),
        lambda folder: [
            written(ROWS[:5], folder / "a.jsonl"),
            written(ROWS[5:], folder / "b.jsonl"),
        ],
    ],
    ids=["dicts", "lists", "pandas", "polars", "arrow", "dataset", "path", "text", "paths"],
)
def test_every_kind_of_table_gives_the_same(table, tmp_path):
    options = {"sample": 8, "only": ["neighbour", "empty"]}
    found = plaudit.audit(table(tmp_path), REWARD, **options)
    assert found == plaudit.audit(ROWS, REWARD, **options)
    assert (found.rows, found.formats["exact_match_reward"][1]) == (8, 1.0)


@pytest.mark.parametrize(
    ("table", "error"),
    [
        ((row for row in ROWS), "a generator can be read only once"),
        ([*ROWS, None], "row 16 must be a dict"),
        ("none.jsonl", "none.jsonl"),
        ([], "there are no rows"),
    ],
    ids=["generator", "None", "no file", "empty"],
)
def test_what_is_no_table_is_refused(table, error):
    with pytest.raises(ValueError, match=error):
        plaudit.audit(table, REWARD)


def test_swapped_arguments_are_noticed(tmp_path):
    file = written(ROWS, tmp_path / "rows.jsonl")
    frame = pd.DataFrame(ROWS)
    for recipe, table in [
        ("math", ROWS),
        ("math", str(file)),
        (REWARD, str(file)),
        (REWARD, frame),
        (REWARD, pa.table(frame)),
        (own("json_valid"), file),
        (Path("mine.toml"), file),
    ]:
        with pytest.raises(TypeError, match=r"the table comes first, then the recipe"):
            plaudit.audit(recipe, table)


# --- columns --------------------------------------------------------------------------------------


def with_completions(name):
    return [
        {"question": row["question"], "target": row["solution"], name: row["completion"]}
        for row in numbers()
    ]


@pytest.mark.parametrize("name", ["what_it_said", "question_2", "response", "completion"])
def test_completions_may_have_any_name(name, tmp_path, capsys):
    rows = with_completions(name)
    found = plaudit.audit(rows, "math", completions=name, solution="target", only="empty")
    form, _ = next(iter(found.formats.values()))
    assert form.endswith("</think>\n<answer>{answer}</answer>")
    file = str(written(rows, tmp_path / "rows.jsonl"))
    options = ["--completions", name, "--column", "solution=target", "--only", "empty", "--quiet"]
    assert main(["audit", file, "--recipe", "math", *options]) == 0
    assert capsys.readouterr().out == f"{found}\n"


def test_columns_are_guessed_and_the_guess_is_shown():
    found = plaudit.audit(with_completions("response"), "math", only="empty")
    assert found.guessed == {"completions": "response", "solution": "target"}
    assert next(iter(found.formats.values()))[0].endswith("<answer>{answer}</answer>")
    assert "completions: column response, a guess" in str(found)


def test_a_table_without_completions_needs_none():
    assert plaudit.audit(ROWS, "math", only="empty").guessed == {}


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="there is no column 'said'; the columns are question"):
        plaudit.audit(ROWS, "math", completions="said")
    with pytest.raises(ValueError, match='no reward takes "soluton"'):
        plaudit.audit(ROWS, "math", soluton="solution")


# --- what counts ----------------------------------------------------------------------------------


def gated(**options):
    accuracy = Component("accuracy", "answers.answer_reward")
    form = Component("format", "trl.think_format_reward", **options)
    return Recipe("reasoned", (accuracy, form))


@pytest.mark.parametrize(
    ("options", "holes"),
    [({"gate": "accuracy"}, set()), ({"weight": 0.0}, set()), ({"weight": 0.2}, {"format"})],
    ids=["gated", "weight 0", "not gated"],
)
def test_what_never_pays_alone_is_no_hole(options, holes):
    found = plaudit.audit(ROWS, gated(**options), only=["empty", "structure", "stuffing"])
    assert {finding.component for finding in found.findings} == holes
    assert (found.worst > 0.5) == bool(holes)


def test_a_gate_that_never_reads_the_gold_holds_nothing_back():
    form = Component("form", "trl.think_format_reward", weight=0.0)
    paid = Component("paid", "trl.think_format_reward", gate="form")
    found = plaudit.audit(ROWS, Recipe("open", (form, paid)), only=["structure"])
    assert {finding.component for finding in found.findings if finding.is_hole} == {"paid"}
    assert found.wrong_share == 1.0


def test_what_a_hole_in_the_gate_lets_through_is_a_hole_of_the_total():
    accuracy = Component("accuracy", "trl.accuracy_reward")
    form = Component("format", "trl.think_format_reward", gate="accuracy")
    found = plaudit.audit(ROWS, Recipe("leaky", (accuracy, form)), only=["retract"])
    assert {finding.component for finding in found.findings} == {"accuracy", "total"}


def test_the_recipe_of_the_cookbook_passes(tmp_path):
    """The one whose format counts only if the answer is right."""
    cookbook = (HERE.parents[1] / "docs" / "cookbook.md").read_text()
    recipe = cookbook.partition('```toml\nname = "reasoned"')[2].partition("```")[0]
    assert 'gate = "accuracy"' in recipe
    (tmp_path / "reasoned.toml").write_text(recipe)
    file = str(written(ROWS, tmp_path / "rows.jsonl"))
    command = ["audit", file, "--recipe", str(tmp_path / "reasoned.toml"), "--fail-above", "0.5"]
    assert main([*command, "--quiet", "--skip", "cost"]) == 0


def test_right_answers_that_are_not_paid_are_no_holes(tmp_path, capsys, monkeypatch):
    found = plaudit.audit(numbers(), own("between_stars"), only="missed")
    (finding,) = found.findings
    assert (finding.kind, finding.share, finding.is_hole) == ("missed", 1.0, False)
    assert found.worst == 0.0
    assert "right answers that are not paid: 1" in str(found)
    assert "holes" not in str(found)
    monkeypatch.chdir(HERE)
    file = str(written(numbers(), tmp_path / "rows.jsonl"))
    command = ["audit", file, "--reward", "audited_failures:between_stars", "--only", "missed"]
    assert main([*command, "--quiet", "--fail-above", "0.5"]) == 0


def test_holes_come_before_right_answers_that_are_not_paid():
    found = plaudit.audit(numbers(), own("raises_on_boxes"), only=["structure", "missed"])
    kinds = [finding.kind for finding in found.findings]
    assert kinds[0] != "missed"
    assert kinds == sorted(kinds, key=lambda kind: kind == "missed")


@pytest.mark.long
def test_a_reward_that_never_reads_the_gold_is_called_so():
    found = plaudit.audit(ROWS, own("json_valid"))
    assert found.ignore_gold == ("json_valid",)
    assert found.wrong_share == 1.0
    assert str(found).startswith("json_valid: 16 rows; the gold is never read\n")
    assert any("json_valid never reads the gold" in line for line in found.as_json()["skipped"])
    assert not found.findings


def test_a_reward_that_reads_the_gold_is_not_called_blind():
    found = plaudit.audit(ROWS, gated(weight=0.2), only=["empty"])
    assert found.ignore_gold == ("format",)
    assert "the gold is never read" not in str(found)


def test_a_reward_that_always_raises_is_no_clean_audit():
    with pytest.raises(
        ValueError, match="the rewards raise on every completion: KeyError: 'score'"
    ):
        plaudit.audit(ROWS, own("always_raises"))


# --- how it is shown ------------------------------------------------------------------------------


def test_the_result_is_a_table_for_people():
    found = plaudit.audit(ROWS, gated(weight=0.2), only=["structure"])
    assert repr(found) == str(found)
    lines = str(found).splitlines()
    assert lines[0].startswith("reasoned: 16 rows; holes: ")
    assert "holes:" in lines
    first = lines[lines.index("holes:") + 1]
    assert first.split()[:4] == ["100%", "structure", "empty_form", "format"]
    shown = found._repr_html_()
    assert shown.count("<tr>") == 1 + len(found.findings)
    assert "&lt;think&gt;" in shown


def test_the_page_lists_right_answers_that_are_not_paid_apart():
    found = plaudit.audit(numbers(), own("raises_on_boxes"), only=["structure", "missed"])
    page = page_of(found)
    heading = page.index("Right answers that are not paid")
    assert page.index("<b>raises</b>") < heading < page.index("<b>missed</b>")
    assert page.count("Right answers that are not paid") == 1
