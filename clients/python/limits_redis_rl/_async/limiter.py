"""Reservations: an estimate that is charged once, settled once, and comes back by itself if nobody settles it."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from ..aio import Background, Job, send
from ..charge import Charge, Decision, Policy, Used, Words, attempts, decision_of, key_in, locks
from ..errors import is_unavailable
from ..guard import Counters, Guard
from .execute import execute

# The pauses before a settlement that had no reply is sent again, in seconds.
PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
LONGEST_PAUSE = 5.0


class AsyncReservation:
    """An estimate that is charged, and the leases that are held with it. It is settled once: by :meth:`settle` or
    :meth:`cancel`, or at the end of ``with`` (``async with``), also by an exception or a cancellation.

    At that end it settles with the usage reported so far. If nothing was reported, the whole estimate stays charged,
    since the upstream may have worked all the same; unless the caller said that it was not :meth:`called`. So hanging
    up makes nothing free. A settlement without a reply is sent again until the reservation can no longer be settled.
    """

    def __init__(self, limiter: AsyncBaseLimiter, charge: Charge, decision: Decision, sent: float) -> None:
        self._limiter = limiter
        self._charge = charge
        self._used: dict[bytes, int] = {}
        self._reported = self._called = False
        self._settled = not (decision.allowed and charge.is_sent)
        self._process = os.getpid()
        self.decision = decision
        if self._settled:
            return
        charge.taken(sent, decision)
        if charge.leases:
            limiter.background.start(limiter.renewal(charge), charge.pause(3), is_awaited=False)

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

    async def settle(self, actual: Used) -> None:
        """Settles with what the request has used, as :meth:`report` has it. A limit without COST stays charged 1.

        With asyncio, this waits for the reply. With threads, a thread sends again what had none, and this returns.
        """
        self.report(actual)
        await self._end()

    async def cancel(self) -> None:
        """Charges nothing, no request either: the upstream was not called."""
        self._reported = self._called = False
        await self._end()

    def close(self) -> None:
        """Settles what is not settled; with asyncio in the background."""
        if calls := self._calls():
            self._limiter.background.close(self._limiter.settlement(self._charge, calls))

    def _calls(self) -> list[Words]:
        """What settles it, the first time. Nothing after that."""
        if self._settled:
            return []
        self._charge.count_lost(self._limiter.guard.lost)
        self._settled = self._charge.is_over = True
        return self._charge.settle(self._used, self._called or self._reported)

    async def _end(self, longest: float | None = None) -> None:
        if calls := self._calls():
            await self._limiter.background.now(self._limiter.settlement(self._charge, calls), longest)

    async def __aenter__(self) -> AsyncReservation:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._end(self._limiter.guard.timeout)

    def __del__(self) -> None:
        # A copy in a child process is not the one to settle it.
        if not self._settled and self._process == os.getpid():
            self._limiter.background.drop(self._limiter.settlement(self._charge, self._calls()))


class AsyncLockout:
    """The attempts of a login: :meth:`AsyncBaseLimiter.lockout`."""

    def __init__(self, limiter: AsyncBaseLimiter, users: Iterable[Policy], addresses: Iterable[Policy]) -> None:
        self._limiter = limiter
        self._users, self._addresses = attempts(users), attempts(addresses)
        if not self._users + self._addresses:
            raise ValueError("policies: expected at least one")

    async def check(self) -> Decision:
        """Charges an attempt of all limits, or of none. Before the password is checked, so that ten at once are ten."""
        limiter, words = self._limiter, self._users + self._addresses
        call: Words = ["RL.MULTI", len(words), *itertools.chain.from_iterable(words), "HEADERS"]
        try:
            [reply] = await send(
                limiter.guard, limiter.client, words[0][1], lambda: execute(limiter.guard, limiter.client, [call])
            )
        except Exception as error:
            if limiter.guard.undecided(error, limiter.fail_open):
                return Decision(True)
            raise
        decision = decision_of(reply)
        limiter.guard.decided(decision.allowed)
        return decision

    async def succeed(self) -> None:
        """After a success: forgets the attempts of the user, and gives one back to the address, which an attacker with
        a login of his own must not clear. Without a reply they stay."""
        calls: list[Words] = [["RL.RESET", *words[:3]] for words in self._users]
        calls += [["RL.REFUND", *words[:4], *locks(words)] for words in self._addresses]
        for call in calls:
            try:
                await self._limiter.send([call])
            except Exception as error:
                self._limiter.counters.faults += not self._limiter.guard.failed(error, "an attempt stays counted")


class AsyncBaseLimiter:
    """Reserves units of several limits in one decision."""

    def __init__(self, client: Any, fail_open: bool, guard: Guard) -> None:
        self.client = client
        self.fail_open = fail_open
        self.guard = guard
        self.background = Background(guard)

    @property
    def counters(self) -> Counters:
        return self.guard.counters

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
        charge = Charge(policies, ttl, id)
        # What is abandoned was not called.
        abandoned = AsyncReservation.close if charge.is_new else None
        reservation = await self.background.call(lambda: self._hold(charge), abandoned)
        reservation.called()
        return reservation

    def lockout(self, users: Iterable[Policy], addresses: Iterable[Policy] = ()) -> AsyncLockout:
        """Limits a login.

        :param users: limits of the user: ``[("LOCKOUT", "user:ann", "1d", 5, "BLOCK", "1m")]``
        :param addresses: limits that other users share, such as those of the address
        """
        return AsyncLockout(self, users, addresses)

    async def join(self, timeout: float | None = None) -> bool:
        """Waits until what is settled in the background is settled, at most so many seconds if given. Whether it is.

        With threads, the end of a program waits a second for it.
        """
        return await self.background.join(timeout)

    async def _hold(self, charge: Charge) -> AsyncReservation:
        words, sent = charge.reserve(), time.monotonic()
        try:
            [reply] = await send(
                self.guard, self.client, charge.limits[0].key, lambda: execute(self.guard, self.client, [words])
            )
        except Exception as error:
            charge.reached(error)
            if self.guard.undecided(error, self.fail_open):
                # The server may have charged it after all, so what is allowed without it is settled as well.
                return AsyncReservation(self, charge, Decision(True), sent)
            if charge.is_new and charge.is_sent and is_unavailable(error):
                self.background.start(self.settlement(charge, charge.settle({}, False)))
            raise
        decision = decision_of(reply)
        self.guard.decided(decision.allowed)
        return AsyncReservation(self, charge, decision, sent)

    def settlement(self, charge: Charge, calls: list[Words]) -> Job:
        """Settles, again and again while the server does not reply and the reservation can be settled. It has no
        reference to the reservation."""
        # It can be settled for one more `ttl` after its end.
        until = time.monotonic() + charge.ttl * 2 / 1000
        pauses = itertools.chain(PAUSES, itertools.repeat(LONGEST_PAUSE))

        async def settle() -> float | None:
            try:
                await self.send(calls)
            except Exception as error:
                pause = next(pauses)
                unavailable = self.guard.failed(error, "settling again")
                if unavailable and time.monotonic() + pause < until:
                    return pause
                self.counters.faults += not unavailable
                self.counters.unsettled += 1
                raise
            return None

        return settle

    def renewal(self, charge: Charge) -> Job:
        """Renews the leases until they are released or lost. It has no reference to the reservation."""

        async def renew() -> float | None:
            if charge.is_over or charge.count_lost(self.guard.lost):
                return None
            part, sent = 3, time.monotonic()
            try:
                charge.renewed(sent, await self.send(charge.renew(), charge.ends - sent))
            except Exception as error:
                self.counters.faults += not self.guard.failed(error, "renewing again")
                part = 10
            return charge.pause(part) if charge.leases else None

        return renew

    async def send(self, calls: list[Words], longest: float | None = None) -> list[Any]:
        return await send(
            self.guard, self.client, key_in(calls), lambda: execute(self.guard, self.client, calls), longest
        )
