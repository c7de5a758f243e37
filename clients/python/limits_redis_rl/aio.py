"""How the parts for asyncio wait: for a reply within a time, for their turn, and for what runs in the background."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import redis

from .background import Background, Job
from .client import most_connections

IS_ASYNC = True
# The client of a cluster waits for so many seconds at least, since it closes its connections to all nodes after a
# timeout of its own. A call has another one.
LONGER = 2.0
# How many seconds later than its time a call may end.
TICK = 0.01
# How often the event loop runs until all that has arrived is read.
PASSES = 4

sleep = asyncio.sleep
running_loop = asyncio.get_running_loop


def time_limit(client: Any, timeout: float | None) -> float:
    """How many seconds a call waits at most."""
    if timeout is None:
        return 0.1
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= 3600:
        raise ValueError("timeout: expected seconds, more than 0 and at most 3600")
    return timeout


class Within:
    """Ends what is under ``with`` after a time, with an error. The server may execute the call all the same."""

    def __init__(self, shared: Shared, timeout: float) -> None:
        self._shared = shared
        self._timeout = timeout
        self._is_late = False

    def __enter__(self) -> None:
        self._task: Any = asyncio.current_task()
        self._shared.begins(self, self._timeout)

    def late(self, loop: asyncio.AbstractEventLoop, passes: int = PASSES) -> None:
        # What the sockets have by then is read first: an event loop that was busy for longer finds the replies.
        if passes:
            loop.call_soon(self.late, loop, passes - 1)
        elif self in self._shared.waiting:
            self._is_late = self._task.cancel()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._shared.waiting.pop(self, None)
        if kind is not asyncio.CancelledError or not self._is_late:
            return
        if hasattr(self._task, "uncancel") and self._task.uncancel():
            return  # the caller has left
        raise redis.TimeoutError(f"no reply within {self._timeout} s") from None


class Shared:
    """What the calls of a limiter share in an event loop."""

    _loop: asyncio.AbstractEventLoop | None = None

    def begins(self, within: Within, timeout: float) -> None:
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop = loop
            # The calls that wait for a reply, and until when. One timer looks at all of them: one for each call takes
            # longer than what else it costs to wait.
            self.waiting: dict[Within, float] = {}
            self._looks = False
            self._turns: dict[str, asyncio.Semaphore] = {}
            self._initialization: asyncio.Future[Any] | None = None
        self.waiting[within] = loop.time() + timeout
        if not self._looks:
            self._look(loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for within in [each for each, end in self.waiting.items() if end <= now]:
            self.waiting[within] = math.inf
            within.late(loop)
        self._looks = bool(self.waiting)
        if self._looks:
            loop.call_later(TICK, self._look, loop)

    def turn(self, client: Any, node: Any, name: str) -> asyncio.Semaphore:
        """As many calls at once as a node has connections; the others wait in the order in which they came."""
        if name not in self._turns:
            self._turns[name] = asyncio.Semaphore(most_connections(client, node))
        return self._turns[name]

    async def initialized(self, client: Any) -> None:
        """Waits until the client of a cluster knows the nodes. After an error it asks for them anew. That may take
        longer than a call waits, and goes on when the call is given up."""
        if not getattr(client, "_initialize", False):
            return
        if self._initialization is None or self._initialization.done():
            self._initialization = asyncio.ensure_future(client.initialize())
            # Also the error of a call that was given up is retrieved.
            self._initialization.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._initialization)


async def run(
    background: Background, job: Job, loop: asyncio.AbstractEventLoop, longest: float | None = None
) -> Exception | None:
    """Waits until a job has ended, at most so many seconds if given, and returns its error. It goes on if nobody waits
    for it any more."""
    done, _ = await asyncio.wait([asyncio.wrap_future(background.start(job, loop))], timeout=longest)
    return next((each.result() for each in done if not each.cancelled()), None)


def begin(background: Background, job: Job, loop: asyncio.AbstractEventLoop) -> None:
    background.start(job, loop)


async def join(background: Background, timeout: float | None) -> bool:
    if jobs := background.awaited():
        await asyncio.wait([asyncio.wrap_future(job) for job in jobs], timeout=timeout)
    return not background.awaited()
