"""Derive the arguments of a command from a typed function and its docstring.

    def run(name: Annotated[str | None, "NAME"] = None, *, port: int = 80, quiet: bool = False):
        '''Serve something.

        name: what to serve
        port: the port to listen on (default: %(default)s)

        exit codes:
          0 done
        '''

gives the arguments [NAME] [--port N] [--quiet]. What precedes the lines about the parameters is the
description of the command, what follows them is printed at the end of its help.
"""

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints


class UsageError(Exception):
    """Wrong usage of the command line; the message says what to do instead."""


class Option(NamedTuple):
    """What a type does not say of an argument; in `Annotated`, a text alone is its metavar.

    help: for an argument that several commands have; else it is in the docstring
    parse: makes a value of the text
    """

    metavar: str = ""
    help: str = ""
    parse: Callable[[str], Any] | None = None


class _ParameterType(NamedTuple):
    """The type of a parameter: of one value, and whether there may be several or none."""

    type: Any
    option: Option
    is_list: bool
    is_optional: bool


def add_arguments(parser: argparse.ArgumentParser, function: Callable[..., Any]) -> None:
    """Add the parameters of a function to a parser; the option `run` will call the function."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parameters = inspect.signature(function).parameters
    parser.description, helps, parser.epilog = _docstring_of(function, parameters)
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in parameters.items():
        kind = _kind_of(hints[name])
        settings = _settings_of(kind, parameter)
        settings["help"] = helps.get(name, kind.option.help)
        flag = f"--{name.rstrip('_').replace('_', '-')}"
        is_option = parameter.kind is parameter.KEYWORD_ONLY
        parser.add_argument(flag if is_option else name, **settings)
    parser.set_defaults(run=lambda options: _call(function, options))


def _call(function: Callable[..., Any], options: argparse.Namespace) -> Any:
    """Call a function with the options that have the names of its parameters."""
    arguments, keywords = [], {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            keywords[name] = getattr(options, name.rstrip("_"))
        else:
            arguments.append(getattr(options, name))
    return function(*arguments, **keywords)


def _docstring_of(
    function: Callable[..., Any], names: Any
) -> tuple[str, dict[str, str], str | None]:
    """Return the description, the help of each parameter, and what follows."""
    lines = (inspect.getdoc(function) or "").splitlines()
    found = [re.match(r"(\w+): (.*)", line) for line in lines]
    starts = [i for i, one in enumerate(found) if one is not None and one[1] in names]
    if not starts:
        return "\n".join(lines), {}, None
    helps: dict[str, str] = {}
    end = starts[-1] + 1
    while end < len(lines) and lines[end].startswith(" "):
        end += 1
    for line in lines[starts[0] : end]:
        if (one := re.match(r"(\w+): (.*)", line)) is not None:
            helps[one[1]] = one[2]
        else:
            helps[list(helps)[-1]] += f" {line.strip()}"
    rest = "\n".join(lines[end:]).strip("\n")
    return "\n".join(lines[: starts[0]]).rstrip() + "\n", helps, f"{rest}\n" if rest else None


def _kind_of(hint: Any) -> _ParameterType:
    option = Option()
    if get_origin(hint) is Annotated:
        hint, *more = get_args(hint)
        (option,) = (one if isinstance(one, Option) else Option(one) for one in more)
    is_optional = is_list = False
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (one for one in get_args(hint) if one is not NoneType)
        is_optional = True
    if get_origin(hint) is Sequence:
        (hint,) = get_args(hint)
        is_list = True
    return _ParameterType(hint, option, is_list, is_optional)


def _settings_of(kind: _ParameterType, parameter: inspect.Parameter) -> dict[str, Any]:
    """Return the settings of `argparse` for a parameter."""
    if kind.type is bool:
        return {"action": "store_true"}
    settings: dict[str, Any] = {"metavar": kind.option.metavar or None}
    if get_origin(kind.type) is Literal:
        settings = {"choices": get_args(kind.type)}
    else:
        settings["type"] = kind.option.parse or kind.type
        if kind.type in (int, float) and not kind.option.metavar:
            settings["metavar"] = "N"
    has_default = parameter.default is not parameter.empty
    if has_default:
        settings["default"] = list(parameter.default) if kind.is_list else parameter.default
    if parameter.kind is not parameter.KEYWORD_ONLY:
        if kind.is_list:
            settings["nargs"] = "*" if has_default else "+"
        elif has_default:
            settings["nargs"] = "?"
    elif kind.is_list and kind.option.parse is not comma_separated:
        settings["action"] = "append"
    elif not has_default:
        settings["required"] = True
    return settings


# --- what several commands have -------------------------------------------------------------------


def _column(text: str) -> tuple[str, str]:
    argument, _, column = text.partition("=")
    if not argument.isidentifier() or not column:
        raise argparse.ArgumentTypeError(f"expected ARG=COLUMN, got {text!r}")
    return argument, column


def comma_separated(text: str) -> list[str]:
    """Return the names in a text, without spaces."""
    return [name.strip() for name in text.split(",") if name.strip()]


_WROTE = "the column with what the model wrote (default: completion or completions"
Completions = Annotated[str | None, Option("COLUMN", f"{_WROTE}, else a guess by the name)")]
CompletionsIfAny = Annotated[str | None, Option("COLUMN", f"{_WROTE}, if there is one)")]
Columns = Annotated[
    Sequence[tuple[str, str]],
    Option(
        "ARG=COLUMN",
        "the column that holds an argument of the rewards, such as solution=answer; may be "
        "repeated (default: the column of that name, else a guess)",
        _column,
    ),
]


def fail(code: int, message: object) -> int:
    """Print why a command failed, and return its exit code."""
    print(f"plaudit: {message}", file=sys.stderr)
    return code
