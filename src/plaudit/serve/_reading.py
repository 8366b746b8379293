"""A body -> what is asked: only what the recipe reads is built, once there is memory for it."""

import json
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from plaudit.recipes import Recipe
from plaudit.serve._desk import Held
from plaudit.serve._protocol import (
    TAKEN,
    RewardsRequest,
    ScoreRequest,
    checked,
    columns_taken,
    takes_any,
)
from plaudit.serve._weight import weight_of

T = TypeVar("T")
Asked = TypeVar("Asked", ScoreRequest, RewardsRequest)
NOTHING = Raw(b"")
WRONG = "the body is not what is expected"


class ScoreOutline(Struct, forbid_unknown_fields=True):
    """A `ScoreRequest`, of which only the outline is read."""

    completions: Raw
    columns: Raw = Raw(b"{}")
    reasons: bool = True
    logs: bool = False


class RewardsOutline(Struct, forbid_unknown_fields=True):
    """A `RewardsRequest`, of which only the outline is read."""

    component: str
    completions: Raw
    columns: Raw = Raw(b"{}")
    logs: bool = False


class Reader:
    r"""Reads the bodies of requests for one recipe; a `ValueError` says where one is wrong.

    What Python's JSON writes and strict JSON forbids (NaN, half a surrogate pair) is taken too:
    a completion that holds it has the reward that it has without a server.

    >>> from plaudit.recipes import load
    >>> from plaudit.serve._desk import Desk
    >>> from plaudit.serve._limits import Limits
    >>> reader, held = Reader(load("trl-math")), Held(Desk(Limits()))
    >>> reader.score(b'{"completions": ["4"], "columns": {"solution": ["4"], "of": [1]}}', held)
    ScoreRequest(completions=['4'], columns={'solution': ['4']}, reasons=True, logs=False)
    >>> reader.score(b'{"completions": "4"}', held)
    Traceback (most recent call last):
    ...
    ValueError: the body is not what is expected: `$.completions` must be a list, got str
    """

    def __init__(self, recipe: Recipe) -> None:
        # The names that no column may have are read as well, to be refused.
        names = () if takes_any(recipe) else (*columns_taken(recipe), *TAKEN)
        self._columns = {f"column_{place}": name for place, name in enumerate(names)}
        fields = [(field, Raw, NOTHING) for field in self._columns]
        self._outline = msgspec.defstruct("Columns", fields, rename=self._columns)

    def score(self, body: bytes | bytearray, held: Held) -> ScoreRequest:
        """A batch for the whole recipe."""
        return self._asked(body, held, ScoreOutline, ScoreRequest)

    def rewards(self, body: bytes | bytearray, held: Held) -> RewardsRequest:
        """A batch for one component."""
        return self._asked(body, held, RewardsOutline, RewardsRequest)

    def shaped(self, body: bytes | bytearray, held: Held) -> dict[str, Any]:
        """What comes in a trainer's own shape."""
        found = _built(body, held)
        if not isinstance(found, dict):
            raise ValueError(f"{WRONG}: it must be an object, got {type(found).__name__}")
        return found

    def _asked(
        self,
        body: bytes | bytearray,
        held: Held,
        kind: type[ScoreOutline | RewardsOutline],
        whole: type[Asked],
    ) -> Asked:
        try:
            outline = _outlined(body, kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            asked = _leniently(body, whole, held, error)
        else:
            said = msgspec.structs.asdict(outline)
            said["completions"] = _built(outline.completions, held)
            said["columns"] = self._columns_of(outline.columns, held)
            asked = whole(**said)
        if not isinstance(asked.completions, list):
            kind_of_it = type(asked.completions).__name__
            raise ValueError(f"{WRONG}: `$.completions` must be a list, got {kind_of_it}")
        checked(asked)
        return asked

    def _columns_of(self, columns: Raw, held: Held) -> dict[str, Any]:
        if not self._columns:
            found = _built(columns, held)
            if not isinstance(found, dict):
                raise ValueError(f"{WRONG}: `$.columns` must be an object")
            return found
        outline = _outlined(columns, self._outline)
        given = {name: getattr(outline, field) for field, name in self._columns.items()}
        return {
            name: _built(column, held) for name, column in given.items() if column is not NOTHING
        }


def _outlined(text: bytes | bytearray | Raw, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        raise ValueError(f"{WRONG}: {error}") from None


def _built(text: bytes | bytearray | Raw, held: Held) -> Any:
    """What a part of a body holds, once it is counted."""
    held.add(weight_of(memoryview(text)))
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _loaded(bytes(text), held, error)


def _leniently(body: bytes | bytearray, kind: type[T], held: Held, complaint: Exception) -> T:
    """A request that strict JSON forbids: all of it is built, and counted as such."""
    held.add(weight_of(body))
    try:
        return msgspec.convert(_loaded(body, held, complaint), kind)
    except msgspec.ValidationError as error:
        raise ValueError(f"{WRONG}: {error}") from None


def _loaded(text: bytes | bytearray, held: Held, complaint: Exception) -> Any:
    """What Python's own JSON makes of a text, for which it decodes all of it first."""
    held.add(len(text) * (1 if text.isascii() else 5))
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the body is nested too deeply") from None
    except ValueError:
        raise ValueError(f"the body is no JSON: {complaint}") from None
