"""What a limiter does beside its calls: it renews leases, and settles what had no reply."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import inspect
import os
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

# Returns after how many seconds it runs again, or why it failed; with asyncio an awaitable of that.
Job: TypeAlias = "Callable[[], Any]"
Future: TypeAlias = "concurrent.futures.Future[Exception | None]"


@functools.cache
def _loop_of(process: int) -> asyncio.AbstractEventLoop:
    """Runs the jobs of a process that has no event loop, one after the other, in a thread."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="redis-rl", daemon=True).start()
    return loop


async def _repeated(job: Job, wait: float) -> Exception | None:
    found: Any = wait
    while isinstance(found, float):
        await asyncio.sleep(found)
        found = job()
        if inspect.isawaitable(found):
            found = await found
    return found  # type: ignore[no-any-return]


class Background:
    """The jobs of one limiter."""

    def __init__(self) -> None:
        # The process that waits for a job. A child process has none of the jobs of its parent.
        self._jobs: dict[Future, int] = {}

    def start(
        self, job: Job, loop: asyncio.AbstractEventLoop | None, wait: float = 0.0, is_awaited: bool = True
    ) -> Future:
        """Runs a job in this loop, from whatever thread; without a loop, in a thread."""
        future = asyncio.run_coroutine_threadsafe(_repeated(job, wait), loop or _loop_of(os.getpid()))
        self._jobs[future] = os.getpid() if is_awaited else 0
        future.add_done_callback(self._jobs.pop)
        return future

    def awaited(self) -> list[Future]:
        return [job for job, process in self._jobs.copy().items() if process == os.getpid()]
