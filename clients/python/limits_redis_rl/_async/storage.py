"""Storages for limits."""

from __future__ import annotations

import time
from typing import Any

import redis
import redis.asyncio
from limits.aio.storage import MovingWindowSupport, SlidingWindowCounterSupport, Storage
from limits.errors import ConfigurationError
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from ..aio import IS_ASYNC, LONGER
from ..client import patience
from ..decision import Decision
from ..log import Counters
from ..policy import LARGEST
from ..storage import (
    TIMEOUTS,
    cluster,
    counted,
    fixed_count,
    limit_in,
    moving_window,
    pattern,
    policy,
    redis_uri,
    safe,
    sliding_window,
)
from .limiter import AsyncLimiter


class AsyncRedisRlStorage(Storage, MovingWindowSupport, SlidingWindowCounterSupport):
    """A storage on a server: ``async+redis-rl://``, ``async+rediss-rl://`` (TLS), ``async+redis-rl+unix://``; or on a
    cluster: ``async+redis-rl+cluster://[:password@]host:port,host:port``."""

    STORAGE_SCHEME = [  # noqa: RUF012
        "async+redis-rl",
        "async+rediss-rl",
        "async+redis-rl+unix",
        "async+redis-rl+cluster",
    ]

    storage: Any
    """The client of :pypi:`redis`."""

    def __init__(
        self,
        uri: str,
        key_prefix: str = "RL",
        moving_window: str = "ROLLING",
        wrap_exceptions: bool = False,
        module: str = "optional",
        unavailable: str = "error",
        instances: int | None = None,
        **options: Any,
    ) -> None:
        """
        :param uri: as :func:`redis.from_url` takes it, with the scheme of this class
        :param key_prefix: what the keys in the server begin with
        :param moving_window: the algorithm of the moving window, ``ROLLING`` or ``SLIDING``
        :param module, unavailable, instances: those of :class:`limits_redis_rl.Limiter`
        :param wrap_exceptions: whether errors are raised as :exc:`limits.errors.StorageError`
        :param options: arguments for the client of :pypi:`redis`, such as ``socket_timeout`` (0.1 s if not given)
        """
        if not isinstance(key_prefix, str):
            raise ConfigurationError("key_prefix: expected a str")
        if moving_window not in ("ROLLING", "SLIDING"):
            raise ConfigurationError("moving_window is ROLLING or SLIDING")
        super().__init__(uri, wrap_exceptions=wrap_exceptions)
        self.storage, timeout = self._connect(uri.removeprefix("async+"), options)
        self.key_prefix = key_prefix
        self.moving_window = moving_window
        self.limiter = AsyncLimiter(
            self.storage,
            prefix=f"{key_prefix}:",
            unavailable=unavailable,
            instances=instances,
            timeout=timeout if IS_ASYNC else None,
            module=module,
        )

    def _connect(self, uri: str, options: dict[str, Any]) -> tuple[Any, float]:
        """The client, and how many seconds a call waits for a reply at most."""
        if not uri.startswith("redis-rl+cluster:"):
            uri = redis_uri(uri)
            client = redis.asyncio.Redis.from_url(uri, **{**safe(uri), **options})
            return client, patience(client)
        locations, auth = cluster(uri)
        node: Any = redis.asyncio.cluster.ClusterNode
        nodes = [node(*location) for location in locations]
        options = {"retry": Retry(NoBackoff(), 0), **TIMEOUTS, **auth, **options}
        timeout = float(options["socket_timeout"] or 1)
        options["socket_timeout"] = max(timeout, LONGER)
        return redis.asyncio.RedisCluster(startup_nodes=nodes, **options), timeout

    @property
    def base_exceptions(self) -> type[Exception]:
        return redis.RedisError

    @property
    def counters(self) -> Counters:
        """What happened since the start."""
        return self.limiter.counters

    async def _decide(self, verb: str, algorithm: str, key: str, window: int, limit: int, cost: int = 0) -> Decision:
        try:
            each = self.limiter.limit(policy(algorithm, window, limit), key, cost)
        except ValueError as error:
            self.limiter.log.rejected(error)
            raise
        return (await self.limiter.decide(verb, [each])).limits[0]

    async def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        limit, _ = limit_in(key)
        return fixed_count(await self._decide("CHECK", "FIXED", key, expiry, limit, amount), limit)

    async def get(self, key: str) -> int:
        limit, window = limit_in(key)
        return counted(await self._decide("PEEK", "FIXED", key, window, limit))

    async def get_expiry(self, key: str) -> float:
        limit, window = limit_in(key)
        return time.time() + (await self._decide("PEEK", "FIXED", key, window, limit)).reset_ms / 1000

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        return (await self._decide("CHECK", self.moving_window, key, expiry, limit, amount)).allowed

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        return moving_window(await self._decide("PEEK", self.moving_window, key, expiry, limit), expiry)

    async def acquire_sliding_window_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        return (await self._decide("CHECK", "COUNTER", key, expiry, limit, amount)).allowed

    async def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        return sliding_window(await self._decide("PEEK", "COUNTER", key, expiry, LARGEST), expiry)

    async def clear_sliding_window(self, key: str, expiry: int) -> None:
        await self.limiter.reset(policy("COUNTER", expiry, 0), key)

    async def clear(self, key: str) -> None:
        """limits clears a fixed and a moving window by the same call."""
        for algorithm in ("FIXED", self.moving_window):
            await self.limiter.reset(policy(algorithm, limit_in(key)[1], 0), key)

    async def check(self) -> bool:
        try:
            return bool(await self.storage.ping())
        except Exception:  # as the storages of limits do
            return False

    async def reset(self) -> int | None:
        """Deletes every key of this storage. It scans the whole server."""
        deleted = 0
        async for key in self.storage.scan_iter(match=pattern(self.key_prefix), count=1000):
            deleted += int(await self.storage.unlink(key))
        return deleted
