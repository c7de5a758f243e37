"""Reservations: charged once, settled once, however the holder ends."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
import redis
import redis.asyncio
from faults import example
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from server import Forwarder, LosingReplies, Server, binaries, eventually, free_port

from limits_redis_rl import AsyncLimiter, Limiter, Overloaded

WINDOW = "1d"


class Calls:
    """The limits of a call, and what is counted of them."""

    def __init__(self, raw: redis.Redis, prefix: str) -> None:
        self.raw, self.key = raw, f"{{{prefix}}}"

    def limits(self, estimate: int, lease: str = "1h") -> list[Any]:
        return [
            ("WINDOW", f"{self.key}:requests", WINDOW, 10, "AS", "requests"),
            ("ROLLING", f"{self.key}:tokens", WINDOW, 1000, "COST", estimate, "AS", "tokens"),
            ("FIXED", f"{self.key}:month", "month", 5000, "ANCHOR", 0, "COST", estimate, "AS", "month"),
            ("LEASE", f"{self.key}:calls", lease, 2, "AS", "calls"),
        ]

    def counted(self) -> tuple[int, int, int, int]:
        peek = [
            self.raw.execute_command("RL.PEEK", *limit, "FULL")
            for limit in [
                ("WINDOW", f"{self.key}:requests", WINDOW, 10),
                ("ROLLING", f"{self.key}:tokens", WINDOW, 1000, "COST", 0),
            ]
        ]
        month = sum(int(self.raw.get(key) or 0) for key in self.raw.keys(f"{self.key}:month:month:*[0-9]"))
        return peek[0]["count"], peek[1]["count"], month, self.raw.zcard(f"{self.key}:calls")

    def becomes(self, requests: int, tokens: int, leases: int = 0) -> None:
        expected = (requests, tokens, tokens, leases)
        with contextlib.suppress(AssertionError):
            eventually(lambda: self.counted() == expected, "counted", 5)
        assert self.counted() == expected

    async def soon(self, requests: int, tokens: int, leases: int = 0) -> None:
        await asyncio.to_thread(self.becomes, requests, tokens, leases)


@pytest.fixture
def calls(raw: redis.Redis, prefix: str) -> Calls:
    return Calls(raw, prefix)


@pytest.fixture(params=[{"protocol": 2}, {"protocol": 3}, {"decode_responses": True}], ids=str)
async def limiter(request: Any, port: int) -> AsyncIterator[AsyncLimiter]:
    async with redis.asyncio.Redis(port=port, retry=None, **request.param) as client:
        yield AsyncLimiter(client, timeout=30)


@pytest.fixture
async def one(port: int) -> AsyncIterator[AsyncLimiter]:
    async with redis.asyncio.Redis(port=port, retry=None) as client:
        yield AsyncLimiter(client, timeout=30)


@pytest.fixture
def threads(port: int) -> Iterator[Limiter]:
    with redis.Redis(port=port, retry=None, socket_timeout=30) as client:
        yield Limiter(client)


async def test_settles_once(limiter: AsyncLimiter, calls: Calls) -> None:
    reservation = await limiter.reserve(calls.limits(300), "1h")
    assert reservation.allowed
    assert reservation.decision.limits[0][:2] == (1, 0)
    assert reservation.decision.headers["RateLimit-Policy"].startswith('"requests";q=10;w=86400, "tokens";q=1000')
    assert calls.counted() == (1, 300, 300, 1)
    async with reservation:
        reservation.report(100)
        await reservation.settle(420)
        assert calls.counted() == (1, 420, 420, 0)
    # None of these sends anything.
    reservation.close()
    await reservation.cancel()
    await reservation.settle(1)
    await limiter.join()
    assert calls.counted() == (1, 420, 420, 0)


async def test_all_limits_or_none(limiter: AsyncLimiter, calls: Calls) -> None:
    async with await limiter.reserve(calls.limits(900), "1h") as first, first:
        denied = await limiter.reserve(calls.limits(101), "1h")
        async with denied:
            assert not denied.allowed
            assert [limit[0] for limit in denied.decision.limits] == [1, 0, 1, 1]
            assert 86390 <= int(denied.decision.headers["Retry-After"]) <= 86422
        assert calls.counted() == (1, 900, 900, 1)
    assert (limiter.counters.allowed, limiter.counters.denied) == (1, 1)


async def test_what_an_end_without_a_settlement_charges(one: AsyncLimiter, calls: Calls) -> None:
    async def work(estimate: int, step: Callable[[Any], None], end: type[BaseException] | None) -> None:
        async with await one.reserve(calls.limits(estimate), "1h") as reservation:
            step(reservation)
            if end is asyncio.CancelledError:
                asyncio.current_task().cancel()  # type: ignore[union-attr]
                await asyncio.sleep(30)
            if end is not None:
                raise end

    requests = tokens = 0
    for end in (None, RuntimeError, asyncio.CancelledError):
        for step, charged in [
            (lambda reservation: reservation.report(20), (1, 20)),
            (lambda reservation: None, (1, 50)),
            (lambda reservation: reservation.called(False), (0, 0)),
            (lambda reservation: (reservation.called(False), reservation.report(7)), (1, 7)),
        ]:
            with contextlib.suppress(RuntimeError, asyncio.CancelledError):
                await asyncio.create_task(work(50, step, end))
            requests, tokens = requests + charged[0], tokens + charged[1]
            await calls.soon(requests, tokens)


class Gateway:
    """Limits that count different things: requests, input, output, and what both cost, in the month and the year."""

    def __init__(self, raw: redis.Redis, prefix: str) -> None:
        self.raw, self.key = raw, f"{{{prefix}}}"
        # A name that is an option's word, a key that is longer than the server gets, and two limits with one key.
        self.input, self.output, self.budget = (f"{self.key}:{name}" for name in ("input", "o" * 600, "budget"))
        self.limits: list[Any] = [
            ("WINDOW", f"{self.key}:requests", WINDOW, 10, "AS", "cost"),
            ("WINDOW", self.input, WINDOW, 1000, "AS", "cost", "COST", 100),
            ("WINDOW", self.output, WINDOW, 1000, "COST", 50, "AS", "anchor"),
            ("FIXED", self.budget, "month", 5000, "COST", 700),
            ("FIXED", self.budget, "year", 5000, "COST", 700, "ANCHOR", 0),
            ("LEASE", f"{self.key}:calls", "1h", 2),
        ]

    def counted(self) -> list[int]:
        patterns = [f"{self.key}:requests", self.input, f"{self.key}" + "?" * 97]
        patterns += [f"{self.budget}:{period}:*[0-9]" for period in ("month", "year")]
        return [sum(int(self.raw.get(key) or 0) for key in self.raw.keys(pattern)) for pattern in patterns]


async def test_what_was_used_of_each_limit(one: AsyncLimiter, threads: Limiter, raw: redis.Redis, prefix: str) -> None:
    gateway, used = Gateway(raw, prefix), [0] * 5

    def charged(*each: int) -> None:
        used[:] = [sum(pair) for pair in zip(used, each, strict=True)]
        eventually(lambda: gateway.counted() == used, f"{gateway.counted()} becomes {used}", 5)

    async with await one.reserve(gateway.limits, "1h") as reservation:
        assert reservation.allowed
        await reservation.settle({gateway.input: 90, gateway.output: 20, gateway.budget: 310})
    charged(1, 90, 20, 310, 310)
    async with await one.reserve(gateway.limits, "1h") as reservation:
        reservation.report({gateway.input: 90})
        reservation.report({gateway.output: 5})
        reservation.report({gateway.output.encode(): 6})
    # The budget keeps its estimate.
    await asyncio.to_thread(charged, 1, 90, 6, 700, 700)
    reservation = await one.reserve(gateway.limits, "1h")
    reservation.report({gateway.input: 1})
    await reservation.settle(8)
    charged(1, 8, 8, 8, 8)
    with threads.reserve(gateway.limits, "1h") as held:
        for key in (f"{gateway.key}:requests", f"{gateway.key}:calls", "x"):
            with pytest.raises(ValueError, match="expected keys of limits with COST"):
                held.report({key: 1})
        for units in (-1, 1.5, True, None):
            with pytest.raises(ValueError, match="at least 0"):
                held.report({gateway.input: units})  # type: ignore[dict-item]
        held.report({gateway.input: 7})
        held.settle({gateway.output: 0, gateway.budget: 2})
    charged(1, 7, 0, 2, 2)
    with threads.reserve(gateway.limits, "1h") as held:
        held.report({gateway.input: 7})
        held.cancel()
    charged(0, 0, 0, 0, 0)
    assert raw.zcard(f"{gateway.key}:calls") == 0


async def test_a_dropped_reservation(one: AsyncLimiter, calls: Calls) -> None:
    reservation = await one.reserve(calls.limits(300), "1h")
    reservation.report(120)
    del reservation
    gc.collect()
    await calls.soon(1, 120)


async def test_a_cancelled_request_for_a_reservation(one: AsyncLimiter, calls: Calls, raw: redis.Redis) -> None:
    await one.client.ping()
    raw.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
    try:
        request = asyncio.create_task(one.reserve(calls.limits(300), "1h"))
        await asyncio.sleep(0.1)
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
    finally:
        raw.execute_command("CLIENT", "UNPAUSE")
    await calls.soon(0, 0)


async def test_a_cancelled_request_with_an_id_leaves_what_another_caller_holds(
    one: AsyncLimiter, calls: Calls, raw: redis.Redis
) -> None:
    first = await one.reserve(calls.limits(300), "1h", id="call-1")
    raw.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
    try:
        again = asyncio.create_task(one.reserve(calls.limits(300), "1h", id="call-1"))
        await asyncio.sleep(0.1)
        again.cancel()
        with pytest.raises(asyncio.CancelledError):
            await again
    finally:
        raw.execute_command("CLIENT", "UNPAUSE")
    # What would cancel it has had its time.
    await asyncio.sleep(0.1)
    await one.join()
    assert calls.counted() == (1, 300, 300, 1)
    await first.settle(310)
    assert calls.counted() == (1, 310, 310, 0)


async def test_a_repeated_request_is_charged_once(one: AsyncLimiter, calls: Calls) -> None:
    first = await one.reserve(calls.limits(300), "1h", id="call-1")
    again = await one.reserve(calls.limits(300), "1h", id="call-1")
    assert (first.id, again.allowed) == ("call-1", True)
    assert calls.counted() == (1, 300, 300, 1)
    await again.settle(310)
    await first.settle(999)
    assert calls.counted() == (1, 310, 310, 0)
    others = [await one.reserve(calls.limits(0), "1h") for _ in range(2)]
    assert len({each.id for each in others}) == 2
    for each in others:
        await each.cancel()


async def test_what_a_dead_holder_reserved_comes_back(one: AsyncLimiter, calls: Calls) -> None:
    dead = await one.reserve(calls.limits(900, "1s"), "1s")
    dead._settled = dead._charge.is_over = True  # as if its process was killed
    assert not (await one.reserve(calls.limits(900), "1h")).allowed
    end = time.monotonic() + 10
    while not (next_one := await one.reserve(calls.limits(900), "1h")).allowed:
        assert time.monotonic() < end
        await asyncio.sleep(0.02)
    await next_one.settle(1)
    assert calls.counted() == (1, 1, 1, 0)


async def test_a_lease_is_renewed_until_the_end(one: AsyncLimiter, calls: Calls, raw: redis.Redis) -> None:
    async with await one.reserve(calls.limits(1, "600ms"), "1h") as reservation:
        await asyncio.sleep(1.5)
        assert not reservation.is_lost
        assert raw.zscore(f"{calls.key}:calls", reservation.id) > float(raw.time()[0] * 1000)
        raw.delete(f"{calls.key}:calls")
        end = time.monotonic() + 10
        while not reservation.is_lost:
            assert time.monotonic() < end
            await asyncio.sleep(0.02)


def lost_leases(text: str) -> int:
    return text.count("a lease has ended: LeaseLost: the reservation")


@pytest.mark.parametrize("cause", ["no connection", "no permission"])
@pytest.mark.parametrize("kind", ["asyncio", "threads"])
async def test_a_lease_that_cannot_be_renewed_is_lost(
    kind: str, cause: str, port: int, calls: Calls, raw: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    lease = ("LEASE", f"{calls.key}:calls", "500ms", 1)
    raw.execute_command("ACL", "SETUSER", "holder", "on", "nopass", "~*", "+@all", "-rl.renew")
    with contextlib.ExitStack() as stack:
        address = stack.enter_context(contextlib.closing(Forwarder(port)))
        options: dict[str, Any] = {"port": address.port, "retry": None}
        if cause == "no permission":
            options |= {"username": "holder", "password": "x"}
        limiter: Any
        reservation: Any
        sent = time.monotonic()
        if kind == "threads":
            limiter = Limiter(stack.enter_context(redis.Redis(**options)))
            reservation = limiter.reserve([lease], "200ms")
        else:
            limiter = AsyncLimiter(redis.asyncio.Redis(**options), timeout=30)
            reservation = await limiter.reserve([lease], "200ms")
        assert len(reservation.decision.limits) == 1
        assert not reservation.is_lost
        if cause == "no connection":
            address.close()
        while not limiter.counters.leases_lost:
            assert time.monotonic() < sent + 10
            await asyncio.sleep(0.02)
        assert time.monotonic() - sent >= 0.5
        assert reservation.is_lost
        assert limiter.counters.leases_lost == lost_leases(caplog.text) == 1
        eventually(lambda: raw.execute_command("RL.LEASE", *lease[1:], "ID", "other")[0], "another holder is allowed")
        assert (limiter.counters.faults > 0) == (cause == "no permission")
        reservation.close()
        await (asyncio.to_thread(limiter.join) if kind == "threads" else limiter.join())
        assert limiter.counters.leases_lost == 1
        if kind == "asyncio":
            await limiter.client.aclose()


async def test_a_settlement_that_the_server_rejects(port: int, calls: Calls, raw: redis.Redis) -> None:
    raw.execute_command("ACL", "SETUSER", "settler", "on", "nopass", "~*", "+@all", "-rl.settle")
    user = {"port": port, "retry": None, "username": "settler", "password": "x"}
    limits = [("WINDOW", f"{calls.key}:requests", WINDOW, 100, "COST", 5)]
    async with redis.asyncio.Redis(**user) as client:
        limiter = AsyncLimiter(client, timeout=30)
        async with await limiter.reserve(limits, "1h") as reservation:
            reservation.report(1)
        await limiter.join()
        with pytest.raises(redis.exceptions.NoPermissionError):
            await (await limiter.reserve(limits, "1h")).settle(1)
        assert (limiter.counters.faults, limiter.counters.unsettled) == (2, 2)
    with redis.Redis(**user) as client:
        threads = Limiter(client)
        with pytest.raises(redis.exceptions.NoPermissionError):
            threads.reserve(limits, "1h").settle(1)
        dropped = threads.reserve(limits, "1h")
        del dropped
        gc.collect()
        assert threads.join(10)
        assert (threads.counters.faults, threads.counters.unsettled) == (2, 2)
    assert calls.counted()[0] == 20


async def test_a_settlement_without_an_end_is_counted(calls: Calls) -> None:
    async with redis.asyncio.Redis(port=free_port(), retry=None) as client:
        limiter = AsyncLimiter(client, timeout=30, fail_open=True)
        async with await limiter.reserve(calls.limits(300), "50ms"):
            pass
        await limiter.join()
        assert (limiter.counters.faults, limiter.counters.unsettled) == (0, 1)


@pytest.mark.parametrize("by_setting", [True, False])
@pytest.mark.parametrize("id", [None, "given"])
async def test_a_lease_in_shadow_mode(
    by_setting: bool, id: str | None, one: AsyncLimiter, threads: Limiter, calls: Calls, raw: redis.Redis
) -> None:
    key = f"{calls.key}:calls"
    lease = [("LEASE", key, "600ms", 1, *([] if by_setting else ["SHADOW"]))]
    raw.execute_command("RL.LEASE", key, "1h", 1, "ID", "other")
    raw.config_set("rl.shadow", "yes" if by_setting else "no")
    try:
        held = [await one.reserve(lease, "1h", id=id), threads.reserve(lease, "1h", id=id)]
    finally:
        raw.config_set("rl.shadow", "no")
    await asyncio.sleep(0.8)
    assert [(each.allowed, each.is_lost) for each in held] == [(True, False)] * 2
    await held[0].settle(0)  # type: ignore[misc]
    held[1].settle(0)
    # One that was taken before the limit became smaller is held.
    raw.execute_command("RL.LEASE", key, "1h", 2, "ID", "mine")
    async with await one.reserve([("LEASE", key, "900ms", 1)], "1h", id="mine") as mine:
        raw.zrem(key, "mine")
        assert not mine.is_lost
    assert one.counters.leases_lost == threads.counters.leases_lost == 0
    assert raw.zrange(key, 0, -1) == ["other"]


async def test_more_reservations_at_once_than_connections(port: int, calls: Calls) -> None:
    limits = [("WINDOW", f"{calls.key}:requests", WINDOW, 10)]
    async with redis.asyncio.Redis(port=port, retry=None, max_connections=3) as client:
        limiter = AsyncLimiter(client, timeout=30)
        held = await asyncio.gather(*(limiter.reserve(limits, "1h") for _ in range(50)))
        assert [each.allowed for each in held].count(True) == 10
        await asyncio.gather(*(each.cancel() for each in held))
        assert calls.counted()[0] == 0
        # All of them are in use: nothing is sent, so nothing is charged and settled.
        connections = [await client.connection_pool.get_connection() for _ in range(3)]
        limiter.guard.timeout = 0.1
        with pytest.raises(Overloaded, match="no connection was free"):
            await limiter.reserve(limits, "1h")
        assert not limiter.background._awaited
        assert limiter.counters.errors == {"overload": 1}
        for connection in connections:
            await client.connection_pool.release(connection)
    with redis.Redis(port=port, retry=None, max_connections=3, socket_timeout=10) as sync:
        threads = Limiter(sync)
        each = [asyncio.to_thread(threads.reserve, limits, "1h") for _ in range(50)]
        assert [held.allowed for held in await asyncio.gather(*each)].count(True) == 10
        assert threads.join(10)


async def test_a_huge_cost(one: AsyncLimiter, calls: Calls) -> None:
    for cost in (10**30, "9" * 5000):
        denied = await one.reserve([("WINDOW", f"{calls.key}:requests", WINDOW, 10, "COST", cost)], "1h")
        assert not denied.allowed
    async with await one.reserve(calls.limits(1), "1h") as reservation:
        await reservation.settle(10**30)
    for name in ("requests", "tokens"):
        limits = [("ROLLING", f"{calls.key}:tokens", WINDOW, 2**62 - 1, "COST", 1)]
        assert not (await one.reserve(limits, "1h")).allowed, name
    assert (one.counters.faults, one.counters.unsettled) == (0, 0)


async def test_a_settlement_without_a_reply_is_sent_again(port: int, calls: Calls) -> None:
    with contextlib.closing(LosingReplies(port, b"RL.SETTLE", 2)) as address:
        async with redis.asyncio.Redis(port=address.port, retry=None) as client:
            limiter = AsyncLimiter(client, timeout=30)
            reservation = await limiter.reserve(calls.limits(300), "1h")
            await reservation.settle(450)
            assert address.lost == 2
            assert calls.counted() == (1, 450, 450, 0)
            assert limiter.counters.errors["connection"] == 2


async def test_a_reservation_without_a_reply(port: int, calls: Calls) -> None:
    for fail_open, requests, tokens in [(True, 1, 450), (False, 1, 450)]:
        with contextlib.closing(LosingReplies(port, b"RL.MULTI", 1)) as address:
            async with redis.asyncio.Redis(port=address.port, retry=None) as client:
                limiter = AsyncLimiter(client, timeout=30, fail_open=fail_open)
                if fail_open:
                    # The server has charged it, so it is settled.
                    async with await limiter.reserve(calls.limits(300), "1h") as reservation:
                        assert reservation.decision.limits == []
                        await reservation.settle(450)
                else:
                    with pytest.raises(redis.ConnectionError):
                        await limiter.reserve(calls.limits(300), "1h")
                    await limiter.join()
                assert calls.counted() == (requests, tokens, tokens, 0)


async def test_a_server_that_is_away(calls: Calls) -> None:
    async with redis.asyncio.Redis(port=free_port(), retry=None) as client:
        limiter = AsyncLimiter(client, timeout=30, fail_open=True)
        for _ in range(10):
            async with await limiter.reserve(calls.limits(300), "1s") as reservation:
                assert reservation.allowed
        assert limiter.counters.failed_open == 10
        assert limiter.counters.errors["circuit open"] > 0
        closed = AsyncLimiter(client, timeout=30)
        with pytest.raises(redis.ConnectionError):
            await closed.reserve(calls.limits(300), "1s")
        assert closed.counters.failed_closed == 1


@pytest.mark.parametrize("fail_open", [True, False])
async def test_what_the_server_rejects_is_never_allowed(fail_open: bool, one: AsyncLimiter, calls: Calls) -> None:
    one.fail_open = fail_open
    with pytest.raises(redis.ResponseError, match="invalid limit"):
        await one.reserve([("ROLLING", calls.key, "1m", "x")], "1h")
    with contextlib.closing(Server(binaries()[0], module=False)) as server:
        async with redis.asyncio.Redis(port=server.port, retry=None) as client:
            with pytest.raises(redis.ResponseError, match="unknown command"):
                await AsyncLimiter(client, fail_open=fail_open, timeout=30).reserve(calls.limits(1), "1h")
    assert one.counters.faults == 1


async def test_in_a_cluster(ports: list[int], prefix: str) -> None:
    # Three tags, so that not all are on the node that is asked first.
    async with redis.asyncio.RedisCluster(port=ports[0], host="127.0.0.1", retry=Retry(NoBackoff(), 0)) as cluster:
        limiter = AsyncLimiter(cluster, timeout=30)
        for name in "abc":
            key = f"{{{prefix}{name}}}"
            limits = [("WINDOW", f"{key}:requests", WINDOW, 10), ("COUNTER", f"{key}:tokens", WINDOW, 100, "COST", 60)]
            limits.append(("LEASE", f"{key}:calls", "1h", 1))
            async with await limiter.reserve(limits, "1h") as reservation:
                assert reservation.allowed
                assert not (await limiter.reserve(limits, "1h")).allowed
                await reservation.settle(99)
            with redis.RedisCluster(port=ports[0], host="127.0.0.1", retry=Retry(NoBackoff(), 0)) as other:
                threads = Limiter(other)
                denied = threads.reserve([("COUNTER", f"{key}:tokens", WINDOW, 100, "COST", 2)], "1h")
                assert not denied.allowed
                with threads.reserve(limits[::2], "1h") as held:
                    assert held.allowed
                assert other.get(f"{key}:requests") == b"2"


def test_the_example_of_the_readme(port: int, raw: redis.Redis) -> None:
    raw.flushall()
    text = example("clients/python/README.md", "python", "import Limiter\n\nlimiter = Limiter(")
    assert text.count("redis.Redis(socket_timeout=0.1") == 1
    exec(text.replace("redis.Redis(socket_timeout=0.1", f"redis.Redis(port={port}, socket_timeout=5"), {})
    assert raw.execute_command("RL.PEEK", "ROLLING", "{org:7}:tokens", "1m", 90_000, "COST", 0, "FULL")["count"] == 4200
    assert raw.zcard("{org:7}:calls") == 0


async def test_the_gateway_of_the_page(port: int, raw: redis.Redis) -> None:
    """docs/language-models.md."""

    class Part:
        tokens = 10

    class Prompt:
        tokens = 100

    class Model:
        parts = 30

        async def stream(self, prompt: Any, longest: int) -> AsyncIterator[Any]:
            for _ in range(self.parts):
                await asyncio.sleep(0)
                yield Part

    class TooManyRequests(Exception):
        def __init__(self, headers: dict[str, str]) -> None:
            self.headers = headers

    raw.flushall()
    text = example("docs/language-models.md", "python", "import AsyncLimiter")
    assert text.count("redis.asyncio.Redis(") == 1
    page: dict[str, Any] = {"TooManyRequests": TooManyRequests}
    exec(text.replace("redis.asyncio.Redis(", f"redis.asyncio.Redis(port={port}, "), page)
    page["limiter"].guard.timeout = 30
    tokens = ("RL.PEEK", "ROLLING", "{acme}:tokens", "1m", 9000, "COST", 0, "FULL")

    async def charged(units: int) -> None:
        await page["limiter"].join()
        assert (raw.execute_command(*tokens)["count"], raw.zcard("{acme}:calls")) == (units, 0)

    complete = page["complete"]
    assert len([part async for part in complete(Model(), Prompt, 1000)]) == 30
    await charged(400)
    # The caller hangs up.
    async with contextlib.aclosing(complete(Model(), Prompt, 1000)) as parts:
        async for _ in parts:
            break
    await charged(510)
    with pytest.raises(TooManyRequests) as denied:
        async for _ in complete(Model(), Prompt, 9000):
            pass
    assert "Retry-After" not in denied.value.headers  # it can never be allowed
    await charged(510)
    await page["limiter"].client.aclose()


def test_with_threads(threads: Limiter, calls: Calls) -> None:
    with threads.reserve(calls.limits(300), "1h") as reservation:
        assert calls.counted() == (1, 300, 300, 1)
        assert not threads.reserve(calls.limits(800), "1h").allowed
        reservation.settle(420)
        assert calls.counted() == (1, 420, 420, 0)
    with contextlib.suppress(RuntimeError), threads.reserve(calls.limits(300), "1h") as reservation:
        reservation.report(30)
        raise RuntimeError
    calls.becomes(2, 450)
    with threads.reserve(calls.limits(50), "1h"):
        pass
    calls.becomes(3, 500)
    with threads.reserve(calls.limits(50), "1h") as reservation:
        reservation.called(False)
    calls.becomes(3, 500)
    threads.reserve(calls.limits(50), "1h").cancel()
    calls.becomes(3, 500)
    dropped = threads.reserve(calls.limits(50), "1h")
    dropped.report(1)
    del dropped
    gc.collect()
    calls.becomes(4, 501)


def test_a_thread_renews_and_settles_again(port: int, calls: Calls, raw: redis.Redis) -> None:
    with (
        contextlib.closing(LosingReplies(port, b"RL.SETTLE", 2)) as address,
        redis.Redis(port=address.port, retry=None, socket_timeout=30) as client,
    ):
        limiter = Limiter(client)
        with limiter.reserve(calls.limits(300, "600ms"), "1h") as reservation:
            time.sleep(1.5)
            assert not reservation.is_lost
            assert raw.zscore(f"{calls.key}:calls", reservation.id) > float(raw.time()[0] * 1000)
            reservation.settle(450)
        calls.becomes(1, 450)
        eventually(lambda: address.lost == 2 and not limiter.background._due, "both are settled")
    assert calls.counted() == (1, 450, 450, 0)


def test_a_thread_that_cannot_be_started(
    threads: Limiter, calls: Calls, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as context:
        context.setattr(threading.Thread, "start", fails)
        first = threads.reserve(calls.limits(1, "1s"), "1h")
        assert first.allowed
        assert "can't start new thread" in caplog.text
    with threads.reserve(calls.limits(1, "1s"), "1h") as second:
        time.sleep(1.2)
        assert not first.is_lost
        assert not second.is_lost
    first.close()
    assert calls.counted()[3] == 0


PROGRAM = """
import os, sys, time
import redis
from limits_redis_rl import Limiter

limiter = Limiter(redis.Redis(port=int(sys.argv[1]), retry=None, socket_timeout=0.1))
lease = [("LEASE", sys.argv[2] + ":calls", "600ms", 9)]
"""


@contextlib.contextmanager
def program(text: str, port: int, key: str) -> Iterator[subprocess.Popen[str]]:
    words, pipe = [sys.executable, "-c", PROGRAM + text, str(port), key], subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, start_new_session=True) as running:
        try:
            yield running
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)


def test_a_child_process(port: int, calls: Calls) -> None:
    text = """
parents = limiter.reserve(lease, "1h")  # it has a thread
limiter.client.connection_pool.connection_kwargs["socket_timeout"] = 10
limiter.client.close()
if os.fork() == 0:
    own = limiter.reserve(lease, "1h")
    id = parents.id
    del parents  # a copy
    time.sleep(1)
    now = limiter.client.time()[0] * 1000
    score = limiter.client.zscore
    print("child", own.allowed, own.is_lost, score(lease[0][1], own.id) > now, score(lease[0][1], id) > now, flush=True)
    own.close()
    os._exit(0)
os.wait()
print("parent", parents.is_lost, limiter.client.zcard(lease[0][1]))
"""
    with program(text, port, calls.key) as parent:
        said, _ = parent.communicate(timeout=30)
    assert said.splitlines() == ["child True False True True", "parent False 1"]


def test_the_end_of_a_program(port: int, calls: Calls, raw: redis.Redis) -> None:
    text = """
reservation = limiter.reserve([("ROLLING", sys.argv[2] + ":tokens", "1d", 1000, "COST", 300)], "1h")
print("reserved", flush=True)
sys.stdin.readline()
reservation.settle(450)
"""
    with program(text, port, calls.key) as ends:
        assert ends.stdout is not None
        assert ends.stdout.readline() == "reserved\n"
        raw.execute_command("CLIENT", "PAUSE", 300, "WRITE")
        ends.communicate("settle\n", timeout=30)
    assert calls.counted()[1] == 450


def test_waiting_for_the_thread(threads: Limiter, calls: Calls, raw: redis.Redis) -> None:
    dropped = threads.reserve(calls.limits(300), "1h")
    raw.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
    del dropped
    gc.collect()
    try:
        assert not threads.join(0.05)
    finally:
        raw.execute_command("CLIENT", "UNPAUSE")
    assert threads.join(10)
    assert calls.counted() == (1, 300, 300, 0)


def test_threads_without_a_server(calls: Calls) -> None:
    with redis.Redis(port=free_port(), retry=None) as client:
        with Limiter(client, fail_open=True).reserve(calls.limits(300), "1s") as reservation:
            assert reservation.allowed
        with pytest.raises(redis.ConnectionError):
            Limiter(client).reserve(calls.limits(300), "1s")


def test_many_threads(threads: Limiter, calls: Calls) -> None:
    def work() -> None:
        for _ in range(5):
            with threads.reserve([("WINDOW", f"{calls.key}:requests", WINDOW, 10, "COST", 1)], "1h") as reservation:
                if reservation.allowed:
                    reservation.settle(0)

    each = [threading.Thread(target=work) for _ in range(8)]
    for thread in each:
        thread.start()
    for thread in each:
        thread.join()
    assert calls.counted()[0] == 0
    assert threads.counters.allowed + threads.counters.denied == 40


def test_arguments(threads: Limiter) -> None:
    with pytest.raises(
        ValueError, match="TOKEN takes no reservation; expected FIXED, WINDOW, COUNTER, ROLLING or LEASE"
    ):
        threads.reserve([("TOKEN", "k", "1m", 60)], "10m")
    for ttl in ("10x", "0s", 0, "", "month", True):
        with pytest.raises(ValueError, match="expected a positive integer of seconds"):
            threads.reserve([("ROLLING", "k", "1m", 60)], ttl)
    for policies in ([], ["ROLLING"], [("ROLLING", "k", "1m")]):
        with pytest.raises(ValueError, match="expected"):
            threads.reserve(policies, "10m")
    for id in ("", "x" * 129):
        with pytest.raises(ValueError, match="1 to 128 bytes"):
            threads.reserve([("ROLLING", "k", "1m", 60)], "10m", id=id)
    with threads.reserve([("ROLLING", "k", "1m", 60)], "1s") as reservation:
        for used in (-1, 1.5, True, "1"):
            with pytest.raises(ValueError, match="at least 0"):
                reservation.report(used)  # type: ignore[arg-type]
        reservation.called(False)
    for limiter, client in [(Limiter, redis.asyncio.Redis(retry=None)), (AsyncLimiter, redis.Redis(retry=None))]:
        with pytest.raises(TypeError, match="client: expected one of redis"):
            limiter(client)
    with pytest.raises(ValueError, match="retry=None"):
        Limiter(redis.Redis(retry=redis.retry.Retry(NoBackoff(), 3)))
