"""Which clients of redis-py a limiter accepts, and the node of a cluster that has a key."""

from __future__ import annotations

from typing import Any

import redis
import redis.asyncio

SYNC = (redis.Redis, redis.RedisCluster)
ASYNC = (redis.asyncio.Redis, redis.asyncio.RedisCluster)


def check_client(client: Any, is_async: bool) -> None:
    """Rejects a client of the other kind, whose calls would be charged and fail, and one that sends a command again,
    which would be charged twice."""
    module, other = ("redis.asyncio", "redis") if is_async else ("redis", "redis.asyncio")
    if isinstance(client, SYNC if is_async else ASYNC):
        raise TypeError(f"client: expected one of {module}, not one of {other}: {module}.Redis(retry=None)")
    if not hasattr(client, "execute_command"):
        raise TypeError(f"client: expected {module}.Redis(retry=None), not {type(client).__name__}")
    if _retries(client):
        raise ValueError(
            "client: expected one that never sends a command again, or a request may be charged twice: "
            "Redis(retry=None) without retry_on_error, RedisCluster(retry=Retry(NoBackoff(), 0))"
        )


def _retries(client: object) -> int:
    """How often the client sends a command again after an error."""
    pool = getattr(client, "connection_pool", None)
    if pool is not None:
        # Some options make the connection send again, whatever `retry` is. This one is never connected.
        connection = pool.connection_class(**pool.connection_kwargs)
        return int(getattr(getattr(connection, "retry", None), "_retries", 0))
    get_retry = getattr(client, "get_retry", None)
    retry = get_retry() if get_retry else getattr(client, "retry", None)
    if retry is None:
        return int(getattr(client, "cluster_error_retry_attempts", 0) or 0)
    return int(getattr(retry, "_retries", 0))


def node_of(client: Any, key: str) -> Any:
    """The node of a cluster that has this key, if that is known."""
    try:
        return client.get_node_from_key(key)
    except Exception:
        return None  # the client does not know the cluster yet, or no node has this slot


def most_connections(client: Any, node: Any) -> int:
    """How many connections the client opens to a server, or to a node of a cluster."""
    return int(getattr(getattr(client, "connection_pool", node), "max_connections", 2**31))


def patience(client: Any) -> float:
    """How many seconds a client waits for a reply; 1 if it has no `socket_timeout`."""
    pool = getattr(client, "connection_pool", None)
    options = client.get_connection_kwargs() if pool is None else pool.connection_kwargs
    return float(options.get("socket_timeout") or 1)
