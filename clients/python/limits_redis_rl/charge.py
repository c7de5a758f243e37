"""What a reservation sends, and what it was told. The same for asyncio and for threads."""

from __future__ import annotations

import math
import re
import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .errors import CircuitOpen, Overloaded, is_unavailable
from .keys import bounded, capped

# The words of one limit: ("ROLLING", "{org:7}:tokens", "1m", 90000, "COST", 3500, "AS", "tokens")
Policy = Sequence[str | bytes | int]
Words = list[str | bytes | int]
# What was used: of all limits with COST, or of some by their keys.
Used = int | Mapping[str, int] | Mapping[bytes, int]

RESERVES = ("FIXED", "WINDOW", "COUNTER", "ROLLING")
# The largest usage that is settled: no limit has so many units, and what is counted has room for more.
MOST_USED = 2**62
UNITS = {"": 1000, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


@dataclass(frozen=True)
class Decision:
    """What the server replied to a request for a reservation."""

    allowed: bool
    """Whether the request is allowed."""
    limits: list[tuple[int, int, int]] = field(default_factory=list)
    """``allowed``, ``count`` and ``ttl`` of each limit; empty without a decision of the server."""
    headers: dict[str, str] = field(default_factory=dict)
    """The HTTP headers of the limits, with ``Retry-After`` on a denial that can be allowed later."""


def milliseconds(window: str | int) -> int:
    """The length of a window as the module writes it: ``500ms``, ``10s``, ``5m``, ``1h``, ``1d``, or seconds."""
    found = re.fullmatch(r"([1-9][0-9]*)(|ms|s|m|h|d)", str(window))
    if found is None or isinstance(window, bool):
        raise ValueError(f"{window!r}: expected a positive integer of seconds, or one with ms, s, m, h or d")
    return int(found[1]) * UNITS[found[2]]


def listed(policies: object) -> list[Policy]:
    """The policies; none for ``None``. Rejects one policy where a list is expected."""
    found: list[Any] = [] if policies is None else list(policies) if isinstance(policies, Iterable) else [policies]
    for policy in found:
        if isinstance(policy, (str, bytes)) or not isinstance(policy, Sequence) or len(policy) < 4:
            raise ValueError(
                "policies: expected a list of limits, each with an algorithm, a key, a window, a limit, and options: "
                '[("TOKEN", "user:42", "1m", 60)]'
            )
    return found


def _text(value: str | bytes | int) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _units(used: object) -> int:
    if isinstance(used, bool) or not isinstance(used, int) or used < 0:
        raise ValueError("used: expected an integer of at least 0, or one for each of some keys")
    return used


@dataclass(frozen=True)
class Limit:
    """One limit of a reservation."""

    algorithm: str
    key: bytes
    window: str
    limit: str | bytes | int
    options: tuple[str | bytes | int, ...]
    cost: int | None
    """The estimate; ``None`` if the limit counts the request."""
    anchor: int | None

    @classmethod
    def of(cls, policy: Policy) -> Limit:
        algorithm, key, window, limit, *options = policy
        name = _text(algorithm).upper()
        if name not in (*RESERVES, "LEASE"):
            raise ValueError(f"policy: {name} takes no reservation; expected {', '.join(RESERVES)} or LEASE")
        values: dict[str, str | bytes | int] = {}
        words = iter(range(len(options)))
        for at in words:
            if (option := _text(options[at]).upper()) in ("COST", "ANCHOR", "AS") and at + 1 < len(options):
                # The server rejects an option without its value.
                value = next(words)
                if option == "COST":
                    options[value] = capped(options[value])
                values[option] = options[value]
        cost, anchor = (int(values[option]) if option in values else None for option in ("COST", "ANCHOR"))
        return cls(name, bounded(key), _text(window), limit, tuple(options), cost, anchor)


class Charge:
    """What a reservation sends."""

    def __init__(self, policies: Iterable[Policy], ttl: str | int, id: str | None) -> None:
        self.limits = [Limit.of(policy) for policy in listed(policies)]
        if not self.limits:
            raise ValueError("policies: expected at least one")
        self.ttl = milliseconds(ttl)
        self.is_new = id is None
        self.id = str(uuid.uuid4()) if id is None else id
        if not 1 <= len(self.id.encode()) <= 128:
            raise ValueError("id: expected 1 to 128 bytes")
        self.leases = [limit for limit in self.limits if limit.algorithm == "LEASE"]
        self.window = min((milliseconds(lease.window) for lease in self.leases), default=0) / 1000
        # When the first lease ends, if it is not renewed. The server counts the window from a later moment.
        self.ends = math.inf
        self.doubtful: list[Limit] = []
        self.estimated = {limit.key for limit in self.limits if limit.cost is not None}
        self.is_sent = True
        self.is_over = False
        self.is_counted = False
        self._is_lost = False

    def reserve(self) -> Words:
        words: Words = ["RL.MULTI", len(self.limits)]
        for limit in self.limits:
            words += [limit.algorithm, limit.key, limit.window, limit.limit, *limit.options]
            words += ["ID", self.id] if limit.algorithm == "LEASE" else ["RESERVE", self.id, f"{self.ttl}ms"]
        return [*words, "HEADERS"]

    def used(self, used: Used) -> dict[bytes, int]:
        """What was used of each limit with COST that is named."""
        if not isinstance(used, Mapping):
            return dict.fromkeys(self.estimated, _units(used))
        named = {bounded(key): _units(units) for key, units in used.items()}
        if named.keys() - self.estimated:
            raise ValueError("used: expected keys of limits with COST")
        return named

    def settle(self, used: Mapping[bytes, int], charged: bool) -> list[Words]:
        """The calls that end it. They may be sent again. The leases come first, since others wait for them."""
        calls: list[Words] = [["RL.RELEASE", lease.key, self.id] for lease in self.leases]
        for limit in self.limits:
            if limit.algorithm != "LEASE":
                charge = 1 if limit.cost is None else min(used.get(limit.key, limit.cost), MOST_USED)
                words: Words = ["RL.SETTLE", limit.algorithm, limit.key, limit.window, limit.limit]
                words += ["RESERVATION", self.id, "ACTUAL", charge if charged else 0]
                calls.append(words if limit.anchor is None else [*words, "ANCHOR", limit.anchor])
        return calls

    def reached(self, error: Exception) -> None:
        """Notes whether the server may have charged it after an error. What was not sent is not charged; but an earlier
        call with a given id may have been."""
        is_sent = not isinstance(error, CircuitOpen) and not (isinstance(error, Overloaded) and not error.is_sent)
        self.is_sent = is_sent or not self.is_new

    def renew(self) -> list[Words]:
        return [["RL.RENEW", lease.key, lease.window, self.id] for lease in self.leases]

    @property
    def is_lost(self) -> bool:
        # A late reply does not undo that a lease was lost: its holder may have acted on it.
        if not self.is_over and time.monotonic() >= self.ends:
            self._is_lost = True
        return self._is_lost

    def count_lost(self, lost: Callable[[str], None]) -> bool:
        """Whether a lease is lost. The first time, `lost` is called with the id."""
        if self.is_lost and not self.is_counted:
            self.is_counted = True
            lost(self.id)
        return self.is_lost

    def taken(self, sent: float, decision: Decision) -> None:
        """The leases are held, unless shadow mode has allowed what takes none."""
        for limit, (_, count, _) in zip(self.limits, decision.limits, strict=False):
            if limit in self.leases and count >= int(limit.limit):
                # A lease that this id holds already is renewed above the limit too. The first renewal tells.
                (self.leases.remove if self.is_new else self.doubtful.append)(limit)
        if self.leases:
            self.ends = sent + self.window

    def renewed(self, sent: float, replies: list[Any]) -> None:
        if self.is_lost:
            return
        for lease, reply in zip(list(self.leases), replies, strict=True):
            if reply == 0 and lease in self.doubtful:
                self.leases.remove(lease)
            elif reply == 0:
                self._is_lost = True
        self.doubtful.clear()
        self.ends = sent + self.window if self.leases else math.inf

    def pause(self, part: int) -> float:
        """Until the next renewal: this part of a window, but not longer than the leases last."""
        return max(min(self.window / part, self.ends - time.monotonic()), 0.001)


def attempts(policies: Iterable[Policy]) -> list[Any]:
    """The words of the limits of a login."""
    found = []
    for algorithm, key, window, limit, *options in listed(policies):
        if _text(algorithm).upper() != "LOCKOUT":
            raise ValueError(f"policy: expected LOCKOUT, not {_text(algorithm)}")
        found.append(["LOCKOUT", bounded(key), window, limit, *options])
    return found


def locks(words: Sequence[Any]) -> Words:
    """The options of a limit that RL.REFUND takes too."""
    found: Words = []
    options = iter(words[4:])
    for option in options:
        # The others have a value.
        if _text(option).upper() != "SHADOW":
            value = next(options, "")
            found += [option, value] if _text(option).upper() in ("BLOCK", "MAX") else []
    return found


def decision_of(reply: Any) -> Decision:
    allowed, limits, headers = reply
    words = [_text(word) for word in headers]
    triples = [(int(limit[0]), int(limit[1]), int(limit[2])) for limit in limits]
    return Decision(allowed == 1, triples, dict(zip(words[::2], words[1::2], strict=True)))


def worst(replies: list[Any]) -> list[Any]:
    """The replies of a pipeline, or the error of it that decides whether it is sent again."""
    errors = [reply for reply in replies if isinstance(reply, Exception)]
    for error in errors:
        if is_unavailable(error):
            raise error
    if errors:
        raise errors[0]
    return replies


def key_in(calls: list[Words]) -> bytes:
    """The first key of these calls. The keys of a reservation are in one slot."""
    name, *words = calls[0]
    key = words[1 if name in ("RL.SETTLE", "RL.RESET", "RL.REFUND") else 0]
    assert isinstance(key, bytes)
    return key
