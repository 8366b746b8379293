"""Nothing in; Vega, Vega-Lite and Vega-Embed out, as one script, which is part of the page.

Bundling takes seconds and blocks the interpreter, so another process does it at the same time.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import vl_convert

_SNIPPET = "window.vegaEmbed = vegaEmbed;"
_CODE = """
import sys, vl_convert
sys.stdout.buffer.write(vl_convert.javascript_bundle(sys.argv[1]).encode())
"""


@contextmanager
def bundling() -> Iterator[Callable[[], str]]:
    """Start to bundle the script; the function that is yielded waits for it and returns it."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", _CODE, _SNIPPET],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )

    def script() -> str:
        made, _ = child.communicate()
        return made.decode("utf-8") if made and child.returncode == 0 else _made_here()

    with child:
        try:
            yield script
        finally:
            child.kill()


def _made_here() -> str:
    return vl_convert.javascript_bundle(_SNIPPET)
