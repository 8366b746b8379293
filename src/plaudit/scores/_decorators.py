"""A function that gives scores in, and out comes the reward function that a trainer calls.

`@reward` is for a function that scores a batch, `@async_reward` for a coroutine function that does,
`@text_reward` for one that scores a single text. Each declares what the reward takes.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial, wraps
from inspect import signature
from typing import Any, ParamSpec, Protocol, TypeVar, cast, overload

from plaudit.columns import naming_row, rows_of, same_length
from plaudit.completions import text_of, texts_of
from plaudit.declarations import HOOKS, Declaration, asking_for_columns, declare
from plaudit.scores._score import Score
from plaudit.scores._values import check_scores, values_of

P = ParamSpec("P")
T = TypeVar("T")

# The arguments of a reward of one text, and the columns of a batch that they come from.
_BATCH_NAMES = {"content": "completions", "sol": "solution"}
_OWN_NAMES = {"solution": "sol"}


class Reward(Protocol[P]):
    """A reward function: the values of a batch, and, with `scores`, the reasons too."""

    __name__: str
    scores: Callable[P, list[Score]]
    declaration: Declaration

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[float | None]: ...


@overload
def reward(scores: Callable[P, list[Score]], /) -> Reward[P]: ...
@overload
def reward(
    *,
    columns: Sequence[str] | None = None,
    needs: Sequence[str] = (),
    needs_any: Sequence[str] = (),
    reads_latex: bool = False,
    takes_alternatives: bool = False,
    is_light: bool = False,
) -> Callable[[Callable[P, list[Score]]], Reward[P]]: ...
def reward(scores: Callable[P, list[Score]] | None = None, /, **declared: Any) -> Any:
    """Make the reward function of a function that scores a batch, and declare what it takes.

    columns: its arguments that hold one entry per row, those that come through **kwargs too; other
        arguments are settings. Default: every argument that it names is a column, and its **kwargs
        are given all others that there are
    needs: the arguments that it needs although its signature has a default for them, or does not
        name them
    needs_any: columns of which it needs at least one: an image as `image` or as `image_path`
    reads_latex: whether it reads golds as LaTeX and as nothing else
    takes_alternatives: whether a gold that is a list holds several, each of which is right
    is_light: whether it does little more than read its texts: no file, no request, no long
        calculation. An event loop then calls it itself, and otherwise has a thread do so

    >>> @reward
    ... def brief(completions, **kwargs):
    ...     return [Score(float(len(c) < 9), f"{len(c)} characters") for c in completions]
    >>> brief(["short", "rather long"])
    [1.0, 0.0]
    >>> brief.scores(["short"])[0].why
    '5 characters'
    >>> @reward(columns=["words"])
    ... def fits(completions, words, margin=0, **kwargs):
    ...     counts = [abs(len(c.split()) - n) for c, n in zip(completions, words)]
    ...     return [Score(float(count <= margin), f"{count} off") for count in counts]
    >>> fits(["one two"], words=[3], margin=1)
    [1.0]
    """
    if scores is None:
        return partial(_batch_reward, **declared)
    return _batch_reward(scores)


def _batch_reward(scores: Callable[P, list[Score]], **declared: Any) -> Reward[P]:
    asked = asking_for_columns(scores)

    @wraps(scores)
    def values(*args: P.args, **kwargs: P.kwargs) -> list[float | None]:
        return values_of(asked(*args, **kwargs), scores.__name__, kwargs.get("log_metric"))

    named = cast("Reward[P]", _returning(values, list[float | None]))
    named.scores = asked
    named.declaration = declare(scores, **declared)
    return named


def _returning(function: T, given: Any) -> T:
    """The function, with its own return type in its signature and not that of what it wraps."""
    made = cast("Any", function)
    made.__signature__ = signature(made).replace(return_annotation=given)
    made.__annotations__ = {**made.__annotations__, "return": given}
    return function


class AsyncReward(Protocol[P]):
    """A reward function for an event loop, and, with `scores`, the reasons too."""

    __name__: str
    scores: Callable[P, Awaitable[list[Score]]]

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[float | None]: ...


@overload
def async_reward(scores: Callable[P, Awaitable[list[Score]]], /) -> AsyncReward[P]: ...
@overload
def async_reward(
    *, of: Reward[...]
) -> Callable[[Callable[P, Awaitable[list[Score]]]], AsyncReward[P]]: ...
def async_reward(
    scores: Callable[P, Awaitable[list[Score]]] | None = None, /, *, of: Reward[...] | None = None
) -> Any:
    """Make the reward function of a coroutine function that scores a batch.

    of: the reward whose async form it is; recipes use it on an event loop in that one's place

    >>> import asyncio
    >>> @async_reward
    ... async def brief(completions, **kwargs):
    ...     return [Score(float(len(c) < 9), f"{len(c)} characters") for c in completions]
    >>> asyncio.run(brief(["short", "rather long"]))
    [1.0, 0.0]
    """
    if scores is None:
        return partial(_async_batch_reward, of=of)
    return _async_batch_reward(scores)


def _async_batch_reward(
    scores: Callable[P, Awaitable[list[Score]]], of: Reward[...] | None = None
) -> AsyncReward[P]:
    asked = asking_for_columns(scores)

    @wraps(scores)
    async def values(*args: P.args, **kwargs: P.kwargs) -> list[float | None]:
        name = scores.__name__
        return values_of(await asked(*args, **kwargs), name, kwargs.get("log_metric"))

    named = cast("AsyncReward[P]", _returning(values, list[float | None]))
    named.scores = asked
    if of is not None:
        of.declaration = replace(of.declaration, async_form=asked)
    return named


def as_coroutine_functions(kind: type[T]) -> type[T]:
    """Make `inspect.iscoroutinefunction` say yes to the objects of a class whose `__call__` is one.

    Trainers ask it, and it says yes only to objects that have a function's attributes. It would say
    yes to a `functools.partial` too, but newer trainers show that by the name of its function.

    >>> from inspect import iscoroutinefunction
    >>> @as_coroutine_functions
    ... class Brief:
    ...     __name__ = "brief"
    ...     __annotations__ = {}
    ...     async def __call__(self, completions, **columns):
    ...         return [float(len(c) < 9) for c in completions]
    >>> iscoroutinefunction(Brief())
    True
    """
    call = vars(kind)["__call__"]
    for name in ("__code__", "__defaults__", "__kwdefaults__"):
        setattr(kind, name, getattr(call, name))
    return kind


class TextReward(Protocol[P]):
    """A reward of one text: its value, and, with `scores`, those of a batch with the reasons."""

    __name__: str
    scores: Callable[..., list[Score]]
    declaration: Declaration

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> float: ...


@overload
def text_reward(score: Callable[P, Score], /) -> TextReward[P]: ...
@overload
def text_reward(
    *,
    columns: Sequence[str] | None = None,
    needs: Sequence[str] = (),
    batch: Callable[..., list[Score]] | None = None,
) -> Callable[[Callable[P, Score]], TextReward[P]]: ...
def text_reward(score: Callable[P, Score] | None = None, /, **declared: Any) -> Any:
    """Make the reward function of a function that scores one text, its first argument `content`.

    `scores` takes columns, as those of the other rewards do, and hands each row its own; the
    column `solution` is the argument `sol`. What is not a list holds for every row.

    columns, needs: as of `reward`
    batch: what scores a whole batch, where that is quicker than row by row. Default: row by row

    >>> @text_reward
    ... def starts(content, sol, **kwargs):
    ...     return Score(float(content.startswith(sol)), f"It starts with {content[0]}.")
    >>> starts("abc", "a")
    1.0
    >>> [score.value for score in starts.scores(["abc", "bcd"], solution=["a", "a"])]
    [1.0, 0.0]
    """
    if score is None:
        return partial(_one_text_reward, **declared)
    return _one_text_reward(score)


def _one_text_reward(
    score: Callable[P, Score], batch: Callable[..., list[Score]] | None = None, **declared: Any
) -> TextReward[P]:
    asked = cast("Callable[..., Score]", asking_for_columns(score))

    def of_text(content: Any, *args: Any, **kwargs: Any) -> Score:
        given = asked(text_of(content), *args, **kwargs)
        return check_scores([given], score.__name__)[0]

    @wraps(score)
    def value(*args: P.args, **kwargs: P.kwargs) -> float:
        return cast("float", of_text(*args, **kwargs).value)

    named = cast("TextReward[P]", _returning(value, float))
    named.declaration = declare(score, **declared, batch_names=_BATCH_NAMES)
    named.scores = (
        partial(_row_by_row, of_text, named.declaration)
        if batch is None
        else asking_for_columns(batch, score.__name__)
    )
    return named


def _row_by_row(
    of_text: Callable[..., Score],
    declaration: Declaration,
    completions: Sequence[Any],
    **columns: Any,
) -> list[Score]:
    """The score of each row: what is fixed is given to every call, of a column its entry."""
    texts = texts_of(completions)
    if "solution" in declaration.named:
        columns.setdefault("solution", [None] * len(texts))
    fixed = {
        name: columns.pop(name)
        for name in list(columns)
        if name in declaration.settings or _is_fixed(name, columns[name])
    }
    same_length(completions, **columns)
    listed = {name: rows_of(column, name) for name, column in columns.items()}
    found = []
    for row, text in enumerate(texts):
        with naming_row(row):
            given = fixed | {name: column[row] for name, column in listed.items()}
            found.append(of_text(text, **{_OWN_NAMES.get(n, n): v for n, v in given.items()}))
    return found


def _is_fixed(name: str, value: object) -> bool:
    return name in HOOKS or isinstance(value, str) or not hasattr(value, "__len__")
