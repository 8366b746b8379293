"""The front page: the recipe, live figures, and a form to try a completion."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response


async def front_page(request: Request) -> Response:
    """One file that fetches nothing but this server's own figures. It holds none itself."""
    page, policy = _page()
    headers = {"Content-Security-Policy": policy, "Referrer-Policy": "no-referrer"}
    return Response(page, headers=headers, media_type="text/html; charset=utf-8")


@cache
def _page() -> tuple[str, str]:
    """The page, and what a browser may do for it: run what it holds, and ask this server."""
    page = files("plaudit.serve").joinpath("page.html").read_text("utf-8")
    allowed = {kind: _hashes(page, kind) for kind in ("script", "style")}
    policy = (
        f"default-src 'none'; script-src {allowed['script']}; style-src {allowed['style']}; "
        "connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; "
        "frame-ancestors 'none'"
    )
    return page, policy


def _hashes(page: str, tag: str) -> str:
    found = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
    digests = (b64encode(sha256(text.encode()).digest()).decode() for text in found)
    return " ".join(f"'sha256-{digest}'" for digest in digests)
