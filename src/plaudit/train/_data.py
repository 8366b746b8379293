"""The data and the prompts of a run in; the dataset that TRL trains on out."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from plaudit.column_names import PROMPT, first_of
from plaudit.prompts import canoe_rows, vlm_r1_rows
from plaudit.train._run_file import Run

_IMAGES = ("image", "images")
_SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet", ".arrow", ".gz", ".zst")


def dataset_of(run: Run) -> Any:
    """The `datasets.Dataset` of a run, with a column `prompt`."""
    datasets = import_module("datasets")
    is_table = _is_table(run.data)
    table = run.data if is_table else datasets.load_dataset(run.data, split="train")
    if run.prompts:
        rows = _made(table, run.prompts)
    elif is_table:
        rows = _records(run.data)
    else:
        return _checked(table, run)
    if not rows:
        raise ValueError(f"{run.data} has no rows")
    return _with_images(_checked(datasets.Dataset.from_list(rows), run), datasets)


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


def _checked(dataset: Any, run: Run) -> Any:
    meant = first_of(PROMPT, dataset.column_names)
    if meant is not None:
        return dataset if meant == "prompt" else dataset.add_column("prompt", list(dataset[meant]))
    shown = ", ".join(f'"{name}"' for name in dataset.column_names)
    raise ValueError(
        f'{run.data} has no column "prompt", with the text or the messages that the model is '
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
