"""Reservations: an estimate that is charged once, settled once, and comes back by itself if nobody settles it."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import heapq
import itertools
import logging
import math
import os
import re
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any
from weakref import WeakSet

import redis

from .aio import Client, in_time
from .guard import (
    CircuitOpen,
    Counters,
    Guard,
    Overloaded,
    bounded,
    capped,
    connected,
    expects,
    is_unavailable,
    may_fail_open,
    patience,
    retries_of,
)
from .sentinel import NO_PRIMARY, watches

# The words of one limit: ("ROLLING", "{org:7}:tokens", "1m", 90000, "COST", 3500, "AS", "tokens")
Policy = Sequence[str | bytes | int]
Words = list[str | bytes | int]
# What was used: of all limits with COST, or of some by their keys.
Used = int | Mapping[str, int] | Mapping[bytes, int]

RESERVES = ("FIXED", "WINDOW", "COUNTER", "ROLLING")
# The pause before a settlement is sent again that had no reply, and the longest.
PAUSE = 0.05
LONGEST_PAUSE = 5.0
# The largest usage that is settled: no limit has so many units, and what is counted has room for more.
MOST_USED = 2**62
# How long the end of a program waits for its settlements, in seconds.
AT_EXIT = 1.0
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


def _text(value: str | bytes | int) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _units(used: object) -> int:
    if isinstance(used, bool) or not isinstance(used, int) or used < 0:
        raise ValueError("used: expected an integer of at least 0, or one for each of some keys")
    return used


@dataclass(frozen=True)
class _Limit:
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
    def of(cls, policy: Policy) -> _Limit:
        if isinstance(policy, (str, bytes)) or len(policy) < 4:
            raise ValueError("policy: expected an algorithm, a key, a window, a limit, and options")
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


class _Charge:
    """What a reservation sends."""

    def __init__(self, policies: Iterable[Policy], ttl: str | int, id: str | None) -> None:
        self.limits = [_Limit.of(policy) for policy in policies]
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
        self.doubtful: list[_Limit] = []
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

    def renew(self) -> list[Words]:
        return [["RL.RENEW", lease.key, lease.window, self.id] for lease in self.leases]

    @property
    def is_lost(self) -> bool:
        # A late reply does not undo that a lease was lost: its holder may have acted on it.
        if not self.is_over and time.monotonic() >= self.ends:
            self._is_lost = True
        return self._is_lost

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


class _Reservation:
    """What both kinds of reservations share."""

    def __init__(self, guard: Guard, charge: _Charge, decision: Decision, sent: float) -> None:
        self._guard = guard
        self._charge = charge
        self._used: dict[bytes, int] = {}
        self._reported = self._called = False
        self._settled = not (decision.allowed and charge.is_sent)
        self._process = os.getpid()
        self.decision = decision
        if not self._settled:
            charge.taken(sent, decision)

    @property
    def id(self) -> str:
        """The id: a random UUID, unless it was given."""
        return self._charge.id

    @property
    def allowed(self) -> bool:
        """Whether the request is allowed. If not, nothing is charged, and there is nothing to settle."""
        return self.decision.allowed

    @property
    def is_lost(self) -> bool:
        """Whether a lease has ended although it was not released, or may have: no renewal had a reply for its window.
        Another holder may have been allowed since."""
        return self._charge.is_lost

    @property
    def is_settled(self) -> bool:
        """Whether it is settled, or there is nothing to settle."""
        return self._settled

    def called(self, called: bool = True) -> None:
        """Says whether the upstream was called, or is called next. A reservation counts as called. One that is not, and
        to which nothing was reported, is cancelled at its end: it charges nothing."""
        self._called = called

    def report(self, used: Used) -> None:
        """Says that so many units were used in all so far: tokens that were streamed, for example.

        :param used: of every limit with COST, or of some, by their keys: ``{"{org:7}:input": 900}``. What is said of a
            key holds until something else is said of it; a limit of which nothing was said keeps its estimate
        """
        self._used |= self._charge.used(used)
        self._reported = True

    def _is_dropped(self) -> bool:
        """Whether nobody has settled it. A copy in a child process is not the one to do so."""
        return not getattr(self, "_settled", True) and self._process == os.getpid()

    def _calls(self) -> list[Words]:
        """What settles it, the first time. Nothing after that."""
        if self._settled:
            return []
        _count_lost(self._guard, self._charge)
        self._settled = self._charge.is_over = True
        return self._charge.settle(self._used, self._called or self._reported)


def _count_lost(guard: Guard, charge: _Charge) -> bool:
    """Whether a lease is lost. The first time, that is counted and logged."""
    if charge.is_lost and not charge.is_counted:
        charge.is_counted = True
        guard.lost(charge.id)
    return charge.is_lost


def _decision(reply: Any) -> Decision:
    allowed, limits, headers = reply
    words = [_text(word) for word in headers]
    triples = [(int(limit[0]), int(limit[1]), int(limit[2])) for limit in limits]
    return Decision(allowed == 1, triples, dict(zip(words[::2], words[1::2], strict=True)))


def _worst(replies: list[Any]) -> list[Any]:
    """The replies of a pipeline, or the error of it that decides whether it is sent again."""
    errors = [reply for reply in replies if isinstance(reply, Exception)]
    for error in errors:
        if is_unavailable(error):
            raise error
    if errors:
        raise errors[0]
    return replies


def _key_in(calls: list[Words]) -> bytes:
    """The first key of these calls. The keys of a reservation are in one slot."""
    name, *words = calls[0]
    key = words[1 if name == "RL.SETTLE" else 0]
    assert isinstance(key, bytes)
    return key


class _Calls:
    """What both kinds of limiters share."""

    def __init__(self, client: Any, fail_open: bool, counters: Counters | None, timeout: float, is_async: bool) -> None:
        expects(client, is_async)
        if not isinstance(fail_open, bool):
            raise TypeError("fail_open: expected True or False")
        if retries_of(client):
            raise ValueError(
                "client: expected one that sends no command again by itself: retry=None, no retry_on_error"
            )
        self.fail_open = fail_open
        self.guard = Guard(counters, timeout, timer=is_async)

    @property
    def counters(self) -> Counters:
        return self.guard.counters

    def _replied(self, reply: Any) -> Decision:
        decision = _decision(reply)
        if decision.allowed:
            self.counters.allowed += 1
        else:
            self.counters.denied += 1
        return decision

    def _undecided(self, error: Exception, charge: _Charge) -> Decision:
        """The decision without the server, or the error."""
        # What was not sent is not charged; but an earlier call with a given id may have been.
        is_sent = not isinstance(error, CircuitOpen) and not (isinstance(error, Overloaded) and not error.is_sent)
        charge.is_sent = is_sent or not charge.is_new
        opens = self.fail_open and may_fail_open(error)
        if not self.guard.failed(error, "failing open" if opens else "failing closed"):
            self.counters.faults += 1
            raise error
        if not opens:
            self.counters.failed_closed += 1
            raise error
        self.counters.failed_open += 1
        return Decision(True)

    def _settles_again(self, error: Exception, until: float) -> bool:
        """Counts why a settlement is not done. Whether it is sent again."""
        unavailable = self.guard.failed(error, "settling again")
        if unavailable and time.monotonic() < until:
            return True
        self.counters.faults += not unavailable
        self.counters.unsettled += 1
        return False

    def _renews_again(self, error: Exception) -> None:
        if not self.guard.failed(error, "renewing again"):
            self.counters.faults += 1


class AsyncReservation(_Reservation):
    """An estimate that is charged, and the leases that are held with it. It is settled once: by :meth:`settle` or
    :meth:`cancel`, or at the end of ``async with``, also by an exception or a cancellation.

    At that end it settles with the usage reported so far. If nothing was reported, the whole estimate stays charged,
    since the upstream may have worked all the same; unless the caller said that it was not :meth:`called`. So hanging
    up makes nothing free. A settlement without a reply is sent again until the reservation can no longer be settled.
    """

    def __init__(self, limiter: AsyncLimiter, charge: _Charge, decision: Decision, sent: float) -> None:
        super().__init__(limiter.guard, charge, decision, sent)
        self._limiter = limiter
        if charge.leases and not self._settled:
            limiter._start(_renew(limiter, charge), limiter._renewals)

    async def settle(self, actual: Used) -> None:
        """Settles with what the request has used, as :meth:`report` has it, and waits for the reply. A limit without
        COST stays charged 1."""
        self.report(actual)
        await self._end()

    async def cancel(self) -> None:
        """Charges nothing, no request either: the upstream was not called."""
        self._reported = self._called = False
        await self._end()

    def close(self) -> None:
        """Settles in the background what is not settled."""
        calls = self._calls()
        if calls:
            self._limiter._start(self._limiter._settle(self._charge, calls), self._limiter._settlements)

    async def _end(self) -> None:
        calls = self._calls()
        if calls:
            task = self._limiter._start(self._limiter._settle(self._charge, calls), self._limiter._settlements)
            # A settlement goes on if nobody waits for it any more.
            await asyncio.shield(task)

    async def __aenter__(self) -> AsyncReservation:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        calls = self._calls()
        if calls:
            task = self._limiter._start(self._limiter._settle(self._charge, calls), self._limiter._settlements)
            # For a program that ends after this. A server that does not reply holds nobody up for longer.
            await asyncio.wait({task}, timeout=self._limiter.timeout)

    def __del__(self) -> None:
        if self._is_dropped():
            calls = self._calls()
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._limiter._start_soon(self._charge, calls)


class AsyncLimiter(_Calls):
    """Reserves units of several limits in one decision, for asyncio."""

    def __init__(
        self, client: Client, *, fail_open: bool = False, timeout: float = 0.1, counters: Counters | None = None
    ) -> None:
        """
        :param client: the connection to the server, made with ``retry=None``; the caller closes it
        :param fail_open: whether a request is allowed if the server cannot decide; else the error is raised. So is
            ``Overloaded`` in any case, if all connections of the client are in use
        :param timeout: how many seconds a call waits for the server at most
        :param counters: where to count what happens, for an export
        """
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= 3600:
            raise ValueError("timeout: expected seconds, more than 0 and at most 3600")
        super().__init__(client, fail_open, counters, timeout, is_async=True)
        self.client = client
        self._settlements: set[asyncio.Task[None]] = set()
        self._renewals: set[asyncio.Task[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def timeout(self) -> float:
        return self.guard.timeout

    @timeout.setter
    def timeout(self, seconds: float) -> None:
        self.guard.timeout = seconds

    async def reserve(self, policies: Iterable[Policy], ttl: str | int, *, id: str | None = None) -> AsyncReservation:
        """Charges all limits, or none, in one RL.MULTI.

        A limit with COST is charged that estimate, which is settled later; one without COST counts the request. Both
        are reservations that end by themselves after ``ttl``, which must be longer than the work takes. A LEASE is
        renewed until the reservation is settled. If this is cancelled, the reservation is cancelled too, unless an
        ``id`` was given: another caller may hold what has that id.

        :param policies: the words of each limit; its algorithm is FIXED, WINDOW, COUNTER, ROLLING or LEASE
        :param ttl: as a window is written: ``"10m"``
        :param id: a call with the id of an open reservation is charged nothing more, so it may be repeated after an
            error. The party that is limited must not choose it. If not given, a new one.
        """
        charge = _Charge(policies, ttl, id)
        self._loop = asyncio.get_running_loop()
        if charge.is_new:
            # A task of its own: if the caller is gone when the reply comes, the reservation is cancelled.
            holding = asyncio.ensure_future(self._hold(charge))
            try:
                reservation = await asyncio.shield(holding)
            except asyncio.CancelledError:
                holding.add_done_callback(_abandon)
                raise
        else:
            reservation = await self._hold(charge)
        reservation.called()
        return reservation

    async def join(self) -> None:
        """Waits until what is settled in the background is settled. For the end of a program."""
        while self._settlements:
            await asyncio.wait(set(self._settlements))

    async def _hold(self, charge: _Charge) -> AsyncReservation:
        words = charge.reserve()
        sent = time.monotonic()
        try:
            reply = await in_time(
                self.guard, self.client, charge.limits[0].key, lambda: self.client.execute_command(*words)
            )
        except Exception as error:
            try:
                # The server may have charged it after all, so what is allowed without it is settled as well.
                return AsyncReservation(self, charge, self._undecided(error, charge), sent)
            except Exception:
                if charge.is_new and charge.is_sent and is_unavailable(error):
                    self._start(self._settle(charge, charge.settle({}, False)), self._settlements)
                raise
        return AsyncReservation(self, charge, self._replied(reply), sent)

    async def _settle(self, charge: _Charge, calls: list[Words]) -> None:
        """Settles, again and again while the server does not reply and the reservation can be settled."""
        # It can be settled for one more `ttl` after its end.
        until = time.monotonic() + charge.ttl * 2 / 1000
        pause = PAUSE
        while True:
            try:
                await self._send(calls)
                return
            except Exception as error:
                if not self._settles_again(error, until - pause):
                    raise
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _send(self, calls: list[Words], longest: float = math.inf) -> list[Any]:
        async def send() -> list[Any]:
            pipeline = self.client.pipeline(transaction=False) if len(calls) > 1 else None
            if pipeline is None:
                return [await self.client.execute_command(*calls[0])]
            for words in calls:
                pipeline.execute_command(*words)
            return _worst(await pipeline.execute(raise_on_error=False))

        return await in_time(self.guard, self.client, _key_in(calls), send, min(self.timeout, longest))

    def _start(self, work: Awaitable[None], tasks: set[asyncio.Task[None]]) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        task.add_done_callback(_seen)
        return task

    def _start_soon(self, charge: _Charge, calls: list[Words]) -> None:
        """Settles what was dropped, in whatever thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(lambda: self._start(self._settle(charge, calls), self._settlements))


async def _renew(limiter: AsyncLimiter, charge: _Charge) -> None:
    """Renews the leases until they are released or lost. It has no reference to the reservation."""
    part = 3
    while charge.leases:
        await asyncio.sleep(charge.pause(part))
        if charge.is_over or _count_lost(limiter.guard, charge):
            return
        sent = time.monotonic()
        try:
            charge.renewed(sent, await limiter._send(charge.renew(), charge.ends - sent))
            part = 3
        except Exception as error:
            limiter._renews_again(error)
            part = 10


def _seen(task: asyncio.Future[Any]) -> None:
    # The log has the error.
    if not task.cancelled():
        task.exception()


def _abandon(holding: asyncio.Future[AsyncReservation]) -> None:
    if not holding.cancelled() and holding.exception() is None:
        holding.result().close()  # not called


class Reservation(_Reservation):
    """As :class:`AsyncReservation`, for ``with``. A thread renews the leases and settles again."""

    def __init__(self, limiter: Limiter, charge: _Charge, decision: Decision, sent: float) -> None:
        super().__init__(limiter.guard, charge, decision, sent)
        self._limiter = limiter
        if charge.leases and not self._settled:
            limiter._later(charge.pause(3), lambda: limiter._renew(charge))

    def settle(self, actual: Used) -> None:
        """Settles with what the request has used, as :meth:`report` has it. A limit without COST stays charged 1.

        If the server does not reply, a thread sends it again, and this returns.
        """
        self.report(actual)
        self.close()

    def cancel(self) -> None:
        """Charges nothing, no request either: the upstream was not called."""
        self._reported = self._called = False
        self.close()

    def close(self) -> None:
        """Settles what is not settled."""
        calls = self._calls()
        if calls:
            self._limiter._settle(self._charge, calls)

    def __enter__(self) -> Reservation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        if self._is_dropped():
            self._limiter._settle_soon(self._charge, self._calls())


class Limiter(_Calls):
    """Reserves units of several limits in one decision, for programs with threads."""

    def __init__(
        self,
        client: redis.Redis | redis.RedisCluster,
        *,
        fail_open: bool = False,
        counters: Counters | None = None,
    ) -> None:
        """
        :param client: the connection, made with ``retry=None`` and a ``socket_timeout``; the caller closes it
        :param fail_open: whether a request is allowed if the server cannot decide; else the error is raised. So is
            ``Overloaded`` in any case, if all connections of the client are in use
        :param counters: where to count what happens, for an export
        """
        super().__init__(client, fail_open, counters, patience(client), is_async=False)
        self._client: Any = client
        self._number = itertools.count()
        self._start_anew()
        _limiters.add(self)

    def _start_anew(self) -> None:
        """Also in a child process: it has no thread, and what the parent holds is the parent's to renew and settle."""
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._settlements = 0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def reserve(self, policies: Iterable[Policy], ttl: str | int, *, id: str | None = None) -> Reservation:
        """As :meth:`AsyncLimiter.reserve`."""
        charge = _Charge(policies, ttl, id)
        sent = time.monotonic()
        try:
            reply = self._on_primary(charge.limits[0].key, lambda: self._client.execute_command(*charge.reserve()))
        except Exception as error:
            try:
                # The server may have charged it after all, so what is allowed without it is settled as well.
                reservation = Reservation(self, charge, self._undecided(error, charge), sent)
            except Exception:
                if charge.is_new and charge.is_sent and is_unavailable(error):
                    self._settle_soon(charge, charge.settle({}, False))
                raise
        else:
            reservation = Reservation(self, charge, self._replied(reply), sent)
        reservation.called()
        return reservation

    def join(self, timeout: float | None = None) -> bool:
        """Waits until what the thread settles is settled, at most so many seconds if given. Whether it is.

        The end of a program waits a second for it.
        """
        with self._changed:
            return self._changed.wait_for(lambda: not self._settlements, timeout)

    def _on_primary(self, key: bytes, call: Callable[[], Any]) -> Any:
        try:
            return connected(self.guard, self._client, key, call)
        except redis.ReadOnlyError:
            pool = getattr(self._client, "connection_pool", None)
            if pool is not None:
                pool.disconnect(inuse_connections=False)
            raise
        except NO_PRIMARY:
            watches(self._client.connection_pool)
            raise

    def _send(self, calls: list[Words]) -> list[Any]:
        def send() -> list[Any]:
            with self._client.pipeline(transaction=False) as pipeline:
                for words in calls:
                    pipeline.execute_command(*words)
                return _worst(pipeline.execute(raise_on_error=False))

        replies: list[Any] = self._on_primary(_key_in(calls), send)
        return replies

    def _settle(self, charge: _Charge, calls: list[Words]) -> None:
        """Settles now, or later in the thread. An error that is about the call is raised."""
        until = time.monotonic() + charge.ttl * 2 / 1000
        try:
            self._send(calls)
        except Exception as error:
            if not self._settles_again(error, until):
                raise
            self._settle_soon(charge, calls, PAUSE)

    def _settle_soon(self, charge: _Charge, calls: list[Words], pause: float = 0.0) -> None:
        """Settles in the thread."""
        with self._changed:
            self._settlements += 1
        until = time.monotonic() + charge.ttl * 2 / 1000
        self._later(pause, lambda: self._try(calls, max(pause * 2, PAUSE), until))

    def _try(self, calls: list[Words], pause: float, until: float) -> None:
        try:
            self._send(calls)
        except Exception as error:
            if self._settles_again(error, until - pause):
                self._later(pause, lambda: self._try(calls, min(pause * 2, LONGEST_PAUSE), until))
                return
        with self._changed:
            self._settlements -= 1
            self._changed.notify_all()

    def _renew(self, charge: _Charge) -> None:
        if charge.is_over or _count_lost(self.guard, charge) or not charge.leases:
            return
        part, sent = 3, time.monotonic()
        try:
            charge.renewed(sent, self._send(charge.renew()))
        except Exception as error:
            self._renews_again(error)
            part = 10
        self._later(charge.pause(part), lambda: self._renew(charge))

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        with self._changed:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._number), call))
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="redis-rl", daemon=True)
                try:
                    thread.start()
                    self._thread = thread
                except RuntimeError as error:
                    # There are too many. The next call tries again; a lease that is not renewed until then is lost.
                    self.guard.log(logging.ERROR, "nothing is renewed and settled in the background", error)
            self._changed.notify_all()

    def _run(self) -> None:
        while True:
            with self._changed:
                # Without work for a while, the thread ends; the next call starts another.
                while not self._due or self._due[0][0] > time.monotonic():
                    wait = self._due[0][0] - time.monotonic() if self._due else 60.0
                    if not self._changed.wait(max(wait, 0)) and not self._due:
                        self._thread = None
                        return
                _, _, call = heapq.heappop(self._due)
            call()


_limiters: WeakSet[Limiter] = WeakSet()


def _after_fork() -> None:
    for limiter in list(_limiters):
        limiter._start_anew()


def _at_exit() -> None:
    until = time.monotonic() + AT_EXIT
    for limiter in list(_limiters):
        limiter.join(max(until - time.monotonic(), 0))


atexit.register(_at_exit)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
