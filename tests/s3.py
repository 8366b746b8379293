"""A server that speaks as S3 does, and what is in it. tests/ray uses it, too."""

import logging
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import pyarrow.fs as pafs

BUCKET = "rollouts"
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "somebody",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


class Request(NamedTuple):
    """What was asked of the server; start and end are those of the bytes that were wanted."""

    method: str
    path: str
    query: str
    start: int
    end: int


class Store:
    """The objects of a bucket.

    requests: all that came so far
    refuses: whether to answer a request with an error
    """

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.requests: list[Request] = []
        self.refuses: Callable[[Request], bool] = lambda request: False
        self._system = pafs.S3FileSystem(
            access_key="somebody",
            secret_key="secret",
            region="us-east-1",
            endpoint_override=endpoint,
            allow_bucket_creation=True,
        )
        self._system.create_dir(BUCKET)

    def put(self, name: str, content: bytes) -> str:
        """Write an object, and give its URL."""
        with self._system.open_output_stream(f"{BUCKET}/{name}", compression=None) as file:
            file.write(content)
        return f"s3://{BUCKET}/{name}"

    def remove(self, name: str) -> None:
        self._system.delete_file(f"{BUCKET}/{name}")

    def content(self, folder: str) -> dict[str, bytes]:
        """Every object below a folder."""
        root = f"{BUCKET}/{folder}"
        below = pafs.FileSelector(root, recursive=True, allow_not_found=True)
        found = [one for one in self._system.get_file_info(below) if one.is_file]
        return {one.path.removeprefix(f"{root}/"): self._read(one.path) for one in found}

    def answer(self, app: Any, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        """Answer a request as the server does, or refuse it."""
        start, _, end = environ.get("HTTP_RANGE", "").removeprefix("bytes=").partition("-")
        method, path, query = (
            environ[name] for name in ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING")
        )
        request = Request(method, path, query, int(start or 0), int(end or -1) + 1)
        self.requests.append(request)
        if not self.refuses(request):
            return app(environ, start_response)
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        start_response("500 Refused", [("Content-Type", "application/xml")])
        return [b"<Error><Code>InternalError</Code><Message>no luck</Message></Error>"]

    def _read(self, path: str) -> bytes:
        with self._system.open_input_file(path) as file:
            return file.read()


@contextmanager
def s3_server() -> Iterator[Store]:
    """A server, and the environment by which plaudit and its workers find it."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    before = dict(os.environ)
    os.environ.update({**ENVIRONMENT, "AWS_ENDPOINT_URL": endpoint})
    try:
        store = Store(endpoint)
        server._server.app = partial(store.answer, server._server.app)
        yield store
    finally:
        os.environ.clear()
        os.environ.update(before)
        server.stop()
