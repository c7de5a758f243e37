"""What the storages for limits share.

Their fixed window is RL.FIXED, their moving window RL.ROLLING, their sliding window counter RL.COUNTER.

Every storage has keys of its own for each algorithm, ``<key_prefix>:<algorithm>:{<key>}``.
"""

from __future__ import annotations

import functools
import re
import time
from typing import Any
from urllib.parse import unquote, urlsplit

from limits.errors import ConfigurationError
from limits.limits import GRANULARITIES

from .decision import Decision
from .policy import LARGEST, Policy

# Seconds. The client of redis waits for ever if it is not told otherwise.
TIMEOUTS = {"socket_timeout": 0.1, "socket_connect_timeout": 0.1}


@functools.lru_cache(maxsize=1000)
def policy(algorithm: str, window: int, limit: int) -> Policy:
    """The policy of a limit, which is made once. The key of limits has its window."""
    return Policy(algorithm, window, min(limit, LARGEST), name=algorithm.lower())


def fixed_count(decision: Decision, limit: int) -> int:
    """The counter that makes ``counter <= limit`` the decision.

    A denied cost above what is left is not counted, and a limit in shadow mode allows more than it says.
    """
    return min(decision.count, limit) if decision.allowed else max(decision.count, limit + 1)


def counted(decision: Decision) -> int:
    """The count for limits, which does not know the smaller limit of this process."""
    return decision.policy.limit - decision.remaining if decision.source == "local" else decision.count


def moving_window(decision: Decision, window: int) -> tuple[float, int]:
    """limits adds the window to the start to know when more is available."""
    start = time.time() + decision.next_ms / 1000 - window if decision.count else time.time()
    return start, counted(decision)


def sliding_window(decision: Decision, window: int) -> tuple[int, float, int, float]:
    """Counter and time to live of the previous and of the current window, if the limit is the largest.

    From those of the previous one, limits computes what the server has computed already: the count,
    ``counter * ttl / window``, rounded down, and the time until more is available, ``ttl % (window / counter)``.
    That time may be longer than a window, but not than two. So the counter is 1/4, and the ttl has both: a window
    of four for each unit, and the time.
    """
    count = decision.limit - decision.remaining if decision.count else 0
    return 0.25 if count else 0, count * 4 * window + decision.next_ms / 1000, 0, 0.0  # type: ignore[return-value]


def limit_in(key: str) -> tuple[int, int]:
    """The limit and the window of a fixed window. limits passes neither, but they are the last parts of the key."""
    parts = key.rsplit("/", 3)[1:]
    try:
        amount, multiples, granularity = parts
        return int(amount), int(multiples) * GRANULARITIES[granularity].GRANULARITY.seconds
    except (ValueError, KeyError):
        raise ValueError("the key does not end as RateLimitItem.key_for writes it: /amount/multiples/unit") from None


def pattern(key_prefix: str) -> str:
    """The keys of a storage."""
    return re.sub(r"([\\*?\[\]])", r"\\\1", key_prefix) + ":*"


def redis_uri(uri: str) -> str:
    """``redis-rl://`` -> ``redis://``, ``rediss-rl://`` -> ``rediss://``, ``redis-rl+unix://`` -> ``unix://``"""
    scheme, rest = uri.split("://", 1)
    return f"{'unix' if scheme.endswith('+unix') else scheme.removesuffix('-rl')}://{rest}"


def safe(uri: str) -> dict[str, Any]:
    """Options of the client: a timeout, and no command is sent again, since the server may have charged it."""
    timeouts = {"socket_timeout": TIMEOUTS["socket_timeout"]} if uri.startswith("unix:") else TIMEOUTS
    return {"retry": None, **timeouts}


def cluster(uri: str) -> tuple[list[tuple[str, int]], dict[str, Any]]:
    """The nodes of a URI, and the user."""
    user, _, hosts = urlsplit(uri).netloc.rpartition("@")
    username, _, password = map(unquote, user.partition(":"))
    auth = {"username": username, "password": password}
    try:
        locations = [(host, int(port)) for host, _, port in (part.rpartition(":") for part in hosts.split(","))]
    except ValueError:
        raise ConfigurationError("expected redis-rl+cluster://[[user]:password@]host:port[,host:port …]") from None
    return locations, {name: value for name, value in auth.items() if value}
