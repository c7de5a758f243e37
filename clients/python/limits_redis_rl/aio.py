"""How the parts for asyncio wait: for a reply within a time, for their turn, and for what they do in the background."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import redis

from .client import most_connections
from .log import Log

T = TypeVar("T")
IS_ASYNC = True
# The client of a cluster waits for so many seconds at least, since it closes its connections to all nodes after a
# timeout of its own. A call has another one.
LONGER = 2.0
# Runs once, and returns after how many seconds it is to run again, if at all.
Job = Callable[[], Awaitable[float | None]]
# How often the event loop runs until all that has arrived is read.
PASSES = 4

sleep = asyncio.sleep


def time_limit(client: Any, timeout: float | None) -> float:
    """How many seconds a call waits at most."""
    if timeout is None:
        return 0.1
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= 3600:
        raise ValueError("timeout: expected seconds, more than 0 and at most 3600")
    return timeout


async def within(timeout: float, call: Callable[[], Awaitable[T]]) -> T:
    """The reply, or an error after that many seconds. The server may execute the call all the same."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    is_late, is_over = False, False

    def late(passes: int = PASSES) -> None:
        # What the sockets have by then is read first: an event loop that was busy for longer finds the replies.
        nonlocal is_late
        if is_over:
            return
        if passes:
            loop.call_soon(late, passes - 1)
        else:
            is_late = True
            task.cancel()

    timer = loop.call_later(timeout, late)
    try:
        return await call()
    except asyncio.CancelledError:
        if not is_late or (hasattr(task, "uncancel") and task.uncancel()):
            raise  # the caller has left
        raise redis.TimeoutError(f"no reply within {timeout} s") from None
    finally:
        is_over = True
        timer.cancel()


def _forget(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()


_turns: WeakKeyDictionary[Any, tuple[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]]] = WeakKeyDictionary()


def turn(client: Any, node: Any) -> asyncio.Semaphore:
    """As many calls at once as there are connections; the others wait in the order in which they came."""
    loop = asyncio.get_running_loop()
    found = _turns.get(client)
    if found is None or found[0] is not loop:
        found = _turns[client] = loop, {}
    name = "" if node is None else str(node.name)
    if name not in found[1]:
        found[1][name] = asyncio.Semaphore(most_connections(client, node))
    return found[1][name]


_initializations: WeakKeyDictionary[Any, tuple[asyncio.AbstractEventLoop, asyncio.Future[Any]]] = WeakKeyDictionary()


async def initialized(client: Any) -> None:
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


class Background:
    """What a limiter does beside its calls, in tasks."""

    def __init__(self, log: Log) -> None:
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
