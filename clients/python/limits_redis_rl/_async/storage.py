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

from ..aio import HAS_TIMER, LONGER, ping, send
from ..charge import Words
from ..guard import Counters, Guard, patience
from ..keys import EXACT, LARGEST, bounded
from ..storage import TIMEOUTS, Figures, cluster, limit_in, patterns, redis_uri, safe
from .execute import execute


class AsyncRedisRlStorage(Storage, MovingWindowSupport, SlidingWindowCounterSupport):
    """A storage on one server: ``async+redis-rl://``, ``async+rediss-rl://`` (TLS) or ``async+redis-rl+unix://``."""

    STORAGE_SCHEME = ["async+redis-rl", "async+rediss-rl", "async+redis-rl+unix"]  # noqa: RUF012

    storage: Any
    """The client of :pypi:`redis`."""

    def __init__(
        self,
        uri: str,
        key_prefix: str = "RL",
        moving_window: str = "ROLLING",
        wrap_exceptions: bool = False,
        module: str = "optional",
        **options: Any,
    ) -> None:
        """
        :param uri: as :func:`redis.from_url` takes it, with the scheme of this class
        :param key_prefix: what the keys in the server begin with
        :param moving_window: the algorithm of the moving window, ``ROLLING`` or ``SLIDING``
        :param module: ``optional``: without the module, the Lua scripts decide; ``required``: that is an error
        :param wrap_exceptions: whether errors are raised as :exc:`limits.errors.StorageError`
        :param options: arguments for the client of :pypi:`redis`, such as ``socket_timeout`` (0.1 s if not given)
        """
        if not isinstance(key_prefix, str):
            raise ConfigurationError("key_prefix: expected a str")
        super().__init__(uri, wrap_exceptions=wrap_exceptions)
        self.storage, timeout = self._connect(uri.removeprefix("async+"), options)
        if moving_window not in ("ROLLING", "SLIDING"):
            raise ConfigurationError("moving_window is ROLLING or SLIDING")
        self.key_prefix = key_prefix
        self.moving_window = moving_window
        self.guard = Guard(timeout=timeout, timer=HAS_TIMER, module=module)

    def _connect(self, uri: str, options: dict[str, Any]) -> tuple[Any, float]:
        """The client, and how many seconds a call waits for a reply at most."""
        uri = redis_uri(uri)
        client = redis.asyncio.Redis.from_url(uri, **{**safe(uri), **options})
        return client, patience(client)

    @property
    def base_exceptions(self) -> type[Exception]:
        return redis.RedisError

    @property
    def counters(self) -> Counters:
        """What happened since the start. The framework decides what a request without a decision gets."""
        return self.guard.counters

    def _key(self, algorithm: str, key: str) -> str:
        # The prefix stays as it is: a user of the server may have the permission for these keys only.
        return f"{self.key_prefix}:{algorithm.lower()}:{bounded(key).decode()}"

    async def _send(self, command: list[str], algorithm: str, key: str, *words: str | int) -> Any:
        named = self._key(algorithm, key)
        try:
            call: Words = [*command, named, *words]
            [reply] = await send(self.guard, self.storage, named, lambda: execute(self.guard, self.storage, [call]))
            return reply
        except Exception as error:
            self.counters.faults += not self.guard.failed(error, "the framework decides")
            raise

    async def _hit(self, algorithm: str, key: str, window: int, limit: int, cost: int) -> Figures:
        words = (window, limit, "COST", min(cost, LARGEST), "FULL")
        figures = Figures.of(await self._send([f"RL.{algorithm}"], algorithm, key, *words))
        self.guard.decided(figures.allowed)
        return figures

    async def _peek(self, algorithm: str, key: str, window: int, limit: int) -> Figures:
        words = (window, limit, "COST", 0, "FULL")
        return Figures.of(await self._send(["RL.PEEK", algorithm], algorithm, key, *words))

    async def _reset(self, algorithm: str, key: str, window: int) -> None:
        await self._send(["RL.RESET", algorithm], algorithm, key, window)

    async def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        limit, _ = limit_in(key)
        return (await self._hit("FIXED", key, expiry, limit, amount)).fixed_count(limit)

    async def get(self, key: str) -> int:
        limit, window = limit_in(key)
        return (await self._peek("FIXED", key, window, limit)).count

    async def get_expiry(self, key: str) -> float:
        limit, window = limit_in(key)
        return time.time() + (await self._peek("FIXED", key, window, limit)).reset

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        return (await self._hit(self.moving_window, key, expiry, limit, amount)).allowed

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        return (await self._peek(self.moving_window, key, expiry, limit)).moving_window(expiry)

    async def acquire_sliding_window_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        return (await self._hit("COUNTER", key, expiry, limit, amount)).allowed

    async def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        return (await self._peek("COUNTER", key, expiry, EXACT)).sliding_window(expiry)

    async def clear_sliding_window(self, key: str, expiry: int) -> None:
        await self._reset("COUNTER", key, expiry)

    async def clear(self, key: str) -> None:
        """limits clears a fixed and a moving window by the same call."""
        for algorithm in ("FIXED", self.moving_window):
            await self._reset(algorithm, key, limit_in(key)[1])

    async def check(self) -> bool:
        return await ping(self.storage, self.guard.timeout)

    async def reset(self) -> int | None:
        """Deletes every key of this storage. It scans the whole server."""
        deleted = 0
        for pattern in patterns(self.key_prefix):
            async for key in self.storage.scan_iter(match=pattern, count=1000):
                deleted += int(await self.storage.unlink(key))
        return deleted


class AsyncRedisRlClusterStorage(AsyncRedisRlStorage):
    """A storage on a cluster: ``async+redis-rl+cluster://[:password@]host:port,host:port``."""

    STORAGE_SCHEME = ["async+redis-rl+cluster"]  # noqa: RUF012

    def _connect(self, uri: str, options: dict[str, Any]) -> tuple[Any, float]:
        locations, auth = cluster(uri)
        node: Any = redis.asyncio.cluster.ClusterNode
        nodes = [node(*location) for location in locations]
        options = {"retry": Retry(NoBackoff(), 0), **TIMEOUTS, **auth, **options}
        timeout = float(options["socket_timeout"] or 1)
        options["socket_timeout"] = max(timeout, LONGER)
        return redis.asyncio.RedisCluster(startup_nodes=nodes, **options), timeout
