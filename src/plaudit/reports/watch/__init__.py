"""A web page that follows recorded runs while they train.

    $ plaudit watch runs/1
    plaudit: watching on http://127.0.0.1:8951 (Ctrl-C ends it)

The page shows curves over the steps, the rows of a step and why each got its values, one prompt's
completions over time, and alarms: what looks wrong, in words, with the rows that show it. It is
served on this machine alone, unless `--host` says otherwise.

    /                                      the page
    /api/state?have=3,1                    what is new of each run, since these versions
    /api/rows?run=0&step=12&order=worst    rows of a step; with by=1 or by=-1, of the next or last
    /api/prompt?prompt=5f0c…               one prompt's completions through time, in every run
"""

import json
import math
import socket
import threading
import time
from base64 import b64encode
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from plaudit.reports import html_page, package_file, render_html
from plaudit.reports._scored_run import distinct_names, prompt_text
from plaudit.runs import open_recorded
from plaudit.runs.alarms import Alarm, Distribution, Step, merge
from plaudit.runs.sessions import prompt_key
from plaudit.serve import LOOPBACK, host_in, listen

__all__ = ["watching"]


MOST = 400  # rows in one answer
USUAL = 60


@contextmanager
def watching(*directories: str | PathLike[str], port: int = 0) -> Iterator[str]:
    """Serve the page of some runs while the block runs; gives its address.

    directories: the folder of a recorded run, or of several to compare
    port: the port to listen on; default: 0, any that is free

    >>> import tempfile
    >>> from urllib.request import urlopen
    >>> with watching(tempfile.mkdtemp()) as address:
    ...     "plaudit watch" in urlopen(address).read().decode()
    True
    """
    server = server_of(runs_of([Path(directory) for directory in directories]), LOOPBACK)
    listener = listen("127.0.0.1", port)
    thread = threading.Thread(target=server.run, args=([listener],), name="plaudit-watch")
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.005)
        yield address_of(listener)
    finally:
        server.should_exit = True
        thread.join()


def runs_of(directories: Sequence[Path]) -> "list[WatchedRun]":
    """Return the runs in some folders, with names that tell them apart."""
    paths = [directory.absolute() for directory in directories]
    # `plaudit train` records into a folder `record` below that of its results.
    names = distinct_names([path.parent if path.name == "record" else path for path in paths])
    return [WatchedRun(path, name) for path, name in zip(paths, names, strict=True)]


def server_of(runs: "Sequence[WatchedRun]", hosts: Collection[str] | None) -> uvicorn.Server:
    """Return a server of the page of some runs; `hosts`: the names that requests may give it."""
    app = application(runs, hosts)
    settings = {"log_config": None, "access_log": False, "server_header": False}
    return uvicorn.Server(uvicorn.Config(app, **settings, ws="none", lifespan="off"))  # type: ignore[arg-type]


def address_of(listener: socket.socket) -> str:
    """Return the URL of a server that listens at a socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def application(runs: "Sequence[WatchedRun]", hosts: Collection[str] | None) -> ASGIApp:
    """Return the page of some runs, and what it asks for.

    hosts: the names that requests may have in their header Host; None: any
    """

    hosts = None if hosts is None else {host.lower() for host in hosts}

    def state(request: Request) -> Response:
        have = [_number(one, -1) for one in request.query_params.get("have", "").split(",")]
        have += [-1] * len(runs)
        return _json([run.state(version) for run, version in zip(runs, have, strict=False)])

    def rows(request: Request) -> Response:
        asked = dict(request.query_params)
        run = runs[min(max(_number(asked.get("run"), 0), 0), len(runs) - 1)]
        return _json(run.rows(asked, _most(asked.get("most"))))

    def prompt(request: Request) -> Response:
        asked = request.query_params
        found = [run.prompt(asked.get("prompt", ""), _most(asked.get("most"))) for run in runs]
        return _json(found)

    def page(request: Request) -> Response:
        return Response(_page(tuple(run.name for run in runs)), media_type="text/html")

    routes = [
        Route("/", page),
        Route("/api/state", state),
        Route("/api/rows", rows),
        Route("/api/prompt", prompt),
    ]
    app = Starlette(routes=routes)

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse requests that name another machine: another site's page may not read a run."""
        answer: ASGIApp = app
        if scope["type"] == "http" and hosts is not None and host_in(scope) not in hosts:
            why = "the header Host names another machine: use localhost or 127.0.0.1\n"
            answer = Response(why, 421, media_type="text/plain")
        await answer(scope, receive, send)

    return guard


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isdecimal() else default


def _most(asked: str | None) -> int:
    return min(_number(asked, USUAL), MOST)


def _json(content: Any) -> Response:
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    text = json.dumps(_finite(content), ensure_ascii=False, default=str)
    return Response(text.encode("utf-8", "replace"), 200, headers, "application/json")


def _finite(value: Any) -> Any:
    """Return the value without infinities, which JSON does not have: rewards may be any number."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, list) else value


@cache
def _page(names: tuple[str, ...]) -> bytes:
    body = render_html(package_file("watch/body.html.jinja"), names=names)
    return html_page(
        ", ".join(names),
        body,
        kind="plaudit watch",
        about=render_html('<p class="quiet" id="about">Reading the run …</p>'),
        sections={"alarms": "Alarms", "curves": "Curves", "rows": "Rows"},
        styles=[package_file("watch/watch.css")],
        scripts=[package_file("watch/charts.js"), package_file("watch/watch.js")],
        vega="",  # the page draws its lines itself: they move, and it opens at once
        fetches=True,
    ).encode("utf-8", "replace")


# --- a run ----------------------------------------------------------------------------------------

POINTS = 400  # of a curve; of a longer run, each point is the mean of several steps
FRESH = 0.5  # seconds: the folder is not read again sooner
LONGEST = 20_000  # characters of a text that are shown; of a longer one, the beginning and the end
KNOWN = (
    *("row_id", "group_id", "step", "process", "prompt", "completion", "thumbnail", "tokens"),
    *("seconds", "total", "status", "explanation"),
)

Row = dict[str, Any]


class WatchedRun:
    """A run that is followed. `version` rises whenever something new was read."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.version = 0
        self._run = open_recorded(folder)
        self._lock = threading.Lock()
        self._looked = 0.0

    def refresh(self) -> None:
        """Read what is new."""
        with self._lock:
            if time.monotonic() - self._looked < FRESH:
                return
            unreadable = len(self._run.unreadable)
            changed = self._run.refresh()
            self._looked = time.monotonic()
            self.version += bool(changed) or len(self._run.unreadable) != unreadable

    @property
    def alarms(self) -> list[Alarm]:
        """The alarms, as far as the run was read."""
        return self._run.alarms

    @property
    def is_live(self) -> bool:
        """Whether a process still records into the folder."""
        return self._run.is_live()

    def state(self, have: int) -> dict[str, Any]:
        """Return what the page shows of the run; the version alone if the page has that already."""
        self.refresh()
        with self._lock:
            if have == self.version and self.version:
                return {"version": self.version}
            steps = self._run.steps
            return {
                "version": self.version,
                "name": self.name,
                "folder": str(self._run.folder),
                "components": list(self._run.components),
                "rows": self._run.rows,
                "unreadable": [f"{part}: {why}" for part, why in self._run.unreadable.items()],
                "steps": len(steps),
                "first": steps[0].step if steps else None,
                "last": steps[-1].step if steps else None,
                "at": max((step.at for step in steps), default=None),
                "unit": steps[-1].unit if steps else "characters",
                "alarms": [asdict(alarm) for alarm in self._run.alarms],
                "curves": curves_of(steps),
            }

    def rows(self, asked: Mapping[str, str], most: int) -> dict[str, Any]:
        """Return the rows of a step that are asked for: by prompt, in an order, or of a kind."""
        step = self._step(asked)
        with self._lock:
            found = [] if step is None else self._run.step_rows(step)
        chosen = sort_rows(filter_rows(found, asked), asked)
        shown = chosen[:most]
        if shown and not asked.get("order") and not asked.get("high"):  # the last group as a whole
            last = shown[-1]["group_id"]
            shown += [row for row in chosen[most:] if row["group_id"] == last]
        rows = [self._row(row) for row in shown]
        return {"step": step, "count": len(chosen), "rows": rows}

    def _row(self, row: Row) -> Row:
        return row_of(row, self._run.components, self._run.folder)

    def prompt(self, prompt: str, most: int) -> dict[str, Any]:
        """Return the completions of one prompt through all steps."""
        self.refresh()
        with self._lock:
            found = self._run.prompt_rows(prompt, most)
        return {"name": self.name, "rows": [self._row(row) for row in found]}

    def _step(self, asked: Mapping[str, str]) -> int | None:
        """Return the step that is asked for, or the nearest after it; the last if none is.

        `by` of -1 or 1 asks for the recorded step before it, or after it.
        """
        self.refresh()
        order, step = [one.step for one in self._run.steps], asked.get("step", "")
        if not order:
            return None
        index = bisect_left(order, int(step)) if step.isdecimal() else len(order) - 1
        index = min(index, len(order) - 1) + {"-1": -1, "1": 1}.get(asked.get("by", ""), 0)
        return order[min(max(index, 0), len(order) - 1)]


def curves_of(steps: Sequence[Step]) -> dict[str, Any]:
    """Return the curves over the steps, of a limited number of points."""
    every = -(-len(steps) // POINTS) or 1
    bins = [steps[at : at + every] for at in range(0, len(steps), every)]
    names = list(steps[-1].values) if steps else []
    found = dict.fromkeys(status for step in steps for status in step.statuses)
    others = [status for status in found if status != "scored"]
    judging = dict.fromkeys(name for step in steps for name in step.right)
    return {
        "step": [part[-1].step for part in bins],
        "values": {
            name: _curve([[s.values[name] for s in part] for part in bins]) for name in names
        },
        "right": {
            name: [_share([step.right.get(name, (0, 0))[::-1] for step in part]) for part in bins]
            for name in judging
        },
        "length": _curve([[step.length for step in part] for part in bins]),
        "flat": [_share([(step.flat, step.groups) for step in part]) for part in bins],
        "statuses": {
            status: [_share([(s.statuses.get(status, 0), s.rows) for s in part]) for part in bins]
            for status in others
        },
        "seconds": [_round(sum(s.seconds for s in part) / len(part)) for part in bins],
        "rewards": {
            name: [_round(sum(s.rewards.get(name, 0.0) for s in p) / len(p)) for p in bins]
            for name in dict.fromkeys(name for step in steps for name in step.rewards)
        },
    }


def _curve(bins: Sequence[Sequence[Distribution]]) -> dict[str, Any]:
    """Return the means, and a standard deviation below and above them, within the values."""
    curve: dict[str, list[float | None]] = {"mean": [], "low": [], "high": []}
    for one in map(merge, bins):
        mean, low, high = one.mean, one.least, one.most
        if mean is not None and low is not None and high is not None:
            low, high = max(low, mean - one.deviation), min(high, mean + one.deviation)
        for name, value in zip(curve, (mean, low, high), strict=True):
            curve[name].append(_round(value))
    return curve


def _share(counts: Sequence[tuple[int, int]]) -> float | None:
    """Return what share of the wholes the parts are; None if the wholes are nothing."""
    whole = sum(of for _, of in counts)
    return _round(sum(part for part, _ in counts) / whole) if whole else None


def _round(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.5g}")


# --- rows -----------------------------------------------------------------------------------------


def filter_rows(rows: Iterable[Row], asked: Mapping[str, str]) -> list[Row]:
    """Return the rows with a status, a prompt, or an answer that a component read."""
    status, prompt, answer = (asked.get(name) for name in ("status", "prompt", "answer"))
    return [
        row
        for row in rows
        if (not status or row["status"] == status)
        and (not prompt or _prompt_of(row) == prompt)
        and (answer is None or _answers(row, asked.get("component"), answer))
    ]


def _prompt_of(row: Row) -> str:
    return prompt_key(row["group_id"], row.get("step"))


def _answers(row: Row, component: str | None, answer: str) -> bool:
    return any(
        entry["component"] == component and (entry["answer"] or "").startswith(answer)
        for entry in row.get("explanation") or ()
        if entry["answer"] is not None
    )


def sort_rows(rows: list[Row], asked: Mapping[str, str]) -> list[Row]:
    """Return the rows in the order that is asked for: best, worst, longest, slowest, or by prompt.

    `high` and `low` name components: rows that are high by the one and low by the other lead.
    """
    order, high, low = asked.get("order"), asked.get("high"), asked.get("low")
    if high and low:
        return sorted(rows, key=lambda row: _value(row, low) - _value(row, high))
    keys: dict[str | None, Callable[[Row], float]] = {
        "best": lambda row: -_value(row, "total"),
        "worst": lambda row: _value(row, "total"),
        "longest": lambda row: -(row.get("tokens") or len(str(row.get("completion") or ""))),
        "slowest": lambda row: -_value(row, "seconds"),
    }
    if order in keys:
        return sorted(rows, key=keys[order])
    first: dict[str, int] = {}
    for number, row in enumerate(rows):
        first.setdefault(str(row.get("group_id")), number)
    return sorted(rows, key=lambda r: (first[str(r.get("group_id"))], -_value(r, "total")))


def _value(row: Row, name: str) -> float:
    value = row.get(name)
    return 0.0 if value is None else float(value)


def row_of(row: Row, components: Sequence[str], folder: Path) -> Row:
    """Return a row as the page shows it; `folder` is that of its record."""
    others = {name: v for name, v in row.items() if name not in (*KNOWN, *components)}
    reasons = row.get("explanation") or []
    verdicts = [entry["right"] for entry in reasons if entry.get("right") is not None]
    return {
        "id": str(row["row_id"]),
        "step": row.get("step"),
        "process": row.get("process"),
        "group": str(row["group_id"]),
        "key": _prompt_of(row),
        "prompt": _shorten(prompt_text(row.get("prompt"))),
        "completion": _shorten(prompt_text(row.get("completion"))),
        "thumbnail": _thumbnail(folder, row.get("thumbnail")),
        "tokens": row.get("tokens"),
        "seconds": row.get("seconds"),
        "total": row["total"],
        "status": row["status"],
        "right": all(verdicts) if verdicts else None,
        "values": {name: row.get(name) for name in components},
        "reasons": reasons,
        "others": {name: _shorten(str(v)) for name, v in others.items() if v is not None},
    }


def _thumbnail(folder: Path, name: str | None) -> str | None:
    """Return the small image of a row, as a data URI; None if there is none."""
    if not name:
        return None
    try:
        content = (folder / "thumbnails" / Path(name).name).read_bytes()
    except OSError:
        return None
    return f"data:image/jpeg;base64,{b64encode(content).decode()}"


def _shorten(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n… {len(text) - LONGEST:,} characters are left out …\n{text[-half:]}"
