"""Read the body of a request: only what the recipe reads is built.

The body is timed while it arrives, and its bytes are counted. Then the memory that its objects will
take is counted, before they are built: the most that they could take if that is little of what is
free, else an estimate.
"""

import asyncio
import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec import Raw, Struct
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from plaudit.recipes import Recipe
from plaudit.serve._protocol import (
    RESERVED_NAMES,
    RewardsRequest,
    ScoreRequest,
    check_columns,
    columns_taken,
    takes_any,
)
from plaudit.serve._scorer import HeldMemory, ServerLimits

T = TypeVar("T")
Asked = TypeVar("Asked", ScoreRequest, RewardsRequest)
CLIENT_GONE = 499  # what nginx logs for a client that went away: nobody ever sees it
MISSING = Raw(b"")
WRONG = "the body is not what is expected"


# --- receiving it ---------------------------------------------------------------------------------


async def body_of(request: Request, limits: ServerLimits) -> bytearray:
    """Return the whole body; refuses one that is too large, too slow, or not JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise HTTPException(415, f"the content type must be application/json, got {kind[:80]!r}")
    announced = _announced(request)
    _check_size(announced, limits)
    request.state.held.add(announced)
    body = bytearray(announced)  # all at once: growing would take twice as much
    arrived = 0
    try:
        async with asyncio.timeout(limits.io_timeout):
            async for part in request.stream():
                _check_size(arrived + len(part), limits)
                request.state.held.add(max(0, arrived + len(part) - len(body)))
                body[arrived : arrived + len(part)] = part
                arrived += len(part)
    except TimeoutError:
        why = f"the body did not arrive within {limits.io_timeout:g} s"
        raise HTTPException(408, why) from None
    except ClientDisconnect:
        raise HTTPException(CLIENT_GONE, "the client went away") from None
    return body


def _check_size(size: int, limits: ServerLimits) -> None:
    if size > limits.body:
        raise HTTPException(413, f"the body is larger than {limits.body} bytes, the limit here")


def _announced(request: Request) -> int:
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() else 0


# --- reading it -----------------------------------------------------------------------------------


class ScoreOutline(Struct, forbid_unknown_fields=True):
    """A `ScoreRequest`, of which only the outline is read."""

    completions: Raw
    columns: Raw = Raw(b"{}")
    reasons: bool = True
    logs: bool = False


class RewardsOutline(Struct, forbid_unknown_fields=True):
    """A `RewardsRequest`, of which only the outline is read."""

    completions: Raw
    columns: Raw = Raw(b"{}")
    component: str | None = None
    reasons: bool = False
    logs: bool = False


OUTLINES: dict[Any, type[ScoreOutline | RewardsOutline]] = {
    ScoreRequest: ScoreOutline,
    RewardsRequest: RewardsOutline,
}


class BodyReader:
    r"""Reads the bodies of requests for one recipe; a `ValueError` says where one is wrong.

    What Python's JSON writes and strict JSON forbids (NaN, half a surrogate pair) is accepted: a
    completion that holds it gets the same reward as without a server.
    """

    def __init__(self, recipe: Recipe) -> None:
        # The names that no column may have are read as well, to be refused.
        names = () if takes_any(recipe) else (*columns_taken(recipe), *RESERVED_NAMES)
        self._columns = {f"column_{number}": name for number, name in enumerate(names)}
        raw = [(field, Raw, MISSING) for field in self._columns]
        self._outline = msgspec.defstruct("Columns", raw, rename=self._columns)

    def score(self, body: bytes | bytearray, held: HeldMemory) -> ScoreRequest:
        """Return a batch for the whole recipe."""
        return self._read(body, held, ScoreRequest)

    def rewards(self, body: bytes | bytearray, held: HeldMemory) -> RewardsRequest:
        """Return a batch for one component."""
        return self._read(body, held, RewardsRequest)

    def any_object(self, body: bytes | bytearray, held: HeldMemory) -> dict[str, Any]:
        """Return a batch in the format of a trainer."""
        found = _build(body, held)
        if not isinstance(found, dict):
            raise ValueError(f"{WRONG}: it must be an object, got {type(found).__name__}")
        return found

    def _read(self, body: bytes | bytearray, held: HeldMemory, whole: type[Asked]) -> Asked:
        asked = self._at_once(body, held, whole) or self._in_parts(body, held, whole)
        check_columns(asked)
        return asked

    def _at_once(
        self, body: bytes | bytearray, held: HeldMemory, whole: type[Asked]
    ) -> Asked | None:
        """Return all of a body, if it is good, and the worst that it may take fits into memory."""
        if not held.add_if_little(WORST * len(body)):
            return None
        try:
            asked = msgspec.json.decode(body, type=whole)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        if taken := self._columns.values():
            asked.columns = {name: asked.columns[name] for name in taken if name in asked.columns}
        return asked

    def _in_parts(self, body: bytes | bytearray, held: HeldMemory, whole: type[Asked]) -> Asked:
        """Build only what is read of a body; say why if the body is not good."""
        try:
            outline = _read_outline(body, OUTLINES[whole])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            asked = _leniently(body, whole, held, error)
        else:
            fields = msgspec.structs.asdict(outline)
            fields["completions"] = _build(outline.completions, held)
            fields["columns"] = self._columns_of(outline.columns, held)
            asked = whole(**fields)
        if not isinstance(asked.completions, list):
            got = type(asked.completions).__name__
            raise ValueError(f"{WRONG}: `$.completions` must be a list, got {got}")
        return asked

    def _columns_of(self, columns: Raw, held: HeldMemory) -> dict[str, Any]:
        if not self._columns:
            found = _build(columns, held)
            if not isinstance(found, dict):
                raise ValueError(f"{WRONG}: `$.columns` must be an object")
            return found
        outline = _read_outline(columns, self._outline)
        fields = {name: getattr(outline, field) for field, name in self._columns.items()}
        return {
            name: _build(column, held) for name, column in fields.items() if column is not MISSING
        }


def _read_outline(text: bytes | bytearray | Raw, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError as error:
        raise ValueError(f"{WRONG}: {error}") from None


def _build(text: bytes | bytearray | Raw, held: HeldMemory) -> Any:
    """Return the objects of a part of a body, once they are counted."""
    view = memoryview(text)
    if not held.add_if_little(WORST * len(view)):  # to look closer takes as long as to build
        held.add(memory_needed(view))
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _load(bytes(text), held, error)


def _leniently(body: bytes | bytearray, kind: type[T], held: HeldMemory, error: Exception) -> T:
    """Return a request that strict JSON forbids: all of it is built, and counted as such."""
    held.add(memory_needed(body))
    try:
        return msgspec.convert(_load(body, held, error), kind)
    except msgspec.ValidationError as wrong:
        raise ValueError(f"{WRONG}: {wrong}") from None


def _load(text: bytes | bytearray, held: HeldMemory, error: Exception) -> Any:
    """Return what Python's own JSON makes of a text, for which it decodes all of it first."""
    held.add(len(text) * (1 if text.isascii() else 5))
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the body is nested too deeply") from None
    except ValueError:
        raise ValueError(f"the body is not JSON: {error}") from None


# --- how much memory it will take -----------------------------------------------------------------

# What stands between strings is counted by its marks; each value has one before it.
MARKS = {ord(","): 48, ord("["): 120, ord("{"): 296}
STRING = 56  # bytes of a string, without its characters
SMALL = 2_048  # bytes of a text that needs no closer look: nothing takes more than WORST times that
WORST = 32
PIECE = 256 << 10  # bytes that are looked at in one go: meanwhile no other thread works
ESCAPE = 12  # bytes of two halves of a surrogate pair: a piece may end within

_FOUR_BYTES = re.compile(rb"[\xf0-\xff]|\\u[dD][89abAB]")
_TWO_BYTES = re.compile(rb"[\xc4-\xef]|\\u")


def memory_needed(text: bytes | bytearray | memoryview) -> int:
    """Bytes that the objects of a JSON text take in memory, rather too many than too few.

    A list in JSON is two bytes, and 56 in memory: 60 MB of brackets are more than a gigabyte.
    """
    view = memoryview(text)
    if len(view) < SMALL:
        return WORST * len(view)
    needed = 0
    begun, width = -1, 1  # characters so far of a string that a piece ends in; -1: in none
    for piece, wide in _pieces(view):
        parts = piece.split(b'"')  # outside of strings and inside, in turns
        needed += STRING // 2 * (len(parts) - 1)
        outside, strings = parts[::2], parts[1::2]
        if begun >= 0:
            begun, width = begun + len(parts[0]), max(width, wide)
            if len(parts) == 1:
                continue
            needed += begun * width
            outside, strings = strings, outside[1:]
        begun, width = (len(strings.pop()), wide) if len(strings) == len(outside) else (-1, 1)
        needed += wide * sum(map(len, strings))
        marks = b"".join(outside)
        needed += sum(each * marks.count(mark) for mark, each in MARKS.items())
    return needed + max(begun, 0) * width


def _pieces(view: memoryview) -> Iterator[tuple[bytes, int]]:
    """Return the pieces of a text without escaped quotes, and the bytes of a character in each."""
    start = 0
    while start < len(view):
        end = start + PIECE
        while end < len(view) and view[end - 1] == ord("\\"):
            end += 1
        piece, wide = bytes(view[start:end]), _width(view[start : end + ESCAPE])
        if _has_escape(piece, '"'):
            piece = piece.replace(rb"\\", b"__").replace(rb"\"", b"__")
        yield piece, wide
        start = end


def _width(view: memoryview) -> int:
    """Each character of a string takes as much as its widest one; to write them takes a copy."""
    piece = bytes(view)
    if piece.isascii() and not _has_escape(piece, "u"):
        return 1
    return 5 if _FOUR_BYTES.search(piece) else 3 if _TWO_BYTES.search(piece) else 2


def _has_escape(piece: bytes, letter: str) -> bool:
    """Whether a backslash stands before the letter somewhere; `in` takes ten times as long."""
    marks = np.frombuffer(piece, np.uint8)
    return bool(((marks[:-1] == ord("\\")) & (marks[1:] == ord(letter))).any())
