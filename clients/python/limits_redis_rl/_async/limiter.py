"""Checks, and what belongs to them."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from ..aio import IS_ASYNC, join, sleep, time_limit
from ..calls import Call, Limit
from ..client import check_client
from ..decision import Decision, Decisions, decided, undecided
from ..errors import NOT_SENT, Denied, Overloaded, is_unavailable
from ..keys import part_of_key
from ..local import Local
from ..log import Counters, Log
from ..policy import AnyPolicy, Policy
from .link import AsyncLink, clock
from .reservation import AsyncReservation

# A policy and whom it limits, also with the cost: ("ROLLING 1m 90000", "org:7", 3500).
OneLimit: TypeAlias = tuple[AnyPolicy, str | int] | tuple[AnyPolicy, str | int, int | None] | Limit

# The policies that are fixed when the program starts, by client and the beginning of their keys.
_registered: WeakKeyDictionary[Any, dict[str, Policy]] = WeakKeyDictionary()


class AsyncLimiter:
    """Checks requests against limits in Redis. An error about a call (a wrong policy, a wrong password) is always
    raised; :func:`limits_redis_rl.is_unavailable` is false for it.

    :param prefix: what the keys begin with: ``app:``, in a cluster ``{app}:``
    :param unavailable: what a request gets without a decision: ``error``, ``allow``, ``deny`` or ``local``
    :param instances: with ``local``, how many processes share each limit: each allows this part of it, and at least 1
    :param timeout: seconds that a call waits, 0.1 if not given. With threads, the client has it: ``socket_timeout``
    :param module: ``optional``: without the module, Lua scripts decide; ``required``: that is an error
    :param secret: keys have an HMAC of the caller instead of the caller. All processes need the same
    """

    def __init__(
        self,
        client: Any,
        *,
        prefix: str = "",
        unavailable: str = "error",
        instances: int | None = None,
        timeout: float | None = None,
        module: str = "optional",
        secret: str | None = None,
    ) -> None:
        check_client(client, IS_ASYNC)
        if not isinstance(prefix, str) or len(prefix.encode()) > 256:
            raise ValueError("prefix: expected a str of at most 256 bytes")
        if unavailable not in ("error", "allow", "deny", "local"):
            raise ValueError(f"unavailable: expected error, allow, deny or local, not {unavailable!r}")
        if not (isinstance(instances, int) and instances >= 1 if unavailable == "local" else instances is None):
            raise ValueError("instances: expected how many processes share the limits, with unavailable='local' only")
        if module not in ("optional", "required"):
            raise ValueError(f"module: expected optional or required, not {module!r}")
        if secret is not None and not (isinstance(secret, str) and secret):
            raise ValueError("secret: expected a str that is not empty")
        self.client = client
        self.counters = Counters()
        self.log = Log(self.counters)
        self.link = AsyncLink(client, time_limit(client, timeout), self.log, module == "required")
        self._prefix = prefix
        self._unavailable = unavailable
        self._local = None if instances is None else Local(instances)
        self._secret = secret
        self._is_away = False

    def fixed(self, policy: AnyPolicy) -> Policy:
        """A policy that is fixed when the program starts. Another one of its name, which would share its keys, is a
        ValueError."""
        found = Policy.of(policy)
        name = self._prefix + found.name
        other = _registered.setdefault(self.client, {}).setdefault(name, found)
        if (other.algorithm, other.words) != (found.algorithm, found.words):
            raise ValueError(f"two limits share the keys {name}:*: {other} and {found}: give one of them a name")
        return found

    def limit(self, policy: AnyPolicy, who: str | int, cost: int | None = None, *words: str) -> Limit:
        """One limit of a call, with its key in Redis."""
        if cost is not None and (isinstance(cost, bool) or not isinstance(cost, int) or cost < 0):
            raise ValueError(f"cost: expected an integer of at least 0, not {cost!r}")
        found = Policy.of(policy)
        return Limit(found, f"{self._prefix}{found.name}:{{{part_of_key(who, self._secret)}}}", cost, words)

    async def check(
        self,
        policy: AnyPolicy,
        who: str | int,
        *,
        cost: int = 1,
        partial: bool = False,
        always: bool = False,
        id: str | None = None,
    ) -> Decision:
        """Charges a request if the limit allows it.

        :param cost: the units that it takes; 0 looks
        :param partial: charges as much of the cost as fits: `charged` says how much
        :param always: charges whatever the limit says
        :param id: the holder of a LEASE
        """
        words = [word for word, given in (("PARTIAL", partial), ("ALWAYS", always)) if given]
        words += [] if id is None else ["ID", id]
        return (await self.decide("CHECK", [self.limit(policy, who, cost, *words)])).limits[0]

    async def check_all(self, limits: Iterable[OneLimit]) -> Decisions:
        """Charges all limits, or none: ``[("TOKEN 1m 60", "user:42"), ("FIXED day 9000 AS ip", "192.0.2.1", 2)]``. In
        a cluster, their keys need one hash tag: that of the prefix."""
        return await self.decide("MULTI", self.all(limits))

    async def share(self, limits: Iterable[OneLimit]) -> Decisions:
        """Charges the first limit that allows the request, and each one after it, also one that would deny. If none
        allows, nothing is charged. So a team has its own part, and what others leave of the whole:
        ``[("TOKEN 1m 500", "team:a"), ("TOKEN 1m 1000", "model")]``, 2 to 8 limits, the narrowest first, of FIXED,
        WINDOW, COUNTER, ROLLING or TOKEN."""
        return await self.decide("SHARE", self.all(limits))

    async def peek(self, policy: AnyPolicy, who: str | int, *, cost: int = 1) -> Decision:
        """What :meth:`check` would reply. Changes nothing."""
        return (await self.decide("PEEK", [self.limit(policy, who, cost)])).limits[0]

    async def refund(self, policy: AnyPolicy, who: str | int, *, cost: int = 1, at: int | None = None) -> Decision:
        """Gives units back; `at` is the time of the charge, which its decision has."""
        limit = self.limit(policy, who, cost)
        return (await self.decide("REFUND", [limit.correction("COST", str(limit.units), *_at(at))])).limits[0]

    async def settle(
        self, policy: AnyPolicy, who: str | int, *, actual: int, reserved: int = 1, at: int | None = None
    ) -> Decision:
        """Corrects a charge of `reserved` units, at the time `at`, to the `actual` ones."""
        words = ("RESERVED", str(reserved), "ACTUAL", str(actual), *_at(at))
        return (await self.decide("SETTLE", [self.limit(policy, who).correction(*words)])).limits[0]

    async def reset(self, policy: AnyPolicy, who: str | int) -> bool:
        """Deletes what is counted, and returns whether anything was."""
        limit = self.limit(policy, who)
        words = limit.policy.words
        anchor = words[2:4] if "ANCHOR" in words else ()
        reply, _ = await self.link.call(Call("RESET", [replace(limit, words=(words[0], *anchor))]))
        return int(reply) == 1

    async def wait(self, policy: AnyPolicy, who: str | int, *, cost: int = 1, timeout: float | None = None) -> Decision:
        """Waits until the request is allowed, for LEAKY until its turn. Raises :exc:`limits_redis_rl.Denied` at once if
        that is never, or in more than `timeout` seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            decision = await self.check(policy, who, cost=cost)
            pause = decision.delay if decision.allowed else decision.retry_after
            if pause is None or (end is not None and time.monotonic() + pause > end and not decision.allowed):
                raise Denied(decision)
            if pause:
                await sleep(pause)
            if decision.allowed:
                return decision

    @contextlib.asynccontextmanager
    async def lease(self, policy: AnyPolicy, who: str | int) -> AsyncIterator[AsyncReservation]:
        """Holds one of the places of a LEASE, and renews it until the end of ``async with`` (``with``). Raises
        :exc:`limits_redis_rl.Denied` if all are held."""
        limit = self.limit(policy, who)
        if limit.policy.algorithm != "LEASE":
            raise ValueError(f"lease: expected LEASE, not {limit.policy.algorithm}")
        async with await self.reserve([limit], limit.policy.window) as held:
            if not held.allowed:
                raise Denied(held.decision)
            yield held

    async def reserve(self, limits: Iterable[OneLimit], ttl: str | int) -> AsyncReservation:
        """Charges all limits of FIXED, WINDOW, COUNTER, ROLLING or LEASE, or none.

        A limit with a cost is charged that estimate, which is settled later; one without counts the request. Both are
        reservations that end by themselves after `ttl` (``"10m"``), which must be longer than the work takes. A LEASE
        is renewed until the reservation is settled. If this is cancelled, the reservation is cancelled too. Without the
        module, they are charges that nothing undoes.
        """
        held = AsyncReservation(self.link, self.all(limits), ttl)
        call, sent, may_be_charged = Call("MULTI", held.limits), time.monotonic(), True
        try:
            held.decision, held.is_scripted = await self._from_server(call)
            may_be_charged = held.allowed
        except Exception as error:
            held.is_scripted = self.link.scripts_decide
            may_be_charged = is_unavailable(error) and not isinstance(error, NOT_SENT)
            held.decision = self._without_server(error, call)
        finally:
            # Also if the caller has left.
            if may_be_charged:
                held.begin(sent)
        return held

    async def join(self, timeout: float | None = None) -> bool:
        """Waits until all settlements in the background have ended, at most `timeout` seconds if given, and returns
        whether they have. The end of a program ends them."""
        return await join(self.link.background, timeout)

    async def decide(self, verb: str, limits: Sequence[Limit]) -> Decisions:
        """The decision of the server or, where it cannot decide, of what `unavailable` says."""
        if not limits:
            raise ValueError("limits: expected at least one")
        call = Call(verb, limits)
        try:
            return (await self._from_server(call))[0]
        except Exception as error:
            return self._without_server(error, call)

    def all(self, limits: Iterable[OneLimit]) -> list[Limit]:
        found = []
        for each in limits if hasattr(limits, "__iter__") else [limits]:
            if not isinstance(each, Limit):
                if not isinstance(each, tuple) or not 2 <= len(each) <= 3:
                    raise TypeError("limits: expected a list of limits: [('TOKEN 1m 60', 'user:42')]")
                each = self.limit(*each)
            found.append(each)
        return found

    async def _from_server(self, call: Call) -> tuple[Decisions, bool]:
        """The decision of the server, and whether a script made it."""
        reply, is_scripted = await self.link.call(call)
        is_one = call.verb not in ("MULTI", "SHARE")
        lines = [reply] if is_one else reply[1]
        limits = [decided(line, limit) for line, limit in zip(lines, call.limits, strict=True)]
        # RL.MULTI says 1 or 0, RL.SHARE which limit paid.
        first = int(limits[0].allowed if is_one else reply[0])
        if self._is_away:
            self._is_away = False
            self.log.line(logging.WARNING, "the server decides again")
        if call.verb in ("CHECK", "MULTI", "SHARE"):
            self.counters.allowed += first > 0
            self.counters.denied += first == 0
        return Decisions(first > 0, limits, first if call.verb == "SHARE" else None), is_scripted

    def _without_server(self, error: Exception, call: Call) -> Decisions:
        if not is_unavailable(error) or call.verb == "SETTLE" or (call.verb == "REFUND" and self._local is None):
            raise error
        self._is_away = True
        if self._local is not None:
            if call.verb == "REFUND":
                self._local.refund(call.limits[0])
            else:
                self.counters.local += 1
            found = self._local.decide(call.verb, call.limits, clock())
            self.log.failed(error, "the limit of this process decides")
            return found
        # A client that sends many requests at once can make all connections busy. That must not allow them.
        allowed = self._unavailable == "allow" and not isinstance(error, Overloaded)
        self.counters.failed_open += allowed
        self.counters.failed_closed += not allowed
        self.log.failed(error, f"failing {'open' if allowed else 'closed'}")
        if not allowed and self._unavailable != "deny":
            raise error
        paid = int(allowed) if call.verb == "SHARE" else None
        return Decisions(allowed, [undecided(allowed, limit.policy) for limit in call.limits], paid)


def _at(at: int | None) -> tuple[str, ...]:
    return () if at is None else ("AT", str(at))
