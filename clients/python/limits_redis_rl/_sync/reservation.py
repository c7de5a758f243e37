# Made by clients/python/generate from _async/reservation.py. Do not edit.
"""Reservations: an estimate that is charged once, settled once, and comes back by itself if nobody settles it."""

from __future__ import annotations

import logging
import os
import time

from ..threads import begin, run, running_loop
from ..background import Job
from ..calls import Call
from ..charge import Charge, Used
from ..decision import Decisions
from ..errors import is_unavailable, was_not_sent
from .link import Link

# The first and the longest pause before a settlement that had no reply is sent again, in seconds.
PAUSE = 0.05
LONGEST_PAUSE = 5.0


def settlement(link: Link, charge: Charge, calls: list[Call]) -> Job:
    """Settles, again and again while the server does not reply and the reservation can be settled."""
    # It can be settled for one more `ttl` after its end.
    until = time.monotonic() + charge.ttl * 2 / 1000
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
                may_repeat = not charge.is_scripted or calls[0].verb == "RELEASE" or was_not_sent(error)
                if is_unavailable(error) and may_repeat and time.monotonic() + pause < until:
                    return pause
                failed = failed or error
            calls.pop(0)
        link.log.counters.unsettled += failed is not None
        return failed

    return settle


def renewal(link: Link, charge: Charge) -> Job:
    """Renews the leases until they are released or lost."""

    def renew() -> float | None:
        if charge.is_over or note_loss(link, charge):
            return None
        sent = time.monotonic()
        try:
            replies = [(link.call(call, charge.ends - sent))[0] for call in charge.renewals()]
        except Exception as error:
            link.log.failed(error, "renewing again")
            return charge.pause(10)
        charge.renewed(sent, 0 not in replies)
        return charge.pause(3)

    return renew


def note_loss(link: Link, charge: Charge) -> bool:
    """Whether a lease ended before its reservation, which is counted once."""
    if charge.is_lost and not charge.is_loss_noted:
        charge.is_loss_noted = True
        link.log.counters.leases_lost += 1
        link.log.line(logging.WARNING, "a lease has ended", f": the reservation {charge.id} goes on without it")
    return charge.is_lost


class Reservation:
    """An estimate that is charged, and the leases that are held with it. It is settled once: by :meth:`settle` or
    :meth:`cancel`, or at the end of ``with`` (``async with``), also by an exception or a cancellation.

    At that end it settles with the usage reported so far. If nothing was reported, the whole estimate stays charged,
    since the upstream may have worked all the same. So hanging up makes nothing free. A settlement without a reply is
    sent again until the reservation can no longer be settled.
    """

    def __init__(self, link: Link, charge: Charge, decision: Decisions, sent: float) -> None:
        self._link = link
        self._charge = charge
        self._loop = running_loop()
        self._used: dict[int, int] = {}
        self._settled = not (decision.allowed and charge.is_sent)
        self._process = os.getpid()
        self.decision = decision
        if not self._settled:
            charge.taken(sent, decision)
            if charge.leases:
                # It has no reference to this, which may be dropped.
                link.background.start(renewal(link, charge), self._loop, charge.pause(3), is_awaited=False)

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
        if error := run(self._link.background, self._settlement(True), self._loop):
            raise error

    def cancel(self) -> None:
        """Charges nothing, no request either: the upstream was not called."""
        if error := run(self._link.background, self._settlement(False), self._loop):
            raise error

    def close(self, charged: bool = True) -> None:
        """Settles what is not settled, or cancels it if it is not to be charged; with asyncio in the background."""
        begin(self._link.background, self._settlement(charged), self._loop)

    def _settlement(self, charged: bool) -> Job:
        """What settles it, the first time. Nothing after that."""
        calls: list[Call] = []
        if not self._settled:
            note_loss(self._link, self._charge)
            self._settled = self._charge.is_over = True
            calls = self._charge.settle(self._used, charged)
        return settlement(self._link, self._charge, calls)

    def __enter__(self) -> Reservation:
        return self

    def __exit__(self, *_: object) -> None:
        run(self._link.background, self._settlement(True), self._loop, self._link.timeout)

    def __del__(self) -> None:
        # A copy in a child process is not the one to settle it.
        if not self._settled and self._process == os.getpid():
            self._link.background.start(self._settlement(True), self._loop)
