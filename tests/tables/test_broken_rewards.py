"""Whatever a reward of the user's own does wrong: it is said, and never scored over."""

import os
import signal
import subprocess
import sys

import pytest

from plaudit.cli import main
from tables import jsonl, rejected, scored

REWARDS = """
import os, sys, time
import numpy as np
from plaudit.scores import Score

def returns_none(completions, **kwargs):
    sum(map(len, completions))

def one_number(completions, **kwargs):
    return 1.0

def numpy_number(completions, **kwargs):
    return np.array(1.0)

def coroutine(completions, **kwargs):
    async def later(): ...
    it = later()
    it.close()
    return it

def one_value(completions, **kwargs):
    return [1.0]

def one_too_few(completions, **kwargs):
    return [1.0 for c in completions if c != "text 7"]

def one_too_many(completions, **kwargs):
    return [*(1.0 for _ in completions), 0.5]

def nothing(completions, **kwargs):
    return []

def text(completions, **kwargs):
    return ["1.0" for _ in completions]

def raw(completions, **kwargs):
    return [b"1.0" for _ in completions]

def one_text(completions, **kwargs):
    return "1" * len(completions)

def by_name(completions, **kwargs):
    return {c: 1.0 for c in completions}

def pairs(completions, **kwargs):
    return [(1.0, 0.5) for _ in completions]

def huge(completions, **kwargs):
    return [10**400 for _ in completions]

def text_score(completions, **kwargs):
    return [Score("1.0", "Fine.") for _ in completions]

def number_score(completions, **kwargs):
    return [Score(0.5, 7, answer=4, gold=[4, "\\ud83d"], decided_by=None) for _ in completions]

def key_error(completions, **kwargs):
    return [{"a": 1.0}[c] for c in completions]

def attribute_error(completions, **kwargs):
    return [c.mark for c in completions]

def value_error(completions, **kwargs):
    return [float(c) for c in completions]

def type_error(completions, **kwargs):
    return [c / 2 for c in completions]

def zero_division(completions, **kwargs):
    return [1 / 0 for _ in completions]

def os_error(completions, **kwargs):
    open("/no/such/file")

class SilentError(ValueError):
    def __str__(self):
        raise RuntimeError("cannot be shown")

def silent(completions, **kwargs):
    raise SilentError

def exits(completions, **kwargs):
    sys.exit(3)

def exits_with_words(completions, **kwargs):
    sys.exit("no API key")

def interrupts(completions, **kwargs):
    raise KeyboardInterrupt

def ends_the_process(completions, **kwargs):
    os._exit(7)

def generator(completions, **kwargs):
    return (0.5 for _ in completions)

def array(completions, **kwargs):
    return np.full(len(completions), 0.5)

def prints(completions, **kwargs):
    print("loud")
    os.write(1, b"louder\\n")
    return [0.5 for _ in completions]

def skips(completions, **kwargs):
    return [float("nan") if c == "text 7" else None if c == "text 8" else 0.5 for c in completions]

def empties(completions, **kwargs):
    values = [0.5 for _ in completions]
    completions.clear()
    return values

def lengths(completions, **kwargs):
    return [float(len(c)) for c in completions]

def some_keys(completions, **kwargs):
    return [{"text 7": {}}.get(c, {"value": 0.5})["value"] for c in completions]

def some_matches(completions, **kwargs):
    return [(None if c == "text 7" else c).count("t") / 4 for c in completions]

def first_batches(completions, **kwargs):
    return [0.5 if int(c.split()[1]) >= 600 else {}["value"] for c in completions]

def hangs(completions, **kwargs):
    print("hanging", flush=True)
    time.sleep(3600)
"""


@pytest.fixture
def score(tmp_path, monkeypatch, capfd):
    """Runs `plaudit score` on so many rows with rewards from above: its code and what it says."""
    (tmp_path / "faulty_rewards.py").write_text(REWARDS)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("faulty_rewards", None)

    def run(*names, rows=20, options=()):
        recipe = recipe_of(tmp_path, *names)
        file = jsonl(tmp_path / "a.jsonl", [{"completion": f"text {n}"} for n in range(rows)])
        asked = [str(file), "--recipe", str(recipe), "--out", str(tmp_path / "out"), *options]
        code = main(["score", *asked, "--workers", "1"])
        return code, *capfd.readouterr()

    return run


def recipe_of(tmp_path, *names):
    recipe = tmp_path / "broken.toml"
    recipe.write_text("".join(f'[[rewards]]\nreward = "faulty_rewards:{n}"\n' for n in names))
    return recipe


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("returns_none", "must give a list with a number for each of the 20 completions, got None"),
        (
            "one_number",
            "must give a list with a number for each of the 20 completions, got float: 1.0",
        ),
        (
            "numpy_number",
            "must give a list with a number for each of the 20 completions, got ndarray",
        ),
        (
            "coroutine",
            "must give a list with a number for each of the 20 completions, got coroutine",
        ),
        ("one_value", "gave 1 values for 20 completions: it must give one for each"),
        ("one_too_few", "gave 19 values for 20 completions"),
        ("one_too_many", "gave 21 values for 20 completions"),
        ("nothing", "gave 0 values for 20 completions"),
        ("text", "must give numbers, row 0 is str: '1.0'"),
        ("raw", "must give numbers, row 0 is bytes: b'1.0'"),
        ("one_text", "must give a list with a number for each of the 20 completions, got str: '1"),
        ("by_name", "must give a list with a number for each of the 20 completions, got dict: {"),
        ("pairs", "must give numbers, row 0 is tuple: (1.0, 0.5)"),
        ("huge", "must give numbers, row 0 is int: 1000"),
        ("text_score", "must give numbers, row 0 is str: '1.0'"),
    ],
)
def test_a_reward_that_gives_no_number_for_each_completion_stops_the_run(
    tmp_path, score, name, said
):
    code, out, err = score(name)
    assert (code, out) == (1, "")
    assert f"BrokenRewardError: {name} {said}" in err
    assert f"(in {name} (faulty_rewards:{name}))" in err
    assert not list((tmp_path / "out").glob("part-*"))


@pytest.mark.parametrize(
    ("name", "error", "line"),
    [
        ("key_error", "KeyError: 'text 0'", 'return [{"a": 1.0}[c] for c in completions]'),
        ("attribute_error", "AttributeError: 'str' object has no", "return [c.mark for c"),
        ("value_error", "ValueError: could not convert string to float", "return [float(c)"),
        ("type_error", "TypeError: unsupported operand type(s)", "return [c / 2 for c"),
        ("zero_division", "ZeroDivisionError: division by zero", "return [1 / 0 for"),
        ("silent", "SilentError: (it cannot be shown as text)", "raise SilentError"),
    ],
)
def test_the_same_exception_on_every_row_stops_the_run_with_its_traceback(
    tmp_path, score, name, error, line
):
    code, out, err = score(name, rows=600)
    assert (code, out) == (1, "")
    assert f"every row fails with the same error, for example\n{error}" in err
    assert f"(in {name} (faulty_rewards:{name}))" in err
    assert f'faulty_rewards.py", line {1 + REWARDS[: REWARDS.index(line)].count(chr(10))}' in err
    assert line in err
    assert not list((tmp_path / "out").glob("part-*"))


@pytest.mark.long
@pytest.mark.usefixtures("many_parts")
def test_a_reward_that_is_mended_scores_what_it_failed_on(tmp_path, score, monkeypatch):
    for options in ([], ["--strict"]):
        assert score("key_error", rows=2000, options=options)[0] in (1, 3)
    (tmp_path / "faulty_rewards.py").write_text(REWARDS.replace('{"a": 1.0}[c]', "1.0"))
    code, out, _ = score("key_error", rows=2000)
    assert code == 0
    assert "2,000 rows in 7 parts\n" in out


@pytest.mark.usefixtures("many_parts")
def test_first_batches_that_fail_are_rejected_where_the_next_ones_do_not(tmp_path, score):
    code, out, _ = score("first_batches", rows=2000)
    assert code == 3
    assert "1,400 rows in 7 parts; 600 rows rejected" in out
    assert [bad["line"] for bad in rejected(tmp_path / "out")] == list(range(1, 601))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("os_error", "FileNotFoundError: [Errno 2] No such file or directory: '/no/such/file'"),
        ("exits", "a reward called sys.exit(3) (in exits (faulty_rewards:exits))"),
        ("exits_with_words", "a reward called sys.exit(no API key) (in exits_with_words"),
        ("interrupts", "KeyboardInterrupt"),
        ("ends_the_process", "3 workers died while scoring bytes 0 to"),
        (
            "ends_the_process",
            "with exit code 7: something such as os._exit in a reward ended the process",
        ),
    ],
)
def test_what_is_no_fault_of_a_row_stops_the_run(score, name, said):
    code, out, err = score(name)
    assert (code, out) == (1, "")
    assert said in err
    assert "memory" not in err


@pytest.mark.parametrize("name", ["generator", "array", "prints"])
def test_what_is_unusual_but_right_is_scored(score, name):
    code, out, _ = score(name)
    assert code == 0
    assert f"  {name}{' ' * max(0, len('status') - len(name))}  mean 0.500\n" in out
    assert "loud" not in out


def test_what_is_no_text_in_a_score_becomes_its_text(tmp_path, score):
    assert score("number_score")[0] == 0
    (told,) = scored(tmp_path / "out")["explanation"][0].as_py()
    assert (told["why"], told["answer"], told["decided_by"]) == ("7", "4", None)
    assert told["gold"].startswith("[4, ")


def test_none_and_nan_skip_a_row(tmp_path, score):
    code, out, _ = score("skips")
    assert code == 0
    assert "skips   mean 0.500, 2 rows without a value" in out
    assert scored(tmp_path / "out")["skips"].to_pylist()[6:10] == [0.5, None, None, 0.5]


def test_a_reward_that_empties_its_list_takes_nothing_from_the_next(tmp_path, score):
    assert score("empties", "lengths")[0] == 0
    assert scored(tmp_path / "out")["lengths"].to_pylist() == [6.0] * 10 + [7.0] * 10


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("some_keys", "KeyError: 'value' (in some_keys (faulty_rewards:some_keys))"),
        ("some_matches", "AttributeError: 'NoneType' object has no attribute 'count' (in some_"),
    ],
)
def test_an_exception_on_some_rows_rejects_these(tmp_path, score, name, reason):
    code, out, _ = score(name)
    assert code == 3
    assert "19 rows in 1 part; 1 row rejected" in out
    (bad,) = rejected(tmp_path / "out")
    assert bad["line"] == 8
    assert bad["reason"].startswith(reason)


def test_a_reward_that_never_returns_can_be_interrupted(tmp_path):
    (tmp_path / "faulty_rewards.py").write_text(REWARDS)
    file = jsonl(tmp_path / "a.jsonl", [{"completion": "text"}])
    asked = ["score", file, "--recipe", recipe_of(tmp_path, "hangs"), "--out", tmp_path / "out"]
    start = "import sys; from plaudit.cli import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", start, *map(str, asked)],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert process.stderr.readline() == "hanging\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in err
