"""The command, the data and what a user adds."""

import json
from pathlib import Path

import numpy as np
import pytest
from audited_tables import boxed, numbers, words

import plaudit
from plaudit.cli import main
from plaudit.recipes import Component, Recipe, load
from plaudit.reports.audit import attack
from plaudit.reports.audit._attack import CLASSES

HERE = Path(__file__).parent
FAST = ["--skip", "cost,unstable", "--quiet"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("audit") / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in numbers()))
    return path


def test_the_help_names_every_class(capsys):
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    listed = capsys.readouterr().out.partition("classes:")[2]
    assert set(CLASSES) <= set(listed.replace(",", " ").split())


@pytest.fixture
def in_folder_of_rewards(monkeypatch):
    monkeypatch.chdir(HERE)


@pytest.mark.usefixtures("in_folder_of_rewards")
def test_json_is_as_documented_and_the_same_twice(table, capsys):
    command = ["audit", str(table), "--reward", "audited_rewards:any_of_the_tags", "--json", *FAST]
    assert main([*command, "--fail-above", "0.5"]) == 1
    first = capsys.readouterr().out
    assert main(command) == 0
    assert capsys.readouterr().out == first
    told = json.loads(first)
    assert set(told) == {"findings", "skipped"}
    worst = told["findings"][0]
    assert list(worst) == [
        *("class", "attack", "component", "share", "rows", "paid", "example", "advice")
    ]
    assert list(worst["example"]) == ["row", "completion", "value", "why"]
    assert (worst["class"], worst["share"], worst["component"]) == ("hedge", 1.0, "any_of_the_tags")


@pytest.mark.usefixtures("in_folder_of_rewards")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--recipe", "maths"], 'did you mean "math"'),
        (["--recipe", "math", "--only", "hegde"], "there is no class 'hegde'"),
        (["--recipe", "math", "--template", "<answer>"], "a template must contain {answer}"),
        (["--recipe", "canoe", "--column", "solution=gold"], 'no column "gold"'),
        (["--recipe", "math", "--rows", "0"], "--rows must be 1 or more"),
        (["--reward", "no_such_module:reward"], "there is no module no_such_module"),
    ],
    ids=["recipe", "class", "template", "column", "rows", "module"],
)
def test_wrong_usage_is_told(table, arguments, said, capsys):
    assert main(["audit", str(table), *arguments, "--quiet"]) == 2
    assert said in capsys.readouterr().err


def test_a_reward_that_raises_ends_nothing():
    reward = Recipe("r", (Component("", "audited_failures:raises_on_boxes", folder=str(HERE)),))
    found = plaudit.audit(numbers(), reward, only=["structure", "empty"])
    raised = [finding for finding in found.findings if finding.kind == "raises"]
    assert raised
    assert "KeyError: 'no box'" in raised[0].example.why


@pytest.mark.long
def test_a_reward_that_ends_its_process_ends_nothing():
    reward = Recipe("r", (Component("", "audited_failures:exits_on_boxes", folder=str(HERE)),))
    found = plaudit.audit(numbers(), reward, only=["structure", "cost", "empty"])
    assert any(finding.kind == "cost" for finding in found.findings)


def test_the_template_says_what_the_format_is():
    reward = Recipe("r", (Component("", "audited_failures:between_stars", folder=str(HERE)),))
    silent = plaudit.audit(words(), reward, only=["missed"])
    assert [(f.kind, f.attack) for f in silent.findings] == [("missed", "any_format")]
    told = plaudit.audit(words(), reward, only=["missed"], template="***{answer}***")
    assert told.formats["between_stars"] == ("***{answer}***", 1.0)


def test_attacks_of_the_user(tmp_path):
    @attack("key")
    def praise(case):
        """The right word, praised."""
        yield "praise", f"{case.answer}, brilliant"

    found = plaudit.audit(words(), "answers.f1_reward", only=["key"], attacks=[praise])
    assert ("key", "praise") in [(f.kind, f.attack) for f in found.findings]

    (tmp_path / "my_own_attacks.py").write_text(
        "from plaudit.reports.audit import attack\n"
        "@attack('echo')\n"
        "def gold_itself(case):\n"
        "    '''What is right.'''\n"
        "    yield 'gold', case.answer\n"
    )
    recipe = 'attacks = ["my_own_attacks:gold_itself"]\n[[rewards]]\nreward = "answers.f1_reward"\n'
    (tmp_path / "mine.toml").write_text(recipe)
    loaded = load(tmp_path / "mine.toml")
    assert 'attacks = ["my_own_attacks:gold_itself"]' in loaded.to_toml()
    found = plaudit.audit(words(), loaded, only=["echo"])
    assert [finding.attack for finding in found.findings][:1] == ["gold_itself"]


@pytest.mark.long
@pytest.mark.parametrize("preset", ["math", "qa"])
def test_presets_of_our_own_have_no_hole(preset):
    found = plaudit.audit(boxed() if preset == "math" else words(), preset, skip=["cost"])
    assert found.worst <= 0.1, str(found)


def test_a_recipe_of_several_components_has_a_total():
    recipe = Recipe(
        "both",
        (Component("right", "answers.answer_reward"), Component("form", "trl.think_format_reward")),
    )
    found = plaudit.audit(numbers(), recipe, only=["empty", "structure"])
    assert list(found.formats) == ["right", "form", "total"]
    assert found.wrong_share == 0.5
    assert {f.component for f in found.findings if f.is_hole} == {"form"}
    assert "A wrong answer in the right form gets 50% of the total." in str(found)


class OnlyHere:
    """Cannot be made in another process."""

    def __reduce__(self):
        return int, ("nowhere",)


def test_what_another_process_cannot_be_given_is_said():
    params = {"tokenizer": OnlyHere()}
    recipe = Recipe("mine", (Component("", "vlm_r1.cosine_rewards", params=params),))
    with pytest.raises(ValueError, match=r"process of their own: ValueError: .*nowhere"):
        plaudit.audit(boxed(), recipe)


@pytest.mark.parametrize("sample", [0, -1])
def test_a_sample_has_a_row_at_least(sample):
    with pytest.raises(ValueError, match="sample must be 1 or more"):
        plaudit.audit(numbers(), "answers.exact_match_reward", sample=sample)


def audited_with(golds):
    rows = [{"question": f"{n}?", "solution": gold} for n, gold in enumerate(golds)]
    return plaudit.audit(rows, "answers.exact_match_reward", only="empty")


def test_golds_may_be_numbers_of_numpy():
    found = audited_with([np.int64(n) for n in range(20, 28)])
    assert found.formats["exact_match_reward"] == ("{answer}", 1.0)
    assert found.skipped == ()


def test_golds_that_cannot_be_read_are_told():
    assert audited_with([b"4"] * 8).skipped == (
        "no gold can be read in solution, where row 0 has b'4': nobody knows what a right answer "
        "would be",
    )
    assert audited_with(["4", "5", "6", None, "7", "8"]).skipped == (
        "1 of 6 rows were left out: no gold can be read in solution, where row 3 has None",
    )


@pytest.mark.parametrize("gold", ["9" * 400, "1/" + "9" * 5000], ids=["number", "fraction"])
def test_a_gold_may_have_any_number_of_digits(gold):
    rows = [{"question": f"{n}?", "solution": f"{n}{gold}"} for n in range(1, 7)]
    found = plaudit.audit(rows, "answers.exact_match_reward", skip=["cost", "unstable", "key"])
    assert found.formats["exact_match_reward"] == ("{answer}", 1.0)


def test_a_letter_may_be_paid_with_its_tags_alone(monkeypatch):
    rows = [
        {"question": f"{n}?", "solution": f"<choice>{'ABCD'[n % 4]}</choice>"} for n in range(8)
    ]
    monkeypatch.chdir(HERE)
    found = plaudit.audit(rows, "audited_failures:same_text", only=["missed"])
    assert found.formats["same_text"] == ("{answer}", 1.0)


@pytest.mark.parametrize("built", ["2?", ("variant", None), ["variant", "text"]])
def test_an_attack_of_the_users_that_builds_no_pair_of_texts_is_refused(built):
    @attack("key")
    def broken(case):
        yield built

    with pytest.raises(TypeError, match=r"attack broken must yield \(variant, completion\)"):
        plaudit.audit(numbers(), "answers.exact_match_reward", only=["key"], attacks=[broken])


def test_a_function_that_is_no_attack_is_refused():
    with pytest.raises(TypeError, match=r"must be made with @plaudit\.reports\.audit\.attack"):
        plaudit.audit(numbers(), "answers.exact_match_reward", attacks=[print])


def test_rewards_that_take_too_long_to_import_are_told(monkeypatch):
    monkeypatch.setattr("plaudit.reports.audit._reward_process._IMPORT_SECONDS", 0.0)
    with pytest.raises(ValueError, match="take more than 0 s to import"):
        audited_with(["4", "5"])
