"""What a request gets, and the HTTP headers that say so: those that HEADERS of the command replies."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from .calls import Limit
from .policy import MAX_INTEGER, Policy, seconds


def _float(milliseconds: int) -> float | None:
    return None if milliseconds < 0 else milliseconds / 1000


@dataclass(slots=True)
class Decision:
    """The decision of one limit. A time that never comes is -1 in milliseconds, and ``None`` in seconds."""

    allowed: bool
    count: int
    limit: int
    """What `remaining` counts down from: the burst if given, else the limit."""
    remaining: int
    """The cost that would be allowed now."""
    retry_after_ms: int
    next_ms: int
    """Until `remaining` grows."""
    reset_ms: int
    """Until the whole limit is available."""
    delay_ms: int
    """LEAKY: how long to hold the request."""
    at: int
    """The time of the server that decided, in Unix milliseconds."""
    is_shadow: bool
    """Whether shadow mode allowed what the limit denies."""
    charged: int
    source: str
    """Who decided: ``server``; ``local``, the limit of this process; ``allow`` or ``deny``, what `unavailable` says.
    With the last two, nothing is known of what remains."""
    policy: Policy

    @property
    def retry_after(self) -> float | None:
        """Seconds until the request is allowed."""
        return _float(self.retry_after_ms)

    @property
    def reset_after(self) -> float | None:
        """Seconds until the whole limit is available."""
        return _float(self.reset_ms)

    @property
    def delay(self) -> float:
        """`delay_ms` in seconds."""
        return self.delay_ms / 1000

    def headers(self) -> dict[str, str]:
        """The HTTP headers of a response."""
        return Decisions(self.allowed, [self]).headers()


@dataclass(slots=True)
class Decisions:
    """What a request under several limits gets."""

    allowed: bool
    limits: list[Decision]
    paid: int | None = None
    """Of limits that share: the place of the one that paid, from 1; 0 if none did."""

    @property
    def deciding(self) -> Decision:
        """The limit whose figures the headers have: the strictest; of limits that share the one that paid, or of a
        denial the one that allows first."""
        if len(self.limits) == 1:
            return self.limits[0]
        if self.paid is None:
            return min(self.limits, key=_strictness)
        return self.limits[self.paid - 1] if self.paid else max(self.limits, key=_strictness)

    @property
    def retry_after(self) -> float | None:
        return 0.0 if self.allowed else self.deciding.retry_after

    @property
    def delay(self) -> float:
        return max([limit.delay_ms for limit in self.limits]) / 1000

    @property
    def violated(self) -> list[str]:
        """The names of the policies that deny the request."""
        return [] if self.allowed else [limit.policy.label for limit in self.limits if not limit.allowed]

    def headers(self) -> dict[str, str]:
        """The HTTP headers of a response: all policies are listed, and the other figures are those of one of them."""
        deciding, names, items = self.deciding, list[str](), []
        for limit in self.limits:
            name, n = limit.policy.label, 2
            while name in names:
                name, n = f"{limit.policy.label}-{n}", n + 1
            names.append(name)
            items.append(f'"{name}";{limit.policy.quota(limit.at)}')
        found = {"RateLimit-Policy": ", ".join(items)}
        if deciding.source in ("server", "local"):
            found["X-RateLimit-Limit"] = str(deciding.limit)
            found["X-RateLimit-Remaining"] = str(deciding.remaining)
            if deciding.reset_ms >= 0:
                found["X-RateLimit-Reset"] = str(seconds(deciding.at + deciding.reset_ms))
            more = "" if deciding.next_ms < 0 else f";t={min(seconds(deciding.next_ms), MAX_INTEGER)}"
            name = names[self.limits.index(deciding)]
            found["RateLimit"] = f'"{name}";r={min(deciding.remaining, MAX_INTEGER)}{more}'
        if not deciding.allowed and deciding.retry_after_ms >= 0:
            found["Retry-After"] = str(seconds(deciding.retry_after_ms))
        return found


def decided(line: Any, limit: Limit) -> Decision:
    """The decision in the twelve figures of LINE."""
    first, count, _, most, remaining, retry, following, reset, delay, at, shadow, charged = map(int, line.split()[:12])
    # With COST 0 and PARTIAL it charges 0 units in either case.
    allowed = retry == 0 if limit.cost == 0 and "PARTIAL" in limit.words else first > 0
    return Decision(
        allowed, count, most, remaining, retry, following, reset, delay, at, shadow == 1, charged, "server",
        limit.policy,
    )  # fmt: skip


def undecided(allowed: bool, policy: Policy) -> Decision:
    """The decision without one of the server: nothing is known of what remains."""
    at = int(time.time() * 1000)
    retry, source = (0, "allow") if allowed else (1000, "deny")
    return Decision(allowed, 0, policy.limit, 0, retry, -1, -1, 0, at, False, 0, source, policy)


def _strictness(limit: Decision) -> tuple[bool, float, int]:
    """Sort key, the smallest first: denied before allowed, then the longest wait, then the least remaining."""
    wait = float("-inf") if limit.retry_after_ms < 0 else -limit.retry_after_ms
    return limit.allowed, wait, limit.remaining
