"""What storage raises in; what a person can do about it, as text, out."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from plaudit.scoring._errors import InputError, StorageError

CREDENTIALS = (
    "give credentials in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in ~/.aws, or by a role of "
    "the machine; on Ray, every node needs them"
)
HADOOP = "Hadoop's client: set JAVA_HOME, HADOOP_HOME, and CLASSPATH by `hadoop classpath --glob`"
_AWS = re.compile(r"AWS Error (\w+) during (\w+) operation: (.*?)(?: \(Request ID: .*)?$", re.S)


def why(error: BaseException) -> str:
    """What went wrong in storage, and what to do about it.

    >>> why(OSError("When …: AWS Error NO_SUCH_BUCKET during PutObject operation: No such bucket"))
    'No such bucket (NO_SUCH_BUCKET, PutObject)'
    """
    if isinstance(error, OSError) and error.strerror and "AWS Error" not in error.strerror:
        return error.strerror
    if re.search("libjvm|libhdfs", str(error)):
        return f"hdfs:// needs Java and {HADOOP}"
    found = _AWS.search(str(error))
    if found is None:
        return " ".join(str(error).split())
    code, operation, said = found.groups()
    text = f"{' '.join(said.split())} ({code}, {operation})".lstrip()
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
    """Raise StorageError where a file cannot be read: it is there and whole, as far as is known."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"cannot read {path}: {why(error)}") from error
