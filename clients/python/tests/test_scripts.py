"""A server without the module: the Lua scripts decide."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import redis
import redis.asyncio
from server import MODULE, Forwarder, Server, binaries

from limits_redis_rl import AsyncLimiter, Limiter, RateLimitMiddleware, scripts
from limits_redis_rl.errors import NoModule

from .conftest import value, vectors

LINE = "no module: the Lua scripts decide"
LIMITS = [("FIXED", "{k}a", "1d", 10, "COST", 2), ("COUNTER", "{k}b", "1d", 10, "COST", 2), ("LEASE", "{k}c", "1h", 9)]


@pytest.fixture
def server() -> Iterator[Server]:
    with contextlib.closing(Server(binaries()[0], "--enable-module-command", "local", module=False)) as server:
        yield server


@pytest.mark.parametrize("call", vectors("scripts_before")["calls"], ids=lambda call: " ".join(call["command"]))
def test_the_calls_of_the_table(call: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "_now", lambda: call.get("now_ms", 0))
    it = scripts.Scripts()
    it.is_cluster = call.get("cluster", False)
    if suffixes := call.get("suffixes"):
        assert it.learns(
            redis.ResponseError(f"clock {call['now_ms']} {' '.join(suffixes)}"), it.made(call["command"]).windows
        )
    if error := call.get("error"):
        with pytest.raises(redis.ResponseError) as raised:
            it.made(call["command"])
        assert str(raised.value) == error
        return
    made = it.made(call["command"])
    assert made.name == call["script"]
    assert [[word.decode() for word in words] for words in (made.keys, made.args)] == [call["keys"], call["argv"]]


@pytest.mark.parametrize("clock", vectors("scripts_before")["clock"], ids=lambda clock: clock["error"])
def test_the_clock_of_the_server(clock: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "_now", lambda: 0)
    it = scripts.Scripts()
    windows = [b":%d" % at for at in range(len(clock["suffixes"]))]
    assert it.learns(redis.ResponseError(clock["error"].removeprefix("ERR ")), windows)
    assert it._offset == clock["now_ms"]
    assert [[each.decode() for each in it._suffixes[window]] for window in windows] == clock["suffixes"]


@pytest.mark.parametrize("kind", ["asyncio", "threads"])
async def test_without_the_module_and_with_it_later(
    kind: str, server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    client: Any = (redis.asyncio.Redis if kind == "asyncio" else redis.Redis)(port=server.port, retry=None)
    make: Any = AsyncLimiter if kind == "asyncio" else Limiter
    limiter = make(client, timeout=30) if kind == "asyncio" else make(client)

    async def reserves(used: int) -> None:
        reservation = await value(limiter.reserve(LIMITS, "1m"))
        assert (reservation.allowed, reservation.decision.limits[1][1]) == (True, used)
        await value(reservation.settle(1))

    await reserves(0)
    server.text("SCRIPT", "FLUSH")  # also between the reservation and its settlement
    await reserves(1)
    assert server.call("ZCARD", "{k}c") == 0
    assert caplog.text.count(LINE) == 1
    server.text("MODULE", "LOAD", MODULE)
    await reserves(2)
    assert "cmdstat_rl.multi" not in server.text("INFO", "commandstats").lower()
    limiter.guard.scripts._looked -= scripts.AGAIN  # it is looked for again
    await reserves(3)
    assert "cmdstat_rl.multi:calls=1" in server.text("INFO", "commandstats").lower()
    assert not limiter.guard.scripts.are_used
    assert limiter.counters.faults == limiter.counters.failed_closed == 0
    await value(client.aclose() if kind == "asyncio" else client.close())


async def test_the_module_is_required(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    async with redis.asyncio.Redis(port=server.port, retry=None) as client:
        app = RateLimitMiddleware(None, client=client, module="required", timeout=30)  # type: ignore[arg-type]
        assert (await app.decide([("TOKEN", "192.0.2.1", "1m", 5)])).status == 500
        limiter = Limiter(redis.Redis(port=server.port, retry=None), module="required")
        with pytest.raises(NoModule):
            limiter.reserve(LIMITS, "1m")
    assert "start it with --loadmodule" in caplog.text
    assert "192.0.2.1" not in caplog.text
    assert LINE not in caplog.text
    with pytest.raises(ValueError, match="module: expected optional or required"):
        AsyncLimiter(client, module="no")


def test_a_user_who_may_not_run_scripts(server: Server) -> None:
    server.text("ACL", "SETUSER", "app", "on", ">secret", "~*", "+@all", "-evalsha")
    limiter = Limiter(redis.Redis(port=server.port, retry=None, username="app", password="secret"))
    with pytest.raises(redis.exceptions.NoPermissionError, match="evalsha"):
        limiter.reserve(LIMITS, "1m")


def test_a_script_whose_reply_is_lost_is_not_sent_again(server: Server) -> None:
    with contextlib.closing(Forwarder(server.port, b"RL.MULTI, without the module", times=1)) as address:
        limiter = Limiter(redis.Redis(port=address.port, retry=None, socket_timeout=30))
        with pytest.raises(redis.ConnectionError):
            limiter.reserve(LIMITS, "1m", id="given")
    assert server.text("INFO", "commandstats").count("cmdstat_eval:calls=1,") == 1
