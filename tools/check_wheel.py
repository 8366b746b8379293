"""Try a wheel in a clean environment: `make wheel` runs this.

python tools/check_wheel.py build/wheel/plaudit-0.1.0-py3-none-any.whl build/wheel/venv
"""

import re
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

HALF = ["--completion", r"So \boxed{\frac{2}{4}}.", "--solution", "1/2"]


def main(wheel: Path, environment: Path) -> None:
    with zipfile.ZipFile(wheel) as files:
        names = files.namelist()
        (metadata,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        page = Parser().parsestr(files.read(metadata).decode()).get_payload()
    assert "plaudit/py.typed" in names, "plaudit/py.typed is missing"
    assert any(name.endswith("licenses/LICENSE") for name in names), "the licence is missing"
    assert "Verifiable rewards" in page
    links = re.findall(r"\]\(((?!https?:|#)[^)]*)\)", page)
    assert not links, f"links that break on a package page: {links}"

    plaudit = str(environment / "bin" / "plaudit")
    for arguments in (
        ["--version"],
        ["list"],
        ["try", "answers.answer_reward", *HALF],
        ["try", "trl.accuracy_reward", *HALF],
        [
            "try",
            "trl.accuracy_reward",
            "--completion",
            r"\boxed{\sin^2 x + \cos^2 x}",
            "--solution",
            "1",
        ],
    ):
        done = subprocess.run([plaudit, *arguments], capture_output=True, text=True, check=True)
        if arguments[0] == "try":
            assert re.search(r"^value +1\.0$", done.stdout, re.M), done.stdout
    print(f"{wheel.name} works in a clean environment")


main(Path(sys.argv[1]), Path(sys.argv[2]))
