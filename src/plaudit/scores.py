"""A reward that can say why.

Each reward is written as a function that gives a `Score` for each row: a value and its reasons.
`@reward` turns it into the function that a trainer calls, which gives the values alone.
`@text_reward` does so for the rewards that take one text and give one number.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import isclass, iscoroutinefunction, isroutine, signature
from typing import Any, ParamSpec, Protocol, TypeVar, cast

from plaudit.completions import naming_row, rows_of, same_length, text_of, texts_of

P = ParamSpec("P")
T = TypeVar("T")
_FACTORY = "_is_plaudit_reward_factory"

# What a reward may be given that is not a column: it holds for every row.
NOT_COLUMNS = ("tokenizer", "reasoning_delimiters", "log_extra", "log_metric", "trainer_state")

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

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[float | None]: ...


def reward(scores: Callable[P, list[Score]]) -> Reward[P]:
    """Make the reward function of a function that scores a batch.

    >>> @reward
    ... def brief(completions, **kwargs):
    ...     return [Score(float(len(c) < 9), f"{len(c)} characters") for c in completions]
    >>> brief(["short", "rather long"])
    [1.0, 0.0]
    >>> brief.scores(["short"])[0].why
    '5 characters'
    """

    asked = asking_for_columns(scores)

    @wraps(scores)
    def values(*args: P.args, **kwargs: P.kwargs) -> list[float | None]:
        return values_of(asked(*args, **kwargs), scores.__name__, kwargs.get("log_metric"))

    named = cast("Reward[P]", values)
    named.scores = asked
    return named


def asking_for_columns(function: Callable[P, T]) -> Callable[P, T]:
    """The function, which asks for what a call does not give it by the name of its column.

    >>> @asking_for_columns
    ... def repetition(completion_ids, **kwargs):
    ...     return [0.0 for _ in completion_ids]
    >>> repetition(completions=["la la la"])
    Traceback (most recent call last):
    ...
    TypeError: repetition needs completion_ids: pass completion_ids=…, a column has one entry for \
each completion
    """

    @wraps(function)
    def asked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            missing = _missing(function, args, kwargs)
            if not missing:
                raise
            # The objects that factories make have a name; a list of completions has none.
            name = getattr(args[0], "__name__", "") if args else ""
            how = ", ".join(f"{one}=…" for one in missing)
            raise TypeError(
                f"{name or function.__name__} needs {' and '.join(missing)}: pass {how}, "
                "a column has one entry for each completion"
            ) from error

    return asked


def _missing(function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> list[str]:
    """The arguments that a function insists on, and that a call of it does not give."""
    try:
        given = signature(function).bind_partial(*args, **kwargs).arguments
    except TypeError:  # too many, or one twice: Python says which
        return []
    parameters = signature(function).parameters.values()
    return [
        p.name
        for p in parameters
        if p.default is p.empty
        and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        and p.name not in given
    ]


class AsyncReward(Protocol[P]):
    """A reward function for an event loop, and, with `scores`, the reasons too."""

    __name__: str
    scores: Callable[P, Awaitable[list[Score]]]

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[float | None]: ...


def async_reward(scores: Callable[P, Awaitable[list[Score]]]) -> AsyncReward[P]:
    """Make the reward function of a coroutine function that scores a batch.

    >>> import asyncio
    >>> @async_reward
    ... async def brief(completions, **kwargs):
    ...     return [Score(float(len(c) < 9), f"{len(c)} characters") for c in completions]
    >>> asyncio.run(brief(["short", "rather long"]))
    [1.0, 0.0]
    """

    asked = asking_for_columns(scores)

    @wraps(scores)
    async def values(*args: P.args, **kwargs: P.kwargs) -> list[float | None]:
        name = scores.__name__
        return values_of(await asked(*args, **kwargs), name, kwargs.get("log_metric"))

    named = cast("AsyncReward[P]", values)
    named.scores = asked
    return named


def reward_factory(maker: T) -> T:
    """Mark a function or a class as one that makes a reward out of a recipe's `params`.

    A recipe calls nothing of a user's when it is loaded, but for what is marked so.

    >>> @reward_factory
    ... def shorter(than):
    ...     return lambda completions, **kwargs: [float(len(c) < than) for c in completions]
    >>> is_reward_factory(shorter), is_reward_factory(shorter(than=3))
    (True, False)
    """
    setattr(maker, _FACTORY, True)
    return maker


def is_reward_factory(thing: object) -> bool:
    """Whether a function or a class is marked with `reward_factory`.

    >>> is_reward_factory(print)
    False
    """
    # The objects of a marked class have its mark, too, and are no factories.
    return (isclass(thing) or isroutine(thing)) and getattr(thing, _FACTORY, False) is True


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

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> float: ...


def text_reward(score: Callable[P, Score]) -> TextReward[P]:
    """Make the reward function of a function that scores one text, its first argument `content`.

    `scores` takes columns, as those of the other rewards do, and hands each row its own; the
    column `solution` is the argument `sol`. What is no list holds for every row.

    >>> @text_reward
    ... def starts(content, sol, **kwargs):
    ...     return Score(float(content.startswith(sol)), f"It starts with {content[0]}.")
    >>> starts("abc", "a")
    1.0
    >>> [score.value for score in starts.scores(["abc", "bcd"], solution=["a", "a"])]
    [1.0, 0.0]
    """

    @wraps(score)
    def value(*args: P.args, **kwargs: P.kwargs) -> float:
        return cast("float", of_text(*args, **kwargs).value)

    asked = cast("Callable[..., Score]", asking_for_columns(score))

    def of_text(content: Any, *args: Any, **kwargs: Any) -> Score:
        given = asked(text_of(content), *args, **kwargs)
        return _all_scores([given], score.__name__)[0]

    def scores(completions: Sequence[Any], **columns: Any) -> list[Score]:
        if takes_gold:
            columns["sol"] = columns.pop("solution", [None] * len(completions))
        fixed = {
            name: columns.pop(name) for name in list(columns) if _is_fixed(name, columns[name])
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

    takes_gold = "sol" in signature(score).parameters
    named = cast("TextReward[P]", value)
    named.scores = scores
    return named


def _is_fixed(name: str, value: object) -> bool:
    return name in NOT_COLUMNS or isinstance(value, str) or not hasattr(value, "__len__")


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
    batch: dict[str, Any] = {
        name: value if name in NOT_COLUMNS else [value] for name, value in columns.items()
    }
    if solution is not None or "solution" in signature(reward.scores).parameters:
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
