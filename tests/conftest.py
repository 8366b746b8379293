"""What tests of several rooms share."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of golden calls and real outputs beside the project; skips where it is not."""
    folder = Path(__file__).parents[2] / "shared"
    if not folder.is_dir():
        pytest.skip("the shared folder is not beside the project")
    return folder
