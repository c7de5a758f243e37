"""How the parts for threads wait: what ``aio`` is for asyncio."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakSet

from .client import patience

T = TypeVar("T")
IS_ASYNC = False
# A call of a cluster waits for its `socket_timeout`, nothing else.
LONGER = 0.0
# How long the end of a program waits for its settlements, in seconds.
AT_EXIT = 1.0
# Runs once, and returns after how many seconds it is to run again, if at all.
Job = Callable[[], float | None]

sleep = time.sleep


def time_limit(client: Any, timeout: float | None) -> float:
    """How many seconds a call waits at most."""
    if timeout is not None:
        raise TypeError("timeout: expected none; the client has it: redis.Redis(socket_timeout=0.1, retry=None)")
    return patience(client)


class Shared:
    """The client waits for a reply for its `socket_timeout`, and knows the nodes of a cluster. A thread that finds no
    connection free tries again."""

    @staticmethod
    def of(client: Any) -> Shared:
        return Shared()

    def within(self, timeout: float) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def turn(self, client: Any, node: Any, name: str) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def initialized(self, client: Any) -> None: ...


# Runs the jobs of this process, one after the other, in a thread.
_loop: asyncio.AbstractEventLoop | None = None


def _later(wait: float, run: Callable[[], None]) -> None:
    global _loop
    if _loop is None:
        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, name="redis-rl", daemon=True).start()
        _loop = loop
    _loop.call_soon_threadsafe(_loop.call_later, wait, run)


class Background:
    """What a limiter does beside its calls, in one thread."""

    def __init__(self) -> None:
        self.start_anew()
        _all.add(self)

    def start_anew(self) -> None:
        """Also in a child process: it has no thread, and what the parent holds is the parent's to renew and settle."""
        self._left = 0  # jobs that join() waits for
        self._changed = threading.Condition()

    def call(self, call: Callable[[], T], abandoned: Callable[[T], None]) -> T:
        return call()

    def now(self, job: Job, longest: float | None = None) -> None:
        """Runs a job; again in the thread, if need be."""
        wait = job()
        if wait is not None:
            self.start(job, wait)

    close = now

    def start(self, job: Job, wait: float = 0.0, is_awaited: bool = True) -> None:
        """Runs a job in the thread.

        :param is_awaited: whether :meth:`join` waits for it
        """

        def run() -> None:
            again = None
            with contextlib.suppress(Exception):  # the log has it
                again = job()
            if again is not None:
                return _later(again, run)
            with self._changed:
                self._left -= is_awaited
                self._changed.notify_all()

        with self._changed:
            _later(wait, run)
            self._left += is_awaited

    drop = start

    def join(self, timeout: float | None) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not self._left, timeout)


_all: WeakSet[Background] = WeakSet()


def _after_fork() -> None:
    global _loop
    _loop = None
    for background in list(_all):
        background.start_anew()


def _at_exit() -> None:
    until = time.monotonic() + AT_EXIT
    for background in list(_all):
        background.join(max(until - time.monotonic(), 0))


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
