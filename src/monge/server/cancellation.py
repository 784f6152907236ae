"""Cancellation of a request or a job: once its ticket is cancelled, its work stops, wherever it is.

Work is done in threads. `Ticket.run` says which thread works for a ticket; `Ticket.cancel` raises
an exception in it, between two steps of Python, which ends a loop of any library without a check in
it. Only computing is run so, never waiting or keeping house: whatever a step leaves half done
belongs to the request and is thrown away with it. What others depend on, a module that is being
imported or a lock, is never interrupted: the thread is told again a little later. A single call
into compiled code is not interrupted either; what one may cost is bounded by `monge.server.work`
before it begins.
"""

from __future__ import annotations

import ctypes
import logging
import queue
import sys
import threading
import time
import weakref
from collections.abc import Callable
from threading import Lock, Thread, get_ident
from typing import TypeVar

T = TypeVar("T")
AGAIN = 0.2
"""Seconds until work that goes on is interrupted again, in case a library caught the exception."""
LEFT_ALONE = (
    "<frozen importlib._bootstrap>",
    threading.__file__,
    logging.__file__,
    queue.__file__,
    weakref.__file__,
)
"""Code that a thread is not interrupted in, because other threads depend on its state."""
_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
_raise_in.argtypes = [ctypes.c_ulong, ctypes.py_object]


class Gone(Exception):
    """The request or job was cancelled: nobody waits for the answer any more."""


class _Interrupted(BaseException):
    """Raised in a thread of a cancelled ticket; handlers of `Exception` do not catch it."""


def _forget_interruptions() -> None:
    """Do not report an interruption raised while Python cleaned up: it is raised again later."""
    report = sys.unraisablehook

    def report_others(unraisable: sys.UnraisableHookArgs) -> None:
        if unraisable.exc_type is not _Interrupted:
            report(unraisable)

    sys.unraisablehook = report_others


_forget_interruptions()


class Ticket:
    """The cancellation token of a request or a job."""

    def __init__(self) -> None:
        self._lock, self._threads, self._cancelled = Lock(), set[int](), False

    @property
    def cancelled(self) -> bool:
        """Whether the ticket was cancelled."""
        return self._cancelled

    def check(self) -> None:
        """Raise Gone where the ticket was cancelled."""
        if self._cancelled:
            raise Gone

    def cancel(self) -> None:
        """Interrupt the threads that work for the ticket; later work is refused."""
        with self._lock:
            before, self._cancelled = self._cancelled, True
            self._interrupt()
            working = bool(self._threads)
        if working and not before:
            Thread(target=self._insist, name="interrupter", daemon=True).start()

    def _interrupt(self) -> None:
        for thread in self._threads:
            if _is_safe(thread):
                _raise_in(thread, ctypes.py_object(_Interrupted))

    def _insist(self) -> None:
        while self._threads:
            time.sleep(AGAIN)
            with self._lock:
                self._interrupt()

    def run(self, work: Callable[[], T]) -> T:
        """Return what the work returns; raise Gone as soon as the ticket is cancelled.

        When it returns or raises, no exception is on its way to this thread any more: a thread is
        taken out, and what was sent to it withdrawn, under the lock under which it is sent.
        """
        me = get_ident()
        with self._lock:
            self.check()
            self._threads.add(me)
        try:
            return work()
        except _Interrupted:
            raise Gone from None
        finally:
            while me in self._threads:
                try:
                    with self._lock:
                        self._threads.discard(me)
                        _raise_in(me, ctypes.py_object())
                except _Interrupted:  # it came while the thread was being taken out
                    pass


def _is_safe(thread: int) -> bool:
    """Return whether a thread under `Ticket.run` can be interrupted now; it is paused meanwhile."""
    frame = sys._current_frames().get(thread)
    while frame is not None and frame.f_code is not Ticket.run.__code__:
        if frame.f_code.co_filename in LEFT_ALONE:
            return False
        frame = frame.f_back
    return True
