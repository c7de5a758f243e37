"""Reservations: charged once, settled once, however the holder ends. With asyncio and with threads."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest
import redis
import redis.asyncio
from faults import example
from redis._parsers.base import BaseParser
from server import eventually, free_port

from limits_redis_rl import AsyncLimiter, Limiter

from .conftest import every_kind, held, limited, needs_module, value, vectors

LIMITS = [
    ("WINDOW 1d 10 AS requests", "r"),
    ("WINDOW 1d 1000 AS input", "r", 100),
    ("ROLLING 1d 1000 AS output", "r", 50),
    ("FIXED month 5000 AS budget", "r", 700),
    ("FIXED year 5000 ANCHOR 0 AS years", "r", 700),
    ("LEASE 1h 2 AS calls", "r"),
]
# What is charged without a report.
ESTIMATES = [1, 100, 50, 700, 700]
RESERVE = (
    "RL.MULTI 6 WINDOW requests:{r} 86400000ms 10 RESERVE call-1 60000ms "
    "WINDOW input:{r} 86400000ms 1000 COST 100 RESERVE call-1 60000ms "
    "ROLLING output:{r} 86400000ms 1000 COST 50 RESERVE call-1 60000ms "
    "FIXED budget:{r} month 5000 COST 700 RESERVE call-1 60000ms "
    "FIXED years:{r} year 5000 ANCHOR 0 COST 700 RESERVE call-1 60000ms "
    "LEASE calls:{r} 3600000ms 2 ID call-1 LINE"
)
RELEASE = "RL.RELEASE calls:{r} call-1"
SETTLE = [
    "RL.SETTLE WINDOW requests:{r} 86400000ms 10 RESERVATION call-1 ACTUAL %",
    "RL.SETTLE WINDOW input:{r} 86400000ms 1000 RESERVATION call-1 ACTUAL %",
    "RL.SETTLE ROLLING output:{r} 86400000ms 1000 RESERVATION call-1 ACTUAL %",
    "RL.SETTLE FIXED budget:{r} month 5000 RESERVATION call-1 ACTUAL %",
    "RL.SETTLE FIXED years:{r} year 5000 ANCHOR 0 RESERVATION call-1 ACTUAL %",
]


async def joined(limiter: Any) -> None:
    await (limiter.join() if isinstance(limiter, AsyncLimiter) else asyncio.to_thread(limiter.join))


class Fake:
    """A client whose server replies this to each command, the last reply again and again, and what it has got."""

    def __init__(self, kind: str, replies: dict[str, list[Any]], shadow: int = 0) -> None:
        self.kind, self.shadow, self.sent = kind, shadow, list[str]()
        self.replies = {name: list(given) for name, given in replies.items()}

    def reply(self, words: Any) -> Any:
        self.sent.append(re.sub(r"[0-9a-f]{8}-[-0-9a-f]{27}", "call-1", " ".join(words)))
        line = f"1 0 60 2 1 0 0 0 0 7 {self.shadow} 1"
        allowed = [1, [line] * int(words[1])] if words[0] == "RL.MULTI" else 1
        replies = self.replies.get(words[0], [allowed])
        found = replies.pop(0) if len(replies) > 1 else replies[0]
        if found == "lost":
            raise redis.ConnectionError("Connection closed by server.")
        if isinstance(found, str):
            raise BaseParser.parse_error(found)
        return found

    def execute_command(self, *words: Any) -> Any:
        async def later() -> Any:
            found = self.reply(words)
            await asyncio.sleep(0)
            return found

        return later() if self.kind == "asyncio" else self.reply(words)

    def get_connection_kwargs(self) -> dict[str, Any]:
        return {"socket_timeout": 30}

    def limiter(self, **options: Any) -> Any:
        client: Any = self
        return AsyncLimiter(client, timeout=30, **options) if self.kind == "asyncio" else Limiter(client, **options)

    def settled(self) -> list[str]:
        return [call.removesuffix(" LINE") for call in self.sent if call.startswith(("RL.SETTLE", "RL.RELEASE"))]


def settling(charged: list[int]) -> list[str]:
    return [RELEASE, *(call.replace("%", str(units)) for call, units in zip(SETTLE, charged, strict=True))]


ENDS: list[tuple[list[tuple[Any, ...]], list[int]]] = [
    ([], ESTIMATES),
    ([("report", 20)], [1, 20, 20, 20, 20]),
    ([("report", 7), ("close", False)], [0] * 5),
    # The last report of each, else the estimate; by the name of the policy, or by the key.
    ([("report", {"input": 90}), ("report", {"output:{r}": 5}), ("report", {"output": 6})], [1, 90, 6, 700, 700]),
    ([("report", {"input": 1}), ("report", 8)], [1, 8, 8, 8, 8]),
    ([("settle", {"input": 90, "output": 20, "budget": 310})], [1, 90, 20, 310, 700]),
    ([("report", 100), ("settle", 420), ("settle", 1), ("cancel",)], [1, 420, 420, 420, 420]),
    ([("report", {"input": 7}), ("cancel",), ("settle", 9)], [0] * 5),
    ([("settle", 10**30)], [1, *[2**53 - 1] * 4]),
]
WRONG_REPORTS = [
    *((used, "at least 0") for used in (-1, 1.5, "1", None, True, {"output": 3, "input": -1})),
    *((used, "expected names or keys") for used in ({"requests": 1}, {"calls": 1}, {"x": 1})),
]


@every_kind
@pytest.mark.parametrize(("steps", "charged"), ENDS)
@pytest.mark.parametrize("end", ["close", RuntimeError, asyncio.CancelledError], ids=str)
async def test_what_is_charged_at_an_end(end: Any, steps: Any, charged: list[int], kind: str) -> None:
    server = Fake(kind, {})
    limiter = server.limiter()

    async def work() -> None:
        reservation = await value(limiter.reserve(LIMITS, "1m"))
        for used, error in WRONG_REPORTS:
            with pytest.raises(ValueError, match=error):
                reservation.report(used)
        for step, *arguments in steps:
            await value(getattr(reservation, step)(*arguments))
        if end == "close":
            reservation.close()
        else:
            async with held(reservation):
                raise end

    with contextlib.suppress(RuntimeError, asyncio.CancelledError):
        await asyncio.create_task(work())
    await joined(limiter)
    assert server.sent[0] == RESERVE
    assert server.settled() == settling(charged)
    assert len(server.sent) == 7


USED = settling([1, 450, 450, 450, 450])
REPLIES: list[tuple[str, dict[str, list[Any]], dict[str, Any], str | None, list[str], dict[str, int]]] = [
    ("a lost reply to a settlement", {"RL.SETTLE": ["lost", 1]}, {}, None, [*USED[:2], *USED[1:]], {"allowed": 1}),
    ("while the server cannot decide", {"RL.RELEASE": ["LOADING x", 1]}, {}, None, [RELEASE, *USED], {"allowed": 1}),
    ("a settlement that is rejected", {"RL.SETTLE": ["NOPERM no", 1]}, {}, "settle", USED,
     {"allowed": 1, "unsettled": 1, "faults": 1}),
    ("a lost reply, allowed: it may be charged", {"RL.MULTI": ["lost"]}, {"unavailable": "allow"}, None, USED,
     {"failed_open": 1}),
    ("a lost reply: it may be charged", {"RL.MULTI": ["lost"]}, {}, "reserve", settling([0] * 5), {"failed_closed": 1}),
    ("a lost reply, denied: it may be charged", {"RL.MULTI": ["lost"]}, {"unavailable": "deny"}, None,
     settling([0] * 5), {"failed_closed": 1}),
    ("a denial: nothing is charged", {"RL.MULTI": [[0, ["0 9 9 0 5 5 5 0 7 0 0 0"] * 6]]}, {}, None, [], {"denied": 1}),
    ("a request that is rejected", {"RL.MULTI": ["ERR invalid limit"]}, {"unavailable": "allow"}, "reserve", [],
     {"faults": 1}),
]  # fmt: skip


@every_kind
@pytest.mark.parametrize(
    ("name", "replies", "options", "error", "settled", "counters"), REPLIES, ids=lambda each: str(each)[:30]
)
async def test_what_a_reply_leads_to(
    name: str, replies: Any, options: Any, error: str | None, settled: list[str], counters: Any, kind: str
) -> None:
    server = Fake(kind, replies)
    limiter = server.limiter(**options)
    with pytest.raises(redis.RedisError) if error else contextlib.nullcontext():
        reservation = await value(limiter.reserve(LIMITS, "1m"))
        assert error != "reserve"
        await value(reservation.settle(450))
    await joined(limiter)
    assert server.settled() == settled
    names = ["allowed", "denied", "failed_open", "failed_closed", "faults", "unsettled"]
    assert {each: found for each in names if (found := getattr(limiter.counters, each))} == counters


LINE = "1 0 60 2 1 0 0 0 0 7 0 5"
# The replies to the scripts, and what ends the reservation.
SCRIPTED: list[tuple[list[Any], list[str]]] = [
    ([[1, [LINE] * 2], 1, LINE], ["RELEASE call-1", "SETTLE 60000ms 60 RESERVED 5 ACTUAL 9 AT 7 LINE"]),
    # It has no id, so it could settle twice.
    ([[1, [LINE] * 2], 1, "lost"], ["RELEASE call-1", "SETTLE 60000ms 60 RESERVED 5 ACTUAL 9 AT 7 LINE"]),
    # What may be charged is not known.
    (["lost", 1], ["RELEASE call-1"]),
]


@every_kind
@pytest.mark.parametrize(("replies", "ends"), SCRIPTED)
async def test_without_the_module(replies: Any, ends: list[str], kind: str) -> None:
    unknown = {name: [f"ERR unknown command '{name}'"] for name in ("RL.MULTI", "RL.RELEASE", "RL.SETTLE")}
    server = Fake(kind, {**unknown, "EVALSHA": replies})
    limiter = server.limiter(unavailable="allow")
    reservation = await value(limiter.reserve([("ROLLING 1m 60 AS tokens", "r", 5), ("LEASE 1h 2", "r")], "1m"))
    reservation.report(9)
    reservation.close()
    await joined(limiter)
    scripts = [re.search(r"(RELEASE|SETTLE) .*", call) for call in server.sent if call.startswith("EVALSHA")]
    assert [found[0] for found in scripts if found] == ends


LEASES: list[tuple[str, int, list[Any], bool]] = [
    ("renewed", 0, [1], False),
    ("taken by another", 0, [1, 0], True),
    ("the server does not reply", 0, ["lost"], True),
    ("a renewal without a reply is sent again", 0, ["lost", 1], False),
    ("the renewal is rejected", 0, ["NOPERM no permission"], True),
    ("allowed by shadow mode: none is taken", 1, [0], False),
]


@every_kind
async def test_when_a_lease_is_lost(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    servers = [Fake(kind, {"RL.RENEW": renew}, shadow) for _, shadow, renew, _ in LEASES]
    limiters = [server.limiter() for server in servers]
    reservations = [await value(limiter.reserve([("LEASE 1s 1", "k")], "1m")) for limiter in limiters]
    assert not any(reservation.is_lost for reservation in reservations)
    await asyncio.sleep(1.3)
    for (name, _, _, lost), server, limiter, reservation in zip(LEASES, servers, limiters, reservations, strict=True):
        counters = limiter.counters
        await asyncio.to_thread(eventually, lambda counters=counters, lost=lost: counters.leases_lost == lost, name)
        assert (counters.faults > 0) == (name == "the renewal is rejected")
        assert set(server.sent[1:]) <= {"RL.RENEW lease:1000ms:{k} 1000ms call-1"}
        reservation.close()
        assert reservation.is_lost == lost, name
    assert caplog.text.count("a lease has ended: the reservation") == sum(lost for *_, lost in LEASES)


@every_kind
async def test_a_reservation_that_is_dropped_is_not_renewed(kind: str) -> None:
    server = Fake(kind, {})
    await value(server.limiter().reserve([("LEASE 100ms 1", "k")], "1m"))
    gc.collect()
    await asyncio.sleep(0.2)
    assert len(server.sent) == 1


@every_kind
async def test_a_fault_is_not_allowed_while_the_breaker_is_open(kind: str) -> None:
    limiter = Fake(kind, {"RL.TOKEN": ["lost", "WRONGPASS invalid username-password pair"]}).limiter(
        unavailable="allow"
    )
    assert (await value(limiter.check("TOKEN 1m 60", "k"))).source == "allow"
    for _ in range(3):
        with pytest.raises(redis.AuthenticationError):
            await value(limiter.check("TOKEN 1m 60", "k"))


@every_kind
async def test_wrong_arguments(kind: str) -> None:
    server = Fake(kind, {})
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"limits": []}, "limits: expected at least one"),
        *(({"ttl": ttl}, "positive integer of seconds") for ttl in ("10x", "0s", 0, 1.5, "", "month", True)),
        *(
            ({"limits": [(f"{algorithm} 1m 5", "k")]}, f"{algorithm} takes no reservation; expected FIXED, WINDOW")
            for algorithm, can in vectors("capabilities")["algorithms"].items()
            if not can["reserve"] and not can["id"]
        ),
    ]
    for given, error in wrong:
        with pytest.raises((ValueError, TypeError), match=error):
            await value(server.limiter().reserve(**{"limits": [("ROLLING 1m 60", "k")], "ttl": "1m", **given}))
    assert not server.sent


async def test_the_end_of_with_waits_no_longer_than_a_call() -> None:
    limiter = Fake("asyncio", {"RL.SETTLE": ["lost"]}).limiter()
    limiter.link.timeout = 0.1
    async with await limiter.reserve(LIMITS, "1s"):
        pass
    assert not await limiter.join(0)


async def test_a_caller_that_leaves_while_it_waits_for_a_reservation() -> None:
    """The server may have charged it."""
    server = Fake("asyncio", {})
    limiter = server.limiter()
    request = asyncio.create_task(limiter.reserve(LIMITS, "1m"))
    await asyncio.sleep(0)
    assert server.sent == [RESERVE]
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    await limiter.join()
    assert server.settled() == settling([0] * 5)


@every_kind
async def test_what_was_not_sent_is_not_settled(kind: str) -> None:
    async with limited(kind, free_port(), unavailable="allow") as limiter:
        for _ in range(3):
            async with held(await value(limiter.reserve(LIMITS, "50ms"))) as reservation:
                assert (reservation.allowed, reservation.decision.limits[0].source) == (True, "allow")
        await joined(limiter)
        counters = limiter.counters
        # No request that tries is under way when the next one comes.
        assert (counters.failed_open, counters.faults, counters.unsettled) == (3, 0, 3)


@needs_module
async def test_the_gateway_of_the_page(port: int, raw: redis.Redis) -> None:
    """docs/language-models.md."""

    class Model:
        tokens = 100  # of a prompt

        async def stream(self, prompt: Any, longest: int) -> AsyncIterator[Any]:
            for _ in range(30):
                await asyncio.sleep(0)
                yield type("Part", (), {"tokens": 10})

    class TooManyRequests(Exception):
        def __init__(self, headers: dict[str, str]) -> None:
            self.headers = headers

    raw.flushall()
    text = example("docs/language-models.md", "python", "import AsyncLimiter")
    assert text.count("redis.asyncio.Redis(") == 1
    page: dict[str, Any] = {"TooManyRequests": TooManyRequests}
    exec(text.replace("redis.asyncio.Redis(", f"redis.asyncio.Redis(port={port}, "), page)
    limiter, complete, model = page["limiter"], page["complete"], Model()
    limiter.link.timeout = 30

    async def charged(units: int) -> None:
        await limiter.join()
        tokens = (await limiter.peek("ROLLING 1m 9000 AS tokens", "acme", cost=0)).count
        assert (tokens, raw.zcard(limiter.limit("LEASE 30s 2 AS calls", "acme").key)) == (units, 0)

    assert len([part async for part in complete(model, model, 1000)]) == 30
    await charged(400)
    # The caller hangs up.
    async with contextlib.aclosing(complete(model, model, 1000)) as parts:
        await anext(parts)
    await charged(510)
    with pytest.raises(TooManyRequests) as denied:
        await anext(complete(model, model, 9000))
    assert "Retry-After" not in denied.value.headers  # it can never be allowed
    await charged(510)
    await limiter.client.aclose()


PROGRAM = """
import os, sys, time
import redis
from limits_redis_rl import Limiter

limiter = Limiter(redis.Redis(port=int(sys.argv[1]), retry=None, socket_timeout=0.1), prefix=sys.argv[2])
lease = [("LEASE 600ms 9 AS calls", "ann")]
parents = limiter.reserve(lease, "1h")  # it has a thread
key = limiter.limit(*lease[0]).key
limiter.client.connection_pool.connection_kwargs["socket_timeout"] = 10
limiter.client.close()
if os.fork() == 0:
    own = limiter.reserve(lease, "1h")
    id = parents.id
    del parents  # a copy
    time.sleep(1)
    now = limiter.client.time()[0] * 1000
    score = limiter.client.zscore
    print("child", own.allowed, own.is_lost, score(key, own.id) > now, score(key, id) > now, flush=True)
    own.close()
    os._exit(0)
os.wait()
print("parent", parents.is_lost, limiter.client.zcard(key))
"""


def test_a_child_process(port: int, prefix: str) -> None:
    command = [sys.executable, "-c", PROGRAM, str(port), prefix]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=30, check=True)
    assert done.stdout.splitlines() == ["child True False True True", "parent False 1"]
