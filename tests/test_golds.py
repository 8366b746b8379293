"""Golds that are read in part: found, told, and wrapped."""

import json
import re
import warnings

import pytest

from plaudit.inputs import golds
from plaudit.inputs.golds import as_latex, read_in_part
from plaudit.recipes import Component, Recipe, explain, load
from plaudit.rewards import canoe, trl, vlm_r1


@pytest.fixture(autouse=True)
def nobody_was_warned(monkeypatch):
    monkeypatch.setattr(golds, "_warned", set())


def read(gold):
    """What the judge reads of a gold."""
    return trl.accuracy_reward.scores([r"\boxed{1}"], [gold])[0].gold


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    "gold",
    [
        r"2\sqrt{2}",
        r"1+3\sqrt{2}",
        r"7\pi",
        r"\frac { 1 } { 2 }",
        r"\frac{\sqrt{5} + 1}{2}",
        r"(\frac{3}{2},-13)",
        r"-4<m\leq0",
        r"7.8\times 10^2",
        r"x \ne 2",
        "8n^2+4n+1",
        "x^2+y^2=1",
        "40_9",
        r"S_n = \frac{1}{2}(3^n - 1)",
        r"40 \text{ red}, 60 \text{ green}",
        "- 10",
        "2x+3",
        "6:7",
        "2.55e-10",
        "m > - 3",
    ],
)
def test_a_gold_that_is_read_in_part(gold):
    assert read_in_part(gold, read(gold))
    wrapped = as_latex(gold)
    assert not read_in_part(wrapped, read(wrapped))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_latex_in_prose_is_read_in_part_too():
    gold = r"The area is 2\sqrt{2}"
    assert read_in_part(gold, read(gold))


@pytest.mark.parametrize(
    "gold",
    [
        "42",
        "-42",
        "1,600",
        "0.5",
        "1/2",
        "62.5%",
        r"62.5\%",
        r"\frac{1}{2}",
        r"-\frac{3}{8}",
        r"$\frac12$",
        r"$2\sqrt{2}$",
        r"\boxed{2\sqrt{2}}",
        r"\[ f(x) = x + 1 \]",
        r"\(2\sqrt{2}\)",
        "The answer is 42",
        "The answer is 42.",
        "<answer>42</answer>",
        r"5.4 \text{ square units}",
        r"12 \text{ cm}^2",
        r"2.653 \ \mathrm{m}",
        r"45^{\circ}",
        "x = 20",
        "15th Day",
        "She has 5 * 3 = 15 apples, and then 2 more.\n#### 17",
        "Paris",
        "",
    ],
)
def test_a_gold_that_is_read_whole(gold):
    assert not read_in_part(gold, read(gold))


@pytest.mark.parametrize(
    ("gold", "wrapped"),
    [
        (r"2\sqrt{2}", r"$2\sqrt{2}$"),
        ("(1, 3)", "$(1, 3)$"),
        ("A", "$A$"),
        ("Monday", "$Monday$"),
        ("\\begin{cases} x \\\\\n y \\end{cases}", "$\\begin{cases} x \\\\ y \\end{cases}$"),
        ("<answer>2x</answer>", "<answer>$2x$</answer>"),
        (r"$x$ or $y$", r"$x$ or $y$"),
        (r"\boxed{4}", r"\boxed{4}"),
        ("It is four.", "It is four."),
        (r"The area is 2\sqrt{2}", r"The area is 2\sqrt{2}"),
        (r"5.4 \text{ square units}", r"$5.4 \text{ square units}$"),
        ("ab(ax - ay)", "$ab(ax - ay)$"),
        ("x" * 1001, "x" * 1001),
        ("", ""),
        (" ", " "),
        (4, 4),
        (None, None),
    ],
)
def test_wrapping(gold, wrapped):
    assert as_latex(gold) == wrapped
    assert as_latex(wrapped) == wrapped


@pytest.mark.parametrize(
    ("reward", "answer", "columns"),
    [
        (trl.accuracy_reward, r"\boxed{2}", {}),
        (trl.get_cosine_scaled_reward(9), r"\boxed{2}", {"completion_ids": [1]}),
        (canoe.accuracy_reward, "2", {}),
        (vlm_r1.default_accuracy_reward, "2", {}),
        (vlm_r1.accuracy_reward, "2", {"accu_reward_method": "math"}),
    ],
)
def test_a_score_says_that_its_gold_was_read_in_part(reward, answer, columns):
    with pytest.warns(UserWarning, match="is read as 2"):
        score = explain(reward, answer, r"2\sqrt{2}", **columns)
    assert score.right and score.partial_gold  # as the originals have it, but not without a word
    assert r"The gold was read as 2, out of 2\sqrt{2}." in score.why
    whole = explain(reward, answer, "2", **columns)
    assert whole.right and not whole.partial_gold


def test_a_process_is_warned_once_with_what_to_do():
    with pytest.warns(UserWarning) as caught:
        trl.accuracy_reward([r"\boxed{2}"] * 3, [r"2\sqrt{2}", r"3\sqrt{2}", "2"])
    assert len(caught) == 1
    said = str(caught[0].message)
    assert r"Write the golds as $2\sqrt{2}$" in said
    assert 'golds = "latex"' in said
    with warnings.catch_warnings(action="error"):
        trl.accuracy_reward([r"\boxed{2}"], [r"2\sqrt{2}"])


# --- in a recipe ----------------------------------------------------------------------------------


def test_a_recipe_may_wrap_golds(tmp_path):
    file = tmp_path / "math.toml"
    file.write_text(
        'golds = "latex"\n[columns]\nsolution = "gold"\n'
        '[[rewards]]\nreward = "trl.accuracy_reward"\n'
        '[[rewards]]\nreward = "trl.think_format_reward"\n'
    )
    recipe = load(file)
    answers = [r"\boxed{2\sqrt{2}}", r"\boxed{2}"]
    with warnings.catch_warnings(action="error"):
        rows = recipe(answers, gold=[r"2\sqrt{2}"] * 2)
        values = recipe.reward_funcs()[0](completions=answers, gold=[r"2\sqrt{2}"] * 2)
    assert [row.total for row in rows] == values == [1.0, 0.0]
    assert not any(row.components["accuracy_reward"].partial_gold for row in rows)
    file.write_text(recipe.to_toml())
    assert load(file) == recipe
    assert recipe.to_toml().count("golds") == 1


def test_one_reward_may_wrap_its_golds(tmp_path):
    wrapped = Component("wrapped", "trl.accuracy_reward", golds="latex")
    plain = Component("plain", "trl.accuracy_reward")
    recipe = Recipe("both", (wrapped, plain))
    with pytest.warns(UserWarning, match="is read as 2"):
        row = recipe([r"\boxed{2}"], solution=[r"2\sqrt{2}"])[0]
    assert [score.value for score in row.components.values()] == [0.0, 1.0]
    file = tmp_path / "both.toml"
    file.write_text(recipe.to_toml())
    assert load(file) == recipe


def test_other_rewards_get_their_golds_as_they_are():
    recipe = Recipe(
        "mixed",
        (Component("a", "trl.accuracy_reward"), Component("b", "canoe.accuracy_reward")),
        golds="latex",
    )
    row = recipe([r"\boxed{2x}"], solution=[r"\boxed{2x}"])[0]
    assert [score.value for score in row.components.values()] == [1.0, 1.0]
    assert (
        recipe(["<answer>2x</answer>"], solution=["2x"])[0].components["b"].decided_by
        == "same text"
    )


@pytest.mark.parametrize(
    ("components", "said", "complaint"),
    [
        (("trl.accuracy_reward",), "tex", "golds must be \"latex\" or left out, got 'tex'"),
        (("trl.accuracy_reward",), 3, 'golds must be "latex" or left out, got 3'),
        (("canoe.accuracy_reward",), "latex", "for the rewards of trl, and the recipe has none"),
    ],
)
def test_golds_that_cannot_be(components, said, complaint):
    with pytest.raises(ValueError, match=complaint):
        Recipe("bad", tuple(Component("", reward) for reward in components), golds=said)
    with pytest.raises(ValueError, match=r"golds|takes no golds"):
        Component("", components[0], golds=said)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_real_golds(shared):
    rows = [json.loads(line) for line in (shared / "data/math.jsonl").open(encoding="utf-8")]
    texts, solution = [row["completion"] for row in rows], [row["gold"] for row in rows]
    as_they_are = trl.accuracy_reward.scores(texts, solution)
    assert [score.value for score in as_they_are] == [row["trl"] for row in rows]
    latex = re.compile(r"[\\^_{]")
    in_part = {gold for gold, s in zip(solution, as_they_are, strict=True) if s.partial_gold}
    assert len([gold for gold in in_part if latex.search(gold)]) >= 40
    wrapped = trl.accuracy_reward.scores(texts, list(map(as_latex, solution)))
    assert not any(score.partial_gold for score in wrapped)
    triples = list(zip(rows, as_they_are, wrapped, strict=True))
    gained = [row for row, a, b in triples if row["label"] and a.value != 1.0 and b.value == 1.0]
    lost = [row for row, a, b in triples if row["label"] and a.value == 1.0 and b.value != 1.0]
    assert len(gained) >= 45
    assert lost == []
