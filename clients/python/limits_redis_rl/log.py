"""The counters and the log of one limiter."""

from __future__ import annotations

import logging
import time
from collections import Counter
from dataclasses import dataclass, field

from .errors import is_unavailable, kind

logger = logging.getLogger("limits_redis_rl")


@dataclass
class Counters:
    """What happened since the start. Export these figures."""

    allowed: int = 0
    """By the server, as `denied`."""
    denied: int = 0
    local: int = 0
    """The server could not decide, and the limit of this process did."""
    failed_open: int = 0
    """The server could not decide, and the request was allowed; `failed_closed`: it was not."""
    failed_closed: int = 0
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

    def line(self, level: int, what: str, more: str = "", of: str = "") -> None:
        now, kind = time.monotonic(), what + of
        if now - self._last.get(kind, -1.0) < 1:
            self._left_out[kind] += 1
            return
        self._last[kind] = now
        left_out = self._left_out.pop(kind, 0)
        logger.log(level, "%s%s%s", what, more, f" (and {left_out} more)" if left_out else "")

    def write(self, level: int, what: str, error: BaseException) -> None:
        text = " ".join(str(error).split()) or "no reply"
        self.line(level, what, f": {type(error).__name__}: {text}", kind(error))

    def failed(self, error: BaseException, outcome: str) -> None:
        """Says what happens without a decision. An error about a call is in the log already."""
        if is_unavailable(error):
            self.write(logging.WARNING, f"no decision, {outcome}", error)

    def rejected(self, error: BaseException) -> None:
        """An error about a call, which is never allowed."""
        self.counters.faults += 1
        self.write(logging.ERROR, "the call was rejected, a fault of the configuration", error)
