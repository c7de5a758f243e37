"""An ASGI middleware that checks every request against limits of redis-rl, all in one RL.MULTI."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from typing import Any

import redis
import redis.asyncio

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
# The words of one limit of RL.MULTI: ("TOKEN", "user:42", "1m", 60, "BURST", 10, "AS", "api")
Policy = Sequence[str | bytes | int]
Policies = Callable[[Scope], Iterable[Policy] | Awaitable[Iterable[Policy]]]
Headers = list[tuple[bytes, bytes]]

logger = logging.getLogger("limits_redis_rl")


class RateLimitMiddleware:
    """Replies 429 to a request that a limit denies, and adds the headers of the limits to every response.

    A WebSocket that a limit denies is not opened.
    """

    def __init__(
        self,
        app: App,
        *,
        client: redis.asyncio.Redis | redis.asyncio.RedisCluster,
        policies: Policies,
        fail_open: bool = True,
        timeout: float = 0.1,
    ) -> None:
        """
        :param client: the connection to the server; the caller closes it
        :param policies: the limits of a request with this scope, none if it is not limited; may be a coroutine function
        :param fail_open: whether a request is allowed if the server does not reply; else the response is 503
        :param timeout: how many seconds to wait for the server
        """
        self.app = app
        self.client = client
        self.policies = policies
        self.fail_open = fail_open
        self.timeout = timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        found = self.policies(scope)
        policies = list(await found if inspect.isawaitable(found) else found)
        if not policies:
            return await self.app(scope, receive, send)

        headers: Headers = []
        try:
            allowed, headers = await asyncio.wait_for(self._check(policies), self.timeout)
        except (redis.RedisError, OSError, asyncio.TimeoutError) as error:
            mode = "open" if self.fail_open else "closed"
            logger.warning("no decision, failing %s: %s: %s", mode, type(error).__name__, error)
            if not self.fail_open:
                return await _respond(scope, receive, send, 503, headers)
        else:
            if not allowed:
                return await _respond(scope, receive, send, 429, headers)

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                message = {**message, "headers": [*message.get("headers", ()), *headers]}
            await send(message)

        await self.app(scope, receive, send_with_headers)

    async def _check(self, policies: list[Policy]) -> tuple[bool, Headers]:
        words = [word for policy in policies for word in policy]
        reply = await self.client.execute_command("RL.MULTI", len(policies), *words, "HEADERS")
        allowed, _, headers = reply
        names = [_bytes(name).lower() for name in headers[::2]]
        values = [_bytes(value) for value in headers[1::2]]
        return allowed == 1, list(zip(names, values, strict=True))


def _bytes(value: str | bytes) -> bytes:
    # A client with decode_responses replies str.
    return value.encode("latin-1") if isinstance(value, str) else value


async def _respond(scope: Scope, receive: Receive, send: Send, status: int, headers: Headers) -> None:
    kind = "http.response"
    if scope["type"] == "websocket":
        await receive()  # websocket.connect
        if "websocket.http.response" not in (scope.get("extensions") or {}):
            return await send({"type": "websocket.close", "code": 1013})  # try again later
        kind = "websocket.http.response"
    body = b"Too Many Requests\n" if status == 429 else b"Service Unavailable\n"
    plain = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": f"{kind}.start", "status": status, "headers": [*plain, *headers]})
    await send({"type": f"{kind}.body", "body": body})
