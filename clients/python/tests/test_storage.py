"""The storages under the strategies of limits itself."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
import signal
import time
from typing import Any

import limits.aio.strategies
import limits.strategies
import pytest
import redis
from limits import parse
from limits.errors import ConfigurationError, StorageError
from limits.storage import storage_from_string
from server import Server, binaries, free_port

from limits_redis_rl.storage import TIMEOUTS

STRATEGIES = {"fixed-window": "FIXED", "moving-window": "ROLLING", "sliding-window-counter": "COUNTER"}
KINDS = ["redis-rl", "async+redis-rl"]

every_kind = pytest.mark.parametrize("kind", KINDS)
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)


async def value(result: Any) -> Any:
    """Awaits what an asynchronous storage returns; what the other returns is there already."""
    return await result if inspect.isawaitable(result) else result


def limiter_for(uri: str, strategy: str, **options: Any) -> Any:
    # The default is too short for a machine with other work, where it is not what is tested.
    storage = storage_from_string(uri, **{"socket_timeout": 10, "socket_connect_timeout": 10, **options})
    module = limits.aio.strategies if uri.startswith("async+") else limits.strategies
    return module.STRATEGIES[strategy](storage)


async def close(limiter: Any) -> None:
    storage = limiter.storage.storage
    await value(storage.aclose() if hasattr(storage, "aclose") else storage.close())


def peek(raw: redis.Redis, prefix: str, algorithm: str, item: Any, *options: Any) -> dict[str, int]:
    key = f"{prefix}:{algorithm.lower()}:{item.key_for('user')}"
    return raw.execute_command("RL.PEEK", algorithm, key, item.get_expiry(), item.amount, *options, "FULL")


@every_kind
@every_strategy
@pytest.mark.parametrize("protocol", [2, 3])
async def test_five_pass_and_the_sixth_does_not(
    kind: str, strategy: str, protocol: int, port: int, prefix: str, raw: redis.Redis
) -> None:
    limiter = limiter_for(f"{kind}://127.0.0.1:{port}", strategy, key_prefix=prefix, protocol=protocol)
    item = parse("5/day")
    stats = await value(limiter.get_window_stats(item, "user"))
    assert stats.remaining == 5
    for used in range(1, 6):
        assert await value(limiter.test(item, "user"))
        assert await value(limiter.hit(item, "user"))
        stats = await value(limiter.get_window_stats(item, "user"))
        assert stats.remaining == 5 - used
    for _ in range(2):
        assert not await value(limiter.test(item, "user"))
        assert not await value(limiter.hit(item, "user"))
    assert (await value(limiter.get_window_stats(item, "user"))).remaining == 0
    assert peek(raw, prefix, STRATEGIES[strategy], item)["remaining"] == 0
    assert await value(limiter.hit(item, "another user"))

    await value(limiter.clear(item, "user"))
    assert await value(limiter.test(item, "user", cost=5))
    assert await value(limiter.hit(item, "user"))
    await close(limiter)


@every_kind
@every_strategy
async def test_a_denied_cost_charges_nothing(kind: str, strategy: str, port: int, prefix: str) -> None:
    limiter = limiter_for(f"{kind}://127.0.0.1:{port}", strategy, key_prefix=prefix)
    item = parse("5/day")
    assert await value(limiter.hit(item, "user", cost=3))
    assert not await value(limiter.test(item, "user", cost=3))
    assert not await value(limiter.hit(item, "user", cost=3))
    assert (await value(limiter.get_window_stats(item, "user"))).remaining == 2
    assert await value(limiter.test(item, "user", cost=2))
    assert await value(limiter.hit(item, "user", cost=2))
    assert not await value(limiter.hit(item, "user", cost=6))
    await close(limiter)


@every_kind
@every_strategy
async def test_reset_time_is_when_the_module_has_more(
    kind: str, strategy: str, port: int, prefix: str, raw: redis.Redis
) -> None:
    limiter = limiter_for(f"{kind}://127.0.0.1:{port}", strategy, key_prefix=prefix)
    for text in ("1/day", "3 per 2 days", "2/year"):
        item = parse(text)
        for _ in range(item.amount):
            assert await value(limiter.hit(item, "user"))
        stats = await value(limiter.get_window_stats(item, "user"))
        expected = peek(raw, prefix, STRATEGIES[strategy], item)
        assert expected["allowed"] == 0
        assert stats.reset_time == pytest.approx(time.time() + expected["retry_after_ms"] / 1000, abs=10)
    await close(limiter)


@every_kind
async def test_the_oldest_unit_comes_back_first(kind: str, port: int, prefix: str, raw: redis.Redis) -> None:
    item = parse("2/day")
    key = f"{prefix}:rolling:{item.key_for('user')}"
    half_a_day_ago = int((time.time() - 43200) * 1000)
    raw.execute_command("RL.SETTLE", "ROLLING", key, 86400, 2, "RESERVED", 0, "ACTUAL", 1, "AT", half_a_day_ago)
    limiter = limiter_for(f"{kind}://127.0.0.1:{port}", "moving-window", key_prefix=prefix)
    assert await value(limiter.hit(item, "user"))
    assert not await value(limiter.hit(item, "user"))
    stats = await value(limiter.get_window_stats(item, "user"))
    assert stats.reset_time == pytest.approx(time.time() + 43200, abs=32)
    await close(limiter)


@every_kind
@every_strategy
async def test_waiting_until_the_reset_time_is_enough(kind: str, strategy: str, port: int, prefix: str) -> None:
    limiter = limiter_for(f"{kind}://127.0.0.1:{port}", strategy, key_prefix=prefix)
    item = parse("2/second")
    remaining = 1
    while remaining:
        while await value(limiter.hit(item, "user")):
            pass
        reset, remaining = await value(limiter.get_window_stats(item, "user"))
    await asyncio.sleep(max(0, reset - time.time() - 0.1))
    early = await value(limiter.hit(item, "user"))
    if time.time() < reset:
        assert not early
    await asyncio.sleep(max(0, reset - time.time() + 0.01))
    assert early or await value(limiter.hit(item, "user"))
    await close(limiter)


@every_kind
async def test_sliding_is_the_other_moving_window(kind: str, port: int, prefix: str, raw: redis.Redis) -> None:
    options = {"key_prefix": prefix, "moving_window": "SLIDING"}
    limiter = limiter_for(f"{kind}://127.0.0.1:{port}", "moving-window", **options)
    item = parse("3/day")
    assert await value(limiter.hit(item, "user", cost=3))
    assert not await value(limiter.hit(item, "user"))
    assert (await value(limiter.get_window_stats(item, "user"))).remaining == 0
    assert raw.type(f"{prefix}:sliding:{item.key_for('user')}") == "zset"
    await value(limiter.clear(item, "user"))
    assert raw.keys(f"{prefix}:*") == []
    await close(limiter)
    with pytest.raises(ConfigurationError, match="ROLLING or SLIDING"):
        storage_from_string(f"{kind}://127.0.0.1:{port}", moving_window="TOKEN")


@every_kind
@every_strategy
async def test_shadow_mode_allows(kind: str, strategy: str, port: int, prefix: str, raw: redis.Redis) -> None:
    limiter = limiter_for(f"{kind}://127.0.0.1:{port}", strategy, key_prefix=prefix)
    item = parse("1/day")
    raw.config_set("rl.shadow", "yes")
    try:
        for _ in range(3):
            assert await value(limiter.hit(item, "user"))
    finally:
        raw.config_set("rl.shadow", "no")
    assert not await value(limiter.hit(item, "user"))
    await close(limiter)


@every_kind
async def test_reset_deletes_the_keys_of_this_storage_only(kind: str, port: int, prefix: str, raw: redis.Redis) -> None:
    item = parse("5/day")
    for strategy in STRATEGIES:
        limiter = limiter_for(f"{kind}://127.0.0.1:{port}", strategy, key_prefix=f"{prefix}[*]")
        assert await value(limiter.hit(item, "user"))
        if strategy != "sliding-window-counter":
            await close(limiter)
    other = f"{prefix}*"
    raw.set(f"{other}:fixed:key", "1")
    assert await value(limiter.storage.reset()) == 3
    assert raw.keys(f"{prefix}*") == [f"{other}:fixed:key"]
    await close(limiter)


@every_kind
async def test_errors(kind: str, port: int, prefix: str) -> None:
    good = storage_from_string(f"{kind}://127.0.0.1:{port}")
    assert await value(good.check())
    with pytest.raises(ValueError, match="the key does not end"):
        await value(good.incr("key", 60))
    with pytest.raises(redis.ResponseError, match="invalid COST"):
        await value(good.incr("LIMITER/user/5/1/day", 86400, -1))
    await value(good.storage.aclose() if kind.startswith("async") else good.storage.close())

    bad = storage_from_string(f"{kind}://127.0.0.1:{free_port()}", wrap_exceptions=True)
    assert not await value(bad.check())
    with pytest.raises(StorageError):
        await value(bad.incr("LIMITER/user/5/1/day", 86400))


@every_kind
async def test_a_server_that_hangs(kind: str, prefix: str) -> None:
    with contextlib.closing(Server(binaries()[0])) as server:
        limiter = limiter_for(f"{kind}://127.0.0.1:{server.port}", "moving-window", key_prefix=prefix, **TIMEOUTS)
        item, counters = parse("100/day"), limiter.storage.counters
        assert await value(limiter.hit(item, "user"))
        server.pause()
        begin = time.monotonic()
        while not counters.errors["circuit open"]:
            sent = time.monotonic()
            with pytest.raises(redis.RedisError):
                await value(limiter.hit(item, "user"))
            # The client of redis would try four times, and wait in between.
            assert time.monotonic() - sent < 0.5
        assert 0.25 <= time.monotonic() - begin < 2
        server.resume()
        begin = time.monotonic()
        while counters.allowed != 2:
            with contextlib.suppress(redis.RedisError):
                assert await value(limiter.hit(item, "user"))
            assert time.monotonic() - begin < 5
            await asyncio.sleep(0.01)
        # Each of those without a reply was sent once.
        with redis.Redis(port=server.port, decode_responses=True, protocol=3) as raw:
            assert peek(raw, prefix, "ROLLING", item)["count"] <= 2 + counters.errors["timeout"]
        await close(limiter)


@every_kind
async def test_more_at_once_than_connections(kind: str, port: int, prefix: str) -> None:
    limiter = limiter_for(f"{kind}://127.0.0.1:{port}", "moving-window", key_prefix=prefix, max_connections=3)
    item = parse("10/day")

    async def hit() -> bool:
        return await (
            limiter.hit(item, "user") if kind.startswith("async") else asyncio.to_thread(limiter.hit, item, "u")
        )

    allowed = await asyncio.gather(*(hit() for _ in range(50)))
    assert allowed.count(True) == 10
    assert not limiter.storage.counters.errors
    # A huge cost is denied, as one above the limit is.
    assert not await value(limiter.hit(item, "user", cost=10**30))
    await close(limiter)


@every_kind
async def test_without_a_connection(kind: str, port: int, prefix: str, raw: redis.Redis) -> None:
    limiter = limiter_for(
        f"{kind}://127.0.0.1:{port}", "moving-window", key_prefix=prefix, max_connections=1, socket_timeout=0.1
    )
    client = limiter.storage.storage
    held = await value(client.connection_pool.get_connection())
    for _ in range(6):
        # Also the sixth: it does not count for the breaker.
        with pytest.raises(redis.TimeoutError, match="no connection was free"):
            await value(limiter.hit(parse("10/day"), "user"))
    await value(client.connection_pool.release(held))
    limiter.storage.storage.connection_pool.connection_kwargs["socket_timeout"] = 10
    assert limiter.storage.counters.errors == {"overload": 6}
    await close(limiter)


@every_kind
async def test_a_replica_gets_no_second_request(kind: str, port: int, prefix: str, raw: redis.Redis) -> None:
    limiter = limiter_for(f"{kind}://127.0.0.1:{port}", "moving-window", key_prefix=prefix)
    item = parse("100/day")
    assert await value(limiter.hit(item, "user"))
    raw.execute_command("REPLICAOF", "127.0.0.1", free_port())
    try:
        before = raw.info("stats")["total_connections_received"]
        for _ in range(3):
            with pytest.raises(redis.ReadOnlyError):
                await value(limiter.hit(item, "user"))
        # Each but the first was sent through a new connection: the address may lead elsewhere.
        assert raw.info("stats")["total_connections_received"] - before == 2
    finally:
        raw.execute_command("REPLICAOF", "NO", "ONE")
    assert await value(limiter.hit(item, "user"))
    assert limiter.storage.counters.errors == {"READONLY": 3}
    await close(limiter)


@every_kind
async def test_a_user_cannot_make_a_long_key(kind: str, port: int, prefix: str, raw: redis.Redis) -> None:
    for strategy in STRATEGIES:
        limiter = limiter_for(f"{kind}://127.0.0.1:{port}", strategy, key_prefix=prefix)
        item = parse("1/day")
        for user in ("x" * 600 + "a", "x" * 600 + "b"):
            assert await value(limiter.hit(item, user))
            assert not await value(limiter.hit(item, user))
        await close(limiter)
    # The prefix stays: a user may have the permission for these keys only. One of FIXED has 6 digits more.
    assert max(map(len, raw.keys(f"{prefix}:*"))) <= len(f"{prefix}:counter:") + 97 + 6
    assert len(raw.keys(f"{prefix}:*")) == 2 * len(STRATEGIES)


@pytest.mark.parametrize("kind", ["redis-rl+cluster", "async+redis-rl+cluster"])
@every_strategy
async def test_cluster(kind: str, strategy: str, ports: list[int], prefix: str) -> None:
    limiter = limiter_for(f"{kind}://127.0.0.1:{ports[0]},127.0.0.1:{ports[1]}", strategy, key_prefix=prefix)
    item = parse("2/day")
    for user in map(str, range(9)):
        assert await value(limiter.hit(item, user, cost=2))
        assert not await value(limiter.hit(item, user))
        assert (await value(limiter.get_window_stats(item, user))).remaining == 0
    await value(limiter.clear(item, "0"))
    assert await value(limiter.hit(item, "0"))
    assert await value(limiter.storage.check())
    assert await value(limiter.storage.reset()) == 9
    assert await value(limiter.test(item, "1", cost=2))
    await close(limiter)


@pytest.mark.parametrize("kind", ["redis-rl+cluster", "async+redis-rl+cluster"])
async def test_a_node_that_hangs(kind: str, ports: list[int], prefix: str) -> None:
    # As short as it may be on a machine with other work.
    options = {"key_prefix": prefix, "socket_timeout": 0.5, "socket_connect_timeout": 0.5}
    limiter = limiter_for(f"{kind}://127.0.0.1:{ports[0]}", "moving-window", **options)
    item, storage = parse("1000/day"), limiter.storage
    client: Any = storage.storage
    assert await value(limiter.test(item, "user"))  # it knows the nodes
    users: dict[int, str] = {}
    for number in range(100):
        key = storage._key("rolling", item.key_for(str(number**5)))
        users.setdefault(client.get_node_from_key(key).port, str(number**5))
    assert users.keys() == set(ports)

    async def decides(port: int) -> bool:
        try:
            return bool(await value(limiter.hit(item, users[port])))
        except redis.RedisError:
            return False

    with redis.Redis(port=ports[0]) as raw:
        process = int(raw.info("server")["process_id"])
    os.kill(process, signal.SIGSTOP)
    try:
        errors = storage.counters.errors
        while not errors["circuit open"]:
            assert not await decides(ports[0])
        if not kind.startswith("async"):
            # After an error, redis-py asks any node for the nodes, and that may be the one that hangs.
            await decides(ports[1])
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            assert not await decides(ports[0])
            assert [await decides(port) for port in ports[1:]] == [True, True]
            await asyncio.sleep(0.01)
    finally:
        os.kill(process, signal.SIGCONT)
    end = time.monotonic() + 5
    while not await decides(ports[0]):
        assert time.monotonic() < end
        await asyncio.sleep(0.01)
    assert await decides(ports[1])
    await close(limiter)


@pytest.mark.parametrize("kind", ["redis-rl+cluster", "async+redis-rl+cluster"])
async def test_more_at_once_than_connections_of_a_node(kind: str, ports: list[int], prefix: str) -> None:
    options = {"key_prefix": prefix, "max_connections": 2}
    limiter = limiter_for(f"{kind}://127.0.0.1:{ports[0]}", "moving-window", **options)
    item = parse("10/day")
    assert await value(limiter.test(item, "user"))  # it knows the nodes

    async def hit() -> bool:
        return await (
            limiter.hit(item, "user") if kind.startswith("async") else asyncio.to_thread(limiter.hit, item, "u")
        )

    assert (await asyncio.gather(*(hit() for _ in range(30)))).count(True) == 10
    assert not limiter.storage.counters.errors
    await close(limiter)


@every_kind
def test_defaults(kind: str) -> None:
    storage = storage_from_string(f"{kind}://127.0.0.1:1").storage
    options = storage.connection_pool.connection_kwargs
    assert {name: options[name] for name in TIMEOUTS} == TIMEOUTS
    assert options["retry"] is None
    given = storage_from_string(f"{kind}://127.0.0.1:1", socket_timeout=7).storage
    assert given.connection_pool.connection_kwargs["socket_timeout"] == 7
    storage_from_string(f"{kind}+unix:///nowhere")


def test_uris() -> None:
    from limits_redis_rl.storage import cluster, redis_uri

    assert redis_uri("redis-rl://user:pass@host:1/2") == "redis://user:pass@host:1/2"
    assert redis_uri("rediss-rl://host") == "rediss://host"
    assert redis_uri("redis-rl+unix:///path?db=1") == "unix:///path?db=1"
    hosts = [("a", 1), ("b", 2)]
    assert cluster("redis-rl+cluster://a:1,b:2") == (hosts, {})
    assert cluster("redis-rl+cluster://:secret@a:1,b:2") == (hosts, {"password": "secret"})
    assert cluster("redis-rl+cluster://me:p%40ss@a:1,b:2") == (hosts, {"username": "me", "password": "p@ss"})
    with pytest.raises(ConfigurationError, match="host:port"):
        cluster("redis-rl+cluster://localhost")
