"""How the asynchronous parts send a call: within a time, over a connection that is free, to a server that accepts
writes. And what they do in the background."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
import math
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

import redis
import redis.asyncio

from ._async.primary import on_primary
from .errors import CircuitOpen, Overloaded, is_pool_full
from .guard import SECOND, Breaker, Guard, Probe, Sent, clock

T = TypeVar("T")
Client = redis.asyncio.Redis | redis.asyncio.RedisCluster

# The first and the longest pause before a call is tried again that found no connection.
PAUSE = 0.002
LONGEST_PAUSE = 0.032
# The client of a cluster waits for so many seconds at least, since it closes its connections to all nodes after a
# timeout of its own. A call has another one.
LONGER = 2.0
# Whether something runs between requests.
HAS_TIMER = True
# Runs once, and returns after how many seconds it is to run again, if at all.
Job = Callable[[], Awaitable[float | None]]
# How often it is checked whether the time of a call is over, in seconds.
TICK = 0.005


@dataclass
class Progress:
    """How far a call is."""

    has_waited: bool = False
    """Whether all connections were in use."""
    sent: Sent | None = None
    """The command, if it may have been sent."""


async def send(
    guard: Guard, client: Client, key: bytes | str, call: Callable[[], Awaitable[T]], timeout: float | None = None
) -> T:
    """The reply, or an error after that many seconds, at most those of the guard: ``Overloaded`` if the call had to
    wait for a connection, else ``redis.TimeoutError``. The server may execute the call all the same.

    Time in which the event loop was busy counts a quarter: replies may be there that it has not read. A caller that is
    cancelled does not end a call that was sent, since its reply says that the server replies.
    """
    timeout = guard.timeout if timeout is None else min(guard.timeout, timeout)
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


async def ping(client: Client, timeout: float) -> bool:
    """Whether PING has a reply within a time."""
    try:
        return bool(await asyncio.wait_for(client.ping(), timeout))
    except Exception:  # as the storages of limits do
        return False


class Background:
    """What a limiter does beside its calls, in tasks."""

    def __init__(self, guard: Guard) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._awaited: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def call(self, call: Callable[[], Awaitable[T]], abandoned: Callable[[T], None] | None = None) -> T:
        """The result of a call. If the caller is gone before, `abandoned` gets it."""
        self._loop = asyncio.get_running_loop()
        if abandoned is None:
            return await call()
        task = asyncio.ensure_future(call())
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:

            def ended(task: asyncio.Future[T]) -> None:
                if not task.cancelled() and task.exception() is None:
                    abandoned(task.result())

            task.add_done_callback(ended)
            raise

    async def now(self, job: Job, longest: float | None = None) -> None:
        """Waits until a job is done, at most so many seconds if given. It goes on if nobody waits for it any more."""
        task = self.start(job)
        if longest is None:
            await asyncio.shield(task)
        else:
            await asyncio.wait({task}, timeout=longest)

    def close(self, job: Job) -> None:
        self.start(job)

    def start(self, job: Job, wait: float = 0.0, is_awaited: bool = True) -> asyncio.Task[None]:
        """Runs a job in a task.

        :param is_awaited: whether :meth:`join` waits for it
        """
        task = asyncio.ensure_future(_repeated(job, wait))
        tasks = self._awaited if is_awaited else self._tasks
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        task.add_done_callback(_forget)  # the log has the error
        return task

    def drop(self, job: Job) -> None:
        """Runs a job, from whatever thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self.start, job)

    async def join(self, timeout: float | None) -> bool:
        end = math.inf if timeout is None else time.monotonic() + timeout
        while self._awaited and time.monotonic() < end:
            await asyncio.wait(set(self._awaited), timeout=None if timeout is None else end - time.monotonic())
        return not self._awaited


async def _repeated(job: Job, wait: float) -> None:
    again: float | None = wait
    while again is not None:
        if again > 0:
            await asyncio.sleep(again)
        again = await job()
