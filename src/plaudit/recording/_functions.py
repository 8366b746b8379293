"""A recipe or reward functions in; the same, which also record what they score, out.

A trainer calls the functions of a recipe one after the other, or at the same time, with the same
batch. Its rows are written once every function has scored it.
"""

import atexit
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

from plaudit.recipes import Recipe, RowScore, ScoredBatch, score_of_value, weighted_total
from plaudit.recording._trainer import TrainerCall, trainer_call
from plaudit.scores import Score, as_coroutine_functions, values_of

Function = Callable[..., Any]
_NOT_CALLED = Score(None, "The trainer did not call this reward.", method="record")
_WAIT = 60.0  # seconds after which a batch is written though a function was not called with it
EVALUATION = "evaluation"  # the folder, below that of a run, for what it evaluates on
_KEYS = ("prompts", "prompt", "problem", "solution")  # with completions, they tell batches apart


@dataclass(frozen=True)
class RecordedRecipe(Recipe):
    """A recipe that records what it scores: called as a whole, or by its reward functions.

    >>> import tempfile
    >>> from plaudit.recipes import load
    >>> from plaudit.recording import record
    >>> recipe = record(load("trl-math"), tempfile.mkdtemp())
    >>> isinstance(recipe, RecordedRecipe), recipe.name
    (True, 'trl-math')
    """

    recording: "Recording | None" = field(default=None, compare=False, repr=False)

    def score_batch(self, completions: Sequence[Any], **columns: Any) -> ScoredBatch:
        """What the recipe gives; it is recorded."""
        start = time.perf_counter()
        batch = super().score_batch(completions, **columns)
        self._record(batch.rows, completions, columns, start)
        return batch

    async def score_batch_async(self, completions: Sequence[Any], **columns: Any) -> ScoredBatch:
        """The same on an event loop."""
        start = time.perf_counter()
        batch = await super().score_batch_async(completions, **columns)
        self._record(batch.rows, completions, columns, start)
        return batch

    def reward_funcs(self, *, asynchronous: bool = False) -> list[Function]:
        """A reward function for each component; what they give a batch is recorded together."""
        functions = self._functions(asynchronous)
        if self.recording is None:
            return functions
        return recorded_functions(functions, self.recording)

    def _record(
        self,
        rows: list[RowScore],
        completions: Sequence[Any],
        columns: Mapping[str, Any],
        start: float,
    ) -> None:
        if self.recording is not None:
            self.recording.add_rows(rows, completions, columns, time.perf_counter() - start)


class Recording:
    """Puts together what the rewards gave a batch, and hands whole batches to the recorder.

    There is one for each folder in a process; pickled, it is made anew in the other process. What
    a trainer evaluates on is recorded in a folder below it, so that the curves are those of what it
    trains on.

    >>> import tempfile
    >>> recording = Recording(Path(tempfile.mkdtemp()), ["accuracy"], [1.0], recipe="")
    >>> score = RowScore(1.0, {"accuracy": Score(1.0, "4 is equal to the gold 4.")})
    >>> recording.add_rows([score], ["4"], {"solution": ["4"]}, seconds=0.1)
    >>> recording.finish()
    """

    def __init__(
        self, folder: Path, names: Sequence[str], weights: Sequence[float], recipe: str
    ) -> None:
        from plaudit.recording._recorder import Recorder  # and pyarrow, which not everybody needs

        self.recorder: Recorder = Recorder(folder, names, recipe)
        self.names = tuple(names)
        self.weights = tuple(weights)
        self._recipe = recipe
        self._lock = threading.Lock()
        self._waiting: dict[Any, list[_Batch]] = {}
        self._last_step: int | None = None  # the trainer's, of the batch that came last
        self._restarts = 0  # how often that step was lower than the one before it
        self._process = os.getpid()
        atexit.register(self._write_waiting)  # called before the recorder's: last in, first out

    def __reduce__(self) -> Any:
        return recording_in, (self.recorder.folder, self.names, self.weights, self._recipe)

    def of(self, call: TrainerCall) -> "Recording":
        """Itself, or the recording of the evaluations."""
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
        given: Callable[[], Sequence[Score]],
        completions: Sequence[Any],
        columns: Mapping[str, Any],
        seconds: float,
    ) -> None:
        """Add what one function gave a batch; write the batch if it was the last of them."""
        if self.recorder.has_stopped:
            return
        try:
            scores = given()
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
    ) -> list["_Batch"]:
        with self._lock:
            self._forget_the_batches_of_a_parent()
            same = self._waiting.get(key, [])
            batch = next((one for one in same if name not in one.scores), None)
            ready = []
            if batch is None:
                ready = self._waiting_when_the_step_goes_back(columns)
                batch = _Batch(key, completions, columns, time.monotonic(), self._restarts)
                self._waiting.setdefault(key, []).append(batch)
            batch.scores[name] = scores
            batch.seconds += seconds
            ready += [batch] if len(batch.scores) == len(self.names) else []
            ready += self._overdue(ready)
            for one in ready:
                self._waiting[one.key].remove(one)
                if not self._waiting[one.key]:
                    del self._waiting[one.key]
            return ready

    def _waiting_when_the_step_goes_back(self, columns: Mapping[str, Any]) -> list["_Batch"]:
        """All waiting batches, where a new one is of a run that was begun anew; else none."""
        step = trainer_call(columns).step
        if step is None:
            return []
        goes_back = self._last_step is not None and step < self._last_step
        self._last_step = step
        self._restarts += goes_back
        return [one for same in self._waiting.values() for one in same] if goes_back else []

    def _overdue(self, ready: Sequence["_Batch"]) -> list["_Batch"]:
        oldest = time.monotonic() - _WAIT
        waiting = [one for same in self._waiting.values() for one in same if one.since < oldest]
        return [one for one in waiting if one not in ready]

    def _write(self, batch: "_Batch") -> None:
        rows = []
        for place in range(len(batch.completions)):
            scores = {
                name: batch.scores[name][place] if name in batch.scores else _NOT_CALLED
                for name in self.names
            }
            values = [score.value for score in scores.values()]
            rows.append(RowScore(weighted_total(values, self.weights), scores))
        given = rows, batch.completions, batch.columns, batch.seconds
        self.recorder.add(*given, restarts=batch.restarts)

    def finish(self) -> None:
        """Write what is waiting, and wait until all is in the folder."""
        self._write_waiting()
        self.recorder.flush()
        if evaluation := known_recording(self.recorder.folder / EVALUATION):
            evaluation.finish()

    def _write_waiting(self) -> None:
        with self._lock:
            self._forget_the_batches_of_a_parent()
            waiting = [one for same in self._waiting.values() for one in same]
            self._waiting = {}
        for batch in waiting:
            self._write(batch)

    def _forget_the_batches_of_a_parent(self) -> None:
        """In a process that was forked: what was waiting is its parent's, which writes it."""
        if os.getpid() != self._process:
            self._process = os.getpid()
            self._waiting = {}


@dataclass(eq=False)
class _Batch:
    """A batch, and what the functions that have scored it gave.

    key: what tells it apart from other batches, see `_key`
    since: when it came
    restarts: how often the run had been begun anew by then
    """

    key: Any
    completions: Sequence[Any]
    columns: Mapping[str, Any]
    since: float
    restarts: int
    scores: dict[str, Sequence[Score]] = field(default_factory=dict)
    seconds: float = 0.0


def _key(completions: Sequence[Any], columns: Mapping[str, Any]) -> Any:
    """Something that is the same in every call with one batch, and in no call with another."""
    texts = [completions, *(columns.get(name) for name in _KEYS)]
    return trainer_call(columns), *(_hashable(one) for one in texts)


def _hashable(column: Any) -> Any:
    try:
        return hash(tuple(column))
    except TypeError:  # messages
        return repr(column)


@dataclass(frozen=True)
class _Recorded:
    """A function that records what it gives; it has the attributes of the function itself."""

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


@dataclass(frozen=True)
class RecordedFunction(_Recorded):
    """A reward function that records what it gives."""

    def __call__(self, completions: Sequence[Any], **columns: Any) -> Any:
        """What the function gives; it is recorded."""
        start = time.perf_counter()
        scores: Callable[[], Sequence[Score]]
        if callable(reasons := getattr(self.function, "scores", None)):
            found = reasons(completions=completions, **columns)
            values = values_of(found, self.name, columns.get("log_metric"))
            scores = _always(found)
        else:
            values = self.function(completions=completions, **columns)
            scores = _scores_of(values, self.name)
        seconds = time.perf_counter() - start
        self.recording.add(self.name, scores, completions, columns, seconds)
        return values


@as_coroutine_functions
@dataclass(frozen=True)
class RecordedAsyncFunction(_Recorded):
    """A coroutine function that records what it gives."""

    async def __call__(self, completions: Sequence[Any], **columns: Any) -> Any:
        """What the function gives; it is recorded."""
        start = time.perf_counter()
        scores: Callable[[], Sequence[Score]]
        if callable(reasons := getattr(self.function, "scores", None)):
            found = await reasons(completions=completions, **columns)
            values = values_of(found, self.name, columns.get("log_metric"))
            scores = _always(found)
        else:
            values = await self.function(completions=completions, **columns)
            scores = _scores_of(values, self.name)
        seconds = time.perf_counter() - start
        self.recording.add(self.name, scores, completions, columns, seconds)
        return values


def _always(scores: Sequence[Score]) -> Callable[[], Sequence[Score]]:
    return lambda: scores


def _scores_of(values: Any, name: str) -> Callable[[], Sequence[Score]]:
    def scores() -> Sequence[Score]:
        if isinstance(values, Iterator):  # to read it would leave nothing for the trainer
            raise TypeError(f"{name} must give a list of values, got {type(values).__name__}")
        return [score_of_value(value, name, row) for row, value in enumerate(values)]

    return scores


def recorded_functions(functions: Sequence[Function], recording: Recording) -> list[Function]:
    """The functions, each of which records what it gives.

    >>> import tempfile
    >>> def brief(completions, **kwargs):
    ...     return [float(len(text) < 9) for text in completions]
    >>> recording = recording_in(Path(tempfile.mkdtemp()), ["brief"], [1.0], recipe="")
    >>> [function] = recorded_functions([brief], recording)
    >>> function(completions=["4"])
    [1.0]
    """
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
    """The recording of this process into a folder.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> recording = recording_in(folder, ["accuracy"], [1.0], recipe="")
    >>> recording is recording_in(folder, ["accuracy"], [1.0], recipe="")
    True
    """
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
    """The recording of this process into a folder, if there is one."""
    return _known.get(folder.absolute())
