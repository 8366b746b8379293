"""The bodies of requests and the scores in responses."""

import json
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

import msgspec

from plaudit.inputs.columns import rows_of as rows_in
from plaudit.inputs.columns import same_length
from plaudit.inputs.golds import python_values
from plaudit.inputs.images import is_decoded
from plaudit.inputs.truncation import TRUNCATION, truncated_rows
from plaudit.recipes import RowScore
from plaudit.scores import Score
from plaudit.scores.decorators import HOOKS

Columns = Mapping[str, Any]
Texts = list[str | list[dict[str, str]]]  # completions as most trainers pass them
FIELDS = get_type_hints(Score)
NUMBERS = [name for name, kind in FIELDS.items() if float in get_args(kind)]


@dataclass(frozen=True)
class RemoteRecipe:
    """The recipe of a server, as far as a client needs it.

    fingerprint: differs if the rewards may differ
    toml: the recipe as a file
    """

    name: str
    components: tuple[str, ...]
    weights: tuple[float, ...]
    needs: frozenset[str]
    takes: frozenset[str]
    takes_any: bool
    fingerprint: str = ""
    toml: str = ""

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
        if not (name in recipe.needs or name in _SHORTER or _is_column(column)):
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
        return json.dumps(body, default=_written).encode()


def _names(recipe: RemoteRecipe, columns: Columns, only: Collection[str] | None) -> list[str]:
    given = [name for name, column in columns.items() if column is not None]
    wanted = set(given) if recipe.takes_any else recipe.takes | recipe.needs
    if only is not None:
        wanted &= {*only, *recipe.needs}
    return [name for name in given if name in wanted and name not in HOOKS]


def _is_column(column: Any) -> bool:
    """Return whether it is a list of entries; an array of images has too many numbers to send."""
    is_listed = isinstance(column, list | tuple) or hasattr(column, "to_list")
    return is_listed or getattr(column, "ndim", 2) == 1


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


def _written(part: msgspec.Raw) -> Any:
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
    given = {name: sent[name] for name in FIELDS if name in sent}
    given |= {name: number(given[name]) for name in NUMBERS if name in given}
    if given.get("turns") is not None:
        given["turns"] = tuple(given["turns"])
    return Score(**{"why": "", **given})


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


def logs_wanted(columns: Columns) -> bool:
    """Return whether the trainer wants to know what the rewards log."""
    return any(callable(columns.get(name)) for name in ("log_extra", "log_metric"))
