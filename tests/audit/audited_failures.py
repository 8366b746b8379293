"""Rewards that fail on some texts, or want a form of their own."""

import json
import os


def raises_on_boxes(completions, solution, **kwargs):
    """Raises where an answer is empty."""
    if any("<answer></answer>" in text for text in completions):
        raise KeyError("no box")
    return [float(f"<answer>{g}</answer>" in t) for t, g in zip(completions, solution, strict=True)]


def exits_on_boxes(completions, solution, **kwargs):
    """Ends its process where an answer is empty."""
    if any("<answer></answer>" in text for text in completions):
        os._exit(3)
    return [float(f"<answer>{g}</answer>" in t) for t, g in zip(completions, solution, strict=True)]


def between_stars(completions, solution, **kwargs):
    """A form that nobody would guess."""
    return [float(t.strip() == f"***{g}***") for t, g in zip(completions, solution, strict=True)]


def same_text(completions, solution, **kwargs):
    """Pays what is the gold, letter by letter."""
    return [float(text == gold) for text, gold in zip(completions, solution, strict=True)]


def json_valid(completions, **kwargs):
    """Pays what is JSON, such as any number, and never looks at the gold."""
    return [float(_is_json(text)) for text in completions]


def _is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def always_raises(completions, **kwargs):
    """Raises whatever the text is."""
    raise KeyError("score")
