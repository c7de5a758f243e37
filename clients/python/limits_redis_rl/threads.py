"""How the parts for threads send a call, and what they do in the background. As ``aio`` does for asyncio."""

from __future__ import annotations

import atexit
import contextlib
import heapq
import itertools
import logging
import os
import random
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakSet

import redis

from ._sync.primary import on_primary
from .errors import CircuitOpen, Overloaded, is_pool_full
from .guard import Breaker, Guard, Probe, clock, patience

T = TypeVar("T")
# A call of a cluster waits for its `socket_timeout`, nothing else.
LONGER = 0.0
# How long the end of a program waits for its settlements, in seconds.
AT_EXIT = 1.0
# Whether something runs between requests.
HAS_TIMER = False
# Runs once, and returns after how many seconds it is to run again, if at all.
Job = Callable[[], float | None]


def send(guard: Guard, client: Any, key: bytes | str, call: Callable[[], T], timeout: float | None = None) -> T:
    """The reply to a call, which waits while all connections of the client are in use, for its `socket_timeout`. The
    client waits for the reply for so long, too, whatever `timeout` is."""
    pause, until = 0.002, None
    while True:
        try:
            return _sent(guard, client, key, call)
        except redis.ConnectionError as error:
            if not is_pool_full(error):
                raise
            now = time.monotonic()
            if until is None:
                longest = patience(client)
                until = now + longest
            if now >= until:
                raise Overloaded(f"no connection was free within {longest} s") from None
        time.sleep(pause * random.uniform(0.5, 1))
        pause = min(pause * 2, 0.032)


def _sent(guard: Guard, client: Any, key: bytes | str, call: Callable[[], T]) -> T:
    """The reply to a call, if the breaker lets it be sent."""
    breaker, node = guard.breaker(client, key)
    sent, probe = breaker.request(clock())
    if probe is not None:
        _probe(breaker, client, node, probe)
        sent, _ = breaker.request(clock())
    if sent is None:
        raise CircuitOpen("earlier requests had no reply, so this one was not sent")
    try:
        reply = on_primary(client, call)
    except BaseException as error:
        guard.ended(breaker, sent, error)
        raise
    breaker.replied(sent, clock())
    return reply


def _probe(breaker: Breaker, client: Any, node: Any, probe: Probe) -> None:
    """Sends PING, within the `socket_timeout` of the client."""
    try:
        if node is not None:
            if probe == "connect":
                with contextlib.suppress(Exception):
                    client.nodes_manager.initialize()  # another node may have its slots now
            client.get_redis_connection(node).ping()
        else:
            pool = getattr(client, "connection_pool", None)
            if probe == "connect" and pool is not None:
                pool.disconnect(inuse_connections=False)
            client.ping()
    except Exception as error:
        breaker.probed(clock(), error)
    else:
        breaker.probed(clock())


def ping(client: Any, timeout: float) -> bool:
    """Whether PING has a reply within the `socket_timeout` of the client."""
    try:
        return bool(client.ping())
    except Exception:  # as the storages of limits do
        return False


class Background:
    """What a limiter does beside its calls, in one thread."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._number = itertools.count()
        self.start_anew()
        _all.add(self)

    def start_anew(self) -> None:
        """Also in a child process: it has no thread, and what the parent holds is the parent's to renew and settle."""
        self._due: list[tuple[float, int, Job, bool]] = []
        self._awaited = 0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def call(self, call: Callable[[], T], abandoned: Callable[[T], None] | None = None) -> T:
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
        with self._changed:
            self._awaited += is_awaited
        self._later(job, wait, is_awaited)

    drop = start

    def join(self, timeout: float | None) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: not self._awaited, timeout)

    def _later(self, job: Job, wait: float, is_awaited: bool) -> None:
        with self._changed:
            heapq.heappush(self._due, (time.monotonic() + wait, next(self._number), job, is_awaited))
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="redis-rl", daemon=True)
                try:
                    thread.start()
                    self._thread = thread
                except RuntimeError as error:
                    # There are too many. The next call tries again; a lease that is not renewed until then is lost.
                    self._guard.log(logging.ERROR, "nothing is renewed and settled in the background", error)
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                # Without work for a while, the thread ends; the next call starts another.
                while not self._due or self._due[0][0] > time.monotonic():
                    wait = self._due[0][0] - time.monotonic() if self._due else 60.0
                    if not self._changed.wait(max(wait, 0)) and not self._due:
                        self._thread = None
                        return
                _, _, job, is_awaited = heapq.heappop(self._due)
            again = None
            with contextlib.suppress(Exception):  # the log has it
                again = job()
            if again is not None:
                self._later(job, again, is_awaited)
                continue
            with self._changed:
                self._awaited -= is_awaited
                self._changed.notify_all()


_all: WeakSet[Background] = WeakSet()


def _after_fork() -> None:
    for background in list(_all):
        background.start_anew()


def _at_exit() -> None:
    until = time.monotonic() + AT_EXIT
    for background in list(_all):
        background.join(max(until - time.monotonic(), 0))


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
