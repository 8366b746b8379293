"""Rewards of a user's own: slow ones, broken ones, and one that logs."""

import time
from threading import Event

started = Event()


def patient(completions, **kwargs):
    """As many seconds as the first completion says."""
    started.set()
    time.sleep(float(completions[0]))
    return [1.0] * len(completions)


def broken(completions, **kwargs):
    raise RuntimeError(f"the secret of {completions[0]}")


def talkative(completions, level, log_extra=None, log_metric=None, **kwargs):
    """Takes whatever a trainer passes, and logs."""
    if log_extra:
        log_extra("level", level)
    if log_metric:
        log_metric("levels", sum(level) / len(level))
    return [float(one) for one in level]


def endless(completions, **kwargs):
    return [float(text) for text in completions]


def whole_numbers(completions, solution, **kwargs):
    """Says what arrived: a gold that changed its type on the way gets another reward."""
    kinds = {str: 1.0, int: 2.0, float: 3.0, bool: 4.0, type(None): None, list: 5.0}
    return [kinds[type(gold)] for gold in solution]


released = Event()


def held_up(completions, **kwargs):
    """Waits until somebody lets it go on."""
    started.set()
    released.wait(60)
    return [1.0] * len(completions)
