# Made by clients/python/generate from _async/reservation.py. Do not edit.
"""Reservations: an estimate that is charged once, settled once, and comes back by itself if nobody settles it."""

from __future__ import annotations

import logging
import os
import time

from ..threads import Background, Job
from ..calls import Call
from ..charge import Charge, Used
from ..decision import Decisions
from ..errors import is_unavailable
from ..log import Log
from .link import Link

# The first and the longest pause before a settlement that had no reply is sent again, in seconds.
PAUSE = 0.05
LONGEST_PAUSE = 5.0


class LeaseLost(Exception):
    """For the log only."""


class Keeper:
    """Renews and settles what is reserved. It has no reference to a reservation, which may be dropped."""

    def __init__(self, link: Link, log: Log) -> None:
        self.link = link
        self.background = Background()
        self._log = log

    def settlement(self, charge: Charge, calls: list[Call]) -> Job:
        """Settles, again and again while the server does not reply and the reservation can be settled."""
        # It can be settled for one more `ttl` after its end.
        until = time.monotonic() + charge.ttl * 2 / 1000
        longer, failed = PAUSE, None

        def settle() -> float | None:
            nonlocal longer, failed
            while calls:
                try:
                    self.link.call(calls[0])
                except Exception as error:
                    pause, longer = longer, min(longer * 2, LONGEST_PAUSE)
                    unavailable = self._is_unavailable(error, "settling again")
                    if unavailable and charge.may_repeat(calls[0], error) and time.monotonic() + pause < until:
                        return pause
                    failed = failed or error
                calls.pop(0)
            if failed is not None:
                self._log.counters.unsettled += 1
                raise failed
            return None

        return settle

    def renewal(self, charge: Charge) -> Job:
        """Renews the leases until they are released or lost."""

        def renew() -> float | None:
            if charge.is_over or self.is_lost(charge):
                return None
            part, sent = 3, time.monotonic()
            try:
                replies = [(self.link.call(call, charge.ends - sent))[0] for call in charge.renew()]
                charge.renewed(sent, replies)
            except Exception as error:
                self._is_unavailable(error, "renewing again")
                part = 10
            return charge.pause(part)

        return renew

    def is_lost(self, charge: Charge) -> bool:
        """Whether a lease ended before its reservation, which is counted once."""
        if charge.newly_lost():
            self._log.counters.leases_lost += 1
            lost = LeaseLost(f"the reservation {charge.id} goes on without it")
            self._log.write(logging.WARNING, "a lease has ended", lost)
        return charge.is_lost

    def _is_unavailable(self, error: Exception, outcome: str) -> bool:
        if is_unavailable(error):
            self._log.write(logging.WARNING, f"no decision, {outcome}", error)
            return True
        self._log.rejected(error)
        return False


class Reservation:
    """An estimate that is charged, and the leases that are held with it. It is settled once: by :meth:`settle` or
    :meth:`cancel`, or at the end of ``with`` (``async with``), also by an exception or a cancellation.

    At that end it settles with the usage reported so far. If nothing was reported, the whole estimate stays charged,
    since the upstream may have worked all the same. So hanging up makes nothing free. A settlement without a reply is
    sent again until the reservation can no longer be settled.
    """

    def __init__(self, keeper: Keeper, charge: Charge, decision: Decisions, sent: float) -> None:
        self._keeper = keeper
        self._charge = charge
        self._used: dict[int, int] = {}
        self._settled = not (decision.allowed and charge.is_sent)
        self._process = os.getpid()
        self.decision = decision
        if self._settled:
            return
        charge.taken(sent, decision)
        if charge.leases:
            keeper.background.start(keeper.renewal(charge), charge.pause(3), is_awaited=False)

    @property
    def id(self) -> str:
        """A random UUID."""
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

    def report(self, used: Used) -> None:
        """Says how many units were used in all so far: tokens that were streamed, for example.

        :param used: of every limit with a cost, or of some, by the names of their policies: ``{"input": 900}``. It
            replaces an earlier report of the same limit; a limit without a report keeps its estimate
        """
        self._used |= self._charge.used(used)

    def settle(self, actual: Used) -> None:
        """Settles with what the request has used, as :meth:`report` has it. A limit without a cost stays charged 1.

        With asyncio, this waits for the reply. With threads, a thread sends again what had none, and this returns.
        """
        self.report(actual)
        self._end()

    def cancel(self) -> None:
        """Charges nothing, no request either: the upstream was not called."""
        self._end(charged=False)

    def close(self, charged: bool = True) -> None:
        """Settles what is not settled, or cancels it if it is not to be charged; with asyncio in the background."""
        if calls := self._calls(charged):
            self._keeper.background.close(self._keeper.settlement(self._charge, calls))

    def _calls(self, charged: bool) -> list[Call]:
        """What settles it, the first time. Nothing after that."""
        if self._settled:
            return []
        self._keeper.is_lost(self._charge)
        self._settled = self._charge.is_over = True
        return self._charge.settle(self._used, charged)

    def _end(self, longest: float | None = None, charged: bool = True) -> None:
        if calls := self._calls(charged):
            self._keeper.background.now(self._keeper.settlement(self._charge, calls), longest)

    def __enter__(self) -> Reservation:
        return self

    def __exit__(self, *_: object) -> None:
        self._end(self._keeper.link.timeout)

    def __del__(self) -> None:
        # A copy in a child process is not the one to settle it.
        if not self._settled and self._process == os.getpid():
            self._keeper.background.drop(self._keeper.settlement(self._charge, self._calls(True)))
