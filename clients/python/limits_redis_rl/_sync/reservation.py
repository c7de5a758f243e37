# Made by clients/python/generate from _async/reservation.py. Do not edit.
"""Reservations: an estimate that is charged once, settled once, and comes back by itself if nobody settles it."""

from __future__ import annotations

import logging
import math
import time
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from weakref import WeakMethod

from ..threads import begin, run, running_loop
from ..background import Job
from ..calls import Call, Limit
from ..decision import Decisions
from ..errors import NOT_SENT, is_unavailable
from ..policy import LARGEST, RESERVES, milliseconds
from .link import Link

# The first and the longest pause before a settlement that had no reply is sent again, in seconds.
PAUSE = 0.05
LONGEST_PAUSE = 5.0
# What was used: of all limits with a cost, or of some by the names of their policies or their keys.
Used = int | Mapping[str, int]


class Reservation:
    """An estimate that is charged, and the leases that are held with it. It is settled once: by :meth:`settle` or
    :meth:`cancel`, or at the end of ``with`` (``async with``), also by an exception or a cancellation.

    At that end it settles with the usage reported so far. If nothing was reported, the whole estimate stays charged:
    hanging up makes nothing free. A settlement without a reply is sent again until the reservation can no longer be
    settled. One that is dropped without an end is renewed no more, and comes back after its `ttl`.
    """

    decision = Decisions(False, [])

    def __init__(self, link: Link, limits: Iterable[Limit], ttl: str | int) -> None:
        self.id = str(uuid.uuid4())
        self._link = link
        self._loop = running_loop()
        self._ttl = milliseconds("ttl", ttl)
        self._used: dict[int, int] = {}
        self._is_open = False
        self.is_scripted = False
        """Whether scripts decide, which have no reservations."""
        # When the first lease ends, if it is not renewed; -inf if it has, and the log says so. The server counts the
        # window from a later moment.
        self._ends = math.inf
        self.limits: list[Limit] = []
        for limit in limits:
            if limit.policy.algorithm == "LEASE":
                self.limits.append(replace(limit, words=("ID", self.id)))
            elif limit.policy.algorithm in RESERVES:
                self.limits.append(replace(limit, reserve=("RESERVE", self.id, f"{self._ttl}ms")))
            else:
                expected = f"expected {', '.join(RESERVES)} or LEASE"
                raise ValueError(f"policy: {limit.policy.algorithm} takes no reservation; {expected}")
        if not self.limits:
            raise ValueError("limits: expected at least one")
        self._leases = [limit for limit in self.limits if limit.policy.algorithm == "LEASE"]
        self._window = min((lease.policy.window_ms for lease in self._leases), default=0) / 1000

    def begin(self, sent: float) -> None:
        """The server has charged it, or may have."""
        self._is_open = True
        if not self.allowed:
            self._link.background.start(self._settlement(charged=False), self._loop)
            return
        # Shadow mode has allowed what takes no lease.
        shadowed = [limit for limit, each in zip(self.limits, self.decision.limits, strict=True) if each.is_shadow]
        self._leases = [lease for lease in self._leases if lease not in shadowed]
        if self._leases:
            self._ends = sent + self._window
            method = WeakMethod(self._renew)

            def job() -> Any:
                renew = method()
                return renew and renew()

            self._link.background.start(job, self._loop, self._pause(3), is_awaited=False)

    @property
    def allowed(self) -> bool:
        """Whether the request is allowed. If not, nothing is charged, and there is nothing to settle."""
        return self.decision.allowed

    @property
    def is_lost(self) -> bool:
        """Whether a lease has ended although it was not released, or may have: no renewal had a reply for its window.
        Another holder may have been allowed since."""
        return time.monotonic() >= self._ends

    def report(self, used: Used) -> None:
        """Says how many units were used in all so far: tokens that were streamed, for example.

        :param used: of every limit with a cost, or of some, by the names of their policies: ``{"input": 900}``. It
            replaces an earlier report of the same limit; a limit without a report keeps its estimate
        """
        estimates = {at: limit for at, limit in enumerate(self.limits) if limit.cost is not None}
        given = used if isinstance(used, Mapping) else dict.fromkeys((each.key for each in estimates.values()), used)
        found: dict[int, int] = {}
        for name, units in given.items():
            if isinstance(units, bool) or not isinstance(units, int) or units < 0:
                raise ValueError("used: expected an integer of at least 0, or one for each of some limits")
            named = [at for at, limit in estimates.items() if name in (limit.policy.name, limit.key)]
            if not named:
                raise ValueError(f"used: expected names or keys of limits with a cost, not {name!r}")
            found |= dict.fromkeys(named, units)
        self._used |= found

    def settle(self, actual: Used) -> None:
        """Settles with what the request has used, as :meth:`report` has it. A limit without a cost stays charged 1.
        With threads, this does not wait until what had no reply is sent again."""
        self.report(actual)
        if error := run(self._link.background, self._settlement(), self._loop):
            raise error

    def cancel(self) -> None:
        """Charges nothing, no request either: the upstream was not called."""
        if error := run(self._link.background, self._settlement(charged=False), self._loop):
            raise error

    def close(self, charged: bool = True) -> None:
        """Settles what is not settled, or cancels it if it is not to be charged; with asyncio in the background."""
        begin(self._link.background, self._settlement(charged), self._loop)

    def __enter__(self) -> Reservation:
        return self

    def __exit__(self, *_: object) -> None:
        run(self._link.background, self._settlement(), self._loop, self._link.timeout)

    def _settlement(self, charged: bool = True) -> Job:
        """Settles, again and again while the server does not reply and the reservation can be settled: for one more
        `ttl` after its end. Does nothing the second time."""
        link, is_scripted = self._link, self.is_scripted
        calls = self._calls(charged) if self._is_open else []
        self._is_open = False
        if not self._has_lost():
            self._ends = math.inf
        until = time.monotonic() + self._ttl * 2 / 1000
        longer, failed = PAUSE, None

        def settle() -> float | Exception | None:
            nonlocal longer, failed
            while calls:
                try:
                    link.call(calls[0])
                except Exception as error:
                    pause, longer = longer, min(longer * 2, LONGEST_PAUSE)
                    link.log.failed(error, "settling again")
                    # A script that settles has no id, so it would settle twice.
                    may_repeat = not is_scripted or calls[0].verb == "RELEASE" or isinstance(error, NOT_SENT)
                    if is_unavailable(error) and may_repeat and time.monotonic() + pause < until:
                        return pause
                    failed = failed or error
                calls.pop(0)
            link.log.counters.unsettled += failed is not None
            return failed

        return settle

    def _calls(self, charged: bool) -> list[Call]:
        """The calls that end it. The leases come first, since others wait for them."""
        calls = [Call("RELEASE", [replace(lease, words=(self.id,))]) for lease in self._leases]
        is_known = [each.source for each in self.decision.limits[:1]] == ["server"]
        for at, limit in enumerate(self.limits):
            # Without an id, a script cannot settle what may be charged.
            if limit.policy.algorithm == "LEASE" or (self.is_scripted and not is_known):
                continue
            units = 1 if limit.cost is None else min(self._used.get(at, limit.cost), LARGEST)
            words = ["RESERVATION", self.id, "ACTUAL", str(units if charged else 0)]
            if self.is_scripted:
                decision = self.decision.limits[at]
                words = ["RESERVED", str(decision.charged), *words[2:], "AT", str(decision.at)]
            calls.append(Call("SETTLE", [limit.correction(*words)]))
        return calls

    def _renew(self) -> float | None:
        """Renews the leases, until they are released or lost."""
        if not self._is_open or self._has_lost():
            return None
        sent = time.monotonic()
        calls = [Call("RENEW", [replace(lease, words=(lease.policy.window, self.id))]) for lease in self._leases]
        try:
            replies = [(self._link.call(call, self._ends - sent))[0] for call in calls]
        except Exception as error:
            self._link.log.failed(error, "renewing again")
            return self._pause(10)
        # A late reply does not undo a loss: the holder may have acted on it.
        if self._is_open and not self.is_lost:
            self._ends = 0.0 if 0 in replies else sent + self._window
        return self._pause(3)

    def _pause(self, part: int) -> float:
        """Until the next renewal: this part of a window, but not longer than the leases last."""
        return max(min(self._window / part, self._ends - time.monotonic()), 0.001)

    def _has_lost(self) -> bool:
        """Whether a lease ended before its reservation, which is counted once."""
        if self.is_lost and self._ends > -math.inf:
            self._ends = -math.inf
            self._link.log.counters.leases_lost += 1
            self._link.log.line(logging.WARNING, "a lease has ended", f": the reservation {self.id} goes on without it")
        return self.is_lost
