"""How the parts for threads wait: each name is what it is in ``aio``."""

from __future__ import annotations

import concurrent.futures
import contextlib
import time
from typing import Any

from .background import Background, Job
from .client import patience

IS_ASYNC = False
# A call of a cluster waits for its `socket_timeout`, nothing else.
LONGER = 0.0

sleep = time.sleep


def running_loop() -> Any:
    return None  # jobs run in a thread


def time_limit(client: Any, timeout: float | None) -> float:
    if timeout is not None:
        raise TypeError("timeout: expected none; the client has it: redis.Redis(socket_timeout=0.1, retry=None)")
    return patience(client)


def Within(shared: Shared, timeout: float) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()


class Shared:
    """The client waits for a reply for its `socket_timeout`, and knows the nodes of a cluster. A thread that finds no
    connection free tries again."""

    def turn(self, client: Any, node: Any, name: str) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def initialized(self, client: Any) -> None: ...


def run(background: Background, job: Job, loop: None, longest: float | None = None) -> Exception | None:
    """Runs a job here, and again in the thread, if need be. Returns its error."""
    found = job()
    if isinstance(found, float):
        background.start(job, loop, found)
        return None
    return found  # type: ignore[no-any-return]


begin = run


def join(background: Background, timeout: float | None) -> bool:
    return not concurrent.futures.wait(background.awaited(), timeout).not_done
