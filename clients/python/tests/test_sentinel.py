"""A primary that Sentinel finds: one that is away, and a name that is wrong."""

from __future__ import annotations

import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
import redis
import redis.asyncio.sentinel
import redis.sentinel
from server import binaries, eventually, free_port, listens, spawn

from limits_redis_rl import AsyncLimiter, Limiter

from .conftest import value

POLICY = ("WINDOW", "{sentinel}:key", "1m", 1)


@pytest.fixture(scope="module")
def sentinel(port: int) -> Iterator[int]:
    """Its primary is `up`; `away` is a primary that never was there."""
    with tempfile.TemporaryDirectory() as directory:
        own = free_port()
        watched = {"up": port, "away": 1}
        lines = [
            f"sentinel monitor {name} 127.0.0.1 {at} 1\nsentinel down-after-milliseconds {name} 200"
            for name, at in watched.items()
        ]
        path = pathlib.Path(directory) / "sentinel.conf"
        path.write_text("\n".join([f"port {own}", "bind 127.0.0.1", *lines]) + "\n")
        process = spawn([binaries()[0], path, "--sentinel"], directory, "log")
        try:
            eventually(lambda: listens(own), "Sentinel starts")
            with redis.Redis(port=own, decode_responses=True) as client:
                eventually(lambda: client.sentinel_masters()["away"]["is_sdown"], "it sees that one is away")
            yield own
        finally:
            process.kill()
            process.wait()


@pytest.mark.parametrize("name", ["up", "away", "wrong"])
@pytest.mark.parametrize("kind", ["asyncio", "threads"])
async def test_a_wrong_name_is_a_fault(kind: str, name: str, sentinel: int, raw: redis.Redis) -> None:
    raw.delete(POLICY[1])
    module: Any = redis.asyncio.sentinel if kind == "asyncio" else redis.sentinel
    addresses = [("127.0.0.1", 1), ("127.0.0.1", sentinel)]
    found = module.Sentinel(addresses, sentinel_kwargs={"retry": None}, retry=None)
    client = found.master_for(name)
    limiter: Any = AsyncLimiter(client, fail_open=True, timeout=30) if kind == "asyncio" else Limiter(client)
    limiter.fail_open = True
    if name == "wrong":
        with pytest.raises(redis.RedisError, match="no Sentinel watches a primary with the name 'wrong'"):
            await value(limiter.reserve([POLICY], "50ms"))
    else:
        assert (await value(limiter.reserve([POLICY], "50ms"))).allowed
    counters = limiter.counters
    assert (counters.allowed, counters.failed_open, counters.faults) == {
        "up": (1, 0, 0),
        "away": (0, 1, 0),
        "wrong": (0, 0, 1),
    }[name]
    await value(limiter.join())
    for each in (client, *found.sentinels):
        await value(each.aclose() if kind == "asyncio" else each.close())
