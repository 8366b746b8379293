"""From the rewards to the report: what is right, what counts, and what each row's status is."""

import base64
import gzip
import json
import re

import pytest
from PIL import Image
from scored_sample import SMALL_BUNDLE

from plaudit.recipes import Component, Recipe, load
from plaudit.reports import write_report
from plaudit.reports._scored_run import numbers_of, open_folder, right_component
from plaudit.reports._summary import summary_of
from plaudit.tables import score_table
from plaudit.tables.score_chunk import score_chunk


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    """Neither workers nor Vega's script: the tests look at other things."""

    def inline(chunks, plan, workers):
        for chunk in chunks:
            yield score_chunk(chunk, plan)

    monkeypatch.setattr("plaudit.tables._score_table.score_locally", inline)
    monkeypatch.setattr("plaudit.reports.page._CODE", SMALL_BUNDLE)


@pytest.fixture
def scored(tmp_path):
    """Scores rows with a recipe, and gives what came of it."""

    def of(recipe, rows):
        file = tmp_path / "rollouts.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return score_table([file], recipe, tmp_path / "scored", overwrite=True)

    return of


def summary(folder):
    opened = open_folder(folder)
    decides = right_component(opened, None)
    return summary_of(numbers_of(opened, decides), decides)


def data_of(page):
    packed = re.search(r'id="data">([^<]*)<', page.read_text()).group(1)
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_a_box_that_barely_overlaps_is_not_right(scored, tmp_path):
    recipe = Recipe("boxes", (Component("iou", "vlm_r1.iou_reward"),))
    Image.new("RGB", (140, 140)).save(tmp_path / "image.png")
    boxes = [0, 0, 100, 100], [0, 0, 100, 60], [95, 95, 139, 139]
    rows = [
        {
            "completion": f"<think>Hm.</think><answer>{json.dumps({'bbox_2d': box})}</answer>",
            "solution": "<answer>[0, 0, 100, 100]</answer>",
            "image_path": str(tmp_path / "image.png"),
            "image_grid_thw": [1, 10, 10],  # patches of 14 pixels: the image's own size
        }
        for box in boxes
    ]
    scored(recipe, rows)
    found = summary(tmp_path / "scored")
    assert (found.right, found.decided) == (2, 3)
    assert found.spreads["iou"].low > 0


def test_the_majority_counts_right_answers_as_one_for_every_system(scored, tmp_path):
    def row(answer):
        return {
            "prompt": "p",
            "completion": f"<think>.</think><long_answer>.</long_answer><answer>{answer}</answer>",
            "solution": "<answer>0.5</answer>",
        }

    recipe = Recipe("c", (Component("accuracy", "canoe.accuracy_reward"),))
    scored(recipe, [row("0.5"), row("1/2"), row("7"), row("7"), row(r"\frac{1}{2}")])
    found = summary(tmp_path / "scored")
    assert found.right == 3
    assert found.at_k[-1].k == 5
    assert found.at_k[-1].majority == 1.0


def test_without_a_reward_that_says_so_nothing_is_right_or_wrong(scored, tmp_path):
    recipe = Recipe("form", (Component("form", "trl.think_format_reward"),))
    scored(recipe, [{"completion": "<think>.</think>"}, {"completion": "x"}])
    found = summary(tmp_path / "scored")
    assert (found.correct, found.right, found.decided, found.at_k) == (None, 0, 0, [])
    assert (
        "No reward says which rows are right: add <code>right = 1.0</code>"
        in write_report(tmp_path / "scored").read_text()
    )


def test_a_component_that_its_gate_holds_back_has_the_value_that_counts(scored, tmp_path):
    gated = Component("form", "trl.think_format_reward", gate="accuracy")
    recipe = Recipe("gated", (Component("accuracy", "trl.accuracy_reward"), gated))
    rows = [
        {"completion": r"<think>.</think> \boxed{4}", "solution": "4"},
        {"completion": r"<think>.</think> \boxed{5}", "solution": "4"},
    ]
    assert scored(recipe, rows).values["form"] == (2, 0.5)
    found = summary(tmp_path / "scored")
    assert found.spreads["form"].mean == 0.5
    held = data_of(write_report(tmp_path / "scored"))["reasons"][1][1]
    assert (held[0], held[-1]) == (0.0, 1.0)


def test_every_status_stands_in_the_summary_and_on_the_first_screen(scored, tmp_path):
    rows = [
        {"completion": r"\boxed{4}", "solution": "4"},
        {"completion": "I do not know.", "solution": "4"},
        {"completion": "Nor do I.", "solution": "4"},
        {"completion": r"\boxed{4}", "solution": "(no gold)"},
        {"completion": r"\boxed{9^{9^{9^{9}}}}", "solution": "4"},
    ]
    said = str(scored(load("trl-math"), rows))
    assert "  status           scored 1, no_answer 2, bad_gold 1, limit 1\n" in said + "\n"
    page = write_report(tmp_path / "scored").read_text()
    first_screen = page[page.index('class="statuses"') : page.index('id="components"')]
    counts = re.findall(r'data-status="(\w+)">.*?<b>(\d+)</b>', first_screen)
    assert counts == [("scored", "1"), ("no_answer", "2"), ("bad_gold", "1"), ("limit", "1")]
    trouble = page[page.index('id="trouble"') : page.index('id="prompts"')]
    assert '<span class="status no_answer">no_answer</span> 2 rows' in trouble


@pytest.mark.filterwarnings("ignore:the gold:UserWarning")
def test_golds_that_were_read_in_part_are_counted(scored, tmp_path):
    rows = [
        {"completion": r"\boxed{2}", "solution": r"2\sqrt{2}"},
        {"completion": r"\boxed{2}", "solution": "2"},
    ]
    said = str(scored(load("trl-math"), rows))
    assert (
        "  golds            1 row has a gold that was read only in part: write golds as $…$" in said
    )
    assert summary(tmp_path / "scored").golds_in_part == 1
    page = write_report(tmp_path / "scored").read_text()
    assert "<b>1</b> row has a gold that was read only in part" in page
    assert "golds  " not in str(scored(load("trl-math"), rows[1:]))
    page = write_report(tmp_path / "scored").read_text()
    assert "read only in part" not in page


FAILS = """
from plaudit.scores import Score, reward

@reward
def fails(completions, **columns):
    return [Score(0.0, "Comparing failed: no memory.", status="error") for _ in completions]
"""


def test_what_went_wrong_is_shown_as_a_problem_and_not_as_an_answer(scored, tmp_path, monkeypatch):
    (tmp_path / "failing_reward.py").write_text(FAILS)
    monkeypatch.syspath_prepend(str(tmp_path))
    scored(Recipe("f", (Component("f", "failing_reward:fails"),)), [{"completion": "4"}])
    page = write_report(tmp_path / "scored")
    trouble = page.read_text().partition('id="trouble"')[2].partition('id="prompts"')[0]
    assert "Comparing failed: no memory." in trouble
    assert data_of(page)["reasons"][0][0][4] is None
