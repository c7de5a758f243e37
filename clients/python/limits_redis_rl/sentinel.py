"""Tells a wrong name of a primary from a primary that is away. The error of redis-py is the same."""

from __future__ import annotations

from typing import Any

import redis
import redis.asyncio.sentinel
import redis.sentinel

NO_PRIMARY = (redis.sentinel.MasterNotFoundError, redis.asyncio.sentinel.MasterNotFoundError)


class UnknownPrimary(redis.RedisError):
    """No Sentinel that replies watches a primary of this name: a fault of the configuration."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no Sentinel watches a primary with the name {name!r}")


def watches(pool: Any) -> None:
    """Raises :class:`UnknownPrimary` if the Sentinels of this pool reply, and none watches its primary."""
    known: list[bool] = []
    for sentinel in pool.sentinel_manager.sentinels:
        try:
            known.append(pool.service_name in sentinel.sentinel_masters())
        except (redis.ConnectionError, redis.TimeoutError):
            continue
    _judge(pool, known)


async def watches_async(pool: Any) -> None:
    """As :func:`watches`."""
    known: list[bool] = []
    for sentinel in pool.sentinel_manager.sentinels:
        try:
            known.append(pool.service_name in await sentinel.sentinel_masters())
        except (redis.ConnectionError, redis.TimeoutError):
            continue
    _judge(pool, known)


def _judge(pool: Any, known: list[bool]) -> None:
    if known and not any(known):
        raise UnknownPrimary(pool.service_name)
