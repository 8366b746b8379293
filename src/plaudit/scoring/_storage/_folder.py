"""A folder to write, and to read again: on this machine, or in the storage of a cluster.

Each file is there as a whole or not at all.
"""

import mmap
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

import pyarrow.fs as pafs

from plaudit.scoring._storage._errors import raising_input_errors
from plaudit.scoring._storage._files import opened

WHOLE = ("s3", "gcs", "abfs")  # stores in which an object is there as a whole or not at all
ONE_REQUEST = 5_000_000  # bytes: a smaller object is written to S3 by one request


class Folder(Protocol):
    """A folder that a run writes; names are relative to it.

    unfinished: a folder in it, for files that are being written
    """

    def names(self, folder: str = "") -> list[str]:
        """The files in a folder of it, sorted, without those of folders inside."""
        ...

    def read(self, name: str) -> bytes: ...

    def write(self, name: str, content: bytes | Iterable[bytes]) -> None:
        """Write a file that is there as a whole or not at all."""
        ...

    def remove(self, pattern: str) -> None:
        """Remove the files that match a pattern."""
        ...

    def remove_folder(self, name: str) -> None: ...


def folder_at(path: Path | str, unfinished: str) -> Folder:
    """The folder that a path or a URL names; it need not be there."""
    if isinstance(path, Path):
        return LocalFolder(path, unfinished)
    return RemoteFolder(path, unfinished)


class LocalFolder:
    """A folder of this machine: files are written under another name, made durable, renamed."""

    def __init__(self, path: Path, unfinished: str) -> None:
        self._path = path
        self._unfinished = path / unfinished

    def names(self, folder: str = "") -> list[str]:
        here = self._path / folder
        found = here.iterdir() if here.is_dir() else ()
        return sorted(path.name for path in found if path.is_file())

    def read(self, name: str) -> bytes:
        return (self._path / name).read_bytes()

    def write(self, name: str, content: bytes | Iterable[bytes]) -> None:
        unfinished = self._unfinished / f"{Path(name).name}.unfinished"
        try:
            with unfinished.open("wb") as file:
                file.writelines([content] if isinstance(content, bytes) else content)
                file.flush()
                os.fsync(file.fileno())  # whole even after a power cut
            unfinished.replace(self._path / name)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise

    def remove(self, pattern: str) -> None:
        for file in self._path.glob(pattern):
            file.unlink()

    def remove_folder(self, name: str) -> None:
        shutil.rmtree(self._path / name, ignore_errors=True)


class RemoteFolder:
    """A folder in the storage of a cluster.

    A store of objects shows an object when all of it is there. Elsewhere, as in HDFS, a file is
    written under another name and moved.
    """

    def __init__(self, url: str, unfinished: str) -> None:
        with raising_input_errors(url):
            self._system, path = opened(url)
            self._in_pieces, _ = opened(url, at_once=False)
        self._root, self._unfinished = path.rstrip("/"), unfinished

    def names(self, folder: str = "") -> list[str]:
        below = pafs.FileSelector(f"{self._root}/{folder}".rstrip("/"), allow_not_found=True)
        found = self._system.get_file_info(below)
        return sorted(one.base_name for one in found if one.type == pafs.FileType.File)

    def read(self, name: str) -> bytes:
        with self._system.open_input_file(f"{self._root}/{name}") as file:
            content: bytes = file.read()
        return content

    def write(self, name: str, content: bytes | Iterable[bytes]) -> None:
        if isinstance(content, bytes):
            self._write(name, content)
            return
        with _gathered(content) as whole:
            self._write(name, whole)

    def _write(self, name: str, content: bytes | mmap.mmap) -> None:
        path = f"{self._root}/{name}"
        if self._system.type_name in WHOLE:
            self._put(path, content)
            return
        unfinished = f"{self._root}/{self._unfinished}/{Path(name).name}.unfinished"
        self._system.create_dir(f"{self._root}/{self._unfinished}", recursive=True)
        self._put(unfinished, content)
        if self._system.get_file_info(path).type == pafs.FileType.File:
            self._system.delete_file(path)
        self._system.move(unfinished, path)

    def _put(self, path: str, content: bytes | mmap.mmap) -> None:
        # A file is closed, whatever happened, and what is closed is there. With S3, a write that
        # goes wrong before the first piece was sent would leave an empty object; so the upload of
        # what is sent in pieces is begun when it is opened. The content is written by one call:
        # an interrupt comes before it or after it.
        system = self._system if len(content) < ONE_REQUEST else self._in_pieces
        with system.open_output_stream(path, compression=None) as file:
            file.write(content)

    def remove(self, pattern: str) -> None:
        folder, _, own = pattern.rpartition("/")
        if "*" in folder:
            return  # a report, which is never written to remote storage
        for name in self.names(folder):
            if Path(name).match(own):
                self._system.delete_file(f"{self._root}/{folder}/{name}".replace("//", "/"))

    def remove_folder(self, name: str) -> None:
        with suppress(OSError):  # what is left there does no harm
            self._system.delete_dir(f"{self._root}/{name}")


@contextmanager
def _gathered(pieces: Iterable[bytes]) -> Iterator[bytes | mmap.mmap]:
    """The pieces as one buffer, backed by a temporary file: memory may not hold them all."""
    with tempfile.TemporaryFile() as file:
        file.writelines(pieces)
        file.flush()
        if not file.tell():
            yield b""
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            yield whole
