"""What the storages for limits share.

Their fixed window is RL.FIXED, their moving window RL.ROLLING, their sliding window counter RL.COUNTER.

Every storage has keys of its own for each algorithm, ``<prefix>:<algorithm>:<key>``.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from limits.errors import ConfigurationError
from limits.limits import GRANULARITIES

from .keys import EXACT

# Seconds. The client of redis waits for ever if it is not told otherwise.
TIMEOUTS = {"socket_timeout": 0.1, "socket_connect_timeout": 0.1}


@dataclass(frozen=True)
class Figures:
    """What this module uses of a reply with FULL."""

    allowed: bool
    count: int
    remaining: int
    next: float
    reset: float
    retry_after: float | None
    """``None`` for never."""

    @classmethod
    def of(cls, reply: Any) -> Figures:
        # A map on RESP3, a flat array on RESP2; names are bytes unless the client decodes replies.
        # Figures that are not known here may follow.
        pairs = reply.items() if isinstance(reply, dict) else zip(reply[::2], reply[1::2], strict=True)
        fields: dict[str, Any] = {name.decode() if isinstance(name, bytes) else name: value for name, value in pairs}
        return cls(
            allowed=int(fields["allowed"]) == 1,
            count=int(fields["count"]),
            remaining=int(fields["remaining"]),
            next=int(fields["next_ms"]) / 1000,
            reset=int(fields["reset_ms"]) / 1000,
            retry_after=wait / 1000 if (wait := int(fields["retry_after_ms"])) >= 0 else None,
        )

    def fixed_count(self, limit: int) -> int:
        """The counter that makes ``counter <= limit`` the module's decision.

        A denied cost above what is left is not counted, and a limit in shadow mode allows more than it says.
        """
        return min(self.count, limit) if self.allowed else max(self.count, limit + 1)

    def moving_window(self, window: int) -> tuple[float, int]:
        """limits adds the window to the start to know when more is available."""
        return (time.time() + self.next - window if self.count else time.time()), self.count

    def sliding_window(self, window: int) -> tuple[int, float, int, float]:
        """Counter and time to live of the previous and of the current window, if the limit is the largest.

        From those of the previous one, limits computes what the module has computed already: the count,
        ``counter * ttl / window``, rounded down, and the time until more is available, ``ttl % (window / counter)``.
        That time may be longer than a window, but not than two. So the counter is 1/4, and the ttl has both: a window
        of four for each unit, and the time.
        """
        count = EXACT - self.remaining
        return 0.25 if count else 0, count * 4 * window + self.next, 0, 0.0  # type: ignore[return-value]


def limit_in(key: str) -> tuple[int, int]:
    """The limit and the window of a fixed window. limits passes neither, but they are the last parts of the key."""
    parts = key.rsplit("/", 3)[1:]
    try:
        amount, multiples, granularity = parts
        return int(amount), int(multiples) * GRANULARITIES[granularity].GRANULARITY.seconds
    except (ValueError, KeyError):
        raise ValueError("the key does not end as RateLimitItem.key_for writes it: /amount/multiples/unit") from None


def patterns(key_prefix: str) -> list[str]:
    """The keys of a storage. In a cluster, FIXED puts the key in braces."""
    prefix = re.sub(r"([\\*?\[\]])", r"\\\1", key_prefix)
    return [f"{prefix}:*", f"{{{prefix}:*"]


def redis_uri(uri: str) -> str:
    """``redis-rl://`` -> ``redis://``, ``rediss-rl://`` -> ``rediss://``, ``redis-rl+unix://`` -> ``unix://``"""
    scheme, rest = uri.split("://", 1)
    return f"{'unix' if scheme.endswith('+unix') else scheme.removesuffix('-rl')}://{rest}"


def safe(uri: str) -> dict[str, Any]:
    """Options of the client: a timeout, and no command is sent again, since the server may have charged it."""
    timeouts = {"socket_timeout": TIMEOUTS["socket_timeout"]} if uri.startswith("unix:") else TIMEOUTS
    return {"retry": None, **timeouts}


def cluster(uri: str) -> tuple[list[tuple[str, int]], dict[str, Any]]:
    user, _, hosts = urlsplit(uri).netloc.rpartition("@")
    username, _, password = map(unquote, user.partition(":"))
    auth = {"username": username, "password": password}
    try:
        locations = [(host, int(port)) for host, _, port in (part.rpartition(":") for part in hosts.split(","))]
    except ValueError:
        raise ConfigurationError("expected redis-rl+cluster://[[user]:password@]host:port[,host:port …]") from None
    return locations, {name: value for name, value in auth.items() if value}
