"""What the middlewares for asyncio share: all limits of a request in one RL.MULTI."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from ._async.execute import execute
from .aio import Client
from .aio import send as send_call
from .charge import Policy, Words, listed
from .guard import Counters, Guard, check_arguments
from .keys import bounded, capped

Headers = list[tuple[bytes, bytes]]
# Which figure of LINE is `delay_ms`.
DELAY = 8


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


class Rejected(Exception):
    """The request is not allowed."""

    def __init__(self, decided: Decided) -> None:
        super().__init__(f"status {decided.status}")
        self.decided = decided


class Decider:
    """Decides requests. Its arguments are those of :class:`limits_redis_rl.RateLimitMiddleware`."""

    def __init__(
        self, client: Client, fail_open: bool, timeout: float, counters: Counters | None, module: str = "optional"
    ) -> None:
        check_arguments(client, True, fail_open, timeout, counters)
        self.client = client
        self.fail_open = fail_open
        self.guard = Guard(counters, timeout, module=module)

    @property
    def timeout(self) -> float:
        return self.guard.timeout

    @property
    def counters(self) -> Counters:
        return self.guard.counters

    async def admit(self, policies: Iterable[Policy] | None) -> Decided:
        """Returns when the request may go on, or raises :exc:`Rejected`."""
        decided = await self.decide(policies)
        if decided.status != 200:
            raise Rejected(decided)
        if decided.delay:
            await asyncio.sleep(decided.delay)
        return decided

    async def decide(self, policies: Iterable[Policy] | None) -> Decided:
        try:
            words = [_bounded(policy) for policy in listed(policies)]
            if not words:
                return Decided(200)
            decided = await send_call(self.guard, self.client, _bytes(words[0][1]), lambda: self._check(words))
        except Exception as error:
            allowed = self.guard.undecided(error, self.fail_open)
            if allowed is None:
                return Decided(500)
            return Decided(200) if allowed else Decided(503, [(b"retry-after", b"1")])
        self.guard.decided(decided.status == 200)
        return decided

    async def _check(self, policies: list[list[str | bytes | int]]) -> Decided:
        multi: Words = ["RL.MULTI", len(policies), *(word for policy in policies for word in policy), "HEADERS"]
        queues = [policy for policy in policies if _bytes(policy[0]).upper() == b"LEAKY"]
        # HEADERS has no delay. RL.PEEK, sent with it, replies what this request will get.
        peeks: list[Words] = [["RL.PEEK", *policy, "LINE"] for policy in queues]
        *lines, reply = await execute(self.guard, self.client, [*peeks, multi])
        delay = max((int(line.split()[DELAY]) for line in lines), default=0)
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
