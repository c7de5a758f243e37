# Made by clients/python/generate from _async/storage.py. Do not edit.
"""Storages for limits."""

from __future__ import annotations

import time
from typing import Any

import redis
import redis
from limits.storage import MovingWindowSupport, SlidingWindowCounterSupport, Storage
from redis.retry import Retry
from redis.backoff import NoBackoff

from ..threads import LONGER, ping, send
from ..guard import LARGEST, patience
from ..storage import TIMEOUTS, Commands, Figures, Word, cluster, redis_uri, safe


class RedisRlStorage(Commands, Storage, MovingWindowSupport, SlidingWindowCounterSupport):
    """A storage on one server: ``redis-rl://``, ``rediss-rl://`` (TLS) or ``redis-rl+unix://``."""

    STORAGE_SCHEME = ["redis-rl", "rediss-rl", "redis-rl+unix"]  # noqa: RUF012

    storage: Any
    """The client of :pypi:`redis`."""

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
        self.storage, timeout = self._connect(uri.removeprefix(""), options)
        self._configure(key_prefix, moving_window, timeout, has_timer=LONGER > 0)

    def _connect(self, uri: str, options: dict[str, Any]) -> tuple[Any, float]:
        """The client, and how many seconds a call waits for a reply at most."""
        uri = redis_uri(uri)
        client = redis.Redis.from_url(uri, **{**safe(uri), **options})
        return client, patience(client)

    @property
    def base_exceptions(self) -> type[Exception]:
        return redis.RedisError

    def _ask(self, words: list[Word]) -> Any:
        try:
            return send(
                self.guard, self.storage, self._key_in(words), lambda: self.storage.execute_command(*words)
            )
        except Exception as error:
            self._failed(error)
            raise

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        limit, _ = self._limit_in(key)
        return self._fixed_count(self._counted(self._ask(self._hit("FIXED", key, expiry, limit, amount))), limit)

    def get(self, key: str) -> int:
        limit, window = self._limit_in(key)
        return Figures.of(self._ask(self._peek("FIXED", key, window, limit))).count

    def get_expiry(self, key: str) -> float:
        limit, window = self._limit_in(key)
        return time.time() + Figures.of(self._ask(self._peek("FIXED", key, window, limit))).reset

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        return self._counted(self._ask(self._hit(self.moving_window, key, expiry, limit, amount))).allowed

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        reply = self._ask(self._peek(self.moving_window, key, expiry, limit))
        return self._moving_window(Figures.of(reply), expiry)

    def acquire_sliding_window_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        return self._counted(self._ask(self._hit("COUNTER", key, expiry, limit, amount))).allowed

    def get_sliding_window(self, key: str, expiry: int) -> tuple[int, float, int, float]:
        reply = self._ask(self._peek("COUNTER", key, expiry, LARGEST))
        return self._sliding_window(Figures.of(reply), expiry)

    def clear_sliding_window(self, key: str, expiry: int) -> None:
        self._ask(self._reset("COUNTER", key, expiry))

    def clear(self, key: str) -> None:
        for words in self._clear(key):
            self._ask(words)

    def check(self) -> bool:
        return ping(self.storage, self.guard.timeout)

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

    def _connect(self, uri: str, options: dict[str, Any]) -> tuple[Any, float]:
        locations, auth = cluster(uri)
        node: Any = redis.cluster.ClusterNode
        nodes = [node(*location) for location in locations]
        options = {"retry": Retry(NoBackoff(), 0), **TIMEOUTS, **auth, **options}
        timeout = float(options["socket_timeout"] or 1)
        options["socket_timeout"] = max(timeout, LONGER)
        return redis.RedisCluster(startup_nodes=nodes, **options), timeout
