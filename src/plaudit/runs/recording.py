"""Record what rewards score: a recipe, a client or reward functions, and the folder of a run.

A trainer calls the functions of a recipe one after the other, or at the same time, with the same
batch. Its rows are written once every function has scored it.
"""

import atexit
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from functools import partial
from inspect import iscoroutinefunction
from operator import index
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from plaudit.recipes import Recipe, RowScore
from plaudit.recipes.bound_reward import score_of_value
from plaudit.recipes.recipe import RECORD_VARIABLE
from plaudit.recipes.row_score import ScoredBatch, weighted_total
from plaudit.scores import Score
from plaudit.scores.decorators import as_coroutine_functions
from plaudit.scores.score import values_of

if TYPE_CHECKING:
    from plaudit.runs._reading import RecordedRun

Function = Callable[..., Any]
T = TypeVar("T")
_NOT_CALLED = Score(None, "The trainer did not call this reward.", decided_by="record")
_WAIT = 60.0  # seconds after which a batch is written though a function was not called with it
EVALUATION = "evaluation"  # the folder, below that of a run, for what it evaluates on
_KEYS = ("prompts", "prompt", "problem", "solution")  # with completions, they tell batches apart


def record(
    rewards: T, directory: str | PathLike[str], *, weights: Sequence[float] | None = None
) -> T:
    """Return the same rewards, which write every batch that they score to a folder, as it comes.

    rewards: a recipe, a client of a server, a reward function, or the list of reward functions that
        a trainer takes
    directory: the folder to record into, which is made if it is not there. Any number of processes
        may record into it at the same time, and a run that is resumed from a checkpoint continues
        in it
    weights: for functions alone, how much each counts in the total, as [1.0, 0.5] for two of them.
        Default: 1.0 each. A recipe and a client have weights of their own

    The values that the rewards give do not change. Recording never makes a step fail: when the
    disk is full, for example, there is one warning, and the rest of the run is not recorded.

    >>> import tempfile
    >>> from plaudit.recipes import load
    >>> from plaudit.tables import open_scored
    >>> folder = tempfile.mkdtemp()
    >>> recipe = record(load("trl-math"), folder)
    >>> [accuracy] = recipe.reward_funcs()
    >>> accuracy(prompts=["2 + 2?"], completions=[r"\\\\boxed{4}"], solution=["4"])
    [1.0]
    >>> finish(folder)
    >>> [(_, rows)] = open_scored(Path(folder)).batches(["step", "prompt", "total"])
    >>> rows.to_pylist()
    [{'step': 0, 'prompt': '2 + 2?', 'total': 1.0}]
    """
    passed: Any = rewards
    client = getattr(rewards, "recorded_in", None)
    if client or isinstance(rewards, Recipe):
        if weights is not None:
            raise ValueError("weights are for functions: a recipe has its own")
        folder = Path(directory)
        return cast("T", client(folder) if client else _record_recipe(passed, folder))
    functions = [passed] if callable(passed) else list(passed)
    names = [_name(function, number) for number, function in enumerate(functions)]
    counted = [1.0] * len(names) if weights is None else [float(weight) for weight in weights]
    if not names:
        raise ValueError("there are no reward functions to record")
    if len(counted) != len(names):
        raise ValueError(f"there are {len(counted)} weights for {len(names)} reward functions")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f'two reward functions are called "{name}": rename one of them')
    recording = recording_in(Path(directory), names, counted, "")
    made = recorded_functions(functions, recording)
    return cast("T", made[0] if callable(passed) else made)


def _name(function: Any, number: int) -> str:
    if not callable(function) or hasattr(function, "forward"):
        got = f"{type(function).__name__}: {function!r:.80}"
        raise TypeError(f"record takes a recipe or reward functions, entry {number} is {got}")
    return str(getattr(function, "__name__", type(function).__name__))


def _record_recipe(recipe: Recipe, directory: Path) -> "RecordedRecipe":
    names = [component.name for component in recipe.components]
    recording = recording_in(directory, names, recipe.reward_weights(), toml_or_empty(recipe))
    parts = {part.name: getattr(recipe, part.name) for part in fields(Recipe)}
    return RecordedRecipe(**parts, recording=recording)


def toml_or_empty(recipe: Recipe) -> str:
    """Return the recipe as the text of a file; "" if its parameters have no form in TOML."""
    with suppress(ValueError):
        return recipe.to_toml()
    return ""


_recorded: dict[tuple[int, str], tuple[Recipe, Recipe]] = {}


def recorded(recipe: Recipe) -> Recipe:
    """Return the recipe, which records if the environment variable PLAUDIT_RECORD names a folder.

    If the folder cannot be recorded into, there is a warning, and the recipe is returned as it is:
    the run goes on.
    """
    directory = os.environ.get(RECORD_VARIABLE)
    if not directory or isinstance(recipe, RecordedRecipe):
        return recipe
    key = id(recipe), directory
    if key not in _recorded:
        # The recipe is kept with what was made of it, so that no other gets its id.
        made = _make_or_warn(lambda: _record_recipe(recipe, Path(directory)), directory)
        _recorded[key] = recipe, made or recipe
    return _recorded[key][1]


def environment_recording(
    names: Sequence[str], weights: Sequence[float], recipe: str
) -> "Recording | None":
    """Return the recording into the folder that PLAUDIT_RECORD names, if it names one.

    If the folder cannot be recorded into, there is a warning.
    """
    directory = os.environ.get(RECORD_VARIABLE)
    if not directory:
        return None
    return _make_or_warn(lambda: recording_in(Path(directory), names, weights, recipe), directory)


def _make_or_warn(make: Callable[[], T], directory: str) -> T | None:
    try:
        return make()
    except (ValueError, OSError, ImportError) as error:
        hint = " (pip install 'plaudit[score]')" if isinstance(error, ImportError) else ""
        warnings.warn(
            f"plaudit: {RECORD_VARIABLE}={directory}: nothing is recorded: {error}{hint}",
            RuntimeWarning,
            stacklevel=3,
        )
        return None


def finish(directory: str | PathLike[str]) -> None:
    """Wait until everything that this process has recorded in a folder can be read there.

    directory: the folder that was passed to `record`; nothing happens if it is another one

    Needed only to read a run in the process that records it: when a process ends, it does this by
    itself.

    >>> finish("runs/nothing-was-recorded-here")
    """
    recording = known_recording(Path(directory))
    if recording is not None:
        recording.finish()


def open_recorded(directory: str | PathLike[str]) -> "RecordedRun":
    """Return a recorded run, to read what each step got, while it is recorded or later.

    directory: the folder that was passed to `record`, the one in which `plaudit train` puts its
        results, or one that `plaudit score` wrote of a table with a column `step`

    >>> open_recorded("no-such-run")
    Traceback (most recent call last):
    ...
    ValueError: there is no folder no-such-run
    """
    from plaudit.runs._reading import RecordedRun  # and pyarrow

    return RecordedRun(Path(directory))


def recover(directory: str | PathLike[str]) -> None:
    """Finish what processes that were killed have recorded in a folder, if it is a recorded run."""
    from plaudit.runs._reading import recover as recover_in  # and pyarrow

    recover_in(Path(directory))


@dataclass(frozen=True)
class RecordedRecipe(Recipe):
    """A recipe that records what it scores: called as a whole, or by its reward functions."""

    recording: "Recording" = field(default=None, compare=False, repr=False)  # type: ignore[assignment]

    def score_batch(self, completions: Sequence[Any], **columns: Any) -> ScoredBatch:
        start = time.perf_counter()
        batch = super().score_batch(completions, **columns)
        self.recording.add_rows(batch.rows, completions, columns, time.perf_counter() - start)
        return batch

    async def score_batch_async(self, completions: Sequence[Any], **columns: Any) -> ScoredBatch:
        start = time.perf_counter()
        batch = await super().score_batch_async(completions, **columns)
        self.recording.add_rows(batch.rows, completions, columns, time.perf_counter() - start)
        return batch

    def reward_funcs(self, *, asynchronous: bool = False) -> list[Function]:
        """Return a reward function for each component; a batch is recorded as a whole."""
        return recorded_functions(self._functions(asynchronous), self.recording)


class Recording:
    """Puts together what the rewards gave a batch, and passes whole batches to the recorder.

    There is one for each folder in a process; pickled, it is made anew in the other process. What
    a trainer evaluates on is recorded in a folder below it, so that the curves are those of what it
    trains on.
    """

    def __init__(
        self, folder: Path, names: Sequence[str], weights: Sequence[float], recipe: str
    ) -> None:
        from plaudit.runs._recorder import Recorder  # and pyarrow, which not everybody needs

        self.recorder: Recorder = Recorder(folder, names, recipe)
        self.names = tuple(names)
        self.weights = tuple(weights)
        self._recipe = recipe
        self._lock = threading.Lock()
        self._waiting: list[WaitingBatch] = []
        self._last_step: int | None = None  # the trainer's, of the batch that came last
        self._restarts = 0  # how often that step was lower than the one before it
        self._process = os.getpid()
        atexit.register(self._write_waiting)  # called before the recorder's: last in, first out

    def __reduce__(self) -> Any:
        return recording_in, (self.recorder.folder, self.names, self.weights, self._recipe)

    def of(self, call: "TrainerCall") -> "Recording":
        """Return itself, or the recording of the evaluations."""
        if not call.is_evaluation or self.recorder.folder.name == EVALUATION:
            return self
        folder = self.recorder.folder / EVALUATION
        try:
            return recording_in(folder, self.names, self.weights, self._recipe)
        except (OSError, ValueError) as error:
            self.recorder.stop(error)
            return self

    def add_rows(
        self,
        rows: Sequence[RowScore],
        completions: Sequence[Any],
        columns: Mapping[str, Any],
        seconds: float,
    ) -> None:
        """Write a batch that was scored as a whole."""
        recording = self.of(trainer_call(columns))
        recording.recorder.add(rows, completions, columns, seconds)

    def add(
        self,
        name: str,
        scores_of: Callable[[], Sequence[Score]],
        completions: Sequence[Any],
        columns: Mapping[str, Any],
        seconds: float,
    ) -> None:
        """Add what one function gave a batch; write the batch if it was the last of them."""
        if self.recorder.has_stopped:
            return
        try:
            scores = scores_of()
            if len(scores) != len(completions):
                counts = f"{len(scores)} values for {len(completions)} completions"
                raise ValueError(f"{name} gave {counts}")
            key = _key(completions, columns)
        except Exception as error:  # a user's function may give anything
            self.recorder.stop(error)
            return
        call = trainer_call(columns)
        columns = {**columns, "trainer_state": call}  # TRL's own counts on while a batch waits
        of = self.of(call)
        for batch in of._ready(key, name, scores, completions, columns, seconds):
            of._write(batch)

    def _ready(
        self,
        key: Any,
        name: str,
        scores: Sequence[Score],
        completions: Sequence[Any],
        columns: Mapping[str, Any],
        seconds: float,
    ) -> list["WaitingBatch"]:
        with self._lock:
            self._forget_after_fork()
            waiting = self._waiting
            batch = next((b for b in waiting if b.key == key and name not in b.scores), None)
            ready = []
            if batch is None:
                ready = self._ended_by_restart(columns)
                batch = WaitingBatch(key, completions, columns, time.monotonic(), self._restarts)
                waiting.append(batch)
            batch.scores[name] = scores
            batch.seconds += seconds
            oldest = time.monotonic() - _WAIT
            for one in waiting:
                is_done = len(one.scores) == len(self.names) or one.since < oldest
                ready += [one] if is_done and one not in ready else []
            self._waiting = [one for one in waiting if one not in ready]
            return ready

    def _ended_by_restart(self, columns: Mapping[str, Any]) -> list["WaitingBatch"]:
        """Return all waiting batches if a new one is of a run that was begun anew."""
        step = trainer_call(columns).step
        if step is None:
            return []
        goes_back = self._last_step is not None and step < self._last_step
        self._last_step = step
        self._restarts += goes_back
        return list(self._waiting) if goes_back else []

    def _write(self, batch: "WaitingBatch") -> None:
        rows = []
        for row in range(len(batch.completions)):
            scores = {
                name: batch.scores[name][row] if name in batch.scores else _NOT_CALLED
                for name in self.names
            }
            values = [score.value for score in scores.values()]
            rows.append(RowScore(weighted_total(values, self.weights), scores))
        whole = rows, batch.completions, batch.columns, batch.seconds
        self.recorder.add(*whole, restarts=batch.restarts)

    def finish(self) -> None:
        """Write what is waiting, and wait until all is in the folder."""
        self._write_waiting()
        self.recorder.flush()
        if evaluation := known_recording(self.recorder.folder / EVALUATION):
            evaluation.finish()

    def _write_waiting(self) -> None:
        with self._lock:
            self._forget_after_fork()
            waiting, self._waiting = self._waiting, []
        for batch in waiting:
            self._write(batch)

    def _forget_after_fork(self) -> None:
        """In a process that was forked: what was waiting is its parent's, which writes it."""
        if os.getpid() != self._process:
            self._process = os.getpid()
            self._waiting = []


@dataclass(eq=False)
class WaitingBatch:
    """A batch, and what the functions that have scored it gave."""

    key: Any  # what tells it apart from other batches, see `_key`
    completions: Sequence[Any]
    columns: Mapping[str, Any]
    since: float  # when it came
    restarts: int  # how often the run had been begun anew by then
    scores: dict[str, Sequence[Score]] = field(default_factory=dict)
    seconds: float = 0.0


def _key(completions: Sequence[Any], columns: Mapping[str, Any]) -> Any:
    """Return a key that is the same in every call with one batch, and in no other call."""
    texts = [completions, *(columns.get(name) for name in _KEYS)]
    return trainer_call(columns), *(_hashable(one) for one in texts)


def _hashable(column: Any) -> Any:
    try:
        return hash(tuple(column))
    except TypeError:  # messages
        return repr(column)


@dataclass(frozen=True)
class RecordedFunction:
    """A reward function that records what it gives; it has the attributes of the function."""

    function: Function
    name: str
    recording: Recording

    @property
    def __name__(self) -> str:
        return self.name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "function":
            raise AttributeError(name)
        return getattr(self.function, name)

    def __call__(self, completions: Sequence[Any], **columns: Any) -> Any:
        """Return what the function gives, and record it."""
        start = time.perf_counter()
        returned = self._called(completions=completions, **columns)
        return self._recorded(returned, completions, columns, start)

    @property
    def _called(self) -> Function:
        """The function; its `scores` if it has some, for the reasons."""
        return getattr(self.function, "scores", None) or self.function

    def _recorded(
        self, returned: Any, completions: Sequence[Any], columns: Mapping[str, Any], start: float
    ) -> Any:
        seconds = time.perf_counter() - start
        values, scores = returned, _scores_of(returned, self.name)
        if self._called is not self.function:
            values = values_of(returned, self.name, columns.get("log_metric"))
            scores = partial(list, returned)
        self.recording.add(self.name, scores, completions, columns, seconds)
        if finish := getattr(self.function, "finish", None):
            finish(returned, columns.get("log_metric"))
        return values


@as_coroutine_functions
@dataclass(frozen=True)
class RecordedAsyncFunction(RecordedFunction):
    """A coroutine function that records what it gives."""

    async def __call__(self, completions: Sequence[Any], **columns: Any) -> Any:
        """Return what the function gives, and record it."""
        start = time.perf_counter()
        returned = await self._called(completions=completions, **columns)
        return self._recorded(returned, completions, columns, start)


def _scores_of(values: Any, name: str) -> Callable[[], Sequence[Score]]:
    """Return what makes scores of values, later: a user's function may give anything."""

    def scores() -> Sequence[Score]:
        if isinstance(values, Iterator):  # to read it would leave nothing for the trainer
            raise TypeError(f"{name} must give a list of values, got {type(values).__name__}")
        return [score_of_value(value, name, row) for row, value in enumerate(values)]

    return scores


def recorded_functions(functions: Sequence[Function], recording: Recording) -> list[Function]:
    """Return the functions, each of which records what it gives."""
    return [
        (RecordedAsyncFunction if iscoroutinefunction(function) else RecordedFunction)(
            function, name, recording
        )
        for function, name in zip(functions, recording.names, strict=True)
    ]


_known: dict[Path, Recording] = {}
_making = threading.RLock()  # threads that call a reward for the first time share one recording


def recording_in(
    folder: Path, names: Sequence[str], weights: Sequence[float], recipe: str
) -> Recording:
    """Return the recording of this process into a folder."""
    with _making:
        path, known = folder.absolute(), known_recording(folder)
        if known is not None and known.names == tuple(names) and known.weights == tuple(weights):
            return known
        if known is not None:
            known.finish()
            known.recorder.close()
        _known[path] = recording = Recording(path, names, weights, recipe)
        return recording


def known_recording(folder: Path) -> Recording | None:
    """Return the recording of this process into a folder, if there is one."""
    return _known.get(folder.absolute())


# --- what a trainer says of a batch ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TrainerCall:
    """What a trainer says of the batch that it has scored.

    step: the step as the trainer itself logs it; None if it passes none
    is_evaluation: whether the batch is one of an evaluation
    group_size: how many rows that follow one another are a group; 0 if that is not known
    process, processes: the rank, and how many ranks score the batches of a step
    """

    step: int | None = None
    is_evaluation: bool = False
    group_size: int = 0
    process: int = 0
    processes: int = 1

    def group(self, row: int, rows: int, first: int) -> int:
        """Return the number of a row's group in its step.

        A group may be spread over processes, each of which has a part of the step's rows; `first`
        are the rows of the step that the process has had before.
        """
        return (first * self.processes + self.process * rows + row) // self.group_size


def trainer_call(columns: Mapping[str, Any]) -> TrainerCall:
    """Return what the trainer says of a batch, by `trainer_state` and the owner of `log_metric`.

    TRL scores a batch when `global_step` steps are done, and logs it with the step after them. The
    metrics of an evaluation are logged with the steps that are done.
    """
    state = columns.get("trainer_state")
    if isinstance(state, TrainerCall):
        return state
    trainer = getattr(columns.get("log_metric"), "__self__", None)
    is_evaluation = getattr(getattr(trainer, "model", None), "training", True) is False
    done = whole_number(getattr(state, "global_step", None))
    size = getattr(trainer, "num_generations_eval" if is_evaluation else "num_generations", None)
    ranks = getattr(trainer, "accelerator", None)
    return TrainerCall(
        step=None if done is None else done + (not is_evaluation),
        is_evaluation=is_evaluation,
        group_size=whole_number(size) or 0,
        process=whole_number(getattr(ranks, "process_index", 0)) or 0,
        processes=whole_number(getattr(ranks, "num_processes", 1)) or 1,
    )


def whole_number(value: Any) -> int | None:
    """Return a step of 0 or more, also of numpy or a tensor; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return max(int(value), 0)
    try:
        return max(index(value), 0)
    except (TypeError, ValueError):  # a tensor of several numbers raises the latter
        return None
