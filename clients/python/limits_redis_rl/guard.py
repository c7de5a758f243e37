"""What the storages and the middleware share: which errors mean what, a circuit breaker, counters and a log."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import redis
from redis.exceptions import AuthorizationError, ClusterError, RedisClusterException, SlotNotCoveredError

logger = logging.getLogger("limits_redis_rl")
T = TypeVar("T")

# Replies of a server that works, but cannot decide now.
CANNOT_DECIDE = {
    "BUSY",
    "CLUSTERDOWN",
    "LOADING",
    "MASTERDOWN",
    "MISCONF",
    "NOREPLICAS",
    "OOM",
    "READONLY",
    "TRYAGAIN",
}
TOO_MANY_CLIENTS = "max number of clients"

# redis-py before 6 takes the code from the text of these errors, and does not keep it.
CODES: list[tuple[type[Exception], str]] = [
    (redis.AuthenticationError, "WRONGPASS"),
    (redis.OutOfMemoryError, "OOM"),
    (redis.ReadOnlyError, "READONLY"),
    (redis.BusyLoadingError, "LOADING"),
    (redis.exceptions.NoPermissionError, "NOPERM"),
    (redis.exceptions.MasterDownError, "MASTERDOWN"),
    (redis.exceptions.ClusterDownError, "CLUSTERDOWN"),
    (redis.exceptions.TryAgainError, "TRYAGAIN"),
    (redis.exceptions.ClusterCrossSlotError, "CROSSSLOT"),
    (redis.exceptions.MovedError, "MOVED"),
]

# A longer key is replaced by hashes.
LONGEST_KEY = 512
LONGEST_PART = 128


# The largest integer of the server.
LARGEST = 2**63 - 1


class CircuitOpen(redis.ConnectionError):
    """Earlier requests had no reply, so this one was not sent."""


class Overloaded(redis.TimeoutError):
    """All connections of the client were in use, and then the time was over.

    The server may work, and whoever sends many requests at once causes this. So such a request is never allowed.
    """

    def __init__(self, text: str, is_sent: bool = False) -> None:
        super().__init__(text)
        self.is_sent = is_sent


# What the pools of redis-py raise if all connections are in use, before version 6 and if they wait for one.
POOL_IS_FULL = ("Too many connections", "No connection available.")


def is_pool_full(error: BaseException) -> bool:
    """Whether all connections of the client were in use, so nothing was sent."""
    if isinstance(error, redis.exceptions.MaxConnectionsError):
        return True
    return type(error) is redis.ConnectionError and str(error) in POOL_IS_FULL


def kind(error: BaseException) -> str:
    """The code of an error reply (``WRONGTYPE``, ``ERR`` …), or ``timeout``, ``connection``, ``circuit open``,
    ``overload``."""
    if isinstance(error, CircuitOpen):
        return "circuit open"
    if isinstance(error, Overloaded) or is_pool_full(error):
        return "overload"
    if isinstance(error, (redis.TimeoutError, asyncio.TimeoutError, TimeoutError)):
        return "timeout"
    for known, code in CODES:
        if isinstance(error, known):
            return code
    if isinstance(error, redis.ResponseError):
        first = str(error).split(" ", 1)[0]
        return first if first.isalpha() and first.isupper() else "ERR"
    if is_unavailable(error):
        return "connection"
    return type(error).__name__


def is_unavailable(error: BaseException) -> bool:
    """Whether the server cannot decide now. Every other error is a fault of the configuration or of the request."""
    if isinstance(error, (redis.AuthenticationError, AuthorizationError)):
        return False
    if isinstance(error, redis.ResponseError):
        return kind(error) in CANNOT_DECIDE or TOO_MANY_CLIENTS in str(error)
    if isinstance(error, RedisClusterException):
        # No node could be asked for the slots, or no node has this one. Others are about the command.
        cause = error.__cause__
        return isinstance(error, SlotNotCoveredError) or (cause is not None and is_unavailable(cause))
    return isinstance(error, (redis.ConnectionError, redis.TimeoutError, ClusterError, asyncio.TimeoutError, OSError))


def is_failure(error: BaseException) -> bool:
    """Whether the breaker counts it: there was no reply."""
    return kind(error) in ("timeout", "connection")


def may_fail_open(error: BaseException) -> bool:
    """Whether a request may be allowed after this error: the server cannot decide."""
    return is_unavailable(error) and kind(error) != "overload"


def describe(error: BaseException) -> str:
    """The name and the text of an error, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split()) or 'no reply'}"


def bounded(key: str | bytes | int) -> bytes:
    """The key, or if it is longer than 512 bytes one that is not: a request must not decide how long keys are.

    The parts before, in and after a hash tag are replaced by their SHA-256 if they are long.
    """
    if isinstance(key, bool) or not isinstance(key, (str, bytes, int)):
        # str(None) would be a key that all callers without a name share.
        raise TypeError(f"key: expected str, bytes or int, not {type(key).__name__}")
    data = key if isinstance(key, bytes) else str(key).encode()
    if len(data) <= LONGEST_KEY:
        return data
    before, opening, rest = data.partition(b"{")
    tag, closing, after = rest.partition(b"}")
    return b"".join(
        part if len(part) <= LONGEST_PART else hashlib.sha256(part).hexdigest().encode()
        for part in (before, opening, tag, closing, after)
    )


def capped(cost: str | bytes | int) -> str | bytes | int:
    """The cost, or if the server could not read it for its length the largest, which it denies: a cost may come from a
    request, and must not look like a fault of the configuration."""
    if isinstance(cost, int):
        return min(cost, LARGEST)
    if not isinstance(cost, (str, bytes)):
        return cost  # the client rejects it
    digits = cost.encode() if isinstance(cost, str) else cost
    return LARGEST if digits.isdigit() and (len(digits) > 19 or int(digits) > LARGEST) else cost


def keyed_hash(secret: str | bytes) -> Callable[[str | bytes], str]:
    """A function that makes the part of a key of an address or a name: 32 hexadecimal digits of HMAC-SHA-256.

    Nobody who sees the keys learns the address, and the length is the same whatever a client sends. All processes need
    the same secret.
    """
    secret = secret.encode() if isinstance(secret, str) else secret
    if not secret:
        raise ValueError("secret: expected at least one byte")

    def hashed(value: str | bytes) -> str:
        data = value.encode() if isinstance(value, str) else value
        return hmac.new(secret, data, hashlib.sha256).hexdigest()[:32]

    return hashed


@dataclass
class Counters:
    """What happened since the start. Export these figures."""

    allowed: int = 0
    """The server allowed the request."""
    denied: int = 0
    """The server denied the request."""
    failed_open: int = 0
    """The server could not decide, and the request was allowed."""
    failed_closed: int = 0
    """The server could not decide, or all connections were in use, and the request was not allowed."""
    faults: int = 0
    """The server rejected the call: the configuration is wrong. The request was not allowed, or what was reserved was
    not settled or renewed."""
    unsettled: int = 0
    """Reservations that the server did not settle: it rejected that, or did not reply for too long. The estimate stays
    charged until it ends by itself."""
    leases_lost: int = 0
    """Reservations of which a lease ended before they did. Another holder may have been allowed."""
    errors: Counter[str] = field(default_factory=Counter)
    """Calls without a decision by :func:`kind` of error."""


class Breaker:
    """After some calls in a row without a reply, no call is sent for a while. Then one call tries the server."""

    def __init__(self, failures: int = 5, open_for: float = 1.0) -> None:
        self._limit = failures
        self._open_for = open_for
        self._failures = 0
        self._until = 0.0
        self._lock = threading.Lock()

    def permits(self) -> bool:
        if not self._until:
            return True
        with self._lock:
            now = time.monotonic()
            if now < self._until:
                return False
            # The others wait for this one to be over.
            self._until = now + self._open_for
            return True

    def is_open(self) -> bool:
        return time.monotonic() < self._until

    def succeeded(self) -> None:
        if self._failures or self._until:
            with self._lock:
                self._failures = 0
                self._until = 0.0

    def failed(self) -> None:
        with self._lock:
            self._failures += 1
            if self._limit and self._failures >= self._limit:
                self._until = time.monotonic() + self._open_for


class SlowLog:
    """Logs at most one line a second of each kind, with the number of those that were left out."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}
        self._left_out: Counter[str] = Counter()
        self._lock = threading.Lock()

    def write(self, level: int, outcome: str, error: BaseException) -> None:
        name = f"{outcome}: {kind(error)}"
        with self._lock:
            now = time.monotonic()
            if now - self._last.get(name, -1.0) < 1:
                self._left_out[name] += 1
                return
            self._last[name] = now
            more = self._left_out.pop(name, 0)
        logger.log(level, "%s: %s%s", outcome, describe(error), f" (and {more} more)" if more else "")


class Guard:
    """The breaker, the counters and the log of one storage or middleware."""

    def __init__(self, counters: Counters | None = None) -> None:
        self.counters = Counters() if counters is None else counters
        self.breaker = Breaker()
        self._log = SlowLog()

    def enter(self) -> None:
        """Raises :class:`CircuitOpen` if no call may be sent now."""
        if not self.breaker.permits():
            raise CircuitOpen("earlier requests had no reply, so this one was not sent")

    def replied(self) -> None:
        self.breaker.succeeded()

    def failed(self, error: BaseException, outcome: str) -> bool:
        """Counts and logs why there is no decision. Whether the server cannot decide now.

        :param outcome: what the request gets if so, such as ``failing open``
        """
        unavailable = is_unavailable(error)
        what = kind(error)
        self.counters.errors[what] += 1
        if is_failure(error):
            self.breaker.failed()
        elif what not in ("circuit open", "overload"):
            self.breaker.succeeded()
        if unavailable:
            self._log.write(logging.WARNING, f"no decision, {outcome}", error)
        else:
            self._log.write(logging.ERROR, "the call was rejected, a fault of the configuration", error)
        return unavailable

    def lost(self, id: str) -> None:
        """Counts and logs that a lease ended before its reservation."""
        self.counters.leases_lost += 1
        self.log(logging.WARNING, "a lease has ended", LeaseLost(f"the reservation {id} goes on without it"))

    def log(self, level: int, outcome: str, error: BaseException) -> None:
        self._log.write(level, outcome, error)


class LeaseLost(Exception):
    """For the log only."""


def connected(client: Any, call: Callable[[], T]) -> T:
    """The reply to a call, which waits while all connections of the client are in use, for its `socket_timeout`."""
    pause, until = 0.002, None
    while True:
        try:
            return call()
        except redis.ConnectionError as error:
            if not is_pool_full(error):
                raise
            now = time.monotonic()
            if until is None:
                longest = patience(client)
                until = now + longest
            if now >= until:
                raise Overloaded(f"no connection was free within {longest} s") from None
        time.sleep(pause * random.uniform(0.5, 1))
        pause = min(pause * 2, 0.032)


def patience(client: Any) -> float:
    """How many seconds a client waits for a reply; 1 if it has no `socket_timeout`."""
    pool = getattr(client, "connection_pool", None)
    options = client.get_connection_kwargs() if pool is None else pool.connection_kwargs
    return float(options.get("socket_timeout") or 1)


def retries_of(client: object) -> int:
    """How often the client sends a command again after an error."""
    pool = getattr(client, "connection_pool", None)
    if pool is not None:
        # Some options make the connection send again, whatever `retry` is. This one is never connected.
        connection = pool.connection_class(**pool.connection_kwargs)
        return int(getattr(getattr(connection, "retry", None), "_retries", 0))
    get_retry = getattr(client, "get_retry", None)
    retry = get_retry() if get_retry else getattr(client, "retry", None)
    if retry is None:
        return int(getattr(client, "cluster_error_retry_attempts", 0) or 0)
    return int(getattr(retry, "_retries", 0))
