"""Images of a column: the image itself or its size; no other module opens one.

    "images/kite.png", ["images/kite.png"]              a path, or a list that starts with one
    [640, 480]                                          the size: nothing is opened
    an image of Pillow                                  its size is known: nothing is opened
    "data:image/png;base64,iVBORw0KGgo…", b"\\x89PNG…"   the bytes of the file

The files are named by whoever writes a table or asks a server, who may not be trusted. So only
regular files are opened, only as one of FORMATS, and only up to BYTES and PIXELS; inside
`only_below`, only those in a folder.
"""

import io
import os
import stat
import sys
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields
from math import ceil, floor, sqrt
from numbers import Integral
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
BYTES = 64 << 20
PIXELS = 100_000_000
URI = "data:image/"

Size = tuple[int, int]
Source = str | bytes | Size  # a path or a data URI, a file's bytes, or the size itself

_folders: ContextVar[Sequence[Path] | None] = ContextVar("plaudit_images", default=None)


@contextmanager
def only_below(*folders: str | PathLike[str]) -> Iterator[None]:
    """Open no image that is not in one of these folders; relative paths start there."""
    token = _folders.set(tuple(Path(folder) for folder in folders))
    try:
        yield
    finally:
        _folders.reset(token)


def source_of(entry: Any) -> Source | None:
    """The image that an entry of a column names, of a list the first; None if it is empty."""
    if isinstance(entry, Mapping):  # as `datasets` hands over images that it did not decode
        entry = entry.get("bytes") or entry.get("path")
    if isinstance(entry, PathLike):
        return str(entry)
    if is_decoded(entry):
        return int(entry.size[0]), int(entry.size[1])
    if isinstance(entry, bytearray | memoryview):
        return bytes(entry) or None
    if entry is None or isinstance(entry, str | bytes):
        return entry or None
    try:
        listed = list(entry)
        if len(listed) == 2 and all(map(_is_whole, listed)):
            return int(listed[0]), int(listed[1])
        return source_of(listed[0]) if listed else None
    except (TypeError, ValueError):  # arrays of no dimension can be iterated over, and cannot
        kind = type(entry).__name__
        raise ValueError(
            "an image must be a path, the bytes of a file, an image of Pillow, or [width, height], "
            f"got {kind}: {entry!r:.60}"
        ) from None


def is_decoded(entry: Any) -> bool:
    """Return whether it is an image of Pillow, as `datasets` hands over what it decoded."""
    pillow = sys.modules.get("PIL.Image")  # there is no such image if nobody imported it
    return pillow is not None and isinstance(entry, pillow.Image)


def _is_whole(side: Any) -> bool:
    return isinstance(side, Integral) and not isinstance(side, bool)


def name_of(source: Source) -> str:
    """Return what to call an image in complaints."""
    if isinstance(source, bytes):
        return f"{len(source)} bytes"
    if isinstance(source, tuple):
        return f"{source[0]} x {source[1]}"
    return source.partition(";")[0][:80] if source.startswith(URI) else source


def size_of(source: Source) -> Size:
    """Return the width and height of an image; only the header of its file is read."""
    if not isinstance(source, tuple):
        with opened(source) as image:
            return image.size
    if min(source) < 1:
        raise ValueError(f"an image's width and height must be above 0, got {list(source)}")
    return source


def readable_size(source: Source) -> Size:
    """The width and height of an image that can be read to its end; a `ValueError` says why not."""
    if isinstance(source, tuple):
        return size_of(source)
    with opened(source) as image:
        size = image.size
        image.draft(image.mode, (size[0] // 8, size[1] // 8))  # a JPEG is decoded small: faster
        try:
            image.load()
        except Exception as error:  # as in `_image`
            raise ValueError(f"the image cannot be read: {error}") from error
        return size


@contextmanager
def opened(source: str | bytes) -> "Iterator[Image]":
    """The image, of which only the header has been read; a `ValueError` says why there is none."""
    with _file(source) as file:
        yield _image(file)


def _image(file: BinaryIO) -> "Image":
    from PIL import Image, UnidentifiedImageError

    try:
        image = Image.open(file, formats=FORMATS)
    except UnidentifiedImageError:
        raise ValueError(f"the image cannot be read: it is none of {', '.join(FORMATS)}") from None
    except Exception as error:  # a broken file makes Pillow raise errors of any kind
        raise ValueError(f"the image cannot be read: {error}") from error
    if image.width * image.height > PIXELS:
        raise ValueError(f"the image has more than {PIXELS:,} pixels: give it as [width, height]")
    return image


def _file(source: str | bytes) -> BinaryIO:
    if isinstance(source, bytes):
        return io.BytesIO(source)
    if source.startswith(URI):
        return io.BytesIO(_decoded(source))
    folders = _folders.get()
    path = source if folders is None else _inside(source, folders)
    try:
        return _regular(path)
    except OSError as error:
        raise ValueError(f"the image cannot be read: {error.strerror or error}") from error


def _decoded(uri: str) -> bytes:
    head, _, data = uri.partition(",")
    if not head.endswith(";base64"):
        raise ValueError("the image's bytes must be written as data:image/png;base64,…")
    if len(data) > BYTES // 3 * 4:
        raise ValueError(f"the image has more than {BYTES:,} bytes: give it as [width, height]")
    try:
        return b64decode(data, validate=True)
    except ValueError as error:
        raise ValueError(f"the image's bytes are not base64: {error}") from error


def _regular(path: str) -> BinaryIO:
    """The opened file. Others than regular ones are not even opened: that may block, or do harm."""
    _check(Path(path).stat())
    # Between the two looks it may have become a pipe, which must not block.
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _check(os.fstat(file))
        return os.fdopen(file, "rb")
    except BaseException:
        os.close(file)
        raise


def _check(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise ValueError("the image cannot be read: it is not a regular file")
    if found.st_size > BYTES:
        raise ValueError(f"the image has more than {BYTES:,} bytes: give it as [width, height]")
    if not found.st_size:  # so are all files of /proc, and to read some of them blocks
        raise ValueError("the image cannot be read: the file is empty")


def _inside(path: str, folders: Sequence[Path]) -> str:
    """Where a path leads, of the folders and the working directory; it must stay in a folder."""
    if not folders:
        raise ValueError(
            "no files are read here: send the image's size as [width, height], or its bytes as "
            f'"{URI}png;base64,…"'
        )
    starts = [*map(os.path.abspath, folders), os.getcwd()]  # noqa: PTH109
    real = [_real(path, start, folder) for folder in folders for start in starts]
    inside = [found for found in real if found is not None]
    if not inside:
        raise ValueError("the image cannot be read: its path leaves the folder of images")
    return next(filter(os.path.exists, inside), inside[0])


def _real(path: str, start: str, folder: Path) -> str | None:
    """Return a path from `start` on, without symbolic links; None if it leaves the folder.

    It is checked as it is written, and only then as it is on the disk: what lies outside is not
    looked at, so that nobody can find out what there is.
    """
    root = os.path.realpath(folder)
    written = os.path.normpath(os.path.join(start, path))  # noqa: PTH118
    if not any(_is_below(written, one) for one in (root, os.path.abspath(folder))):  # noqa: PTH100
        return None
    real = os.path.realpath(written)
    return real if _is_below(real, root) else None


def _is_below(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder


_THINNEST = 200  # the processors refuse an image whose one side is longer than this many others


@dataclass(frozen=True)
class Resize:
    """How an image processor resizes.

    patch: the side of a patch, in pixels
    merge: how many patches in each direction make a token
    min_pixels, max_pixels: between which the area of the resized image is kept
    """

    patch: int
    merge: int
    min_pixels: int
    max_pixels: int

    def grid(self, size: Size) -> list[int]:
        """[frames, rows, columns] of an image of this width and height."""
        width, height = self.resized(size)
        return [1, height // self.patch, width // self.patch]

    def resized(self, size: Size) -> Size:
        """The width and height after resizing: those of `smart_resize` in transformers."""
        width, height = size
        if max(size) > _THINNEST * min(size):
            raise ValueError(
                f"an image of {width} x {height} is too thin for the model's image processor: "
                f"no side may be more than {_THINNEST} times the other"
            )
        step = self.patch * self.merge
        across, down = round(width / step) * step, round(height / step) * step
        if across * down > self.max_pixels:
            shrink = sqrt(width * height / self.max_pixels)
            across, down = (max(step, floor(s / shrink / step) * step) for s in size)
        elif across * down < self.min_pixels:
            grow = sqrt(self.min_pixels / (width * height))
            across, down = (ceil(s * grow / step) * step for s in size)
        return across, down


# As the models are published, in preprocessor_config.json.
MODELS = {
    "Qwen2-VL": Resize(patch=14, merge=2, min_pixels=56 * 56, max_pixels=3584 * 3584),
    "Qwen2.5-VL": Resize(patch=14, merge=2, min_pixels=56 * 56, max_pixels=3584 * 3584),
    "Qwen3-VL": Resize(patch=16, merge=2, min_pixels=256 * 256, max_pixels=4096 * 4096),
}


def resize_of(model: Any, **changes: Any) -> Resize:
    """How the images of a model are resized, with other numbers if some are passed."""
    if not isinstance(model, str) or model not in MODELS:
        raise ValueError(f"model must be one of {', '.join(MODELS)}, got {model!r:.80}")
    numbers = {f.name: getattr(MODELS[model], f.name) for f in fields(Resize)}
    for name, value in changes.items():
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} must be a whole number above 0, got {value!r:.80}")
        numbers[name] = value
    if numbers["min_pixels"] > numbers["max_pixels"]:
        raise ValueError(
            f"min_pixels must not be above max_pixels, got {numbers['min_pixels']} and "
            f"{numbers['max_pixels']}"
        )
    return Resize(**numbers)
