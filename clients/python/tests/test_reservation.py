"""Reservations: charged once, settled once, however the holder ends. With asyncio and with threads."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
import redis
import redis.asyncio
from faults import example
from redis._parsers.base import BaseParser
from redis.backoff import NoBackoff
from server import Forwarder, eventually, free_port

from limits_redis_rl import AsyncLimiter, Limiter, Overloaded
from limits_redis_rl.charge import worst

from .conftest import needs_module, value, vectors

KINDS = ["asyncio", "threads"]
TABLE = vectors("reservations")
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


@contextlib.asynccontextmanager
async def held(reservation: Any) -> AsyncIterator[Any]:
    """``async with`` or ``with``."""
    if hasattr(reservation, "__aenter__"):
        async with reservation:
            yield reservation
    else:
        with reservation:
            yield reservation


async def joined(limiter: Any) -> None:
    await (limiter.join() if isinstance(limiter, AsyncLimiter) else asyncio.to_thread(limiter.join))


class Fake:
    """A client whose server replies as vectors/reservations.json says, and what it has got."""

    def __init__(self, kind: str, replies: dict[str, list[Any]], count: int = 0) -> None:
        self.kind, self.count, self.sent = kind, count, list[str]()
        self.replies = {name: list(given) for name, given in replies.items()}

    def reply(self, words: Any) -> Any:
        text = " ".join(word.decode() if isinstance(word, bytes) else str(word) for word in words)
        self.sent.append(re.sub(r"[0-9a-f]{8}-[-0-9a-f]{27}", "call-1", text))
        allowed = [1, [[1, self.count, 60]] * int(words[1]), []] if words[0] == "RL.MULTI" else 1
        replies = self.replies.get(words[0], [allowed])
        found = replies.pop(0) if len(replies) > 1 else replies[0]
        if found == "lost":
            raise redis.ConnectionError("Connection closed by server.")
        return BaseParser.parse_error(found) if isinstance(found, str) else found

    def result(self, call: Any) -> Any:
        async def later() -> Any:
            return call()

        return later() if self.kind == "asyncio" else call()

    def execute_command(self, *words: Any) -> Any:
        return self.result(lambda: worst([self.reply(words)])[0])

    def pipeline(self, transaction: bool) -> Any:
        calls = list[Any]()
        send = lambda raise_on_error: self.result(lambda: [self.reply(words) for words in calls])  # noqa: E731
        return SimpleNamespace(execute_command=lambda *words: calls.append(words), execute=send)

    def ping(self) -> Any:
        return self.result(lambda: True)

    def get_connection_kwargs(self) -> dict[str, Any]:
        return {"socket_timeout": 30}

    def limiter(self, **options: Any) -> Any:
        client: Any = self
        return AsyncLimiter(client, timeout=30, **options) if self.kind == "asyncio" else Limiter(client, **options)

    def check_settled(self, charged: list[int], times: int = 1) -> None:
        calls = [call.replace("%", str(units)) for call, units in zip(TABLE["settle"], charged, strict=True)]
        sent = [call for call in self.sent if not call.startswith("RL.MULTI")]
        assert sent.count(TABLE["release"]) == times
        assert sent[-6:] == [TABLE["release"], *calls]


def every(name: str) -> Any:
    return pytest.mark.parametrize("case", TABLE[name], ids=lambda case: str(case.get("name", case)).replace(" ", "-"))


@every_kind
@every("ends")
@pytest.mark.parametrize("end", ["close", RuntimeError, asyncio.CancelledError, "dropped"], ids=str)
async def test_what_is_charged_at_an_end(end: Any, case: dict[str, Any], kind: str) -> None:
    server = Fake(kind, {})
    limiter = server.limiter()

    async def work() -> None:
        reservation = await value(limiter.reserve(TABLE["limits"], "1m", id="call-1"))
        for used, error in TABLE["wrong_reports"]:
            with pytest.raises(ValueError, match=error):
                reservation.report(used)
        for step, *arguments in case["steps"]:
            await value(getattr(reservation, step)(*arguments))
        if end == "close":
            reservation.close()
        elif end != "dropped":
            async with held(reservation):
                raise end

    with contextlib.suppress(RuntimeError, asyncio.CancelledError):
        await asyncio.create_task(work())
    gc.collect()
    await asyncio.sleep(0)
    await joined(limiter)
    assert server.sent[0] == " ".join(TABLE["reserve"])
    server.check_settled(case["charged"])
    assert len(server.sent) == 7


@every_kind
@every("replies")
async def test_what_a_reply_leads_to(case: dict[str, Any], kind: str) -> None:
    server = Fake(kind, case["replies"])
    limiter, error = server.limiter(fail_open=case.get("fail_open", False), module="required"), case.get("error")
    with pytest.raises(redis.RedisError) if error else contextlib.nullcontext():
        reservation = await value(limiter.reserve(TABLE["limits"], "1m", id=case.get("id")))
        assert error != "reserve"
        await value(reservation.settle(450))
    await joined(limiter)
    if case["settlements"]:
        server.check_settled(case["charged"], case["settlements"])
    else:
        assert len(server.sent) == 1
    names = ["allowed", "failed_open", "failed_closed", "faults", "unsettled"]
    assert {name: found for name in names if (found := getattr(limiter.counters, name))} == case["counters"]


@every_kind
@every("leases")
async def test_when_a_lease_is_lost(case: dict[str, Any], kind: str, caplog: pytest.LogCaptureFixture) -> None:
    server = Fake(kind, {"RL.RENEW": case["renew"]}, case["count"])
    limiter, lost = server.limiter(), case["lost"]
    reservation = await value(limiter.reserve([("LEASE", "k", "300ms", 1)], "1m", id=case.get("id")))
    assert not reservation.is_lost
    await asyncio.sleep(0.8)
    await asyncio.to_thread(eventually, lambda: limiter.counters.leases_lost == lost, "it is counted")
    assert reservation.is_lost == lost
    assert (limiter.counters.faults > 0) == case.get("faults", False)
    assert set(server.sent[1:]) <= {"RL.RENEW k 300ms call-1"}
    reservation.close()
    assert (reservation.is_lost, caplog.text.count("a lease has ended: LeaseLost: the reservation")) == (lost, lost)


@every_kind
@every("wrong_arguments")
async def test_wrong_arguments(case: dict[str, Any], kind: str) -> None:
    given = {"policies": [["ROLLING", "k", "1m", 60]], "ttl": "1m", "id": None, **case}
    server = Fake(kind, {})
    with pytest.raises((ValueError, TypeError), match=given.pop("error")):
        await value(server.limiter().reserve(**given))
    assert not server.sent


@every_kind
@pytest.mark.parametrize(("algorithm", "can"), vectors("capabilities")["algorithms"].items())
async def test_the_algorithms_of_the_table(algorithm: str, can: dict[str, Any], kind: str) -> None:
    call = Fake(kind, {}).limiter().reserve
    if can["reserve"] or can["id"]:
        (await value(call([(algorithm, "k", "1m", 5)], "1m"))).close()
    else:
        with pytest.raises(ValueError, match=f"{algorithm} takes no reservation"):
            await value(call([(algorithm, "k", "1m", 5)], "1m"))


class Calls:
    """The limits of a call, and what is counted of them."""

    def __init__(self, raw: redis.Redis, prefix: str) -> None:
        self.raw, self.key = raw, f"{{{prefix}}}"

    def limits(self, estimate: int, lease: str = "1h") -> list[Any]:
        return [
            ("WINDOW", f"{self.key}:requests", "1d", 10, "AS", "requests"),
            ("ROLLING", f"{self.key}:tokens", "1d", 1000, "COST", estimate, "AS", "tokens"),
            ("LEASE", f"{self.key}:calls", lease, 2, "AS", "calls"),
        ]

    def counted(self) -> tuple[int, int, int]:
        tokens = self.raw.execute_command("RL.PEEK", *self.limits(0)[1][:4], "COST", 0, "FULL")["count"]
        return int(self.raw.get(f"{self.key}:requests") or 0), tokens, self.raw.zcard(f"{self.key}:calls")

    async def becomes(self, requests: int, tokens: int, leases: int = 0) -> None:
        expected = (requests, tokens, leases)
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


def test_the_server_takes_the_words_of_the_table(raw: redis.Redis) -> None:
    raw.flushall()
    assert raw.execute_command(*" ".join(TABLE["reserve"]).split())[0] == 1
    # A settlement that is sent again changes nothing.
    for _ in range(2):
        for call, units in zip([TABLE["release"], *TABLE["settle"]], [0, 1, 90, 20, 310, 310], strict=True):
            raw.execute_command(*call.replace("%", str(units)).split())
    assert (raw.get("{r}:requests"), raw.get("{r}:input"), raw.exists("{r}:calls")) == ("1", "90", 0)
    raw.flushall()


@every_kind
async def test_a_login(kind: str, port: int, prefix: str) -> None:
    user = ("LOCKOUT", f"{{{prefix}}}:ann", "1d", 2, "BLOCK", "1m")
    address = ("LOCKOUT", f"{{{prefix}}}:192.0.2.1", "1d", 4, "MAX", "2d", "AS", "address")
    async with connected(kind, port) as limiter:
        with pytest.raises(ValueError, match="expected LOCKOUT"):
            limiter.lockout([("TOKEN", "k", "1m", 1)])
        login = limiter.lockout([user], [address])
        assert (await value(login.check())).allowed
        await value(login.succeed())
        # The success has left no attempt: two more lock the user, and the address has two left.
        attempts = [await value(login.check()) for _ in range(3)]
        assert [attempt.allowed for attempt in attempts] == [True, True, False]
        assert int(attempts[2].headers["Retry-After"]) <= 60
        other = limiter.lockout([("LOCKOUT", f"{{{prefix}}}:bob", "1d", 9)], [address])
        attempts = [await value(other.check()) for _ in range(3)]
        assert [attempt.allowed for attempt in attempts] == [True, True, False]


@every_kind
@pytest.mark.parametrize("options", [{"protocol": 2}, {"protocol": 3}, {"decode_responses": True}], ids=str)
async def test_settles_once(kind: str, options: dict[str, Any], port: int, calls: Calls) -> None:
    async with connected(kind, port, **options) as limiter:
        reservation = await value(limiter.reserve(calls.limits(300), "1h"))
        assert reservation.allowed
        policies = reservation.decision.headers["RateLimit-Policy"]
        assert policies.startswith('"requests";q=10;w=86400, "tokens";q=1000')
        assert calls.counted() == (1, 300, 1)
        denied = await value(limiter.reserve(calls.limits(701), "1h"))
        async with held(denied):
            assert [limit[0] for limit in denied.decision.limits] == [1, 0, 1]
            assert 86390 <= int(denied.decision.headers["Retry-After"]) <= 86422
        async with held(reservation):
            reservation.report(100)
            await value(reservation.settle(420))
            assert calls.counted() == (1, 420, 0)
        # None of these sends anything.
        reservation.close()
        await value(reservation.cancel())
        await value(reservation.settle(1))
        await joined(limiter)
        assert calls.counted() == (1, 420, 0)
        assert (limiter.counters.allowed, limiter.counters.denied) == (1, 1)


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


@every_kind
async def test_a_lease_that_cannot_be_renewed_is_lost(
    kind: str, port: int, calls: Calls, raw: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    """Before another is allowed."""
    lease = ("LEASE", f"{calls.key}:calls", "500ms", 1)
    with contextlib.closing(Forwarder(port)) as address:
        async with connected(kind, address.port) as limiter:
            reservation = await value(limiter.reserve([lease], "200ms"))
            address.close()
            assert not raw.execute_command("RL.LEASE", *lease[1:], "ID", "other")[0]
            assert not reservation.is_lost
            eventually(lambda: raw.execute_command("RL.LEASE", *lease[1:], "ID", "other")[0], "another is allowed")
            assert reservation.is_lost
            counters = limiter.counters
            await asyncio.to_thread(eventually, lambda: counters.leases_lost, "it is counted")
            reservation.close()
            await joined(limiter)
            assert counters.leases_lost == caplog.text.count("a lease has ended: LeaseLost: the reservation") == 1


async def test_no_connection_is_free(port: int, calls: Calls) -> None:
    async with connected("asyncio", port, max_connections=3) as limiter:
        # All of them are in use: nothing is sent, so nothing is charged and settled.
        pool = limiter.client.connection_pool
        connections = [await pool.get_connection() for _ in range(3)]
        limiter.guard.timeout = 0.1
        with pytest.raises(Overloaded, match="no connection was free"):
            await limiter.reserve([("WINDOW", f"{calls.key}:requests", "1d", 10)], "1h")
        assert await limiter.join(0)
        assert limiter.counters.errors == {"overload": 1}
        for connection in connections:
            await pool.release(connection)


@needs_module
async def test_more_is_used_than_any_limit_has(port: int, calls: Calls) -> None:
    """It is settled with the most that is counted."""
    async with connected("asyncio", port) as limiter:
        huge = await limiter.reserve(calls.limits(5), "1h")
        await huge.settle(10**30)
        assert calls.counted()[1] >= 2**62


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
