"""The error for a reward function that is wrong itself, whatever rows it is given."""


class BrokenRewardError(TypeError, ValueError):
    """A reward returned what no reward may: not a list, too few or too many values, or no number.

    The function is at fault, and not a row: leaving out that row would hide the error.

    >>> raise BrokenRewardError("brief gave 1 values for 20 completions")
    Traceback (most recent call last):
    ...
    plaudit.recipes._broken.BrokenRewardError: brief gave 1 values for 20 completions
    """
