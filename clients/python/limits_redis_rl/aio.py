"""How the asynchronous parts send a call: within a time, over a connection that is free, to a server that accepts
writes."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import redis
import redis.asyncio

from .guard import SECOND, Breaker, CircuitOpen, Guard, Overloaded, Probe, Sent, clock, is_pool_full
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
        self.sent: Sent | None = None
        """The command, if it may have been sent."""


async def in_time(
    guard: Guard, client: Client, key: bytes | str, call: Callable[[], Awaitable[T]], timeout: float | None = None
) -> T:
    """The reply, or an error after that many seconds, or those of the guard: ``Overloaded`` if the call had to wait
    for a connection, else ``redis.TimeoutError``. The server may execute the call all the same.

    Time in which the event loop was busy counts a quarter: replies may be there that it has not read. A caller that is
    cancelled does not end a call that was sent, since its reply says that the server replies.
    """
    timeout = guard.timeout if timeout is None else timeout
    breaker, node = guard.breaker(client, key)
    watch = _watch(breaker, client, node)
    if breaker.is_open():
        raise CircuitOpen("earlier requests had no reply, so this one was not sent")
    # asyncio.wait_for would wait until the call has ended, and a client may go on after it was cancelled.
    progress = Progress()
    task = asyncio.ensure_future(_connected(guard, client, watch, call, progress))
    clock_of_loop = _of_loop(_clocks, guard, Clock)
    end = clock_of_loop.after(timeout)
    try:
        either: set[asyncio.Future[Any]] = {task, end}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if progress.has_waited and not breaker.is_open():
            raise Overloaded(f"no connection was free in time for a reply within {timeout} s", bool(progress.sent))
        if progress.sent is None:
            raise CircuitOpen("the requests that have the connections had no reply, so this one was not sent")
        raise redis.TimeoutError(f"no reply within {timeout} s")
    finally:
        task.add_done_callback(_forget)
        tries = progress.sent is not None and breaker.is_trying(progress.sent)
        if task.done() or progress.sent is None or (end.done() and not tries):
            end.cancel()
            task.cancel()
        else:
            last = clock_of_loop.after(SECOND / 1000) if tries else end
            last.add_done_callback(lambda _: task.cancel())
            task.add_done_callback(lambda _: last.cancel())


async def _connected(
    guard: Guard, client: Client, watch: Watch, call: Callable[[], Awaitable[T]], progress: Progress
) -> T:
    """The reply to a call, which waits while all connections are in use."""
    pause = PAUSE
    while True:
        async with _turn(client, progress):
            try:
                return await _sent(guard, client, watch, call, progress)
            except Exception as error:
                if not is_pool_full(error):
                    raise
                progress.sent, progress.has_waited = None, True
        # The pool has other users, or this is a cluster, where each node has its own connections.
        await asyncio.sleep(pause * random.uniform(0.5, 1))
        pause = min(pause * 2, LONGEST_PAUSE)


async def _sent(guard: Guard, client: Client, watch: Watch, call: Callable[[], Awaitable[T]], progress: Progress) -> T:
    """The reply to a call, if the breaker lets it be sent."""
    breaker = watch.breaker
    progress.sent, _ = breaker.request(clock())
    if progress.sent is None:
        raise CircuitOpen("earlier requests had no reply, so this one was not sent")
    watch.look()
    try:
        await _initialized(client)
        reply = await on_primary(client, call)
    except BaseException as error:
        watch.probe(guard.ended(breaker, progress.sent, error))
        raise
    breaker.replied(progress.sent, clock())
    return reply


async def _initialized(client: Client) -> None:
    """Waits until the client of a cluster knows the nodes. After an error it asks for them anew. That goes on when a
    call is given up: the node that hangs may be the one that is asked first."""
    if not getattr(client, "_initialize", False) or hasattr(client, "connection_pool"):
        return
    loop = asyncio.get_running_loop()
    known = _initializations.get(client)
    if known is None or known[0] is not loop or known[1].done():
        known = _initializations[client] = (loop, asyncio.ensure_future(client.initialize()))
        known[1].add_done_callback(_forget)
    await asyncio.shield(known[1])


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


class Watch:
    """Probes a server that is silent, in one event loop."""

    def __init__(self, breaker: Breaker, client: Client, node: Any) -> None:
        self.breaker = breaker
        self.loop = asyncio.get_running_loop()
        self._client: Any = client
        self._node = node
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._task: asyncio.Task[None] | None = None

    def look(self) -> None:
        """Sets the timer, if there is none."""
        if self._timer is None and (due := self.breaker.due()) is not None:
            self._due = due
            self._timer = self.loop.call_later(max(due - clock(), 0) / 1000, self._run)

    def _run(self) -> None:
        if clock() - self._due > 2 * TICK * 1000:
            # The event loop was busy. Replies may be there that it has not read.
            self._due = math.inf
            self._timer = self.loop.call_later(TICK, self._run)
            return
        self._timer = None
        self.probe(self.breaker.time(clock()))
        self.look()

    def probe(self, probe: Probe | None) -> None:
        if probe is None:
            return
        if self._task is not None:
            self._task.cancel()
        self._task = self.loop.create_task(self._probe(probe))
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.look()

    async def _probe(self, probe: Probe) -> None:
        client = self._client
        try:
            if self._node is not None:
                if probe == "connect":
                    # Another node may have its slots now. A node that hangs may be the one that is asked.
                    with contextlib.suppress(Exception):
                        await asyncio.wait_for(client.nodes_manager.initialize(), SECOND / 2000)
                    if client.get_node(node_name=self._node.name) is None:
                        return self.breaker.start()  # the cluster does not have it any more
                # After an error, the client would close its connections to all nodes.
                await self._node.execute_command("PING")
            else:
                pool = getattr(client, "connection_pool", None)
                if probe == "connect" and pool is not None:
                    await pool.disconnect(inuse_connections=False)
                await client.ping()
        except Exception as error:
            self.breaker.probed(clock(), error)
        else:
            self.breaker.probed(clock())


def _watch(breaker: Breaker, client: Client, node: Any) -> Watch:
    """What probes the server of this breaker, in this event loop."""
    watch = breaker.watch
    if not isinstance(watch, Watch) or watch.loop is not asyncio.get_running_loop():
        watch = breaker.watch = Watch(breaker, client, node)
    watch.look()
    return watch


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
_initializations: OfLoop[asyncio.Future[Any]] = WeakKeyDictionary()


def _of_loop(all_of: OfLoop[T], owner: object, new: Callable[[], T]) -> T:
    """What the owner has in this event loop."""
    loop = asyncio.get_running_loop()
    found = all_of.get(owner)
    if found is None or found[0] is not loop:
        found = all_of[owner] = (loop, new())
    return found[1]


@contextlib.asynccontextmanager
async def _turn(client: Client, progress: Progress) -> AsyncIterator[None]:
    pool = getattr(client, "connection_pool", None)
    if pool is None:
        yield
        return
    turns = _of_loop(_turns, pool, lambda: asyncio.Semaphore(pool.max_connections))
    progress.has_waited |= turns.locked()
    async with turns:
        yield


def _forget(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()
