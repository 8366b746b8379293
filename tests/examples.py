"""How many examples a property is tried on."""

import os

LONG = bool(os.environ.get("PLAUDIT_LONG_TESTS"))  # `make test-long` sets it


def examples(count):
    """All of them in `make test-long`, a tenth in `make test`, whose user waits for it."""
    return count if LONG else max(count // 10, 20)
