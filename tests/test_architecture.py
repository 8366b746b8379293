"""The page on how plaudit is built names files that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_file_that_the_page_names_exists():
    listed = re.findall(r"^  ([\w/]+(?:\.py|/)) ", PAGE, re.MULTILINE)
    walked = re.findall(r"`([\w/]+(?:\.py|/))`", PAGE)
    assert len(listed) > 15
    assert len(walked) > 10
    for name in (*listed, *walked):
        # Files of the tests and of the documentation are named from the project's own folder.
        assert (ROOT / "src" / "plaudit" / name).exists() or (ROOT / name).exists(), name


def test_every_module_is_in_the_list():
    listed = set(re.findall(r"^  (\w+)(?:\.py|/) ", PAGE, re.MULTILINE))
    names = {path.stem for path in (ROOT / "src" / "plaudit").iterdir()}
    assert names - listed <= {"__init__", "__main__", "__pycache__", "presets", "py"}
