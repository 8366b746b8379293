"""What the tests of tables share."""

import pickle

import pytest

from plaudit.recipes import Component, Recipe
from plaudit.tables.score_chunk import score_chunk

ROWS = [
    {
        "prompt": f"What is {number // 4} + 1?",
        "completion": rf"<think>Hm, {number}.</think> So it is \boxed{{{number % 3}}}.",
        "solution": str(number // 4 + 1),
        "step": number,
    }
    for number in range(12)
]


@pytest.fixture
def in_process(monkeypatch):
    """Score here, without workers: most tests are about what is scored, not where."""

    def inline(chunks, plan, workers):
        for chunk in chunks:
            yield score_chunk(pickle.loads(pickle.dumps(chunk)), plan)

    monkeypatch.setattr("plaudit.tables._score_table.score_locally", inline)


@pytest.fixture
def many_parts(monkeypatch):
    """Cut even a small table into many parts."""
    monkeypatch.setattr("plaudit.tables.readers.SMALLEST", 1 << 13)


@pytest.fixture
def rows():
    return [dict(row) for row in ROWS]


@pytest.fixture
def recipe():
    """Two rewards of which neither needs a worker of the judge's."""
    return Recipe(
        "brief",
        (
            Component("accuracy", "trl.accuracy_reward"),
            Component("format", "trl.think_format_reward", weight=0.5),
        ),
    )


@pytest.fixture
def recipe_file(recipe, tmp_path):
    file = tmp_path / "brief.toml"
    file.write_text(recipe.to_toml())
    return file
