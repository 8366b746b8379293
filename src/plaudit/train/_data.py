"""The data and the prompts of a run in; the dataset that TRL trains on out."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from plaudit.column_names import PROMPT, first_of
from plaudit.prompts import canoe_rows, vlm_r1_rows

_IMAGES = ("image", "images")
_SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".arrow", ".gz", ".zst")


def dataset_of(data: str, prompts: Mapping[str, Any]) -> Any:
    """The `datasets.Dataset` of a table or of a name on the Hub, with a column `prompt`.

    prompts: how prompts are made, see `Run`
    """
    datasets = import_module("datasets")
    is_table = _is_table(data)
    table = data if is_table else _loaded(datasets, data)
    if prompts:
        rows = _made(table, prompts)
    elif is_table:
        rows = _records(data)
    else:
        return _checked(table, data)
    if not rows:
        raise ValueError(f"{data} has no rows")
    return _with_images(_checked(datasets.Dataset.from_list(rows), data), datasets)


def _loaded(datasets: Any, name: str) -> Any:
    try:
        return datasets.load_dataset(name, split="train")
    except (OSError, ValueError) as error:
        raise OSError(not_loaded("dataset", name, error)) from error


def not_loaded(kind: str, name: str, error: Exception) -> str:
    """Say that a model or a dataset is neither here nor on the Hub.

    >>> not_loaded("model", "Qwen/Qwen9", OSError("Not found\\nDid you log in?"))
    'there is no model "Qwen/Qwen9": no file or folder has this name, and the Hugging Face Hub \
does not have it, or cannot be reached (Not found)'
    """
    why = str(error).strip().partition("\n")[0].rstrip(".")
    if Path(name).exists():
        return f"the {kind} in {name} cannot be loaded: {why}"
    return (
        f'there is no {kind} "{name}": no file or folder has this name, and the Hugging Face Hub '
        f"does not have it, or cannot be reached ({why})"
    )


def _is_table(data: str) -> bool:
    """Whether a name is that of a file, a folder or a URL; else it is one of the Hub's."""
    if "://" in data or Path(data).exists():
        return True
    if Path(data).suffix in _SUFFIXES:
        raise ValueError(f"there is no {data}")
    return False


def _records(data: str) -> list[dict[str, Any]]:
    from plaudit.scoring import read_rows  # needs pyarrow

    return read_rows([data])


def _made(table: Any, prompts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows with the prompts that a template of `plaudit.prompts` makes."""
    settings = {name: value for name, value in prompts.items() if name != "template"}
    system, _, kind = prompts["template"].partition("vlm-r1-")
    if system == "canoe":
        return canoe_rows(table, **settings)
    return vlm_r1_rows(table, template=kind, **settings)


def _checked(dataset: Any, data: str) -> Any:
    meant = first_of(PROMPT, dataset.column_names)
    if meant is not None:
        return dataset if meant == "prompt" else dataset.add_column("prompt", list(dataset[meant]))
    shown = ", ".join(f'"{name}"' for name in dataset.column_names)
    raise ValueError(
        f'{data} has no column "prompt", with the text or the messages that the model is '
        f"asked: add it, or say how to make it under [prompts]. The columns are {shown}"
    )


def _with_images(dataset: Any, datasets: Any) -> Any:
    """The dataset with images in place of their paths or bytes."""
    for name in _IMAGES:
        if name in dataset.column_names:
            image = datasets.Image()
            kind = datasets.List(image) if isinstance(dataset[0][name], list) else image
            dataset = dataset.cast_column(name, kind)
    return dataset
