"""The limit of this process while the server cannot decide: a plain counter for each key."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence

from .calls import Limit
from .decision import Decision, Decisions

MOST_KEYS = 10_000


class Local:
    """Times are milliseconds of a clock that never goes back."""

    def __init__(self, instances: int) -> None:
        self._instances = instances
        # The units of a key, and when its window ends.
        self._counts: dict[str, tuple[int, float]] = {}
        # Until then a full table stays full.
        self._full_until = 0.0
        self._lock = threading.Lock()

    def decide(self, verb: str, limits: Sequence[Limit], now: float) -> Decisions:
        """Charges all limits or none; of limits that share the first that allows, and those after it."""
        with self._lock:
            found = [self._look(limit, now) for limit in limits]
            allows = [allowed or limit.policy.is_shadow for limit, (allowed, *_) in zip(limits, found, strict=True)]
            allowed = all(allows)
            first = 0 if allowed and verb in ("CHECK", "MULTI") else len(limits)
            if verb == "SHARE":
                first = next((at for at, (fits, *_) in enumerate(found) if fits), len(limits))
                allowed = first < len(limits) or allows[-1]  # what shadow mode allows
            decisions = [
                self._decide(limit, *each, now, at >= first)
                for at, (limit, each) in enumerate(zip(limits, found, strict=True))
            ]
            paid = min(first + 1, len(limits)) if allowed else 0
            return Decisions(allowed, decisions, paid if verb == "SHARE" else None)

    def refund(self, limit: Limit) -> None:
        with self._lock:
            if limit.key in self._counts:
                used, end = self._counts[limit.key]
                self._counts[limit.key] = max(used - limit.units, 0), end

    def _decide(
        self, limit: Limit, allowed: bool, most: int, used: int, end: float, now: float, charges: bool
    ) -> Decision:
        # The wider limits of those that share are charged whatever they say.
        units = limit.units if charges and (allowed or not limit.policy.is_shadow) else 0
        if units and (limit.key in self._counts or len(self._counts) < MOST_KEYS):
            self._counts[limit.key] = used + units, end
        wait, shadow = math.ceil(end - now), limit.policy.is_shadow
        retry = 0 if allowed else -1 if limit.units > most else wait
        left, at = max(most - used - units, 0), int(time.time() * 1000)
        return Decision(
            allowed or shadow, used, most, left, retry, wait, wait, 0, at, shadow and not allowed, units, "local",
            limit.policy,
        )  # fmt: skip

    def _look(self, limit: Limit, now: float) -> tuple[bool, int, int, float]:
        """Whether the cost is allowed, the most units, those that are used, and when the window ends."""
        policy = limit.policy
        most = min(policy.limit, max(1, policy.limit // self._instances))
        used, end = self._counts.get(limit.key, (0, 0.0))
        is_new = end <= now
        if is_new:
            self._counts.pop(limit.key, None)
            used, end = 0, now + policy.window_ms
        # Only the server knows who holds a lease and who is locked.
        if policy.algorithm in ("LEASE", "LOCKOUT") or (is_new and not self._has_place(now)):
            return False, most, most, end
        return used + limit.units <= most if limit.units else used < most, most, used, end

    def _has_place(self, now: float) -> bool:
        """Whether a new key can be counted. What has ended makes place."""
        if len(self._counts) < MOST_KEYS:
            return True
        if now < self._full_until:
            return False
        self._counts = {key: each for key, each in self._counts.items() if each[1] > now}
        self._full_until = min((end for _, end in self._counts.values()), default=0.0)
        return len(self._counts) < MOST_KEYS
