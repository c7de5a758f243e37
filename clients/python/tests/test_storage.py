"""The storages under the strategies of limits itself."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator
from typing import Any

import limits.aio.strategies
import limits.strategies
import pytest
import redis
from limits import parse
from limits.errors import ConfigurationError, StorageError
from limits.storage import storage_from_string
from server import Server, free_port

from limits_redis_rl._async.storage import TIMEOUTS
from limits_redis_rl.aio import LONGER

from .conftest import WITHOUT_MODULE, begun, value

STRATEGIES = {"fixed-window": "FIXED", "moving-window": "ROLLING", "sliding-window-counter": "COUNTER"}
CLUSTERS = ["redis-rl+cluster", "async+redis-rl+cluster"]

every_kind = pytest.mark.parametrize("kind", ["redis-rl", "async+redis-rl"])
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


class Limits:
    """A strategy of limits with a storage."""

    def __init__(self, kind: str, port: int, strategy: str, prefix: str, **options: Any) -> None:
        # The default is too short for a machine with other work, where it is not what is tested.
        given = {"socket_timeout": 10, "socket_connect_timeout": 10, "key_prefix": prefix, **options}
        self.storage: Any = storage_from_string(f"{kind}://127.0.0.1:{port}", **given)
        module: Any = limits.aio.strategies if kind.startswith("async+") else limits.strategies
        self.limiter = module.STRATEGIES[strategy](self.storage)
        self.prefix, self.algorithm, self.kind = prefix, STRATEGIES[strategy], kind

    async def hit(self, item: Any, user: str = "user", cost: int = 1) -> Any:
        return await value(self.limiter.hit(item, user, cost=cost))

    async def hits(self, item: Any, times: int) -> list[bool]:
        """As many at once."""
        kind = "asyncio" if self.kind.startswith("async+") else "threads"
        return await asyncio.gather(*(begun(kind, self.limiter.hit, item, "user") for _ in range(times)))

    async def test(self, item: Any, cost: int = 1) -> Any:
        return await value(self.limiter.test(item, "user", cost=cost))

    async def stats(self, item: Any, user: str = "user") -> Any:
        return await value(self.limiter.get_window_stats(item, user))

    async def peek(self, item: Any) -> Any:
        key, limit = item.key_for("user"), item.amount
        return await value(self.storage._decide("PEEK", self.algorithm, key, item.get_expiry(), limit, 1))


@contextlib.asynccontextmanager
async def limited(kind: str, port: int, strategy: str, prefix: str, **options: Any) -> AsyncIterator[Limits]:
    it = Limits(kind, port, strategy, prefix, **options)
    try:
        yield it
    finally:
        client = it.storage.storage
        await value(client.aclose() if hasattr(client, "aclose") else client.close())


@every_kind
@every_strategy
async def test_five_pass_and_the_sixth_does_not(
    kind: str, strategy: str, port: int, prefix: str, raw: redis.Redis
) -> None:
    async with limited(kind, port, strategy, prefix) as it:
        item = parse("5/day")
        for used in range(5):
            assert (await it.stats(item)).remaining == 5 - used
            assert await it.test(item)
            assert await it.hit(item)
        for _ in range(2):
            assert not await it.test(item)
            assert not await it.hit(item)
        assert (await it.stats(item)).remaining == (await it.peek(item)).remaining == 0
        assert await it.hit(item, "another user")
        await value(it.limiter.clear(item, "user"))
        # A denied cost charges nothing.
        assert await it.hit(item, cost=3)
        for cost in (3, 6, 10**30):
            assert not await it.test(item, cost)
            assert not await it.hit(item, cost=cost)
        assert (await it.stats(item)).remaining == 2
        assert await it.hit(item, cost=2)
        if WITHOUT_MODULE:
            return
        raw.config_set("rl.shadow", "yes")
        try:
            assert await it.hit(item)
        finally:
            raw.config_set("rl.shadow", "no")
        assert not await it.hit(item)


@every_kind
@every_strategy
async def test_reset_time_is_when_more_is_available(kind: str, strategy: str, port: int, prefix: str) -> None:
    async with limited(kind, port, strategy, prefix) as it:
        for text in ("1/day", "3 per 2 days", "2/year", "1000000/day"):
            item = parse(text)
            assert await it.hit(item, cost=item.amount)
            stats, expected = await it.stats(item), await it.peek(item)
            assert (expected.allowed, stats.remaining) == (False, 0)
            assert stats.reset_time == pytest.approx(time.time() + expected.next_ms / 1000, abs=10)


@every_kind
async def test_reset_deletes_no_other_key(kind: str, port: int, prefix: str, raw: redis.Redis) -> None:
    for strategy in STRATEGIES:
        async with limited(kind, port, strategy, f"{prefix}[*]") as it:
            assert await it.hit(parse("1/day"))
            raw.set(f"{prefix}*:fixed:key", "1")
            assert await value(it.storage.reset()) == 1
            assert raw.keys(f"{prefix}*") == [f"{prefix}*:fixed:key"]


@every_kind
async def test_errors(kind: str, port: int, prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with limited(kind, port, "moving-window", prefix) as it:
        assert await value(it.storage.check())
        with pytest.raises(ValueError, match="the key does not end"):
            await value(it.storage.incr("key", 60))
        with pytest.raises(ValueError, match="cost: expected"):
            await value(it.storage.incr("LIMITER/user/5/1/day", 86400, -1))
        assert it.storage.counters.faults == 1
    async with limited(kind, free_port(), "fixed-window", prefix, wrap_exceptions=True) as away:
        assert not await value(away.storage.check())

        def fails(*_: Any) -> Any:
            raise ValueError("of a subclass")

        monkeypatch.setattr(away.storage.storage, "ping", fails)
        assert not await value(away.storage.check())
        with pytest.raises(StorageError):
            await value(away.storage.incr("LIMITER/user/5/1/day", 86400))


@every_kind
@every_strategy
async def test_each_process_limits_itself(kind: str, strategy: str, own: Server) -> None:
    options = {"unavailable": "local", "instances": 2}
    async with limited(kind, own.port, strategy, "RL", **options) as it:
        item = parse("5/day")
        assert await it.hit(item)
        own.stop()
        assert [await it.hit(item) for _ in range(3)] == [True, True, False]
        # limits does not tell a sliding window its limit.
        assert await it.test(item) == (strategy == "sliding-window-counter")
        stats = await it.stats(item)
        assert stats.reset_time == pytest.approx(time.time() + 86400, abs=10)
        assert (it.storage.counters.allowed, it.storage.counters.local >= 5) == (1, True)


@pytest.mark.parametrize("kind", CLUSTERS)
@every_strategy
async def test_cluster(kind: str, strategy: str, ports: list[int], prefix: str) -> None:
    async with limited(kind, ports[0], strategy, prefix, max_connections=2) as it:
        item = parse("2/day")
        for user in map(str, range(9)):
            assert await it.hit(item, user, cost=2)
            assert not await it.hit(item, user)
            assert (await it.stats(item, user)).remaining == 0
        await value(it.limiter.clear(item, "0"))
        assert await it.hit(item, "0")
        assert await value(it.storage.check())
        assert await value(it.storage.reset()) == 9
        # More at once than connections of a node.
        assert (await it.hits(item, 30)).count(True) == 2
        assert not it.storage.counters.errors


async def test_a_cluster_that_is_away() -> None:
    """A client without asyncio connects when it is made."""
    async with limited(CLUSTERS[1], free_port(), "moving-window", "RL", unavailable="allow") as it:
        assert await it.hit(parse("1/day"))
        assert (it.storage.counters.failed_open, it.storage.counters.faults) == (1, 0)


@pytest.mark.parametrize("kind", CLUSTERS)
async def test_a_node_that_hangs(kind: str, ports: list[int], prefix: str) -> None:
    # As short as it may be on a machine with other work.
    options = {"socket_timeout": 1.0, "socket_connect_timeout": 1.0}
    async with limited(kind, ports[0], "moving-window", prefix, **options) as it:
        item = parse("1000/day")
        assert await it.test(item)  # it knows the nodes
        users: dict[int, str] = {}
        for number in range(100):
            key = f"{prefix}:rolling:{{{item.key_for(str(number**5))}}}"
            users.setdefault(it.storage.storage.get_node_from_key(key).port, str(number**5))
        assert users.keys() == set(ports)

        async def decides(port: int) -> bool:
            try:
                return bool(await it.hit(item, users[port]))
            except redis.RedisError:
                return False

        with redis.Redis(port=ports[0]) as raw:
            process = int(raw.info("server")["process_id"])
        os.kill(process, signal.SIGSTOP)
        try:
            while not it.storage.counters.errors["timeout"]:
                assert not await decides(ports[0])
            if not kind.startswith("async"):
                # After an error, redis-py asks any node for the nodes, and that may be the one that hangs.
                await decides(ports[1])
            end = time.monotonic() + 1.5
            while time.monotonic() < end:
                assert [await decides(port) for port in ports[1:]] == [True, True]
                await asyncio.sleep(0.01)
        finally:
            os.kill(process, signal.SIGCONT)
        end = time.monotonic() + 5
        while not await decides(ports[0]):
            assert time.monotonic() < end
            await asyncio.sleep(0.01)


NAMED = {"username": "me", "password": "p@ss"}


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("redis-rl://host", {**TIMEOUTS, "retry": None}),
        ("async+redis-rl://host?socket_timeout=7", {**TIMEOUTS, "retry": None, "socket_timeout": 7}),
        ("redis-rl://me:p%40ss@host:1/2", {**NAMED, "host": "host", "port": 1, "db": 2}),
        ("rediss-rl://host", {"host": "host"}),
        ("redis-rl+unix:///path?db=1", {"path": "/path", "db": 1}),
        ("async+redis-rl+cluster://a:1,b:2", {}),
        ("async+redis-rl+cluster://:secret@a:1,b:2", {"password": "secret"}),
        ("async+redis-rl+cluster://me:p%40ss@a:1,b:2", NAMED),
    ],
)
def test_uris(uri: str, expected: dict[str, Any]) -> None:
    client = storage_from_string(uri).storage
    options = client.connection_kwargs if "cluster" in uri else client.connection_pool.connection_kwargs
    assert {name: options.get(name) for name in (expected or NAMED)} == (expected or dict.fromkeys(NAMED))
    if "cluster" in uri:
        assert [node.name for node in client.nodes_manager.startup_nodes.values()] == ["a:1", "b:2"]
        # After a timeout of its own, a client for asyncio closes its connections to all nodes of a cluster.
        assert options["socket_timeout"] == LONGER > 10 * TIMEOUTS["socket_timeout"]
    else:
        assert issubclass(client.connection_pool.connection_class, redis.SSLConnection) == ("rediss" in uri)


def test_a_uri_without_a_port() -> None:
    with pytest.raises(ConfigurationError, match="host:port"):
        storage_from_string("redis-rl+cluster://localhost")
