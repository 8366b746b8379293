"""Recipes: files and presets."""

import pickle
import subprocess
import sys
import tomllib
from enum import IntEnum
from importlib.resources import files

import numpy as np
import pytest
from recipe_samples import RIGHT, WRONG, only, totals

from plaudit.recipes import Component, Recipe, load, presets

# --- files ----------------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


BRIEF_MATH = """
[columns]
solution = "answer"
[[rewards]]
reward = "trl.accuracy_reward"
[[rewards]]
name = "brevity"
reward = "trl.get_cosine_scaled_reward"
weight = 0.2
gate = "accuracy_reward"
params = { max_len = 100 }
columns = { completion_ids = "tokens" }
"""


def test_a_file(written):
    mine = load(written(BRIEF_MATH))
    assert mine.name == "mine"
    assert mine.needs() == {"solution": "answer", "completion_ids": "tokens"}
    given = {"answer": ["4", "4"], "tokens": [[1] * 50] * 2}
    assert totals(mine, [RIGHT, WRONG], **given) == pytest.approx([1.15, 0.0])


def test_a_file_by_the_text_of_its_path_even_without_an_ending(written):
    path = written(BRIEF_MATH)
    path = path.rename(path.with_suffix(""))
    assert load(str(path)).name == "mine"


@pytest.mark.parametrize("name", presets())
def test_presets_load_and_are_written_as_they_are_read(name, written):
    preset = load(name)
    assert preset.name == name
    assert load(written(preset.to_toml())) == preset


def test_a_file_is_written_as_it_is_read(written):
    params = {"limit": 3}
    odd = Recipe(
        'a "name" with\nlines, \x7f and é',
        (
            Component("a b", "own_rewards:explained", weight=1e-7, right=0.5),
            Component("c", "own_rewards:factory", params=params, gate="a b", weight=-2),
            Component(
                "d",
                "trl.reasoning_accuracy_reward",
                params={"reasoning_delimiters": ["</think>", "\\"]},
                columns={"solution": "the answer"},
            ),
        ),
        {"a key": "x", "completions": "response"},
    )
    assert load(written(odd.to_toml())) == odd
    nested = only("own_rewards:Shorter", params={"than": {"a": True, "b c": [1.5, False]}})
    assert load(written(nested.to_toml())).components[0].params == nested.components[0].params


def test_a_file_may_begin_with_a_byte_order_mark(written):
    assert load(written("\ufeff" + BRIEF_MATH)) == load(written(BRIEF_MATH))


def test_numbers_of_numpy_and_enums_are_written_as_numbers(written):
    params = {"ngram_size": IntEnum("Sizes", "one two").two, "max_penalty": np.float64(-0.5)}
    odd = only("trl.get_repetition_penalty_reward", params=params, right=np.float64(0.75))
    assert load(written(odd.to_toml())) == odd


def test_the_packaged_presets_say_what_they_are():
    for name in presets():
        text = files("plaudit").joinpath("presets", f"{name}.toml").read_text("utf-8")
        assert text.startswith("# ")
        assert tomllib.loads(text)["name"] == name


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("rewards = [", "Invalid value"),
        ("", "at least one \\[\\[rewards\\]\\]"),
        ("rewards = []", "at least one"),
        ("rewards = [3]", "rewards, number 1: it must be a table, got 3"),
        ("[[reward]]\n", 'no key "reward"; did you mean "rewards"?'),
        ("name = 3", "name must be text, got 3"),
        ("columns = 3", "columns must be a table, got 3"),
        ("[[rewards]]\nwieght = 1", 'number 1: there is no key "wieght"; did you mean "weight"?'),
        ("[[rewards]]\nweight = 1", "number 1: reward is missing: add reward = "),
        ('[[rewards]]\nreward = "trl.acuracy_reward"', "Did you mean trl.accuracy_reward?"),
        ('[[rewards]]\nreward = "broken_rewards:f"', "No module named 'no_such_thing'"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_what_is_wrong(written, broken, text, complaint):
    path = written(text)
    with pytest.raises(ValueError, match=complaint) as caught:
        load(path)
    assert str(path) in str(caught.value)


OWN = '[[rewards]]\nreward = "{}:mine"\n'
GIVES = "def mine(completions):\n    return [{}] * len(completions)\n"


def test_a_module_beside_the_file_is_found_first(tmp_path, monkeypatch):
    for folder, value in (("a", 1.0), ("b", 2.0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "beside_one.py").write_text(GIVES.format(value))
    (tmp_path / "a" / "mine.toml").write_text(OWN.format("beside_one"))
    monkeypatch.syspath_prepend(tmp_path / "b")
    monkeypatch.chdir(tmp_path)
    mine = load("a/mine.toml")
    assert totals(mine, ["x"]) == [1.0]
    assert sys.path[0] == str(tmp_path / "b")
    # In another process, wherever that was started.
    (tmp_path / "recipe").write_bytes(pickle.dumps(mine))
    script = "import pickle; print(pickle.load(open('recipe', 'rb'))(['x'])[0].total)"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("1.0\n", "")


def test_a_package_beside_the_file_may_import_its_own(tmp_path):
    package = tmp_path / "beside_package"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from beside_helper import value\n" + GIVES.format("value")
    )
    (tmp_path / "beside_helper.py").write_text("value = 0.5\n")
    (tmp_path / "mine.toml").write_text(OWN.format("beside_package"))
    assert totals(load(tmp_path / "mine.toml"), ["x"]) == [0.5]


def test_two_modules_of_one_name_are_not_taken_for_each_other(tmp_path):
    for folder, value in (("a", 1.0), ("b", 2.0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "beside_twice.py").write_text(GIVES.format(value))
        (tmp_path / folder / "mine.toml").write_text(OWN.format("beside_twice"))
    assert totals(load(tmp_path / "a" / "mine.toml"), ["x"]) == [1.0]
    with pytest.raises(ValueError, match=r"another beside_twice is imported already, from .*/a/"):
        load(tmp_path / "b" / "mine.toml")


def test_a_module_that_is_nowhere_is_asked_for_with_the_places_to_put_it(tmp_path):
    (tmp_path / "mine.toml").write_text(OWN.format("my_rewards"))
    complaint = f"no module my_rewards; put it next to the recipe, in {tmp_path}, or .* PYTHONPATH"
    with pytest.raises(ValueError, match=complaint):
        load(tmp_path / "mine.toml")


def test_a_file_that_cannot_be_read(tmp_path):
    with pytest.raises(ValueError, match=r"none.toml: No such file or directory"):
        load(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="not UTF-8"):
        load(tmp_path / "binary.toml")


def test_a_preset_with_a_slip():
    with pytest.raises(ValueError, match=r'no recipe "trl-maths".*did you mean "trl-math"?'):
        load("trl-maths")


# --- the presets ----------------------------------------------------------------------------------


def test_canoe():
    text = "<think>a</think><long_answer>It is by the Seine.</long_answer><answer>Paris</answer>"
    problem = "<context>Paris, the capital of France, is by the Seine.</context> Where is it?"
    rows = load("canoe")([text, "Paris"], solution=["Paris"] * 2, problem=[problem] * 2)
    assert [row.total for row in rows] == [3.0, 1.0]


def test_vlm_r1_detection():
    gold = '```json\n[{"bbox_2d": [0, 0, 10, 10], "label": "cup"}]\n```'
    text = f"<think>a</think><answer>{gold}</answer>"
    rows = load("vlm-r1-od")([text, "none"], solution=[f"<answer>{gold}</answer>"] * 2)
    assert [row.total for row in rows] == [2.0, 0.0]


def test_vlm_r1_referring_expressions(tmp_path):
    from PIL import Image

    path = str(tmp_path / "image.png")
    Image.new("RGB", (28, 28)).save(path)
    text = '<think>a</think><answer>{"bbox_2d": [0, 0, 10, 10]}</answer>'
    given = {"image_grid_thw": [[1, 2, 2]], "image_path": [path]}
    preset = load("vlm-r1-rec")
    assert totals(preset, [text], solution=["[0, 0, 10, 10]"], **given) == [2.0]
    assert preset.needs().keys() == {"solution"}
    preset.check(["completion", "solution", "images"])
    with pytest.raises(ValueError, match='"image_path" or "image" or "images": "iou_reward"'):
        preset.check(["completion", "solution", "picture"])
