"""An ASGI middleware that checks every request against limits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from ._async.limiter import AsyncLimiter, OneLimit
from .errors import is_unavailable

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Limits = Iterable[OneLimit] | None
Policies = Callable[[Scope], Limits | Awaitable[Limits]]

# Where a scope has the function that checks more limits, for what decides later.
LIMIT = "limits_redis_rl.limit"
# The messages that have headers.
STARTS = ("http.response.start", "websocket.accept", "websocket.http.response.start")
TITLES = {429: "Quota exceeded", 500: "Internal Server Error", 503: "Service Unavailable"}
QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded"
# The headers that are lists, so a response may have several. The others are those of the last decision.
LISTS = (b"ratelimit", b"ratelimit-policy")


@dataclass(eq=False)
class Rejected(Exception):
    """The request is not allowed: 429, 500 or 503."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    violated: list[str] = field(default_factory=list)


async def admitted(limiter: AsyncLimiter, limits: Iterable[OneLimit] | None) -> dict[str, str]:
    """The headers of the limits, when the request may go on. A request that LEAKY allows is held for its delay.

    Raises :exc:`Rejected`; the log has why.
    """
    try:
        found = limiter.all([] if limits is None else limits)
    except Exception as error:
        limiter.log.rejected(error)
        raise Rejected(500) from error
    if not found:
        return {}
    try:
        decisions = await limiter.decide("MULTI" if len(found) > 1 else "CHECK", found)
    except Exception as error:
        raise (Rejected(503, {"Retry-After": "1"}) if is_unavailable(error) else Rejected(500)) from error
    if not decisions.allowed:
        raise Rejected(429, decisions.headers(), decisions.violated)
    if decisions.delay:
        await asyncio.sleep(decisions.delay)
    return decisions.headers()


class RateLimitMiddleware:
    """Replies 429 to a request that a limit denies, and adds the headers of the limits to every response. A WebSocket
    that a limit denies is not opened. Without a decision the status is 503. A wrong call (a policy, a key of another
    type) is 500: it is never allowed.

    :param limiter: decides what `policies` says; not needed for the limits of routes, which have their own
    :param policies: the limits of a request with this scope, such as ``[("TOKEN 1m 60 AS api", "user:42")]``;
        ``None`` or empty if it is not limited; may be a coroutine function
    """

    def __init__(self, app: App, *, limiter: AsyncLimiter | None = None, policies: Policies | None = None) -> None:
        if policies is not None and limiter is None:
            raise TypeError("limiter: expected AsyncLimiter(client), for the policies")
        self.app = app
        self.limiter = limiter
        self.policies = policies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        headers: list[tuple[bytes, bytes]] = []
        rejected: Rejected | None = None

        async def limit(limiter: AsyncLimiter, limits: Limits) -> None:
            nonlocal rejected
            try:
                found = await admitted(limiter, limits)
            except Rejected as error:
                rejected, found = error, error.headers
            headers[:] = [each for each in headers if each[0] in LISTS]
            headers.extend([(name.lower().encode(), value.encode()) for name, value in found.items()])
            if rejected is not None:
                raise rejected

        async def send_if_allowed(message: Message) -> None:
            if rejected is not None:
                return  # the application may make a response of the error too
            if message["type"] in STARTS:
                message = {**message, "headers": [*message.get("headers", ()), *headers]}
            await send(message)

        scope[LIMIT] = limit
        try:
            if self.policies is not None and self.limiter is not None:
                found: Any = self.policies(scope)
                await limit(self.limiter, await found if hasattr(found, "__await__") else found)
            await self.app(scope, receive, send_if_allowed)
        except Rejected:
            pass
        if rejected is not None:
            await _respond(scope, receive, send, rejected, headers)


async def _respond(
    scope: Scope, receive: Receive, send: Send, rejected: Rejected, headers: list[tuple[bytes, bytes]]
) -> None:
    kind, status = "http.response", rejected.status
    if scope["type"] == "websocket":
        await receive()  # websocket.connect
        if "websocket.http.response" not in (scope.get("extensions") or {}):
            # 1011: an error of the server; 1013: try again later.
            return await send({"type": "websocket.close", "code": 1011 if status == 500 else 1013})
        kind = "websocket.http.response"
    problem: dict[str, Any] = {"type": "about:blank", "title": TITLES[status], "status": status}
    if status == 429:
        problem |= {"type": QUOTA_EXCEEDED, "violated-policies": rejected.violated}
    body = json.dumps(problem, separators=(",", ":")).encode()
    headers += [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
    await send({"type": f"{kind}.start", "status": status, "headers": headers})
    await send({"type": f"{kind}.body", "body": body})
