"""Puts a KaTeX release into the report's folder, with the fonts inside the style sheet.

npm pack katex@0.19.1 && tar xzf katex-0.19.1.tgz
python tools/katex.py package
"""

import base64
import re
import sys
from pathlib import Path

HERE = Path(__file__).parents[1] / "src" / "plaudit" / "report" / "katex"


def main(release: Path) -> None:
    """Write katex.min.js, katex.min.css and LICENSE into the package."""
    dist = release / "dist"

    def inlined(found: re.Match[str]) -> str:
        font = base64.b64encode((dist / found[1]).read_bytes()).decode("ascii")
        return f'src:url(data:font/woff2;base64,{font}) format("woff2")'

    css = (dist / "katex.min.css").read_text(encoding="utf-8")
    css = re.sub(r'src:url\((fonts/[\w-]+\.woff2)\) format\("woff2"\)[^}]*', inlined, css)
    (HERE / "katex.min.css").write_text(css, encoding="utf-8")
    for file in (dist / "katex.min.js", release / "LICENSE"):
        (HERE / file.name).write_bytes(file.read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
