"""How the asynchronous parts send a call: within a time, over a connection that is free, to a server that accepts
writes."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import redis
import redis.asyncio

from .guard import CircuitOpen, Guard, Overloaded, is_pool_full
from .sentinel import NO_PRIMARY, watches_async

T = TypeVar("T")
Client = redis.asyncio.Redis | redis.asyncio.RedisCluster

# The first and the longest pause before a call is tried again that found no connection.
PAUSE = 0.002
LONGEST_PAUSE = 0.032
# How often it is checked whether the time of a call is over, in seconds.
TICK = 0.005


class Progress:
    """How far a call is."""

    def __init__(self) -> None:
        self.has_waited = False
        """Whether all connections were in use."""
        self.is_sent = False
        """Whether it may have been sent."""


async def in_time(guard: Guard, client: Client, call: Callable[[], Awaitable[T]], timeout: float) -> T:
    """The reply, or an error after that many seconds: ``Overloaded`` if the call had to wait for a connection, else
    ``redis.TimeoutError``. The server may execute the call all the same.

    Time in which the event loop was busy counts a quarter: replies may be there that it has not read.
    """
    # asyncio.wait_for would wait until the call has ended, and a client may go on after it was cancelled.
    progress = Progress()
    task = asyncio.ensure_future(connected(client, call, progress))
    end = _of_loop(_clocks, guard, Clock).after(timeout)
    try:
        either: set[asyncio.Future[Any]] = {task, end}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if progress.has_waited and not guard.breaker.is_open():
            raise Overloaded(f"no connection was free in time for a reply within {timeout} s", progress.is_sent)
        if not progress.is_sent:
            raise CircuitOpen("the requests that have the connections had no reply, so this one was not sent")
        raise redis.TimeoutError(f"no reply within {timeout} s")
    finally:
        end.cancel()
        if not task.done():
            task.cancel()
            task.add_done_callback(_forget)


async def connected(
    client: Client, call: Callable[[], Awaitable[T]], progress: Progress, longest: float | None = None
) -> T:
    """The reply to a call, which waits while all connections are in use; at most `longest` seconds, if given."""
    until = None if longest is None else time.monotonic() + longest
    pause = PAUSE
    while True:
        async with _turn(client, until, progress):
            progress.is_sent = True
            try:
                return await on_primary(client, call)
            except Exception as error:
                if not is_pool_full(error):
                    raise
                progress.is_sent, progress.has_waited = False, True
                if until is not None and time.monotonic() >= until:
                    raise Overloaded(f"no connection was free within {longest} s") from None
        # The pool has other users, or this is a cluster, where each node has its own connections.
        await asyncio.sleep(pause * random.uniform(0.5, 1))
        pause = min(pause * 2, LONGEST_PAUSE)


async def on_primary(client: Client, call: Callable[[], Awaitable[T]]) -> T:
    """The reply. After READONLY, the next call opens a connection anew."""
    pool: Any = getattr(client, "connection_pool", None)
    try:
        return await call()
    except redis.ReadOnlyError:
        # After a failover the address may lead to another server, but the connections still lead to this one.
        # (In a cluster a replica redirects.)
        if pool is not None:
            await pool.disconnect(inuse_connections=False)
        raise
    except NO_PRIMARY:
        await watches_async(pool)
        raise


class Clock:
    """Ends what waits for too long, with one timer for all calls."""

    def __init__(self) -> None:
        self._time = self._last = 0.0
        self._number = itertools.count()
        self._due: list[tuple[float, int, asyncio.Future[None]]] = []

    def after(self, seconds: float) -> asyncio.Future[None]:
        """A future that is done then."""
        loop = asyncio.get_running_loop()
        if not self._due:
            self._last = loop.time()
            loop.call_later(TICK, self._tick)
        end: asyncio.Future[None] = loop.create_future()
        heapq.heappush(self._due, (self._time + self._passed() + seconds, next(self._number), end))
        return end

    def _passed(self) -> float:
        """The time since the last tick. If the next one is late, the event loop was busy."""
        passed = asyncio.get_running_loop().time() - self._last
        return passed - max(passed - 2 * TICK, 0) * 3 / 4

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        self._time += self._passed()
        self._last = loop.time()
        while self._due and (self._due[0][2].done() or self._due[0][0] <= self._time):
            end = heapq.heappop(self._due)[2]
            if not end.done():
                end.set_result(None)
        if self._due:
            loop.call_later(TICK, self._tick)


OfLoop: TypeAlias = "WeakKeyDictionary[Any, tuple[asyncio.AbstractEventLoop, T]]"
_clocks: OfLoop[Clock] = WeakKeyDictionary()
# As many calls at once as the pool has connections; the others wait in the order in which they came.
_turns: OfLoop[asyncio.Semaphore] = WeakKeyDictionary()


def _of_loop(all_of: OfLoop[T], owner: object, new: Callable[[], T]) -> T:
    """What the owner has in this event loop."""
    loop = asyncio.get_running_loop()
    found = all_of.get(owner)
    if found is None or found[0] is not loop:
        found = all_of[owner] = (loop, new())
    return found[1]


@contextlib.asynccontextmanager
async def _turn(client: Client, until: float | None, progress: Progress) -> AsyncIterator[None]:
    pool = getattr(client, "connection_pool", None)
    if pool is None:
        yield
        return
    turns = _of_loop(_turns, pool, lambda: asyncio.Semaphore(pool.max_connections))
    progress.has_waited |= turns.locked()
    try:
        if until is None or not turns.locked():
            await turns.acquire()
        else:
            await asyncio.wait_for(turns.acquire(), until - time.monotonic())
    except (TimeoutError, asyncio.TimeoutError):
        raise Overloaded("no connection was free in time") from None
    try:
        yield
    finally:
        turns.release()


def _forget(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()
