"""`plaudit score`, as a person meets it."""

import io
import json
import os
import re
import subprocess
import sys

import pytest

from plaudit.cli import main
from plaudit.tables import summary as progress_module
from plaudit.tables.summary import ScoreProgress
from tables import jsonl, scored


def run(capsys, *arguments):
    try:
        code = main(["score", *map(str, arguments)])
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    return code, out, err


def test_a_file_is_scored_and_summed_up(tmp_path, rows, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jsonl(tmp_path / "a.jsonl", rows)
    code, out, err = run(capsys, "a.jsonl", "--recipe", "trl-reasoning", "--out", "scored")
    assert code == 0
    assert out == (
        "scored: 12 rows in 1 part\n"
        "  reasoning_accuracy_reward  mean 0.167\n"
        "  think_format_reward        mean 1.000\n"
        "  total                      mean 1.167\n"
        "  status                     scored 12\n"
    )
    assert "rows/s" in err
    run_json = json.loads((tmp_path / "scored" / "_run.json").read_text())
    assert run_json["components"] == ["reasoning_accuracy_reward", "think_format_reward"]
    assert run_json["inputs"][0]["path"] == "a.jsonl"
    assert (run_json["finished"], run_json["rows"]) == (True, 12)


def test_quiet_is_quiet(tmp_path, rows, recipe_file, capsys):
    file = jsonl(tmp_path / "a.jsonl", rows)
    asked = (file, "--recipe", recipe_file, "--out", tmp_path / "out", "--quiet")
    assert run(capsys, *asked) == (0, "", "")
    assert scored(tmp_path / "out").num_rows == 12


def test_columns_of_other_names(tmp_path, rows, recipe_file, capsys):
    others = [{"said": row["completion"], "gold": row["solution"], "id": 1} for row in rows]
    file = jsonl(tmp_path / "a.jsonl", others)
    names = ("--completions", "said", "--column", "solution=gold", "--group", "id", "--limit", 5)
    code, out, _ = run(capsys, file, "--recipe", recipe_file, "--out", tmp_path / "out", *names)
    assert (code, out.splitlines()[0]) == (0, f"{tmp_path}/out: 5 rows in 1 part")
    assert set(scored(tmp_path / "out")["group_id"].to_pylist()) == {"1"}


def test_rejected_rows_have_an_exit_code_of_their_own(tmp_path, rows, recipe_file, capsys):
    file = jsonl(tmp_path / "a.jsonl", [*rows, {"completion": "no gold"}])
    asked = (file, "--recipe", recipe_file, "--out", tmp_path / "out")
    code, out, err = run(capsys, *asked, "--strict")
    assert (code, out) == (3, "")
    assert err == (
        f"plaudit: {file}, line 13: the row has no column solution. Stopped because of --strict.\n"
    )
    code, out, _ = run(capsys, *asked)
    assert code == 3
    assert f"1 row rejected, see {tmp_path}/out/_rejected.jsonl" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.jsonl", "--recipe", "trl-math"], "there is no none.jsonl"),
        (["none.jsonl", "--recipe", "trl-maths"], 'did you mean "trl-math"?'),
        (["none.jsonl", "--recipe", "trl-math", "--workers", "0"], "workers must be 1 or more"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path, capsys, arguments, said):
    code, out, err = run(capsys, *arguments, "--out", tmp_path / "out")
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--column", "solution=golds"], 'did you mean "gold"? Then say --column solution=gold'),
        (["--column", "solution=golds"], 'The columns are "completion", "gold"'),
        (["--column", "gold=solution"], "did you mean --column solution=gold?"),
        (
            ["--column", "solution=gold", "--group", "id"],
            "(--group); its columns are completion, gold",
        ),
        (["--ray-address", "auto"], "--ray-address auto has no effect without --engine ray"),
        (["--completions", "text"], 'there is no column "text", with what the model wrote'),
    ],
)
def test_a_column_that_is_not_there_is_asked_for_by_the_option_that_names_it(
    tmp_path, capsys, options, said
):
    file = jsonl(tmp_path / "a.jsonl", [{"completion": "4", "gold": "4"}])
    asked = (file, "--recipe", "trl-math", "--out", tmp_path / "out", *options)
    code, out, err = run(capsys, *asked)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_the_column_of_completions_is_asked_for_in_the_same_way(tmp_path, capsys):
    file = jsonl(tmp_path / "a.jsonl", [{"completoin": "4", "solution": "4"}])
    code, _, err = run(capsys, file, "--recipe", "trl-math", "--out", tmp_path / "out")
    assert code == 2
    assert "Then say --completions completoin on the command line" in err


@pytest.mark.usefixtures("in_process")
def test_columns_are_guessed_by_meaning_and_said_aloud(tmp_path, capsys):
    file = jsonl(tmp_path / "a.jsonl", [{"response": r"\boxed{4}", "gold": "4", "answer": "5"}])
    asked = (file, "--recipe", "trl-math", "--out", tmp_path / "out")
    code, out, err = run(capsys, *asked)
    assert (code, "mean 1.000" in out) == (0, True)
    assert err.splitlines()[:2] == [
        "plaudit: completions: column response (for another, say --completions COLUMN)",
        "plaudit: solution: column gold (for another, say --column solution=COLUMN)",
    ]
    code, out, err = run(capsys, *asked, "--column", "solution=answer", "--overwrite")
    assert (code, "mean 0.000" in out, "solution: column" in err) == (0, True, False)


@pytest.mark.usefixtures("in_process")
def test_a_finished_folder_says_so(tmp_path, rows, recipe_file, capsys):
    asked = (jsonl(tmp_path / "a.jsonl", rows), "--recipe", recipe_file, "--out", tmp_path / "out")
    first = run(capsys, *asked)
    code, out, err = run(capsys, *asked)
    assert (code, out) == first[:2]
    assert err == (
        f"plaudit: {tmp_path}/out was finished before, and nothing was scored now; "
        "--overwrite starts over\n"
    )


def test_a_limit_in_the_environment_that_is_none_is_said_in_one_line(tmp_path, rows):
    file = jsonl(tmp_path / "a.jsonl", rows)
    asked = ["score", file, "--recipe", "trl-math", "--out", tmp_path / "out"]
    ended = subprocess.run(
        [sys.executable, "-m", "plaudit", *asked],
        env={**os.environ, "PLAUDIT_DEADLINE": "soon"},
        capture_output=True,
        text=True,
    )
    said = "plaudit: PLAUDIT_DEADLINE must be a number, got 'soon'\n"
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", said)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["score", "a", "--recipe", "r", "--out", "o"], "pip install 'plaudit[score]'"),
        (["diff", "a", "b"], "pip install 'plaudit[score]'"),
        (["report", "a"], "pip install 'plaudit[report]'"),
    ],
)
def test_without_pyarrow_every_command_says_what_to_install(command, said):
    start = "import sys; sys.modules['pyarrow'] = None; from plaudit.cli import main; "
    ended = subprocess.run(
        [sys.executable, "-c", f"{start}sys.exit(main({command!r}))"],
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    assert said in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_without_pyarrow_the_library_says_what_to_install():
    start = "import sys; sys.modules['pyarrow'] = None; import plaudit.tables"
    ended = subprocess.run([sys.executable, "-c", start], capture_output=True, text=True)
    assert ended.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: plaudit.tables needs pyarrow: pip install 'plaudit[score]'"
    )


def test_without_tqdm_there_is_no_bar(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(progress_module, "EVERY", 0.0)
    terminal = Terminal()
    progress = ScoreProgress(terminal, 1000)
    progress.scored(100, 2, {"limit": 1, "scored": 99}, 100)
    progress.close()
    assert terminal.getvalue().startswith("plaudit: 10%, 100 rows")


@pytest.mark.parametrize(
    "arguments",
    [[], ["a.jsonl", "--recipe", "r"], ["a.jsonl", "--recipe=r", "--out=o", "--column=solution"]],
)
def test_wrong_usage_shows_the_usage(capsys, arguments):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert err.startswith("usage: plaudit score")


def test_the_help_has_examples_and_exit_codes(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert "plaudit score rollouts.jsonl --recipe trl-math --out scored" in out
    assert "exit codes:" in out


def test_a_run_that_stops_says_so(tmp_path, rows, recipe_file, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    file = jsonl(tmp_path / "a.jsonl", rows)
    asked = (file, "--recipe", recipe_file, "--out", tmp_path / "out")
    code, _, err = run(capsys, *asked, "--engine", "ray")
    assert (code, err) == (2, "plaudit: --engine ray needs Ray: pip install 'plaudit[ray]'\n")
    monkeypatch.setattr("plaudit.processes.PROGRAM", "raise SystemExit(5)")
    code, _, err = run(capsys, *asked)
    assert code == 1
    assert "the last with exit code 5" in err


class Terminal(io.StringIO):
    def isatty(self):
        return True


PART = {"rows": 500, "rejected": [{}], "statuses": {"scored": 490, "timeout": 10}}


def test_a_terminal_gets_a_bar():
    terminal = Terminal()
    progress = ScoreProgress(terminal, 1000)
    progress.found(PART, 400)
    progress.scored(100, 2, {"limit": 1, "scored": 99}, 100)
    progress.close()
    shown = terminal.getvalue()
    assert " 50%" in shown
    assert "600 rows" in shown
    assert "left, timeout 10, limit 1, rejected 3" in shown


def test_elsewhere_there_is_a_line_now_and_then(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: clock[0])
    out = io.StringIO()
    progress = ScoreProgress(out, 100_000)
    progress.found(PART, 10_000)
    for _ in range(4):
        clock[0] += 6
        progress.scored(600, 0, {"scored": 600}, 100)
    progress.close()
    assert out.getvalue().splitlines() == [
        "plaudit: 10%, 1,100 rows, 100 rows/s, 1:29:54 left, timeout 10, rejected 1",
        "plaudit: 10%, 2,300 rows, 100 rows/s, 1:29:42 left, timeout 10, rejected 1",
    ]


@pytest.mark.parametrize("known", [True, False], ids=["workers known", "on a cluster"])
@pytest.mark.parametrize(("workers", "starting", "chunk"), [(2, 4, 0.5), (8, 3, 3), (1, 0, 0.25)])
def test_the_time_left_is_right_within_a_factor_of_two(
    monkeypatch, known, workers, starting, chunk
):
    clock = [100.0]
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(progress_module, "EVERY", 0.0)
    out = io.StringIO()
    progress = ScoreProgress(out, 100 * workers, workers if known else None)
    ends = 100.0 + starting + 100 * chunk
    for step in range(1, 100):  # each worker scores a chunk in the same time
        clock[0] = 100.0 + starting + step * chunk
        for _ in range(workers):
            progress.scored(10, 0, {"scored": 10}, 1, chunk)
        minutes, seconds = re.findall(r"(\d+):(\d\d) left", out.getvalue())[-1]
        left = 60 * int(minutes) + int(seconds)
        if clock[0] >= 105 and ends - clock[0] >= 2:
            assert (ends - clock[0]) / 2 <= left <= 2 * (ends - clock[0])
