"""Paths and URLs in; files to read and folders to write out: here, or in the storage of a cluster.

`_files` opens what is read, with `_remote_input` where it is remote; `_folder` writes; `_errors`
says what a person can do where storage fails.
"""

from plaudit.scoring._storage._errors import raising_input_errors, why
from plaudit.scoring._storage._files import (
    RemoteFile,
    folder_url,
    is_url,
    local_path,
    open_arrow,
    open_input,
    path_here,
    read_bytes,
    remote_files,
    url_in,
    without_settings,
)
from plaudit.scoring._storage._folder import Folder, folder_at

__all__ = [
    "Folder",
    "RemoteFile",
    "folder_at",
    "folder_url",
    "is_url",
    "local_path",
    "open_arrow",
    "open_input",
    "path_here",
    "raising_input_errors",
    "read_bytes",
    "remote_files",
    "url_in",
    "why",
    "without_settings",
]
