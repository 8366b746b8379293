"""Every recipe of the cookbook scores the rows that stand beneath it."""

import re
from pathlib import Path

import pytest

from plaudit.recipes import load

PAGE = Path(__file__).parents[1] / "docs" / "cookbook.md"
SECTION = re.compile(
    r"^## \d+\. (.*?)\n.*?```toml\n(.*?)```\n\n(\|.*?)(?:\n\n|\Z)", re.DOTALL | re.M
)


def cells(line):
    return [cell.strip().strip("`") for cell in line.strip("|").split("|")]


SECTIONS = [
    pytest.param(toml, [cells(line) for line in table.splitlines()], id=title)
    for title, toml, table in SECTION.findall(PAGE.read_text("utf-8"))
]


def test_there_are_ten():
    assert len(SECTIONS) == len(re.findall(r"^## ", PAGE.read_text("utf-8"), re.M)) == 10


@pytest.mark.parametrize(("toml", "table"), SECTIONS)
def test_a_recipe_of_the_cookbook(tmp_path, toml, table):
    (tmp_path / "mine.toml").write_text(toml, "utf-8")
    recipe = load(tmp_path / "mine.toml")
    (said, gold, _), _, *rows = table
    completions, solutions, totals = zip(*rows, strict=True)
    recipe.check([said, gold])
    scored = recipe(list(completions), **{gold: list(solutions)})
    assert [row.total for row in scored] == pytest.approx([float(total) for total in totals])
    assert len(set(totals)) > 1, "the rows show no difference"
