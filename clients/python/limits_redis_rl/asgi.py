"""An ASGI middleware that checks every request against limits of redis-rl, all in one RL.MULTI."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from .aio import Client
from .aio import send as send_call
from .charge import Policy
from .guard import Counters, Guard, bounded, capped, check_arguments

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Policies = Callable[[Scope], Iterable[Policy] | Awaitable[Iterable[Policy]]]
Headers = list[tuple[bytes, bytes]]
# Which figure of LINE is `delay_ms`.
DELAY = 8

TITLES = {429: "Quota exceeded", 500: "Internal Server Error", 503: "Service Unavailable"}
QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded"


@dataclass(frozen=True)
class Decided:
    """What a request gets."""

    status: int
    """200 if it is allowed."""
    headers: Headers = field(default_factory=list)
    """The headers of the limits."""
    violated: list[str] = field(default_factory=list)
    """The names of the policies that deny it."""
    delay: float = 0.0
    """For how many seconds it is held (LEAKY)."""


class RateLimitMiddleware:
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
        policies: Policies,
        fail_open: bool = False,
        timeout: float = 0.1,
        counters: Counters | None = None,
    ) -> None:
        """
        :param client: the connection to the server, made with ``retry=None``; the caller closes it
        :param policies: the limits of a request with this scope, such as
            ``[("TOKEN", "user:42", "1m", 60, "BURST", 10, "AS", "api")]``; none if it is not limited; may be a
            coroutine function
        :param fail_open: whether a request is allowed if the server cannot decide; else the response is 503. It is
            503 in any case if all connections of the client are in use
        :param timeout: how many seconds a request waits for the server at most
        :param counters: where to count what happens, for an export
        """
        if not callable(policies):
            raise TypeError("policies: expected a function of the scope")
        check_arguments(client, True, fail_open, timeout)
        self.app = app
        self.client = client
        self.policies = policies
        self.fail_open = fail_open
        self.guard = Guard(counters, timeout)

    @property
    def timeout(self) -> float:
        return self.guard.timeout

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

        decided = await self._decide(policies)
        if decided.status != 200:
            return await _respond(scope, receive, send, decided)
        if decided.delay:
            await asyncio.sleep(decided.delay)

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                message = {**message, "headers": [*message.get("headers", ()), *decided.headers]}
            await send(message)

        await self.app(scope, receive, send_with_headers)

    async def _decide(self, policies: list[Policy]) -> Decided:
        try:
            words = [_bounded(policy) for policy in policies]
            decided = await send_call(self.guard, self.client, _bytes(words[0][1]), lambda: self._check(words))
        except Exception as error:
            allowed = self.guard.undecided(error, self.fail_open)
            if allowed is None:
                return Decided(500)
            return Decided(200) if allowed else Decided(503, [(b"retry-after", b"1")])
        self.guard.decided(decided.status == 200)
        return decided

    async def _check(self, policies: list[list[str | bytes | int]]) -> Decided:
        multi = ["RL.MULTI", len(policies), *(word for policy in policies for word in policy), "HEADERS"]
        queues = [policy for policy in policies if _bytes(policy[0]).upper() == b"LEAKY"]
        delay = 0
        if queues:
            # HEADERS has no delay. RL.PEEK, sent with it, replies what this request will get.
            pipeline: Any = self.client.pipeline(transaction=False)
            for policy in queues:
                pipeline.execute_command("RL.PEEK", *policy, "LINE")
            pipeline.execute_command(*multi)
            *lines, reply = await pipeline.execute(raise_on_error=False)
            if isinstance(reply, Exception):
                raise reply
            for line in lines:
                if isinstance(line, Exception):
                    raise line
                delay = max(delay, int(line.split()[DELAY]))
        else:
            reply = await self.client.execute_command(*multi)
        allowed, limits, words = reply
        headers = [(_bytes(name).lower(), _bytes(value)) for name, value in zip(words[::2], words[1::2], strict=True)]
        if allowed == 1:
            return Decided(200, headers, delay=delay / 1000)
        names = re.findall('(?:^|, )"([^"]*)"', dict(headers)[b"ratelimit-policy"].decode("latin-1"))
        violated = [name for name, limit in zip(names, limits, strict=True) if limit[0] != 1]
        return Decided(429, headers, violated)


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
    plain = [(b"content-type", b"application/problem+json"), (b"content-length", str(len(body)).encode())]
    await send({"type": f"{kind}.start", "status": decided.status, "headers": [*plain, *decided.headers]})
    await send({"type": f"{kind}.body", "body": body})
