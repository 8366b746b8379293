"""Requests with completions in, rewards and their reasons out: a recipe over HTTP.

    $ plaudit serve --recipe trl-math --port 8950
    $ curl -s localhost:8950/v1/score -H 'content-type: application/json' \\
          -d '{"completions": ["So \\\\boxed{2/4}."], "columns": {"solution": ["1/2"]}}'

`application` is the server as an ASGI application, and `serving` runs one in a thread. The page
docs/serve.md has the protocol, the limits and what the server does not do.
"""

from plaudit.serve._admission import Limits
from plaudit.serve._application import application
from plaudit.serve._command import add_arguments, run
from plaudit.serve._middleware import host_in
from plaudit.serve._server import LOOPBACK, listen, serving

__all__ = [
    "LOOPBACK",
    "Limits",
    "add_arguments",
    "application",
    "host_in",
    "listen",
    "run",
    "serving",
]
