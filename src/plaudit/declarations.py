"""A reward function in, and out come the columns that it takes, those that it needs, its settings.

    @reward(columns=("solution",), needs=("solution",))
    def accuracy(completions, solution=None, digits=3, log_extra=None, **kwargs): ...

    Declaration(columns=("solution",), needs=("solution",), settings=("digits",), …)

The decorators of `plaudit.scores` make a declaration where a reward is defined. A function without
one gets that of its signature: every argument is a column, and those without a default are needed.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from inspect import isclass, isroutine, signature
from typing import Any, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")
AnyReward = Callable[..., Any]

# What a trainer may pass beside the columns. None of it is a column, whatever a reward declares.
HOOKS = ("log_extra", "log_metric", "trainer_state")
_FACTORY = "_is_plaudit_reward_factory"


@dataclass(frozen=True)
class Declaration:
    """What a reward can be given, and what it cannot do without.

    columns: the arguments that hold one entry per row, without the completions themselves
    needs: the columns and settings without which it cannot be called
    needs_any: columns of which it needs at least one, whichever
    settings: the arguments that hold for every row, such as a tokenizer
    named: every argument that its signature names, the completions and the trainer's hooks too
    is_open: whether it can be called with other arguments as well, since it has **kwargs
    is_exact: whether it declares which columns it reads; if not, its **kwargs may read any
    reads_latex: whether it reads golds as LaTeX and as nothing else
    takes_alternatives: whether a gold that is a list holds several, each of which is right
    is_light: whether it does little more than read its texts, so that an event loop may call it
    batch_names: for a reward of one text, its arguments whose columns have other names in a batch:
        {"sol": "solution"}
    async_form: the coroutine function that gives the same scores, where there is one

    >>> from plaudit.rewards.trl import accuracy_reward
    >>> accuracy_reward.declaration.columns, accuracy_reward.declaration.needs
    (('solution',), ('solution',))
    """

    columns: tuple[str, ...]
    needs: tuple[str, ...]
    settings: tuple[str, ...]
    named: tuple[str, ...]
    is_open: bool
    is_exact: bool
    reads_latex: bool = False
    takes_alternatives: bool = False
    is_light: bool = False
    batch_names: Mapping[str, str] = field(default_factory=dict)
    async_form: Callable[..., Awaitable[Any]] | None = None
    needs_any: tuple[str, ...] = ()

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
    is_light: bool = False,
    batch_names: Mapping[str, str] | None = None,
    needs_any: Sequence[str] = (),
) -> Declaration:
    """The declaration of a function; what is not given here follows from its signature.

    columns: the arguments that hold one entry per row; the others that it names are settings.
        Default: all that it names are columns, and so is whatever its **kwargs may be given
    needs: the arguments that it needs although its signature has a default for them, or does not
        name them. Default: none besides those without a default
    reads_latex: whether it reads golds as LaTeX and as nothing else. Default: False
    takes_alternatives: whether a gold that is a list holds several, each of which is right.
        Default: False
    batch_names: as in `Declaration`. Default: none
    needs_any: columns of which it needs at least one, whichever. Default: none

    >>> def brief(completions, level, most=9, log_extra=None, **kwargs): ...
    >>> declare(brief).columns, declare(brief).takes_any
    (('level', 'most'), True)
    >>> declare(brief, columns=["level"]).settings
    ('most',)
    """
    renamed = batch_names or {}
    named, is_open, required = arguments_of(function)
    named, required = ([renamed.get(name, name) for name in names] for names in (named, required))
    beside = [name for name in named if name not in ("self", "completions", *HOOKS)]
    listed = beside if columns is None else list(columns)
    unknown = [name for name in (*listed, *needs, *needs_any) if name not in beside]
    if unknown and not is_open:
        label = getattr(function, "__name__", function)
        raise ValueError(f"{label} declares {unknown[0]}, but has no such argument")
    insisted = [name for name in required if name in beside]
    return Declaration(
        columns=tuple(dict.fromkeys([*listed, *unknown])),
        needs=tuple(dict.fromkeys([*insisted, *needs])),
        settings=tuple(name for name in beside if name not in listed),
        named=tuple(named),
        is_open=is_open,
        is_exact=columns is not None,
        reads_latex=reads_latex,
        takes_alternatives=takes_alternatives,
        is_light=is_light,
        batch_names=renamed,
        needs_any=tuple(needs_any),
    )


def declaration_of(reward: Any) -> Declaration:
    """What a reward declares, or what follows from its signature where it declares nothing.

    >>> declaration_of(lambda completions, answers, level=None: []).needs
    ('answers',)
    """
    scores = getattr(reward, "scores", None)
    for holder in (reward, scores):
        if isinstance(declared := getattr(holder, "declaration", None), Declaration):
            return declared
    # What an object's `scores` names says more than its `__call__`.
    return declare(reward if scores is None else scores)


def arguments_of(function: AnyReward) -> tuple[list[str], bool, list[str]]:
    """The arguments of a function, whether it has **kwargs, and the arguments without a default.

    >>> arguments_of(lambda completions, solution, level=None, **kwargs: [])
    (['completions', 'solution', 'level'], True, ['completions', 'solution'])
    """
    parameters = signature(function).parameters.values()
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    is_open = any(p.kind is p.VAR_KEYWORD for p in parameters)
    return [p.name for p in named], is_open, [p.name for p in named if p.default is p.empty]


def asking_for_columns(function: Callable[P, T], name: str = "") -> Callable[P, T]:
    """The function; a call that leaves out an argument gets an error that names the column.

    >>> @asking_for_columns
    ... def repetition(completion_ids, **kwargs):
    ...     return [0.0 for _ in completion_ids]
    >>> repetition(completions=["la la la"])
    Traceback (most recent call last):
    ...
    TypeError: repetition needs completion_ids: pass completion_ids=…, a column has one entry per \
completion
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
            own = getattr(args[0], "__name__", "") if args else ""
            how = ", ".join(f"{one}=…" for one in missing)
            raise TypeError(
                f"{name or own or function.__name__} needs {' and '.join(missing)}: pass {how}, "
                "a column has one entry per completion"
            ) from error

    return asked


def _missing(function: AnyReward, args: Any, kwargs: Mapping[str, Any]) -> list[str]:
    """The arguments without a default that a call leaves out."""
    try:
        given = signature(function).bind_partial(*args, **kwargs).arguments
    except TypeError:  # too many, or one twice: Python says which
        return []
    return [name for name in arguments_of(function)[2] if name not in given]


def declared(
    columns: Sequence[str], needs: Sequence[str] = (), reads_latex: bool = False
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Declare the method `scores` of a class whose objects are rewards.

    >>> class Shorter:
    ...     @declared(columns=["limit"])
    ...     def scores(self, completions, limit, **kwargs): ...
    >>> declaration_of(Shorter()).needs
    ('limit',)
    """

    def with_declaration(method: Callable[P, T]) -> Callable[P, T]:
        asked = cast("Any", asking_for_columns(method))
        asked.declaration = declare(method, columns, needs, reads_latex)
        return cast("Callable[P, T]", asked)

    return with_declaration


def reward_factory(maker: T) -> T:
    """Mark a function or a class as one that makes a reward out of a recipe's `params`.

    Of a user's code, a recipe calls nothing but marked factories when it is loaded.

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
    # The objects of a marked class have its mark as well, and are not factories.
    return (isclass(thing) or isroutine(thing)) and getattr(thing, _FACTORY, False) is True
