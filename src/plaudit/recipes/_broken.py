"""What is wrong with a reward function itself, whatever the rows are."""


class BrokenRewardError(TypeError, ValueError):
    """A reward gave what no reward may give: not a list, another count, or not a number.

    It is an error of the function, not of a row: to score the rest without that row would hide it.

    >>> raise BrokenRewardError("brief gave 1 values for 20 completions")
    Traceback (most recent call last):
    ...
    plaudit.recipes._broken.BrokenRewardError: brief gave 1 values for 20 completions
    """
