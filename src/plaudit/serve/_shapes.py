"""The paths that speak the shapes of trainers."""

from importlib import import_module

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from plaudit.serve._service import Service

# The path -> the module of plaudit.trainers that knows the shape, what answers, and what it is.
SHAPES = {
    "/openrlhf": ("openrlhf", "reply_of", "OpenRLHF's remote reward"),
    "/slime": ("slime", "reply_of", "slime's remote reward"),
    "/slime/detailed": ("slime", "detailed_reply_of", "The same, for slime's --reward-key score"),
    "/nemo-gym/verify": ("nemo_gym", "reply_of", "NeMo-Gym's verification of a response"),
    "/verl": ("verl", "reply_of", "verl's compute_score, for one row or for lists"),
}


def shaped_routes(service: Service) -> list[Route]:
    """A route for each trainer's shape."""
    return [_route(service, path, name, reply) for path, (name, reply, _) in SHAPES.items()]


def _route(service: Service, path: str, name: str, reply: str) -> Route:
    trainer = import_module(f"plaudit.trainers.{name}")
    batch_of, reply_of = trainer.batch_of, getattr(trainer, reply)

    async def endpoint(request: Request) -> Response:
        return await service.shaped(request, batch_of, reply_of)

    return Route(path, endpoint, methods=["POST"])
