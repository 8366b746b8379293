"""The images of a batch in; a digest for each row out, and a small JPEG of each in the record.

DIR/thumbnails/5f0cab034d21.jpg
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from plaudit.images import is_decoded, opened, source_of

FOLDER = "thumbnails"
SIDE = 160  # pixels of the longer side
_COLUMNS = ("image", "images", "image_path")


def first_images(columns: Mapping[str, Sequence[Any]], prompts: Sequence[Any]) -> list[Any]:
    """The first image of each row, as the trainer passes it; None if it has none.

    columns: the columns that have an entry per row
    prompts: in whose messages there may be images

    >>> first_images({"image_path": ["a.png", "b.png"]}, ["Where?", "Where?"])
    ['a.png', 'b.png']
    >>> part = {"type": "image", "image": "a.png"}
    >>> first_images({}, [[{"role": "user", "content": [part]}], "Where?"])
    ['a.png', None]
    """
    for name in _COLUMNS:
        if name in columns:
            return [_first(entry) for entry in columns[name]]
    return [_in_messages(prompt) for prompt in prompts]


def _first(entry: Any) -> Any:
    while isinstance(entry, list | tuple):
        entry = entry[0] if entry else None
    return entry


def _in_messages(prompt: Any) -> Any:
    for message in prompt if isinstance(prompt, list | tuple) else ():
        content = message.get("content") if isinstance(message, Mapping) else None
        for part in content if isinstance(content, list | tuple) else ():
            if isinstance(part, Mapping) and part.get("image") is not None:
                return part["image"]
    return None


def digest_of(image: Any) -> str | None:
    """A digest of an image, by which its thumbnail is named; None if it is no image.

    >>> digest_of("a.png") == digest_of("a.png") != digest_of("b.png")
    True
    """
    if is_decoded(image):
        return digest(f"{image.mode} {image.size}".encode() + image.tobytes())
    try:
        source = source_of(image)
    except ValueError:
        return None
    if isinstance(source, tuple):
        return None
    return (
        None if source is None else digest(source if isinstance(source, bytes) else source.encode())
    )


def digest(content: bytes) -> str:
    """Twelve characters that tell this content from any other.

    >>> digest(b"2 + 2?")
    'a067e2f620a7'
    """
    return blake2b(content, digest_size=6).hexdigest()


def write_thumbnail(image: Any, name: str, record: Path) -> str | None:
    """Write the thumbnail of an image if it is not there; None if the image cannot be read.

    >>> write_thumbnail("no-such-image.png", "5f0cab034d21", Path("no-such-run")) is None
    True
    """
    file = record / FOLDER / f"{name}.jpg"
    if file.exists():
        return f"{FOLDER}/{file.name}"
    with suppress(Exception):  # an image may be broken in any way, and the run goes on without it
        file.parent.mkdir(exist_ok=True)
        unfinished = file.with_suffix(f".{os.getpid()}")
        if is_decoded(image):
            _shrink(image, unfinished)
        else:
            with opened(source_of(image)) as found:  # type: ignore[arg-type]
                found.draft("RGB", (SIDE, SIDE))
                _shrink(found, unfinished)
        unfinished.replace(file)
        return f"{FOLDER}/{file.name}"
    return None


def _shrink(image: Any, file: Path) -> None:
    small = image.copy()
    small.thumbnail((SIDE, SIDE), reducing_gap=2.0)
    small.convert("RGB").save(file, "JPEG", quality=80)
