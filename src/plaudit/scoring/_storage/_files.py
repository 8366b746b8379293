"""Paths and URLs in, files to read out: on this machine, or in the storage of a cluster.

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
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast
from urllib.parse import parse_qs, unquote

import pyarrow as pa
import pyarrow.fs as pafs

from plaudit.scoring._errors import InputError
from plaudit.scoring._storage._errors import raising_input_errors, raising_storage_errors
from plaudit.scoring._storage._remote_input import RemoteInput

ARROW = ("gs", "gcs", "hdfs", "viewfs", "abfs", "abfss")  # pyarrow opens these, and s3: see `_s3`
BUCKETS = ("s3", "gs", "gcs")
ATTEMPTS = 5  # at a request
GS_SECONDS = 15  # in which to try a request to gs://; Arrow itself tries for 15 minutes
BUFFER = 1 << 16  # bytes of a remote file, for readers that ask for few
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_FILE = re.compile(r"file:(?=/)(?://(?:localhost(?=/))?)?", re.I)
_SHORTENED = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/[^/]")  # what pathlib.Path makes of a URL
_GLOB = re.compile(r"[*\[]")
_SETTINGS = re.compile(r"\?\w+=[^?]*$")


def is_url(name: str) -> bool:
    """Whether a name is a URL of storage that other machines reach, too.

    >>> is_url("s3://bucket/a.jsonl"), is_url("rollouts/a.jsonl"), is_url("file:///data/a.jsonl")
    (True, False, False)
    """
    if url := was_url(name):
        raise InputError(f"did you mean {url}? A pathlib.Path loses a /: pass it as text")
    return bool(_URL.match(name)) and not _FILE.match(name)


def was_url(path: str) -> str:
    """The URL that `pathlib.Path` made this path of; "" if it is another path, or a URL.

    >>> was_url(str(Path("s3://bucket/scored"))), was_url("scored")
    ('s3://bucket/scored', '')
    """
    is_short = _SHORTENED.match(path) and not _FILE.match(path) and not Path(path).exists()
    return path.replace(":/", "://", 1) if is_short else ""


def local_path(name: str) -> Path:
    """The path of this machine that a name means; raises InputError for an empty one.

    >>> local_path("file:///data/my%20rows.jsonl").name
    'my rows.jsonl'
    """
    if not name:  # of a variable of the shell that is not set; Path("") would be this folder
        raise InputError('the name of a file or folder is empty; the current folder is "."')
    found = _FILE.match(name)
    return Path(unquote(name[found.end() :])) if found else Path(name)


def folder_url(url: str) -> str:
    """The URL of a folder as every process writes it: without a / at its end.

    >>> folder_url("S3://bucket/scored/?region=eu-west-1")
    's3://bucket/scored?region=eu-west-1'
    """
    start, path, settings = _url(url)
    return f"{start}{path.rstrip('/')}{settings}"


def url_in(name: str) -> str:
    """The URL that a name is, or was before `pathlib.Path` took a / away; "" for other names.

    >>> url_in(str(Path("s3://bucket/scored"))), url_in("s3://bucket/scored"), url_in("scored")
    ('s3://bucket/scored', 's3://bucket/scored', '')
    """
    return was_url(name) or (name if is_url(name) else "")


def path_here(name: str | os.PathLike[str]) -> Path:
    """The path of this machine that a name means; raises InputError for a URL.

    >>> path_here("s3://bucket/checked")
    Traceback (most recent call last):
    ...
    plaudit.scoring._errors.InputError: s3://bucket/checked cannot be written from here: name a \
path of this machine, and copy what is written there
    """
    if url := url_in(os.fspath(name)):
        raise InputError(
            f"{url} cannot be written from here: name a path of this machine, and copy what is "
            "written there"
        )
    return local_path(os.fspath(name))


class RemoteFile(NamedTuple):
    """A file that a URL names.

    name: its path below the folder that was asked for; "" if the file itself was asked for
    changed: when it was last changed, as text; "" if the storage does not say
    """

    url: str
    name: str
    size: int
    changed: str


def remote_files(url: str) -> list[RemoteFile]:
    """The files that a URL names: one, those below a folder, or those that match a pattern."""
    start, path, settings = _url(url)
    folder, pattern = _pattern_in(path)
    with raising_input_errors(url):
        system, root = opened(f"{start}{folder}{settings}")
        root = root.rstrip("/")
        about = system.get_file_info(opened(url)[1].rstrip("/"))
        if about.type == pafs.FileType.File:  # its name may look like a pattern
            return [_remote_file(url, "", about)]
        # A folder of an object store is there as soon as an object is below it. To look into all
        # folders of a bucket takes long, and a pattern says how deep they are.
        is_deep = not pattern or pattern.count("/") > 1
        below = pafs.FileSelector(root, recursive=is_deep, allow_not_found=True)
        infos = [one for one in system.get_file_info(below) if one.type == pafs.FileType.File]
    found = {one.path[len(root) :]: one for one in infos}
    wanted = [name for name in found if not pattern or _matches(name, pattern)]
    if not wanted:
        raise InputError(f"there is no {url}")
    wanted.sort(key=lambda name: name.split("/"))
    return [_remote_file(f"{start}{folder}{name}{settings}", name, found[name]) for name in wanted]


class _Url(NamedTuple):
    """The parts of a URL; each may be empty.

    start: its scheme and its host, bucket or container
    settings: what follows the path, with its ?

    >>> _url("s3://bucket/a?.jsonl?region=eu-west-1")
    _Url(start='s3://bucket', path='/a?.jsonl', settings='?region=eu-west-1')
    """

    start: str
    path: str
    settings: str


def _url(url: str) -> _Url:
    """The parts of a URL. Nothing in its path is quoted: # and % are what they are in a name."""
    scheme, _, rest = without_settings(url).partition("://")
    host, mark, path = rest.partition("/")
    return _Url(f"{scheme.lower()}://{host}", mark + path, url[len(without_settings(url)) :])


def without_settings(url: str) -> str:
    """A URL without what follows its ?.

    >>> without_settings("s3://bucket/a.jsonl?region=eu-west-1")
    's3://bucket/a.jsonl'
    """
    return _SETTINGS.sub("", url)


def _pattern_in(path: str) -> tuple[str, str]:
    """The folder of a path, and the pattern below it, if there is one."""
    glob = _GLOB.search(path)
    start = path.rindex("/", 0, glob.start()) if glob else len(path)
    return path[:start].rstrip("/"), path[start:] if glob else ""


def _matches(name: str, pattern: str) -> bool:
    parts, wanted = name.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def _remote_file(url: str, name: str, about: Any) -> RemoteFile:
    changed = about.mtime.isoformat() if about.mtime else ""
    return RemoteFile(url, name, about.size or 0, changed)


def open_input(path: str | Path, end: int | None = None) -> BinaryIO:
    """A file to read from front to back, local or remote; `end`: where reading probably stops."""
    if isinstance(path, Path) or not is_url(path):
        return Path(path).open("rb")
    raw: Any = RemoteInput(path, _remote(path), ahead=True, end=end)
    return cast("BinaryIO", io.BufferedReader(raw, BUFFER))


def open_arrow(url: str) -> Any:
    """A remote file for Arrow, which reads it at scattered places."""
    return pa.PythonFile(RemoteInput(url, _remote(url), ahead=False), "r")


def read_bytes(path: str, start: int, size: int) -> bytes:
    """Some bytes of a file, and no others; fewer at its end."""
    with raising_storage_errors(path):
        if not is_url(path):
            with Path(path).open("rb") as file:
                file.seek(start)
                return file.read(size)
        with _remote(path) as remote:
            found: bytes = remote.read_at(size, start)
    return found


def _remote(url: str) -> Any:
    with raising_storage_errors(url):
        system, path = opened(url)
        return system.open_input_file(path)


def opened(url: str, at_once: bool = True) -> tuple[Any, str]:
    """The file system of a URL, and the path in it; `at_once`: see `_s3`."""
    start, path, settings = _url(url)
    scheme, _, host = start.partition("://")
    if not host and scheme in BUCKETS:
        raise InputError(f"{url} names no bucket: expected {scheme}://BUCKET/PATH")
    if scheme == "s3":
        return _s3(host, _s3_settings(settings.removeprefix("?")), at_once), f"{host}{path}"
    if scheme in ARROW:
        system, root = _by_arrow(start, settings)
        return system, f"{root}{path}"
    return _by_fsspec(url)


@lru_cache(maxsize=16)
def _by_arrow(start: str, settings: str) -> tuple[Any, str]:
    """The file system of a host, bucket or container, and where it begins."""
    if start.startswith(("gs://", "gcs://")) and "retry_limit_seconds" not in settings:
        settings = f"{settings}{'&' if settings else '?'}retry_limit_seconds={GS_SECONDS}"
    system, root = pafs.FileSystem.from_uri(f"{start}/{settings}")
    return system, str(root).rstrip("/")


def _s3_settings(query: str) -> tuple[tuple[str, str], ...]:
    """The settings after the ? of a URL, else those of the environment that Arrow does not read."""
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
def _s3(bucket: str, settings: tuple[tuple[str, str], ...], at_once: bool = True) -> Any:
    """S3 itself, or a store that speaks as it does, at `endpoint_override`.

    at_once: whether a small object is written by one request
    """
    given: dict[str, Any] = dict(settings)
    if not given.keys() & {"region", "endpoint_override"}:
        given["region"] = pafs.resolve_s3_region(bucket)
    given["retry_strategy"] = pafs.AwsStandardS3RetryStrategy(max_attempts=ATTEMPTS)
    try:
        return pafs.S3FileSystem(**given, allow_delayed_open=at_once)
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
