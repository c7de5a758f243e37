"""Sends calls: within the time limit, none to a silent server, and by a script where there is no module."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from typing import Any

import redis
import redis.asyncio.sentinel

from .. import errors
from ..aio import Shared, Within, sleep
from ..background import Background
from ..breaker import Breaker
from ..calls import Call, scripted
from ..client import node_of
from ..log import Log

# For how many seconds the scripts decide before the module is looked for again.
LOOK_AGAIN = 5.0
# The pause before a call is tried again that found no connection free, in seconds.
PAUSE = 0.005


def clock() -> float:
    """In milliseconds, and never back."""
    return time.monotonic() * 1000


class AsyncLink:
    """What sends the calls of one limiter, each of which waits for a reply for `timeout` seconds at most."""

    def __init__(self, client: Any, timeout: float, log: Log, requires_module: bool) -> None:
        self.client = client
        self.timeout = timeout
        self.log = log
        self.background = Background()
        self._requires_module = requires_module
        self._is_cluster = hasattr(client, "get_node_from_key")
        self._shared = Shared()
        self.scripts_decide = False
        # Until then the scripts decide without looking for the module.
        self._scripts_until = 0.0
        # One for each node of a cluster, and each process: a child has none of the calls of its parent.
        self._breakers: dict[tuple[int, str], Breaker] = {}

    async def call(self, call: Call, longest: float | None = None) -> tuple[Any, bool]:
        """The reply, and whether it is of a script. If it gives up waiting, the server may have executed the call."""
        timeout = self.timeout if longest is None else min(longest, self.timeout)
        node = node_of(self.client, call.limits[0].key) if self._is_cluster else None
        name = "" if node is None else str(node.name)
        breaker, is_sent, end = self.breaker(name), False, clock() + timeout * 1000
        try:
            with Within(self._shared, timeout):
                async with self._shared.turn(self.client, node, name):
                    while True:
                        is_sent = True
                        try:
                            return await self._sent(call, breaker)
                        except redis.ConnectionError as error:
                            # The client has other users, or this is a cluster that redirects.
                            if not errors.is_pool_full(error):
                                raise
                        is_sent = False
                        if clock() >= end:
                            raise redis.TimeoutError
                        await sleep(PAUSE)
        except Exception as error:
            if isinstance(error, redis.TimeoutError) and not is_sent:
                error = errors.Overloaded(f"no connection was free within {timeout} s")
            self.log.counters.errors[errors.kind(error)] += 1
            if not errors.is_unavailable(error):
                self.log.rejected(error)
            raise error

    def breaker(self, node: str = "") -> Breaker:
        """The breaker of a node of a cluster, or of the server."""
        name = os.getpid(), node
        # Another thread may be faster.
        return self._breakers.get(name) or self._breakers.setdefault(name, Breaker(self.timeout * 1000))

    async def _sent(self, call: Call, breaker: Breaker) -> tuple[Any, bool]:
        """The reply to a call, if the breaker lets it be sent."""
        sent = clock()
        if not breaker.request(sent):
            raise errors.CircuitOpen
        try:
            if self._is_cluster:
                await self._shared.initialized(self.client)
            reply = await self._of_module(call) if time.monotonic() >= self._scripts_until else None
            reply = reply or (await self._of_script(call), True)
        except BaseException as error:
            what = errors.kind(error)
            # A call ends from outside at its time limit, or if its caller has left.
            if what == "timeout" or not isinstance(error, Exception):
                breaker.timed_out(clock())
            elif what == "connection":
                breaker.broken()
                self._scripts_until = 0.0  # a new connection may be one to another server
            elif isinstance(error, (redis.ResponseError, redis.BusyLoadingError)):
                breaker.reply()
            breaker.left(sent)
            pool = getattr(self.client, "connection_pool", None)
            if what == "READONLY" and pool is not None:
                # After a failover the address may lead to another server, but the connections still lead to this one.
                await pool.disconnect(inuse_connections=False)
            raise
        breaker.reply()
        return reply

    async def _of_module(self, call: Call) -> tuple[Any, bool] | None:
        """The reply of the module, if the server has it."""
        try:
            reply = await self.client.execute_command(*call.command())
        except redis.asyncio.sentinel.MasterNotFoundError:
            await self._check_name()
            raise
        except redis.RedisError as error:
            if not errors.NO_MODULE.search(str(error)):
                raise
        else:
            if self.scripts_decide:
                self.log.line(logging.WARNING, "the module decides again")
            self.scripts_decide = False
            return reply, False
        if self._requires_module:
            # The server's own error has the caller in it.
            raise redis.ResponseError(
                "ERR no module: the server has not loaded redis-rl; start it with --loadmodule /path/to/libredis_rl.so "
                "(docs/install.md)"
            )
        if not self.scripts_decide:
            self.log.line(
                logging.WARNING,
                "no module: the Lua scripts decide, at a higher cost for the server. What a worker that died has "
                "reserved comes back when its window ends, and a settlement sent twice charges twice: docs/hosted.md",
            )
        self.scripts_decide, self._scripts_until = True, time.monotonic() + LOOK_AGAIN
        return None

    async def _of_script(self, call: Call) -> Any:
        source, digest, words = scripted(call)
        try:
            return await self.client.execute_command("EVALSHA", digest, *words)
        except redis.exceptions.NoScriptError:
            # It says that nothing was executed, so the script itself is sent.
            return await self.client.execute_command("EVAL", source, *words)

    async def _check_name(self) -> None:
        """redis-py raises one error for a primary that is away and for a wrong name, a fault."""
        pool, known = self.client.connection_pool, list[bool]()
        for sentinel in pool.sentinel_manager.sentinels:
            with contextlib.suppress(redis.ConnectionError, redis.TimeoutError):
                known.append(pool.service_name in await sentinel.sentinel_masters())
        if known and not any(known):
            raise redis.RedisError(f"no Sentinel watches a primary with the name {pool.service_name!r}") from None
