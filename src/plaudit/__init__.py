"""Verifiable rewards for post-training with reinforcement learning.

A trainer hands over completions; plaudit says what each is worth, and why.

>>> import plaudit
>>> from plaudit.rewards.trl import accuracy_reward
>>> accuracy_reward([r"So it is \\boxed{\\frac{2}{4}}."], ["1/2"])
[1.0]
>>> plaudit.explain(accuracy_reward, r"So it is \\boxed{3}.", "1/2").why
'3 is not equal to the gold 1/2.'
"""

from typing import TYPE_CHECKING, Any

from plaudit.judge import configure, warm_up
from plaudit.scores import Score, async_form, reward, reward_factory, text_reward

if TYPE_CHECKING:
    from plaudit.recipes import explain
    from plaudit.reports.audit import audit
    from plaudit.reports.check import check
    from plaudit.runs import record
    from plaudit.tables import score
    from plaudit.trainers.client import AsyncClient, Client

__all__ = [
    "AsyncClient",
    "Client",
    "Score",
    "__version__",
    "async_form",
    "audit",
    "check",
    "configure",
    "explain",
    "record",
    "reward",
    "reward_factory",
    "score",
    "text_reward",
    "warm_up",
]
__version__ = "0.1.0"


# What is imported when somebody asks: who has no server needs no httpx, and who trains no pyarrow.
_LATER = {
    "AsyncClient": ("plaudit.trainers.client", "client"),
    "Client": ("plaudit.trainers.client", "client"),
    "check": ("plaudit.reports.check", "score"),
    "explain": ("plaudit.recipes", "all"),
    "record": ("plaudit.runs", "score"),
    "score": ("plaudit.tables", "score"),
    "audit": ("plaudit.reports.audit", "score"),
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'plaudit' has no attribute {name!r}")
    from importlib import import_module

    package, extra = _LATER[name]
    try:
        found = globals()[name] = getattr(import_module(package), name)
        return found
    except ModuleNotFoundError as error:
        raise ImportError(f"this needs {error.name}: pip install 'plaudit[{extra}]'") from error
