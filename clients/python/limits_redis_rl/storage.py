"""Storages for limits.

Its fixed window is RL.FIXED, its moving window RL.ROLLING, its sliding window counter RL.COUNTER.

Every storage has keys of its own for each algorithm, ``<prefix>:<algorithm>:<key>``.
"""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

import limits.aio.storage as aio
import redis
import redis.asyncio
from limits.errors import ConfigurationError
from limits.limits import GRANULARITIES
from limits.storage import MovingWindowSupport, SlidingWindowCounterSupport, Storage
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from .aio import in_time
from .guard import LARGEST, Counters, Guard, bounded, connected, patience

MovingWindow = Literal["ROLLING", "SLIDING"]
Word = str | int

# Seconds. The client of redis waits for ever if it is not told otherwise.
TIMEOUTS = {"socket_timeout": 0.1, "socket_connect_timeout": 0.1}
# Longer than the reply to any call is awaited, if the time of the call is not longer.
LONGER = 2.0


@dataclass(frozen=True)
class Figures:
    """What this module uses of a reply with FULL."""

    allowed: bool
    count: int
    remaining: int
    next: float
    reset: float

    @classmethod
    def of(cls, reply: Any) -> Figures:
        # A map on RESP3, a flat array on RESP2; names are bytes unless the client decodes replies.
        # Figures that are not known here may follow.
        pairs = reply.items() if isinstance(reply, dict) else zip(reply[::2], reply[1::2], strict=True)
        fields = {name.decode() if isinstance(name, bytes) else name: value for name, value in pairs}
        return cls(
            allowed=int(fields["allowed"]) == 1,
            count=int(fields["count"]),
            remaining=int(fields["remaining"]),
            next=int(fields["next_ms"]) / 1000,
            reset=int(fields["reset_ms"]) / 1000,
        )


class Seconds(float):
    """A time until more is available. It has no remainder.

    To find this time, limits takes the remainder of the time to live of a counter. The module has computed the time
    itself, and it may be longer than a window.
    """

    def __mod__(self, other: float) -> float:
        return float(self)


class Commands:
    """The commands for what limits asks, and what limits expects of their replies. Both kinds of storage use it."""

    key_prefix: str
    moving_window: MovingWindow
    guard: Guard

    def _configure(self, key_prefix: str, moving_window: str, timeout: float, timer: bool) -> None:
        if moving_window not in ("ROLLING", "SLIDING"):
            raise ConfigurationError("moving_window is ROLLING or SLIDING")
        self.key_prefix = key_prefix
        self.moving_window = moving_window  # type: ignore[assignment]
        self.guard = Guard(timeout=timeout, timer=timer)

    @property
    def counters(self) -> Counters:
        """What happened since the start. The framework decides what a request without a decision gets."""
        return self.guard.counters

    def _counted(self, figures: Figures) -> Figures:
        if figures.allowed:
            self.counters.allowed += 1
        else:
            self.counters.denied += 1
        return figures

    def _failed(self, error: Exception) -> None:
        if not self.guard.failed(error, "the framework decides"):
            self.counters.faults += 1

    def _key(self, algorithm: str, key: str) -> str:
        # The prefix stays as it is: a user of the server may have the permission for these keys only.
        return f"{self.key_prefix}:{algorithm.lower()}:{bounded(key).decode()}"

    @staticmethod
    def _key_in(words: list[Word]) -> str:
        return str(words[1 if words[0] not in ("RL.PEEK", "RL.RESET") else 2])

    def _hit(self, algorithm: str, key: str, window: int, limit: int, cost: int) -> list[Word]:
        return [f"RL.{algorithm}", self._key(algorithm, key), window, limit, "COST", min(cost, LARGEST), "FULL"]

    def _peek(self, algorithm: str, key: str, window: int, limit: int) -> list[Word]:
        return ["RL.PEEK", algorithm, self._key(algorithm, key), window, limit, "COST", 0, "FULL"]

    def _reset(self, algorithm: str, key: str, window: int) -> list[Word]:
        return ["RL.RESET", algorithm, self._key(algorithm, key), window]

    def _clear(self, key: str) -> list[list[Word]]:
        """limits clears a fixed and a moving window by the same call."""
        window = self._limit_in(key)[1]
        return [self._reset(algorithm, key, window) for algorithm in ("FIXED", self.moving_window)]

    def _patterns(self) -> list[str]:
        """The keys of this storage. In a cluster, FIXED puts the key in braces."""
        prefix = re.sub(r"([\\*?\[\]])", r"\\\1", self.key_prefix)
        return [f"{prefix}:*", f"{{{prefix}:*"]

    @staticmethod
    def _limit_in(key: str) -> tuple[int, int]:
        """The limit and the window of a fixed window. limits passes neither, but they are the last parts of the key."""
        parts = key.rsplit("/", 3)[1:]
        try:
            amount, multiples, granularity = parts
            return int(amount), int(multiples) * GRANULARITIES[granularity].GRANULARITY.seconds
        except (ValueError, KeyError):
            raise ValueError(
                "the key does not end as RateLimitItem.key_for writes it: /amount/multiples/unit"
            ) from None

    @staticmethod
    def _fixed_count(figures: Figures, limit: int) -> int:
        """The counter that makes ``counter <= limit`` the module's decision.

        A denied cost above what is left is not counted, and a limit in shadow mode allows more than it says.
        """
        return min(figures.count, limit) if figures.allowed else max(figures.count, limit + 1)

    @staticmethod
    def _moving_window(figures: Figures, window: int) -> tuple[float, int]:
        """limits adds the window to the start to know when more is available."""
        return (time.time() + figures.next - window if figures.count else time.time()), figures.count

    @staticmethod
    def _sliding_window(figures: Figures) -> tuple[int, float, int, float]:
        """Counter and time to live of the previous and of the current window.

        limits computes a weighted count from them. The module has done that; rounded up, the count is what is not left.
        """
        return 0, 0.0, LARGEST - figures.remaining, Seconds(figures.next)


class RedisRlStorage(Commands, Storage, MovingWindowSupport, SlidingWindowCounterSupport):
    """A storage on one server: ``redis-rl://``, ``rediss-rl://`` (TLS) or ``redis-rl+unix://``."""

    STORAGE_SCHEME = ["redis-rl", "rediss-rl", "redis-rl+unix"]  # noqa: RUF012

    storage: redis.Redis | redis.RedisCluster

    def __init__(
        self,
        uri: str,
        key_prefix: str = "RL",
        moving_window: str = "ROLLING",
        wrap_exceptions: bool = False,
        **options: Any,
    ) -> None:
        """
        :param uri: as :func:`redis.from_url` takes it, with the scheme of this class
        :param key_prefix: what the keys in the server begin with
        :param moving_window: the algorithm of the moving window, ``ROLLING`` or ``SLIDING``
        :param wrap_exceptions: whether errors are raised as :exc:`limits.errors.StorageError`
        :param options: arguments for the client of :pypi:`redis`, such as ``socket_timeout`` (0.1 s if not given)
        """
        super().__init__(uri, wrap_exceptions=wrap_exceptions)
        self.storage = self._connect(uri, options)
        self._configure(key_prefix, moving_window, patience(self.storage), timer=False)

    def _connect(self, uri: str, options: dict[str, Any]) -> redis.Redis | redis.RedisCluster:
        uri = _redis_uri(uri)
        return redis.Redis.from_url(uri, **{**_safe(uri), **options})

    @property
    def base_exceptions(self) -> type[Exception]:
        return redis.RedisError

    def _ask(self, words: list[Word]) -> Any:
        try:
            return connected(
                self.guard,
                self.storage,
                self._key_in(words),
                lambda: self.storage.execute_command(*words),  # type: ignore[no-untyped-call]
            )
        except Exception as error:
            self._failed(error)
            if isinstance(error, redis.ReadOnlyError) and isinstance(self.storage, redis.Redis):
                # After a failover the address may lead to another server, but the connections still lead to this one.
                self.storage.connection_pool.disconnect(inuse_connections=False)
            raise

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        limit, _ = self._limit_in(key)
        figures = Figures.of(self._ask(self._hit("FIXED", key, expiry, limit, amount)))
        return self._fixed_count(self._counted(figures), limit)

    def get(self, key: str) -> int:
        limit, window = self._limit_in(key)
        return Figures.of(self._ask(self._peek("FIXED", key, window, limit))).count

    def get_expiry(self, key: str) -> float:
        limit, window = self._limit_in(key)
        return time.time() + Figures.of(self._ask(self._peek("FIXED", key, window, limit))).reset

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        figures = Figures.of(self._ask(self._hit(self.moving_window, key, expiry, limit, amount)))
        return self._counted(figures).allowed

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        return self._moving_window(Figures.of(self._ask(self._peek(self.moving_window, key, expiry, limit))), expiry)

    def acquire_sliding_window_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        figures = Figures.of(self._ask(self._hit("COUNTER", key, expiry, limit, amount)))
        return self._counted(figures).allowed

    def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        return self._sliding_window(Figures.of(self._ask(self._peek("COUNTER", key, expiry, LARGEST))))

    def clear_sliding_window(self, key: str, expiry: int) -> None:
        self._ask(self._reset("COUNTER", key, expiry))

    def clear(self, key: str) -> None:
        for words in self._clear(key):
            self._ask(words)

    def check(self) -> bool:
        try:
            return bool(self.storage.ping())
        except (redis.RedisError, OSError):
            return False

    def reset(self) -> int | None:
        """Deletes every key of this storage. It scans the whole server."""
        deleted = 0
        for pattern in self._patterns():
            for key in self.storage.scan_iter(match=pattern, count=1000):
                deleted += int(self.storage.unlink(key))
        return deleted


class RedisRlClusterStorage(RedisRlStorage):
    """A storage on a cluster: ``redis-rl+cluster://[:password@]host:port,host:port``."""

    STORAGE_SCHEME = ["redis-rl+cluster"]  # noqa: RUF012

    def _connect(self, uri: str, options: dict[str, Any]) -> redis.RedisCluster:
        locations, auth = _cluster(uri)
        nodes = [redis.cluster.ClusterNode(*location) for location in locations]  # type: ignore[no-untyped-call]
        never = Retry(NoBackoff(), 0)
        return redis.RedisCluster(startup_nodes=nodes, **{"retry": never, **TIMEOUTS, **auth, **options})


class AsyncRedisRlStorage(Commands, aio.Storage, aio.MovingWindowSupport, aio.SlidingWindowCounterSupport):
    """:class:`RedisRlStorage` for asyncio: ``async+redis-rl://``, ``async+rediss-rl://`` or ``async+redis-rl+unix://``."""

    STORAGE_SCHEME = ["async+redis-rl", "async+rediss-rl", "async+redis-rl+unix"]  # noqa: RUF012

    storage: redis.asyncio.Redis | redis.asyncio.RedisCluster

    def __init__(
        self,
        uri: str,
        key_prefix: str = "RL",
        moving_window: str = "ROLLING",
        wrap_exceptions: bool = False,
        **options: Any,
    ) -> None:
        """The parameters are those of :class:`RedisRlStorage`."""
        super().__init__(uri, wrap_exceptions=wrap_exceptions)
        self.storage = self._connect(uri.removeprefix("async+"), options)
        self._configure(key_prefix, moving_window, self._timeout(options), timer=True)

    def _connect(self, uri: str, options: dict[str, Any]) -> redis.asyncio.Redis | redis.asyncio.RedisCluster:
        uri = _redis_uri(uri)
        return redis.asyncio.Redis.from_url(uri, **{**_safe(uri), **options})

    def _timeout(self, options: dict[str, Any]) -> float:
        """How many seconds a call waits for a reply at most."""
        return patience(self.storage)

    @property
    def base_exceptions(self) -> type[Exception]:
        return redis.RedisError

    async def _ask(self, words: list[Word]) -> Any:
        try:
            return await in_time(
                self.guard, self.storage, self._key_in(words), lambda: self.storage.execute_command(*words)
            )
        except Exception as error:
            self._failed(error)
            raise

    async def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        limit, _ = self._limit_in(key)
        figures = Figures.of(await self._ask(self._hit("FIXED", key, expiry, limit, amount)))
        return self._fixed_count(self._counted(figures), limit)

    async def get(self, key: str) -> int:
        limit, window = self._limit_in(key)
        return Figures.of(await self._ask(self._peek("FIXED", key, window, limit))).count

    async def get_expiry(self, key: str) -> float:
        limit, window = self._limit_in(key)
        return time.time() + Figures.of(await self._ask(self._peek("FIXED", key, window, limit))).reset

    async def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        figures = Figures.of(await self._ask(self._hit(self.moving_window, key, expiry, limit, amount)))
        return self._counted(figures).allowed

    async def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        reply = await self._ask(self._peek(self.moving_window, key, expiry, limit))
        return self._moving_window(Figures.of(reply), expiry)

    async def acquire_sliding_window_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        figures = Figures.of(await self._ask(self._hit("COUNTER", key, expiry, limit, amount)))
        return self._counted(figures).allowed

    async def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        return self._sliding_window(Figures.of(await self._ask(self._peek("COUNTER", key, expiry, LARGEST))))

    async def clear_sliding_window(self, key: str, expiry: int) -> None:
        await self._ask(self._reset("COUNTER", key, expiry))

    async def clear(self, key: str) -> None:
        for words in self._clear(key):
            await self._ask(words)

    async def check(self) -> bool:
        try:
            return bool(await asyncio.wait_for(self.storage.ping(), self.guard.timeout))
        except (redis.RedisError, OSError, asyncio.TimeoutError):
            return False

    async def reset(self) -> int | None:
        """Deletes every key of this storage. It scans the whole server."""
        deleted = 0
        for pattern in self._patterns():
            async for key in self.storage.scan_iter(match=pattern, count=1000):
                deleted += int(await self.storage.unlink(key))
        return deleted


class AsyncRedisRlClusterStorage(AsyncRedisRlStorage):
    """:class:`RedisRlClusterStorage` for asyncio: ``async+redis-rl+cluster://…``."""

    STORAGE_SCHEME = ["async+redis-rl+cluster"]  # noqa: RUF012

    def _connect(self, uri: str, options: dict[str, Any]) -> redis.asyncio.RedisCluster:
        locations, auth = _cluster(uri)
        nodes = [redis.asyncio.cluster.ClusterNode(*location) for location in locations]
        never = AsyncRetry(NoBackoff(), 0)
        # After a timeout of its own, the client closes its connections to all nodes.
        socket_timeout = max(self._timeout(options), LONGER)
        options = {"retry": never, **TIMEOUTS, **auth, **options, "socket_timeout": socket_timeout}
        return redis.asyncio.RedisCluster(startup_nodes=nodes, **options)

    def _timeout(self, options: dict[str, Any]) -> float:
        return float(options.get("socket_timeout", TIMEOUTS["socket_timeout"]) or 1)


def _redis_uri(uri: str) -> str:
    """``redis-rl://`` -> ``redis://``, ``rediss-rl://`` -> ``rediss://``, ``redis-rl+unix://`` -> ``unix://``"""
    scheme, rest = uri.split("://", 1)
    return f"{'unix' if scheme.endswith('+unix') else scheme.removesuffix('-rl')}://{rest}"


def _safe(uri: str) -> dict[str, Any]:
    """Options of the client: a timeout, and no command is sent again, since the server may have charged it."""
    timeouts = {"socket_timeout": TIMEOUTS["socket_timeout"]} if uri.startswith("unix:") else TIMEOUTS
    return {"retry": None, **timeouts}


def _cluster(uri: str) -> tuple[list[tuple[str, int]], dict[str, Any]]:
    user, _, hosts = urlsplit(uri).netloc.rpartition("@")
    username, _, password = map(unquote, user.partition(":"))
    auth = {"username": username, "password": password}
    try:
        locations = [(host, int(port)) for host, _, port in (part.rpartition(":") for part in hosts.split(","))]
    except ValueError:
        raise ConfigurationError("expected redis-rl+cluster://[[user]:password@]host:port[,host:port …]") from None
    return locations, {name: value for name, value in auth.items() if value}
