"""Reservations: charged once, settled once, however the holder ends. With asyncio and with threads."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
import redis
import redis.asyncio
from faults import example
from redis.backoff import NoBackoff
from server import Forwarder, Server, binaries, eventually, free_port

from limits_redis_rl import AsyncLimiter, Limiter, Overloaded

from .conftest import value

KINDS = ["asyncio", "threads"]
NO_PERMISSION = redis.exceptions.NoPermissionError
every_kind = pytest.mark.parametrize("kind", KINDS)


@contextlib.asynccontextmanager
async def connected(kind: str, port: int, **options: Any) -> AsyncIterator[Any]:
    """A limiter whose calls have time, where a timeout is not what is tested."""
    given = {name: options.pop(name) for name in ("fail_open", "timeout") if name in options}
    if kind == "asyncio":
        async with redis.asyncio.Redis(port=port, retry=None, **options) as client:
            yield AsyncLimiter(client, **{"timeout": 30, **given})
    else:
        given.pop("timeout", None)
        with redis.Redis(port=port, retry=None, **{"socket_timeout": 30, **options}) as sync:
            yield Limiter(sync, **given)


@pytest.fixture(params=KINDS)
async def limiter(request: Any, port: int) -> AsyncIterator[Any]:
    async with connected(request.param, port) as found:
        yield found


@contextlib.asynccontextmanager
async def held(reservation: Any) -> AsyncIterator[Any]:
    """``async with`` or ``with``."""
    if hasattr(reservation, "__aenter__"):
        async with reservation:
            yield reservation
    else:
        with reservation:
            yield reservation


class Calls:
    """The limits of a call, and what is counted of them."""

    def __init__(self, raw: redis.Redis, prefix: str) -> None:
        self.raw, self.key = raw, f"{{{prefix}}}"

    def limits(self, estimate: int, lease: str = "1h") -> list[Any]:
        return [
            ("WINDOW", f"{self.key}:requests", "1d", 10, "AS", "requests"),
            ("ROLLING", f"{self.key}:tokens", "1d", 1000, "COST", estimate, "AS", "tokens"),
            ("FIXED", f"{self.key}:month", "month", 5000, "ANCHOR", 0, "COST", estimate, "AS", "month"),
            ("LEASE", f"{self.key}:calls", lease, 2, "AS", "calls"),
        ]

    def sum(self, pattern: str) -> int:
        return sum(int(self.raw.get(key) or 0) for key in self.raw.keys(self.key + pattern))

    def counted(self) -> tuple[int, int, int, int]:
        tokens = self.raw.execute_command("RL.PEEK", *self.limits(0)[1][:4], "COST", 0, "FULL")["count"]
        return self.sum(":requests"), tokens, self.sum(":month:month:*[0-9]"), self.raw.zcard(f"{self.key}:calls")

    async def becomes(self, requests: int, tokens: int, leases: int = 0) -> None:
        expected = (requests, tokens, tokens, leases)
        with contextlib.suppress(AssertionError):
            await asyncio.to_thread(eventually, lambda: self.counted() == expected, "counted", 5)
        assert self.counted() == expected


@pytest.fixture
def calls(raw: redis.Redis, prefix: str) -> Calls:
    return Calls(raw, prefix)


@contextlib.contextmanager
def paused(raw: redis.Redis) -> Any:
    raw.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
    try:
        yield
    finally:
        raw.execute_command("CLIENT", "UNPAUSE")


@every_kind
@pytest.mark.parametrize("options", [{"protocol": 2}, {"protocol": 3}, {"decode_responses": True}], ids=str)
async def test_settles_once(kind: str, options: dict[str, Any], port: int, calls: Calls) -> None:
    async with connected(kind, port, **options) as limiter:
        reservation = await value(limiter.reserve(calls.limits(300), "1h"))
        assert reservation.allowed
        policies = reservation.decision.headers["RateLimit-Policy"]
        assert policies.startswith('"requests";q=10;w=86400, "tokens";q=1000')
        assert calls.counted() == (1, 300, 300, 1)
        denied = await value(limiter.reserve(calls.limits(701), "1h"))
        async with held(denied):
            assert [limit[0] for limit in denied.decision.limits] == [1, 0, 1, 1]
            assert 86390 <= int(denied.decision.headers["Retry-After"]) <= 86422
        async with held(reservation):
            reservation.report(100)
            await value(reservation.settle(420))
            assert calls.counted() == (1, 420, 420, 0)
        # None of these sends anything.
        reservation.close()
        await value(reservation.cancel())
        await value(reservation.settle(1))
        await value(limiter.join())
        assert calls.counted() == (1, 420, 420, 0)
        assert (limiter.counters.allowed, limiter.counters.denied) == (1, 1)


# What a holder does before the end, and the requests and tokens that are charged then.
ENDS: list[tuple[Callable[[Any], Any], int, int]] = [
    (lambda reservation: reservation.report(20), 1, 20),
    (lambda reservation: None, 1, 50),
    (lambda reservation: reservation.called(False), 0, 0),
    (lambda reservation: (reservation.called(False), reservation.report(7)), 1, 7),
]


@pytest.mark.parametrize("end", [None, RuntimeError, asyncio.CancelledError, "dropped"], ids=str)
async def test_what_an_end_without_a_settlement_charges(end: Any, limiter: Any, calls: Calls) -> None:
    async def work(step: Callable[[Any], Any]) -> None:
        reservation = await value(limiter.reserve(calls.limits(50), "1h"))
        step(reservation)
        if end != "dropped":
            async with held(reservation):
                if end is not None:
                    raise end

    requests = tokens = 0
    for step, more_requests, more_tokens in ENDS:
        with contextlib.suppress(RuntimeError, asyncio.CancelledError):
            await asyncio.create_task(work(step))
        gc.collect()
        requests, tokens = requests + more_requests, tokens + more_tokens
        await calls.becomes(requests, tokens)


async def test_what_was_used_of_each_limit(limiter: Any, calls: Calls) -> None:
    # A name that is an option's word, a key that is longer than the server gets, and two limits with one key.
    input, output, budget = (f"{calls.key}:{name}" for name in ("input", "o" * 600, "budget"))
    limits: list[Any] = [
        ("WINDOW", f"{calls.key}:requests", "1d", 10, "AS", "cost"),
        ("WINDOW", input, "1d", 1000, "AS", "cost", "COST", 100),
        ("WINDOW", output, "1d", 1000, "COST", 50, "AS", "anchor"),
        ("FIXED", budget, "month", 5000, "COST", 700),
        ("FIXED", budget, "year", 5000, "COST", 700, "ANCHOR", 0),
        ("LEASE", f"{calls.key}:calls", "1h", 2),
    ]
    patterns = [":requests", ":input", "?" * 97, ":budget:month:*[0-9]", ":budget:year:*[0-9]"]
    used = [0] * 5
    for reports, settled, charged in [
        ([], {input: 90, output: 20, budget: 310}, (1, 90, 20, 310, 310)),
        # The budget keeps its estimate.
        ([{input: 90}, {output: 5}, {output.encode(): 6}], None, (1, 90, 6, 700, 700)),
        ([{input: 1}], 8, (1, 8, 8, 8, 8)),
        ([{input: 7}], "cancel", (0, 0, 0, 0, 0)),
    ]:
        async with held(await value(limiter.reserve(limits, "1h"))) as reservation:
            for wrong in (f"{calls.key}:requests", f"{calls.key}:calls", "x"):
                with pytest.raises(ValueError, match="expected keys of limits with COST"):
                    reservation.report({wrong: 1})
            for report in reports:
                reservation.report(report)
            if settled == "cancel":
                await value(reservation.cancel())
            elif settled is not None:
                await value(reservation.settle(settled))
        used = [sum(pair) for pair in zip(used, charged, strict=True)]
        await asyncio.to_thread(eventually, lambda used=used: [calls.sum(each) for each in patterns] == used, f"{used}")


@pytest.mark.parametrize("id", [None, "call-1"])
async def test_a_cancelled_request_for_a_reservation(id: str | None, port: int, calls: Calls, raw: redis.Redis) -> None:
    async with connected("asyncio", port) as limiter:
        first = await limiter.reserve(calls.limits(300), "1h", id="call-1")
        with paused(raw):
            request = asyncio.create_task(limiter.reserve(calls.limits(300), "1h", id=id))
            await asyncio.sleep(0.1)
            request.cancel()
            with pytest.raises(asyncio.CancelledError):
                await request
        # What would cancel the one that another caller holds has had its time.
        await asyncio.sleep(0.1)
        await limiter.join()
        await calls.becomes(1, 300, 1)
        await first.cancel()


async def test_a_repeated_request_is_charged_once(limiter: Any, calls: Calls) -> None:
    first, again = [await value(limiter.reserve(calls.limits(300), "1h", id="call-1")) for _ in range(2)]
    assert (first.id, again.allowed) == ("call-1", True)
    assert calls.counted() == (1, 300, 300, 1)
    await value(again.settle(310))
    await value(first.settle(999))
    assert calls.counted() == (1, 310, 310, 0)
    others = [await value(limiter.reserve(calls.limits(0), "1h")) for _ in range(2)]
    assert others[0].id != others[1].id
    for other in others:
        await value(other.cancel())


async def test_a_lease_is_renewed_until_the_end(limiter: Any, calls: Calls, raw: redis.Redis) -> None:
    async with held(await value(limiter.reserve(calls.limits(1, "600ms"), "1h"))) as reservation:
        await asyncio.sleep(1.2)
        assert not reservation.is_lost
        assert raw.zscore(f"{calls.key}:calls", reservation.id) > float(raw.time()[0] * 1000)
        raw.delete(f"{calls.key}:calls")
        await asyncio.to_thread(eventually, lambda: reservation.is_lost, "it is lost")


@pytest.mark.parametrize(("kind", "cause"), [("asyncio", "cut"), ("threads", "cut"), ("asyncio", "rejected")])
async def test_a_lease_that_cannot_be_renewed_is_lost(
    kind: str, cause: str, port: int, calls: Calls, raw: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    lease = ("LEASE", f"{calls.key}:calls", "500ms", 1)
    raw.execute_command("ACL", "SETUSER", "holder", "on", "nopass", "~*", "+@all", "-rl.renew")
    user = {"username": "holder", "password": "x"} if cause == "rejected" else {}
    with contextlib.closing(Forwarder(port)) as address:
        async with connected(kind, address.port, **user) as limiter:
            reservation = await value(limiter.reserve([lease], "200ms"))
            assert not reservation.is_lost
            if cause == "cut":
                address.close()
            assert not raw.execute_command("RL.LEASE", *lease[1:], "ID", "other")[0]
            counters = limiter.counters
            await asyncio.to_thread(eventually, lambda: counters.leases_lost, "it is lost")
            assert reservation.is_lost
            eventually(lambda: raw.execute_command("RL.LEASE", *lease[1:], "ID", "other")[0], "another is allowed")
            assert (counters.faults > 0) == (cause == "rejected")
            reservation.close()
            await (limiter.join() if kind == "asyncio" else asyncio.to_thread(limiter.join))
            assert counters.leases_lost == caplog.text.count("a lease has ended: LeaseLost: the reservation") == 1


@every_kind
async def test_a_settlement_that_the_server_rejects(kind: str, port: int, calls: Calls, raw: redis.Redis) -> None:
    raw.execute_command("ACL", "SETUSER", "settler", "on", "nopass", "~*", "+@all", "-rl.settle")
    limits = [("WINDOW", f"{calls.key}:requests", "1d", 100, "COST", 5)]
    async with connected(kind, port, username="settler", password="x") as limiter:
        with pytest.raises(NO_PERMISSION):
            await value((await value(limiter.reserve(limits, "1h"))).settle(1))
        await value(limiter.reserve(limits, "1h"))  # dropped
        gc.collect()
        await asyncio.to_thread(eventually, lambda: limiter.counters.unsettled == 2, "both are counted")
        assert limiter.counters.faults == 2
    assert calls.sum(":requests") == 10


@pytest.mark.parametrize("by_setting", [True, False])
@pytest.mark.parametrize("id", [None, "given"])
async def test_a_lease_in_shadow_mode(
    by_setting: bool, id: str | None, limiter: Any, calls: Calls, raw: redis.Redis
) -> None:
    key = f"{calls.key}:calls"
    lease = [("LEASE", key, "600ms", 1, *([] if by_setting else ["SHADOW"]))]
    raw.execute_command("RL.LEASE", key, "1h", 1, "ID", "other")
    raw.config_set("rl.shadow", "yes" if by_setting else "no")
    try:
        reservation = await value(limiter.reserve(lease, "1h", id=id))
    finally:
        raw.config_set("rl.shadow", "no")
    await asyncio.sleep(0.8)
    assert (reservation.allowed, reservation.is_lost) == (True, False)
    await value(reservation.settle(0))
    assert limiter.counters.leases_lost == 0
    assert raw.zrange(key, 0, -1) == ["other"]


async def test_more_reservations_at_once_than_connections(port: int, calls: Calls) -> None:
    limits = [("WINDOW", f"{calls.key}:requests", "1d", 10)]
    async with connected("asyncio", port, max_connections=3) as limiter:
        reservations = await asyncio.gather(*(limiter.reserve(limits, "1h") for _ in range(50)))
        assert [each.allowed for each in reservations].count(True) == 10
        # All of them are in use: nothing is sent, so nothing is charged and settled.
        pool = limiter.client.connection_pool
        connections = [await pool.get_connection() for _ in range(3)]
        limiter.guard.timeout = 0.1
        with pytest.raises(Overloaded, match="no connection was free"):
            await limiter.reserve(limits, "1h")
        assert await limiter.join(0)
        assert limiter.counters.errors == {"overload": 1}
        for connection in connections:
            await pool.release(connection)
        limiter.guard.timeout = 30
        await asyncio.gather(*(each.cancel() for each in reservations))
        # More than any limit has: it is settled with the most that is counted.
        huge = await limiter.reserve([("ROLLING", f"{calls.key}:tokens", "1d", 1000, "COST", 5)], "1h")
        await huge.settle(10**30)
        assert calls.counted()[1] >= 2**62
    async with connected("threads", port, max_connections=3) as threads:
        each = [asyncio.to_thread(threads.reserve, limits, "1h") for _ in range(50)]
        assert [found.allowed for found in await asyncio.gather(*each)].count(True) == 10
        assert threads.join(10)


@every_kind
@pytest.mark.parametrize(
    ("word", "times", "fail_open"), [(b"RL.SETTLE", 2, False), (b"RL.MULTI", 1, True), (b"RL.MULTI", 1, False)]
)
async def test_a_reply_that_is_lost(
    kind: str, word: bytes, times: int, fail_open: bool, port: int, calls: Calls
) -> None:
    with contextlib.closing(Forwarder(port, word, times)) as address:
        async with connected(kind, address.port, fail_open=fail_open) as limiter:
            if fail_open or word == b"RL.SETTLE":
                # The server has charged it, so it is settled.
                await value((await value(limiter.reserve(calls.limits(300), "1h"))).settle(450))
            else:
                with pytest.raises(redis.ConnectionError):
                    await value(limiter.reserve(calls.limits(300), "1h"))
            await (limiter.join() if kind == "asyncio" else asyncio.to_thread(limiter.join))
            assert address.lost == times == limiter.counters.errors["connection"]
            await calls.becomes(*((1, 450) if fail_open or word == b"RL.SETTLE" else (0, 0)))


@every_kind
async def test_a_server_that_is_away(kind: str, calls: Calls) -> None:
    async with connected(kind, free_port(), fail_open=True) as limiter:
        for _ in range(3):
            async with held(await value(limiter.reserve(calls.limits(300), "50ms"))) as reservation:
                assert (reservation.allowed, reservation.decision.limits) == (True, [])
        await value(limiter.join())
        # What was not sent is not settled.
        counters = limiter.counters
        assert (counters.failed_open, counters.faults, counters.unsettled) == (3, 0, 1)
        assert counters.errors["circuit open"] >= 2
        limiter.fail_open = False
        with pytest.raises(redis.ConnectionError):
            await value(limiter.reserve(calls.limits(300), "1s"))
        assert counters.failed_closed == 1


async def test_what_the_server_rejects_is_never_allowed(limiter: Any, calls: Calls) -> None:
    for limiter.fail_open in (True, False):
        with pytest.raises(redis.ResponseError, match="invalid limit"):
            await value(limiter.reserve([("ROLLING", calls.key, "1m", "x")], "1h"))
    assert limiter.counters.faults == 2
    with contextlib.closing(Server(binaries()[0], module=False)) as server:
        async with connected("asyncio", server.port, fail_open=True) as without_module:
            with pytest.raises(redis.ResponseError, match="unknown command"):
                await without_module.reserve(calls.limits(1), "1h")


@every_kind
async def test_in_a_cluster(kind: str, ports: list[int], prefix: str) -> None:
    module: Any = redis.asyncio if kind == "asyncio" else redis
    client = module.RedisCluster(port=ports[0], host="127.0.0.1", retry=module.retry.Retry(NoBackoff(), 0))
    limiter: Any = AsyncLimiter(client, timeout=30) if kind == "asyncio" else Limiter(client)
    # Three tags, so that not all are on the node that is asked first.
    for name in "abc":
        key = f"{{{prefix}{name}}}"
        limits = [("COUNTER", f"{key}:tokens", "1d", 100, "COST", 60), ("LEASE", f"{key}:calls", "1h", 1)]
        async with held(await value(limiter.reserve(limits, "1h"))) as reservation:
            assert reservation.allowed
            assert not (await value(limiter.reserve(limits, "1h"))).allowed
            await value(reservation.settle(40))
        async with held(await value(limiter.reserve(limits, "1h"))) as reservation:
            assert reservation.allowed
    await value(client.aclose() if kind == "asyncio" else client.close())


def test_the_example_of_the_readme(port: int, raw: redis.Redis) -> None:
    raw.flushall()
    text = example("clients/python/README.md", "python", "import Limiter\n\nlimiter = Limiter(")
    assert text.count("redis.Redis(socket_timeout=0.1") == 1
    exec(text.replace("redis.Redis(socket_timeout=0.1", f"redis.Redis(port={port}, socket_timeout=5"), {})
    assert raw.execute_command("RL.PEEK", "ROLLING", "{org:7}:tokens", "1m", 90_000, "COST", 0, "FULL")["count"] == 4200
    assert raw.zcard("{org:7}:calls") == 0


async def test_the_gateway_of_the_page(port: int, raw: redis.Redis) -> None:
    """docs/language-models.md."""

    class Model:
        tokens = 100  # of a prompt

        async def stream(self, prompt: Any, longest: int) -> AsyncIterator[Any]:
            for _ in range(30):
                await asyncio.sleep(0)
                yield type("Part", (), {"tokens": 10})

    class TooManyRequests(Exception):
        def __init__(self, headers: dict[str, str]) -> None:
            self.headers = headers

    raw.flushall()
    text = example("docs/language-models.md", "python", "import AsyncLimiter")
    assert text.count("redis.asyncio.Redis(") == 1
    page: dict[str, Any] = {"TooManyRequests": TooManyRequests}
    exec(text.replace("redis.asyncio.Redis(", f"redis.asyncio.Redis(port={port}, "), page)
    limiter, complete, model = page["limiter"], page["complete"], Model()
    limiter.guard.timeout = 30
    tokens = ("RL.PEEK", "ROLLING", "{acme}:tokens", "1m", 9000, "COST", 0, "FULL")

    async def charged(units: int) -> None:
        await limiter.join()
        assert (raw.execute_command(*tokens)["count"], raw.zcard("{acme}:calls")) == (units, 0)

    assert len([part async for part in complete(model, model, 1000)]) == 30
    await charged(400)
    # The caller hangs up.
    async with contextlib.aclosing(complete(model, model, 1000)) as parts:
        await anext(parts)
    await charged(510)
    with pytest.raises(TooManyRequests) as denied:
        await anext(complete(model, model, 9000))
    assert "Retry-After" not in denied.value.headers  # it can never be allowed
    await charged(510)
    await limiter.client.aclose()


async def test_a_thread_that_cannot_be_started(
    port: int, calls: Calls, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async with connected("threads", port) as limiter:
        with monkeypatch.context() as context:
            context.setattr(threading.Thread, "start", fails)
            first = limiter.reserve(calls.limits(1, "1s"), "1h")
            assert "can't start new thread" in caplog.text
        with limiter.reserve(calls.limits(1, "1s"), "1h"):
            await asyncio.sleep(1.2)
            assert not first.is_lost
        first.close()


PROGRAM = """
import os, sys, time
import redis
from limits_redis_rl import Limiter

limiter = Limiter(redis.Redis(port=int(sys.argv[1]), retry=None, socket_timeout=0.1))
lease = [("LEASE", sys.argv[2] + ":calls", "600ms", 9)]
"""


@contextlib.contextmanager
def program(text: str, port: int, key: str) -> Any:
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
        assert ends.stdout.readline() == "reserved\n"
        raw.execute_command("CLIENT", "PAUSE", 300, "WRITE")
        ends.communicate("settle\n", timeout=30)
    assert calls.counted()[1] == 450


LIMIT = ("ROLLING", "k", "1m", 60)


@pytest.mark.parametrize(
    ("policies", "ttl", "id", "text"),
    [
        (
            [("TOKEN", "k", "1m", 60)],
            "1m",
            None,
            "TOKEN takes no reservation; expected FIXED, WINDOW, COUNTER",
        ),
        *[([LIMIT], ttl, None, "positive integer of seconds") for ttl in ("10x", "0s", 0, "", "month", True)],
        *[(policies, "1m", None, "expected") for policies in ([], ["ROLLING"], [LIMIT[:3]])],
        *[([LIMIT], "1m", id, "1 to 128 bytes") for id in ("", "x" * 129)],
    ],
)
async def test_arguments(policies: Any, ttl: Any, id: str | None, text: str, limiter: Any) -> None:
    with pytest.raises(ValueError, match=text):
        await value(limiter.reserve(policies, ttl, id=id))


async def test_units_and_clients(limiter: Any) -> None:
    async with held(await value(limiter.reserve([LIMIT], "1s"))) as reservation:
        for used in (-1, 1.5, True, "1", {"k": -1}):
            with pytest.raises(ValueError, match=r"at least 0|limits with COST"):
                reservation.report(used)
    clients: list[tuple[Any, Any]] = [(Limiter, redis.asyncio.Redis(retry=None)), (AsyncLimiter, redis.Redis())]
    for kind, client in clients:
        with pytest.raises(TypeError, match="client: expected one of redis"):
            kind(client)
    with pytest.raises(ValueError, match="retry=None"):
        Limiter(redis.Redis(retry=redis.retry.Retry(NoBackoff(), 3)))
