"""Worker processes that can be killed, shared by every reward of a process.

One thread, the dispatcher, owns all sockets: it hands items to workers, watches their deadlines,
kills what runs over and starts anew. Callers only ever wait on a future, so they may be threads,
an event loop or both. Nothing here uses signals, and no thread is ever left behind with work.
"""

import contextlib
import socket
import threading
from concurrent.futures import Future, InvalidStateError

from plaudit.judge._settings import Settings
from plaudit.judge.workers._dispatcher import Dispatcher
from plaudit.judge.workers._tasks import Inbox, Item, Outcome


class Pool:
    """The dispatcher, its fork server and its workers.

    trouble: why a worker did not start, as far as an earlier pool knows

    >>> pool = Pool(Settings(workers=1))
    >>> pool.submit(((("number", "2", False),), (("arithmetic", "4/2"),), "latex")).result()[:3]
    ('equal', '2', '4/2')
    >>> pool.close()
    """

    def __init__(self, settings: Settings, trouble: str | None = None) -> None:
        self._inbox = Inbox()
        with contextlib.ExitStack() as opened:
            wake_up, self._wake_up_sender = socket.socketpair()
            opened.callback(wake_up.close)
            opened.callback(self._wake_up_sender.close)
            self._dispatcher = Dispatcher(settings, self._inbox, wake_up, trouble)
            opened.callback(self._dispatcher.abandon)
            run = self._dispatcher.run
            self._thread = threading.Thread(target=run, name="plaudit", daemon=True)
            self._thread.start()
            opened.pop_all()

    @property
    def ended(self) -> bool:
        """Whether it takes no more items: it was closed, or its dispatcher failed."""
        return self._inbox.closed

    @property
    def trouble(self) -> str | None:
        """Why a worker did not start; None once one starts, or another has judged something."""
        return self._dispatcher.trouble

    def submit(self, item: Item) -> "Future[Outcome]":
        """A future of the item's outcome. Workers take the items in chunks."""
        future: Future[Outcome] = Future()
        if not self._inbox.put((item, future)):
            future.set_exception(RuntimeError(self.trouble or "the judge was closed"))
            return future
        try:
            self._wake_up_sender.send(b"!")
        except OSError as error:
            with contextlib.suppress(InvalidStateError):  # the dispatcher may have ended meanwhile
                future.set_exception(RuntimeError(f"the judge cannot be reached: {error}"))
        future.add_done_callback(self._notify_if_cancelled)
        return future

    def _notify_if_cancelled(self, future: "Future[Outcome]") -> None:
        if future.cancelled():
            with contextlib.suppress(OSError):  # it may be closed by now
                self._wake_up_sender.send(b"!")

    def close(self, wait: bool = True) -> None:
        """Stop the workers. Items that are not judged by now never will be."""
        self._wake_up_sender.close()
        if wait:
            self._thread.join(timeout=5)

    def abandon(self) -> None:
        """Close what is open, in a process that was forked from the owner: no thread came along."""
        self._wake_up_sender.close()
        self._dispatcher.abandon()
