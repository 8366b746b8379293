"""Files to read and folders to write, on this machine or in the storage of a cluster.

A name is a path of this machine (file:///data/a.jsonl is one, too), a URL of S3 or of a store that
speaks as S3 does, or another URL, which fsspec opens if it is installed.
"""

import io
import mmap
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast
from urllib.parse import parse_qs, unquote

import pyarrow as pa
import pyarrow.fs as pafs

from plaudit.tables.errors import RESUME_HINT, InputError, StoppedError, StorageError

ATTEMPTS = 5  # at a request
BUFFER = 1 << 16  # bytes of a remote file, for readers that ask for few
ONE_REQUEST = 5_000_000  # bytes: a smaller object is written to S3 by one request
CREDENTIALS = (
    "give credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in ~/.aws, or by a role of "
    "the machine; on Ray, every node needs them"
)

_AWS = re.compile(r"AWS Error (\w+) during (\w+) operation: (.*?)(?: \(Request ID: .*)?$", re.S)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_FILE = re.compile(r"file:(?=/)(?://(?:localhost(?=/))?)?", re.I)
_SHORTENED = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/[^/]")  # what pathlib.Path makes of a URL
_GLOB = re.compile(r"[*\[]")
_SETTINGS = re.compile(r"\?\w+=[^?]*$")


# --- errors ---------------------------------------------------------------------------------------


def why(error: BaseException) -> str:
    """Return what went wrong in storage, and what to do about it."""
    if isinstance(error, OSError) and error.strerror and "AWS Error" not in error.strerror:
        return error.strerror
    found = _AWS.search(str(error))
    if found is None:
        return " ".join(str(error).split())
    code, operation, message = found.groups()
    text = f"{' '.join(message.split())} ({code}, {operation})".lstrip()
    if code == "NETWORK_CONNECTION":
        return f"{text}: for a store other than AWS, say where it is in AWS_ENDPOINT_URL"
    is_denied = "ACCESS" in code or "SIGNATURE" in code or "TOKEN" in code or "CRED" in code
    return f"{text}: {CREDENTIALS}" if is_denied or "403" in text else text


@contextmanager
def raising_input_errors(url: str) -> Iterator[None]:
    """Raise InputError for what a person can change: a name, credentials, an address."""
    try:
        yield
    except StorageError as error:
        raise InputError(str(error)) from error
    except (OSError, pa.ArrowInvalid, TypeError) as error:
        raise InputError(f"cannot open {url}: {why(error)}") from error


@contextmanager
def raising_storage_errors(path: str) -> Iterator[None]:
    """Raise StorageError if a file cannot be read just now, which is no fault of the file."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"cannot read {path}: {why(error)}") from error


@contextmanager
def stopping_on_system_errors(hint: str = RESUME_HINT) -> Iterator[None]:
    """Raise StoppedError if memory, descriptors or the like run out; `hint` says what to do."""
    try:
        yield
    except StorageError as error:
        raise StoppedError(f"{error}. {hint}") from error
    except sqlite3.OperationalError as error:  # of a full disk, for example
        raise StoppedError(f"cannot continue: {error}. {hint}") from error
    except MemoryError as error:
        raise StoppedError(f"there is too little memory. {hint}") from error
    except BrokenPipeError:
        raise  # nobody reads the output: the command line exits without a message
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise StoppedError(f"cannot continue: {why(error)}{where}. {hint}") from error


# --- names ----------------------------------------------------------------------------------------


def is_url(name: str) -> bool:
    """Return whether a name is a URL of storage that other machines reach, too."""
    if url := _shortened_url(name):
        raise InputError(f"did you mean {url}? A pathlib.Path loses a /: pass it as text")
    return bool(_URL.match(name)) and not _FILE.match(name)


def _shortened_url(path: str) -> str:
    """Return the URL that `pathlib.Path` made this path of; "" if it is another path, or a URL."""
    is_short = _SHORTENED.match(path) and not _FILE.match(path) and not Path(path).exists()
    return path.replace(":/", "://", 1) if is_short else ""


def url_in(name: str) -> str:
    """Return the URL that a name is, or was before it became a Path; "" for other names."""
    return _shortened_url(name) or (name if is_url(name) else "")


def local_path(name: str) -> Path:
    """Return the path of this machine that a name means; raise InputError for an empty one."""
    if not name:  # of a variable of the shell that is not set; Path("") would be this folder
        raise InputError('the name of a file or folder is empty; the current folder is "."')
    found = _FILE.match(name)
    return Path(unquote(name[found.end() :])) if found else Path(name)


def path_here(name: str | os.PathLike[str]) -> Path:
    """Return the path of this machine that a name means; raise InputError for a URL."""
    if url := url_in(os.fspath(name)):
        raise InputError(
            f"{url} cannot be written from here: name a path of this machine, and copy what is "
            "written there"
        )
    return local_path(os.fspath(name))


def folder_url(url: str) -> str:
    """Return the URL of a folder as every process writes it: without a / at its end."""
    start, path, settings = _split(url)
    return f"{start}{path.rstrip('/')}{settings}"


def _split(url: str) -> tuple[str, str, str]:
    """Return scheme and host, path, and what follows it from the ? on.

    Nothing in the path is quoted: # and % are what they are in a name.
    """
    scheme, _, rest = without_settings(url).partition("://")
    host, mark, path = rest.partition("/")
    return f"{scheme.lower()}://{host}", mark + path, url[len(without_settings(url)) :]


def without_settings(url: str) -> str:
    """Return a URL without what follows its ?."""
    return _SETTINGS.sub("", url)


# --- files to read --------------------------------------------------------------------------------


class RemoteFile(NamedTuple):
    """A file that a URL names."""

    url: str
    name: str  # its path below the folder that was asked for; "" if the file itself was asked for
    size: int
    changed: str  # when it was last changed, as text; "" if the storage does not say


def remote_files(url: str) -> list[RemoteFile]:
    """Return the files that a URL names: one, those below a folder, or those of a pattern."""
    start, path, settings = _split(url)
    glob = _GLOB.search(path)
    cut = path.rindex("/", 0, glob.start()) if glob else len(path)
    folder, pattern = path[:cut].rstrip("/"), path[cut:]
    with raising_input_errors(url):
        system, root = opened(f"{start}{folder}{settings}")
        root = root.rstrip("/")
        about = system.get_file_info(opened(url)[1].rstrip("/"))
        if about.type == pafs.FileType.File:  # its name may look like a pattern
            return [_remote_file(url, "", about)]
        # A folder of an object store is there as soon as an object is below it. To look into all
        # folders of a bucket takes long, and a pattern says how deep they are.
        is_deep = not glob or pattern.count("/") > 1
        below = pafs.FileSelector(root, recursive=is_deep, allow_not_found=True)
        infos = [one for one in system.get_file_info(below) if one.type == pafs.FileType.File]
    found = {one.path[len(root) :]: one for one in infos}
    wanted = [name for name in found if not glob or _matches(name, pattern)]
    if not wanted:
        raise InputError(f"there is no {url}")
    wanted.sort(key=lambda name: name.split("/"))
    return [_remote_file(f"{start}{folder}{name}{settings}", name, found[name]) for name in wanted]


def _matches(name: str, pattern: str) -> bool:
    parts, wanted = name.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def _remote_file(url: str, name: str, about: Any) -> RemoteFile:
    changed = about.mtime.isoformat() if about.mtime else ""
    return RemoteFile(url, name, about.size or 0, changed)


class RemoteInput(io.RawIOBase):
    """A remote file, read as Python reads a file.

    Storage that does not answer raises StorageError, never OSError, so that nobody takes it for a
    file that is damaged and whose rows are lost.
    """

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        with raising_storage_errors(url):
            system, path = opened(url)
            self._file = system.open_input_file(path)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return int(self._file.tell())

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with raising_storage_errors(self._url):
            return int(self._file.seek(offset, whence))

    def readinto(self, buffer: Any) -> int:
        with raising_storage_errors(self._url):
            found = self._file.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        if not self.closed and hasattr(self, "_file"):
            self._file.close()
        super().close()


def open_input(path: str | Path, buffer: int = BUFFER) -> BinaryIO:
    """Open a file to read, local or remote; `buffer`: how many bytes to ask a store for."""
    if isinstance(path, Path) or not is_url(path):
        return Path(path).open("rb")
    raw: Any = RemoteInput(path)
    return cast("BinaryIO", io.BufferedReader(raw, buffer))


# --- file systems ---------------------------------------------------------------------------------


def opened(url: str, at_once: bool = True) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it; `at_once`: see `_s3`."""
    start, path, settings = _split(url)
    scheme, _, bucket = start.partition("://")
    if scheme != "s3":
        return _by_fsspec(url)
    if not bucket:
        raise InputError(f"{url} names no bucket: expected s3://BUCKET/PATH")
    return _s3(bucket, _s3_settings(settings.removeprefix("?")), at_once), f"{bucket}{path}"


def _s3_settings(query: str) -> tuple[tuple[str, str], ...]:
    """Return what follows the ? of a URL, else what Arrow does not read of the environment."""
    named = {
        "endpoint_override": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
        "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
    }
    found = {
        name: next(filter(None, map(os.environ.get, variables)), None)
        for name, variables in named.items()
    }
    settings = {name: values[-1] for name, values in parse_qs(query).items()}
    if unknown := [name for name in settings if name not in named]:
        known = " and ".join(named)
        raise InputError(f"?{unknown[0]}= is not known: after its ? a URL of S3 may have {known}")
    found |= settings
    return tuple((name, value) for name, value in sorted(found.items()) if value)


@lru_cache(maxsize=16)  # to connect takes longer than to read
def _s3(bucket: str, settings: tuple[tuple[str, str], ...], at_once: bool = True) -> Any:
    """Open S3, or a store that speaks as it does; `at_once`: write small objects by one request."""
    options: dict[str, Any] = dict(settings)
    if not options.keys() & {"region", "endpoint_override"}:
        options["region"] = pafs.resolve_s3_region(bucket)
    options["retry_strategy"] = pafs.AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS)
    try:
        return pafs.S3FileSystem(**options, allow_delayed_open=at_once)
    except TypeError:  # an older pyarrow
        return pafs.S3FileSystem(**options)


def _by_fsspec(url: str) -> tuple[Any, str]:
    scheme = url.partition("://")[0]
    try:
        import fsspec
    except ModuleNotFoundError as error:
        raise InputError(
            f"{url} is opened with fsspec: pip install fsspec, and what it needs for {scheme}://"
        ) from error
    try:
        system, path = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:  # it names the package that is missing
        raise InputError(f"cannot open {url}: {error}") from error
    return pafs.PyFileSystem(pafs.FSSpecHandler(system)), str(path)


# --- folders to write -----------------------------------------------------------------------------


class LocalFolder:
    """A folder of this machine: files are written under another name, made durable, renamed.

    unfinished: a folder in it, for files that are being written
    """

    def __init__(self, path: Path, unfinished: str) -> None:
        self._path = path
        self._unfinished = path / unfinished

    def names(self, folder: str = "") -> list[str]:
        """Return the files in a folder of it, without those of folders inside."""
        here = self._path / folder
        found = here.iterdir() if here.is_dir() else ()
        return sorted(path.name for path in found if path.is_file())

    def read(self, name: str) -> bytes:
        """Return the bytes of a file."""
        return (self._path / name).read_bytes()

    def write(self, name: str, content: bytes | Iterable[bytes]) -> None:
        """Write a file that is there as a whole or not at all."""
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
        """Remove the files that match a pattern."""
        for file in self._path.glob(pattern):
            file.unlink()

    def remove_folder(self, name: str) -> None:
        """Remove a folder with all that is in it."""
        shutil.rmtree(self._path / name, ignore_errors=True)


class RemoteFolder:
    """The same in the storage of a cluster.

    S3 shows an object when all of it is there. Elsewhere, a file is written under another name and
    moved.
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
        path = f"{self._root}/{name}"
        with _gathered(content) as whole:
            if self._system.type_name == "s3":
                self._put(path, whole)
                return
            unfinished = f"{self._root}/{self._unfinished}/{Path(name).name}.unfinished"
            self._system.create_dir(f"{self._root}/{self._unfinished}", recursive=True)
            self._put(unfinished, whole)
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


Folder = LocalFolder | RemoteFolder


def folder_at(path: Path | str, unfinished: str) -> Folder:
    """Return the folder that a path or a URL names; it need not be there."""
    kind = LocalFolder if isinstance(path, Path) else RemoteFolder
    return kind(path, unfinished)  # type: ignore[arg-type]


@contextmanager
def _gathered(content: bytes | Iterable[bytes]) -> Iterator[bytes | mmap.mmap]:
    """Give pieces as one buffer, backed by a temporary file: memory may not hold them all."""
    if isinstance(content, bytes):
        yield content
        return
    with tempfile.TemporaryFile() as file:
        file.writelines(content)
        file.flush()
        if not file.tell():
            yield b""
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            yield whole
