"""What the tests of the report share."""

import argparse

import pytest

from plaudit.report import _bundle


@pytest.fixture(autouse=True)
def small_bundle(request, monkeypatch):
    """Vega's script takes seconds to bundle, and most tests look at other things."""
    if "whole" not in request.keywords.get("usefixtures", argparse.Namespace(args=())).args:
        monkeypatch.setattr(_bundle, "_CODE", "print('window.vegaEmbed = 0;')")


@pytest.fixture
def whole():
    """The page with all of its script."""
