"""Components as one callable that scores a batch, and the TOML files of recipes."""

import json
import operator
import os
import re
import sys
import threading
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from inspect import iscoroutinefunction
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from plaudit.inputs.columns import kind_of, truncated_rows
from plaudit.inputs.errors import did_you_mean, quoted
from plaudit.recipes.bound_reward import RewardLimits, check_limits
from plaudit.recipes.component import (
    Component,
    check_columns,
    check_completions,
    check_golds,
    check_needs,
    guess_columns,
)
from plaudit.recipes.row_score import (
    FAIL_ABOVE,
    MEAN,
    RowScores,
    ScoredBatch,
    check_fail_above,
    check_neutral,
    check_policy,
    with_policy,
)
from plaudit.scores import Score
from plaudit.scores.decorators import HOOKS, as_coroutine_functions, declaration_of
from plaudit.scores.score import (
    FAILED_STATUSES,
    NOT_APPLICABLE,
    PROBLEM_STATUSES,
    STATUSES,
    TRUNCATED,
    html_table,
    log_seconds,
    short_repr,
    values_of,
)

# The keys of a file that are passed to `Recipe` as they are.
SETTINGS = ("on", "fail_above", "deadline", "memory", "neutral")
_CUT_OFF = "The completion was cut off."
RECORD_VARIABLE = "PLAUDIT_RECORD"


@dataclass(frozen=True, repr=False)
class Recipe:
    """Rewards with weights, gates and columns, as one callable over a batch.

    components: rewards with weights and gates; a reward alone, as a name or a function, will do
    columns: the rewards' argument -> the table's column, for all components; `completions` too
    golds: "latex" wraps golds that are in no environment in $…$, for each reward of trl
    attacks: attacks of the user's that `plaudit audit` plays too, such as "my_attacks:shouting"
    on: what a status is worth, {"timeout": "zero"}: "skip", "zero", "keep" (what the reward gave)
        or a number. Default: what the model caused is 0, what the machinery caused is skipped
    fail_above: the share of failed rows from which a training run stops. Default: 0.2
    deadline: seconds that a component that is a reward of your own may take for a batch. Default:
        what the environment variable PLAUDIT_REWARD_DEADLINE says, else none
    memory: MiB that such a component may allocate. Default: no limit
    neutral: what a skipped row is worth to a trainer that takes only numbers: "mean" for the mean
        of its group, or a number. Default: "mean"

    >>> recipe = Recipe(
    ...     "brief-math",
    ...     (
    ...         Component("accuracy", "trl.accuracy_reward"),
    ...         Component("format", "trl.think_format_reward", weight=0.5, gate="accuracy"),
    ...     ),
    ...     columns={"solution": "answer"},
    ... )
    >>> completions = [r"<think>2 + 2</think> \\boxed{4}", r"<think>2 + 2</think> \\boxed{5}"]
    >>> [row.total for row in recipe(completions, answer=["4", "4"])]
    [1.5, 0.0]
    """

    name: str
    components: tuple[Component, ...]
    columns: Mapping[str, str] = field(default_factory=dict)
    golds: str = ""
    attacks: tuple[str, ...] = ()
    on: Mapping[str, str | float] = field(default_factory=dict)
    fail_above: float = FAIL_ABOVE
    deadline: float | None = None
    memory: int | None = None
    neutral: str | float = MEAN

    def __post_init__(self) -> None:
        listed = [self.components] if isinstance(self.components, str) else self.components
        components = [one if isinstance(one, Component) else Component("", one) for one in listed]
        object.__setattr__(self, "components", tuple(components))
        if not self.components:
            raise ValueError("a recipe needs at least one reward")
        if isinstance(self.attacks, str):
            raise ValueError(f"attacks must be a list of names: write [{self.attacks!r}]")
        object.__setattr__(self, "attacks", tuple(self.attacks))
        object.__setattr__(self, "components", self._with_golds())
        check_columns(self.columns)
        check_policy(self.on)
        check_fail_above(self.fail_above)
        check_limits(self.limits)
        check_neutral(self.neutral)
        self._check_names_and_gates()
        for argument in self.columns:
            self._check_taken(argument)

    def __repr__(self) -> str:
        return short_repr(self)

    def __call__(self, completions: Sequence[Any], **columns: Any) -> RowScores:
        """Return the total and each component's score, for each completion.

        A column is passed by the reward's argument or by the table's name; the table's name wins.
        Columns that no component takes are ignored. Raises `TooManyFailuresError` if more rows
        failed than `fail_above` allows; `score_batch` does not.

        >>> from plaudit.recipes import load
        >>> load("trl-math")([r"\\boxed{4}"], solution=["4"])[0].total
        1.0
        """
        return self._counted(self.score_batch(completions, **columns)).rows

    def score_batch(self, completions: Sequence[Any], **columns: Any) -> ScoredBatch:
        """Return the same by component, which is quicker if rows are made into columns again."""
        scores = _score(self, self.components, completions, columns)
        return ScoredBatch(scores, self._weights())

    async def score_async(self, completions: Sequence[Any], **columns: Any) -> RowScores:
        """Return the same on an event loop: while workers judge, no thread waits for them."""
        return self._counted(await self.score_batch_async(completions, **columns)).rows

    async def score_batch_async(self, completions: Sequence[Any], **columns: Any) -> ScoredBatch:
        """`score_batch` on an event loop."""
        scores = await _score_async(self, self.components, completions, columns)
        return ScoredBatch(scores, self._weights())

    async def score_component_async(
        self, name: str, completions: Sequence[Any], **columns: Any
    ) -> list[Score]:
        """Return the scores of one component, after the gates that it depends on."""
        return (await _score_async(self, self.with_gates(name), completions, columns))[name]

    def _counted(self, batch: ScoredBatch) -> ScoredBatch:
        """Return the batch; raise if too many of its rows failed."""
        for component in self.components:
            scores = batch.components[component.name]
            component.failures.add(component.name, scores, self.fail_above)
        return batch

    @property
    def limits(self) -> RewardLimits:
        """What a component may take, unless it has limits of its own."""
        return RewardLimits(self.deadline, self.memory)

    def _weights(self) -> dict[str, float]:
        return {component.name: component.weight for component in self.components}

    def needs(self) -> dict[str, str]:
        """Map each argument that some component needs to the table's column.

        The completions themselves are not among them. If two components read an argument from
        different columns, the later one's key is "component.argument".
        """
        needs: dict[str, str] = {}
        for component in self.components:
            for argument, column in component.needs(self.columns).items():
                taken = needs.setdefault(argument, column) != column
                if taken:
                    needs[f"{component.name}.{argument}"] = column
        return needs

    def with_guessed_columns(self, available: Collection[str]) -> tuple["Recipe", dict[str, str]]:
        """Return the recipe for a table with these columns, and which of them were guessed."""
        guessed = guess_columns(self.components, self.columns, available)
        if not guessed:
            return self, {}
        return replace(self, columns={**self.columns, **guessed}), guessed

    def check(
        self, available: Collection[str], *, completions: bool = True, run_file: bool = False
    ) -> None:
        """Raise ValueError if a table with these columns lacks one that the recipe needs.

        completions: whether it must have what a model wrote, and what trainers make while they
            generate, which a dataset to train on has not
        run_file: whether the user names columns in the file of `plaudit train`, for the message
        """
        if completions:
            check_completions(self.columns.get("completions"), available)
        check_needs(self.components, self.columns, available, completions, run_file)

    def reward_funcs(self, *, asynchronous: bool = False) -> list[Callable[..., Any]]:
        """Return a reward function for each component, as trainers take them; picklable.

        Each has the component's name, applies its columns and parameters, and respects its gate.
        Asynchronous ones are coroutine functions, for a trainer's event loop. What they score is
        recorded if the environment variable PLAUDIT_RECORD names a folder.

        >>> from plaudit.recipes import load
        >>> functions = load("trl-reasoning").reward_funcs()
        >>> [function.__name__ for function in functions]
        ['reasoning_accuracy_reward', 'think_format_reward']
        >>> functions[1](completions=["<think>2 + 2</think> 4"], solution=["4"])
        [1.0]
        """
        recorded = _recorded(self)
        if recorded is not self:
            return recorded.reward_funcs(asynchronous=asynchronous)
        return self._functions(asynchronous)

    def _functions(self, asynchronous: bool) -> list[Callable[..., Any]]:
        shared = SharedBatch()
        kind = _AsyncRewardFunction if asynchronous else _RewardFunction
        return [kind(self, component.name, shared) for component in self.components]

    def reward_weights(self) -> list[float]:
        """Return the weight of each of `reward_funcs()`, in the same order."""
        return [component.weight for component in self.components]

    def to_toml(self) -> str:
        """Return the recipe as a TOML file; raise ValueError for a value that TOML cannot have.

        >>> from plaudit.recipes import load
        >>> print(load("trl-math").to_toml(), end="")
        name = "trl-math"
        <BLANKLINE>
        [[rewards]]
        name = "accuracy_reward"
        reward = "trl.accuracy_reward"
        """
        usual = {"golds": "", "attacks": (), "on": {}, "fail_above": FAIL_ABOVE, "neutral": MEAN}
        values = {name: getattr(self, name) for name in ("golds", "attacks", *SETTINGS)}
        kept = {name: value for name, value in values.items() if value != usual.get(name)}
        tables = {name: value for name, value in kept.items() if isinstance(value, Mapping)}
        plain = {name: value for name, value in kept.items() if name not in tables}
        blocks = [_lines({"name": self.name} | plain)]
        blocks += [[f"[{name}]", *_lines(table)] for name, table in tables.items()]
        if self.columns:
            blocks.append(["[columns]", *_lines(self.columns)])
        each = (_entries(component, self.golds) for component in self.components)
        blocks += [["[[rewards]]", *_lines(entries)] for entries in each]
        return "\n\n".join("\n".join(block) for block in blocks) + "\n"

    def _repr_html_(self) -> str:
        """Return a table for a notebook."""
        head = ["component", "reward", "weight", "gate", "params", "columns that it needs"]
        lines = [
            (
                component.name,
                component.reference,
                component.weight,
                component.gate,
                ", ".join(f"{name} = {value!r}" for name, value in component.params.items()),
                ", ".join(component.needs(self.columns).values()),
            )
            for component in self.components
        ]
        return html_table(f"Recipe {self.name}", head, lines)

    def _with_golds(self) -> tuple[Component, ...]:
        check_golds(self.golds)
        readers = [component.bound.declaration.reads_latex for component in self.components]
        if self.golds and not any(readers):
            raise ValueError('golds = "latex" is for the rewards of trl, and the recipe has none')
        return tuple(
            replace(component, golds=self.golds) if self.golds and reads else component
            for component, reads in zip(self.components, readers, strict=True)
        )

    def with_gates(self, name: str) -> tuple[Component, ...]:
        """Return a component, after the chain of gates that it depends on."""
        named = {other.name: other for other in self.components}
        chain = [named[name]]
        while (gate := chain[0].gate) is not None:
            chain.insert(0, named[gate])
        return tuple(chain)

    def _check_names_and_gates(self) -> None:
        earlier: list[str] = []
        for component in self.components:
            name, gate = component.name, component.gate
            if name in earlier:
                raise ValueError(f"two rewards are called {quoted(name)}: give one another name")
            if gate is not None and gate not in earlier:
                hint = did_you_mean(gate, earlier) if earlier else "it is the first"
                raise ValueError(
                    f"{name}: the gate {quoted(gate)} is not an earlier reward; {hint}"
                )
            earlier.append(name)

    def _check_taken(self, argument: str) -> None:
        if argument == "completions" or any(c.takes(argument) for c in self.components):
            return
        known = sorted({name for c in self.components for name in c.bound.takes})
        hint = did_you_mean(argument, ["completions", *known])
        raise ValueError(f"columns: no reward takes {quoted(argument)}; {hint}")


def _recorded(recipe: Recipe) -> Recipe:
    """Return the recipe, recorded if the environment asks for it."""
    if not os.environ.get(RECORD_VARIABLE):
        return recipe
    from plaudit.runs.recording import recorded  # which is built on recipes: the one import upwards

    return recorded(recipe)


def _score(
    recipe: Recipe,
    components: Sequence[Component],
    completions: Sequence[Any],
    columns: Mapping[str, Any],
) -> dict[str, list[Score]]:
    """Return the scores of the rows for each component, with policy and gates applied."""
    _check_columns(components, columns, recipe.columns)
    passed = completions, columns, recipe.columns, recipe.limits
    batches = [component.scores(*passed) for component in components]
    return _finished(recipe, components, _with_truncation(batches, columns))


async def _score_async(
    recipe: Recipe,
    components: Sequence[Component],
    completions: Sequence[Any],
    columns: Mapping[str, Any],
) -> dict[str, list[Score]]:
    _check_columns(components, columns, recipe.columns)
    passed = completions, columns, recipe.columns, recipe.limits
    batches = [await component.scores_async(*passed) for component in components]
    return _finished(recipe, components, _with_truncation(batches, columns))


def _with_truncation(
    batches: list[list[Score]], columns: Mapping[str, Any]
) -> Sequence[list[Score]]:
    """Give the rows that were cut off that status, unless something else went wrong with them."""
    cut = set(truncated_rows(columns, len(batches[0])) if batches else ())
    kept = (*PROBLEM_STATUSES, NOT_APPLICABLE)
    if not cut:
        return batches
    return [
        [
            replace(score, status=TRUNCATED, why=f"{_CUT_OFF} {score.why}")
            # A row without a value, such as one whose gate has none, keeps the reason for that.
            if row in cut and score.status not in kept and score.value is not None
            else score
            for row, score in enumerate(scores)
        ]
        for scores in batches
    ]


def _check_columns(
    components: Sequence[Component], columns: Mapping[str, Any], mapping: Mapping[str, str]
) -> None:
    """Raise if a batch lacks a column, by the table's name and the argument's."""
    needs = [pair for component in components for pair in component.needs(mapping).items()]
    by_argument = {column for argument, column in needs if argument in columns}
    check_needs(components, mapping, [*columns, *by_argument])


def _finished(
    recipe: Recipe, components: Sequence[Component], batches: Sequence[list[Score]]
) -> dict[str, list[Score]]:
    """Apply the policy, the gates, and leave out the rows of which a component failed."""
    finished: dict[str, list[Score]] = {}
    for component, given in zip(components, batches, strict=True):
        scores, gate = with_policy(given, {**recipe.on, **component.on}), component.gate
        finished[component.name] = (
            scores
            if gate is None
            else [_gated(one, gate, by) for one, by in zip(scores, finished[gate], strict=True)]
        )
    return _without_failed_rows(components, finished)


def _gated(score: Score, gate: str, by: Score) -> Score:
    if score.value is None or (by.value is not None and by.value > 0):
        return score
    if by.value is None:
        why, value = f"It is left out, since {gate} is. {score.why}", None
    else:
        why, value = f"It counts 0, since {gate} did not pass. {score.why}", 0.0
    # Left out with its gate, it failed in nothing of its own.
    is_own = by.value is not None and score.status in STATUSES[:-1]
    status = score.status if is_own else "gated"
    if by.status == NOT_APPLICABLE:
        status = NOT_APPLICABLE
    return replace(score, value=value, ungated=score.value, why=why, status=status)


def _without_failed_rows(
    components: Sequence[Component], finished: dict[str, list[Score]]
) -> dict[str, list[Score]]:
    """Leave out every component of a row if one that counts failed.

    The others alone would come to the total of a wrong answer, and a trainer that normalises
    each component would compare rows of which some lack one.
    """
    failed: dict[int, tuple[str, Score]] = {}
    for component in components:
        for row, score in enumerate(finished[component.name]) if component.weight else ():
            if score.value is None and score.status in (*FAILED_STATUSES, TRUNCATED):
                failed.setdefault(row, (component.name, score))
    if not failed:
        return finished
    return {
        name: [_left_out(one, *failed[row]) if row in failed else one for row, one in enumerate(of)]
        for name, of in finished.items()
    }


def _left_out(score: Score, name: str, failed: Score) -> Score:
    if score.value is None:
        return score
    why = f"It is left out, since {name} is ({failed.status}). {score.why}"
    return replace(score, value=None, ungated=score.value, why=why)


class SharedBatch:
    """The batch that the functions of a recipe are called with, one after the other.

    The first of them scores it with all components, so that each can leave out a row of which
    another one failed. Each takes its scores once. A batch is the same if its lists have the same
    objects in them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: list[Any] = []  # what it was scored with, which also keeps the objects alive
        self._scores: Any = None  # by component; on a loop, the task that gives them
        self._waiting: set[str] = set()

    def __reduce__(self) -> Any:
        return SharedBatch, ()

    def scores(self, function: "_RewardFunction", completions: Any, columns: Any) -> list[Score]:
        """Return the scores of one component; score the batch if this is the first call with it."""
        with self._lock:
            scores = self._taken(function.name, completions, columns)
        if scores is None:
            components = function.components(columns)
            scores = _score(function.recipe, components, completions, columns)
            with self._lock:
                self._keep(function.name, scores, components, completions, columns)
        own: list[Score] = scores[function.name]
        return own

    async def scores_async(
        self, function: "_RewardFunction", completions: Any, columns: Any
    ) -> list[Score]:
        """Return the same on an event loop, on which the functions run at the same time."""
        import asyncio

        scoring = self._taken(function.name, completions, columns)
        if scoring is None:
            components = function.components(columns)
            scoring = asyncio.ensure_future(
                _score_async(function.recipe, components, completions, columns)
            )
            self._keep(function.name, scoring, components, completions, columns)
        # If one function is cancelled, the others still want the scores.
        own: list[Score] = (await asyncio.shield(scoring))[function.name]
        return own

    def _taken(self, name: str, completions: Any, columns: Mapping[str, Any]) -> Any:
        """Return what the batch got, if this function has not taken it yet."""
        of = _objects(completions, columns)
        same = len(of) == len(self._of) and all(map(operator.is_, of, self._of))
        if not same or name not in self._waiting:
            return None
        self._waiting.discard(name)
        scores = self._scores
        if not self._waiting:
            self._of, self._scores = [], None
        return scores

    def _keep(
        self,
        name: str,
        scores: Any,
        components: Sequence[Component],
        completions: Any,
        columns: Mapping[str, Any],
    ) -> None:
        """Keep what the batch got for the functions of the other components."""
        self._waiting = {component.name for component in components} - {name}
        self._of = _objects(completions, columns) if self._waiting else []
        self._scores = scores if self._waiting else None


def _objects(completions: Any, columns: Mapping[str, Any]) -> list[Any]:
    """Return the names of the columns, and the objects that are in them."""
    objects: list[Any] = [*(sys.intern(name) for name in columns)]
    for name, column in (("", completions), *columns.items()):
        if name not in HOOKS:
            objects += column if isinstance(column, list) else [column]
    return objects


@dataclass(frozen=True)
class _RewardFunction:
    """One component of a recipe as a reward function."""

    recipe: Recipe
    name: str
    shared: SharedBatch = field(compare=False, repr=False)

    @property
    def __name__(self) -> str:
        return self.name

    def components(self, columns: Mapping[str, Any]) -> Sequence[Component]:
        """Return the components to score a batch with: all, if it has the columns for them."""
        try:
            _check_columns(self.recipe.components, columns, self.recipe.columns)
        except ValueError:  # a trainer may use some of the functions alone
            return self.recipe.with_gates(self.name)
        return self.recipe.components

    def scores(self, completions: Sequence[Any], **columns: Any) -> list[Score]:
        return self.shared.scores(self, completions, columns)

    def finish(self, scores: Sequence[Score], log_metric: object) -> None:
        """Log how long the rows took; raise if too many of them failed."""
        log_seconds(self.name, [score.seconds or 0.0 for score in scores], log_metric)
        component = self.recipe.with_gates(self.name)[-1]
        component.failures.add(self.name, scores, self.recipe.fail_above)

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        scores = self.scores(completions, **columns)
        self.finish(scores, columns.get("log_metric"))
        return values_of(scores, self.name, columns.get("log_metric"))


@as_coroutine_functions
@dataclass(frozen=True)
class _AsyncRewardFunction(_RewardFunction):
    """The same reward function for an event loop."""

    async def scores(  # type: ignore[override]
        self, completions: Sequence[Any], **columns: Any
    ) -> list[Score]:
        return await self.shared.scores_async(self, completions, columns)

    async def __call__(  # type: ignore[override]
        self, completions: Sequence[Any], **columns: Any
    ) -> list[float | None]:
        scores = await self.scores(completions, **columns)
        self.finish(scores, columns.get("log_metric"))
        return values_of(scores, self.name, columns.get("log_metric"))


def _entries(component: Component, golds: str) -> dict[str, Any]:
    """Return the entries of a component that differ from the defaults."""
    if not isinstance(component.reward, str):
        raise ValueError(
            f"{component.name} is a function that no other process can import, "
            f"{component.reference}: put it into a module, such as my_rewards.py, and name it as "
            f'"my_rewards:{component.name}"; or score in this process, with '
            "plaudit.score(table, recipe)"
        )
    entries: dict[str, Any] = {"name": component.name, "reward": component.reward}
    if component.weight != 1.0:
        entries["weight"] = component.weight
    if component.gate is not None:
        entries["gate"] = component.gate
    if component.right is not None:
        entries["right"] = component.right
    if component.golds != golds and component.golds:
        entries["golds"] = component.golds
    for name in ("when", "deadline", "memory"):
        if (value := getattr(component, name)) is not None:
            entries[name] = value
    tables = {"params": component.params, "columns": component.columns, "on": component.on}
    return entries | {key: table for key, table in tables.items() if table}


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_value(value, key)}" for key, value in table.items()]


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _value(value: Any, name: str) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return repr(int(value))  # what a subclass shows, such as an enum, is not TOML
    if isinstance(value, float):
        return repr(float(value))  # also one of numpy; inf and nan are words of TOML as well
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item, name) for item in value)}]"
    if isinstance(value, Mapping):
        inside = (f"{_key(key)} = {_value(item, key)}" for key, item in value.items())
        return f"{{ {', '.join(inside)} }}"
    raise ValueError(f"{name} cannot be written to a TOML file: it is {value!r:.80}")


def _text(text: str) -> str:
    """Return a TOML string: JSON's form, but for the one character that TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


# --- reading recipes ------------------------------------------------------------------------------

_PRESETS = files("plaudit").joinpath("presets")
_KEYS = ("name", "golds", "attacks", "columns", "rewards", *SETTINGS)
_KEYS_OF_A_REWARD = tuple(f.name for f in fields(Component) if f.name != "folder")


def load(name_or_path: str | PathLike[str], *, columns: Mapping[str, str] | None = None) -> Recipe:
    """Return the recipe that a name or a file describes; raise ValueError if there is none.

    name_or_path: the name of a preset, such as "math", or the path of a TOML file
    columns: which column an argument of the rewards is read from, such as {"solution": "answer"};
        these count more than the columns that the file names. Default: those of the file

    >>> load("trl-reasoning").needs()
    {'solution': 'solution'}
    >>> load("math", columns={"solution": "answer"})([r"\\boxed{4}"], answer=["4"])[0].total
    1.0
    >>> load("trl-maths")
    Traceback (most recent call last):
    ...
    ValueError: there is no recipe "trl-maths", neither a preset nor a file; \
did you mean "trl-math"?
    """
    if not isinstance(name_or_path, str | PathLike):
        raise TypeError(
            'a recipe is loaded by the name of a preset, such as "math", or the path of a TOML '
            f"file, got {kind_of(name_or_path)}"
        )
    name = fspath(name_or_path)
    if isinstance(name_or_path, str) and name in presets():
        text, folder = _PRESETS.joinpath(f"{name}.toml").read_text("utf-8"), ""
    else:
        text, folder = _text_of(name), str(Path(name).absolute().parent)
    try:
        recipe = _recipe(tomllib.loads(text), Path(name).stem, folder)
        return replace(recipe, columns={**recipe.columns, **columns}) if columns else recipe
    except (ValueError, ImportError) as error:
        raise ValueError(f"{name}: {error}") from error


def as_recipe(recipe: Any) -> Recipe:
    """Return the recipe that an argument stands for.

    recipe: a recipe; the name of a preset, or a TOML file; a reward, as a function, a name or a
        `Component`; or a list of rewards, whose values are added up
    """
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, PathLike) or (isinstance(recipe, str) and _is_a_recipe(recipe)):
        return load(recipe)
    is_one = isinstance(recipe, str | Component) or callable(recipe)
    if not is_one and not isinstance(recipe, list | tuple):
        raise TypeError(
            "a recipe is a Recipe, the name of a preset, a TOML file, a reward or a list of "
            f"rewards, got {type(recipe).__name__}: {recipe!r:.80}"
        )
    rewards = [recipe] if is_one else recipe
    components = tuple(one if isinstance(one, Component) else Component("", one) for one in rewards)
    return Recipe("-".join(one.name for one in components), components)


def _is_a_recipe(name: str) -> bool:
    """Return whether a text names a recipe; the name of a reward has a dot or a colon."""
    is_reward = ("." in name or ":" in name) and not name.endswith(".toml")
    return not is_reward or Path(name).exists()


def presets() -> list[str]:
    """Return the names of the recipes that come with plaudit.

    >>> {"math", "qa", "code", "tools"} <= {*presets()}
    True
    """
    names = (file.name for file in _PRESETS.iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def _text_of(name: str) -> str:
    path = Path(name)
    if not path.exists() and not path.suffix:
        hint = did_you_mean(name, presets())
        raise ValueError(f"there is no recipe {quoted(name)}, neither a preset nor a file; {hint}")
    try:
        return path.read_text("utf-8-sig")  # editors on Windows begin a file with a mark
    except OSError as error:
        raise ValueError(f"cannot read the recipe {name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"cannot read the recipe {name}: it is not UTF-8 text") from error


def _recipe(table: Mapping[str, Any], default_name: str, folder: str) -> Recipe:
    _check_keys(table, _KEYS)
    name, columns = table.get("name", default_name), table.get("columns", {})
    rewards = table.get("rewards")
    if not isinstance(name, str):
        raise ValueError(f"name must be text, got {name!r:.80}")
    if not isinstance(columns, dict):
        raise ValueError(f"columns must be a table, got {columns!r:.80}")
    if not isinstance(rewards, list) or not rewards:
        raise ValueError("a recipe needs at least one [[rewards]]")
    components = [
        _component(reward, number, folder) for number, reward in enumerate(rewards, start=1)
    ]
    attacks = table.get("attacks", [])
    if not isinstance(attacks, list) or not all(isinstance(one, str) for one in attacks):
        raise ValueError(
            f'attacks must be a list such as ["my_attacks:shouting"], got {attacks!r:.80}'
        )
    settings = {key: table[key] for key in SETTINGS if key in table}
    golds = table.get("golds", "")
    return Recipe(name, tuple(components), columns, golds, tuple(attacks), **settings)


def _component(table: Any, number: int, folder: str) -> Component:
    label = f"rewards, number {number}"
    if not isinstance(table, dict):
        raise ValueError(f"{label}: it must be a table, got {table!r:.80}")
    try:
        _check_keys(table, _KEYS_OF_A_REWARD)
        if "reward" not in table:
            raise ValueError('reward is missing: add reward = "…", such as "trl.accuracy_reward"')
        return Component(**{"name": "", **table, "folder": folder})
    except ValueError as error:
        raise ValueError(f"{label}: {error}") from error


def _check_keys(table: Mapping[str, Any], known: Collection[str]) -> None:
    for key in table:
        if key not in known:
            raise ValueError(f"there is no key {quoted(key)}; {did_you_mean(key, known)}")


def explain(reward: Any, completion: Any = None, solution: Any = None, /, **columns: Any) -> Score:
    """Score one completion, and say why it got what it got.

    reward: a reward, or whatever else `plaudit.score` takes as its recipe: the name of a reward or
        of a preset, a TOML file, a Recipe, a list of rewards. For a recipe of several rewards, the
        score's value is the total, and its reason has those of all of them.
    columns: the value of this one row for each column that the reward needs, and its settings;
        `completion` and `solution` may be given by name as well

    >>> from plaudit.rewards import canoe
    >>> explain(canoe.format_reward, "just text").why[:24]
    'The text is not <think>…'
    >>> explain("answers.answer_reward", r"So it is \\boxed{0.5}.", "1/2").value
    1.0
    """
    if iscoroutinefunction(reward) and hasattr(reward, "scores"):
        raise TypeError(f"{reward.__name__} is for an event loop: explain the one without _async")
    if "completions" in columns:
        raise TypeError(
            "explain takes one row, as completion=…: for several, call reward.scores(completions=…)"
        )
    completion = _once("completion", completion, columns)
    solution = _once("solution", solution, columns)
    if completion is None:
        raise TypeError("explain needs the completion: explain(reward, completion, solution)")
    if not hasattr(reward, "scores"):
        return _score_of(as_recipe(reward), completion, solution, columns)
    declaration = declaration_of(reward)
    batch = _batch(columns, {*declaration.settings, *HOOKS})
    if solution is not None or "solution" in declaration.named:
        batch["solution"] = [solution]
    score: Score = reward.scores(completions=[completion], **batch)[0]
    return score


def _score_of(recipe: Recipe, completion: Any, solution: Any, columns: dict[str, Any]) -> Score:
    if len(recipe.components) == 1:
        (component,) = recipe.components
        named = component.bound.declaration.settings
        settings = {name: columns.pop(name) for name in named if name in columns}
        with_settings = replace(component, params={**component.params, **settings})
        recipe = replace(recipe, components=(with_settings,))
    batch = _batch(columns, HOOKS)
    if solution is not None or any(one.takes("solution") for one in recipe.components):
        batch["solution"] = [solution]
    (row,) = recipe.score_batch([completion], **batch).rows
    scores = list(row.components.values())
    return scores[0] if len(scores) == 1 else Score(row.total, row.why, status=row.status)


def _batch(columns: dict[str, Any], fixed: Any) -> dict[str, Any]:
    """Return a batch of one row; settings stay as they are."""
    return {name: value if name in fixed else [value] for name, value in columns.items()}


def _once(name: str, value: Any, columns: dict[str, Any]) -> Any:
    """Return an argument that is passed by position or by name, and not by both."""
    named = columns.pop(name, None)
    if value is not None and named is not None:
        raise TypeError(
            f"explain got the {name} twice: by position, {value!r:.80}, and by name, "
            f"{named!r:.80}; leave one of them out"
        )
    return named if value is None else value
