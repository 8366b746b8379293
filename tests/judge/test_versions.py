"""The judge follows the math-verify that is installed, and asks it where it does not know it."""

import json
import os
import subprocess
import sys

import pytest
from drawn_texts import pairs
from hard_pairs import HARD, LARGE
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from math_verify_reference import assert_as_math_verify, parse, verdict

from examples import examples
from installed import pretend_installed
from plaudit.judge import MathVerify, Rule, math_verify_installed
from plaudit.judge._reading import Text
from plaudit.judge.workers._public_api import compare

pytestmark = pytest.mark.filterwarnings("ignore:(?s).*non-Expr arguments in Mul")


def test_the_tests_run_with_a_version_that_is_called_tested():
    assert math_verify_installed().tested


def test_two_versions_that_do_not_belong_together_are_not_tested():
    assert not MathVerify("0.8.0", "1.11.0").tested
    assert MathVerify(None, None).tested  # the workers say that it is missing


def whole(answer, gold, rule):
    return compare([Text(answer)], [Text(gold)], rule)


@settings(deadline=None, max_examples=examples(200), derandomize=True, database=None)
@given(pairs(), st.sampled_from([Rule.ANYWHERE, Rule.LATEX]))
def test_its_public_functions_say_what_the_whole_of_it_says(pair, rule):
    assume(not any(map(LARGE.search, pair)))
    assert_as_math_verify(whole(*pair, rule), *pair, rule)


def test_candidates_are_not_for_its_public_functions():
    with pytest.raises(TypeError):
        compare([("number", "4", False)], [Text("4")], Rule.LATEX)


CASES = [
    *((answer, gold, rule) for answer, gold in HARD for rule in ("anywhere", "latex")),
    (r"So \boxed{\frac{2}{4}}.", "1/2", "latex"),
    ("I do not know.", "4", "latex"),
    ("It is 4.", "nothing", "anywhere"),
    (r"\boxed{9\%}", "9", "latex"),
    (r"\boxed{1} for \boxed{1}", "1", "latex"),
]
JUDGE = """
import json, sys
from plaudit.judge import Pair, Rule, judge, shared_judge, warm_up
warm_up()
cases = [Pair(answer, gold, Rule(rule)) for answer, gold, rule in json.load(sys.stdin)]
verdicts = judge(cases)
assert [v.status for v in verdicts] == [v.status for v in judge(cases)]
print(json.dumps([[v.status, v.answer, v.gold, v.decided_by] for v in verdicts]))
print(shared_judge().check(), shared_judge().cache.hits > 0)
"""


def judged_with(version, tmp_path):
    """What a process says that takes the installed math-verify for another version of it."""
    path = [str(pretend_installed(tmp_path, "math-verify", version)), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", JUDGE],
        input=json.dumps(CASES),
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    verdicts, check = done.stdout.splitlines()
    assert check == "None True"
    return json.loads(verdicts), done.stderr


@pytest.fixture(scope="module")
def untested(tmp_path_factory):
    """The verdicts of a version that nobody tested, and what is written to stderr."""
    return judged_with("99.1", tmp_path_factory.mktemp("untested"))


def test_a_version_that_nobody_tested_judges_by_itself(untested):
    for (answer, gold, rule), (status, *_, method) in zip(CASES, untested[0], strict=True):
        assert method == "math-verify"
        if status in ("equal", "different"):
            assert verdict(answer, gold, Rule(rule)) is (status == "equal"), answer
        else:
            assert not (parse(gold) if status == "bad_gold" else parse(answer, Rule(rule)))


def test_that_is_said_once(untested):
    assert untested[1].count("math-verify 99.1 with latex2sympy2_extended") == 1
    assert "Tested are math-verify 0.8.0 and 0.9.0" in untested[1]


def test_a_tested_version_has_the_same_verdicts_and_no_warning(untested, tmp_path):
    verdicts, told = judged_with(math_verify_installed().version, tmp_path)
    assert told == ""
    assert {method for *_, method in verdicts} > {"math-verify", "numbers"}
    assert [status for status, *_ in verdicts] == [status for status, *_ in untested[0]]


def test_nothing_of_an_untested_version_is_replaced(tmp_path):
    script = """
    import sys
    from plaudit.judge.workers._worker import comparison
    print(comparison().__name__, "plaudit.judge.workers._symbolic" in sys.modules)
    """
    path = [str(pretend_installed(tmp_path, "latex2sympy2_extended", "99.1")), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(map(str.strip, script.splitlines()))],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["plaudit.judge.workers._public_api", "False"]
