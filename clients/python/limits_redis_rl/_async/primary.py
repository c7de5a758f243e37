"""What is done when a server is not the primary, or no longer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import redis
import redis.asyncio.sentinel

T = TypeVar("T")


class UnknownPrimary(redis.RedisError):
    """No Sentinel that replies watches a primary of this name: a fault of the configuration."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no Sentinel watches a primary with the name {name!r}")


async def on_primary(client: Any, call: Callable[[], Awaitable[T]]) -> T:
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
    except redis.asyncio.sentinel.MasterNotFoundError:
        await _watched(pool)
        raise


async def _watched(pool: Any) -> None:
    """Tells a wrong name of a primary from a primary that is away: the error of redis-py is the same."""
    known: list[bool] = []
    for sentinel in pool.sentinel_manager.sentinels:
        try:
            known.append(pool.service_name in await sentinel.sentinel_masters())
        except (redis.ConnectionError, redis.TimeoutError):
            continue
    if known and not any(known):
        raise UnknownPrimary(pool.service_name)
