"""A recipe in, the text of a TOML file out."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plaudit.recipes._component import Component


def toml_of(
    name: str,
    columns: Mapping[str, str],
    components: Iterable["Component"],
    golds: str = "",
    attacks: Sequence[str] = (),
) -> str:
    """The text of the file; raises ValueError for a value that TOML cannot represent.

    >>> print(toml_of("math", {"solution": "answer"}, []), end="")
    name = "math"
    <BLANKLINE>
    [columns]
    solution = "answer"
    """
    optional = {"golds": golds, "attacks": list(attacks)}
    blocks = [_lines({"name": name} | {key: value for key, value in optional.items() if value})]
    if columns:
        blocks.append(["[columns]", *_lines(columns)])
    blocks += [["[[rewards]]", *_lines(_entries(component, golds))] for component in components]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _entries(component: "Component", golds: str) -> dict[str, Any]:
    """What the file says of a component: all that differs from the defaults."""
    if not isinstance(component.reward, str):
        raise ValueError(
            f"{component.name} is a function that no other process can import, "
            f"{component.reference}: put it into a module, such as my_rewards.py, and name it as "
            f'"my_rewards:{component.name}"; or score in this process, with '
            "plaudit.score(table, recipe)"
        )
    said: dict[str, Any] = {"name": component.name, "reward": component.reward}
    if component.weight != 1.0:
        said["weight"] = component.weight
    if component.gate is not None:
        said["gate"] = component.gate
    if component.right is not None:
        said["right"] = component.right
    if component.golds != golds and component.golds:
        said["golds"] = component.golds
    tables = {"params": component.params, "columns": component.columns}
    return said | {key: table for key, table in tables.items() if table}


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_value(value, key)}" for key, value in table.items()]


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _value(value: Any, place: str) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return repr(int(value))  # what a subclass shows, such as an enum, is not TOML
    if isinstance(value, float):
        return repr(float(value))  # also one of numpy; inf and nan are words of TOML as well
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item, place) for item in value)}]"
    if isinstance(value, Mapping):
        inside = (f"{_key(key)} = {_value(item, key)}" for key, item in value.items())
        return f"{{ {', '.join(inside)} }}"
    raise ValueError(f"{place} cannot be written to a TOML file: it is {value!r:.80}")


def _text(text: str) -> str:
    """A TOML string: JSON's form, but for the one character that TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
