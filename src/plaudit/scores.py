"""A reward that can say why.

Each reward is written as a function that gives a `Score` for each row: a value and its reasons.
`@reward` turns it into the function that a trainer calls, which gives the values alone.
`@text_reward` does so for the rewards that take one text and give one number.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from inspect import iscoroutinefunction, signature
from typing import Any, ParamSpec, Protocol, TypeVar, cast, overload

from plaudit.completions import naming_row, rows_of, same_length, text_of, texts_of
from plaudit.declarations import HOOKS, Declaration, asking_for_columns, declaration_of, declare

P = ParamSpec("P")
T = TypeVar("T")

# What a reward of one text calls otherwise than a batch does.
_BATCH_NAMES = {"content": "completions", "sol": "solution"}

# What the status of a row can be, the worst first. A component can also say "equal", "different" or
# "gated", each of which is "scored" for its row.
STATUSES = ("error", "timeout", "limit", "bad_gold", "no_answer", "scored")
# What a trainer should hear of: all but that the row was scored.
TOLD = STATUSES[: STATUSES.index("scored")]
# What is wrong with the data or the machine: the row got its value because something failed.
TROUBLE = STATUSES[: STATUSES.index("no_answer")]


@dataclass(frozen=True, slots=True)
class Score:
    """What one completion is worth, and why.

    value: the reward; None where the row is skipped
    why: one sentence for a person
    answer, gold: what was read as answer and as gold
    method: what decided
    status: one of STATUSES; or "equal" or "different" where the answer was compared with the gold;
        or "gated" where the gate of a recipe holds the value back
    right: whether the completion is right by the reward's own rule; None where the reward does not
        say so (a format, a length), or where there is no gold to compare with
    ungated: what the value would be without the gate of its recipe; None where no gate held it back
    gold_in_part: whether only a part of the gold was read, see `plaudit.golds`

    >>> Score(1.0, "4 is equal to the gold 4.", answer="4", gold="4").value
    1.0
    """

    value: float | None
    why: str
    answer: str | None = None
    gold: str | None = None
    method: str = ""
    status: str = "scored"
    right: bool | None = None
    ungated: float | None = None
    gold_in_part: bool = False


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
    *, columns: Sequence[str] | None = None, needs: Sequence[str] = (), reads_latex: bool = False
) -> Callable[[Callable[P, list[Score]]], Reward[P]]: ...
def reward(scores: Callable[P, list[Score]] | None = None, /, **declared: Any) -> Any:
    """Make the reward function of a function that scores a batch, and declare what it takes.

    columns: its arguments that hold one entry per row, those that come through **kwargs too; other
        arguments are settings. Default: every argument that it names is a column, and its **kwargs
        are given all others that there are
    needs: what it cannot do without though its signature has a default for it, or does not name it
    reads_latex: whether it reads golds as LaTeX and as nothing else

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
    """The function, whose signature says what it gives, and not what the function it wraps does."""
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

    Trainers ask it. It says yes only to what has a function's attributes; a `functools.partial`
    would do, but newer trainers call that by the name of what it is a partial of.

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
        return _all_scores([given], score.__name__)[0]

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
    if "solution" in declaration.named:
        columns["sol"] = columns.pop("solution", [None] * len(completions))
    fixed = {
        name: columns.pop(name)
        for name in list(columns)
        if name in declaration.settings or _is_fixed(name, columns[name])
    }
    same_length(completions, **columns)
    texts = texts_of(completions)
    listed = {name: rows_of(column, name) for name, column in columns.items()}
    found = []
    for row, text in enumerate(texts):
        with naming_row(row):
            own = {name: column[row] for name, column in listed.items()}
            found.append(of_text(text, **fixed, **own))
    return found


def _is_fixed(name: str, value: object) -> bool:
    return name in HOOKS or isinstance(value, str) or not hasattr(value, "__len__")


def values_of(scores: Sequence[Score], name: str, log_metric: object = None) -> list[float | None]:
    """The values alone; the share of rows with each status goes to the trainer's `log_metric`.

    >>> values_of([Score(1.0, "Equal."), Score(0.0, "Too large.", status="limit")], "accuracy")
    [1.0, 0.0]
    """
    _all_scores(scores, name)
    log_statuses(name, [score.status for score in scores], log_metric)
    return [score.value for score in scores]


def _all_scores(given: Any, name: str) -> Sequence[Score]:
    """Raise unless it is a list of scores: what a user's function gives may be anything."""
    if not isinstance(given, Sequence):
        got = type(given).__name__
        raise TypeError(f"{name} must give a list with a Score for each completion, got {got}")
    for row, one in enumerate(given):
        if not isinstance(one, Score):
            got = f"{type(one).__name__}: {one!r:.80}"
            raise TypeError(f"{name} must give a Score for each completion, row {row} is {got}")
    return given


def log_statuses(name: str, statuses: Sequence[str], log_metric: object) -> None:
    """Tell the trainer the share of rows with each status other than "scored".

    >>> log_statuses("math", ["equal", "no_answer"], lambda key, share: share and print(key, share))
    math/no_answer 0.5
    """
    if callable(log_metric) and statuses:
        count = Counter(statuses)
        for status in TOLD:
            log_metric(f"{name}/{status}", count[status] / len(statuses))


def log_means(
    recipe: str, components: Mapping[str, Sequence[float | None]], log_metric: object
) -> None:
    """Tell the trainer the mean of each component, which a total alone would hide.

    >>> log_means("math", {"accuracy": [1.0, 0.0, None], "format": [None]}, print)
    math/accuracy 0.5
    """
    for name, values in components.items():
        counted = [value for value in values if value is not None]
        if counted and callable(log_metric):
            log_metric(f"{recipe}/{name}", sum(counted) / len(counted))


def explain(reward: Any, completion: Any = None, solution: Any = None, /, **columns: Any) -> Score:
    """Score one completion, and say why it got what it got.

    `columns` holds the value of this one row for each column that the reward needs; `completion`
    and `solution` may be given by name, too.

    >>> from plaudit.rewards import canoe
    >>> explain(canoe.format_reward, "just text").why[:24]
    'The text is not <think>…'
    """
    if not hasattr(reward, "scores"):
        raise TypeError(f"{reward!r} is no plaudit reward: it has no `scores` to explain it with")
    if iscoroutinefunction(reward):
        raise TypeError(f"{reward.__name__} is for an event loop: explain the one without _async")
    if "completions" in columns:
        raise TypeError(
            "explain takes one row, as completion=…: for several, call reward.scores(completions=…)"
        )
    completion = _once("completion", completion, columns)
    solution = _once("solution", solution, columns)
    if completion is None:
        raise TypeError("explain needs the completion: explain(reward, completion, solution)")
    declaration = declaration_of(reward)
    fixed = {*declaration.settings, *HOOKS}
    batch: dict[str, Any] = {
        name: value if name in fixed else [value] for name, value in columns.items()
    }
    if solution is not None or "solution" in declaration.named:
        batch["solution"] = [solution]
    score: Score = reward.scores(completions=[completion], **batch)[0]
    return score


def _once(name: str, given: Any, columns: dict[str, Any]) -> Any:
    """An argument that is given by its place or by its name, and not by both."""
    named = columns.pop(name, None)
    if given is not None and named is not None:
        raise TypeError(
            f"explain got the {name} twice: by its place, {given!r:.80}, and by its name, "
            f"{named!r:.80}; leave one of them out"
        )
    return named if given is None else given
