"""Each framework, started by its own means: allowed, denied, two limits, a server that is away, a wrong limit."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from types import SimpleNamespace
from typing import Annotated, Any

import django
import httpx2
import pytest
import redis
import redis.asyncio
import uvicorn
from django.conf import settings
from django.test import override_settings
from fastapi import APIRouter, Depends, FastAPI, Header, HTTPException
from fastapi.responses import PlainTextResponse
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StreamableHttpTransport
from fastmcp.server.auth.providers.jwt import StaticTokenVerifier
from faults import App, example, replaced
from limits.errors import ConfigurationError
from limits.storage import storage_from_string
from mcp import MCPError
from redis.backoff import NoBackoff
from redis.retry import Retry
from server import eventually, free_port
from starlette.testclient import TestClient

from limits_redis_rl import AsyncLimiter, Limiter, RateLimitMiddleware, keyed_hash, words
from limits_redis_rl.fastapi import limit
from limits_redis_rl.fastmcp import ToolLimits

from .conftest import needs_module, vectors


def page(words: str, port: int = 0) -> dict[str, Any]:
    """The names of an example of the page."""
    names: dict[str, Any] = {}
    code = example("clients/python/README.md", "python", words)
    exec(code.replace('host="localhost"', f'host="127.0.0.1", port={port}'), names)
    return {name: names[name] for name in names if not name.startswith("_")}


settings.configure(ALLOWED_HOSTS=["*"], **page("DEFAULT_THROTTLE_CLASSES"))
django.setup()

from rest_framework.request import Request  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.test import APIRequestFactory, force_authenticate  # noqa: E402
from rest_framework.views import APIView  # noqa: E402

from limits_redis_rl import rest_framework as drf  # noqa: E402

Limits = list[tuple[str, str, str, int]]
# The status, the headers or what has their place, and the body of the request of a user.
Call = Callable[[str], Awaitable[tuple[int, Any, Any]]]


@contextlib.asynccontextmanager
async def http_client(app: Any) -> AsyncIterator[Call]:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test") as http:

        async def call(user: str) -> tuple[int, Any, Any]:
            response = await http.get("/", headers={"x-user": user})
            return response.status_code, response.headers, response.text and response.json()

        yield call


@contextlib.asynccontextmanager
async def asgi(port: int, prefix: str, limits: Limits, **options: Any) -> AsyncIterator[Call]:
    def policies(scope: Any) -> Any:
        user = dict(scope["headers"])[b"x-user"].decode()
        return [(word, f"{prefix}:{name}:{{{user}}}", *rest, "AS", name) for word, name, *rest in limits]

    async with redis.asyncio.Redis(port=port, retry=None, protocol=2) as client:
        app = FastAPI()
        app.get("/")(lambda: "hello")
        async with http_client(RateLimitMiddleware(app, client=client, policies=policies, **options)) as call:
            yield call


@contextlib.asynccontextmanager
async def fastapi(port: int, prefix: str, limits: Limits, **options: Any) -> AsyncIterator[Call]:
    def authenticated(x_user: Annotated[str, Header()]) -> str:
        if x_user == "nobody":
            raise HTTPException(401)
        return x_user

    def user(name: Annotated[str, Depends(authenticated)]) -> str:
        return f"{prefix}:{name}"

    async with redis.asyncio.Redis(port=port, retry=None, decode_responses=True) as client:
        app = FastAPI()
        app.add_middleware(RateLimitMiddleware, client=client, **options)
        # A response of the route's own has the headers too.
        given = limits if len(limits) > 1 else limits[0]
        app.get("/", dependencies=[Depends(limit(*given, key=user))])(lambda: PlainTextResponse('"hello"'))
        async with http_client(app) as call:
            yield call


@contextlib.asynccontextmanager
async def fastmcp(port: int, prefix: str, limits: Limits, **options: Any) -> AsyncIterator[Call]:
    def policies(user: str, tool: str) -> Any:
        return [(word, f"{prefix}:{name}:{tool}:{{{user}}}", *rest, "AS", name) for word, name, *rest in limits]

    users = {user: {"client_id": "app", "scopes": [], "sub": user} for user in ("ann", "bob")}
    async with redis.asyncio.Redis(port=port, retry=None) as client:
        mcp = FastMCP("test", auth=StaticTokenVerifier(users))
        mcp.tool(lambda: "hello", name="greet", output_schema=None)
        mcp.add_middleware(ToolLimits(client=client, policies=policies, **options))
        http = free_port()
        server = uvicorn.Server(uvicorn.Config(mcp.http_app(), port=http, log_level="error"))
        serving = asyncio.create_task(server.serve())
        await asyncio.to_thread(eventually, lambda: server.started, "it starts")

        async def call(user: str) -> tuple[int, Any, Any]:
            async with Client(StreamableHttpTransport(f"http://127.0.0.1:{http}/mcp", auth=user)) as each:
                try:
                    return 200, {}, (await each.call_tool("greet")).content[0].text
                except MCPError as error:
                    data = error.error.data
                    status = {-32029: 429, -32603: 500, -32000: 503}[error.error.code]
                    problem = {"violated-policies": data["violatedPolicies"]}
                    return status, {"retry-after": data.get("retryAfterSeconds")}, problem

        try:
            yield call
        finally:
            server.should_exit = True
            await serving


@contextlib.asynccontextmanager
async def rest_framework(
    port: int, prefix: str, limits: Limits, fail_open: bool = False, timeout: float = 30
) -> AsyncIterator[Call]:
    uri = f"redis-rl://127.0.0.1:{port}"
    settings.LIMITS_REDIS_RL = {"uri": uri, "key_prefix": prefix, "fail_open": fail_open, "socket_timeout": timeout}
    drf.configured.cache_clear()
    given = [{"algorithm": word, "scope": name, "rate": f"{most}/{window[1:]}"} for word, name, window, most in limits]

    class View(APIView):
        def get(self, request: Request) -> Response:
            return Response("hello")

    if limits:
        View.throttle_classes = [type("Throttle", (drf.UserRateThrottle,), each) for each in given]

    async def call(user: str) -> tuple[int, Any, Any]:
        request = APIRequestFactory().get("/")
        force_authenticate(request, SimpleNamespace(is_authenticated=True, pk=user))
        try:
            response = await asyncio.to_thread(View.as_view(), request)
        except redis.ResponseError:  # Django replies 500
            return 500, {}, {}
        return response.status_code, {name.lower(): value for name, value in response.headers.items()}, response.data

    yield call
    drf.configured()[0].storage.close()


# For a machine with other work.
PATIENT = "policies=policies, timeout=30)"
HTTP = [asgi, fastapi]
every = pytest.mark.parametrize("start", [*HTTP, fastmcp, rest_framework], ids=lambda start: start.__name__)


@every
async def test_allowed_then_denied(start: Any, port: int, prefix: str) -> None:
    async with start(port, prefix, [("ROLLING", "api", "1d", 2)], timeout=30) as call:
        for user in ("ann", "bob"):
            for remaining in (1, 0):
                status, headers, body = await call(user)
                assert (status, body, headers.get("retry-after")) == (200, "hello", None)
                if start in HTTP:
                    assert headers["ratelimit-policy"] == '"api";q=2;w=86400'
                    assert headers["ratelimit"].startswith(f'"api";r={remaining};')
            status, headers, body = await call(user)
            assert (status, 86300 < int(headers["retry-after"]) <= 86400) == (429, True)
            assert start is rest_framework or body["violated-policies"] == ["api"]
            if start in HTTP:
                assert (headers["content-type"], body["status"]) == ("application/problem+json", 429)
                assert body["type"] == "https://iana.org/assignments/http-problem-types#quota-exceeded"


@every
async def test_two_limits(start: Any, port: int, prefix: str, raw: redis.Redis) -> None:
    limits = [("TOKEN", "api", "1d", 9), ("COUNTER", "month", "1d", 1)]
    async with start(port, prefix, limits, timeout=30) as call:
        assert [(await call("ann"))[0] for _ in range(3)] == [200, 429, 429]
        _, headers, body = await call("ann")
        if start in HTTP:
            assert headers["ratelimit-policy"] == '"api";q=9;w=86400, "month";q=1;w=86400'
        assert start is rest_framework or body["violated-policies"] == ["month"]
    [key] = [key for key in raw.keys(f"*{prefix}*") if "api" in key]
    # All or none. Django REST framework asks each throttle by itself.
    spent = raw.execute_command("RL.PEEK", "TOKEN", key, "1d", 9, "FULL")["count"]
    assert spent == (4 if start is rest_framework else 1)


@every
async def test_without_a_decision(start: Any, port: int, prefix: str) -> None:
    away = free_port()
    async with start(away, prefix, [("TOKEN", "api", "1m", 2)]) as call:
        status, headers, _ = await call("ann")
        assert (status, int(headers["retry-after"])) == (503, 1)
    async with start(away, prefix, [("TOKEN", "api", "1m", 2)], fail_open=True) as call:
        assert (await call("ann"))[0] == 200
    wrong = [("TOKNE", "api", "1m", 2)] if start in (asgi, fastmcp) else [("GCRA", "api", "1m", 2**63 - 1)]
    async with start(port, prefix, wrong, fail_open=True, timeout=30) as call:
        assert (await call("ann"))[0] == 500


async def test_fastapi_limits_whom_it_knows(port: int, prefix: str) -> None:
    async with fastapi(port, prefix, [("WINDOW", "api", "1d", 1)], timeout=30) as call:
        for _ in range(2):
            assert (await call("nobody"))[0] == 401
    # Limits of the middleware and of a dependency are two decisions with one set of headers.
    app = FastAPI()
    app.get("/", dependencies=[Depends(limit("WINDOW", "two", "1d", 1, key=lambda: prefix))])(lambda: "hello")
    async with redis.asyncio.Redis(port=port, retry=None) as client:
        policies = lambda scope: [("WINDOW", f"{prefix}:one", "1d", 9, "AS", "one")]  # noqa: E731
        async with http_client(RateLimitMiddleware(app, client=client, policies=policies, timeout=30)) as call:
            for status in (200, 429):
                found, headers, _ = await call("ann")
                assert (found, headers["ratelimit-policy"]) == (status, '"one";q=9;w=86400, "two";q=1;w=86400')
    async with http_client(app) as call:
        with pytest.raises(RuntimeError, match=r"expected app\.add_middleware"):
            await call("ann")


async def test_the_examples_of_the_page(port: int, prefix: str, raw: redis.Redis) -> None:
    names = page("Depends(limit(", port)
    async with names["client"], http_client(names["app"]) as call:
        assert (await call("ann"))[1]["ratelimit"].startswith('"api";r=59;')
    http = free_port()
    code = example("clients/python/README.md", "python", "def policies(user, tool)")
    changes = {'host="localhost"': f'host="127.0.0.1", port={port}', "8000": f"{http}", "policies=policies)": PATIENT}
    with contextlib.closing(App([sys.executable, "main.py"], {"main.py": replaced(code, changes)}, http)):
        async with Client(StreamableHttpTransport(f"http://127.0.0.1:{http}/mcp", auth="secret")) as each:
            for _ in range(20):
                assert (await each.call_tool("greet")).content[0].text == "hello"
            with pytest.raises(MCPError, match="rate limit exceeded") as denied:
                await each.call_tool("greet")
            assert denied.value.error.data["violatedPolicies"] == ["tool"]
    async with rest_framework(port, prefix, []) as call:
        assert (await call("ann"))[0] == 200
    assert raw.keys(f"{prefix}:*") == [f"{prefix}:rolling:throttle_user_ann"]


WORDS: list[tuple[Any, ...]] = [
    *(("token", "k", window, 5) for window in ("1m", 60, "0", "1w", "day", "500ms", "1000000000000", "1000000000001")),
    *(("FIXED", "k", window, 5) for window in ("Day", "year", "1day")),
    *(("COUNTER", "k", "1m", limit) for limit in (0, -1, 2**63 - 1, 2**63, "05", "x")),
    *(
        (algorithm, "k", "1m", 5, option, *value)
        for algorithm in [*vectors("capabilities")["algorithms"], "TOKNE"]
        for option in [*words.OPTIONS, "PARTIAL", "ALWAYS", "x"]
        for value in [(), ("0",), ("2",), ("2m",), ("a b",), (2**63,), ("x" * 65,)]
    ),
    *(("TOKEN", "k", "1m", 5, *more) for more in [("COST", 1, "cost", 1), ("SHADOW", "AS", "x", "COST", 1)]),
    ("LEASE", "k", "1m", 5, "AS", "x", "ID", "y"),
]


@needs_module
def test_the_words_of_a_limit_are_those_of_the_server(raw: redis.Redis) -> None:
    for policy in WORDS:
        raw.delete("k", *raw.keys("k:*"))
        accepted = []
        for check in (words.check, lambda policy: raw.execute_command("RL.MULTI", 1, *policy)):
            try:
                check(policy)
                accepted.append(True)
            except (ValueError, redis.ResponseError):
                accepted.append(False)
        assert accepted[0] == accepted[1], policy


async def test_a_wrong_limit_of_a_route_is_found_at_the_start() -> None:
    for place in ("the application", "a router", "another application"):
        app = route = FastAPI()
        app.add_middleware(RateLimitMiddleware, client=ASYNC)
        if place == "a router":
            route = APIRouter(prefix="/v1", dependencies=[Depends(limit("COUNTER", "all", "1m", "many", key=len))])
        elif place == "another application":
            route = FastAPI()
        route.get("/items", dependencies=[Depends(limit("TOKNE", "api", "1m", 60, key=len))])(lambda: "hello")
        expected = ["GET /items: limit 'api': algorithm: expected one of "]
        if place == "a router":
            app.include_router(route)
            expected = ["GET /v1/items: limit 'api': ", "GET /v1/items: limit 'all': limit: expected an integer"]
        elif place == "another application":
            app.mount("/sub", route)
            expected = ["GET /sub/items: limit 'api': "]
        with pytest.raises(ValueError, match="limit") as error, TestClient(app):  # with its lifespan
            pass
        assert all(text in str(error.value) for text in expected), error.value
        async with http_client(app) as call:  # without
            with pytest.raises(ValueError, match="'TOKNE'"):
                await call("ann")


def wrong_throttle(**attributes: Any) -> Any:
    return type("Wrong", (drf.Throttle,), attributes)


SYNC, ASYNC = redis.Redis(retry=None), redis.asyncio.Redis(retry=None)
STORAGE = partial(storage_from_string, "redis-rl://host")
SENTENCES: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (Limiter, {"client": None}, "client: expected redis.Redis(retry=None), not NoneType"),
    (Limiter, {"client": ASYNC}, "client: expected one of redis, not one of redis.asyncio"),
    (Limiter, {"client": redis.Redis(retry=Retry(NoBackoff(), 3))}, "retry=None"),
    (Limiter, {"client": SYNC, "counters": 5}, "counters: expected Counters(), not int"),
    (keyed_hash, {"secret": None}, "secret: expected at least one byte"),
    (STORAGE, {"key_prefix": None}, "key_prefix: expected a str"),
    (limit, {"key": len}, "limit: expected an algorithm, a name, a window and a limit"),
    (partial(limit, "TOKEN", "api", "1m", 60), {"key": "user"}, "key: expected a dependency"),
    (partial(limit, "TOKEN", "api"), {"key": len}, "policies: expected a list of limits"),
    (partial(wrong_throttle, rate="60"), {}, "rate: expected one such as '60/min', not '60'"),
    (partial(wrong_throttle, algorithm="TOKNE"), {}, "Wrong: algorithm: expected one of"),
    (partial(wrong_throttle, options=("BURST", 5)), {}, "Wrong: 'BURST': ROLLING takes COST, AS, SHADOW"),
    (override_settings(LIMITS_REDIS_RL={"uri": 1})(drf.configured.__wrapped__), {}, "LIMITS_REDIS_RL: expected"),
    (RateLimitMiddleware, {"app": FastAPI(), "client": ASYNC, "policies": []}, "policies: expected a function of the"),
    (ToolLimits, {"client": ASYNC, "policies": []}, "policies: expected a function of the user and the tool"),
    (ToolLimits, {"client": ASYNC, "policies": len, "user": "ann"}, "user: expected a function of the context"),
]
for made in (AsyncLimiter, partial(RateLimitMiddleware, FastAPI()), partial(ToolLimits, policies=len)):
    SENTENCES += [
        (made, {"client": None}, "client: expected redis.asyncio.Redis(retry=None), not NoneType"),
        (made, {"client": SYNC}, "client: expected one of redis.asyncio, not one of redis"),
        (made, {"client": redis.asyncio.Redis()}, "client: expected one that never sends a command again"),
        (made, {"client": ASYNC, "timeout": 0}, "timeout: expected seconds"),
        (made, {"client": ASYNC, "timeout": "1s"}, "timeout: expected seconds"),
        (made, {"client": ASYNC, "fail_open": "yes"}, "fail_open: expected True or False"),
        (made, {"client": ASYNC, "counters": {}}, "counters: expected Counters(), not dict"),
    ]


@pytest.mark.parametrize(("make", "arguments", "text"), SENTENCES)
def test_wrong_arguments_are_sentences(make: Callable[..., Any], arguments: dict[str, Any], text: str) -> None:
    with pytest.raises((TypeError, ValueError, ConfigurationError, drf.ImproperlyConfigured)) as error:
        make(**arguments)
    assert text in str(error.value)


@pytest.mark.parametrize("policies", [("TOKEN", "key", "1m", 60), 60, "TOKEN", [60], [("TOKEN", "key")]])
async def test_wrong_policies_are_a_fault(policies: Any, caplog: pytest.LogCaptureFixture) -> None:
    app = RateLimitMiddleware(FastAPI(), client=ASYNC, policies=lambda _: policies, fail_open=True)
    async with http_client(app) as call:
        assert (await call("ann"))[0] == 500
    assert "ValueError: policies: expected a list of limits" in caplog.text
    with pytest.raises(ValueError, match="policies: expected a list of limits"):
        Limiter(SYNC).reserve(policies, "1m")
