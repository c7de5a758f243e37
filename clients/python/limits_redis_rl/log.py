"""The counters and the log of one limiter."""

from __future__ import annotations

import logging
import time
from collections import Counter
from dataclasses import dataclass, field

from .errors import describe, kind

logger = logging.getLogger("limits_redis_rl")


@dataclass
class Counters:
    """What happened since the start. Export these figures."""

    allowed: int = 0
    """The server allowed the request."""
    denied: int = 0
    """The server denied the request."""
    local: int = 0
    """The server could not decide, and the limit of this process did."""
    failed_open: int = 0
    """The server could not decide, and the request was allowed."""
    failed_closed: int = 0
    """The server could not decide, and the request was not allowed."""
    faults: int = 0
    """The server rejected the call: the configuration is wrong. The request was not allowed, or what was reserved was
    not settled or renewed."""
    unsettled: int = 0
    """Reservations that the server did not settle: it rejected that, or did not reply for too long. The estimate stays
    charged until it ends by itself."""
    leases_lost: int = 0
    """Reservations of which a lease ended before they did. Another holder may have been allowed."""
    errors: Counter[str] = field(default_factory=Counter)
    """Calls without a reply, and error replies, by code: ``WRONGTYPE``, ``ERR``, ``timeout``, ``connection`` …"""


class Log:
    """Writes at most one line a second of each kind, with the number of those that were left out."""

    def __init__(self, counters: Counters) -> None:
        self.counters = counters
        self._last: dict[str, float] = {}
        self._left_out: Counter[str] = Counter()

    def write(self, level: int, what: str, error: BaseException) -> None:
        self._write(level, f"{what}: {kind(error)}", f"{what}: {describe(error)}")

    def _write(self, level: int, name: str, text: str) -> None:
        now = time.monotonic()
        if now - self._last.get(name, -1.0) < 1:
            self._left_out[name] += 1
            return
        self._last[name] = now
        more = self._left_out.pop(name, 0)
        logger.log(level, "%s%s", text, f" (and {more} more)" if more else "")

    def rejected(self, error: BaseException) -> None:
        """An error about a request, which is never allowed."""
        self.counters.faults += 1
        self.write(logging.ERROR, "the call was rejected, a fault of the configuration", error)

    def changed(self, text: str) -> None:
        """Says who decides, when that changes."""
        self._write(logging.WARNING, text, text)
