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


def _forget(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()


class Wait:
    """Ends what is under ``with`` after a time, with an error. The server may execute the call all the same."""

    def __init__(self, shared: Shared, timeout: float) -> None:
        self._shared = shared
        self._timeout = timeout
        self._is_late = self._is_over = False

    def __enter__(self) -> None:
        self._task: Any = asyncio.current_task()
        self.end = self._shared.begins(self, self._timeout)

    def late(self, loop: asyncio.AbstractEventLoop, passes: int = PASSES) -> None:
        # What the sockets have by then is read first: an event loop that was busy for longer finds the replies.
        if passes:
            loop.call_soon(self.late, loop, passes - 1)
        elif not self._is_over:
            self._is_late = self._task.cancel()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._is_over = True
        self._shared.waiting.discard(self)
        if kind is not asyncio.CancelledError or not self._is_late:
            return
        if hasattr(self._task, "uncancel") and self._task.uncancel():
            return  # the caller has left
        raise redis.TimeoutError(f"no reply within {self._timeout} s") from None


class Shared:
    """What all limiters of a client share in an event loop."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._starts_anew(None)

    @staticmethod
    def of(client: Any) -> Shared:
        return _shared.setdefault(client, Shared())

    def _starts_anew(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self._loop = loop
        self.waiting: set[Wait] = set()
        # One for all calls: a timer of its own takes 5 % of the time of a request.
        self._timer: asyncio.TimerHandle | None = None
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._initialization: asyncio.Future[Any] | None = None

    def within(self, timeout: float) -> Wait:
        return Wait(self, timeout)

    def begins(self, wait: Wait, timeout: float) -> float:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._starts_anew(loop)
        end = loop.time() + timeout
        self.waiting.add(wait)
        if self._timer is None or end < self._timer.when():
            self._timer = loop.call_at(end, self._look, loop)
        return end

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        """Ends the calls whose time is over."""
        now = loop.time()
        late = [wait for wait in self.waiting if wait.end <= now]
        self.waiting.difference_update(late)
        for wait in late:
            wait.late(loop)
        end = min((wait.end for wait in self.waiting), default=None)
        self._timer = None if end is None else loop.call_at(end, self._look, loop)

    def turn(self, client: Any, node: Any, name: str) -> asyncio.Semaphore:
        """As many calls at once as a node has connections; the others wait in the order in which they came."""
        if name not in self._turns:
            self._turns[name] = asyncio.Semaphore(most_connections(client, node))
        return self._turns[name]

    async def initialized(self, client: Any) -> None:
        """Waits until the client of a cluster knows the nodes. After an error it asks for them anew. That goes on when
        a call is given up: the node that hangs may be the one that is asked first."""
        if not getattr(client, "_initialize", False):
            return
        if self._initialization is None or self._initialization.done():
            self._initialization = asyncio.ensure_future(client.initialize())
            self._initialization.add_done_callback(_forget)
        await asyncio.shield(self._initialization)


_shared: WeakKeyDictionary[Any, Shared] = WeakKeyDictionary()


class Background:
    """What a limiter does beside its calls, in tasks."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._awaited: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def call(self, call: Callable[[], Awaitable[T]], abandoned: Callable[[T], None]) -> T:
        """The result of a call. If the caller is gone before, `abandoned` gets it."""
        self._loop = asyncio.get_running_loop()
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
