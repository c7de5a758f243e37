"""The tables that all clients share, and what an error, a policy and a key are."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timezone
from functools import partial
from typing import Any

import pytest
import redis
import redis.asyncio
import redis.asyncio.sentinel
import redis.sentinel
from fastapi import FastAPI
from redis._parsers.base import BaseParser
from redis.exceptions import RedisClusterException, SlotNotCoveredError

from limits_redis_rl import (
    AsyncLimiter,
    Limiter,
    Overloaded,
    Policy,
    RateLimitMiddleware,
    address_key,
    errors,
    keys,
    log,
)
from limits_redis_rl.breaker import Breaker
from limits_redis_rl.calls import Call, Limit, scripted
from limits_redis_rl.client import _retries
from limits_redis_rl.decision import Decisions, decided
from limits_redis_rl.fastapi import limit
from limits_redis_rl.policy import seconds

from .conftest import ROOT, vectors

CLIENT = redis.Redis(retry=None)


@pytest.mark.parametrize("case", vectors("breaker")["cases"], ids=lambda case: case["name"])
def test_the_breaker(case: dict[str, Any]) -> None:
    breaker = Breaker(case.get("timeout", 100))
    for now, event, state, sent in case["steps"]:
        found = None
        if event == "request":
            found = "command" if breaker.request(now) else None
        elif event == "timeout":
            breaker.timed_out(now)
        else:
            {"reply": breaker.reply, "broken": breaker.broken}[event]()
        assert (now, "open" if breaker.is_open else "closed", found) == (now, state, sent)


def test_keys_and_addresses() -> None:
    table = vectors("keys")
    for value, expected in table["values"]:
        assert "{" in value or keys.bounded(value) == expected
    for prefix, name, who, key in table["clients"]:
        policy = Policy("TOKEN", "1m", 60, name=None if ":" in name else name)
        if name == "fixed:month":
            policy = Policy("FIXED", "month", 60)
        assert Limiter(CLIENT, prefix=prefix).limit(policy, who).key == key
    for address, key in table["addresses"]:
        assert address_key(address) == key
    assert keys.part_of_key("192.0.2.1", "secret") == "84edc40821674d125954d6546b5fe475"
    assert keys.part_of_key("\udcff") == keys.bounded("\udcff") != keys.bounded("\udcfe")
    for wrong in (None, True, 1.5, b"x", "", ("x",)):
        with pytest.raises(TypeError, match="who: expected a str that is not empty, or an int"):
            keys.part_of_key(wrong)  # type: ignore[arg-type]


def call_of(words: list[str]) -> Call:
    """The call that these words of a command are."""
    verb, rest = words[0][3:], words[1:]

    def limit(algorithm: str, key: str, more: list[str]) -> Limit:
        policy = Policy("WINDOW", 1, 1)
        policy.algorithm, policy.words = algorithm, tuple(more)
        return Limit(policy, key, words=tuple(more))

    if verb in ("MULTI", "SHARE"):
        algorithms = vectors("capabilities")["algorithms"]
        begins = [at for at, word in enumerate(rest[:-1]) if word in algorithms]
        parts = [rest[at:end] for at, end in zip(begins, [*begins[1:], -1], strict=True)]
        made = [limit(part[0], part[1], part[2:]) for part in parts]
        return Call(verb, [Limit(each.policy, each.key) for each in made])
    if verb in ("RENEW", "RELEASE"):
        return Call(verb, [limit("LEASE", rest[0], rest[1:])])
    if verb in ("PEEK", "REFUND", "SETTLE", "RESET"):
        algorithm, key, *more = rest
    else:
        algorithm, key, *more = verb, *rest
        verb = "CHECK"
    made_one = limit(algorithm, key, [word for word in more if word != "LINE"])
    return Call(verb, [Limit(made_one.policy, key) if verb in ("CHECK", "PEEK") else made_one])


def test_scripts() -> None:
    compared = 0
    for case in vectors("scripts")["calls"]:
        words = case["command"]
        # The keys of a limiter have a hash tag, and it asks for LINE.
        if (
            case.get("cluster")
            or case.get("error")
            or (words[-1] != "LINE" and words[0] not in ("RL.RESET", "RL.RENEW"))
        ):
            continue
        call = call_of(words)
        assert call.command() == words
        source, _, made = scripted(call)
        assert made == [str(len(case["keys"])), *case["keys"], *case["argv"]]
        one = isinstance(case["script"], str)
        assert source.endswith(f"return run('{case['script']}')\n" if one else (ROOT / "lua/several.lua").read_text())
        assert all((ROOT / f"lua/{file}.lua").read_text() in source for file in ([] if one else case["script"]))
        compared += 1
    assert compared > 40
    reserve = Limit(Policy("ROLLING", "1m", 9), "k", 5, reserve=("RESERVE", "call-1", "60000ms"))
    assert Call("CHECK", [reserve]).command()[-4:] == ["RESERVE", "call-1", "60000ms", "LINE"]
    assert scripted(Call("CHECK", [reserve]))[2] == ["1", "k", "CHECK", "60000ms", "9", "COST", "5", "LINE"]


def test_replies_and_their_headers() -> None:
    compared = 0
    for algorithm, calls in vectors("algorithms").items():
        for call in [] if algorithm == "about" else calls:
            words = call["call"].split()
            if words[-1] != "LINE" or "COST" not in words or words[0] in ("RL.REFUND", "RL.SETTLE", "RL.MULTI"):
                continue
            first, count, _, most, remaining, retry, following, reset, delay, at, _, charged = map(
                int, call["reply"].split()
            )
            limit = Limit(Policy(algorithm, "1m", 5), "k", int(words[words.index("COST") + 1]), tuple(words))
            found = decided(call["reply"], limit)
            assert found == decided(call["reply"].encode(), limit)
            assert found.allowed == (retry == 0 if limit.cost == 0 and "PARTIAL" in words else first > 0)
            assert (found.count, found.limit, found.remaining, found.charged) == (count, most, remaining, charged)
            assert (found.next_ms, found.delay, found.at) == (following, delay / 1000, at)
            assert found.retry_after == (None if retry < 0 else retry / 1000)
            headers = found.headers()
            assert headers["X-RateLimit-Remaining"] == str(remaining)
            assert headers.get("Retry-After") == (None if found.allowed or retry < 0 else str(seconds(retry)))
            assert headers.get("X-RateLimit-Reset") == (None if reset < 0 else str(seconds(at + reset)))
            assert Decisions(found.allowed, [found]).headers() == headers
            compared += 1
    assert compared > 20
    most = decided(f"1 0 {2**53 - 1} {2**53 - 1} {2**53 - 1} 0 0 0 0 7 0 1", Limit(Policy("TOKEN", 1, 2**53 - 1), "k"))
    assert most.headers()["RateLimit"] == '"token";r=999999999999999;t=0'
    with pytest.raises(ValueError, match="not enough values"):
        decided("1 2 3", Limit(Policy("TOKEN", 1, 1), "k"))


WRONG = [
    ("TOKEN 1m", "policy: expected an algorithm, a window and a limit"),
    ("TOKN 1m 5", "algorithm: expected one of"),
    ("TOKEN 5 1m", "limit: expected an integer"),
    ("TOKEN 1x 5", "window: expected a positive integer of seconds"),
    ("TOKEN 0 5", "window: "),
    ("TOKEN 9007199254740991d 5", "window: "),
    ("TOKEN 1m 9007199254740992", "limit: "),
    ("TOKEN 1m 5 BURST", "after BURST: expected a value"),
    ("TOKEN 1m 5 BURST 2 burst 3", "BURST is given twice"),
    ("TOKEN 1m 5 BURST 0", "burst: expected an integer from 1"),
    ("TOKEN 1m 5 COST 2", "cost: TOKEN takes none"),
    ("TOKEN 1m 5 AS a:b", "name: expected 1 to 64"),
    ("FIXED day 5 ANCHOR 253402300800", "anchor: "),
    ("LOCKOUT 1m 5 BLOCK 2m MAX 1m", "max: expected no less than block"),
]


def test_policies() -> None:
    def takes(text: str) -> bool:
        try:
            return bool(Policy.of(text))
        except ValueError:
            return False

    table = vectors("capabilities")["algorithms"]
    bursts = ", ".join(algorithm for algorithm, can in table.items() if can["burst"])
    with pytest.raises(ValueError, match=f"burst: FIXED takes none; {bursts} do"):
        Policy.of("FIXED 1m 5 BURST 2")
    for algorithm, can in table.items():
        assert takes(f"{algorithm} 1m 5 BURST 2") == can["burst"]
        assert takes(f"{algorithm} month 5") == takes(f"{algorithm} 1m 5 ANCHOR 0") == can["anchor"]
        assert takes(f"{algorithm} 1m 5 BLOCK 1m MAX 1d") == can["lock"]
    for text, error in WRONG:
        with pytest.raises(ValueError, match=error):
            Policy.of(text)
    with pytest.raises(TypeError, match="policy: expected a text such as"):
        Policy.of(("TOKEN", "1m", 5))  # type: ignore[arg-type]
    assert Policy.of("FIXED month 5 ANCHOR 7").name == "fixed:month:7"
    assert Policy.of("token 60s 60 shadow as x").words == ("60000ms", "60", "SHADOW")


@pytest.mark.parametrize(
    ("text", "at", "days"),
    [
        ("FIXED month 5", (2028, 2, 29), 29),
        ("FIXED month 5", (2027, 1, 31, 23, 59), 31),
        ("FIXED year 5", (2028, 12, 31), 366),
        # From 31 January on: to the last day of February.
        ("FIXED month 5 ANCHOR 1769817600", (2026, 2, 1), 28),
        ("FIXED month 5 ANCHOR 1769860800", (2026, 2, 28, 11), 28),
        ("FIXED week 5", (2026, 1, 1), 7),
    ],
)
def test_the_length_of_a_calendar_window(text: str, at: Any, days: int) -> None:
    time = datetime(*at, tzinfo=timezone.utc).timestamp()
    assert Policy.of(text).window_at(int(time * 1000)) == days * 86_400_000


def of_a_cluster(cause: Exception | None) -> Exception:
    error = RedisClusterException("Redis Cluster cannot be connected")
    error.__cause__ = cause
    return error


def reply(text: str) -> Exception:
    return BaseParser.parse_error(text)


def test_error_replies() -> None:
    table = vectors("errors")
    for text in [*table["cannot_decide"], *table["faults"]]:
        assert errors.is_unavailable(reply(text)) == (text in table["cannot_decide"]), text
        # redis-py gives the others a class without a code.
        assert text.startswith(("NOAUTH", "ERR max")) or errors.kind(reply(text)) == text.split()[0]


@pytest.mark.parametrize(
    ("error", "kind", "is_unavailable"),
    [
        (reply("MOVED 12182 127.0.0.1:7001"), "MOVED", False),
        (redis.TimeoutError("Timeout reading from socket"), "timeout", True),
        (asyncio.TimeoutError(), "timeout", True),
        (redis.ConnectionError("Connection refused"), "connection", True),
        (ConnectionResetError(), "connection", True),
        (errors.CircuitOpen(), "circuit open", True),
        (ValueError("x"), "ValueError", False),
        (redis.DataError("Invalid input"), "DataError", False),
        (SlotNotCoveredError("Slot 7 is not covered by the cluster"), "connection", True),
        (of_a_cluster(redis.ConnectionError("Connection refused")), "connection", True),
        (of_a_cluster(redis.ResponseError("WRONGTYPE Operation against a key")), "RedisClusterException", False),
        (of_a_cluster(None), "RedisClusterException", False),
        (redis.exceptions.MaxConnectionsError("Too many connections"), "overload", True),
        (redis.ConnectionError("No connection available."), "overload", True),
        (Overloaded("no connection was free"), "overload", True),
    ],
    ids=repr,
)
def test_which_errors_mean_what(error: Exception, kind: str, is_unavailable: bool) -> None:
    assert (errors.kind(error), errors.is_unavailable(error)) == (kind, is_unavailable)


@pytest.mark.parametrize("module", [redis, redis.asyncio])
def test_what_a_client_sends_again(module: Any) -> None:
    assert _retries(module.Redis(retry=None)) == _retries(module.Redis.from_url("redis://localhost", retry=None)) == 0
    assert _retries(module.Redis(retry=None, retry_on_error=[redis.TimeoutError])) == 1
    pool = module.ConnectionPool(retry_on_error=[redis.ConnectionError])
    assert _retries(module.Redis(connection_pool=pool)) == 1
    assert _retries(module.Redis()) > 1
    sentinel = module.sentinel.Sentinel([("localhost", 1)], sentinel_kwargs={"retry": None}, retry=None)
    assert _retries(sentinel.master_for("primary")) == 0


ASYNC = redis.asyncio.Redis(retry=None)
WRONG_ARGUMENTS: list[tuple[Any, Any, dict[str, Any], str]] = [
    (Limiter, None, {}, "client: expected redis.Redis(retry=None), not NoneType"),
    (Limiter, ASYNC, {}, "client: expected one of redis, not one of redis.asyncio"),
    (AsyncLimiter, CLIENT, {}, "client: expected one of redis.asyncio, not one of redis"),
    (AsyncLimiter, redis.asyncio.Redis(), {}, "client: expected one that never sends a command again"),
    (AsyncLimiter, ASYNC, {"timeout": 0}, "timeout: expected seconds"),
    (AsyncLimiter, ASYNC, {"timeout": "1s"}, "timeout: expected seconds"),
    (Limiter, CLIENT, {"timeout": 1}, "timeout: expected none; the client has it"),
    (Limiter, CLIENT, {"unavailable": "open"}, "unavailable: expected error, allow, deny or local"),
    (Limiter, CLIENT, {"unavailable": "local"}, "instances: expected how many processes"),
    (Limiter, CLIENT, {"instances": 2}, "instances: expected how many processes"),
    (Limiter, CLIENT, {"unavailable": "local", "instances": 0}, "instances: expected how many processes"),
    (Limiter, CLIENT, {"module": "no"}, "module: expected optional or required"),
    (Limiter, CLIENT, {"prefix": None}, "prefix: expected a str"),
    (Limiter, CLIENT, {"secret": ""}, "secret: expected a str that is not empty"),
    (limit, AsyncLimiter(ASYNC), {}, "limit: expected a policy and who is limited"),
    (partial(limit, AsyncLimiter(ASYNC)), "TOKEN 1m 60", {}, "limit: expected a policy and who is limited"),
    (partial(limit, AsyncLimiter(ASYNC)), ("TOKNE 1m 60", len), {}, "algorithm: expected one of"),
    (RateLimitMiddleware, FastAPI(), {"policies": len}, "limiter: expected AsyncLimiter(client), for"),
]


@pytest.mark.parametrize(("make", "argument", "options", "text"), WRONG_ARGUMENTS)
def test_wrong_arguments_are_sentences(make: Any, argument: Any, options: dict[str, Any], text: str) -> None:
    with pytest.raises((TypeError, ValueError)) as error:
        make(argument, **options)
    assert text in str(error.value)


def test_one_line_a_second(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    now = 1000.0
    monkeypatch.setattr(log.time, "monotonic", lambda: now)
    written = log.Log(log.Counters())
    for _ in range(50):
        written.write(logging.WARNING, "failing open", redis.TimeoutError("no\nreply"))
        written.write(logging.WARNING, "failing open", redis.ConnectionError("refused"))
    now += 1
    written.write(logging.WARNING, "failing open", asyncio.TimeoutError())
    assert [record.getMessage() for record in caplog.records] == [
        "failing open: TimeoutError: no reply",
        "failing open: ConnectionError: refused",
        "failing open: TimeoutError: no reply (and 49 more)",
    ]
