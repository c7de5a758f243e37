"""An ASGI middleware that checks every request against limits of redis-rl, all in one RL.MULTI."""

from __future__ import annotations

import contextlib
import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from .aio import Client
from .charge import Policy
from .decide import Decided, Decider, Rejected
from .guard import Counters

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Policies = Callable[[Scope], Iterable[Policy] | Awaitable[Iterable[Policy] | None] | None]

# Where a scope has the function that checks more policies, for what decides later.
LIMIT = "limits_redis_rl.limit"
# What is checked when an application starts: functions of the application that return what is wrong.
CHECKS: list[Callable[[Any], Iterable[str]]] = []
# The messages that have headers.
STARTS = ("http.response.start", "websocket.accept", "websocket.http.response.start")
TITLES = {429: "Quota exceeded", 500: "Internal Server Error", 503: "Service Unavailable"}
QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded"
# The headers that are lists. The others are those of the last decision.
LISTS = (b"ratelimit", b"ratelimit-policy")


class RateLimitMiddleware(Decider):
    """Replies 429 to a request that a limit denies, and adds the headers of the limits to every response. A request
    that LEAKY allows is held for its delay.

    A WebSocket that a limit denies is not opened. If the server cannot decide (it does not reply in time, the
    connection fails, or it replies that it accepts no writes now), the request gets 503 or is allowed. If the server
    rejects the call (a wrong policy, a key of another type, no module), the request gets 500: it is never allowed.
    """

    def __init__(
        self,
        app: App,
        *,
        client: Client,
        policies: Policies = lambda scope: None,
        fail_open: bool = False,
        timeout: float = 0.1,
        counters: Counters | None = None,
        module: str = "optional",
    ) -> None:
        """
        :param client: the connection to the server, made with ``retry=None``; the caller closes it
        :param policies: the limits of a request with this scope, such as
            ``[("TOKEN", "user:42", "1m", 60, "BURST", 10, "AS", "api")]``; ``None`` or empty if it is not limited;
            may be a coroutine function
        :param fail_open: whether a request is allowed if the server cannot decide; else the response is 503. It is
            503 in any case if all connections of the client are in use
        :param timeout: how many seconds a request waits for the server at most
        :param counters: where to count what happens, for an export
        :param module: ``optional``: without the module, the Lua scripts decide; ``required``: that is an error
        """
        if not callable(policies):
            raise TypeError("policies: expected a function of the scope that returns a list of limits")
        super().__init__(client, fail_open, timeout, counters, module)
        self.app = app
        self.policies = policies
        self._wrong: list[str] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._wrong is None:
            self._wrong = [text for check in CHECKS for text in check(scope.get("app"))]
        if self._wrong:
            text = "\n".join(self._wrong)
            if scope["type"] == "lifespan":  # the server then does not start
                await receive()
                await send({"type": "lifespan.startup.failed", "message": text})
            raise ValueError(text)
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        headers: dict[bytes, bytes] = {}
        rejected: Decided | None = None

        def add(decided: Decided) -> None:
            for name, value in decided.headers:
                before = headers.get(name) if name in LISTS else None
                headers[name] = value if before is None else before + b", " + value

        async def limit(policies: Iterable[Policy] | None) -> None:
            nonlocal rejected
            try:
                add(await self.admit(policies))
            except Rejected as error:
                rejected = error.decided
                add(rejected)
                raise

        async def send_with_headers(message: Message) -> None:
            if message["type"] in STARTS:
                message = {**message, "headers": [*message.get("headers", ()), *headers.items()]}
            await send(message)

        async def send_if_allowed(message: Message) -> None:
            # The application may make a response of the error too.
            if rejected is None:
                await send_with_headers(message)

        scope[LIMIT] = limit
        found = self.policies(scope)
        with contextlib.suppress(Rejected):
            await limit(await found if inspect.isawaitable(found) else found)
            await self.app(scope, receive, send_if_allowed)
        if rejected is not None:
            await _respond(scope, receive, send_with_headers, rejected)


async def _respond(scope: Scope, receive: Receive, send: Send, decided: Decided) -> None:
    kind = "http.response"
    if scope["type"] == "websocket":
        await receive()  # websocket.connect
        if "websocket.http.response" not in (scope.get("extensions") or {}):
            # 1011: an error of the server; 1013: try again later.
            return await send({"type": "websocket.close", "code": 1011 if decided.status == 500 else 1013})
        kind = "websocket.http.response"
    problem: dict[str, Any] = {"type": "about:blank", "title": TITLES[decided.status], "status": decided.status}
    if decided.status == 429:
        problem |= {"type": QUOTA_EXCEEDED, "violated-policies": decided.violated}
    body = json.dumps(problem, separators=(",", ":")).encode()
    headers = [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
    await send({"type": f"{kind}.start", "status": decided.status, "headers": headers})
    await send({"type": f"{kind}.body", "body": body})
