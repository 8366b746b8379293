"""A reward whose completions say what comes of them."""

from plaudit.scores import Score, reward


@reward
def says(completions, **kwargs):
    """A value and a status for each completion, such as "0 timeout"; "-" for no value."""
    rows = (text.split() for text in completions)
    return [Score(None if v == "-" else float(v), "So.", status=s) for v, s, *_ in rows]


def long(completions, **kwargs):
    """Skips what `says` gives no value."""
    return [None if text.startswith("-") else float(len(text) > 9) for text in completions]
