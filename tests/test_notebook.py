"""What recipes, scores and results show in a notebook."""

from html.parser import HTMLParser

from plaudit import explain
from plaudit.recipes import load
from plaudit.reports.diff import Difference
from plaudit.rewards.trl import accuracy_reward
from plaudit.scores.score import LONGEST_CELL, html_table
from plaudit.tables import ScoreSummary


class Cells(HTMLParser):
    """The texts of the cells of a table, and the tags that are open at the end."""

    def __init__(self, text):
        super().__init__()
        self.cells, self.open = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def cells(text):
    found = Cells(text)
    assert found.open == []
    return found.cells


def test_what_a_model_wrote_is_text_and_never_html():
    long = "<script>alert(1)</script>" + "x" * 1000
    shown = cells(html_table("a <b>", ["<i>"], [[long], [None], [0.123456789]]))
    assert shown[0] == "<i>"
    assert shown[1].startswith("<script>alert(1)</script>xx")
    assert len(shown[1]) == LONGEST_CELL
    assert shown[2:] == ["", "0.123457"]


def test_a_recipe_and_its_rows_are_tables():
    recipe = load("trl-reasoning")
    assert cells(recipe._repr_html_())[6:8] == [
        "reasoning_accuracy_reward",
        "trl.reasoning_accuracy_reward",
    ]
    rows = recipe(["<think>…</think> <b>4</b>"] * 30, solution=["4"] * 30)
    shown = cells(rows._repr_html_())
    assert shown[:5] == [
        *("row", "reasoning_accuracy_reward", "think_format_reward"),
        *("total", "status"),
    ]
    assert len(shown) == 6 * 21
    assert "and 10 more" in rows._repr_html_()
    assert cells(rows[0]._repr_html_())[:2] == ["component", "value"]
    assert cells(recipe([], solution=[])._repr_html_())[-1] == "why"


def test_a_score_a_summary_and_a_difference():
    score = explain(accuracy_reward, r"\boxed{3}", "4")
    assert cells(score._repr_html_())[2:4] == ["value", "0"]
    summary = ScoreSummary("out", 2, 0, 1, {"scored": 2}, {"total": (2, 0.5)}, 1.0)
    assert cells(summary._repr_html_())[3:] == ["total", "0.5", "2"]
    assert Difference("a<b", "b", rows=2)._repr_html_().startswith("<pre>A: a&lt;b\n")
