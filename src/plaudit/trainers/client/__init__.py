"""Clients of a server: `plaudit serve` scores, a trainer asks.

    from plaudit import Client
    from trl import GRPOTrainer

    client = Client("http://rewards:8950")
    GRPOTrainer(..., reward_funcs=client.reward_funcs())   # or reward_funcs=client: the total

The rewards are those of the recipe, called directly. `AsyncClient` is the same for event loops.
"""

from plaudit.trainers.client._client import AsyncClient, Client
from plaudit.trainers.client._requests import ServerError

__all__ = ["AsyncClient", "Client", "ServerError"]
