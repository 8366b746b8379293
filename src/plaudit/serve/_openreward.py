"""OpenReward's protocol, which TRL's `OpenRewardSpec` speaks: a table of tasks as an environment.

    GET  /splits           [{"name": "train", "type": "train"}]
    POST /tasks            {"split": "train"} -> {"tasks": [{"task_index": 0}, …], "env_name": …}
    POST /create_session   events: the id of a session, which then is in the header X-Session-ID
    POST /create           {"split": "train", "index": 0}: the task of the session
    GET  /prompt           [{"type": "text", "text": "What is 2 + 2?", "detail": null}]
    POST /call             {"name": "submit", "input": {"answer": "4"}} -> events: the reward
    POST /ping             every 10 s, from a client that needs its session
    POST /delete           ends the session

A client gets the index and the prompt of a task: all other columns stay here. An answer that the
recipe skips has the reward null. One that cannot be scored is the event `error`, after which the
client's session is dead, without a reward.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from plaudit.inputs.columns import PROMPT, first_of, kind_of, naming_row
from plaudit.inputs.completions import prompt_texts_of
from plaudit.recipes import Recipe, RowScore
from plaudit.runs.recording import recorded
from plaudit.serve._metrics import log
from plaudit.serve._protocol import RESERVED_NAMES, json_number, to_json
from plaudit.serve._scorer import RETRY
from plaudit.trainers import Batch

Row = Mapping[str, Any]
Json = dict[str, Any]

SPLIT = "train"
SILENCE = 900.0  # seconds without a request, after which a session is closed
HEARTBEAT = 10.0  # seconds between bytes of an answer: clients give up after 30 without any
SUBMIT = {
    "name": "submit",
    "description": "Submit the final answer. There is one attempt.",
    "input_schema": {
        "type": "object",
        "properties": {"answer": {"type": "string", "description": "The final answer."}},
        "required": ["answer"],
    },
}


class Tasks:
    """The rows of a table: a prompt for the client, and columns for the recipe.

    recipe: for the columns of the table
    """

    def __init__(self, recipe: Recipe, rows: Sequence[Row]) -> None:
        names = list(dict.fromkeys(name for row in rows for name in row))
        prompt = first_of(PROMPT, names)
        if prompt is None:
            raise ValueError(
                'the tasks have no column "prompt", with what the model is asked; '
                f"their columns are {', '.join(names) or 'none'}"
            )
        available = [*names, "completions"]
        recipe, guessed = recipe.with_guessed_columns(available)
        recipe.check(available)
        self.recipe, self.prompts = recorded(recipe), []
        self._rows, self._names = rows, [name for name in names if name not in RESERVED_NAMES]
        for number, row in enumerate(rows):
            with naming_row(number):
                self.prompts.append(prompt_texts_of(row.get(prompt), prompt))
        log("tasks", rows=len(rows), columns={"prompt": prompt, **guessed})

    def batch(self, index: int, answer: str) -> Batch:
        """Return what the recipe scores: the answer to a task."""
        return Batch([answer], {name: [self._rows[index].get(name)] for name in self._names})


@dataclass
class TaskSession:
    """One attempt at a task.

    seen: when the client was last heard of
    call: the id of the call that `scoring` belongs to, with which a client may ask again
    scoring: gives the events of the answer that was submitted
    """

    seen: float
    index: int | None = None
    call: str = ""
    scoring: asyncio.Task[str] | None = None

    def end(self) -> None:
        """Stop what is being scored for nobody."""
        if self.scoring is not None:
            self.scoring.cancel()


class TaskSessions:
    """The open sessions, first the one that was silent for longest. For the server's loop alone."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[str, TaskSession] = {}

    def start(self) -> str:
        """Return the id of a new session."""
        self._end_silent()
        if len(self._open) >= self._most:
            why = f"{len(self._open)} sessions are open, of at most {self._most}: try again"
            raise HTTPException(429, why, RETRY)
        name = secrets.token_hex(16)
        self._open[name] = TaskSession(time.monotonic())
        return name

    def of(self, request: Request) -> TaskSession:
        """Return the session of a request."""
        self._end_silent()
        name = _name_in(request)
        session = self._open.pop(name, None)
        if session is None:
            why = f"it was deleted, or silent for {SILENCE:g} s, or never created"
            raise HTTPException(404, f"there is no session {name[:80]!r}: {why}")
        session.seen = time.monotonic()
        self._open[name] = session
        return session

    def end(self, request: Request) -> None:
        """End the session of a request, if it is open."""
        if session := self._open.pop(_name_in(request), None):
            session.end()

    def _end_silent(self) -> None:
        oldest = time.monotonic() - SILENCE
        while self._open and next(iter(self._open.values())).seen < oldest:
            self._open.pop(next(iter(self._open))).end()


def _name_in(request: Request) -> str:
    return request.headers.get("x-session-id", "").strip()


class TaskEnvironment:
    """Tasks, and the sessions of clients that work at them: one method for each path.

    read: returns the JSON object in the body of a request
    score: returns what one answer got, also if its client goes away meanwhile
    most: how many sessions may be open
    """

    def __init__(
        self,
        tasks: Tasks,
        read: Callable[[Request], Awaitable[Json]],
        score: Callable[[Request, Batch, Recipe], Awaitable[RowScore]],
        most: int,
    ) -> None:
        self._tasks, self._read, self._score = tasks, read, score
        self._sessions = TaskSessions(most)

    # --- tasks ------------------------------------------------------------------------------------

    async def splits(self, request: Request) -> Response:
        """Name the splits."""
        return _json([{"name": SPLIT, "type": SPLIT}])

    async def tools(self, request: Request) -> Response:
        """Describe the tools that the model may call."""
        return _json({"tools": [SUBMIT]})

    task_tools = tools

    async def num_tasks(self, request: Request) -> Response:
        """Count the tasks."""
        return _json({"num_tasks": len(self._range(await self._read(request)))})

    async def tasks(self, request: Request) -> Response:
        """List the tasks."""
        return self._listed(self._range(await self._read(request)))

    async def task_range(self, request: Request) -> Response:
        """List the tasks from `start` to `stop`."""
        asked = await self._read(request)
        start, stop = asked.get("start"), asked.get("stop")
        for number in (start, stop):
            if number is not None and type(number) is not int:
                raise HTTPException(422, f"a range is of whole numbers, got {kind_of(number)}")
        return self._listed(self._range(asked)[start:stop])

    async def task(self, request: Request) -> Response:
        """Return one task."""
        asked = await self._read(request)
        task = {"task_index": self._index_in(asked, asked.get("index"))}
        return _json({"task": task, "env_name": self._tasks.recipe.name})

    def _listed(self, indices: range) -> Response:
        tasks = [{"task_index": index} for index in indices]
        return _json({"tasks": tasks, "env_name": self._tasks.recipe.name})

    def _range(self, asked: Json) -> range:
        if (split := asked.get("split", SPLIT)) != SPLIT:
            raise HTTPException(422, f'the only split is "{SPLIT}", got {kind_of(split)}')
        return range(len(self._tasks.prompts))

    def _index_in(self, asked: Json, index: object) -> int:
        indices = self._range(asked)
        if type(index) is not int or index not in indices:
            why = f"the index of a task is a whole number below {len(indices)}"
            raise HTTPException(422, f"{why}, got {kind_of(index)}")
        return index

    # --- sessions ---------------------------------------------------------------------------------

    async def create_session(self, request: Request) -> Response:
        """Start a session."""
        await self._read(request)
        events = _event("task_id", self._sessions.start()) + _event("end", "")
        return Response(events, media_type="text/event-stream")

    async def create(self, request: Request) -> Response:
        """Choose the task of a session: by its index, or as it was listed."""
        asked = await self._read(request)
        session = self._sessions.of(request)
        spec = asked.get("task_spec")
        index = spec.get("task_index") if isinstance(spec, dict) else asked.get("index")
        if session.scoring is not None:
            raise HTTPException(422, "an answer was submitted in this session: create another")
        session.index = self._index_in(asked, index)
        return _json({"sid": _name_in(request)})

    async def prompt(self, request: Request) -> Response:
        """Return what the model is asked."""
        texts = self._tasks.prompts[_index_of(self._sessions.of(request))]
        return _json([_text_block(text) for text in texts])

    async def ping(self, request: Request) -> Response:
        """Keep a session open."""
        self._sessions.of(request)
        return _json({"status": "ok"})

    async def delete(self, request: Request) -> Response:
        """End a session."""
        self._sessions.end(request)
        return _json({"sid": _name_in(request)})

    delete_session = delete

    # --- the answer -------------------------------------------------------------------------------

    async def call(self, request: Request) -> Response:
        """Score the answer that the model submits."""
        asked = await self._read(request)
        session = self._sessions.of(request)
        index, scoring = _index_of(session), session.scoring
        # A client that lost its connection asks again, with the id of the call.
        if scoring is None or asked.get("task_id") != session.call:
            if refusal := _refusal(asked, session):
                return Response(refusal, media_type="text/event-stream")
            batch = self._tasks.batch(index, asked["input"]["answer"])
            scoring = asyncio.create_task(self._scored(request, batch))
            session.scoring, session.call = scoring, secrets.token_hex(16)
        events = _events(session.call, scoring)
        headers = {"X-Accel-Buffering": "no"}  # nginx would keep the heartbeats until the end
        return StreamingResponse(events, headers=headers, media_type="text/event-stream")

    async def _scored(self, request: Request, batch: Batch) -> str:
        """Return the last event of a call. Why an answer is not scored may tell the gold."""
        try:
            row = await self._score(request, batch, self._tasks.recipe)
        except HTTPException as error:
            name, code, why = request.state.id, error.status_code, error.detail
            log("not scored", logging.WARNING, request=name, code=code, why=why)
            return _event("error", f"not scored: the server's log says why, request {name}")
        return _event("end", to_json({"ok": True, "output": _output(row)}).decode())


def _refusal(asked: Json, session: TaskSession) -> str:
    """Return the event that says what is wrong with a call of the model's; "" if nothing is."""
    passed = asked.get("input")
    if session.scoring is not None:
        reason, why = "episode_finished", "an answer was submitted already"
    elif asked.get("name") != SUBMIT["name"]:
        reason, why = "not_found", f"there is no tool {asked.get('name')!r:.80}: call submit"
    elif not isinstance(passed, dict) or not isinstance(passed.get("answer"), str):
        reason, why = "input_validation", 'submit takes {"answer": "…"}: the answer must be text'
    else:
        return ""
    return _event("end", to_json({"ok": False, "error": why, "reason": reason}).decode())


def _output(row: RowScore) -> Json:
    values = {name: json_number(score.value) for name, score in row.components.items()}
    return {
        "blocks": [_text_block("The answer is submitted.")],
        "metadata": {"status": str(row.status), "components": values},
        "reward": json_number(row.total),
        "finished": True,
    }


def _index_of(session: TaskSession) -> int:
    if session.index is None:
        raise HTTPException(422, "the session has no task: choose one with /create")
    return session.index


async def _events(call: str, scoring: "asyncio.Task[str]") -> AsyncIterator[str]:
    yield _event("task_id", call)
    while not (await asyncio.wait([scoring], timeout=HEARTBEAT))[0]:
        yield ": scoring\n\n"
    yield _event("error", "the session was ended") if scoring.cancelled() else scoring.result()


def _event(name: str, data: str) -> str:
    return f"event: {name}\ndata: {data}\n\n"


def _text_block(text: str) -> Json:
    return {"type": "text", "text": text, "detail": None}


def _json(content: Any) -> Response:
    return Response(to_json(content), media_type="application/json")
