"""How the asynchronous parts send a call: within a time, to a server that accepts writes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import redis
import redis.asyncio

T = TypeVar("T")
Client = redis.asyncio.Redis | redis.asyncio.RedisCluster


async def in_time(call: Awaitable[T], timeout: float) -> T:
    """The reply, or ``redis.TimeoutError`` after that many seconds. The server may execute the call all the same."""
    # asyncio.wait_for would wait until the call has ended, and a client may go on after it was cancelled.
    task = asyncio.ensure_future(call)
    try:
        await asyncio.wait({task}, timeout=timeout)
        if task.done():
            return task.result()
        raise redis.TimeoutError(f"no reply within {timeout} s")
    finally:
        if not task.done():
            task.cancel()
            task.add_done_callback(_forget)


async def on_primary(client: Client, call: Callable[[], Awaitable[T]]) -> T:
    """The reply. After READONLY, the next call opens a connection anew."""
    try:
        return await call()
    except redis.ReadOnlyError:
        # After a failover the address may lead to another server, but the connections still lead to this one.
        # (In a cluster a replica redirects.)
        pool = getattr(client, "connection_pool", None)
        if pool is not None:
            await pool.disconnect(inuse_connections=False)
        raise


def _forget(task: asyncio.Future[Any]) -> None:
    if not task.cancelled():
        task.exception()
