"""Limits are checked where they are set, and may come from the environment."""

from dataclasses import FrozenInstanceError

import pytest

from plaudit.judge import Settings, configure, shared_judge

NAMES = ("deadline", "memory", "workers", "cache", "cache_memory")


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(f"PLAUDIT_{name.upper()}", raising=False)


def test_the_defaults():
    settings = Settings.from_environment()
    assert settings == Settings()
    assert (settings.deadline, settings.memory) == (5.0, 1024)
    assert settings.workers >= 1


@pytest.mark.parametrize("name", NAMES)
def test_each_may_come_from_the_environment(monkeypatch, name):
    monkeypatch.setenv(f"PLAUDIT_{name.upper()}", "7")
    settings = Settings.from_environment()
    assert getattr(settings, name) == 7
    assert settings == Settings(**{name: 7})


def test_a_deadline_may_be_a_fraction_of_a_second(monkeypatch):
    monkeypatch.setenv("PLAUDIT_DEADLINE", "0.25")
    assert Settings.from_environment().deadline == 0.25


def test_an_empty_variable_says_nothing(monkeypatch):
    monkeypatch.setenv("PLAUDIT_WORKERS", "")
    assert Settings.from_environment() == Settings()


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("PLAUDIT_WORKERS", "two", "PLAUDIT_WORKERS must be a whole number, got 'two'"),
        ("PLAUDIT_WORKERS", "1.5", "PLAUDIT_WORKERS must be a whole number, got '1.5'"),
        ("PLAUDIT_DEADLINE", "soon", "PLAUDIT_DEADLINE must be a number, got 'soon'"),
        ("PLAUDIT_MEMORY", "-1", "memory must be above 0, got -1"),
    ],
)
def test_a_variable_that_makes_no_sense_is_named(monkeypatch, variable, text, message):
    monkeypatch.setenv(variable, text)
    with pytest.raises(ValueError, match=message):
        Settings.from_environment()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0, -1])
def test_a_limit_is_above_zero(name, value):
    with pytest.raises(ValueError, match=f"{name} must be above 0, got {value}"):
        Settings(**{name: value})


@pytest.mark.parametrize("name", NAMES)
def test_a_limit_has_a_limit(name):
    """A deadline of 1e15 seconds would fail much later, in a call that knows nothing of it."""
    with pytest.raises(ValueError, match=rf"{name} must be at most [0-9,]+, got 1000000000000000"):
        Settings(**{name: 10**15})


def test_a_day_is_the_longest_deadline():
    assert Settings(deadline=86_400.0).deadline == 86_400
    with pytest.raises(ValueError, match=r"deadline must be at most 86,400, got 10+\.0"):
        Settings(deadline=1e15)
    with pytest.raises(ValueError, match="deadline must be at most 86,400, got inf"):
        Settings(deadline=float("inf"))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", ["5", None, True, [1]])
def test_a_limit_is_a_number(name, value):
    with pytest.raises(TypeError, match=rf"{name} must be a (whole )?number"):
        Settings(**{name: value})


@pytest.mark.parametrize(("name", "value"), [("workers", 1.5), ("deadline", float("nan"))])
def test_a_limit_makes_sense(name, value):
    with pytest.raises((TypeError, ValueError), match=name):
        Settings(**{name: value})


def test_settings_do_not_change():
    with pytest.raises(FrozenInstanceError):
        Settings().deadline = 1


def test_what_is_not_configured_stays():
    before = shared_judge().settings
    try:
        configure(deadline=2, workers=1)
        configure(memory=512)
        settings = shared_judge().settings
        assert (settings.deadline, settings.workers, settings.memory) == (2, 1, 512)
        with pytest.raises(ValueError, match="cache must be above 0, got 0"):
            configure(cache=0)
        assert shared_judge().settings is settings
    finally:
        configure(**{name: getattr(before, name) for name in NAMES})
