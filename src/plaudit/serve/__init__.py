"""A recipe over HTTP.

    $ plaudit serve --recipe trl-math --port 8950
    $ curl -s localhost:8950/v1/score -H 'content-type: application/json' \\
          -d '{"completions": ["So \\\\boxed{2/4}."], "columns": {"solution": ["1/2"]}}'

`application` is the server as an ASGI application, and `serving` runs one in a thread. The page
docs/serve.md has the protocol, the limits and what the server does not do.
"""

from plaudit.serve._application import application
from plaudit.serve._application import host_in as host_in
from plaudit.serve._metrics import log as log
from plaudit.serve._metrics import log_to_stderr as log_to_stderr
from plaudit.serve._scorer import ServerLimits
from plaudit.serve._server import LOOPBACK as LOOPBACK
from plaudit.serve._server import listen as listen
from plaudit.serve._server import raise_descriptor_limit as raise_descriptor_limit
from plaudit.serve._server import server_of as server_of
from plaudit.serve._server import serving

__all__ = ["ServerLimits", "application", "serving"]
