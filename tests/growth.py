"""How a call's CPU time grows with the length of its text: a fact of the code, not of the machine.

A call that reads its text once has an exponent near 1, one that reads it again for each character
an exponent near 2.
"""

import math
import time

NOTHING = 0.004  # seconds of CPU: below this, the clock says more of itself than of the call


def exponent(call, text, short=30_000, factor=8):
    """The power of the length with which the time of `call(text(length))` grows.

    Each is the least of three runs, since a busy machine can only make a run look longer. What
    takes no time at the greater length does not grow.
    """
    lengths = short, factor * short
    brief, long = (_least_time(call, text(length)) for length in lengths)
    if long < NOTHING:
        return 0.0
    return math.log(long / max(brief, NOTHING / factor), factor)


def _least_time(call, argument):
    times = []
    for _ in range(3):
        start = time.process_time()
        call(argument)
        times.append(time.process_time() - start)
    return min(times)
