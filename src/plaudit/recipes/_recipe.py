"""Components -> one callable that scores a batch."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plaudit.notebook import html_table
from plaudit.recipes._columns import check_completions, check_needs, guess_columns
from plaudit.recipes._component import Component, check_columns, check_golds
from plaudit.recipes._names import did_you_mean, quoted
from plaudit.recipes._row_score import RowScores, ScoredBatch
from plaudit.recipes._toml import toml_of
from plaudit.scores import STATUSES, Score, as_coroutine_functions, values_of

RECORD_VARIABLE = "PLAUDIT_RECORD"


@dataclass(frozen=True)
class Recipe:
    """Rewards with weights, gates and columns, as one callable over a batch.

    components: rewards with weights and gates; a reward alone, as a name or a function, will do
    columns: the rewards' argument -> the table's column, for all components; `completions` too
    golds: "latex" wraps golds that stand in no environment in $…$, for each reward of trl
    attacks: attacks of the user's that `plaudit audit` plays too, such as "my_attacks:shouting"

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
        self._check_names_and_gates()
        for argument in self.columns:
            self._check_taken(argument)

    def __call__(self, completions: Sequence[Any], **columns: Any) -> RowScores:
        """The total and each component's score, for each completion.

        A column is given by the reward's argument or by the table's name; the table's name wins.
        Columns that no component takes are ignored.

        >>> from plaudit.recipes import load
        >>> load("trl-math")([r"\\boxed{4}"], solution=["4"])[0].total
        1.0
        """
        return self.score_batch(completions, **columns).rows

    def score_batch(self, completions: Sequence[Any], **columns: Any) -> ScoredBatch:
        """The same by component, which is quicker where rows are made into columns again.

        >>> from plaudit.recipes import load
        >>> load("trl-math").score_batch([r"\\boxed{4}"], solution=["4"]).totals
        [1.0]
        """
        settled = _settled(self.components, completions, columns, self.columns)
        return ScoredBatch(settled, self._weights())

    async def score_async(self, completions: Sequence[Any], **columns: Any) -> RowScores:
        """The same on an event loop: while workers judge, no thread waits for them.

        >>> import asyncio
        >>> from plaudit.recipes import load
        >>> rows = asyncio.run(load("trl-math").score_async([r"\\boxed{4}"], solution=["4"]))
        >>> rows[0].total
        1.0
        """
        return (await self.score_batch_async(completions, **columns)).rows

    async def score_batch_async(self, completions: Sequence[Any], **columns: Any) -> ScoredBatch:
        """`score_batch` on an event loop.

        >>> import asyncio
        >>> from plaudit.recipes import load
        >>> batch = load("trl-math").score_batch_async([r"\\boxed{4}"], solution=["4"])
        >>> asyncio.run(batch).totals
        [1.0]
        """
        settled = await _settled_async(self.components, completions, columns, self.columns)
        return ScoredBatch(settled, self._weights())

    def _weights(self) -> dict[str, float]:
        return {component.name: component.weight for component in self.components}

    def needs(self) -> dict[str, str]:
        """The argument and the table's column, for every column that some component needs.

        The completions themselves are not among them. Where two components read an argument from
        different columns, the later one's key is "component.argument".

        >>> from plaudit.recipes import load
        >>> load("canoe").needs()
        {'solution': 'solution', 'problem': 'problem'}
        """
        needs: dict[str, str] = {}
        for component in self.components:
            for argument, column in component.needs(self.columns).items():
                taken = needs.setdefault(argument, column) != column
                if taken:
                    needs[f"{component.name}.{argument}"] = column
        return needs

    def with_guessed_columns(self, available: Collection[str]) -> tuple["Recipe", dict[str, str]]:
        """The recipe for a table with these columns, and which of them were guessed, by meaning.

        >>> from plaudit.recipes import load
        >>> recipe, guessed = load("trl-math").with_guessed_columns(["prompt", "response", "gold"])
        >>> guessed
        {'completions': 'response', 'solution': 'gold'}
        >>> recipe.columns == guessed
        True
        """
        guessed = guess_columns(self.components, self.columns, available)
        if not guessed:
            return self, {}
        return replace(self, columns={**self.columns, **guessed}), guessed

    def check(
        self, available: Collection[str], *, completions: bool = True, run_file: bool = False
    ) -> None:
        """Raise where a table with these columns has not all that the recipe needs.

        completions: whether it must have what a model wrote, and what trainers make while they
            generate, which a dataset to train on has not
        run_file: whether the user names columns in the file of `plaudit train`, which the message
            then says

        >>> from plaudit.recipes import load
        >>> load("trl-math").check(["prompt", "completion", "gold"])
        Traceback (most recent call last):
        ...
        ValueError: there is no column "solution", which "accuracy_reward" needs; did you mean \
"gold"? Then say --column solution=gold on the command line, solution="gold" in plaudit.score, \
columns={"solution": "gold"} in load, or solution = "gold" under [columns] in the recipe. The \
columns are "prompt", "completion", "gold"
        """
        if completions:
            check_completions(self.columns.get("completions"), available)
        check_needs(self.components, self.columns, available, completions, run_file)

    def reward_funcs(self, *, asynchronous: bool = False) -> list[Callable[..., Any]]:
        """A reward function for each component, as trainers take them; picklable.

        Each has the component's name, applies its columns and parameters, and respects its gate.
        Asynchronous ones are coroutine functions, for a trainer's event loop. What they score is
        recorded where the environment variable PLAUDIT_RECORD names a folder.

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
        functions = [
            _RewardFunction(self._with_gates(component), self.columns)
            for component in self.components
        ]
        return list(map(_AsyncRewardFunction, functions) if asynchronous else functions)

    def reward_weights(self) -> list[float]:
        """The weight of each of `reward_funcs()`, in the same order.

        >>> from plaudit.recipes import load
        >>> load("trl-reasoning").reward_weights()
        [1.0, 1.0]
        """
        return [component.weight for component in self.components]

    def to_toml(self) -> str:
        """The recipe as the text of a TOML file.

        >>> from plaudit.recipes import load
        >>> print(load("trl-math").to_toml(), end="")
        name = "trl-math"
        <BLANKLINE>
        [[rewards]]
        name = "accuracy_reward"
        reward = "trl.accuracy_reward"
        """
        return toml_of(self.name, self.columns, self.components, self.golds, self.attacks)

    def _repr_html_(self) -> str:
        """The recipe in a notebook: a line for each component."""
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
        readers = [component.calling.declaration.reads_latex for component in self.components]
        if self.golds and not any(readers):
            raise ValueError('golds = "latex" is for the rewards of trl, and the recipe has none')
        return tuple(
            replace(component, golds=self.golds) if self.golds and reads else component
            for component, reads in zip(self.components, readers, strict=True)
        )

    def _with_gates(self, component: Component) -> tuple[Component, ...]:
        """The component, after the chain of gates that it depends on."""
        named = {other.name: other for other in self.components}
        chain = [component]
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
        known = sorted({name for c in self.components for name in c.calling.takes})
        hint = did_you_mean(argument, ["completions", *known])
        raise ValueError(f"columns: no reward takes {quoted(argument)}; {hint}")


def _recorded(recipe: Recipe) -> Recipe:
    """The recipe that records, if the environment asks for one."""
    if not os.environ.get(RECORD_VARIABLE):
        return recipe
    from plaudit.recording import recorded  # which is built on recipes: the one import upwards

    return recorded(recipe)


def _settled(
    components: Sequence[Component],
    completions: Sequence[Any],
    columns: Mapping[str, Any],
    mapping: Mapping[str, str],
) -> dict[str, list[Score]]:
    """For each component, the scores of the rows, with the gates applied."""
    _check_given(components, columns, mapping)
    batches = [component.scores(completions, columns, mapping) for component in components]
    return _gated_batches(components, batches)


async def _settled_async(
    components: Sequence[Component],
    completions: Sequence[Any],
    columns: Mapping[str, Any],
    mapping: Mapping[str, str],
) -> dict[str, list[Score]]:
    _check_given(components, columns, mapping)
    batches = [await one.scores_async(completions, columns, mapping) for one in components]
    return _gated_batches(components, batches)


def _check_given(
    components: Sequence[Component], columns: Mapping[str, Any], mapping: Mapping[str, str]
) -> None:
    """Raise where a batch has not all that is needed, by the table's name or the argument's."""
    needs = [pair for component in components for pair in component.needs(mapping).items()]
    by_argument = {column for argument, column in needs if argument in columns}
    check_needs(components, mapping, [*columns, *by_argument])


def _gated_batches(
    components: Sequence[Component], batches: Sequence[list[Score]]
) -> dict[str, list[Score]]:
    gated: dict[str, list[Score]] = {}
    for component, scores in zip(components, batches, strict=True):
        gate = component.gate
        gated[component.name] = (
            scores
            if gate is None
            else [_gated(one, gate, by) for one, by in zip(scores, gated[gate], strict=True)]
        )
    return gated


def _gated(score: Score, gate: str, by: Score) -> Score:
    if score.value is None or (by.value is not None and by.value > 0):
        return score
    if by.value is None:
        why, value = f"It is left out, since {gate} is. {score.why}", None
    else:
        why, value = f"It counts 0, since {gate} did not pass. {score.why}", 0.0
    status = score.status if score.status in STATUSES[:-1] else "gated"
    return replace(score, value=value, ungated=score.value, why=why, status=status)


@dataclass(frozen=True)
class _RewardFunction:
    """The last of these components, after its gates, as a reward function."""

    components: tuple[Component, ...]
    columns: Mapping[str, str]

    @property
    def __name__(self) -> str:
        return self.components[-1].name

    def scores(self, completions: Sequence[Any], **columns: Any) -> list[Score]:
        return _settled(self.components, completions, columns, self.columns)[self.__name__]

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        scores = self.scores(completions, **columns)
        return values_of(scores, self.__name__, columns.get("log_metric"))


@as_coroutine_functions
@dataclass(frozen=True)
class _AsyncRewardFunction:
    """The same reward function for an event loop."""

    function: _RewardFunction

    @property
    def __name__(self) -> str:
        return self.function.__name__

    async def scores(self, completions: Sequence[Any], **columns: Any) -> list[Score]:
        of = self.function
        settled = await _settled_async(of.components, completions, columns, of.columns)
        return settled[self.__name__]

    async def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]:
        scores = await self.scores(completions, **columns)
        return values_of(scores, self.__name__, columns.get("log_metric"))
