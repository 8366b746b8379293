"""Prompts that cannot be trained on, and golds that are no answers."""

import pytest
from inline_work import check_here

import plaudit
from plaudit.reports.check._row_checks import stated_answer


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    check_here(monkeypatch)


def kinds(questions_and_golds, recipe="math", **columns):
    """What is found in these rows: {row: kind}."""
    rows = [{"question": one, "solution": gold, **columns} for one, gold in questions_and_golds]
    return {finding.row: finding.kind for finding in plaudit.check(rows, recipe).findings}


def kinds_of_golds(golds, recipe="math", **columns):
    return kinds([(f"Number {n}?", gold) for n, gold in enumerate(golds)], recipe, **columns)


PLACEHOLDERS = [
    *("N/A", "n/a", "NA", "TODO", "todo", "TBD", "None", "none", "null", "NaN", "[TODO]"),
    *("see solution", "See the solution.", "Please refer to the explanation above", "not found"),
    *("Not available", r"\boxed{N/A}", "<answer>None</answer>", "#### N/A", "proof", "$N/A$"),
    *("your answer here", "see figure 3", "See attached image", ["N/A", "none"]),
]


def test_placeholders_are_no_golds():
    found = kinds_of_golds(["4", *PLACEHOLDERS])
    assert found == dict.fromkeys(range(1, len(PLACEHOLDERS) + 1), "placeholder_gold")


def test_a_placeholder_with_a_separator_in_it():
    assert kinds_of_golds(["Paris", "N/A", "Rome/Roma"], "qa") == {1: "placeholder_gold"}


def test_links_and_html_are_no_golds():
    golds = ["https://example.org/4", "www.example.org", "<p>4</p>", "x<sup>2</sup>", "4<br>"]
    golds += ["4&nbsp;km", '<span class="a">4</span>']
    found = kinds_of_golds(["4", *golds])
    assert found == dict.fromkeys(range(1, len(golds) + 1), "markup_gold")


@pytest.mark.parametrize(
    "gold",
    [
        *("Na", "Nancy", "Nonesuch", "nonexistent", "the missing link", "a<b>c", "a < b", "x & y"),
        *("proof by contradiction", "Paris", "0", "no", "No", "seesaw", "<answer>4</answer>"),
    ],
)
def test_an_answer_is_not_taken_for_a_placeholder(gold):
    found = kinds_of_golds(["4", gold])
    assert not {"placeholder_gold", "markup_gold"} & set(found.values())


def test_none_may_be_an_option():
    assert kinds_of_golds(["None", "red"], choices=["red", "None"]) == {}


def test_empty_prompts():
    rows = [("2 + 2?", "4"), ("", "5"), ("  \n", "6"), (None, "7")]
    assert kinds(rows) == dict.fromkeys([1, 2, 3], "missing_value")
    messages = [{"role": "user", "content": " "}]
    rows = [{"prompt": messages, "solution": "4"}, {"prompt": "2 + 2?", "solution": "4"}]
    (finding,) = plaudit.check(rows, "math").findings
    assert (finding.row, finding.why) == (0, "The prompt is empty.")


def test_one_of_several_prompt_columns_is_enough():
    rows = [{"prompt": "2 + 2?", "question": None, "solution": "4"}]
    rows.append({"prompt": "2 + 3?", "question": "2 + 3?", "solution": "5"})
    assert plaudit.check(rows, "math").findings == []


STATED = [
    ("What is 6 * 7? The answer is 42.", "42"),
    ("What is 6 * 7? (Answer: 42)", "42"),
    ("What is 6 * 7? (Answer: 42) Show your work.", "42"),
    ("What is 6 * 7? Hint: the correct answer is 42.\nThink first.", "42"),
    ("What is 6 * 7?\nAnswer: 42", "42"),
    ("What is 6 * 7?\nA: 42", "42"),
    ("What is 6 * 7? #### 42", "42"),
    (r"What is 6 * 7? \boxed{42} Explain.", "42"),
    ("What is 6 * 7? <answer>42</answer>", "42"),
    ("What is 6 * 7? 42", "42"),
    ("Which? (A) red (B) blue. The answer is (B).", "B"),
    ("What is the capital of France? Answer: Paris", "paris"),
    ("What is it? Answer = $\\frac{1}{2}$.", r"\frac{1}{2}"),
]
NOT_STATED = [
    ("What is 6 * 7?", "42"),
    ("Is 42 more than 7? Answer yes or no.", "yes"),
    ("The answer is 42.5 for x. What is half of the rest?", "42"),
    ("If the answer is 4, what was the question about 4?", "4"),
    ("Which?\nAnswer Choices: (A) red (B) blue", "A"),
    ("Which? (A) red (B) blue\nAnswer:", "A"),
    ("Who was first, Ada or Bob?", "Ada"),
    ("Q: 1 + 1?\nAnswer: 2\nQ: 2 + 2?\nAnswer: 4\nQ: 3 - 1?\nAnswer:", "2"),
    (r"What is 6 * 7? Put the answer into \boxed{}.", "42"),
    ("Answer with the letter: A, B, C or D. Which one?", "A"),
    ("Context: Paris is large. What is large?", "Paris"),
]


@pytest.mark.parametrize(("prompt", "gold"), STATED)
def test_a_prompt_that_states_its_answer(prompt, gold):
    assert kinds([("2 + 2?", "4"), (prompt, gold)], "qa") == {1: "answer_in_prompt"}


@pytest.mark.parametrize(("prompt", "gold"), NOT_STATED)
def test_a_prompt_that_names_its_answer_and_does_not_state_it(prompt, gold):
    assert stated_answer(prompt, [gold]) == ""


def test_a_prompt_of_any_length_is_searched_in_time_that_grows_with_it():
    for text in ("answer " * 20_000, "? " * 50_000, "answer is " * 20_000, "####" * 30_000):
        assert stated_answer(text, ["42"]) == ""


def test_white_space_makes_no_other_prompt():
    rows = [("Half of 1?", "1/2"), (" Half  of\t1?\n", "0.5"), ("Half of\u00a01?", "1/2")]
    assert kinds(rows) == {1: "duplicate_row", 2: "duplicate_row"}
    assert kinds([("Half of 2?", "1"), ("Half of 2? ", "2")]) == dict.fromkeys(
        [0, 1], "conflicting_golds"
    )
    prompts = [[{"role": "user", "content": text}] for text in ("Half of 1?", "Half  of 1?\n")]
    rows = [{"prompt": prompt, "solution": "1/2"} for prompt in prompts]
    assert [f.kind for f in plaudit.check(rows, "math").findings] == ["duplicate_row"]
