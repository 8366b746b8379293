"""Paths and URLs in, files to read and folders to write out: on this machine, or in the storage of
a cluster.

    rollouts/a.jsonl             a path of this machine; file:///data/a.jsonl is one, too
    s3://bucket/rollouts/        objects; so are gs:// and abfs://
    hdfs://host:8020/rollouts/   files of a cluster
    anything else with ://       what fsspec opens, where it is installed

`pyarrow.fs` opens them: it comes with pyarrow, needs no other package for the first kinds (for
HDFS, Hadoop's client), takes the usual credentials, and any process of a cluster can open the same
URL by itself.
"""

import io
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol, cast
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pyarrow.fs as pafs

from plaudit.scoring._errors import InputError

ARROW = ("gs", "gcs", "hdfs", "viewfs", "abfs", "abfss")  # and s3, of which more is known here
WHOLE = ("s3", "gcs", "abfs")  # stores in which an object is there as a whole or not at all
ATTEMPTS = 5  # at a request
READ_AHEAD = 8 << 20  # bytes of a remote file that are asked for at once
CREDENTIALS = (
    "give credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in ~/.aws, or by a role of "
    "the machine; on Ray, every node needs them"
)
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SHORTENED = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/[^/]")  # what pathlib.Path makes of a URL
_GLOB = re.compile(r"[*\[]")
_AWS = re.compile(r"AWS Error (\w+) during (\w+) operation: (.*?)(?: \(Request ID: .*)?$", re.S)


def is_url(name: str) -> bool:
    """Whether a name is a URL of storage that other machines reach, too.

    >>> is_url("s3://bucket/a.jsonl"), is_url("rollouts/a.jsonl"), is_url("file:///data/a.jsonl")
    (True, False, False)
    """
    if url := was_url(name):
        raise InputError(f"pass {url} as text: pathlib.Path takes a / away")
    return bool(_URL.match(name)) and not name.startswith("file://")


def was_url(path: str) -> str:
    """The URL of which somebody made a path; "" for a path or a URL.

    >>> was_url(str(Path("s3://bucket/scored"))), was_url("scored")
    ('s3://bucket/scored', '')
    """
    is_short = _SHORTENED.match(path) and not Path(path).exists()
    return path.replace(":/", "://", 1) if is_short else ""


def local_path(name: str) -> Path:
    """The path of this machine that a name means.

    >>> local_path("file:///data/a.jsonl").name
    'a.jsonl'
    """
    return Path(name.removeprefix("file://"))


class RemoteFile(NamedTuple):
    """A file that a URL names.

    name: below the folder that was asked for; "" if it was asked for itself
    changed: when, as text, where the storage says so
    """

    url: str
    name: str
    size: int
    changed: str


def remote_files(url: str) -> list[RemoteFile]:
    """The files that a URL names: one, those below a folder, or those that match a pattern."""
    base, pattern, query = _parts(url)
    with told(url):
        system, root = _opened(f"{base}{query}")
        root = root.rstrip("/")
        about = system.get_file_info(root)
        if about.type == pafs.FileType.File and not pattern:
            return [_remote_file(url, "", about)]
        # A folder of an object store is there as soon as an object is below it.
        below = pafs.FileSelector(root, recursive=True, allow_not_found=True)
        infos = [one for one in system.get_file_info(below) if one.type == pafs.FileType.File]
    found = {one.path[len(root) :]: one for one in infos}
    wanted = [name for name in found if not pattern or _matches(name, pattern)]
    if not wanted:
        raise InputError(f"there is no {url}")
    wanted.sort(key=lambda name: name.split("/"))
    return [_remote_file(f"{base}{name}{query}", name, found[name]) for name in wanted]


def _parts(url: str) -> tuple[str, str, str]:
    """The folder of a URL, the pattern below it, if there is one, and what follows its ?."""
    address, mark, query = url.partition("?")
    path = urlsplit(address).path
    glob = _GLOB.search(path)
    start = path.rindex("/", 0, glob.start()) if glob else len(path)
    base = address[: len(address) - len(path) + start].rstrip("/")
    return base, path[start:] if glob else "", f"{mark}{query}"


def _matches(name: str, pattern: str) -> bool:
    parts, wanted = name.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def _remote_file(url: str, name: str, about: Any) -> RemoteFile:
    changed = about.mtime.isoformat() if about.mtime else ""
    return RemoteFile(url, name, about.size or 0, changed)


def open_input(path: str | Path) -> BinaryIO:
    """A file to read, here or elsewhere."""
    if isinstance(path, Path) or not is_url(path):
        return Path(path).open("rb")
    with told(path):
        raw: Any = open_arrow(path)
        return cast("BinaryIO", io.BufferedReader(raw, READ_AHEAD))


def open_arrow(url: str) -> Any:
    """A remote file as Arrow reads it."""
    system, path = _opened(url)
    return system.open_input_file(path)


def _opened(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    parts = urlsplit(url)
    if parts.scheme == "s3":
        return _s3(parts.netloc, _s3_settings(parts.query)), f"{parts.netloc}{parts.path}"
    if parts.scheme in ARROW:
        system, path = pafs.FileSystem.from_uri(url)
        return system, str(path)
    return _by_fsspec(url)


def _s3_settings(query: str) -> tuple[tuple[str, str], ...]:
    """What a URL says after its ?, else the environment: Arrow does not ask that for all of it."""
    named = {
        "endpoint_override": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
        "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
    }
    found = {
        name: next(filter(None, map(os.environ.get, variables)), None)
        for name, variables in named.items()
    }
    given = {name: values[-1] for name, values in parse_qs(query).items()}
    if unknown := [name for name in given if name not in named]:
        known = " and ".join(named)
        raise InputError(f"?{unknown[0]}= is not known: after its ? a URL of S3 may have {known}")
    found |= given
    return tuple((name, value) for name, value in sorted(found.items()) if value)


@lru_cache(maxsize=16)  # to connect takes longer than to read
def _s3(bucket: str, settings: tuple[tuple[str, str], ...]) -> Any:
    """S3 itself, or a store that speaks as it does, at `endpoint_override`."""
    given: dict[str, Any] = dict(settings)
    if not given.keys() & {"region", "endpoint_override"}:
        given["region"] = pafs.resolve_s3_region(bucket)
    given["retry_strategy"] = pafs.AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS)
    try:
        return pafs.S3FileSystem(**given, allow_delayed_open=True)  # one request for a small part
    except TypeError:  # an older pyarrow
        return pafs.S3FileSystem(**given)


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


@contextmanager
def told(url: str) -> Iterator[None]:
    """Raise InputError for what a person can change: a name, credentials, an address."""
    try:
        yield
    except (OSError, pa.ArrowInvalid, TypeError) as error:
        raise InputError(f"cannot open {url}: {why(error)}") from error


def why(error: BaseException) -> str:
    """What went wrong in storage, and what to do about it.

    >>> why(OSError("When …: AWS Error NO_SUCH_BUCKET during PutObject operation: No such bucket"))
    'No such bucket (NO_SUCH_BUCKET, PutObject)'
    """
    if isinstance(error, OSError) and error.strerror and "AWS Error" not in error.strerror:
        return error.strerror
    found = _AWS.search(str(error))
    if found is None:
        return " ".join(str(error).split())
    code, operation, said = found.groups()
    text = f"{' '.join(said.split())} ({code}, {operation})"
    if code == "NETWORK_CONNECTION":
        return f"{text}: for a store other than AWS, say where it is in AWS_ENDPOINT_URL"
    is_denied = "ACCESS" in code or "SIGNATURE" in code or "TOKEN" in code or "CRED" in code
    return f"{text}: {CREDENTIALS}" if is_denied or "403" in text else text


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
        with told(url):
            self._system, path = _opened(url)
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
        whole = content if isinstance(content, bytes) else b"".join(content)
        if self._system.type_name in WHOLE:
            self._put(path, whole)
            return
        unfinished = f"{self._root}/{self._unfinished}/{Path(name).name}.unfinished"
        self._system.create_dir(f"{self._root}/{self._unfinished}", recursive=True)
        self._put(unfinished, whole)
        if self._system.get_file_info(path).type == pafs.FileType.File:
            self._system.delete_file(path)
        self._system.move(unfinished, path)

    def _put(self, path: str, content: bytes) -> None:
        with self._system.open_output_stream(path, compression=None) as file:
            file.write(content)

    def remove(self, pattern: str) -> None:
        folder, _, own = pattern.rpartition("/")
        if "*" in folder:
            return  # of a report, which is written on a machine alone
        for name in self.names(folder):
            if Path(name).match(own):
                self._system.delete_file(f"{self._root}/{folder}/{name}".replace("//", "/"))

    def remove_folder(self, name: str) -> None:
        with suppress(OSError):  # what is left there does no harm
            self._system.delete_dir(f"{self._root}/{name}")
