"""The Ray engine: chunks in, scored chunks out, by tasks on a cluster.

The function and the chunks are the same as on one machine. Tasks rather than `ray.data`: which rows
make a part must not depend on the cluster, only this machine has to be able to read the input and
write the output, and a chunk in the middle of a gz file cannot be read without all that precedes
it. The chunks are sent to the tasks, and the parts are sent back.
"""

import os
import socket
import sys
from collections.abc import Generator, Iterator
from typing import Any

import plaudit
from plaudit.scoring._chunks import Chunk
from plaudit.scoring._errors import RESUME_HINT, RETRY_HINT, InputError, StoppedError
from plaudit.scoring._plan import Plan
from plaudit.scoring._score_chunk import ScoredChunk
from plaudit.scoring._worker import scored_or_error, set_up_worker

RETRIES = 10  # a node may die for reasons other than its tasks
AHEAD = 2  # chunks that are sent for each core


def score_on_ray(
    chunks: Iterator[Chunk], plan: Plan, workers: int | None, address: str | None
) -> Generator[ScoredChunk]:
    """The scored chunks, in the order in which they are done.

    address: the cluster to use; None: the one that RAY_ADDRESS names, or one that is started here
    """
    try:
        import ray
    except ImportError as error:
        raise InputError("--engine ray needs Ray: pip install 'plaudit[ray]'") from error
    mine = not ray.is_initialized()
    if mine:
        _connect(ray, address or os.environ.get("RAY_ADDRESS") or "local")
    try:
        yield from _scored(ray, chunks, plan, workers)
    finally:
        if mine:
            ray.shutdown()


def _connect(ray: Any, address: str) -> None:
    _check_answers(address)
    # A running cluster has its settings; and without "local", Ray would join any that it finds.
    own = {"include_dashboard": False} if address == "local" else {}
    try:
        ray.init(address=address, log_to_driver=False, **own)
    except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        raise InputError(f"cannot reach Ray at {address}: {error}") from error


def _check_answers(address: str) -> None:
    """Ray itself tries for many minutes to reach a machine that is not there."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise InputError(f"cannot reach Ray at {address}: {error}") from error


def _scored(
    ray: Any, chunks: Iterator[Chunk], plan: Plan, workers: int | None
) -> Iterator[ScoredChunk]:
    score = ray.remote(max_retries=RETRIES, num_cpus=1)(_score)
    shared = ray.put(plan)
    pending: list[Any] = []
    while True:
        most = workers or AHEAD * int(ray.cluster_resources().get("CPU", 1))
        while len(pending) < most and (chunk := next(chunks, None)) is not None:
            pending.append(score.remote(chunk.packed(), shared, plaudit.__version__, sys.path))
        if not pending:
            return
        done, pending = ray.wait(pending, num_returns=1)
        yield _result(ray, done[0])


def _result(ray: Any, reference: Any) -> ScoredChunk:
    try:
        result = ray.get(reference)
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[-1]
        raise StoppedError(f"Ray could not run a task: {reason}. {RESUME_HINT}") from error
    if isinstance(result, str):
        raise StoppedError(f"a chunk cannot be scored: {result}\n{RETRY_HINT}")
    scored: ScoredChunk = result
    return scored


def _score(chunk: Chunk, plan: Plan, version: str, path: list[str]) -> ScoredChunk | str:
    """What a task runs, on whichever node; a user's own rewards may be on `path`."""
    sys.path += [entry for entry in path if entry not in sys.path]
    if plaudit.__version__ != version:
        return f"the node has plaudit {plaudit.__version__}, this machine has {version}"
    set_up_worker(plan.limits)
    result: ScoredChunk | str = scored_or_error(chunk, plan)
    return result
