"""An ASGI middleware that checks every request against limits of redis-rl, all in one RL.MULTI."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, MutableMapping, Sequence
from typing import Any

from .aio import Client, in_time
from .guard import Counters, Guard, bounded, capped, may_fail_open, retries_of

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
# The words of one limit of RL.MULTI: ("TOKEN", "user:42", "1m", 60, "BURST", 10, "AS", "api")
Policy = Sequence[str | bytes | int]
Policies = Callable[[Scope], Iterable[Policy] | Awaitable[Iterable[Policy]]]
Headers = list[tuple[bytes, bytes]]

TEXTS = {429: b"Too Many Requests\n", 500: b"Internal Server Error\n", 503: b"Service Unavailable\n"}


class RateLimitMiddleware:
    """Replies 429 to a request that a limit denies, and adds the headers of the limits to every response.

    A WebSocket that a limit denies is not opened. If the server cannot decide (it does not reply in time, the
    connection fails, or it replies that it accepts no writes now), the request is allowed or gets 503. If the server
    rejects the call (a wrong policy, a key of another type, no module), the request gets 500: it is never allowed.
    """

    def __init__(
        self,
        app: App,
        *,
        client: Client,
        policies: Policies,
        fail_open: bool = True,
        timeout: float = 0.1,
        counters: Counters | None = None,
    ) -> None:
        """
        :param client: the connection to the server, made with ``retry=None``; the caller closes it
        :param policies: the limits of a request with this scope, none if it is not limited; may be a coroutine function
        :param fail_open: whether a request is allowed if the server cannot decide; else the response is 503. It is
            503 in any case if all connections of the client are in use
        :param timeout: how many seconds a request waits for the server at most
        :param counters: where to count what happens, for an export
        """
        if not callable(policies):
            raise TypeError("policies: expected a function of the scope")
        if not isinstance(fail_open, bool):
            raise TypeError("fail_open: expected True or False")
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= 3600:
            raise ValueError("timeout: expected seconds, more than 0 and at most 3600")
        if retries_of(client):
            raise ValueError(
                "client: expected one that never sends a command again, or a request may be charged twice: "
                "redis.asyncio.Redis(retry=None) without retry_on_error, RedisCluster(retry=Retry(NoBackoff(), 0))"
            )
        self.app = app
        self.client = client
        self.policies = policies
        self.fail_open = fail_open
        self.timeout = timeout
        self.guard = Guard(counters)

    @property
    def counters(self) -> Counters:
        return self.guard.counters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        found = self.policies(scope)
        policies = list(await found if inspect.isawaitable(found) else found)
        if not policies:
            return await self.app(scope, receive, send)

        status, headers = await self._decide(policies)
        if status != 200:
            return await _respond(scope, receive, send, status, headers)

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                message = {**message, "headers": [*message.get("headers", ()), *headers]}
            await send(message)

        await self.app(scope, receive, send_with_headers)

    async def _decide(self, policies: list[Policy]) -> tuple[int, Headers]:
        """The status of the response, 200 if the request is allowed, and the headers of the limits."""
        counters = self.counters
        try:
            self.guard.enter()
            allowed, headers = await in_time(self.guard, self.client, lambda: self._check(policies), self.timeout)
        except Exception as error:
            opens = self.fail_open and may_fail_open(error)
            if not self.guard.failed(error, "failing open" if opens else "failing closed"):
                counters.faults += 1
                return 500, []
            if opens:
                counters.failed_open += 1
                return 200, []
            counters.failed_closed += 1
            return 503, []
        self.guard.replied()
        if allowed:
            counters.allowed += 1
            return 200, headers
        counters.denied += 1
        return 429, headers

    async def _check(self, policies: list[Policy]) -> tuple[bool, Headers]:
        words = [word for policy in policies for word in _bounded(policy)]
        reply = await self.client.execute_command("RL.MULTI", len(policies), *words, "HEADERS")
        allowed, _, headers = reply
        names = [_bytes(name).lower() for name in headers[::2]]
        values = [_bytes(value) for value in headers[1::2]]
        return allowed == 1, list(zip(names, values, strict=True))


def _bounded(policy: Policy) -> list[str | bytes | int]:
    """The words of a policy, with a key and an ID that are not too long, and a cost that is not too large."""
    words = list(policy)
    for at, word in enumerate(words):
        option = _bytes(words[at - 1]).upper() if at > 4 and isinstance(words[at - 1], (str, bytes)) else b""
        if at == 1 or option == b"ID":
            words[at] = bounded(word)
        elif option == b"COST":
            words[at] = capped(word)
    return words


def _bytes(value: str | bytes | int) -> bytes:
    # A client with decode_responses replies str.
    return value if isinstance(value, bytes) else str(value).encode("latin-1", "replace")


async def _respond(scope: Scope, receive: Receive, send: Send, status: int, headers: Headers) -> None:
    kind = "http.response"
    if scope["type"] == "websocket":
        await receive()  # websocket.connect
        if "websocket.http.response" not in (scope.get("extensions") or {}):
            # 1011: an error of the server; 1013: try again later.
            return await send({"type": "websocket.close", "code": 1011 if status == 500 else 1013})
        kind = "websocket.http.response"
    body = TEXTS[status]
    plain = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": f"{kind}.start", "status": status, "headers": [*plain, *headers]})
    await send({"type": f"{kind}.body", "body": body})
