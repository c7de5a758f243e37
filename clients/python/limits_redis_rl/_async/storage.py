"""Storages for limits: the fixed window is RL.FIXED, the moving window RL.ROLLING, the sliding window counter
RL.COUNTER. Each has keys of its own, ``<key_prefix>:<algorithm>:{<key>}``."""

from __future__ import annotations

import re
import time
from typing import Any
from urllib.parse import unquote, urlsplit

import redis
import redis.asyncio
from limits.aio.storage import MovingWindowSupport, SlidingWindowCounterSupport, Storage
from limits.errors import ConfigurationError
from limits.limits import GRANULARITIES
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from ..aio import IS_ASYNC, LONGER
from ..client import patience
from ..decision import Decision
from ..policy import LARGEST
from .limiter import AsyncLimiter

# Seconds. The client of redis waits for ever if it is not told otherwise.
TIMEOUTS = {"socket_timeout": 0.1, "socket_connect_timeout": 0.1}


def policy(algorithm: str, window: int, limit: int) -> str:
    return f"{algorithm} {window} {min(limit, LARGEST)} AS {algorithm.lower()}"


def limit_in(key: str) -> tuple[int, int]:
    """The limit and the window of a fixed window. limits passes neither, but they are the last parts of the key."""
    try:
        amount, multiples, granularity = key.rsplit("/", 3)[1:]
        return int(amount), int(multiples) * GRANULARITIES[granularity].GRANULARITY.seconds
    except (ValueError, KeyError):
        raise ValueError("the key does not end as RateLimitItem.key_for writes it: /amount/multiples/unit") from None


class AsyncRedisRlStorage(Storage, MovingWindowSupport, SlidingWindowCounterSupport):
    """A storage on a server, or on a cluster: ``async+redis-rl+cluster://[[user]:password@]host:port,host:port``.

    :param key_prefix: what the keys begin with
    :param module, unavailable, instances: those of :class:`limits_redis_rl.Limiter`
    :param options: arguments for the client of :pypi:`redis`
    """

    STORAGE_SCHEME = [  # noqa: RUF012
        "async+redis-rl",
        "async+rediss-rl",
        "async+redis-rl+unix",
        "async+redis-rl+cluster",
    ]

    def __init__(
        self,
        uri: str,
        key_prefix: str = "RL",
        wrap_exceptions: bool = False,
        module: str = "optional",
        unavailable: str = "error",
        instances: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(uri, wrap_exceptions=wrap_exceptions)
        self.storage, timeout = self._connect(uri.removeprefix("async+"), options)
        self.key_prefix = key_prefix
        self.limiter = AsyncLimiter(
            self.storage,
            prefix=f"{key_prefix}:",
            unavailable=unavailable,
            instances=instances,
            timeout=timeout if IS_ASYNC else None,
            module=module,
        )
        self.counters = self.limiter.counters

    def _connect(self, uri: str, options: dict[str, Any]) -> tuple[Any, float]:
        """The client, and how many seconds a call waits for a reply at most. No client sends a command again, since the
        server may have charged it."""
        scheme, rest = uri.split("://", 1)
        if not scheme.endswith("+cluster"):
            is_unix = scheme.endswith("+unix")
            # A socket has no timeout of its connection.
            timeouts = {"socket_timeout": TIMEOUTS["socket_timeout"]} if is_unix else TIMEOUTS
            uri = f"{'unix' if is_unix else scheme.removesuffix('-rl')}://{rest}"
            client = redis.asyncio.Redis.from_url(uri, **{"retry": None, **timeouts, **options})
            return client, patience(client)
        user, _, hosts = urlsplit(uri).netloc.rpartition("@")
        username, _, password = map(unquote, user.partition(":"))
        auth = {name: value for name, value in (("username", username), ("password", password)) if value}
        node: Any = redis.asyncio.cluster.ClusterNode
        try:
            nodes = [node(host, int(port)) for host, _, port in (each.rpartition(":") for each in hosts.split(","))]
        except ValueError:
            raise ConfigurationError("expected redis-rl+cluster://[[user]:password@]host:port[,host:port …]") from None
        options = {"retry": Retry(NoBackoff(), 0), **TIMEOUTS, **auth, **options}
        timeout = float(options["socket_timeout"] or 1)
        options["socket_timeout"] = max(timeout, LONGER)
        return redis.asyncio.RedisCluster(startup_nodes=nodes, **options), timeout

    @property
    def base_exceptions(self) -> type[Exception]:
        return redis.RedisError

    async def _decide(self, verb: str, algorithm: str, key: str, window: int, limit: int, cost: int = 0) -> Decision:
        try:
            each = self.limiter.limit(policy(algorithm, window, limit), key, cost)
        except ValueError as error:
            self.limiter.log.rejected(error)
            raise
        return (await self.limiter.decide(verb, [each])).limits[0]

    async def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """The counter that makes ``counter <= limit`` the decision. A denied cost above what is left is not counted,
        and a limit in shadow mode allows more than it says."""
        limit, _ = limit_in(key)
        found = await self._decide("CHECK", "FIXED", key, expiry, limit, amount)
        return min(found.count, limit) if found.allowed else max(found.count, limit + 1)

    async def get(self, key: str) -> int:
        limit, window = limit_in(key)
        return limit - (await self._decide("PEEK", "FIXED", key, window, limit)).remaining

    async def get_expiry(self, key: str) -> float:
        limit, window = limit_in(key)
        return time.time() + (await self._decide("PEEK", "FIXED", key, window, limit)).reset_ms / 1000

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        return (await self._decide("CHECK", "ROLLING", key, expiry, limit, amount)).allowed

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        """limits adds the window to the start to know when more is available."""
        found = await self._decide("PEEK", "ROLLING", key, expiry, limit)
        return time.time() + (found.next_ms / 1000 - expiry if found.count else 0), limit - found.remaining

    async def acquire_sliding_window_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        return (await self._decide("CHECK", "COUNTER", key, expiry, limit, amount)).allowed

    async def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        """Counter and time to live of the previous and of the current window. limits does not say the limit, so it is
        the largest here.

        From those of the previous one, limits computes what the server has computed already: the count,
        ``counter * ttl / window``, rounded down, and the time until more is available, ``ttl % (window / counter)``.
        That time may be longer than a window, but not than two. So the counter is 1/4, and the ttl has both: a window
        of four for each unit, and the time.
        """
        found = await self._decide("PEEK", "COUNTER", key, expiry, LARGEST)
        count = found.limit - found.remaining if found.count else 0
        return 0.25 if count else 0, count * 4 * expiry + found.next_ms / 1000, 0, 0.0  # type: ignore[return-value]

    async def clear_sliding_window(self, key: str, expiry: int) -> None:
        await self.limiter.reset(policy("COUNTER", expiry, 0), key)

    async def clear(self, key: str) -> None:
        """limits clears a fixed and a moving window by the same call."""
        for algorithm in ("FIXED", "ROLLING"):
            await self.limiter.reset(policy(algorithm, limit_in(key)[1], 0), key)

    async def check(self) -> bool:
        try:
            return bool(await self.storage.ping())
        except Exception:  # as the storages of limits do
            return False

    async def reset(self) -> int | None:
        """Deletes every key of this storage. It scans the whole server."""
        pattern, deleted = re.sub(r"([\\*?\[\]])", r"\\\1", self.key_prefix) + ":*", 0
        async for key in self.storage.scan_iter(match=pattern, count=1000):
            deleted += int(await self.storage.unlink(key))
        return deleted
