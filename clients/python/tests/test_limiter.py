"""The limiter, with asyncio and with threads: with the module, without it, and while the server is away."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
import time
from collections.abc import Iterator
from typing import Any

import pytest
import redis
import redis.asyncio
import redis.asyncio.sentinel
import redis.sentinel
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from server import MODULE, Server, binaries, eventually, free_port, listens, spawn

from limits_redis_rl import AsyncLimiter, Denied, Limiter, Overloaded, Policy
from limits_redis_rl.calls import Limit
from limits_redis_rl.local import MOST_KEYS, Local

from .conftest import begun, every_kind, held, limited, needs_module, value

TOKEN = "TOKEN 1h 10 BURST 5"


@pytest.fixture(params=[True, False], ids=["module", "scripts"])
def both(request: pytest.FixtureRequest, port: int) -> Iterator[int]:
    """The port of a server with the module, and of one without."""
    if request.param:
        yield port
    else:
        with contextlib.closing(Server(binaries()[0], module=False)) as server:
            yield server.port


@every_kind
@pytest.mark.parametrize("options", [{"protocol": 2}, {"protocol": 3}, {"decode_responses": True}], ids=str)
async def test_check_peek_refund_settle_reset(kind: str, options: Any, both: int, prefix: str) -> None:
    async with limited(kind, both, options, prefix=prefix) as it:
        first = await value(it.check(TOKEN, "ann", cost=3))
        assert (first.allowed, first.limit, first.remaining, first.charged, first.source) == (True, 5, 2, 3, "server")
        assert (first.retry_after, first.delay, first.is_shadow) == (0, 0, False)
        denied = await value(it.check(TOKEN, "ann", cost=3))
        assert (denied.allowed, denied.charged, denied.headers()["Retry-After"]) == (False, 0, "360")
        assert 300 < denied.retry_after <= 360 < denied.reset_after <= 1080
        assert (await value(it.check(TOKEN, "ann", cost=3, partial=True))).charged == 2
        assert (await value(it.check(TOKEN, "ann", cost=6))).retry_after is None
        assert (await value(it.check("WINDOW 1h 1", "ann", cost=3, always=True))).remaining == 0
        # A cost may come from a request. A huge one is no fault.
        assert not (await value(it.check(TOKEN, "ann", cost=10**30))).allowed
        assert not (await value(it.peek(TOKEN, "ann"))).allowed
        assert (await value(it.refund(TOKEN, "ann", cost=2))).remaining == 0
        assert (await value(it.settle(TOKEN, "ann", reserved=3, actual=1, at=first.at))).remaining == 3
        assert [await value(it.reset(TOKEN, "ann")) for _ in range(2)] == [True, False]
        month = "FIXED month 5 ANCHOR 86400"
        assert (await value(it.check(month, "ann"))).remaining == 4
        assert await value(it.reset(month, "ann"))
        assert (it.counters.allowed, it.counters.denied, it.counters.errors) == (3, 4, {})


@every_kind
async def test_several_limits(kind: str, both: int, prefix: str) -> None:
    async with limited(kind, both, prefix=prefix) as it:
        limits = [("TOKEN 1h 2 AS user", "ann"), ("FIXED day 9", "ip:192.0.2.1", 4)]
        assert [(await value(it.check_all(limits))).allowed for _ in range(2)] == [True, True]
        denied = await value(it.check_all(limits))
        assert [denied.allowed, *(each.allowed for each in denied.limits)] == [False] * 3
        assert denied.retry_after == max(each.retry_after for each in denied.limits)
        assert denied.violated == ["user", "fixed"]
        assert denied.headers()["RateLimit-Policy"] == '"user";q=2;w=3600, "fixed";q=9;w=86400'
        assert (await value(it.peek("FIXED day 9", "ip:192.0.2.1", cost=0))).count == 8
        shadowed = await value(it.check_all([("GCRA 1h 2 SHADOW", "b", 3), ("GCRA 1m 2", "b")]))
        assert (shadowed.allowed, shadowed.limits[0].is_shadow) == (True, True)
        assert shadowed.headers()["RateLimit-Policy"] == '"gcra";q=2;w=3600, "gcra-2";q=2;w=60'
        for wrong in ([], ("TOKEN 1h 2", "ann"), 60):
            with pytest.raises((TypeError, ValueError), match="limits: expected"):
                await value(it.check_all(wrong))
        for call, limits in ((it.check_all, [("TOKEN 1h 2", "ann")] * 65), (it.share, [("TOKEN 1h 2", "ann")])):
            with pytest.raises(redis.ResponseError, match=r"invalid numlimits|wrong number of arguments"):
                await value(call(limits))


@every_kind
async def test_a_part_of_its_own_and_what_others_leave(kind: str, both: int, prefix: str) -> None:
    async with limited(kind, both, prefix=prefix) as it:

        async def share(team: str, cost: int) -> Any:
            return await value(it.share([("COUNTER 1h 2 AS team", team, cost), ("TOKEN 1h 4 AS model", "m", cost)]))

        found = [await share("a", cost) for cost in (2, 2, 1)]
        assert [(each.allowed, each.paid) for each in found] == [(True, 1), (True, 2), (False, 0)]
        assert [each.charged for each in found[1].limits] == [0, 2]
        assert found[2].headers()["RateLimit"].startswith('"model";r=0')
        assert 0 < found[2].retry_after <= 900
        # A team within its own part is allowed, whatever others have borrowed.
        assert [(await share("b", cost)).paid for cost in (2, 1)] == [1, 0]


@every_kind
async def test_waiting_and_leases(kind: str, both: int, prefix: str) -> None:
    async with limited(kind, both, prefix=prefix) as it:
        for policy in ("TOKEN 1s 5 BURST 1", "LEAKY 1s 5 BURST 2"):
            await value(it.wait(policy, "w"))
            begin = time.monotonic()
            assert (await value(it.wait(policy, "w", timeout=5))).allowed
            assert time.monotonic() - begin > 0.15
        for policy, cost, timeout in (("TOKEN 1h 1", 2, None), ("TOKEN 1h 1", 1, 0.05)):
            await value(it.check("TOKEN 1h 1", "w"))
            with pytest.raises(Denied):
                await value(it.wait(policy, "w", cost=cost, timeout=timeout))
        async with held(it.lease("LEASE 500ms 1", "jobs")) as lease:
            with pytest.raises(Denied, match="allowed in"):
                async with held(it.lease("LEASE 500ms 1", "jobs")):
                    pass
            await asyncio.sleep(0.8)  # longer than the window: it is renewed
            assert not lease.is_lost
            assert not (await value(it.check("LEASE 500ms 1", "jobs", id="other"))).allowed
        assert (await value(it.check("LEASE 500ms 1", "jobs", id="other"))).allowed
        with pytest.raises(ValueError, match="lease: expected LEASE, not TOKEN"):
            async with held(it.lease("TOKEN 1m 1", "jobs")):
                pass


@every_kind
@pytest.mark.parametrize("unavailable", ["error", "allow", "deny", "local"])
async def test_an_error_about_the_call_is_never_allowed(unavailable: str, kind: str, both: int, prefix: str) -> None:
    options = {"instances": 2} if unavailable == "local" else {}
    async with limited(kind, both, prefix=prefix, unavailable=unavailable, **options) as it:
        await value(it.client.lpush(it.limit(TOKEN, "ann").key, "x"))
        with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
            await value(it.check(TOKEN, "ann"))
        with pytest.raises(redis.ResponseError):
            await value(it.check("LOCKOUT 1h 5", "ann", always=True))
        assert (it.counters.faults, it.counters.errors) == (2, {"WRONGTYPE": 1, "ERR": 1})


@needs_module
@pytest.mark.parametrize(("text", "password"), [("NoPermissionError", "secret"), ("invalid username-password", "no")])
async def test_a_user_who_may_not(
    text: str, password: str, port: int, raw: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    raw.execute_command("ACL", "SETUSER", "limiter", "on", ">secret", "~other:*", "+rl.token")
    async with limited("asyncio", port, {"username": "limiter", "password": password}, unavailable="allow") as it:
        for _ in range(3):
            with pytest.raises(redis.RedisError):
                await it.check(TOKEN, "ann")
        assert it.counters.faults == sum(it.counters.errors.values()) == 3
    assert text in caplog.text
    # One line for all three.
    assert caplog.text.count("the call was rejected, a fault of the configuration") == 1


@every_kind
async def test_a_server_that_stops(kind: str, own: Server, caplog: pytest.LogCaptureFixture) -> None:
    async with contextlib.AsyncExitStack() as stack:
        made = [
            await stack.enter_async_context(limited(kind, own.port, unavailable=unavailable, **options))
            for unavailable, options in (("local", {"instances": 2}), ("deny", {}), ("allow", {}), ("error", {}))
        ]
        local, deny, allow, fails = made
        assert (await value(local.check("TOKEN 1h 8", "ann"))).source == "server"
        own.stop()
        found = [await value(local.check("TOKEN 1h 8", "ann")) for _ in range(6)]
        assert [each.allowed for each in found] == [True] * 4 + [False] * 2
        assert (found[5].source, found[5].remaining, found[5].headers()["Retry-After"]) == ("local", 0, "3600")
        for policy in ("LEASE 30s 5", "LOCKOUT 1h 5", "FIXED 1h 0"):
            assert not (await value(local.check(policy, "ann", id="a" if "LEASE" in policy else None))).allowed
        both = [("FIXED 1h 4 AS a", "ann"), ("FIXED 1h 2 AS b", "ann")]
        assert [(await value(local.check_all(both))).allowed for _ in range(2)] == [True, False]
        shadowed = await value(local.check_all([("FIXED 1h 4 AS c SHADOW", "ann", 3), ("FIXED 1h 4 AS d", "ann")]))
        assert (shadowed.allowed, [each.charged for each in shadowed.limits]) == (True, [0, 1])
        parts = [("FIXED 1h 2 AS own", "ann"), ("FIXED 1h 6 AS whole", "w")]
        assert [(await value(local.share(parts))).paid for _ in range(4)] == [1, 2, 2, 0]
        assert (await value(local.peek("FIXED 1h 4 AS a", "ann"))).remaining == 1
        assert (await value(local.refund("FIXED 1h 4 AS a", "ann"))).remaining == 2
        assert not (await value(local.reserve([("LEASE 30s 5", "ann"), ("WINDOW 1h 9", "ann")], "1m"))).allowed
        with pytest.raises(redis.ConnectionError):
            await value(local.reset("FIXED 1h 4 AS a", "ann"))
        assert (await value(deny.check("TOKEN 1h 8", "ann"))).headers()["Retry-After"] == "1"
        assert (await value(allow.check("TOKEN 1h 8", "ann"))).source == "allow"
        with pytest.raises(redis.ConnectionError):
            await value(fails.check("TOKEN 1h 8", "ann"))
        counts = [(each.counters.failed_open, each.counters.failed_closed) for each in made]
        assert (local.counters.local, counts) == (18, [(0, 0), (0, 1), (1, 0), (0, 1)])
        own.start()
        end, source = time.monotonic() + 5, "local"
        while source != "server":  # a settlement may try
            assert time.monotonic() < end
            source = (await value(local.check("TOKEN 1h 8000", "bob"))).source
        # A reply does not reset what this process has counted.
        own.stop()
        assert not (await value(local.check("TOKEN 1h 8", "ann"))).allowed
    for line in ("the limit of this process decides", "failing closed", "failing open", "the server decides again"):
        assert line in caplog.text


def test_a_full_table_denies_a_new_key() -> None:
    it, limit = Local(1), Limit(Policy.of("FIXED 1h 5"), "new")
    for number in range(MOST_KEYS):
        policy = Policy.of("FIXED 1h 5" if number % 2 else "FIXED 2s 5")
        assert it.decide("CHECK", [Limit(policy, f"u{number}")], 0).allowed
    assert not it.decide("CHECK", [limit], 1999).allowed
    assert it.decide("CHECK", [Limit(limit.policy, "u9999")], 1999).limits[0].remaining == 3
    assert it.decide("CHECK", [limit], 2000).allowed


def test_two_limits_of_one_name() -> None:
    limiter, other = (Limiter(client, prefix="app:") for client in (redis.Redis(retry=None), redis.Redis(retry=None)))
    limiter.fixed("TOKEN 1m 60")
    assert limiter.fixed("TOKEN 60s 60").name == other.fixed("TOKEN 1m 61").name == "token:60000ms"
    with pytest.raises(ValueError, match=r"two limits share the keys app:token:60000ms:\*: .* 60'.* 61'.* a name"):
        limiter.fixed("TOKEN 1m 61")
    limiter.fixed("TOKEN 1m 61 AS login")


@every_kind
async def test_the_module_is_loaded_later(
    kind: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--enable-module-command", "local")
    with contextlib.closing(Server(binaries()[0], *options, module=False)) as server:
        async with limited(kind, server.port) as it, limited(kind, server.port, module="required") as required:
            assert (await value(it.check(TOKEN, "ann"))).remaining == 4
            server.text("SCRIPT", "FLUSH")
            assert (await value(it.check(TOKEN, "ann"))).remaining == 3
            assert caplog.text.count("no module: the Lua scripts decide") == 1
            with pytest.raises(redis.ResponseError, match="start it with --loadmodule"):
                await value(required.check(TOKEN, "192.0.2.1"))
            server.text("MODULE", "LOAD", MODULE)
            assert (await value(it.check(TOKEN, "ann"))).remaining == 2
            assert "cmdstat_rl.token:calls" not in server.text("INFO", "commandstats").lower()
            assert it.counters.errors == {}
            # It is looked for when a connection has failed.
            server.stop()
            with pytest.raises(redis.ConnectionError):
                await value(it.check(TOKEN, "ann"))
            server.module = ["--loadmodule", MODULE]
            server.start()
            assert (await value(it.check(TOKEN, "ann"))).remaining == 4
            assert "cmdstat_rl.token:calls=1" in server.text("INFO", "commandstats").lower()
    assert "the module decides again" in caplog.text
    assert "192.0.2.1" not in caplog.text


@every_kind
async def test_in_a_cluster(kind: str, ports: list[int], prefix: str) -> None:
    module: Any = redis.asyncio if kind == "asyncio" else redis
    client = module.RedisCluster(port=ports[0], host="127.0.0.1", retry=module.retry.Retry(NoBackoff(), 0))
    it: Any = AsyncLimiter(client, timeout=30) if kind == "asyncio" else Limiter(client)
    # Three tags, so that not all are on the node that is asked first.
    for who in (f"{prefix}{name}" for name in "abc"):
        limits = [("COUNTER 1d 100 AS tokens", who, 60), ("LEASE 1h 1 AS calls", who)]
        async with held(await value(it.reserve(limits, "1h"))) as reservation:
            assert reservation.allowed
            assert not (await value(it.reserve(limits, "1h"))).allowed
            await value(reservation.settle(40))
        assert (await value(it.peek("COUNTER 1d 100 AS tokens", who, cost=0))).count == 40
    await value(client.aclose() if kind == "asyncio" else client.close())


async def test_a_cluster_that_is_found_slowly(ports: list[int]) -> None:
    """It takes longer than a call waits, and goes on when that is given up."""
    client = redis.asyncio.RedisCluster(host="127.0.0.1", port=ports[0], retry=Retry(NoBackoff(), 0))
    initialize = client.initialize

    async def slowly() -> Any:
        await asyncio.sleep(0.6)
        return await initialize()

    client.initialize = slowly  # type: ignore[method-assign]
    it, end = AsyncLimiter(client, timeout=0.3, unavailable="allow"), time.monotonic() + 5
    while (await it.check(TOKEN, "ann")).source != "server":
        assert time.monotonic() < end
    await client.aclose()


@every_kind
@pytest.mark.parametrize("pool", ["ConnectionPool", "BlockingConnectionPool"])
async def test_more_at_once_than_connections(
    kind: str, pool: str, port: int, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of them wait for their turn, and none for ever."""
    module: Any = redis.asyncio if kind == "asyncio" else redis
    connections = getattr(module, pool)(port=port, retry=None, max_connections=3, socket_timeout=30)
    async with limited(kind, port, {"connection_pool": connections}, prefix=prefix) as it:
        if kind == "asyncio":
            monkeypatch.setattr("limits_redis_rl._async.link.PAUSE", 30)  # each has its turn, and none tries again
        found = await asyncio.gather(*(begun(kind, it.check, "WINDOW 1d 10", "ann") for _ in range(50)))
        assert (sum(each.allowed for each in found), it.counters.errors) == (10, {})
        monkeypatch.undo()
        # The application uses the same client.
        others = [begun(kind, it.client.blpop, [f"{prefix}none"], 0.2) for _ in range(3)]
        await asyncio.sleep(0.05)
        assert not (await begun(kind, it.check, "WINDOW 1d 10", "ann")).allowed
        await asyncio.gather(*others)
        await value(connections.disconnect())
    async with limited(kind, port, {"max_connections": 2}, timeout=0.1, unavailable="allow") as it:
        taken = [await value(it.client.connection_pool.get_connection()) for _ in range(2)]
        for call in (lambda: it.check("WINDOW 1d 10", "ann"), lambda: it.reserve([("WINDOW 1d 10", "ann")], "1h")):
            with pytest.raises(Overloaded, match="no connection was free"):
                await value(call())
        assert (it.link.breaker().is_open, it.counters.errors) == (False, {"overload": 2})
        assert await value(it.join(0))  # what was not sent is not settled
        for connection in taken:
            await value(it.client.connection_pool.release(connection))


async def test_a_late_reply_is_not_that_of_the_next_request(port: int, prefix: str, raw: redis.Redis) -> None:
    async with limited("asyncio", port, prefix=prefix) as it:
        assert (await it.check("FIXED day 100", "ann")).remaining == 99
        raw.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
        it.link.timeout = 0.1
        try:
            with pytest.raises(redis.TimeoutError, match=r"no reply within 0\.1 s"):
                await it.check("FIXED day 100", "ann")
        finally:
            raw.execute_command("CLIENT", "UNPAUSE")
            it.link.timeout = 30
        raw.delete(*raw.keys(f"{prefix}*"))
        assert (await it.check("FIXED day 100", "ann")).remaining == 99


async def test_an_event_loop_that_is_late_finds_the_replies(port: int, prefix: str, raw: redis.Redis) -> None:
    async with limited("asyncio", port, prefix=prefix, timeout=0.2) as it:
        await it.check("FIXED day 100", "ann")
        raw.execute_command("CLIENT", "PAUSE", 100, "WRITE")
        calls = [asyncio.create_task(it.check("FIXED day 100", "ann")) for _ in range(5)]
        for _ in range(4):
            await asyncio.sleep(0)  # they are sent, or wait for a new connection
        time.sleep(0.5)  # noqa: ASYNC251
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert not isinstance(found[0], Exception)
        assert not it.link.breaker().is_open


async def test_callers_that_leave_do_not_keep_the_breaker_open(own: Server) -> None:
    async with limited("asyncio", own.port, timeout=0.1, unavailable="allow") as it:
        own.pause()
        begin = time.monotonic()
        while not it.link.breaker().is_open:
            assert (await it.check("WINDOW 1d 2", "ann")).source == "allow"
        assert time.monotonic() - begin < 2
        # One tries, and the others fail at once.
        errors = it.counters.errors.copy()
        await asyncio.gather(*(it.check("WINDOW 1d 2", "ann") for _ in range(9)))
        assert it.counters.errors - errors == {"circuit open": 8, "timeout": 1}
        own.resume()

        async def leaves() -> None:
            task = asyncio.create_task(it.check("WINDOW 1d 2", "ann"))
            for _ in range(3):
                await asyncio.sleep(0)
            task.cancel()

        source, end = "allow", time.monotonic() + 5
        while source != "server":
            assert time.monotonic() < end
            for _ in range(5):
                await leaves()
            await asyncio.sleep(0.01)
            source = (await it.check("WINDOW 1d 2", "ann")).source
        assert not it.link.breaker().is_open


def test_a_server_that_was_away_in_another_event_loop(own: Server) -> None:
    client: Any = redis.asyncio.Redis(port=own.port, retry=None)
    it = AsyncLimiter(client, unavailable="allow")

    async def becomes(source: str) -> None:
        async with redis.asyncio.Redis(port=own.port, retry=None) as it.link.client:
            end = time.monotonic() + 5
            while (await it.check("WINDOW 1d 10", "ann")).source != source:
                assert time.monotonic() < end
                await asyncio.sleep(0.01)

    asyncio.run(becomes("server"))
    own.stop()
    asyncio.run(becomes("allow"))
    own.start()
    asyncio.run(becomes("server"))


def test_a_fork_begins_closed(own: Server) -> None:
    with redis.Redis(port=own.port, retry=None, socket_timeout=30) as client:
        it = Limiter(client, unavailable="allow")
        own.stop()
        it.check("WINDOW 1d 10", "ann")
        assert it.link.breaker().is_open
        if not (child := os.fork()):
            os._exit(it.link.breaker().is_open)
        assert os.waitpid(child, 0)[1] == 0


@every_kind
async def test_a_wrong_name_of_a_primary_is_a_fault(kind: str, port: int, prefix: str, tmp_path: pathlib.Path) -> None:
    sentinel = free_port()
    (tmp_path / "sentinel.conf").write_text(
        f"port {sentinel}\nbind 127.0.0.1\n"
        f"sentinel monitor up 127.0.0.1 {port} 1\n"
        f"sentinel monitor away 127.0.0.1 1 1\nsentinel down-after-milliseconds away 200\n"
    )
    process = spawn([binaries()[0], "sentinel.conf", "--sentinel"], tmp_path, "log")
    module: Any = redis.asyncio if kind == "asyncio" else redis
    manager = module.sentinel.Sentinel(
        [("127.0.0.1", 1), ("127.0.0.1", sentinel)], sentinel_kwargs={"retry": None}, retry=None
    )
    clients = {name: manager.master_for(name) for name in ("up", "away", "wrong")}
    try:
        await asyncio.to_thread(eventually, lambda: listens(sentinel), "soon")
        with redis.Redis(port=sentinel, decode_responses=True) as client:
            is_down = lambda: client.sentinel_masters()["away"]["is_sdown"]  # noqa: E731
            await asyncio.to_thread(eventually, is_down, "soon")
        options = {"unavailable": "allow", "prefix": prefix}
        for name, source in (("up", "server"), ("away", "allow"), ("wrong", None)):
            it: Any = (
                AsyncLimiter(clients[name], timeout=30, **options)
                if kind == "asyncio"
                else Limiter(clients[name], **options)
            )
            if source is not None:
                assert (await value(it.check("WINDOW 1m 9", "ann"))).source == source
                continue
            with pytest.raises(redis.RedisError, match="no Sentinel watches a primary with the name 'wrong'"):
                await value(it.check("WINDOW 1m 9", "ann"))
            assert it.counters.faults == 1
    finally:
        process.kill()
        process.wait()
        for each in (*clients.values(), *manager.sentinels):
            await value(each.aclose() if kind == "asyncio" else each.close())
