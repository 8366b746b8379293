"""The registry of instructions: id -> the function that checks it, and its arguments.

    @instruction("punctuation:no_comma", "The response has no comma.")
    def no_comma(text: str) -> Finding:
        count = text.count(",")
        return Finding(count == 0, f"{count} commas, expected none")

The arguments after the text are those of the dataset's `kwargs`; their annotations say what each
may be. A checker that names `faithful` also has the verdict of the reference, bug for bug; one
that names `prompt` receives the prompt of the row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from inspect import Parameter, signature
from numbers import Real
from typing import Any, Literal, NamedTuple, TypeVar, get_args, get_origin

from plaudit.inputs.columns import kind_of

Relation = Literal["at least", "less than"]
_PASSED_BY_PLAUDIT = ("faithful", "prompt")


class Finding(NamedTuple):
    """Whether a text follows an instruction, and what was counted.

    followed: None if there is no verdict, such as in a text on which the reference raises
    why: what was counted, such as "4 paragraphs, expected 5"

    >>> Finding(False, "4 paragraphs, expected 5").followed
    False
    """

    followed: bool | None
    why: str


Check = Callable[..., Finding]
AnyCheck = TypeVar("AnyCheck", bound=Check)


@dataclass(frozen=True)
class Instruction:
    """An instruction: its id, a sentence that says it, its arguments, and its checker.

    >>> INSTRUCTIONS["punctuation:no_comma"].sentence
    'The response has no comma.'
    """

    id: str
    sentence: str
    check: Check
    arguments: Mapping[str, Parameter]
    passed: tuple[str, ...]

    def arguments_of(self, kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of the checker; raise if one is missing, unknown or of no use."""
        known = {name: value for name, value in kwargs.items() if value is not None}
        unknown = [name for name in known if name not in self.arguments]
        if unknown:
            has = ", ".join(self.arguments) or "none"
            raise ValueError(f"{self.id} has no argument {unknown[0]!r}, it has: {has}")
        found = {}
        for name, parameter in self.arguments.items():
            if name in known:
                found[name] = _value(known[name], parameter.annotation, f"{name} of {self.id}")
            elif parameter.default is Parameter.empty:
                raise ValueError(f"{self.id} needs the argument {name!r}, which is missing or None")
        return found


# Every instruction by its id, those that a user added too.
INSTRUCTIONS: dict[str, Instruction] = {}


def instruction(id: str, sentence: str) -> Callable[[AnyCheck], AnyCheck]:  # noqa: A002
    """Add the checker of an instruction, or replace the one that its id has.

    id: the id in `instruction_id_list`, such as "mine:rhyme"
    sentence: what the instruction asks for

    >>> @instruction("mine:shout", "The response has at least `n` exclamation marks.")
    ... def shout(text: str, n: int) -> Finding:
    ...     return Finding(text.count("!") >= n, f"{text.count('!')} marks, expected {n}")
    >>> from plaudit.rewards.instructions import instruction_reward
    >>> instruction_reward(["Hey!"], [["mine:shout"]], [[{"n": 1}]])
    [1.0]
    """

    def add(check: AnyCheck) -> AnyCheck:
        parameters = list(signature(check).parameters.values())[1:]
        passed = tuple(p.name for p in parameters if p.name in _PASSED_BY_PLAUDIT)
        arguments = {p.name: p for p in parameters if p.name not in _PASSED_BY_PLAUDIT}
        INSTRUCTIONS[id] = Instruction(id, sentence, check, arguments, passed)
        return check

    return add


def instruction_of(id: Any) -> Instruction:  # noqa: A002
    """Return the instruction of an id; raise an error that names the nearest id."""
    if not isinstance(id, str):
        raise TypeError(f"an instruction id must be text, got {kind_of(id)}")
    if id not in INSTRUCTIONS:
        raise ValueError(f"no instruction has the id {id!r}{_nearest(id, INSTRUCTIONS)}")
    return INSTRUCTIONS[id]


def _nearest(name: str, names: Mapping[str, Any]) -> str:
    near = get_close_matches(name, names, 1, 0.5)
    return f", did you mean {near[0]!r}?" if near else ""


@cache
def _options(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if get_origin(kind) is Literal else ()


def _value(value: Any, kind: Any, label: str) -> Any:
    if type(value) is kind and (kind is str or (kind is int and value >= 0)):
        return value  # as most are
    if options := _options(kind):
        if value not in options:
            raise ValueError(f"{label} must be one of {options}, got {kind_of(value)}")
        return value
    if kind in (int, float):
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if not (is_number and value >= 0 and (kind is float or float(value).is_integer())):
            wanted = "a whole number" if kind is int else "a number"
            raise TypeError(f"{label} must be {wanted}, at least 0, got {kind_of(value)}")
        return kind(value)
    if kind == list[str]:
        texts = list(value) if isinstance(value, list | tuple) else []
        if not texts or not all(isinstance(text, str) for text in texts):
            raise TypeError(f"{label} must be a list of texts, got {kind_of(value)}")
        return texts
    if kind is str and isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]  # as open-instruct writes some words
    if kind is str and not isinstance(value, str):
        raise TypeError(f"{label} must be text, got {kind_of(value)}")
    return value


def compared(count: int, relation: str, wanted: int, noun: str) -> Finding:
    """Return whether a count is at least, or less than, what is wanted."""
    followed = count < wanted if relation == "less than" else count >= wanted
    return Finding(followed, f"{count} {noun}, expected {relation} {wanted}")
