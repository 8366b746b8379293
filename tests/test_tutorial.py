"""The tutorial is a notebook that runs from top to bottom, and shows what it says."""

import os
import re
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs" / "tutorial.ipynb"


def shown(notebook):
    """What each cell shows: text alone, without addresses, times and speeds.

    Nor does it have progress, which a command shows on a machine that is slow.
    """
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    texts = ["".join(map(_text, cell.outputs)) for cell in cells]
    texts = [re.sub(r"^plaudit: .*…\n", "", text, flags=re.MULTILINE) for text in texts]
    return [re.sub(r"0x[0-9a-f]+|[\d.]+ s\b|[\d.,]+ rows/s", "…", text) for text in texts]


def _text(output):
    return output.get("text") or output.get("data", {}).get("text/plain", "")


@pytest.mark.long
def test_the_tutorial_shows_what_it_did_when_it_was_written(tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    shutil.copytree(ROOT / "examples" / "tutorial", tmp_path / "examples" / "tutorial")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    notebook = nbformat.read(TUTORIAL, as_version=4)
    before = shown(notebook)
    where = {"metadata": {"path": str(tmp_path / "docs")}}
    NotebookClient(notebook, timeout=300, resources=where).execute()
    assert shown(notebook) == before
    assert (tmp_path / "docs" / "scored" / "_report" / "index.html").exists()
