"""Each framework, started by its own means: allowed, denied, two limits, a server that is away, a wrong limit."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from types import SimpleNamespace
from typing import Annotated, Any

import django
import httpx2
import pytest
import redis
import redis.asyncio
from django.conf import settings
from fastapi import Depends, FastAPI, Header, HTTPException, WebSocket
from fastapi.responses import PlainTextResponse
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StreamableHttpTransport
from faults import App, example, replaced
from mcp import MCPError
from server import Server, free_port
from starlette.testclient import TestClient, WebSocketDenialResponse

from limits_redis_rl import AsyncLimiter, RateLimitMiddleware
from limits_redis_rl.fastapi import limit
from limits_redis_rl.fastmcp import ToolLimits

from .conftest import limited, needs_module


def page(words: str, port: int = 0) -> dict[str, Any]:
    """The names of an example of the page."""
    names: dict[str, Any] = {}
    code = example("clients/python/README.md", "python", words).replace("socket_timeout=0.1", "socket_timeout=30")
    exec(code.replace('host="localhost"', f'host="127.0.0.1", port={port}'), names)
    return names


settings.configure(**{name: value for name, value in page("DEFAULT_THROTTLE_CLASSES").items() if name.isupper()})
django.setup()

from rest_framework.request import Request  # noqa: E402
from rest_framework.response import Response  # noqa: E402
from rest_framework.test import APIRequestFactory, force_authenticate  # noqa: E402
from rest_framework.views import APIView  # noqa: E402

from limits_redis_rl import rest_framework as drf  # noqa: E402

# The status, the headers or what has their place, and the body of the request of a user.
Call = Callable[[str], Awaitable[tuple[int, Any, Any]]]


@contextlib.asynccontextmanager
async def http_client(app: Any) -> AsyncIterator[Call]:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test") as http:

        async def call(user: str, **headers: str) -> tuple[int, Any, Any]:
            response = await http.get("/", headers={"x-user": user, **headers})
            return response.status_code, response.headers, response.text and response.json()

        yield call


@contextlib.asynccontextmanager
async def asgi(port: int, prefix: str, limits: list[str], **options: Any) -> AsyncIterator[Call]:
    def policies(scope: Any) -> Any:
        user = dict(scope["headers"])[b"x-user"].decode()
        return [(policy, user) for policy in limits]

    async with limited("asyncio", port, prefix=prefix, **options) as limiter:
        app = FastAPI()
        app.get("/")(lambda: "hello")
        async with http_client(RateLimitMiddleware(app, limiter=limiter, policies=policies)) as call:
            yield call


@contextlib.asynccontextmanager
async def fastapi(port: int, prefix: str, limits: list[str], **options: Any) -> AsyncIterator[Call]:
    def authenticated(x_user: Annotated[str, Header()]) -> str:
        if x_user == "nobody":
            raise HTTPException(401)
        return x_user

    def user(name: Annotated[str, Depends(authenticated)]) -> str:
        return name

    async with limited("asyncio", port, prefix=prefix, **options) as limiter:
        app = FastAPI()
        app.add_middleware(RateLimitMiddleware)
        check = limit(limiter, *((policy, user) for policy in limits))
        # A response of the route's own has the headers too.
        app.get("/", dependencies=[Depends(check)])(lambda: PlainTextResponse('"hello"'))
        async with http_client(app) as call:
            yield call


@contextlib.asynccontextmanager
async def fastmcp(port: int, prefix: str, limits: list[str], **options: Any) -> AsyncIterator[Call]:
    def policies(user: str, tool: str) -> Any:
        return [(policy, f"{user}:{tool}") for policy in limits]

    caller = ""
    async with limited("asyncio", port, prefix=prefix, **options) as limiter:
        mcp = FastMCP("test")
        mcp.tool(lambda: "hello", name="greet", output_schema=None)
        mcp.add_middleware(ToolLimits(limiter=limiter, policies=policies, user=lambda context: caller))

        async def call(user: str) -> tuple[int, Any, Any]:
            nonlocal caller
            caller = user
            async with Client(mcp) as each:
                try:
                    return 200, {}, (await each.call_tool("greet")).content[0].text
                except MCPError as error:
                    data = error.error.data
                    status = {-32029: 429, -32603: 500, -32000: 503}[error.error.code]
                    problem = {"violated-policies": data["violatedPolicies"]}
                    return status, {"retry-after": data.get("retryAfterSeconds")}, problem

        yield call


@contextlib.asynccontextmanager
async def rest_framework(port: int, prefix: str, limits: list[str], **options: Any) -> AsyncIterator[Call]:
    words = [text.split() for text in limits]
    given = [
        {"algorithm": algorithm, "scope": name, "rate": f"{most}/{window[1:]}"}
        for algorithm, window, most, _, name in words
    ]

    class View(APIView):
        throttle_classes = [type("Throttle", (drf.UserRateThrottle,), each) for each in given]  # noqa: RUF012

        def get(self, request: Request) -> Response:
            return Response("hello")

    async with limited("threads", port, prefix=prefix, **options) as limiter:

        async def call(user: str) -> tuple[int, Any, Any]:
            settings.LIMITS_REDIS_RL = limiter
            request = APIRequestFactory().get("/")
            force_authenticate(request, SimpleNamespace(is_authenticated=True, pk=user))
            try:
                found = await asyncio.to_thread(View.as_view(), request)
            except redis.ResponseError:  # Django replies 500
                return 500, {}, {}
            return found.status_code, {name.lower(): value for name, value in found.headers.items()}, found.data

        yield call


HTTP = [asgi, fastapi]
every = pytest.mark.parametrize("start", [*HTTP, fastmcp, rest_framework], ids=lambda start: start.__name__)


@every
async def test_allowed_then_denied(start: Any, port: int, prefix: str) -> None:
    async with start(port, prefix, ["WINDOW 1d 9 AS api", "ROLLING 1d 2 AS plan"]) as call:
        for user in ("ann", "bob"):
            for remaining in (1, 0):
                status, headers, body = await call(user)
                assert (status, body, headers.get("retry-after")) == (200, "hello", None)
                if start in HTTP:
                    assert headers["ratelimit-policy"] == '"api";q=9;w=86400, "plan";q=2;w=86400'
                    assert headers["ratelimit"].startswith(f'"plan";r={remaining};')
            status, headers, body = await call(user)
            assert (status, 86300 < int(headers["retry-after"]) <= 86400) == (429, True)
            assert start is rest_framework or body["violated-policies"] == ["plan"]
            if start in HTTP:
                assert (headers["content-type"], body["status"]) == ("application/problem+json", 429)
                assert body["type"] == "https://iana.org/assignments/http-problem-types#quota-exceeded"
    with redis.Redis(port=port, decode_responses=True) as client:
        counts = [client.get(key) for key in client.keys(f"{prefix}*") if "api" in key or "window" in key]
        # All or none. Django REST framework asks each throttle by itself.
        assert counts == (["3"] * 2 if start is rest_framework else ["2"] * 2)


@every
async def test_without_a_decision(start: Any, own: Server) -> None:
    async with contextlib.AsyncExitStack() as stack:
        options: tuple[dict[str, Any], ...] = ({}, {"unavailable": "allow"}, {"unavailable": "local", "instances": 2})
        made = [start(own.port, "a:", ["TOKEN 1m 4 AS api"], **each) for each in options]
        fails, allows, local = [await stack.enter_async_context(each) for each in made]
        keys = {rest_framework: "a:token:{throttle_api_ann}", fastmcp: "a:api:{ann:greet}"}
        own.text("LPUSH", keys.get(start, "a:api:{ann}"), "x")
        for call in (fails, allows, local):
            assert (await call("ann"))[0] == 500
        own.stop()
        assert [(await local("bob"))[0] for _ in range(3)] == [200, 200, 429]
        status, headers, _ = await fails("ann")
        assert (status, int(headers["retry-after"])) == (503, 1)
        assert (await allows("ann"))[0] == 200


async def test_policies_keys_and_costs_of_a_request(port: int, prefix: str) -> None:
    plans = {"free": "ROLLING 1h 2 AS plan", "paid": "ROLLING 1h 4 AS plan", "own": None}

    def plan(x_plan: Annotated[str, Header()]) -> str | None:
        return plans[x_plan]

    def user(x_user: Annotated[str, Header()]) -> str:
        return x_user

    async def cost(x_cost: Annotated[int, Header()] = 1) -> int:
        return x_cost

    async with limited("asyncio", port, prefix=prefix) as limiter:
        app = FastAPI()
        check = limit(limiter, (plan, user), ("WINDOW 1d 7 AS address", "192.0.2.1", cost))
        app.add_middleware(RateLimitMiddleware)
        app.get("/", dependencies=[Depends(check)])(lambda: "hello")
        async with http_client(app) as call:
            found = [(await call("ann", **{"x-plan": "free"}))[0] for _ in range(3)]
            found += [(await call("bob", **{"x-plan": "paid"}))[0] for _ in range(4)]
            assert found == [200, 200, 429, 200, 200, 200, 200]
            status, headers, body = await call("eve", **{"x-plan": "free", "x-cost": "2"})
            assert (status, body["violated-policies"]) == (429, ["address"])
            assert headers["ratelimit-policy"] == '"plan";q=2;w=3600, "address";q=7;w=86400'
            assert (await call("eve", **{"x-plan": "own"}))[0] == 200
            # None is a fault: all callers without a name would share a limit.
            with pytest.raises(ValueError, match="two limits share the keys"):
                limit(limiter, ("WINDOW 1d 8 AS address", user))


async def test_fastapi_limits_whom_it_knows(port: int, prefix: str) -> None:
    async with fastapi(port, prefix, ["WINDOW 1d 1 AS api"]) as call:
        for _ in range(2):
            assert (await call("nobody"))[0] == 401
    # Limits of the middleware and of a dependency are two decisions with one set of headers.
    async with limited("asyncio", port, prefix=prefix) as limiter:
        app = FastAPI()
        app.get("/", dependencies=[Depends(limit(limiter, ("WINDOW 1d 1 AS two", "all")))])(lambda: "hello")
        policies = lambda scope: [("WINDOW 1d 9 AS one", "all")]  # noqa: E731
        async with http_client(RateLimitMiddleware(app, limiter=limiter, policies=policies)) as call:
            for status in (200, 429):
                found, headers, _ = await call("ann")
                assert (found, headers["ratelimit-policy"]) == (status, '"one";q=9;w=86400, "two";q=1;w=86400')
                assert headers.get_list("x-ratelimit-limit") == ["1"]
        async with http_client(app) as call:
            with pytest.raises(RuntimeError, match=r"expected app\.add_middleware"):
                await call("ann")


async def test_leaky_holds_a_request_for_its_delay(port: int, prefix: str) -> None:
    queue, limiter = "LEAKY 8s 4 BURST 3 AS queue", limited("asyncio", port, prefix=prefix)
    async with asgi(port, prefix, ["WINDOW 1d 100 AS day", queue]) as call, limiter as other:
        loop = asyncio.get_running_loop()
        begin = loop.time()
        assert (await call("ann"))[0] == 200
        held = [asyncio.create_task(call("ann")) for _ in range(2)]
        while (await other.peek(queue, "ann")).allowed:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        assert (await call("ann"))[0] == 429
        assert not held[0].done()
        held[0].cancel()  # its caller has gone
        status, headers, _ = await held[1]
        assert (status, headers["ratelimit"].startswith('"queue";r=')) == (200, True)
        assert loop.time() - begin >= 2


def test_websocket(port: int, prefix: str) -> None:
    app = FastAPI()

    @app.websocket("/")
    async def echo(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text("hello")
        await socket.close()

    client = redis.asyncio.Redis(port=port, retry=None)
    limiter = AsyncLimiter(client, prefix=prefix, timeout=30)
    app.add_middleware(RateLimitMiddleware, limiter=limiter, policies=lambda scope: [("TOKEN 1h 1", "key")])
    with TestClient(app) as http:
        with http.websocket_connect("/") as socket:
            assert socket.receive_text() == "hello"
        with pytest.raises(WebSocketDenialResponse) as denied, http.websocket_connect("/"):
            pass
        assert denied.value.status_code == 429
        assert int(denied.value.headers["retry-after"]) > 3500
        assert http.portal is not None
        http.portal.call(client.aclose)


async def test_a_websocket_of_a_server_that_sends_no_response() -> None:
    async def policies(scope: Any) -> Any:
        return [("TOKEN 1h 1", "key")]

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    sent: list[Any] = []
    limiter = AsyncLimiter(redis.asyncio.Redis(port=free_port(), retry=None), unavailable="deny")
    await RateLimitMiddleware(FastAPI(), limiter=limiter, policies=policies)({"type": "websocket"}, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1013}]


@needs_module
async def test_the_examples_of_the_page(port: int, raw: redis.Redis) -> None:
    raw.flushall()
    names = page('Depends(limit(limiter, ("TOKEN 1m 60"', port)
    async with names["client"], http_client(names["app"]) as call:
        assert (await call("ann"))[1]["ratelimit"].startswith('"token";r=59;')
    page("limiter.lease(", port)
    assert sorted(key.split("}")[0] + "}" for key in raw.keys("app:*")) == [
        "app:address:{ip:192.0.2.1}",
        "app:gcra:1000ms:{jobs}",
        "app:token:60000ms:{127.0.0.1}",
        "app:token:60000ms:{user:42}",
    ]
    http = free_port()
    code = example("clients/python/README.md", "python", "def policies(user, tool)")
    old, new = 'host="localhost", retry=None)', f'host="127.0.0.1", port={port}, retry=None), timeout=30'
    changes = {old: new, "8000": f"{http}"}
    with contextlib.closing(App([sys.executable, "main.py"], {"main.py": replaced(code, changes)}, http)):
        async with Client(StreamableHttpTransport(f"http://127.0.0.1:{http}/mcp", auth="secret")) as each:
            for _ in range(20):
                assert (await each.call_tool("greet")).content[0].text == "hello"
            with pytest.raises(MCPError, match="rate limit exceeded") as denied:
                await each.call_tool("greet")
            assert denied.value.error.data["violatedPolicies"] == ["tool"]
    settings.LIMITS_REDIS_RL = page("DEFAULT_THROTTLE_CLASSES", port)["LIMITS_REDIS_RL"]
    request = APIRequestFactory().get("/")
    force_authenticate(request, SimpleNamespace(is_authenticated=True, pk="ann"))
    assert APIView.as_view()(request).status_code == 405  # it is throttled first
    assert raw.keys("api:*") == ["api:rolling:{throttle_user_ann}"]


def test_a_wrong_throttle() -> None:
    for wrong, text in (({"algorithm": "TOKNE"}, "expected one of"), ({"options": {"burst": 5}}, "ROLLING takes none")):
        with pytest.raises(ValueError, match=text):
            type("Wrong", (drf.Throttle,), wrong)


def test_a_throttle_that_does_not_limit_a_request() -> None:
    anonymous = type("Anonymous", (drf.AnonRateThrottle,), {"rate": "1/min"})()
    assert anonymous.allow_request(SimpleNamespace(user=SimpleNamespace(is_authenticated=True)), None)


WRONG = [("TOKEN 1m 60", "ann"), 60, "TOKEN", [60], [("TOKEN 1m 60", None)], [("TOKNE 1m 2", "a")], [("x", "a")]]


@pytest.mark.parametrize("policies", WRONG)
async def test_wrong_limits_are_a_fault(policies: Any, caplog: pytest.LogCaptureFixture) -> None:
    limiter = AsyncLimiter(redis.asyncio.Redis(retry=None), unavailable="allow")
    async with http_client(RateLimitMiddleware(FastAPI(), limiter=limiter, policies=lambda _: policies)) as call:
        assert (await call("ann"))[0] == 500
    assert limiter.counters.faults == caplog.text.count("the call was rejected, a fault of the configuration: ") == 1
