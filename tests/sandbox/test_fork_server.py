"""A failure of the sandbox is no failure of the program."""

import os
import socket

import pytest

from plaudit.sandbox._fork_server import END, REQUEST, STARTED, USED, ProgramForkServer

JOB = b'{"do": "script", "source": "raise SystemExit(1)"}'


class _Unrestricted(ProgramForkServer):
    """Cannot restrict what it forks."""

    def _restrict(self, *_: object) -> None:
        raise OSError("no")


def ends_of_a_program(kind: type[ProgramForkServer], folder: str) -> bytes:
    """Return what a fork server says of a program that it was asked to run: b"" if it is gone."""
    here, there = socket.socketpair()
    process = os.fork()
    if not process:
        here.close()
        try:
            kind(there, [], folder, None, 1 << 20).run()
        finally:
            os._exit(0)
    there.close()
    here.settimeout(30)
    job = os.memfd_create("job")
    os.write(job, JOB)
    os.lseek(job, 0, os.SEEK_SET)
    null = os.open(os.devnull, os.O_RDWR)
    try:
        socket.send_fds(here, [REQUEST.pack(5.0, 1 << 30, 64, 0)], [null, null, null, job])
        if not here.recv(STARTED.size):
            return b""
        while True:
            here.sendall(b"ask")
            if here.recv(1) in (b"1", b""):
                break
        here.sendall(END)
        return here.recv(USED.size)
    except OSError:
        return b""
    finally:
        here.close()
        os.close(null)
        os.close(job)
        os.waitpid(process, 0)


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="jobs are passed by memfd")
def test_a_process_that_cannot_be_restricted_is_no_program_that_failed(tmp_path):
    status, _, _ = USED.unpack(ends_of_a_program(ProgramForkServer, str(tmp_path)))
    assert os.waitstatus_to_exitcode(status) == 1
    assert ends_of_a_program(_Unrestricted, str(tmp_path)) == b""
