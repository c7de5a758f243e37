"""Limiters for asyncio and for threads."""

from __future__ import annotations

import redis

from ._async.limiter import AsyncBaseLimiter
from ._sync.limiter import BaseLimiter
from .aio import Client
from .guard import Counters, Guard, check_arguments, patience


class AsyncLimiter(AsyncBaseLimiter):
    """Reserves units of several limits in one decision, for asyncio."""

    def __init__(
        self,
        client: Client,
        *,
        fail_open: bool = False,
        timeout: float = 0.1,
        counters: Counters | None = None,
        module: str = "optional",
    ) -> None:
        """
        :param client: the connection to the server, made with ``retry=None``; the caller closes it
        :param fail_open: whether a request is allowed if the server cannot decide; else the error is raised. So is
            ``Overloaded`` in any case, if all connections of the client are in use
        :param timeout: how many seconds a call waits for the server at most
        :param counters: where to count what happens, for an export
        :param module: ``optional``: without the module, the Lua scripts decide; ``required``: that is an error
        """
        check_arguments(client, True, fail_open, timeout, counters)
        super().__init__(client, fail_open, Guard(counters, timeout, module=module))

    @property
    def timeout(self) -> float:
        return self.guard.timeout


class Limiter(BaseLimiter):
    """Reserves units of several limits in one decision, for programs with threads."""

    def __init__(
        self,
        client: redis.Redis | redis.RedisCluster,
        *,
        fail_open: bool = False,
        counters: Counters | None = None,
        module: str = "optional",
    ) -> None:
        """
        :param client: the connection, made with ``retry=None`` and a ``socket_timeout``; the caller closes it
        :param fail_open: as that of :class:`AsyncLimiter`
        :param counters, module: as those of :class:`AsyncLimiter`
        """
        check_arguments(client, False, fail_open, counters=counters)
        super().__init__(client, fail_open, Guard(counters, patience(client), timer=False, module=module))
