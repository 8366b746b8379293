"""The log of attempts that CANOE and VLM-R1 keep."""

import threading

import pytest

from plaudit.scores import Score
from plaudit.scores import score as score_module
from plaudit.scores.score import log_attempts

RIGHT = Score(1.0, "Equal.")


@pytest.fixture
def debugging(monkeypatch, tmp_path):
    monkeypatch.setenv("DEBUG_MODE", "true")
    monkeypatch.delenv("LOG_PATH", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(score_module, "_warned_of", set())
    return tmp_path


def test_attempts_are_appended_with_reward_content_and_solution(debugging):
    for _ in range(2):
        log_attempts("accuracy_reward.log", "Accuracy reward", [RIGHT], ["naïve é\ud800"], ["4"])
    text = (debugging / "accuracy_reward.log").read_text(encoding="utf-8")
    assert text.count("Accuracy reward: 1.0 ---") == 2
    assert "Content: naïve é\\ud800\nSolution: 4\n" in text


@pytest.mark.parametrize(
    ("log_path", "suffix", "file"),
    [
        ("run.txt", "", "run.txt"),
        ("run.txt", "_format", "run_format.txt"),
        ("run.log", "_format", "run.log_format.txt"),
        ("", "_format", "own_format.txt"),
    ],
)
def test_the_file(debugging, monkeypatch, log_path, suffix, file):
    monkeypatch.setenv("LOG_PATH", log_path)
    log_attempts("own.txt", "Format reward", [RIGHT], ["4"], suffix=suffix)
    assert [path.name for path in debugging.iterdir()] == [file]


@pytest.mark.parametrize("mode", ["", "false", "1"])
def test_nothing_is_written_unless_asked(debugging, monkeypatch, mode):
    monkeypatch.setenv("DEBUG_MODE", mode)
    log_attempts("own.txt", "Format reward", [RIGHT], ["4"])
    assert not list(debugging.iterdir())


def test_a_log_that_cannot_be_written_warns_once(debugging, monkeypatch, recwarn):
    monkeypatch.setenv("LOG_PATH", str(debugging / "missing" / "run.txt"))
    for _ in range(3):
        log_attempts("own.txt", "Format reward", [RIGHT], ["4"])
    assert [str(warning.message) for warning in recwarn] == [
        "plaudit writes no debug log: [Errno 2] No such file or directory: "
        f"'{debugging / 'missing' / 'run.txt'}'"
    ]


def test_batches_of_several_threads_do_not_mix(debugging):
    def write(letter):
        for _ in range(20):
            log_attempts("own.txt", "Reward", [RIGHT] * 50, [letter * 400] * 50)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = (debugging / "own.txt").read_text().splitlines()
    contents = [line for line in lines if line.startswith("Content")]
    assert len(contents) == 4 * 20 * 50
    batches = [set(contents[start : start + 50]) for start in range(0, len(contents), 50)]
    assert all(len(batch) == 1 for batch in batches)
