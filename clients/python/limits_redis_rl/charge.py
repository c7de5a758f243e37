"""What a reservation charges, and what its settlement sends. The same for asyncio and for threads."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace

from .calls import Call, Limit
from .decision import Decisions
from .policy import LARGEST, RESERVES, milliseconds

# What was used: of all limits with a cost, or of some by the names of their policies or their keys.
Used = int | Mapping[str, int]


class Charge:
    """The limits of a reservation, and its state."""

    decisions: Decisions | None = None
    """What the server said."""
    is_scripted = False
    """Whether scripts decided, which have no reservations."""
    is_sent = True
    """Whether the server may have charged it."""
    is_over = False
    ends = math.inf
    """When the first lease ends, if it is not renewed. The server counts the window from a later moment."""
    is_loss_noted = False
    _is_lost = False

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
        self.leases = [limit for limit in self.limits if limit.policy.algorithm == "LEASE"]
        self.window = min((lease.policy.window_ms for lease in self.leases), default=0) / 1000

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

    def renewals(self) -> list[Call]:
        return [Call("RENEW", [replace(lease, words=(lease.policy.window, self.id))]) for lease in self.leases]

    def taken(self, sent: float, decisions: Decisions) -> None:
        """The leases are held, unless shadow mode has allowed what takes none."""
        shadowed = [limit for limit, each in zip(self.limits, decisions.limits, strict=True) if each.is_shadow]
        self.leases = [lease for lease in self.leases if lease not in shadowed]
        self.renewed(sent, True)

    def renewed(self, sent: float, is_held: bool) -> None:
        if self.leases and not self.is_lost:
            self._is_lost, self.ends = not is_held, sent + self.window

    @property
    def is_lost(self) -> bool:
        # A late reply does not undo that a lease was lost: its holder may have acted on it.
        if not self.is_over and time.monotonic() >= self.ends:
            self._is_lost = True
        return self._is_lost

    def pause(self, part: int) -> float:
        """Until the next renewal: this part of a window, but not longer than the leases last."""
        return max(min(self.window / part, self.ends - time.monotonic()), 0.001)
