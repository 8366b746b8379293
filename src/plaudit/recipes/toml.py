"""Write a recipe as a TOML file."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plaudit.recipes.component import Component


def toml_of(
    name: str,
    columns: Mapping[str, str],
    components: Iterable["Component"],
    golds: str = "",
    attacks: Sequence[str] = (),
    others: Mapping[str, Any] | None = None,
) -> str:
    """Return the text of the file; raise ValueError for a value that TOML cannot represent.

    others: further keys of the file, those with a table as value among them
    """
    optional = {"golds": golds, "attacks": list(attacks)}
    kept = {key: value for key, value in optional.items() if value} | dict(others or {})
    tables = {key: value for key, value in kept.items() if isinstance(value, Mapping)}
    plain = {key: value for key, value in kept.items() if key not in tables}
    blocks = [_lines({"name": name} | plain)]
    blocks += [[f"[{key}]", *_lines(table)] for key, table in tables.items() if table]
    if columns:
        blocks.append(["[columns]", *_lines(columns)])
    blocks += [["[[rewards]]", *_lines(_entries(component, golds))] for component in components]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _entries(component: "Component", golds: str) -> dict[str, Any]:
    """Return the entries of a component that differ from the defaults."""
    if not isinstance(component.reward, str):
        raise ValueError(
            f"{component.name} is a function that no other process can import, "
            f"{component.reference}: put it into a module, such as my_rewards.py, and name it as "
            f'"my_rewards:{component.name}"; or score in this process, with '
            "plaudit.score(table, recipe)"
        )
    entries: dict[str, Any] = {"name": component.name, "reward": component.reward}
    if component.weight != 1.0:
        entries["weight"] = component.weight
    if component.gate is not None:
        entries["gate"] = component.gate
    if component.right is not None:
        entries["right"] = component.right
    if component.golds != golds and component.golds:
        entries["golds"] = component.golds
    for name in ("when", "deadline", "memory"):
        if (value := getattr(component, name)) is not None:
            entries[name] = value
    tables = {"params": component.params, "columns": component.columns, "on": component.on}
    return entries | {key: table for key, table in tables.items() if table}


def _lines(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {_value(value, key)}" for key, value in table.items()]


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _value(value: Any, name: str) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return repr(int(value))  # what a subclass shows, such as an enum, is not TOML
    if isinstance(value, float):
        return repr(float(value))  # also one of numpy; inf and nan are words of TOML as well
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item, name) for item in value)}]"
    if isinstance(value, Mapping):
        inside = (f"{_key(key)} = {_value(item, key)}" for key, item in value.items())
        return f"{{ {', '.join(inside)} }}"
    raise ValueError(f"{name} cannot be written to a TOML file: it is {value!r:.80}")


def _text(text: str) -> str:
    """Return a TOML string: JSON's form, but for the one character that TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
