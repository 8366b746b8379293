"""Which part of a completion is its final answer."""

import pytest
from completions import COMPLETIONS

from plaudit.answers import final_answer, judge_answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"It is \boxed{5}.", "5"),
        (r"First \boxed{5}, and then \boxed{7}.", "7"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\{1,2\}}", r"\{1,2\}"),
        (r"$\boxed{25}\%$", r"25\%"),
        (r"$\boxed{45}^\circ$", r"45^\circ"),
        (r"\boxed 5", "5"),
        ("<answer>5</answer>", "5"),
        (r"<answer>It is \boxed{5}</answer>", "5"),
        (r"\boxed{4} so <answer>5</answer>", "5"),
        (r"<answer>4</answer> so \boxed{5}", "5"),
        (r"<answer> \boxed{21}", "21"),
        ("<answer>12", "12"),
        ("The answer is 5.", "5"),
        ("The answer is 5. Hope this helps!", "5"),
        ("The final answer is: $5$", "$5$"),
        ("**Answer:** 5", "5"),
        ("**Final Answer**: 3.5", "3.5"),
        ("The answer is 3.5.", "3.5"),
        ("So the answer is 5 because 2+3=5.", "5"),
        ("the answer is 4. Therefore the answer is 5", "5"),
        ("6*7=42\n#### 42", "42"),
        ("It costs that much.\nA: 42", "42"),
        ("x\ny\n\n42", "42"),
        ("Long text.\nTherefore, $x = 4$", "$x = 4$"),
        ("42", "42"),
        (r"<think>\boxed{3}</think>The answer is 4.", "4"),
        (r"<think>\boxed{3}</think>", ""),
        ("The correct option is B.", "B"),
        ("```\n\\boxed{5}\n```", "5"),
        ("", ""),
        ("\n \n", ""),
    ],
)
def test_the_final_answer_is_found(text: str, answer: str) -> None:
    assert final_answer(text).text == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"\boxed{1} and \boxed{2}", r"1 \text{ and } 2"),
        (r"\boxed{1}, \boxed{2}", "1 , 2"),
        (r"$\boxed{1}$ or $\boxed{2}$", r"1 \text{ or } 2"),
        (r"\boxed{5} $\boxed{5}$", "5"),
        (r"\boxed{1}. Then we find \boxed{2}.", "2"),
    ],
)
def test_boxes_with_nothing_between_them_are_one_answer(text: str, answer: str) -> None:
    assert final_answer(text).text == answer


@pytest.mark.parametrize(
    "after",
    [
        "Actually no, it is 7.",
        "Wait, that is wrong.",
        "Hold on, I forgot the last case, so it is 7.",
        "Sorry, I made a mistake: the sum is 7.",
        "On second thought, it should be 7.",
        "That's incorrect. The sum is 7.",
        "I take that back.",
        "Correction: 7.",
        "Please disregard that.",
        "Scratch that, the value is 7.",
        "Oops, I misread the question.",
        "No, wait, it must be 7.",
        "Hmm, it should be 7 instead.",
        "Let me recompute: 3 + 4 = 7.",
        "I was wrong, it is 7.",
    ],
)
def test_what_is_taken_back_is_no_answer(after: str) -> None:
    assert final_answer(f"It is \\boxed{{5}}. {after}").retracted
    assert final_answer(f"The answer is 5. {after}").retracted


@pytest.mark.parametrize(
    "after",
    [
        "",
        "This completes the proof.",
        "Note that 7 is wrong, since it is not even.",
        "If you wanted the other root instead, it is 7.",
        "One might think that it should be 7, but the 2 is counted twice.",
        "Wait, let me double-check: 2 + 3 = 5. Yes, that is correct.",
        "Actually, this holds for all primes.",
        "Let me know if you have questions!",
        "I hope it is correct.",
        "Many students forget the 2 and get 3, which is wrong.",
    ],
)
def test_a_remark_takes_nothing_back(after: str) -> None:
    assert not final_answer(f"It is \\boxed{{5}}. {after}").retracted


@pytest.mark.parametrize(("gold", "text", "right"), COMPLETIONS)
def test_a_completion_is_judged_by_its_final_answer(gold: str, text: str, right: int) -> None:
    verdict = judge_answer(text, [gold])
    assert verdict.right is bool(right), verdict.why


@pytest.mark.parametrize(
    "answer", ["67 (incorrect)", "67 wrong", r"67 \text{ (wrong)}", r"\frac{1}{2} is not correct."]
)
def test_a_value_that_says_that_it_is_wrong_is_taken_back(answer: str) -> None:
    assert final_answer(f"So it is \\boxed{{{answer}}}").retracted


@pytest.mark.parametrize("answer", ["wrong", "false", "67 apples", "the statement is incorrect"])
def test_words_that_are_the_answer_take_nothing_back(answer: str) -> None:
    assert not final_answer(f"<answer>{answer}</answer>").retracted
