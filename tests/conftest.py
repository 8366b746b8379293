"""What tests of several rooms share."""

import signal
from pathlib import Path

import pytest

# A shell makes what runs in its background ignore Ctrl-C, and so what that starts, which some tests
# interrupt. Whoever has a handler of its own starts others without one.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of golden calls and real outputs beside the project; skips where it is not."""
    folder = Path(__file__).parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("the shared folder is not beside the project")
    return folder
