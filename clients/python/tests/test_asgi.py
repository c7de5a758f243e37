"""The middleware in a FastAPI application."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest
import redis
import redis.asyncio
from fastapi import FastAPI, WebSocket
from server import Server, binaries
from starlette.testclient import TestClient, WebSocketDenialResponse

from limits_redis_rl import RateLimitMiddleware

from .conftest import needs_module


@contextlib.asynccontextmanager
async def application(port: int, policies: Any, **options: Any) -> AsyncIterator[Any]:
    """The client of an application, and its middleware."""
    app = FastAPI()
    app.get("/")(lambda: "hello")
    given = policies if callable(policies) else lambda scope: policies
    async with redis.asyncio.Redis(port=port, retry=None, **options.pop("client", {})) as client:
        limited = RateLimitMiddleware(app, client=client, policies=given, **{"timeout": 30, **options})
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(limited), base_url="http://test") as http:
            yield http, limited


async def statuses(limited: RateLimitMiddleware, policies: Any, times: int) -> list[int]:
    """Of so many requests at once."""
    return [found.status for found in await asyncio.gather(*(limited.decide(policies) for _ in range(times)))]


async def soon(check: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not check():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


async def test_policies_of_the_request(port: int, prefix: str, raw: redis.Redis) -> None:
    async def policies(scope: Any) -> list[Any] | None:
        user = dict(scope["headers"]).get(b"x-user")
        lease = ("LEASE", f"{prefix}:{{{(user or b'').decode()}}}:calls", "1h", 5, "ID", user)
        return [("FIXED", f"{prefix}:{{".encode() + user + b"}:rate", "day", 1), lease] if user else None

    async with application(port, policies) as (http, _):
        for _ in range(3):
            response = await http.get("/")
            assert (response.status_code, "ratelimit" in response.headers) == (200, False)
        # A request cannot make a long key or ID, nor name the key of a reservation.
        for user in ("a", "x" * 600 + "a", "x" * 600 + "b", "y}:reserved"):
            assert (await http.get("/", headers={"x-user": user})).status_code == 200
            assert (await http.get("/", headers={"x-user": user})).status_code == 429
    keys = raw.keys(f"{prefix}:*")
    assert len(keys) == 8
    assert max(map(len, keys)) <= 512


async def test_a_late_reply_is_not_that_of_the_next_request(port: int, prefix: str, raw: redis.Redis) -> None:
    async with application(port, [("FIXED", f"{prefix}:key", "day", 100)]) as (http, limited):
        assert (await http.get("/")).headers["x-ratelimit-remaining"] == "99"
        raw.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
        limited.guard.timeout = 0.1
        try:
            response = await http.get("/")
        finally:
            raw.execute_command("CLIENT", "UNPAUSE")
            limited.guard.timeout = 30
        assert (response.status_code, "ratelimit" in response.headers) == (503, False)
        assert response.headers["retry-after"] == "1"
        assert response.headers["content-type"] == "application/problem+json"
        assert response.json() == {"type": "about:blank", "title": "Service Unavailable", "status": 503}
        raw.delete(*raw.keys(f"{prefix}:*"))
        assert (await http.get("/")).headers["x-ratelimit-remaining"] == "99"


@pytest.mark.parametrize("pool", [redis.asyncio.ConnectionPool, redis.asyncio.BlockingConnectionPool])
async def test_more_at_once_than_connections(pool: Any, port: int, prefix: str) -> None:
    """All of them wait for their turn."""
    async with redis.asyncio.Redis(connection_pool=pool(port=port, retry=None, max_connections=20)) as client:
        limited = RateLimitMiddleware(FastAPI(), client=client, policies=lambda scope: [], timeout=30)
        # The application uses the same client.
        others = asyncio.gather(*(client.blpop([f"{prefix}:none"], 0.2) for _ in range(5)))
        await asyncio.sleep(0)
        found = await statuses(limited, [("WINDOW", f"{prefix}:key", "1d", 10)], 150)
        assert (found.count(200), found.count(429)) == (10, 140)
        assert not limited.counters.errors
        await others
    await client.connection_pool.disconnect()


@contextlib.asynccontextmanager
async def own_server(**options: Any) -> AsyncIterator[tuple[Server, Any, RateLimitMiddleware]]:
    """A server that may hang, a client of it, and a middleware."""
    with contextlib.closing(Server(binaries()[0])) as server:
        async with redis.asyncio.Redis(port=server.port, retry=None, **options) as client:
            yield server, client, RateLimitMiddleware(FastAPI(), client=client, policies=lambda _: [], fail_open=True)


async def test_without_a_connection(caplog: pytest.LogCaptureFixture) -> None:
    async with own_server(max_connections=2) as (server, client, limited):
        limited.guard.timeout = 30
        policies = [("WINDOW", "key", "1d", 10)]
        await statuses(limited, policies, 2)
        server.pause()
        limited.guard.timeout = 0.1
        found = await statuses(limited, policies, 50)
        # Nothing says that the server cannot decide: these requests may be too many.
        assert (found.count(200), found.count(503)) == (2, 48)
        assert limited.counters.errors == {"timeout": 2, "overload": 48}
        assert "no decision, failing closed: Overloaded: no connection was free in time" in caplog.text
        # Now its silence says so.
        await asyncio.sleep(0.3)
        assert await statuses(limited, policies, 1) == [200]
        assert limited.counters.errors["circuit open"] == 1
        server.resume()
        await soon(lambda: limited.guard.breaker(client, "")[0].state == "closed")
        limited.guard.timeout = 30
        assert await statuses(limited, policies, 1) == [200]
        assert limited.counters.allowed == 3


async def test_callers_that_leave_do_not_keep_the_breaker_open() -> None:
    async with own_server() as (server, client, limited):
        policies = [("WINDOW", "key", "1d", 2)]
        server.pause()
        for _ in range(5):
            assert await statuses(limited, policies, 1) == [200]
        assert limited.guard.breaker(client, "")[0].state == "open"
        server.resume()
        found, end = [], time.monotonic() + 1
        while time.monotonic() < end:
            for _ in range(5):
                leaves = asyncio.create_task(limited.decide(policies))
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                leaves.cancel()
            await asyncio.sleep(0.01)
            found += await statuses(limited, policies, 1)
        assert set(found[len(found) // 2 :]) == {429}


async def test_commands_are_silent_though_ping_has_a_reply(port: int, prefix: str, raw: redis.Redis) -> None:
    async with application(port, [], timeout=0.1) as (_, limited):
        policies = [("WINDOW", f"{prefix}:key", "1d", 1000)]
        breaker, _ = limited.guard.breaker(limited.client, "")
        await limited.decide(policies)
        raw.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
        try:
            while breaker.state != "trying":
                assert await statuses(limited, policies, 1) == [503]
            errors = limited.counters.errors.copy()
            asked = [asyncio.create_task(limited.decide(policies)) for _ in range(9)]
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            asked[0].cancel()
            await asyncio.wait(asked)
            # One was sent.
            assert limited.counters.errors - errors == {"circuit open": 8}
            await asyncio.sleep(0.1)
        finally:
            raw.execute_command("CLIENT", "UNPAUSE")
        # Its reply is awaited although its caller has left.
        await soon(lambda: breaker.state == "closed" and not breaker._is_doubtful)
        assert await statuses(limited, policies, 1) == [200]


def test_a_server_that_was_away_in_another_event_loop() -> None:
    with contextlib.closing(Server(binaries()[0])) as server:
        client: Any = redis.asyncio.Redis(port=server.port, retry=None)
        limited = RateLimitMiddleware(FastAPI(), client=client, policies=lambda scope: [])

        async def becomes(status: int) -> None:
            async with redis.asyncio.Redis(port=server.port, retry=None) as limited.client:
                end = time.monotonic() + 5
                while await statuses(limited, [("WINDOW", "key", "1d", 10)], 1) != [status]:
                    assert time.monotonic() < end
                    await asyncio.sleep(0.01)

        asyncio.run(becomes(200))
        server.stop()
        asyncio.run(becomes(503))
        server.start()
        asyncio.run(becomes(200))


async def test_leaky_holds_a_request_for_its_delay(port: int, prefix: str) -> None:
    queue = ("LEAKY", f"{prefix}:key", "8s", 4, "BURST", 3, "AS", "queue")
    async with application(port, [("WINDOW", f"{prefix}:day", "1d", 100), queue]) as (http, limited):
        begin = time.monotonic()

        async def get() -> tuple[int, float]:
            response = await http.get("/")
            assert response.headers["ratelimit"].startswith('"queue";r=')
            return response.status_code, time.monotonic() - begin

        assert (await get())[0] == 200
        held = [asyncio.create_task(get()) for _ in range(2)]
        await soon(lambda: limited.counters.allowed == 3)
        assert (await get())[0] == 429
        assert not held[0].done()
        held[0].cancel()  # its caller has gone
        status, took = await held[1]
        assert status == 200
        assert took >= 2


@needs_module
@pytest.mark.parametrize(
    ("text", "key", "password"),
    [
        ("key: expected str, bytes or int, not NoneType", None, "secret"),
        ("NoPermissionError", "key", "secret"),
        ("invalid username-password pair", "key", "wrong"),
    ],
)
async def test_a_call_that_is_rejected_is_never_allowed(
    text: str, key: str | None, password: str, port: int, raw: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    """The other causes: clients/faults.py."""
    raw.execute_command("ACL", "SETUSER", "limiter", "on", ">secret", "~other:*", "+rl.multi")
    client = {"username": "limiter", "password": password}
    async with application(port, [("TOKEN", key, "1m", 10)], fail_open=True, client=client) as (http, limited):
        for _ in range(3):
            response = await http.get("/")
            assert response.status_code == response.json()["status"] == 500
            assert response.headers["content-type"] == "application/problem+json"
        assert limited.counters.faults == sum(limited.counters.errors.values()) == 3
    assert text in caplog.text
    # One line for all three.
    assert caplog.text.count("the call was rejected, a fault of the configuration") == 1


async def test_a_huge_cost_is_denied(port: int, prefix: str) -> None:
    async with application(port, [("WINDOW", f"{prefix}:key", "1d", 10, "COST", 10**30)]) as (http, it):
        assert (await http.get("/")).status_code == 429
        assert (it.counters.denied, it.counters.faults) == (1, 0)


async def test_the_timeout_holds_whatever_the_client_does() -> None:
    class Stubborn:
        """It goes on after it was cancelled, as some clients do."""

        cancelled = 0

        async def execute_command(self, *words: Any) -> Any:
            for _ in range(20):
                try:
                    await asyncio.sleep(0.1)
                except asyncio.CancelledError:
                    self.cancelled += 1

    client: Any = Stubborn()
    limited = RateLimitMiddleware(FastAPI(), client=client, policies=lambda scope: [])
    begin = time.monotonic()
    assert await statuses(limited, [("TOKEN", "k", "1m", 1)], 1) == [503]
    assert 0.1 <= time.monotonic() - begin < 1
    await asyncio.sleep(0)
    assert client.cancelled == 1


def test_websocket(port: int, prefix: str) -> None:
    app = FastAPI()

    @app.websocket("/")
    async def echo(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text("hello")
        await socket.close()

    client = redis.asyncio.Redis(port=port, retry=None)
    policies = lambda scope: [("TOKEN", f"{prefix}:key", "1h", 1)]  # noqa: E731
    app.add_middleware(RateLimitMiddleware, client=client, policies=policies, timeout=30)
    with TestClient(app) as http:
        with http.websocket_connect("/") as socket:
            assert socket.receive_text() == "hello"
        with pytest.raises(WebSocketDenialResponse) as denied, http.websocket_connect("/"):
            pass
        assert denied.value.status_code == 429
        assert int(denied.value.headers["retry-after"]) > 3500
        assert http.portal is not None
        http.portal.call(client.aclose)
