"""What a reservation charges, and what its settlement sends. The same for asyncio and for threads."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace

from .calls import Call, Limit
from .decision import Decisions
from .errors import CircuitOpen, Overloaded
from .policy import LARGEST, RESERVES, milliseconds

# What was used: of all limits with a cost, or of some by the names of their policies or their keys.
Used = int | Mapping[str, int]


class Charge:
    """The limits of a reservation, and its state."""

    def __init__(self, limits: Iterable[Limit], ttl: str | int) -> None:
        self.ttl = milliseconds("ttl", ttl)
        self.id = str(uuid.uuid4())
        self.limits: list[Limit] = []
        for limit in limits:
            if limit.policy.algorithm not in (*RESERVES, "LEASE"):
                expected = f"expected {', '.join(RESERVES)} or LEASE"
                raise ValueError(f"policy: {limit.policy.algorithm} takes no reservation; {expected}")
            is_lease = limit.policy.algorithm == "LEASE"
            words = {"words": ("ID", self.id)} if is_lease else {"reserve": ("RESERVE", self.id, f"{self.ttl}ms")}
            self.limits.append(replace(limit, **words))
        if not self.limits:
            raise ValueError("limits: expected at least one")
        self.leases = [limit for limit in self.limits if limit.policy.algorithm == "LEASE"]
        self.window = min((lease.policy.window_ms for lease in self.leases), default=0) / 1000
        # When the first lease ends, if it is not renewed. The server counts the window from a later moment.
        self.ends = math.inf
        self.decisions: Decisions | None = None
        """What the server said."""
        self.is_scripted = False
        """Whether scripts decided, which have no reservations."""
        self.is_sent = True
        """Whether the server may have charged it."""
        self.is_over = False
        self._is_lost = self._is_counted = False

    def used(self, used: Used) -> dict[int, int]:
        """What was used of each limit with a cost that is named, by its place."""
        estimates = {at: limit for at, limit in enumerate(self.limits) if limit.cost is not None}
        values = list(used.values()) if isinstance(used, Mapping) else [used]
        if any(isinstance(units, bool) or not isinstance(units, int) or units < 0 for units in values):
            raise ValueError("used: expected an integer of at least 0, or one for each of some limits")
        if not isinstance(used, Mapping):
            return dict.fromkeys(estimates, used)
        found = {}
        for name, units in used.items():
            named = [at for at, limit in estimates.items() if name in (limit.policy.name, limit.key)]
            if not named:
                raise ValueError(f"used: expected names or keys of limits with a cost, not {name!r}")
            found.update(dict.fromkeys(named, units))
        return found

    def settle(self, used: Mapping[int, int], charged: bool) -> list[Call]:
        """The calls that end it. The leases come first, since others wait for them."""
        calls = [Call("RELEASE", [replace(lease, words=(self.id,))]) for lease in self.leases]
        for at, limit in enumerate(self.limits):
            if limit.policy.algorithm == "LEASE":
                continue
            units = 1 if limit.cost is None else min(used.get(at, limit.cost), LARGEST)
            actual = ("ACTUAL", str(units if charged else 0))
            if not self.is_scripted:
                calls.append(Call("SETTLE", [limit.correction("RESERVATION", self.id, *actual)]))
            elif self.decisions is not None:
                decision = self.decisions.limits[at]
                words = ("RESERVED", str(decision.charged), *actual, "AT", str(decision.at))
                calls.append(Call("SETTLE", [limit.correction(*words)]))
        return calls

    def may_repeat(self, call: Call, error: Exception) -> bool:
        """Whether a call of a settlement may be sent again after this error. One without an id would settle twice."""
        return not self.is_scripted or call.verb == "RELEASE" or isinstance(error, (CircuitOpen, Overloaded))

    def renew(self) -> list[Call]:
        return [Call("RENEW", [replace(lease, words=(lease.policy.window, self.id))]) for lease in self.leases]

    @property
    def is_lost(self) -> bool:
        # A late reply does not undo that a lease was lost: its holder may have acted on it.
        if not self.is_over and time.monotonic() >= self.ends:
            self._is_lost = True
        return self._is_lost

    def newly_lost(self) -> bool:
        """Whether a lease is lost, the first time. False after that."""
        is_new = self.is_lost and not self._is_counted
        self._is_counted = self.is_lost
        return is_new

    def taken(self, sent: float, decisions: Decisions) -> None:
        """The leases are held, unless shadow mode has allowed what takes none."""
        for limit, decision in zip(self.limits, decisions.limits, strict=True):
            if limit in self.leases and decision.is_shadow:
                self.leases.remove(limit)
        if self.leases:
            self.ends = sent + self.window

    def renewed(self, sent: float, replies: list[int]) -> None:
        if not self.is_lost:
            self._is_lost = 0 in replies
            self.ends = sent + self.window

    def pause(self, part: int) -> float:
        """Until the next renewal: this part of a window, but not longer than the leases last."""
        return max(min(self.window / part, self.ends - time.monotonic()), 0.001)
