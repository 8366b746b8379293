"""`hf://datasets/…` -> the files of that dataset, downloaded from the Hugging Face Hub.

    hf://datasets/org/name                          every table in it
    hf://datasets/org/name/data/train-*.parquet     some of them
    hf://datasets/org/name@main/data                those in a folder, as of a branch, tag or commit

`huggingface_hub` downloads them into its own cache, and only once. It is not among what plaudit
installs by itself.
"""

import re
from pathlib import Path
from typing import Any

from plaudit.scoring._errors import InputError

PREFIX = "hf://"
_ADDRESS = re.compile(r"hf://datasets/([^/@]+/[^/@]+)(?:@([^/]+))?(?:/(.+?))?/?")


def downloaded(address: str, suffixes: list[str]) -> list[Path]:
    """The files and folders that an address names, on this machine.

    suffixes: of the tables to download, where the address names none of them

    >>> downloaded("hf://models/org/name", [])
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.InputError: hf://models/org/name is no dataset: expected \
hf://datasets/ORG/NAME, hf://datasets/ORG/NAME/PATH or hf://datasets/ORG/NAME@REVISION/PATH
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise InputError(
            f"{address} is no dataset: expected hf://datasets/ORG/NAME, "
            "hf://datasets/ORG/NAME/PATH or hf://datasets/ORG/NAME@REVISION/PATH"
        )
    name, revision, inside = found.groups()
    patterns = [inside, f"{inside}/*"] if inside else [f"*{suffix}" for suffix in suffixes]
    folder = _snapshot(address, name, revision, patterns)
    paths = sorted(folder.glob(inside)) if inside else [folder]
    if not any(path.exists() for path in paths):
        raise InputError(f"{address} names no file of the dataset {name}")
    return paths


def _snapshot(address: str, name: str, revision: str | None, patterns: list[str]) -> Path:
    hub = _hub(address)
    try:
        folder = hub.snapshot_download(
            name, repo_type="dataset", revision=revision, allow_patterns=patterns
        )
    except Exception as error:  # those of the hub, of its HTTP client, of the system
        why = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise InputError(
            f"cannot download {address}: {why} (is the name right, and `hf auth login` done for a "
            "dataset that is not public?)"
        ) from error
    return Path(folder)


def _hub(address: str) -> Any:
    try:
        import huggingface_hub
    except ModuleNotFoundError as error:
        raise InputError(
            f"{address} is read with huggingface_hub: pip install 'plaudit[hub]'"
        ) from error
    return huggingface_hub
