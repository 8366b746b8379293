"""Why a run does not start, or does not end. The command line makes exit codes of them."""


class InputError(ValueError):
    """What was given cannot be scored, or is no scored folder; the message says what to change.

    >>> raise InputError("there is no rollouts.jsonl")
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.InputError: there is no rollouts.jsonl
    """


class RejectedRowError(Exception):
    """A row was rejected, and the run was told to be strict.

    >>> raise RejectedRowError("rollouts.jsonl, line 7: it is no JSON")
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.RejectedRowError: rollouts.jsonl, line 7: it is no JSON
    """


class StoppedError(Exception):
    """The run could not go on: a full disk, workers that die. What was written is kept.

    >>> raise StoppedError("cannot write scored/part-00003.parquet: No space left on device")
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.StoppedError: cannot write scored/part-00003.parquet: No space left ...
    """
