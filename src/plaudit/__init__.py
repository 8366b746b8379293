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

from plaudit.declarations import reward_factory
from plaudit.judge import configure, warm_up
from plaudit.scores import Score, async_reward, explain, reward, text_reward

if TYPE_CHECKING:
    from plaudit.client import AsyncClient, Client
    from plaudit.recording import record

__all__ = [
    "AsyncClient",
    "Client",
    "Score",
    "__version__",
    "async_reward",
    "configure",
    "explain",
    "record",
    "reward",
    "reward_factory",
    "text_reward",
    "warm_up",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """What not everybody needs, imported when somebody asks: the clients need httpx."""
    if name == "record":
        from plaudit.recording import record

        return record
    if name not in ("AsyncClient", "Client"):
        raise AttributeError(f"module 'plaudit' has no attribute {name!r}")
    try:
        from plaudit import client
    except ModuleNotFoundError as error:
        raise ImportError(f"this needs {error.name}: pip install 'plaudit[client]'") from error
    return getattr(client, name)
