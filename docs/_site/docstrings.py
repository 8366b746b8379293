"""Docstrings -> Markdown for the API reference.

What begins with `>>>` becomes a block of code, and lines such as `weight: what its value is
multiplied by` a list. A reward has the signature that its decorator gave it.
"""

import importlib
import inspect
import re

from griffe import Extension, Parameter, ParameterKind, Parameters

EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!\s*$).*\n?)*)+", re.MULTILINE)
PARAMETER = re.compile(
    r"^([a-z_][\w, `]*): (.*(?:\n(?!\s*$|[a-z_][\w, `]*: |>>> ).*)*)", re.MULTILINE
)


def markdown(docstring: str) -> str:
    """One docstring as Markdown."""
    parts, end = [], 0
    for example in EXAMPLE.finditer(docstring):
        parts += [_prose(docstring[end : example.start()]), _code(example[0])]
        end = example.end()
    return "".join([*parts, _prose(docstring[end:])])


def _prose(text: str) -> str:
    return PARAMETER.sub(lambda found: f"- **`{found[1]}`**: {found[2].strip()}", text)


def _code(example: str) -> str:
    return f"\n```pycon\n{example.strip()}\n```\n"


class PublicDocstrings(Extension):
    """Puts Markdown in the place of every docstring, and public signatures on rewards."""

    def on_instance(self, *, obj, **_: object) -> None:
        if obj.docstring is not None:
            obj.docstring.value = markdown(obj.docstring.value)
        if obj.is_function and any("reward" in str(one.value) for one in obj.decorators):
            _sign(obj)


def _sign(function) -> None:
    """What a decorated function returns; and what it takes, where the decorator changed that."""
    module = importlib.import_module(function.module.path)
    signature = inspect.signature(getattr(module, function.name))
    function.returns = inspect.formatannotation(signature.return_annotation)
    if [one.name for one in function.parameters] != list(signature.parameters):
        function.parameters = Parameters(*map(_parameter, signature.parameters.values()))


def _parameter(one: inspect.Parameter) -> Parameter:
    return Parameter(
        one.name,
        annotation=inspect.formatannotation(one.annotation).replace("typing.", ""),
        kind=ParameterKind[one.kind.name.lower()],
        default=None if one.default is one.empty else repr(one.default),
    )
