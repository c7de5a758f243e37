"""What limits says of a limit."""

from __future__ import annotations

import functools

from limits.limits import GRANULARITIES

from .decision import Decision
from .policy import LARGEST, Policy


@functools.lru_cache(maxsize=1000)
def policy(algorithm: str, window: int, limit: int) -> Policy:
    """The policy of a limit, which is made once. The key of limits has its window."""
    return Policy(algorithm, window, min(limit, LARGEST), name=algorithm.lower())


def counted(decision: Decision) -> int:
    """The count for limits, which does not know the smaller limit of this process."""
    return decision.policy.limit - decision.remaining if decision.source == "local" else decision.count


def limit_in(key: str) -> tuple[int, int]:
    """The limit and the window of a fixed window. limits passes neither, but they are the last parts of the key."""
    try:
        amount, multiples, granularity = key.rsplit("/", 3)[1:]
        return int(amount), int(multiples) * GRANULARITIES[granularity].GRANULARITY.seconds
    except (ValueError, KeyError):
        raise ValueError("the key does not end as RateLimitItem.key_for writes it: /amount/multiples/unit") from None
