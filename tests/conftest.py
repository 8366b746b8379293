"""What tests of several packages share."""

import signal
from contextlib import suppress
from pathlib import Path

import pytest

from examples import LONG

# A shell makes what runs in its background ignore Ctrl-C, and so what that starts, which some tests
# interrupt. Whoever has a handler of its own starts others without one.
signal.signal(signal.SIGINT, signal.default_int_handler)


with suppress(ImportError):  # the trainers' environment has no hypothesis
    from hypothesis import settings

    # How long an example takes says more of the machine than of plaudit.
    settings.register_profile("plaudit", deadline=None)
    settings.load_profile("plaudit")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """`make test-long` also runs the tests that have more examples there than in `make test`."""
    if LONG:
        for item in items:
            if hasattr(getattr(item, "module", None), "examples"):
                item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of golden calls and real outputs beside the project; skips where it is not."""
    folder = Path(__file__).parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("the shared folder is not beside the project")
    return folder


@pytest.fixture
def image(tmp_path):
    """The path of an image of 280 by 140 pixels."""
    from PIL import Image

    path = tmp_path / "image.png"
    Image.new("RGB", (280, 140)).save(path)
    return path


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """A module of rewards that cannot be imported."""
    (tmp_path / "broken_rewards.py").write_text("import no_such_thing")
    monkeypatch.syspath_prepend(tmp_path)
