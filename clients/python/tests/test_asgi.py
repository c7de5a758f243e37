"""The middleware in a FastAPI application."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
import redis
import redis.asyncio
from fastapi import FastAPI, WebSocket
from server import Server, binaries
from starlette.testclient import TestClient, WebSocketDenialResponse

from limits_redis_rl import RateLimitMiddleware


@asynccontextmanager
async def application(port: int, policies: Any, **options: Any) -> AsyncIterator[Any]:
    """The client of an application, and its middleware."""
    app = FastAPI()

    @app.get("/")
    def index() -> str:
        return "hello"

    async with redis.asyncio.Redis(port=port, retry=None, **options.pop("client", {})) as client:
        limited = RateLimitMiddleware(app, client=client, policies=policies, **{"timeout": 30, **options})
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(limited), base_url="http://test") as http:
            yield http, limited


@pytest.mark.parametrize("client", [{"protocol": 2}, {"protocol": 3}, {"decode_responses": True}])
async def test_all_limits_or_none(client: dict[str, Any], port: int, prefix: str, raw: redis.Redis) -> None:
    def policies(scope: Any) -> list[Any]:
        return [
            ("ROLLING", f"{prefix}:minute", "1d", 3, "AS", "burst"),
            ("TOKEN", f"{prefix}:day", "10d", 5, "AS", "quota"),
        ]

    async with application(port, policies, client=client) as (http, _):
        for remaining in (2, 1, 0):
            response = await http.get("/")
            assert (response.status_code, response.json()) == (200, "hello")
            assert response.headers["ratelimit-policy"] == '"burst";q=3;w=86400, "quota";q=5;w=864000'
            assert response.headers["ratelimit"].startswith(f'"burst";r={remaining};')
            assert response.headers["x-ratelimit-remaining"] == str(remaining)
            assert "retry-after" not in response.headers
        for _ in range(2):
            response = await http.get("/")
            assert (response.status_code, response.headers["content-type"]) == (429, "application/problem+json")
            assert response.json() == {
                "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
                "title": "Quota exceeded",
                "status": 429,
                "violated-policies": ["burst"],
            }
            assert response.headers["ratelimit-policy"] == '"burst";q=3;w=86400, "quota";q=5;w=864000'
            assert 86400 - 10 < int(response.headers["retry-after"]) <= 86400 + 22
        # The denied requests charged neither.
        left = raw.execute_command("RL.PEEK", "TOKEN", f"{prefix}:day", "10d", 5, "COST", 0, "FULL")
        assert left["remaining"] == 2


async def test_policies_of_the_request(port: int, prefix: str) -> None:
    async def policies(scope: Any) -> list[Any]:
        user = dict(scope["headers"]).get(b"x-user")
        return [("FIXED", f"{prefix}:".encode() + user, "day", 1)] if user else []

    async with application(port, policies) as (http, _):
        for _ in range(3):
            response = await http.get("/")
            assert response.status_code == 200
            assert "ratelimit" not in response.headers
        for user in ("a", "b"):
            assert (await http.get("/", headers={"x-user": user})).status_code == 200
            assert (await http.get("/", headers={"x-user": user})).status_code == 429


@pytest.mark.parametrize(("options", "status"), [({"fail_open": True}, 200), ({}, 503)])
async def test_without_a_reply(
    options: dict[str, Any], status: int, port: int, prefix: str, raw: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    def policies(scope: Any) -> list[Any]:
        return [("FIXED", f"{prefix}:key", "day", 100)]

    async with application(port, policies, **options) as (http, limited):
        assert (await http.get("/")).headers["x-ratelimit-remaining"] == "99"
        raw.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
        limited.guard.timeout = 0.1
        try:
            response = await http.get("/")
        finally:
            raw.execute_command("CLIENT", "UNPAUSE")
            limited.guard.timeout = 30
        assert response.status_code == status
        assert "ratelimit" not in response.headers
        if status == 503:
            assert response.headers["retry-after"] == "1"
            assert response.headers["content-type"] == "application/problem+json"
            assert response.json() == {"type": "about:blank", "title": "Service Unavailable", "status": 503}
        assert "TimeoutError" in caplog.text
        # The late reply is not taken for that of the next request.
        raw.delete(*raw.keys(f"{prefix}:*"))
        assert (await http.get("/")).headers["x-ratelimit-remaining"] == "99"

        # The server replies that it cannot decide.
        raw.delete(*raw.keys(f"{prefix}:*"))
        raw.config_set("maxmemory", 1)
        try:
            assert (await http.get("/")).status_code == status
        finally:
            raw.config_set("maxmemory", 0)
        assert "OutOfMemoryError" in caplog.text
        counters = limited.counters
        assert (counters.failed_open, counters.failed_closed) == ((2, 0) if options else (0, 2))
        assert counters.errors == {"timeout": 1, "OOM": 1}


@pytest.mark.parametrize("pool", [redis.asyncio.ConnectionPool, redis.asyncio.BlockingConnectionPool])
async def test_more_at_once_than_connections(pool: Any, port: int, prefix: str) -> None:
    """All of them wait for their turn."""
    async with redis.asyncio.Redis(connection_pool=pool(port=port, retry=None, max_connections=20)) as client:
        limited = RateLimitMiddleware(FastAPI(), client=client, policies=lambda scope: [], timeout=30)
        # The application uses the same client.
        others = asyncio.gather(*(client.blpop([f"{prefix}:none"], 1) for _ in range(5)))
        await asyncio.sleep(0)
        policies = [("WINDOW", f"{prefix}:key", "1d", 10)]
        decisions = await asyncio.gather(*(limited._decide(policies) for _ in range(150)))
        statuses = [decided.status for decided in decisions]
        assert (statuses.count(200), statuses.count(429)) == (10, 140)
        assert not limited.counters.errors
        await others
    await client.connection_pool.disconnect()


async def test_without_a_connection(prefix: str, caplog: pytest.LogCaptureFixture) -> None:
    with contextlib.closing(Server(binaries()[0])) as server:
        async with redis.asyncio.Redis(port=server.port, retry=None, max_connections=2) as client:
            limited = RateLimitMiddleware(
                FastAPI(), client=client, policies=lambda scope: [], timeout=30, fail_open=True
            )
            policies = [("WINDOW", f"{prefix}:key", "1d", 10)]
            await asyncio.gather(*(limited._decide(policies) for _ in range(2)))
            server.pause()
            limited.guard.timeout = 0.1
            decisions = await asyncio.gather(*(limited._decide(policies) for _ in range(50)))
            statuses = [decided.status for decided in decisions]
            # Nothing says that the server cannot decide: these requests may be too many.
            assert (statuses.count(200), statuses.count(503)) == (2, 48)
            assert limited.counters.errors == {"timeout": 2, "overload": 48}
            assert (limited.counters.failed_open, limited.counters.failed_closed) == (2, 48)
            assert "no decision, failing closed: Overloaded: no connection was free in time" in caplog.text
            # Now its silence says so.
            await asyncio.sleep(0.3)
            assert (await limited._decide(policies)).status == 200
            assert limited.counters.errors["circuit open"] == 1
            server.resume()
            await soon(lambda: limited.guard.breaker(client, "")[0].state == "closed")
            limited.guard.timeout = 30
            assert (await limited._decide(policies)).status == 200
            assert limited.counters.allowed == 3


async def soon(check: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not check():
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


async def test_callers_that_leave_do_not_keep_the_breaker_open(prefix: str) -> None:
    with contextlib.closing(Server(binaries()[0])) as server:
        async with redis.asyncio.Redis(port=server.port, retry=None) as client:
            limited = RateLimitMiddleware(FastAPI(), client=client, policies=lambda scope: [], fail_open=True)
            policies = [("WINDOW", f"{prefix}:key", "1d", 2)]
            server.pause()
            for _ in range(5):
                assert (await limited._decide(policies)).status == 200
            assert limited.guard.breaker(client, "")[0].state == "open"
            server.resume()
            statuses, end = [], time.monotonic() + 1.5
            while time.monotonic() < end:
                for _ in range(5):
                    leaves = asyncio.create_task(limited._decide(policies))
                    await asyncio.sleep(0)
                    await asyncio.sleep(0)
                    leaves.cancel()
                await asyncio.sleep(0.01)
                statuses.append((await limited._decide(policies)).status)
            assert set(statuses[len(statuses) // 2 :]) == {429}


async def test_commands_are_silent_though_ping_has_a_reply(port: int, prefix: str, raw: redis.Redis) -> None:
    async with redis.asyncio.Redis(port=port, retry=None) as client:
        limited = RateLimitMiddleware(FastAPI(), client=client, policies=lambda scope: [])
        policies = [("WINDOW", f"{prefix}:key", "1d", 1000)]
        breaker, _ = limited.guard.breaker(client, "")

        async def decisions() -> bool:
            return (await limited._decide(policies)).status == 200

        await decisions()
        raw.execute_command("CLIENT", "PAUSE", 60_000, "WRITE")
        try:
            while breaker.state != "trying":
                assert not await decisions()
            errors = limited.counters.errors.copy()
            asked = [asyncio.create_task(decisions()) for _ in range(9)]
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
        assert await decisions()


def test_a_server_that_was_away_in_another_event_loop(prefix: str) -> None:
    with contextlib.closing(Server(binaries()[0])) as server:
        client: Any = redis.asyncio.Redis(port=server.port, retry=None)
        limited = RateLimitMiddleware(FastAPI(), client=client, policies=lambda scope: [])
        policies = [("WINDOW", f"{prefix}:key", "1d", 10)]

        async def statuses(expected: int) -> None:
            async with redis.asyncio.Redis(port=server.port, retry=None) as limited.client:
                end = time.monotonic() + 5
                while (await limited._decide(policies)).status != expected:
                    assert time.monotonic() < end
                    await asyncio.sleep(0.01)

        asyncio.run(statuses(200))
        server.stop()
        asyncio.run(statuses(503))
        server.start()
        asyncio.run(statuses(200))


async def test_leaky_holds_a_request_for_its_delay(port: int, prefix: str) -> None:
    def policies(scope: Any) -> list[Any]:
        return [
            ("WINDOW", f"{prefix}:day", "1d", 100),
            ("LEAKY", f"{prefix}:key", "2s", 4, "BURST", 3, "AS", "queue"),
        ]

    async with application(port, policies) as (http, limited):
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
        assert took >= 0.5
        with pytest.raises(asyncio.CancelledError):
            await held[0]


async def test_a_limit_without_a_key_is_a_fault(port: int, prefix: str, raw: redis.Redis) -> None:
    raw.delete("None")
    for policy in [("WINDOW", None, "1d", 10), ("LEASE", f"{prefix}:key", "1d", 10, "ID", None)]:
        async with application(port, lambda scope, policy=policy: [policy]) as (http, limited):
            assert (await http.get("/")).status_code == 500
            assert limited.counters.faults == 1
    assert not raw.exists("None", f"{prefix}:key")


async def test_a_huge_cost_is_denied(port: int, prefix: str) -> None:
    async with application(port, lambda scope: [("WINDOW", f"{prefix}:key", "1d", 10, "COST", 10**30)]) as (http, it):
        assert (await http.get("/")).status_code == 429
        assert (it.counters.denied, it.counters.faults) == (1, 0)


FAULTS: dict[str, list[Any]] = {
    "invalid window": [("TOKEN", "key", "1min", 10)],
    "wrong kind of value": [("TOKEN", "list", "1m", 10)],
    "two limits would keep their state in one key": [("TOKEN", "same", "1m", 10), ("TOKEN", "same", "1m", 10)],
    "unknown algorithm": [("TOKENS", "key", "1m", 10)],
}


@pytest.mark.parametrize("text", FAULTS)
async def test_a_call_that_is_rejected_is_never_allowed(
    text: str, port: int, prefix: str, raw: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    raw.rpush(f"{prefix}:list", "foreign")
    policies = [(algorithm, f"{prefix}:{key}", *rest) for algorithm, key, *rest in FAULTS[text]]
    async with application(port, lambda scope: policies, fail_open=True) as (http, limited):
        for _ in range(3):
            response = await http.get("/")
            assert response.status_code == response.json()["status"] == 500
            assert response.headers["content-type"] == "application/problem+json"
        assert limited.counters.faults == 3
        assert sum(limited.counters.errors.values()) == 3
    if text != "unknown algorithm":
        assert text in caplog.text
    # One line for all three.
    assert caplog.text.count("the call was rejected, a fault of the configuration") == 1


async def test_a_user_without_the_permission_or_with_a_wrong_password(port: int, prefix: str, raw: redis.Redis) -> None:
    raw.execute_command("ACL", "SETUSER", "limiter", "on", ">secret", "~other:*", "+rl.multi")
    for password in ("secret", "wrong"):
        client = {"username": "limiter", "password": password}
        async with application(port, lambda scope: [("TOKEN", f"{prefix}:x", "1m", 5)], client=client) as (http, _):
            assert (await http.get("/")).status_code == 500


async def test_a_request_cannot_make_a_long_key_or_id(port: int, prefix: str, raw: redis.Redis) -> None:
    def policies(scope: Any) -> list[Any]:
        user = dict(scope["headers"])[b"x-user"].decode()
        return [
            ("TOKEN", f"{prefix}:{{{user}}}:rate", "1h", 1),
            ("LEASE", f"{prefix}:{{{user}}}:calls", "1h", 5, "ID", user),
        ]

    async with application(port, policies, client={"decode_responses": True}) as (http, _):
        for user in ("x" * 600 + "a", "x" * 600 + "b", "y}:reserved"):
            assert (await http.get("/", headers={"x-user": user})).status_code == 200
            assert (await http.get("/", headers={"x-user": user})).status_code == 429
    keys = raw.keys(f"{prefix}:*")
    assert len(keys) == 6
    assert max(map(len, keys)) <= 512


async def test_the_timeout_holds_whatever_the_client_does(port: int, prefix: str) -> None:
    class Stubborn:
        """It goes on after it was cancelled, as some clients do."""

        cancelled = 0

        async def execute_command(self, *words: Any) -> Any:
            for _ in range(20):
                try:
                    await asyncio.sleep(0.1)
                except asyncio.CancelledError:
                    self.cancelled += 1

    client = Stubborn()
    limited = RateLimitMiddleware(FastAPI(), client=client, policies=lambda scope: [])  # type: ignore[arg-type]
    begin = time.monotonic()
    assert (await limited._decide([("TOKEN", "k", "1m", 1)])).status == 503
    assert 0.1 <= time.monotonic() - begin < 1
    await asyncio.sleep(0)
    assert client.cancelled == 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"client": redis.Redis(retry=None)}, "client: expected one of redis.asyncio, not one of redis"),
        ({"client": redis.asyncio.Redis()}, "client: expected one that never sends a command again"),
        (
            {"client": redis.asyncio.Redis(retry=None, retry_on_error=[redis.TimeoutError])},
            "client: expected one that never sends a command again",
        ),
        ({"timeout": 0}, "timeout: expected seconds"),
        ({"timeout": "1s"}, "timeout: expected seconds"),
        ({"fail_open": "yes"}, "fail_open: expected True or False"),
        ({"policies": []}, "policies: expected a function"),
    ],
)
def test_arguments(options: dict[str, Any], text: str) -> None:
    arguments = {"client": redis.asyncio.Redis(retry=None), "policies": lambda scope: []}
    RateLimitMiddleware(FastAPI(), **arguments)  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError), match=text):
        RateLimitMiddleware(FastAPI(), **{**arguments, **options})  # type: ignore[arg-type]


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
