"""The requests of a client, as generators that serve both the client and the async client.

A generator yields a `Request` and receives the response, or the error that came instead; or it
yields a `Pause`, and goes on after it. `ServerConnection` runs it in a thread, and
`AsyncServerConnection` on an event loop.
"""

import http.client
import json
import logging
import os
import random
import ssl
import time
import warnings
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from socket import gaierror
from typing import Any, TypeVar, get_args, get_type_hints

import httpx
import msgspec

from plaudit.inputs.columns import TRUNCATION, python_values, same_length, truncated_rows
from plaudit.inputs.columns import rows_of as rows_in
from plaudit.inputs.images import is_decoded
from plaudit.recipes import RowScore
from plaudit.runs.recording import Recording, environment_recording, recording_in
from plaudit.scores import Score
from plaudit.scores.decorators import HOOKS

T = TypeVar("T")
VARIABLE = "PLAUDIT_TOKEN"
CONNECT_TIMEOUT = 5.0  # seconds: a server accepts a connection at once, however busy it is
RETRIED = (429, 502, 503, 504)
LOGGER = logging.getLogger("plaudit.trainers.client")
LOG_INTERVAL = 15.0  # seconds between two lines about a server that does not answer
LONGEST_PAUSE = 10.0  # seconds between two attempts, unless the server asks for more
Columns = Mapping[str, Any]
Texts = list[str | list[dict[str, str]]]  # completions as most trainers pass them
FIELDS = get_type_hints(Score)
NUMBERS = [name for name, kind in FIELDS.items() if float in get_args(kind)]


@dataclass(frozen=True)
class ClientSettings:
    """The settings of a client; see `Client` for what each means."""

    url: str
    token: str | None = field(default=None, repr=False)
    patience: float = 120.0
    timeout: float = 330.0
    columns: Collection[str] | None = None

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError(
                f"the address of a server starts with http:// or https://, got {self.url!r}"
            )
        object.__setattr__(self, "url", self.url.rstrip("/"))
        try:
            host = httpx.URL(self.url).host
        except httpx.InvalidURL as error:
            raise ValueError(f"{self.url!r} is not the address of a server: {error}") from None
        if not host:
            raise ValueError(f"{self.url!r} is not the address of a server: it names no host")
        if isinstance(self.columns, str):
            raise ValueError(f"columns must be a list of names: write [{self.columns!r}]")
        for name, least in (("patience", 0.0), ("timeout", 1e-3)):
            seconds = getattr(self, name)
            if not seconds >= least:  # NaN is neither
                raise ValueError(f"{name} must be a number of seconds, got {seconds!r}")
        if not isinstance(self.token, str | None):
            raise TypeError(f"the token must be text, got {type(self.token).__name__}")
        token = self._bearer()
        if not (token.isascii() and token.isprintable()):
            raise ValueError("the token has characters that no header can hold")

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every request."""
        headers = {"Content-Type": "application/json", "User-Agent": "plaudit"}
        if token := self._bearer():
            headers["Authorization"] = f"Bearer {token}"
        return headers

    def _bearer(self) -> str:
        return (self.token or os.environ.get(VARIABLE, "")).strip()

    @property
    def token_source(self) -> str:
        """Where the token comes from, for messages."""
        if self.token:
            return "the token of token=…"
        if self._bearer():
            return f"the token of {VARIABLE}"
        return f"no token: pass token=…, or set {VARIABLE}"

    @property
    def timeouts(self) -> httpx.Timeout:
        """Seconds that each part of a request may take."""
        return httpx.Timeout(self.timeout, connect=min(CONNECT_TIMEOUT, self.timeout))


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the server."""

    method: str
    path: str
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """Seconds to wait before the next attempt."""

    seconds: float


Reply = httpx.Response | httpx.TransportError
ClientSteps = Generator[Request | Pause, Reply | None, T]


@dataclass(frozen=True)
class RemoteRecipe:
    """The recipe of a server, as far as a client needs it."""

    name: str
    components: tuple[str, ...]
    weights: tuple[float, ...]
    needs: frozenset[str]
    takes: frozenset[str]
    takes_any: bool
    fingerprint: str = ""  # differs if the rewards may differ
    toml: str = ""  # the recipe as a file

    @classmethod
    def of(cls, info: Mapping[str, Any]) -> "RemoteRecipe":
        """Return the recipe that the server describes."""
        components = info["components"]
        return cls(
            name=info["name"],
            components=tuple(component["name"] for component in components),
            weights=tuple(component["weight"] for component in components),
            needs=frozenset([*info["needs"], *info["needs"].values()]),
            takes=frozenset(info["takes"]),
            takes_any=bool(info.get("takes_any")),
            fingerprint=str(info.get("fingerprint", "")),
            toml=str(info.get("toml", "")),
        )


class RemoteServer:
    """The requests that a server answers."""

    def __init__(self, settings: ClientSettings, recording: Recording | None = None) -> None:
        self.settings = settings
        self._recording = recording
        self._recipe: RemoteRecipe | None = None  # also in a pickle: a process must not see another

    def recipe(self) -> ClientSteps[RemoteRecipe]:
        """Return the server's recipe; it is asked for once."""
        if self._recipe is None:
            answer = yield from self._answer("GET", "/v1/recipe")
            try:
                self._recipe = RemoteRecipe.of(answer)
            except (KeyError, TypeError):
                raise ServerError(_other_server(self.settings.url)) from None
        return self._recipe

    def recording(self) -> ClientSteps[Recording | None]:
        """Return where to record rewards: by `plaudit.record`, or by the environment."""
        if self._recording is not None:
            return self._recording
        recipe = yield from self.recipe()
        return environment_recording(recipe.components, recipe.weights, recipe.toml)

    def recorded_in(self, directory: Path) -> ClientSteps["RemoteServer"]:
        """Return the same server, whose rewards are recorded."""
        recipe = yield from self.recipe()
        recording = recording_in(directory, recipe.components, recipe.weights, recipe.toml)
        server = RemoteServer(self.settings, recording)
        server._recipe = recipe
        return server

    def rewards(
        self, completions: Sequence[Any], columns: Columns, component: str | None = None
    ) -> ClientSteps[list[float | None]]:
        """Return the total of each completion, or the value of one component."""
        if component is None and (yield from self.recording()) is not None:
            rows = yield from self.rows(completions, columns, "/v1/rewards")
            return [row.total for row in rows]
        answer = yield from self._batch("/v1/rewards", completions, columns, component=component)
        return [number(reward) for reward in answer["rewards"]]

    def scores(
        self, completions: Sequence[Any], columns: Columns, component: str
    ) -> ClientSteps[list[Score]]:
        """Return the scores of one component."""
        options = {"component": component, "reasons": True}
        answer = yield from self._batch("/v1/rewards", completions, columns, **options)
        rows = rows_of(answer, (yield from self.recipe()))
        return [row.components[component] for row in rows]

    def rows(
        self, completions: Sequence[Any], columns: Columns, path: str = "/v1/score"
    ) -> ClientSteps[list[RowScore]]:
        """Return the total, the components' scores and the reasons, and record them."""
        start = time.perf_counter()
        answer = yield from self._batch(path, completions, columns, reasons=True)
        rows = rows_of(answer, (yield from self.recipe()))
        if (recording := (yield from self.recording())) is not None:
            recording.add_rows(rows, completions, columns, time.perf_counter() - start)
        return rows

    def _batch(
        self, path: str, completions: Sequence[Any], columns: Columns, **options: Any
    ) -> ClientSteps[dict[str, Any]]:
        recipe = yield from self.recipe()
        options["logs"] = any(callable(columns.get(name)) for name in ("log_extra", "log_metric"))
        body = body_of(recipe, completions, columns, self.settings.columns, **options)
        answer: dict[str, Any] = yield from self._answer("POST", path, body)
        replay(answer, columns)
        return answer

    def _answer(self, method: str, path: str, body: bytes | None = None) -> ClientSteps[Any]:
        attempts = Attempts(self.settings, is_known=self._recipe is not None)
        while True:
            reply = yield Request(method, path, body)
            assert reply is not None
            outcome = attempts.outcome(reply)
            if isinstance(outcome, httpx.Response):
                self._check_fingerprint(outcome)
                try:
                    return read_answer(outcome.content)
                except ValueError:
                    raise ServerError(_other_server(self.settings.url)) from None
            yield outcome

    def _check_fingerprint(self, response: httpx.Response) -> None:
        """Raise if the server scores with another recipe than the one that the client knows."""
        found = response.headers.get("x-recipe-fingerprint", "")
        if self._recipe is not None and found != self._recipe.fingerprint:
            raise ServerError(
                f"{self.settings.url} scores with another recipe than before: its fingerprint was "
                f"{self._recipe.fingerprint or 'missing'}, and is {found or 'missing'}. Its "
                "rewards, weights, gates, parameters, or version of plaudit differ. Start the "
                "server with the recipe of before; or, for the rewards of the new one, make "
                "another Client"
            )


def _other_server(url: str) -> str:
    return f"{url} does not answer as plaudit's server does: is there a proxy, or another server?"


class ServerError(RuntimeError):
    """The server refused, failed or could not be reached; the message says which.

    code: the status of its answer; None if there was none

    >>> ServerError("http://rewards:8950 answered 401: this server requires a token", 401).code
    401
    """

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type["ServerError"], tuple[str, int | None]]:
        return type(self), (str(self), self.code)


class Attempts:
    """The attempts of one request: whether there is another, and after how long.

    The pause doubles each time and is spread at random, so that clients that were refused together
    do not come back together. It is at least as long as the server asks for.
    """

    def __init__(self, settings: ClientSettings, is_known: bool = False) -> None:
        self._settings = settings
        self._is_known = is_known  # whether the server has answered before: its address is right
        self._start = self._logged = time.monotonic()
        self._count = 0

    def outcome(self, reply: Reply) -> httpx.Response | Pause:
        """Return a successful reply, or the pause until the next attempt; else raise."""
        if isinstance(reply, httpx.Response) and reply.status_code not in RETRIED:
            if 200 <= reply.status_code < 300:
                return reply
            raise self._error(reply)
        self._count += 1
        seconds: float = min(0.1 * 2**self._count, LONGEST_PAUSE) * random.uniform(0.5, 1.0)
        if isinstance(reply, httpx.Response):
            # The seconds that the server asks for, at most 60; a date is not understood.
            asked = reply.headers.get("retry-after", "")
            least = min(float(asked), 60.0) if asked.isdecimal() else 0.0
            seconds = max(seconds, least * random.uniform(1.0, 1.5))
        elif not self._is_known and (advice := advice_on(reply, self._settings.url)):
            raise ServerError(f"{self._why(reply)}; {advice}")
        if time.monotonic() + seconds > self._start + self._settings.patience:
            raise self._error(reply)
        self._log_waiting(reply)
        return Pause(seconds)

    def _log_waiting(self, reply: Reply) -> None:
        """Log that the server is away: at once, and then now and then. A busy one is usual."""
        now = time.monotonic()
        is_away, since = not isinstance(reply, httpx.Response), now - self._logged
        if (is_away and self._count == 1) or since > LOG_INTERVAL:
            self._logged = now
            left = max(self._start + self._settings.patience - now, 0.0)
            LOGGER.warning("%s; trying again for %.0f s", self._why(reply), left)

    def _error(self, reply: Reply) -> ServerError:
        tries = f" (tried {self._count} times)" if self._count > 1 else ""
        code = reply.status_code if isinstance(reply, httpx.Response) else None
        hint = ""
        if code == 401:
            hint = f" (the client sent {self._settings.token_source})"
        return ServerError(f"{self._why(reply)}{hint}{tries}", code)

    def _why(self, reply: Reply) -> str:
        if isinstance(reply, httpx.Response):
            return f"{self._settings.url} answered {reply.status_code}: {_reason(reply)}"
        return f"cannot reach {self._settings.url}: {type(reply).__name__} {reply}".strip()


def _reason(reply: httpx.Response) -> str:
    try:
        return str(read_answer(reply.content)["error"])
    except (ValueError, KeyError, TypeError):
        if reply.status_code == 413:
            return "a proxy refuses a body of this size: nginx's client_max_body_size is its limit"
        text = reply.content.decode(errors="replace")
        return text[:200] or http.client.responses.get(reply.status_code, "")


def advice_on(error: Exception, url: str) -> str:
    """Say what is wrong with the address of a server; "" if it may just be away."""
    address = httpx.URL(url)
    for cause in _causes(error):
        if isinstance(cause, gaierror):
            return (
                f"no address is known for the host {address.host}: check its spelling, and DNS on "
                "this machine"
            )
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                "its certificate is not trusted: use the host name that it was issued for, and set "
                "SSL_CERT_FILE to the certificate of the authority that issued it"
            )
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError):
            return f"TLS failed: if the server has none, its address is http://{_host(address)}"
        if "illegal" in str(cause):  # h11: the first line is not HTTP
            return f"it does not answer in HTTP: if it has TLS, its address is https://{_host(address)}"
    return ""


def _host(address: httpx.URL) -> str:
    return address.netloc.decode("ascii")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


# --- bodies and responses -------------------------------------------------------------------------


def body_of(
    recipe: RemoteRecipe,
    completions: Sequence[Any],
    columns: Columns,
    only: Collection[str] | None = None,
    **options: Any,
) -> bytes:
    """Return the body of a request, with the columns that the recipe takes and JSON can represent.

    A column that JSON cannot represent is left out with a warning, unless the recipe needs it.
    """
    sent: dict[str, Any] = {}
    for name in _names(recipe, columns, only):
        column = columns[name]
        # An array of several dimensions, such as images, has too many numbers to send.
        is_listed = isinstance(column, list | tuple) or hasattr(column, "to_list")
        is_column = is_listed or getattr(column, "ndim", 2) == 1
        if not (name in recipe.needs or name in _SHORTER or is_column):
            continue
        if name in recipe.needs | recipe.takes:
            same_length(completions, **{name: column})
        elif len(column) != len(completions):
            continue
        try:
            sent[name] = _sendable(name, column)
        except TypeError as error:
            if name in recipe.needs:
                raise TypeError(f"{error}, and the recipe needs it") from None
            if name in recipe.takes:
                warnings.warn(f"{error}: the server scores without it", stacklevel=2)
    # The server does not see the trainer, which knows what was cut off.
    cut = {*truncated_rows(columns, len(completions))}
    if cut and not any(name in sent for name in TRUNCATION):
        sent["truncated"] = [row in cut for row in range(len(completions))]
    body = {"completions": _sendable("completions", completions), "columns": sent, **options}
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:  # half of a surrogate pair: only Python's own JSON escapes it
        return json.dumps(body, default=_parse_raw).encode()


def _names(recipe: RemoteRecipe, columns: Columns, only: Collection[str] | None) -> list[str]:
    passed = [name for name, column in columns.items() if column is not None]
    wanted = set(passed) if recipe.takes_any else recipe.takes | recipe.needs
    if only is not None:
        wanted &= {*only, *recipe.needs}
    return [name for name in passed if name in wanted and name not in HOOKS]


def _sendable(name: str, column: Sequence[Any]) -> Texts | msgspec.Raw:
    """Texts and messages as they are, which are written fast; anything else as JSON."""
    plain = _SHORTER.get(name, _plain)
    rows = list(rows_in(column, name))
    with suppress(msgspec.ValidationError, TypeError):
        return msgspec.convert(rows, Texts)
    try:
        return msgspec.Raw(json.dumps(rows, default=plain).encode())
    except (TypeError, ValueError, RecursionError):
        row, value = next((row, one) for row, one in enumerate(column) if not _is_json(one, plain))
        raise TypeError(
            f"{name} cannot be sent to the server, since row {row} is an object of type "
            f"{type(value).__name__}, which JSON cannot represent"
        ) from None


def _parse_raw(part: msgspec.Raw) -> Any:
    return json.loads(bytes(part))


def _is_json(value: Any, plain: Callable[[Any], Any]) -> bool:
    try:
        json.dumps(value, default=plain)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _plain(value: Any) -> Any:
    """A numpy number is a number, a row of them a list; a larger array or an image is not sent."""
    if hasattr(value, "tolist") and len(getattr(value, "shape", (0, 0))) <= 1:
        return python_values(value)
    raise TypeError(type(value).__name__)


def _size(value: Any) -> Any:
    """Return the size of an image, which is all that a reward needs of it."""
    return list(value.size) if is_decoded(value) else _plain(value)


_SHORTER = {"image": _size, "images": _size, "image_path": _size, "image_grid_thw": _plain}


def read_answer(content: bytes) -> Any:
    """Return what a response of the server says."""
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError:  # strict JSON has no half of a surrogate pair
        return json.loads(content)


def rows_of(answer: Mapping[str, Any], recipe: RemoteRecipe) -> list[RowScore]:
    """Return the rows of a response, as the recipe itself would give them."""
    weights = dict(zip(recipe.components, recipe.weights, strict=True))
    return [
        RowScore(
            number(row["total"]),
            {name: _score(one) for name, one in row["components"].items()},
            weights,
        )
        for row in answer["rows"]
    ]


def _score(sent: Mapping[str, Any]) -> Score:
    fields = {name: sent[name] for name in FIELDS if name in sent}
    fields |= {name: number(fields[name]) for name in NUMBERS if name in fields}
    if fields.get("turns") is not None:
        fields["turns"] = tuple(fields["turns"])
    return Score(**{"why": "", **fields})


def number(value: float | str | None) -> float | None:
    """Return a number as the server writes it: an infinite one as text."""
    return None if value is None else float(value)


def replay(answer: Mapping[str, Any], columns: Columns) -> None:
    """Log with the trainer what the rewards logged on the server."""
    logs = answer.get("logs", {})
    log_extra, log_metric = columns.get("log_extra"), columns.get("log_metric")
    if callable(log_extra):
        for name, values in logs.get("extra", ()):
            log_extra(name, values)
    if callable(log_metric):
        for name, value in logs.get("metrics", ()):
            log_metric(name, number(value))
