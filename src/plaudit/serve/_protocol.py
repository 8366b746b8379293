"""The server's own protocol: requests, answers, the fingerprint of a recipe, and OpenAPI."""

import json
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import fields
from functools import lru_cache, partial
from hashlib import sha256
from importlib.metadata import version
from math import isfinite
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_type_hints

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.responses import Response

from plaudit.inputs.columns import TRUNCATION, same_length
from plaudit.recipes import Component, Recipe
from plaudit.recipes.row_score import ScoredBatch
from plaudit.runs.recording import toml_or_empty
from plaudit.scores import Score
from plaudit.scores.decorators import HOOKS
from plaudit.scores.score import STATUSES
from plaudit.serve._metrics import Figures

HEADER = "X-Recipe-Fingerprint"


def fingerprint_of(recipe: Recipe) -> str:
    """Return the fingerprint of everything that decides the rewards.

    That is each component with its weight, gate, columns and parameters, the source of a reward of
    the user's own, and the versions of plaudit and math-verify.
    """
    parts = {
        "components": [_describe(component) for component in recipe.components],
        "columns": recipe.columns,
        "versions": [version("plaudit"), version("math-verify")],
    }
    text = json.dumps(parts, sort_keys=True, default=_stable)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _describe(component: Component) -> dict[str, Any]:
    names = ("name", "reference", "weight", "gate", "right", "golds", "columns", "params")
    return {name: getattr(component, name) for name in names} | {"source": _source(component)}


def _source(component: Component) -> str:
    """Return a digest of the module of a user's own reward; "" if there is no file to read."""
    if component.bound.is_own:
        return ""
    module = sys.modules.get(str(getattr(component.bound.function, "__module__", "")))
    file = getattr(module, "__file__", None)
    try:
        return sha256(Path(file).read_bytes()).hexdigest() if file else ""
    except OSError:
        return ""


def _stable(value: Any) -> Any:
    """Return what JSON cannot represent: a function by its name, which has no address in it."""
    if isinstance(value, Mapping):
        return dict(value)
    name = getattr(value, "__qualname__", None)
    return f"{value.__module__}.{name}" if name else repr(value)


RESERVED_NAMES = ("completions", "self", *HOOKS)  # no column can have these names

# A path in the format of a trainer: the module of plaudit.trainers that knows the format, the
# function there that makes the reply, and what it is.
TRAINER_PATHS = {
    "/openrlhf": ("openrlhf", "reply_of", "OpenRLHF's remote reward"),
    "/slime": ("slime", "reply_of", "slime's remote reward"),
    "/slime/detailed": ("slime", "detailed_reply_of", "The same, for slime's --reward-key score"),
    "/nemo-gym/verify": ("nemo_gym", "reply_of", "NeMo-Gym's verification of a response"),
    "/verl": ("verl", "reply_of", "verl's compute_score, for one row or for lists"),
}

# OpenReward's protocol, if there are tasks: each path with its method, and what it is.
TASK_PATHS = {
    "/splits": ("GET", "The splits of the tasks"),
    "/tools": ("GET", "The tools that a model may call"),
    "/task_tools": ("GET", "The same, for a session"),
    "/num_tasks": ("POST", "How many tasks there are"),
    "/tasks": ("POST", "All tasks"),
    "/task_range": ("POST", "The tasks from one index to another"),
    "/task": ("POST", "One task"),
    "/create_session": ("POST", "A new session"),
    "/create": ("POST", "Choose the task of a session"),
    "/prompt": ("GET", "What the model is asked"),
    "/call": ("POST", "Submit an answer, and get its reward"),
    "/ping": ("POST", "Keep a session open"),
    "/delete": ("POST", "End a session"),
    "/delete_session": ("POST", "The same"),
}
EVENT_PATHS = ("/create_session", "/call")
BODILESS_PATHS = ("/ping", "/delete", "/delete_session")

Value = float | Literal["Infinity", "-Infinity", "NaN"] | None
Completions = Annotated[
    list[Any],
    Meta(description="One entry per row: text, or a list of messages as chat trainers use"),
]
Columns = Annotated[
    dict[str, Any],
    Meta(
        description="Each column that the recipe needs, by its name: a list as long as completions",
        extra_json_schema={"additionalProperties": {"type": "array"}},
    ),
]
Logs = Annotated[bool, Meta(description="Whether to add what the rewards log")]


class ScoreRequest(Struct, forbid_unknown_fields=True):
    """A batch to score with the whole recipe."""

    completions: Completions
    columns: Columns = {}
    reasons: Annotated[bool, Meta(description="Whether to add why, answer, gold, decided_by")] = (
        True
    )
    logs: Logs = False


class RewardsRequest(Struct, forbid_unknown_fields=True):
    """A batch to score as a trainer's reward function: by the total, or by one component."""

    completions: Completions
    columns: Columns = {}
    component: Annotated[
        str | None,
        Meta(description="A component of the recipe, by its name. Default: the recipe's total"),
    ] = None
    reasons: Annotated[
        bool, Meta(description="Whether to add the rows, as /v1/score gives them")
    ] = False
    logs: Logs = False


# Text that a request can do without; all other fields of a `Score` tell a program something.
REASONS = ("why", "answer", "gold", "decided_by")
ALWAYS = ("value", "status")
UNLESS_DEFAULT = {
    field.name: field.default
    for field in fields(Score)
    if field.name not in (*ALWAYS, *REASONS) and field.compare  # the same request, the same answer
}
_other_fields = attrgetter(*UNLESS_DEFAULT)
ABOUT = {
    "value": "null: the row is skipped",
    "right": "whether it is right, if the reward says so",
    "ungated": "the value without the gate that held it back",
    "partial_gold": "whether only a part of the gold was read",
    "problem": "what went wrong, if something did",
    "turns": "the value of each turn of the assistant",
}


def _field(name: str, kind: Any) -> tuple[str, Any] | tuple[str, Any, Any]:
    kind = Value if float in get_args(kind) else kind
    kind = Annotated[kind, Meta(description=ABOUT[name])] if name in ABOUT else kind
    return (name, kind) if name in ALWAYS else (name, kind | UnsetType, UNSET)


# What one reward gave for one completion: the fields of a `Score`.
ScoredComponent = msgspec.defstruct(
    "ScoredComponent",
    sorted((_field(*one) for one in get_type_hints(Score).items()), key=len),
    namespace={"__doc__": "What one reward gave for one completion."},
)
AsScoredComponent = Annotated[
    dict[str, Any], Meta(extra_json_schema={"$ref": "#/components/schemas/ScoredComponent"})
]


class ScoredRow(Struct):
    """What one completion got from the recipe."""

    total: Annotated[Value, Meta(description="null: every component skipped the row")]
    status: Annotated[str, Meta(description=f"{', '.join(STATUSES)}: the worst of a component")]
    components: dict[str, AsScoredComponent]


class Logged(Struct):
    """What the rewards passed to `log_extra` and to `log_metric`, in their order."""

    extra: list[tuple[str, list[Any]]] = []
    metrics: list[tuple[str, Value]] = []

    def log_extra(self, name: str, values: Iterable[Any]) -> None:
        """Keep a column of the trainer's table."""
        self.extra.append((name, list(values)))

    def log_metric(self, name: str, value: float) -> None:
        """Keep a metric."""
        self.metrics.append((name, json_number(float(value))))


class ScoreResponse(Struct):
    """The rows, in the order of the completions."""

    rows: list[ScoredRow]
    logs: Logged | UnsetType = UNSET


class RewardsResponse(Struct):
    """The rewards, in the order of the completions."""

    rewards: list[Value]
    rows: list[ScoredRow] | UnsetType = UNSET
    logs: Logged | UnsetType = UNSET


class ComponentInfo(Struct):
    """A component of the recipe."""

    name: str
    reward: str
    weight: float
    gate: str | None


class RecipeInfo(Struct):
    """What the server scores with, and what it takes."""

    name: str
    components: list[ComponentInfo]
    needs: Annotated[dict[str, str], Meta(description="a reward's argument: the column")]
    takes: Annotated[list[str], Meta(description="every column that a reward would read")]
    takes_any: Annotated[bool, Meta(description="whether a reward reads any column")]
    max_rows: int
    max_body: int
    item_deadline: Annotated[float, Meta(description="seconds the judge may take for an answer")]
    version: str
    fingerprint: Annotated[
        str, Meta(description=f"differs if the rewards may differ; {HEADER} in every answer")
    ]
    toml: Annotated[str, Meta(description="the recipe as a file; empty if it has no such form")]


class Problem(Struct):
    """Why a request was refused."""

    error: str
    request: Annotated[str, Meta(description="The request's id, which is in the server's log")]


def problem_response(
    code: int, why: str, request: str, headers: dict[str, str] | None = None
) -> Response:
    """Return an answer that says what is wrong."""
    content = to_json(Problem(why, request))
    return Response(content, code, headers, media_type="application/json")


def check_columns(request: ScoreRequest | RewardsRequest) -> None:
    """Raise if the columns of a batch are malformed: the message names the column."""
    for name in RESERVED_NAMES:
        if name in request.columns:
            raise ValueError(f'no column can be called "{name}"')
    for name, column in request.columns.items():
        if not isinstance(column, list):
            raise TypeError(f"{name} must be a list with one entry per completion")
        same_length(request.completions, **{name: column})


def rows_of(batch: ScoredBatch, reasons: bool) -> list[ScoredRow]:
    """Return the rows of the answer."""
    names, totals = list(batch.components), map(json_number, batch.totals)
    scores = zip(*batch.components.values(), strict=True)
    return [
        ScoredRow(
            total,
            status,
            {name: _component(one, reasons) for name, one in zip(names, row, strict=True)},
        )
        for total, status, row in zip(totals, batch.statuses, scores, strict=True)
    ]


def _component(score: Score, reasons: bool) -> dict[str, Any]:
    """Return the value, the status, the reasons, and whatever else differs from its default."""
    found = _without_reasons(score.value, score.status, *_other_fields(score))
    return {**found, **{name: getattr(score, name) for name in REASONS}} if reasons else found


@lru_cache(1024, typed=True)  # a batch has few different ones
def _without_reasons(value: float | None, status: str, *others: Any) -> dict[str, Any]:
    answered = {"value": json_number(value), "status": str(status)}
    for (name, default), found in zip(UNLESS_DEFAULT.items(), others, strict=True):
        if found != default:
            answered[name] = json_number(found) if isinstance(found, float) else found
    return answered


def json_number(value: float | None) -> Any:
    """Return a number as JSON can represent it: an infinite one becomes text that `float` reads."""
    if value is None or isfinite(value):
        return value
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


_encode: Callable[[Any], bytes] = msgspec.json.Encoder(enc_hook=lambda thing: _plain(thing)).encode


def to_json(answer: Any) -> bytes:
    r"""Return an answer as JSON."""
    try:
        return _encode(answer)
    except UnicodeEncodeError:  # JSON's escapes can represent it, UTF-8 cannot
        return json.dumps(msgspec.to_builtins(answer, enc_hook=_plain)).encode()


def _plain(thing: Any) -> Any:
    """What a reward of the user's may log: numbers of numpy, or anything that can show itself."""
    return thing.tolist() if hasattr(thing, "tolist") else repr(thing)[:200]


def info_of(recipe: Recipe, max_rows: int, max_body: int, deadline: float) -> RecipeInfo:
    """Return what clients need to know of a recipe."""
    return RecipeInfo(
        name=recipe.name,
        components=[
            ComponentInfo(c.name, c.reference, c.weight, c.gate) for c in recipe.components
        ],
        needs=recipe.needs(),
        takes=columns_taken(recipe),
        takes_any=takes_any(recipe),
        max_rows=max_rows,
        max_body=max_body,
        item_deadline=deadline,
        version=version("plaudit"),
        fingerprint=fingerprint_of(recipe),
        toml=toml_or_empty(recipe),
    )


def takes_any(recipe: Recipe) -> bool:
    """Return whether a reward reads any column that it gets."""
    return any(component.bound.takes_any for component in recipe.components)


def columns_taken(recipe: Recipe) -> list[str]:
    """Return each column that some reward would read, by its argument's name and by the table's."""
    names: set[str] = set()
    for component in recipe.components:
        mapping: Mapping[str, str] = {**recipe.columns, **component.columns}
        for argument in component.bound.takes:
            names |= {argument, mapping.get(argument, argument)}
        names |= set(component.needs(recipe.columns).values())
    return sorted({*names, *TRUNCATION} - set(RESERVED_NAMES))


def component_of(recipe: Recipe, wanted: str) -> Callable[..., Awaitable[list[Score]]]:
    """Return the coroutine function that gives the scores of one component."""
    names = [component.name for component in recipe.components]
    if wanted not in names:
        has = ", ".join(names)
        raise ValueError(f'the recipe has no component "{wanted[:80]}"; it has {has}')
    return partial(recipe.score_component_async, wanted)


# --- OpenAPI --------------------------------------------------------------------------------------


Json = dict[str, Any]
TYPES: tuple[type[msgspec.Struct], ...] = (
    Figures,
    Problem,
    RecipeInfo,
    RewardsRequest,
    RewardsResponse,
    ScoreRequest,
    ScoreResponse,
    ScoredComponent,
)
REFUSALS = {
    "408": "The request did not arrive in time",
    "421": "The header Host names another machine",
    "413": "Too large a body, or too many completions",
    "415": "The content type is not application/json",
    "422": "The batch cannot be scored: the message names the row and the column",
    "429": "Too many rows or bytes are in flight: try again after Retry-After seconds",
    "500": "A reward failed; the log has the reason",
    "504": "Not scored within the server's deadline",
}
UNAUTHORISED = {"401": "The token is missing or wrong"}
COMPLETION = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"$ref": "#/components/schemas/Message"}},
        {"$ref": "#/components/schemas/Message"},
    ]
}
MESSAGE = {
    "type": "object",
    "description": "With role and content. What the last message of the assistant says counts; "
    "its content is text, null, or a list of parts such as {type: text, text: …}",
}


def openapi_of(recipe: Recipe, guarded: bool, root_path: str = "", has_tasks: bool = False) -> Json:
    """Return the document of a server with this recipe; `guarded`: whether it requires a token."""
    refs, schemas = msgspec.json.schema_components(
        TYPES, ref_template="#/components/schemas/{name}"
    )
    named: dict[str, Json] = {kind.__name__: ref for kind, ref in zip(TYPES, refs, strict=True)}
    schemas["Message"] = MESSAGE
    _describe_batches(schemas["ScoreRequest"], schemas["RewardsRequest"], recipe)
    refusals = {
        code: _content(about, named["Problem"])
        for code, about in {**REFUSALS, **(UNAUTHORISED if guarded else {})}.items()
    }
    document: Json = {
        "openapi": "3.1.0",
        "info": {
            "title": f"plaudit: {recipe.name}",
            "version": version("plaudit"),
            "description": "What completions are worth, and why.",
        },
        "paths": {**_batches(named, refusals), **_get_paths(named, refusals, guarded)},
        "components": {"schemas": schemas},
    }
    if has_tasks:
        document["paths"] |= _task_paths(named, refusals)
    if root_path:
        document["servers"] = [{"url": root_path}]
    if guarded:
        document["security"] = [{"token": []}]
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return document


def _describe_batches(score: Json, rewards: Json, recipe: Recipe) -> None:
    """Name the columns and the components of the recipe, and give an example of a batch."""
    needs = recipe.needs()
    example = {column: ["4"] for column in needs.values()}
    for asked in (score, rewards):
        batch = asked["properties"]
        batch["completions"] |= {"items": COMPLETION, "examples": [["So it is \\boxed{4}."]]}
        batch["columns"]["examples"] = [example]
        if not takes_any(recipe):  # what no reward reads is not looked at
            lists = {name: {"type": "array"} for name in columns_taken(recipe)}
            batch["columns"] |= {"properties": lists, "additionalProperties": True}
    names = [one.name for one in recipe.components]
    rewards["properties"]["component"]["enum"] = [*names, None]
    # One that the table calls something else may come under either name.
    required = [column for argument, column in needs.items() if argument == column]
    if required:
        score["required"].append("columns")
        score["properties"]["columns"]["required"] = required


def _batches(named: dict[str, Json], refusals: Json) -> Json:
    own = {
        "/v1/score": _post("Score a batch with the whole recipe", "Score", named, refusals),
        "/v1/rewards": _post("The total, or one component", "Rewards", named, refusals),
    }
    trainers = {
        path: {
            "post": {
                "summary": about,
                "operationId": path[1:].replace("/", "-"),
                "requestBody": _body({"type": "object"}),
                "responses": {"200": _content("In the format of the trainer", {}), **refusals},
            }
        }
        for path, (_, _, about) in TRAINER_PATHS.items()
    }
    return {**own, **trainers}


def _task_paths(named: dict[str, Json], refusals: Json) -> Json:
    unknown = {"404": _content("There is no such session", named["Problem"])}
    paths = {}
    for path, (method, about) in TASK_PATHS.items():
        kind = "text/event-stream" if path in EVENT_PATHS else "application/json"
        answer = {"description": "In OpenReward's format", "content": {kind: {"schema": {}}}}
        responses = {"200": answer, **unknown, **refusals}
        operation: Json = {"summary": about, "operationId": path[1:], "responses": responses}
        if method == "POST" and path not in BODILESS_PATHS:
            operation["requestBody"] = _body({"type": "object"})
        paths[path] = {method.lower(): operation}
    return paths


def _post(about: str, stem: str, named: dict[str, Json], refusals: Json) -> Json:
    responses = {"200": _content("The batch, scored", named[f"{stem}Response"]), **refusals}
    body = _body(named[f"{stem}Request"])
    operation = stem.lower()
    return {
        "post": {
            "summary": about,
            "operationId": operation,
            "requestBody": body,
            "responses": responses,
        }
    }


def _get_paths(named: dict[str, Json], refusals: Json, guarded: bool) -> Json:
    unauthorised = {"401": refusals["401"]} if guarded else {}
    paths = {
        "/v1/recipe": _get("The recipe", "recipe", named["RecipeInfo"], unauthorised),
        "/v1/figures": _get("How the server is doing", "figures", named["Figures"], unauthorised),
        "/healthz": _get("Whether the server is running", "health", {"type": "object"}, {}),
        "/readyz": _get(
            "Whether the judge's workers have started",
            "ready",
            {"type": "object"},
            {"503": _content("Not yet, or not any more", named["Problem"])},
        ),
    }
    for path in ("/healthz", "/readyz"):
        paths[path]["get"]["security"] = []
    return paths


def _get(about: str, operation: str, schema: Json, others: Json) -> Json:
    responses = {"200": _content(about, schema), **others}
    return {"get": {"summary": about, "operationId": operation, "responses": responses}}


def _body(schema: Json) -> Json:
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _content(about: str, schema: Json) -> Json:
    return {"description": about, "content": {"application/json": {"schema": schema}}}
