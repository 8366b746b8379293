"""Reward functions: the decorators that make them, and the declaration of what each takes.

    @reward(columns=("solution",))
    def accuracy_reward(completions, solution, **kwargs):
        verdicts = yield [Pair(text, gold) for text, gold in zip(completions, solution)]
        return [score_of(verdict, gold) for verdict, gold in zip(verdicts, solution)]

A reward that compares answers is a generator: it yields pairs and receives their verdicts. The
same generator runs in a thread and on an event loop, so its async form is not written again.

The declaration of a function without a decorator follows from its signature: every argument is a
column, and those without a default are needed.
"""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from inspect import isclass, iscoroutinefunction, isgeneratorfunction, isroutine, signature
from typing import Any, ParamSpec, Protocol, TypeVar, cast, overload

from plaudit.inputs.columns import GROUP, PROMPT, naming_row, rows_of, same_length
from plaudit.inputs.completions import text_of, texts_of
from plaudit.inputs.messages import conversations_of
from plaudit.judge import Pair, judge, judge_async
from plaudit.scores.score import Score, check_scores, values_of

P = ParamSpec("P")
T = TypeVar("T")
AnyReward = Callable[..., Any]

# What a trainer may pass besides the columns; never a column, whatever a reward declares.
HOOKS = ("log_extra", "log_metric", "trainer_state")

# The arguments of a reward of one text, and the columns of a batch that they come from.
_TEXT_ARGUMENTS = {"content": "completions", "sol": "solution"}
_FACTORY = "_is_plaudit_reward_factory"


@dataclass(frozen=True)
class Declaration:
    """The columns and settings of a reward.

    columns: the arguments that hold one entry per row, without the completions themselves
    needs: the columns and settings without which it cannot be called
    settings: the arguments that hold for every row, such as a tokenizer
    named: every argument that its signature names, the completions and the trainer's hooks too
    is_open: whether it takes other arguments as well, since it has **kwargs
    is_exact: whether it declares which columns it reads; if not, its **kwargs may read any
    reads_latex: whether it reads golds as LaTeX and as nothing else
    takes_alternatives: whether a gold that is a list holds several, each of which is right
    needs_any: columns of which it needs at least one
    reads: "messages" if it reads whole conversations, else "text"
    scope: "group" if it scores the completions of a prompt together, else "row"
    """

    columns: tuple[str, ...]
    needs: tuple[str, ...]
    settings: tuple[str, ...]
    named: tuple[str, ...]
    is_open: bool
    is_exact: bool
    reads_latex: bool = False
    takes_alternatives: bool = False
    needs_any: tuple[str, ...] = ()
    reads: str = "text"
    scope: str = "row"

    @property
    def takes_any(self) -> bool:
        """Whether it may read any column that there is."""
        return self.is_open and not self.is_exact


def declare(
    function: AnyReward,
    columns: Sequence[str] | None = None,
    needs: Sequence[str] = (),
    reads_latex: bool = False,
    takes_alternatives: bool = False,
    needs_any: Sequence[str] = (),
    of_text: bool = False,
    reads: str = "text",
    scope: str = "row",
) -> Declaration:
    """Return the declaration of a function; what is left out follows from its signature.

    columns: the arguments that hold one entry per row; the others that it names are settings.
        Default: all that it names are columns, and so is whatever its **kwargs receive
    of_text: whether it scores one text, with the arguments `content` and `sol`
    """
    if reads not in ("text", "messages") or scope not in ("row", "group"):
        got = f"{reads!r:.40} and {scope!r:.40}"
        raise ValueError(f'reads is "text" or "messages", scope is "row" or "group", got {got}')
    renamed = _TEXT_ARGUMENTS if of_text else {}
    named, is_open, required = arguments_of(function)
    named, required = ([renamed.get(name, name) for name in names] for names in (named, required))
    others = [name for name in named if name not in ("self", "completions", *HOOKS)]
    listed = others if columns is None else list(columns)
    unknown = [name for name in (*listed, *needs, *needs_any) if name not in others]
    if unknown and not is_open:
        label = getattr(function, "__name__", function)
        raise ValueError(f"{label} declares {unknown[0]}, but has no such argument")
    insisted = [name for name in required if name in others]
    return Declaration(
        columns=tuple(dict.fromkeys([*listed, *unknown])),
        needs=tuple(dict.fromkeys([*insisted, *needs])),
        settings=tuple(name for name in others if name not in listed),
        named=tuple(named),
        is_open=is_open,
        is_exact=columns is not None,
        reads_latex=reads_latex,
        takes_alternatives=takes_alternatives,
        needs_any=tuple(needs_any),
        reads=reads,
        scope=scope,
    )


def declaration_of(reward: Any) -> Declaration:
    """Return what a reward declares, or what follows from its signature."""
    scores = getattr(reward, "scores", None)
    for holder in (reward, scores):
        if isinstance(declared := getattr(holder, "declaration", None), Declaration):
            return declared
    # What an object's `scores` names says more than its `__call__`.
    return declare(reward if scores is None else scores)


def arguments_of(function: AnyReward) -> tuple[list[str], bool, list[str]]:
    """Return a function's arguments, whether it has **kwargs, and those without a default."""
    parameters = signature(function).parameters.values()
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    is_open = any(p.kind is p.VAR_KEYWORD for p in parameters)
    return [p.name for p in named], is_open, [p.name for p in named if p.default is p.empty]


def with_missing_column_error(function: Callable[P, T], name: str = "") -> Callable[P, T]:
    """Make a call that leaves out an argument raise an error that names the column."""

    @wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            missing = _missing(function, args, kwargs)
            if not missing:
                raise
            # The objects that factories make have a name; a list of completions has none.
            own = getattr(args[0], "__name__", "") if args else ""
            how = ", ".join(f"{one}=…" for one in missing)
            raise TypeError(
                f"{name or own or function.__name__} needs {' and '.join(missing)}: pass {how}, "
                "a column has one entry per completion"
            ) from error

    return checked


def _missing(function: AnyReward, args: Any, kwargs: Mapping[str, Any]) -> list[str]:
    """Return the arguments without a default that a call leaves out."""
    try:
        passed = signature(function).bind_partial(*args, **kwargs).arguments
    except TypeError:  # too many, or one twice: Python says which
        return []
    return [name for name in arguments_of(function)[2] if name not in passed]


def declared(
    columns: Sequence[str], needs: Sequence[str] = (), reads_latex: bool = False
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Declare the method `scores` of a class whose objects are rewards."""

    def with_declaration(method: Callable[P, T]) -> Callable[P, T]:
        checked = cast("Any", with_missing_column_error(method))
        checked.declaration = declare(method, columns, needs, reads_latex)
        return cast("Callable[P, T]", checked)

    return with_declaration


def reward_factory(maker: T) -> T:
    """Mark a function or a class that makes a reward out of a recipe's `params`.

    A recipe that is loaded calls nothing of a user's code but such factories.

    >>> @reward_factory
    ... def shorter(than):
    ...     return lambda completions, **kwargs: [float(len(c) < than) for c in completions]
    >>> is_reward_factory(shorter), is_reward_factory(shorter(than=3))
    (True, False)
    """
    setattr(maker, _FACTORY, True)
    return maker


def is_reward_factory(thing: object) -> bool:
    """Return whether a function or a class is marked with `reward_factory`."""
    # The objects of a marked class have its mark as well, and are not factories.
    return (isclass(thing) or isroutine(thing)) and getattr(thing, _FACTORY, False) is True


# What a generator yields: pairs for the judge, or a function that may take long, such as a request.
Step = list[Pair] | Callable[[], Any]
Steps = Generator[Step, Any, T]


def run_with_judge(steps: Steps[T]) -> T:
    """Run a generator that yields pairs and receives their verdicts; return what it returns."""
    try:
        step = next(steps)
        while True:
            step = steps.send(step() if callable(step) else judge(step))
    except StopIteration as end:
        result: T = end.value
        return result


async def run_with_judge_async(steps: Steps[T]) -> T:
    """Run the same generator on an event loop; the functions that it yields run in a thread."""
    import asyncio  # a trainer that has no loop need not load it

    try:
        step = next(steps)
        while True:
            found = asyncio.to_thread(step) if callable(step) else judge_async(step)
            step = steps.send(await found)
    except StopIteration as end:
        result: T = end.value
        return result


class Reward(Protocol[P]):
    """A reward function: the values of a batch, and, with `scores`, the reasons too.

    scores_async is the coroutine function that gives the same scores, or None if there is none.
    """

    __name__: str
    scores: Callable[P, list[Score]]
    scores_async: Callable[P, Awaitable[list[Score]]] | None
    declaration: Declaration

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[float | None]: ...


@overload
def reward(function: Callable[P, list[Score]], /) -> Reward[P]: ...
@overload
def reward(function: Callable[P, Steps[list[Score]]], /) -> Reward[P]: ...
@overload
def reward(function: Callable[P, Awaitable[list[Score]]], /) -> "AsyncReward[P]": ...
@overload
def reward(
    *,
    columns: Sequence[str] | None = None,
    needs: Sequence[str] = (),
    needs_any: Sequence[str] = (),
    reads_latex: bool = False,
    takes_alternatives: bool = False,
    reads: str = "text",
    scope: str = "row",
) -> "_Decorator": ...
def reward(function: Any = None, /, **declared: Any) -> Any:
    """Make a reward function of a function that scores a batch, and declare what it takes.

    The function returns a `Score` for each completion. It may be a plain function, a coroutine
    function, or a generator that yields pairs for the judge and receives their verdicts.

    columns: its arguments that hold one entry per row, those in its **kwargs too; its other
        arguments are settings. Default: every argument that it names is a column, and its
        **kwargs receive all others
    needs: the arguments that it needs although they have a default or are not named
    needs_any: columns of which it needs at least one: an image as `image` or as `image_path`
    reads_latex: whether it reads golds as LaTeX and as nothing else
    takes_alternatives: whether a gold that is a list holds several, each of which is right
    reads: "messages" for whole conversations in place of texts: each completion is a list of
        `plaudit.inputs.messages.ChatMessage`. Default: "text", what the trainer passes
    scope: "group" to be called with the completions of one prompt at a time, for a ranking or a
        comparison of lengths. Default: "row"

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
    if function is None:
        return partial(_batch_reward, **declared)
    return _batch_reward(function)


class _Decorator(Protocol):
    @overload
    def __call__(self, function: Callable[P, list[Score]], /) -> Reward[P]: ...
    @overload
    def __call__(self, function: Callable[P, Steps[list[Score]]], /) -> Reward[P]: ...
    @overload
    def __call__(self, function: Callable[P, Awaitable[list[Score]]], /) -> "AsyncReward[P]": ...


def _batch_reward(function: Callable[..., Any], **declared: Any) -> Any:
    scores = with_missing_column_error(function)
    if declared.get("scope") == "group":
        if isgeneratorfunction(function) or iscoroutinefunction(function):
            raise TypeError(f"{function.__name__} scores groups: it must be a plain function")
        scores = _by_group(scores)
    if declared.get("reads") == "messages":
        scores = _of_messages(scores)
    scores_async = None
    if isgeneratorfunction(function):  # what wraps it gives its generator
        scores, scores_async = _in_thread(scores), _on_loop(scores)
    elif iscoroutinefunction(function):
        scores_async = scores
    made: Any = _values(function, scores)
    made.scores, made.scores_async = scores, scores_async
    made.declaration = declare(function, **declared)
    return made


def _by_group(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function over a batch of one that is called with a group at a time."""

    @wraps(function)
    def run(completions: Sequence[Any], **columns: Any) -> list[Any]:
        count = len(completions)
        found: dict[int, Any] = {}
        for rows in groups_of(columns, count):
            group = rows_at({**columns, "completions": completions}, rows, count)
            scores = list(function(**group))
            if len(scores) != len(rows):
                name = f"{function.__name__} gave {len(scores)} values"
                raise ValueError(f"{name} for the {len(rows)} completions of a group")
            found |= dict(zip(rows, scores, strict=True))
        return [found[row] for row in range(count)]

    return run


def _of_messages(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function over completions of any form of one that reads conversations."""

    @wraps(function)
    def run(completions: Any, *args: Any, **columns: Any) -> Any:
        return function(conversations_of(completions), *args, **columns)

    if iscoroutinefunction(function):

        @wraps(function)
        async def run_async(completions: Any, *args: Any, **columns: Any) -> Any:
            return await function(conversations_of(completions), *args, **columns)

        return run_async
    return run


def _in_thread(function: Callable[P, Steps[T]]) -> Callable[P, T]:
    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_with_judge(function(*args, **kwargs))

    return run


def _on_loop(function: Callable[P, Steps[T]]) -> Callable[P, Awaitable[T]]:
    @wraps(function)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return await run_with_judge_async(function(*args, **kwargs))

    return run


def _values(function: Callable[..., Any], scores: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that gives the values alone; a coroutine function if either is one."""
    name = function.__name__

    @wraps(function)
    def values(*args: Any, **kwargs: Any) -> list[float | None]:
        return values_of(scores(*args, **kwargs), name, kwargs.get("log_metric"))

    @wraps(function)
    async def values_async(*args: Any, **kwargs: Any) -> list[float | None]:
        return values_of(await scores(*args, **kwargs), name, kwargs.get("log_metric"))

    is_async = iscoroutinefunction(scores) or iscoroutinefunction(function)
    made = values_async if is_async else values
    return _returning(made, list[float | None])


def _returning(function: T, kind: Any) -> T:
    """Return the function with its own return type in its signature, not the wrapped one's."""
    made = cast("Any", function)
    made.__signature__ = signature(made).replace(return_annotation=kind)
    made.__annotations__ = {**made.__annotations__, "return": kind}
    return function


class AsyncReward(Protocol[P]):
    """A reward function for an event loop, and, with `scores`, the reasons too."""

    __name__: str
    scores: Callable[P, Awaitable[list[Score]]]

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> list[float | None]: ...


def async_form(of: Reward[P]) -> AsyncReward[P]:
    """Return the coroutine function that gives the values of a reward on an event loop.

    >>> import asyncio
    >>> from plaudit.rewards.trl import accuracy_reward
    >>> asyncio.run(async_form(accuracy_reward)([r"\\boxed{4}"], ["4"]))
    [1.0]
    """
    if of.scores_async is None:
        raise TypeError(f"{of.__name__} is a plain function: it has no async form")
    made: Any = _values(cast("Any", of), of.scores_async)
    del made.declaration  # `plaudit list` names the reward once
    made.__name__ = made.__qualname__ = f"{of.__name__}_async"
    made.__doc__ = f"`{of.__name__}` for an event loop.\n\n    {of.__doc__}"
    made.scores = of.scores_async
    return cast("AsyncReward[P]", made)


def as_coroutine_functions(kind: type[T]) -> type[T]:
    """Make `inspect.iscoroutinefunction` true for the objects of a class with an async `__call__`.

    Trainers ask it, and it is true only for objects that have a function's attributes. It would be
    true for a `functools.partial` too, but newer trainers show that by the name of its function.
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
    """Make a reward function of a function that scores one text, its first argument `content`.

    `scores` takes columns, as the other rewards do, and passes each row its entries; the column
    `solution` is the argument `sol`. What is not a list holds for every row.

    columns, needs: as for `reward`
    batch: scores a whole batch, if that is quicker than row by row. Default: row by row

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
    scored = cast("Callable[..., Score]", with_missing_column_error(score))

    def score_text(content: Any, *args: Any, **kwargs: Any) -> Score:
        return check_scores([scored(text_of(content), *args, **kwargs)], score.__name__)[0]

    @wraps(score)
    def value(*args: P.args, **kwargs: P.kwargs) -> float:
        return cast("float", score_text(*args, **kwargs).value)

    made = cast("TextReward[P]", _returning(value, float))
    made.declaration = declare(score, **declared, of_text=True)
    made.scores = (
        partial(_score_rows, score_text, made.declaration)
        if batch is None
        else with_missing_column_error(batch, score.__name__)
    )
    return made


def _score_rows(
    score_text: Callable[..., Score],
    declaration: Declaration,
    completions: Sequence[Any],
    **columns: Any,
) -> list[Score]:
    """Return the score of each row: settings go to every call, of a column its entry."""
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
    scores = []
    for row, text in enumerate(texts):
        with naming_row(row):
            passed = fixed | {name: column[row] for name, column in listed.items()}
            if "solution" in passed:
                passed["sol"] = passed.pop("solution")
            scores.append(score_text(text, **passed))
    return scores


def _is_fixed(name: str, value: object) -> bool:
    return name in HOOKS or isinstance(value, str) or not hasattr(value, "__len__")


# --- rows of a batch that belong together ---------------------------------------------------------


def groups_of(columns: Mapping[str, Any], count: int) -> list[list[int]]:
    """Return the indices of the rows of each group: completions of the same prompt.

    A group is what the trainer drew together (TRL's `num_generations`), else rows with the same id
    or prompt. Without any of these, the batch is one group.
    """
    trainer = getattr(columns.get("log_metric"), "__self__", None)
    training = getattr(getattr(trainer, "model", None), "training", True)
    size = getattr(trainer, "num_generations" if training else "num_generations_eval", None)
    if isinstance(size, int) and size > 0 and count % size == 0:
        return [list(range(start, start + size)) for start in range(0, count, size)]
    for name in (*GROUP, *PROMPT):
        try:
            rows = rows_of(columns.get(name), name)
        except TypeError:
            continue
        if len(rows) == count:
            groups: dict[str, list[int]] = {}
            for row, entry in enumerate(rows):
                groups.setdefault(repr(entry), []).append(row)
            return list(groups.values())
    return [list(range(count))]


def rows_at(columns: Mapping[str, Any], indices: Sequence[int], count: int) -> dict[str, Any]:
    """Return the columns of some rows; what has no entry per row stays as it is.

    A trainer's `log_extra` gets an empty text for each of the other rows.
    """
    taken: dict[str, Any] = {}
    for name, column in columns.items():
        try:
            rows = None if name in HOOKS else rows_of(column, name)
        except TypeError:
            rows = None
        has_rows = rows is not None and len(rows) == count
        taken[name] = [rows[index] for index in indices] if rows and has_rows else column
    if callable(log := columns.get("log_extra")):
        taken["log_extra"] = lambda name, values: log(
            name, [dict(zip(indices, values, strict=True)).get(row, "") for row in range(count)]
        )
    return taken
