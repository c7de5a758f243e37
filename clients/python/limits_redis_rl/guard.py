"""What the storages and the middleware share: a circuit breaker, counters and a log."""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar
from weakref import WeakSet

import redis
import redis.asyncio
import redis.asyncio.sentinel
import redis.sentinel

from .errors import CANNOT_DECIDE, describe, is_unavailable, kind, may_fail_open
from .scripts import Scripts

logger = logging.getLogger("limits_redis_rl")
T = TypeVar("T")

SYNC = (redis.Redis, redis.RedisCluster, redis.sentinel.Sentinel)
ASYNC = (redis.asyncio.Redis, redis.asyncio.RedisCluster, redis.asyncio.sentinel.Sentinel)


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


# What is sent to find out whether the server replies: PING over any connection, or over a new one.
Probe = Literal["ping", "connect"]
# After how many milliseconds, from its opening, the breaker probes; then once in the last.
PROBES = (0, 100, 200, 400, 800)
SECOND = 1000


@dataclass(eq=False, slots=True)
class Sent:
    """A command that was sent."""

    at: float
    is_given_up: bool = False


class Breaker:
    """When a client stops sending requests to a server that is silent, and when it begins again.

    ``vectors/breaker.json`` has the rule as a table, docs/failure.md in words. Times are milliseconds of a clock that
    the caller reads. Silence runs from the last reply, or if that is later from the oldest command without one. What
    was given up counts until the next reply, also one to a probe, since nothing is read for it any more.
    """

    def __init__(self, silence: float = 250, timeout: float = 100, timer: bool = True) -> None:
        """
        :param silence: it opens after so much silence, or after `timeout` if that is longer; never if 0
        :param timer: whether the caller runs :meth:`time` when :meth:`due` says so; else :meth:`request` looks
        """
        self.silence = silence
        self.timeout = timeout
        self._has_timer = timer
        self.start()

    def start(self) -> None:
        """Begins anew. A child process has none of the calls of its parent."""
        self.state: Literal["closed", "open", "trying"] = "closed"
        #: What runs :meth:`time`.
        self.watch: Any = None
        self._lock = threading.Lock()
        self._last = -math.inf
        # The oldest is the first.
        self._under_way: dict[Sent, None] = {}
        self._some_left = False
        self._tries: Sent | None = None
        self._opened = self._next_probe = 0.0
        self._has_connection = True
        # Whether a probe, and no command since, had a reply.
        self._is_doubtful = False

    def request(self, now: float) -> tuple[Sent | None, Probe | None]:
        """The command, if it is to be sent. If not, the probe that is sent before it: then this is asked again."""
        with self._lock:
            if not self._has_timer:
                self._look(now)
            if self.state == "open":
                return None, None if self._has_timer else self._probe(now)
            sent = Sent(now)
            if self.state == "trying":
                if self._tries is not None and now - self._tries.at < SECOND:
                    return None, None
                self._tries = sent
            if self.silence:
                self._under_way[sent] = None
            return sent, None

    def is_open(self) -> bool:
        return self.state == "open"

    def is_trying(self, sent: Sent) -> bool:
        """Whether the reply to this command is awaited for a second, whoever has given up."""
        return self._tries is sent

    def replied(self, sent: Sent, now: float) -> None:
        with self._lock:
            self._under_way.pop(sent, None)
            self._read(now)
            self.state, self._tries, self._is_doubtful = "closed", None, False

    def left(self, sent: Sent) -> None:
        """The caller has given up."""
        sent.is_given_up = self._some_left = True

    def unsent(self, sent: Sent) -> None:
        """The command was not sent after all, which says nothing of the server."""
        with self._lock:
            self._under_way.pop(sent, None)
            if self._tries is sent:
                self._tries = None

    def connect_failed(self, now: float, sent: Sent | None = None) -> Probe | None:
        """There is no connection, or it broke. What is to be sent now."""
        if sent is not None:
            self.unsent(sent)
        with self._lock:
            if not self.silence:
                return None
            self._has_connection = False
            if self.state == "open":
                return None
            self._open(now)
            return self._probe(now) if self._has_timer else None

    def pong(self, now: float) -> None:
        """A probe had a reply."""
        with self._lock:
            self._read(now)
            if self.state == "open":
                self.state = "trying" if self._is_doubtful else "closed"
                self._is_doubtful = True

    def probed(self, now: float, error: Exception | None = None) -> None:
        """How a probe ended."""
        what = error and kind(error)
        if what == "connection":
            self.connect_failed(now)
        elif what not in ("timeout", "overload"):
            # An error, as to a user without the permission for PING, is a reply too.
            self.pong(now)

    def time(self, now: float) -> Probe | None:
        """What is to be sent now."""
        with self._lock:
            self._look(now)
            return self._probe(now) if self.state == "open" else None

    def due(self) -> float | None:
        """When :meth:`time` has something to do."""
        with self._lock:
            return self._next_probe if self.state == "open" else self._end_of_silence()

    def _read(self, now: float) -> None:
        self._last = now
        self._has_connection = True
        if self._some_left:
            for sent in [each for each in self._under_way if each.is_given_up and each is not self._tries]:
                del self._under_way[sent]
            self._some_left = self._tries is not None

    def _end_of_silence(self) -> float | None:
        oldest = next(iter(self._under_way), None)
        if oldest is None or not self.silence:
            return None
        return max(self._last, oldest.at) + max(self.silence, self.timeout)

    def _look(self, now: float) -> None:
        end = self._end_of_silence()
        if self.state != "open" and end is not None and now >= end:
            self._open(now)

    def _open(self, now: float) -> None:
        self.state = "open"
        self._opened = self._next_probe = now

    def _probe(self, now: float) -> Probe | None:
        if now < self._next_probe:
            return None
        open_for = now - self._opened
        later = next((each for each in PROBES if each > open_for), None)
        if later is None:
            later = PROBES[-1] + (math.floor((open_for - PROBES[-1]) / SECOND) + 1) * SECOND
        self._next_probe = self._opened + later
        oldest = next(iter(self._under_way), None)
        silent_since = self._last if oldest is None else max(self._last, oldest.at)
        return "ping" if self._has_connection and now - silent_since < SECOND else "connect"


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
    """The breakers, the counters and the log of one storage or middleware."""

    def __init__(
        self,
        counters: Counters | None = None,
        timeout: float = 0.1,
        timer: bool = True,
        module: str = "optional",
    ) -> None:
        """
        :param timeout: how many seconds a call waits for a reply at most
        :param timer: as that of :class:`Breaker`
        :param module: ``required`` if no script decides without it
        """
        if module not in ("optional", "required"):
            raise ValueError(f"module: expected optional or required, not {module!r}")
        self.scripts = Scripts(module == "required")
        self.counters = Counters() if counters is None else counters
        self.log = SlowLog().write
        self._timeout = timeout
        self._timer = timer
        # One for each node of a cluster; without one, the name is empty.
        self._breakers: dict[str, Breaker] = {}
        _guards.add(self)

    @property
    def timeout(self) -> float:
        return self._timeout

    @timeout.setter
    def timeout(self, seconds: float) -> None:
        self._timeout = seconds
        for breaker in list(self._breakers.values()):
            breaker.timeout = seconds * 1000
            breaker.watch = None  # its timer may be set for too late

    def breaker(self, client: Any, key: bytes | str) -> tuple[Breaker, Any]:
        """The breaker of the server with this key, and the node if the client is one of a cluster that knows it."""
        node = node_of(client, key)
        name = "" if node is None else str(node.name)
        breaker = self._breakers.get(name)
        if breaker is None:
            # Another thread may have been faster.
            breaker = self._breakers.setdefault(name, Breaker(timeout=self._timeout * 1000, timer=self._timer))
        return breaker, node

    def ended(self, breaker: Breaker, sent: Sent, error: BaseException) -> Probe | None:
        """Tells the breaker how a command ended that has no reply. What is to be sent now."""
        what = kind(error)
        if what == "connection":
            return breaker.connect_failed(clock(), sent)
        if what == "timeout" or not isinstance(error, Exception):
            breaker.left(sent)
        elif isinstance(error, redis.ResponseError) or what in CANNOT_DECIDE:
            breaker.replied(sent, clock())
        else:
            breaker.unsent(sent)
        return None

    def failed(self, error: BaseException, outcome: str) -> bool:
        """Counts and logs why there is no decision. Whether the server cannot decide now.

        :param outcome: what the request gets if so, such as ``failing open``
        """
        unavailable = is_unavailable(error)
        self.counters.errors[kind(error)] += 1
        if unavailable:
            self.log(logging.WARNING, f"no decision, {outcome}", error)
        else:
            self.log(logging.ERROR, "the call was rejected, a fault of the configuration", error)
        return unavailable

    def undecided(self, error: BaseException, fail_open: bool) -> bool | None:
        """Counts and logs a request without a decision. Whether it is allowed; ``None``, and never, after a fault."""
        opens = fail_open and may_fail_open(error)
        if not self.failed(error, "failing open" if opens else "failing closed"):
            self.counters.faults += 1
            return None
        if opens:
            self.counters.failed_open += 1
        else:
            self.counters.failed_closed += 1
        return opens

    def decided(self, allowed: bool) -> None:
        """Counts a decision of the server."""
        if allowed:
            self.counters.allowed += 1
        else:
            self.counters.denied += 1

    def lost(self, id: str) -> None:
        """Counts and logs that a lease ended before its reservation."""
        self.counters.leases_lost += 1
        self.log(logging.WARNING, "a lease has ended", LeaseLost(f"the reservation {id} goes on without it"))


class LeaseLost(Exception):
    """For the log only."""


_guards: WeakSet[Guard] = WeakSet()


def _after_fork() -> None:
    for guard in list(_guards):
        for breaker in guard._breakers.values():
            breaker.start()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def clock() -> float:
    """The time of a breaker, in milliseconds."""
    return time.monotonic() * 1000


def node_of(client: Any, key: bytes | str) -> Any:
    """The node of a cluster that has this key; ``None`` if that is not known, or this is no cluster."""
    find = getattr(client, "get_node_from_key", None)
    if find is None:
        return None
    try:
        return find(key)
    except Exception:
        return None  # the client does not know the cluster yet, or no node has this slot


def patience(client: Any) -> float:
    """How many seconds a client waits for a reply; 1 if it has no `socket_timeout`."""
    pool = getattr(client, "connection_pool", None)
    options = client.get_connection_kwargs() if pool is None else pool.connection_kwargs
    return float(options.get("socket_timeout") or 1)


def check_arguments(
    client: Any, is_async: bool, fail_open: object, timeout: object = 1, counters: object = None
) -> None:
    """Rejects a client of the other kind, whose calls would be charged and fail; one that sends a command again, which
    would be charged twice; and settings of another type."""
    if isinstance(client, SYNC) and is_async:
        raise TypeError("client: expected one of redis.asyncio, not one of redis: redis.asyncio.Redis(retry=None)")
    if isinstance(client, ASYNC) and not is_async:
        raise TypeError("client: expected one of redis, not one of redis.asyncio: redis.Redis(retry=None)")
    if not hasattr(client, "execute_command"):
        module = "redis.asyncio" if is_async else "redis"
        raise TypeError(f"client: expected {module}.Redis(retry=None), not {type(client).__name__}")
    if counters is not None and not isinstance(counters, Counters):
        raise TypeError(f"counters: expected Counters(), not {type(counters).__name__}")
    if not isinstance(fail_open, bool):
        raise TypeError("fail_open: expected True or False")
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= 3600:
        raise ValueError("timeout: expected seconds, more than 0 and at most 3600")
    if retries_of(client):
        raise ValueError(
            "client: expected one that never sends a command again, or a request may be charged twice: "
            "Redis(retry=None) without retry_on_error, RedisCluster(retry=Retry(NoBackoff(), 0))"
        )


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
