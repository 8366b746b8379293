"""The page on how plaudit is built names files that are there; private names stay private."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_every_file_that_the_page_names_exists():
    listed = re.findall(r"^  ([\w/]+(?:\.py|/)) ", PAGE, re.MULTILINE)
    walked = re.findall(r"`([\w/]+(?:\.py|/))`", PAGE)
    assert len(listed) > 12
    assert len(walked) > 10
    for name in (*listed, *walked):
        # Files of the tests and of the documentation are named from the project's own folder.
        assert (ROOT / "src" / "plaudit" / name).exists() or (ROOT / name).exists(), name


def test_every_module_is_in_the_list():
    listed = set(re.findall(r"^  (\w+)(?:\.py|/) ", PAGE, re.MULTILINE))
    names = {path.stem for path in (ROOT / "src" / "plaudit").iterdir()}
    assert names - listed <= {"__init__", "__main__", "__pycache__", "presets", "py"}


def private_imports(path):
    """Imports of a name that starts with `_`, or from such a module, of another package."""
    folder = path.parent.relative_to(ROOT / "src")
    own = ".".join(folder.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("plaudit"):
            continue
        for name in node.names:
            parts = f"{node.module}.{name.name}".split(".")
            private = next((i for i, part in enumerate(parts) if re.match(r"_[^_]", part)), None)
            if private and not f"{own}.".startswith(".".join(parts[:private]) + "."):
                yield ".".join(parts)


def test_no_module_imports_a_private_name_of_another_package():
    found = {path: list(private_imports(path)) for path in (ROOT / "src").rglob("*.py")}
    assert {path.name: names for path, names in found.items() if names} == {}
