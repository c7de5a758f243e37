"""A primary that Sentinel finds: one that is away, and a name that is wrong."""

from __future__ import annotations

import contextlib
import pathlib
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
import redis
import redis.asyncio.sentinel
import redis.sentinel
from fastapi import FastAPI
from server import binaries, eventually, free_port, listens, spawn

from limits_redis_rl import AsyncLimiter, Limiter, RateLimitMiddleware

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


@pytest.mark.parametrize(("name", "status"), [("up", 200), ("away", 503), ("wrong", 500)])
async def test_a_wrong_name_is_a_fault(name: str, status: int, sentinel: int, raw: redis.Redis) -> None:
    raw.delete(POLICY[1])
    options: dict[str, Any] = {"sentinel_kwargs": {"retry": None}, "retry": None}
    found = redis.asyncio.sentinel.Sentinel([("127.0.0.1", 1), ("127.0.0.1", sentinel)], **options)
    async with found.master_for(name) as client:
        limited = RateLimitMiddleware(FastAPI(), client=client, policies=lambda scope: [], timeout=30)
        assert (await limited.decide([POLICY])).status == status
        assert (limited.counters.allowed, limited.counters.failed_closed, limited.counters.faults) == {
            "up": (1, 0, 0),
            "away": (0, 1, 0),
            "wrong": (0, 0, 1),
        }[name]
        if name == "wrong":
            with pytest.raises(redis.RedisError, match="no Sentinel watches a primary with the name 'wrong'"):
                await AsyncLimiter(client, timeout=30).reserve([POLICY], "1s")
    for each in found.sentinels:
        await each.aclose()
    with contextlib.ExitStack() as stack:
        sync = redis.sentinel.Sentinel([("127.0.0.1", sentinel)], **options)
        threads = Limiter(stack.enter_context(sync.master_for(name)), fail_open=True)
        for each in sync.sentinels:
            stack.callback(each.close)
        if name == "wrong":
            with pytest.raises(redis.RedisError, match="no Sentinel watches a primary with the name 'wrong'"):
                threads.reserve([POLICY], "1s")
        elif name == "away":
            assert threads.reserve([POLICY], "1s").allowed
            assert threads.counters.failed_open == 1
