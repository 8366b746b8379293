"""The OpenAPI document of a server."""

from importlib.metadata import version
from typing import Any

import msgspec

from plaudit.recipes import Recipe
from plaudit.serve._metrics import Figures
from plaudit.serve._protocol import (
    TRAINER_PATHS,
    Problem,
    RecipeInfo,
    RewardsRequest,
    RewardsResponse,
    ScoredComponent,
    ScoreRequest,
    ScoreResponse,
    columns_taken,
    takes_any,
)

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


def openapi_of(recipe: Recipe, guarded: bool, root_path: str = "") -> Json:
    """Return the document of a server with this recipe.

    guarded: whether it requires a token
    root_path: the prefix of all paths
    """
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
