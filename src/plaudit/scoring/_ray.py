"""The Ray engine: chunks in, scored chunks out, by tasks on a cluster.

The function and the chunks are the same as on one machine. Tasks rather than `ray.data`: which rows
make a part must not depend on the cluster.

Files of this machine are read here, and their chunks sent to the tasks, since a node need not see
them. Files in the storage of a cluster are read by the tasks: some find the chunks of a range each
and send back notes of where these are, others read and score them. Parts that go to such storage
are written by the tasks as well. Then nothing but notes and counts comes to this machine.
"""

import os
import socket
import sys
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

import plaudit
from plaudit.scoring._chunks import Chunk, Counted, Range, placed, ranges_of
from plaudit.scoring._errors import RESUME_HINT, RETRY_HINT, InputError, StoppedError
from plaudit.scoring._folder import score_and_write
from plaudit.scoring._inputs import InputFile
from plaudit.scoring._local import result_or_error, set_up_worker
from plaudit.scoring._plan import Plan
from plaudit.scoring._records import Extent, Unread
from plaudit.scoring._score_chunk import ScoredChunk

RETRIES = 10  # a node may die for reasons other than its tasks
AHEAD = 2  # chunks that are sent for each core
TOGETHER = 4  # chunks of a task, if it is only sent where they are
ALONE = 64  # chunks that have a task each, so that a small table is scored by many workers
TASKS_OF_RANGE = 4  # about how many tasks score the chunks of a range


def score_on_ray(
    chunks: Iterator[Chunk], plan: Plan, workers: int | None, address: str | None
) -> Generator[ScoredChunk]:
    """The scored chunks, in the order in which they are done.

    address: the cluster to use; None: the one that RAY_ADDRESS names, or one that is started here
    """
    ray = _ray()
    mine = not ray.is_initialized()
    if mine:
        _connect(ray, address or os.environ.get("RAY_ADDRESS") or "local")
    try:
        yield from _scored(ray, chunks, plan, workers)
    finally:
        if mine:
            ray.shutdown()


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise InputError("--engine ray needs Ray: pip install 'plaudit[ray]'") from error
    return ray


def _connect(ray: Any, address: str) -> None:
    _check_answers(address)
    # A running cluster has its settings; and without "local", Ray would join any that it finds.
    own = {"include_dashboard": False} if address == "local" else {}
    try:
        ray.init(address=address, log_to_driver=False, **own)
    except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        raise InputError(f"cannot reach Ray at {address}: {error}") from error


def _check_answers(address: str) -> None:
    """Raise InputError if nobody listens at an address: Ray itself would try for many minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"cannot reach Ray at {address}: {error}") from error


def _at_once(ray: Any, workers: int | None) -> int:
    return workers or AHEAD * int(ray.cluster_resources().get("CPU", 1))


def _scored(
    ray: Any, chunks: Iterator[Chunk], plan: Plan, workers: int | None
) -> Iterator[ScoredChunk]:
    score = ray.remote(max_retries=RETRIES, num_cpus=1)(_score)
    shared = ray.put(plan)
    tasks = _tasks(chunks)
    pending: list[Any] = []
    try:
        while True:
            most = _at_once(ray, workers)
            while len(pending) < most and (task := next(tasks, None)) is not None:
                pending.append(score.remote(task, shared, plaudit.__version__, sys.path))
            if not pending:
                return
            done, pending = ray.wait(pending, num_returns=1)
            if pending:  # all that are done, since to ask takes longer the more are pending
                more, pending = ray.wait(pending, num_returns=len(pending), timeout=0)
                done += more
            for reference in done:
                yield from _result(ray, reference)
    finally:
        _cancel(ray, pending)


def _cancel(ray: Any, tasks: Iterable[Any]) -> None:
    """End the tasks of a run that has stopped: they must not write into the next run's folder."""
    for task in tasks:
        with suppress(ray.exceptions.RayError):  # Ray is gone, and so are they
            ray.cancel(task, force=True)


def _tasks(chunks: Iterable[Chunk]) -> Iterator[list[Chunk]]:
    """What each task gets: one chunk; a few, if only notes of where they are have to be sent, since
    handing out a task takes a millisecond; or all chunks of a range that can only be read in order.
    """
    for task, some in groupby(chunks, _task_of):
        if task is None:
            yield from ([chunk.packed(to_read=False)] for chunk in some)
        else:
            yield list(some)


def _task_of(chunk: Chunk) -> object:
    """A key that the chunks of one task have in common; None for a chunk with its own task."""
    if chunk.within is not None:
        return chunk.within.extents
    is_note = all(isinstance(block.records, Unread) for block in chunk.blocks)
    return chunk.number // TOGETHER if is_note and chunk.number >= ALONE else None


def _result(ray: Any, reference: Any) -> Any:
    try:
        result = ray.get(reference)
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[-1]
        raise StoppedError(f"Ray could not run a task: {reason}. {RESUME_HINT}") from error
    if isinstance(result, StoppedError):
        raise result
    if isinstance(result, str):
        raise StoppedError(f"a chunk cannot be scored: {result}\n{RETRY_HINT}")
    return result


def _score(
    chunks: list[Chunk], plan: Plan, version: str, path: list[str]
) -> list[ScoredChunk] | str | StoppedError:
    """What a task runs, on whichever node; a user's own rewards may be on `path`."""
    if problem := _set_up(plan, version, path):
        return problem
    result: list[ScoredChunk] | str | StoppedError = result_or_error(_score_all, chunks, plan)
    return result


def _set_up(plan: Plan, version: str, path: list[str]) -> str:
    """Make this process a worker; "" or why it cannot be one."""
    sys.path += [entry for entry in path if entry not in sys.path]
    if plaudit.__version__ != version:
        return f"the node has plaudit {plaudit.__version__}, this machine has {version}"
    set_up_worker(plan.limits)
    return ""


def _score_all(chunks: Sequence[Chunk], plan: Plan) -> list[ScoredChunk]:
    read = chunks if chunks[0].within is None else _read(chunks, plan)
    return [score_and_write(chunk, plan) for chunk in read]


def _read(chunks: Sequence[Chunk], plan: Plan) -> Iterator[Chunk]:
    """The chunks of one range with their records, which notes of them lack."""
    wanted = {chunk.within.place: chunk for chunk in chunks if chunk.within}
    one = next(chunk.within for chunk in wanted.values() if chunk.within)
    for place, found in enumerate(Range(one.extents, one.is_first, plan.inputs, plan)):
        if (note := wanted.pop(place, None)) is not None and note.within:
            own = found.first(note.within.records)
            pairs = zip(own.blocks, note.blocks, strict=True)
            blocks = tuple(replace(block, numbers=known.numbers) for block, known in pairs)
            yield replace(note, blocks=blocks, rows=own.rows, within=None).packed(to_read=False)
        if not wanted:
            return


class _Notes(NamedTuple):
    """What a task found in a range: its chunks, without their records, and how many lines."""

    chunks: list[Chunk]
    lines: dict[int, int]


def chunks_on_ray(files: Sequence[InputFile], plan: Plan, limit: int | None) -> Iterator[Chunk]:
    """The same as `chunks_of`, but tasks go through the files in the storage of a cluster.

    Ray must run when the first chunk is asked for.
    """
    return placed(_ranges(files, plan), limit)


def _ranges(files: Sequence[InputFile], plan: Plan) -> Iterator[tuple[Iterable[Chunk], Counted]]:
    ray = _ray()
    find = ray.remote(max_retries=RETRIES, num_cpus=1)(_find)
    shared = ray.put(plan)
    ahead = 1 + _at_once(ray, None) // TASKS_OF_RANGE
    waiting: deque[Any] = deque()
    ranges = enumerate(ranges_of(files))
    while True:
        for number, extents in ranges:
            if all(files[extent.file].url for extent in extents):
                given = extents, not number, shared, plaudit.__version__, sys.path
                waiting.append(find.remote(*given))
            else:
                waiting.append(Range(extents, not number, files, plan))
            if len(waiting) > ahead:
                break
        if not waiting:
            return
        first = waiting.popleft()
        if isinstance(first, Range):
            yield first, first
        else:
            notes: _Notes = _result(ray, first)
            yield notes.chunks, notes


def _find(
    extents: tuple[Extent, ...], is_first: bool, plan: Plan, version: str, path: list[str]
) -> _Notes | str | StoppedError:
    """What a task runs to find the chunks of a range."""
    if problem := _set_up(plan, version, path):
        return problem
    result: _Notes | str | StoppedError = result_or_error(_notes, (extents, is_first), plan)
    return result


def _notes(where: tuple[tuple[Extent, ...], bool], plan: Plan) -> _Notes:
    extents, is_first = where
    found = Range(extents, is_first, plan.inputs, plan)
    chunks = [chunk.note(extents, is_first, place) for place, chunk in enumerate(found)]
    return _Notes(chunks, found.lines)
