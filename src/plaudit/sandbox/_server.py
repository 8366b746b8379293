"""The process that boxes are forked from, with Python and the packages of programs imported.

It is started by exec, so it never sees the trainer's `__main__`, threads, memory or CUDA. Each
message asks for one more box, and has two sockets attached: one to the process that runs programs,
one to the process that runs tests. Both end when their socket is closed.

    server -> box (namespaces, file system) -> programs, first process of a world of its own
                                            -> tests, first process of another
"""

import gc
import importlib
import json
import logging
import os
import shutil
import signal
import socket
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from plaudit.processes import die_with_parent
from plaudit.sandbox import _child, _layers
from plaudit.sandbox._border import LENGTH
from plaudit.sandbox._box import SandboxBox

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main(descriptor: int, parent: int, settings: str) -> None:
    """Import, then make boxes until the caller is gone."""
    control = socket.socket(fileno=descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # boxes that end are not waited for
    die_with_parent(parent)
    os.environ.clear()
    os.environ.update(dict.fromkeys(THREADS, "1"))  # a thread of BLAS would be lost in a fork
    details = json.loads(settings)
    logging.disable()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _child.warm_up()
        for name in details["packages"]:
            with suppress(ImportError):
                importlib.import_module(name)
    logging.disable(logging.NOTSET)
    gc.collect()
    gc.freeze()
    control.sendall(b"!")
    while True:
        try:
            data, descriptors, _, _ = socket.recv_fds(control, 1, 2)
        except OSError:
            return
        if not data:
            return
        if len(descriptors) == 2:
            _fork(_make_box, control, details, descriptors)
        for one in descriptors:
            os.close(one)


def _fork(function: Any, *arguments: Any) -> int:
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        function(*arguments)
        code = 0
    finally:
        os._exit(code)


def _make_box(control: socket.socket, details: dict[str, Any], descriptors: list[int]) -> None:
    """Set up what the two processes of a box share, and wait until they end."""
    control.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    server = os.getppid()
    _layers.die_with(lambda: os.getppid() != server)
    layers: list[str] = details["layers"]
    # The process itself, as long as it lives, is what makes its user id unlike any other's.
    user = _layers.UNUSED_USER + os.getpid() if os.getuid() == 0 else None
    try:
        if "namespaces" in layers:
            _layers.enter_namespaces()
            _layers.build_root(details["disk"])
        else:
            if user is not None and not _readable_by_others():
                user = None
            details["folder"] = os.path.join(details["folder"], str(os.getpid()))
            os.mkdir(details["folder"])
            os.chmod(details["folder"], 0o777)  # the user of its programs is another
    except OSError as error:
        _refuse(descriptors, str(error))
        return
    to_program, to_tests = socket.socketpair()
    roles = [(descriptors[0], to_tests), (descriptors[1], to_program)]
    ended = []
    for role, (descriptor, other) in enumerate(roles):
        ended.append(
            _fork(_first_process, details, layers, user, descriptor, other, role == 0, descriptors)
        )
    for one in descriptors:
        os.close(one)
    to_program.close()
    to_tests.close()
    for process in ended:
        os.waitpid(process, 0)
    if "namespaces" not in layers:
        shutil.rmtree(details["folder"], ignore_errors=True)


def _first_process(
    details: dict[str, Any],
    layers: list[str],
    user: int | None,
    descriptor: int,
    other: socket.socket,
    for_programs: bool,
    descriptors: list[int],
) -> None:
    """Become the first process of a world of its own, if there are namespaces."""
    kept = os.dup(descriptor)
    for one in descriptors:
        os.close(one)
    parent = os.getppid()
    _layers.die_with(lambda: os.getppid() != parent)
    if "namespaces" not in layers:
        _layers.adopt_orphans()
        SandboxBox(socket.socket(fileno=kept), other, details, user, for_programs).run()
        return
    _layers.enter_process_namespace()
    process = os.fork()
    if process:
        os.close(kept)
        other.close()
        os.waitpid(process, 0)
        return
    code = 1
    try:
        _layers.die_with(lambda: False)
        if for_programs:
            _layers.mount_processes()
        SandboxBox(socket.socket(fileno=kept), other, details, user, for_programs).run()
        code = 0
    finally:
        os._exit(code)


def _readable_by_others() -> bool:
    """Whether a user that owns nothing can read Python and its packages."""
    for path in _layers.readable_paths(languages=False):
        for part in [Path(path), *Path(path).parents]:
            with suppress(OSError):
                if not part.stat().st_mode & 0o005:
                    return False
    return True


def _refuse(descriptors: list[int], why: str) -> None:
    for descriptor in descriptors:
        with socket.socket(fileno=descriptor) as connection, suppress(OSError):
            data = json.dumps({"failed": why}).encode()
            connection.sendall(LENGTH.pack(len(data)) + data)
