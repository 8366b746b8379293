"""Rewards that hang, die or take all memory on some completions."""

import asyncio
import contextlib
import os
import subprocess
import threading
import time

from plaudit.scores import Score, reward

_lock = threading.Lock()


def sleeps(completions, **kwargs):
    return [_slept(text) for text in completions]


def _slept(text):
    if "hang" in text:
        time.sleep(3600)
    return float(len(text))


def spins(completions, solution, **kwargs):
    return [_spun(text) + len(gold) for text, gold in zip(completions, solution, strict=True)]


def _spun(text):
    while "hang" in text:
        pass
    return 1.0


def reads_all_first(completions, **kwargs):
    texts = [text.lower() for text in completions]
    return [_slept(text) for text in texts]


def exits(completions, **kwargs):
    return [os._exit(3) if "hang" in text else 1.0 for text in completions]


def eats(completions, **kwargs):
    return [float(len(bytearray(8 << 30)) if "hang" in text else 1) for text in completions]


def locks(completions, **kwargs):
    """Needs a lock that some thread of the caller may hold."""
    with _lock:
        return [1.0] * len(completions)


def raises(completions, **kwargs):
    raise ValueError(f"there are {len(completions)} completions")


def too_few(completions, **kwargs):
    return [1.0]


async def waits(completions, **kwargs):
    for text in completions:
        if "hang" in text:
            await asyncio.sleep(3600)
    return [1.0] * len(completions)


def holding_the_lock():
    """Hold the lock of `locks` in a thread, for as long as the returned event is not set."""
    done, held = threading.Event(), threading.Event()

    def hold():
        with _lock:
            held.set()
            done.wait()

    threading.Thread(target=hold, daemon=True).start()
    held.wait()
    return done


def starts_programs(completions, **kwargs):
    """Hangs in a program of a session of its own, as code runners start theirs."""
    for text in completions:
        if "hang" in text:
            subprocess.run(["sleep", "3599"], start_new_session=True, check=True)
    return [1.0] * len(completions)


def logs(completions, log_extra, log_metric, **kwargs):
    log_extra("length", [len(text) for text in completions])
    log_metric("longest", max(map(len, completions)))
    return [_slept(text) for text in completions]


async def never_cancelled(completions, **kwargs):
    while any("hang" in text for text in completions):
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(5)
    return [1.0] * len(completions)


@reward(scope="group")
def rank(completions, **kwargs):
    """The longest completion of a group is worth most."""
    for text in completions:
        _slept(text)
    order = sorted(completions, key=len)
    return [Score(float(order.index(text)), "its rank") for text in completions]


def fails_somehow(completions, **kwargs):
    """Hangs, ends its process or takes all memory, as a completion says."""
    ways = {"sleep": lambda: time.sleep(3600), "exit": lambda: os._exit(3)}
    ways |= {"eat": lambda: bytearray(64 << 30), "lock": _dead_lock.acquire}
    for text in completions:
        ways.get(text.partition(" ")[0], lambda: None)()
    return [float(len(text)) for text in completions]


def fails_on_a_length(completions, way, **kwargs):
    return fails_somehow([way if len(text) % 5 == 1 else f"a {text}" for text in completions])


_dead_lock = threading.Lock()
_dead_lock.acquire()  # as if a thread had held it at a fork
