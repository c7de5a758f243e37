"""Which errors mean what, the breaker, the log, and what is made of keys."""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
import traceback
from typing import Any

import pytest
import redis
import redis.asyncio
from faults import example
from redis._parsers.base import BaseParser
from redis.exceptions import RedisClusterException, SlotNotCoveredError

from limits_redis_rl import errors, guard, keyed_hash, keys
from limits_redis_rl._async.limiter import AsyncBaseLimiter
from limits_redis_rl._sync.limiter import BaseLimiter
from limits_redis_rl.charge import Charge
from limits_redis_rl.storage import Figures

from .conftest import vectors


def reply(text: str) -> Exception:
    """The error of an error reply."""
    return BaseParser.parse_error(text)


def of_a_cluster(cause: Exception | None) -> Exception:
    error = RedisClusterException("Redis Cluster cannot be connected")
    error.__cause__ = cause
    return error


def kind_of(text: str) -> str | None:
    """What such a reply is counted as, but for those to which redis-py gives a class without a code."""
    return None if text.startswith(("NOAUTH", "ERR max")) else text.split()[0]


@pytest.mark.parametrize(
    ("error", "kind", "is_unavailable"),
    [
        *[(reply(text), kind_of(text), True) for text in vectors("errors")["cannot_decide"]],
        *[(reply(text), kind_of(text), False) for text in vectors("errors")["faults"]],
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
    ],
    ids=repr,
)
def test_which_errors_mean_what(error: Exception, kind: str | None, is_unavailable: bool) -> None:
    assert errors.is_unavailable(error) is is_unavailable
    assert kind in (None, errors.kind(error))


@pytest.mark.parametrize(
    "error",
    [
        redis.exceptions.MaxConnectionsError("Too many connections"),
        redis.ConnectionError("Too many connections"),
        redis.ConnectionError("No connection available."),
        errors.Overloaded("no connection was free"),
    ],
    ids=repr,
)
def test_a_full_pool_is_no_absent_server(error: Exception) -> None:
    assert errors.kind(error) == "overload"
    assert errors.is_unavailable(error)
    assert not errors.may_fail_open(error)
    # It says nothing of the server.
    each = guard.Guard()
    breaker, _ = each.breaker(redis.Redis(), "key")
    sent, _ = breaker.request(0)
    assert sent is not None
    each.ended(breaker, sent, error)
    assert (breaker.due(), breaker.state) == (None, "closed")


@pytest.mark.parametrize("module", [redis, redis.asyncio])
def test_what_a_client_sends_again(module: Any) -> None:
    assert guard.retries_of(module.Redis(retry=None)) == 0
    assert guard.retries_of(module.Redis.from_url("redis://localhost", retry=None)) == 0
    assert guard.retries_of(module.Redis(retry=None, retry_on_error=[redis.TimeoutError])) == 1
    pool = module.ConnectionPool(retry_on_error=[redis.ConnectionError])
    assert guard.retries_of(module.Redis(connection_pool=pool)) == 1
    assert guard.retries_of(module.Redis()) > 1


VECTORS, BREAKER = vectors("keys"), vectors("breaker")


@pytest.mark.parametrize(
    ("case", "timer"),
    [(case, timer) for case in BREAKER["cases"] for timer in (True, False) if case.get("timer", timer) is timer],
    ids=lambda value: value["name"] if isinstance(value, dict) else str(value),
)
def test_the_breaker(case: dict[str, Any], timer: bool) -> None:
    breaker = guard.Breaker(**(case.get("settings") or BREAKER["settings"]), timer=timer)
    without_reply: list[guard.Sent] = []
    for step in case["steps"]:
        now, event, state, expected = step
        sent: list[Any] = []
        if event == "request":
            command, probe = breaker.request(now)
            sent = [probe] if probe else []
        elif event == "reply":
            breaker.replied(without_reply.pop(0), now)
        elif event == "pong":
            breaker.pong(now)
            command = None if timer else breaker.request(now)[0]
        elif event == "leave":
            # If all have left, the caller of a probe does.
            if oldest := next((each for each in without_reply if not each.is_given_up), None):
                breaker.left(oldest)
        elif event == "connect_failed":
            probe = breaker.connect_failed(now)
            sent = [probe] if probe else []
        else:
            if timer:
                due = breaker.due()
                assert (step, due is not None and due <= now) == (step, bool(expected))
            probe = breaker.time(now)
            sent = [probe] if probe else []
        if event in ("request", "pong") and command is not None:
            without_reply.append(command)
            sent.append("command")
        assert (step, breaker.state, sent) == (step, state, expected)


@pytest.mark.parametrize(("key", "expected"), [*VECTORS["keys"]])
def test_bounded_keys(key: str, expected: str) -> None:
    assert keys.bounded(key) == keys.bounded(key.encode()) == expected.encode()


def test_two_keys_never_become_one() -> None:
    different = {key for pair in VECTORS["keys"] for key in pair}
    assert len({keys.bounded(key) for key in different}) == len(different)


@pytest.mark.parametrize(("value", "expected"), [*VECTORS["values"]])
def test_bounded_parts_of_keys(value: str, expected: str) -> None:
    assert keys.shortened(value.encode()) == expected.encode()


CALLS = [call for word, calls in vectors("algorithms").items() if word != "about" for call in calls]
# How the words of a reservation differ from those of vectors/algorithms.json.
DIFFERENCES = [
    (r"RL\.([A-Z]+) (.* (?:RESERVE|ID) .*) LINE", r"RL.MULTI 1 \1 \2 HEADERS"),
    (r"(.* RESERVE \w+ \d+)( .*)", r"\g<1>000ms\2"),
    (r"(RL\.SETTLE .*) LINE", r"\1"),
]


def test_the_words_of_reservations() -> None:
    differ: set[str] = set()
    for call in CALLS:
        command, *words = call["call"].split()
        named = dict(itertools.pairwise(words))
        if command in ("RL.RENEW", "RL.RELEASE"):
            key, id = words[0], words[-1]
            charge = Charge([("LEASE", key, "30s", 2)], "1m", id)
            built = charge.renew() if command == "RL.RENEW" else charge.settle({}, True)
        elif command == "RL.LEASE":
            built = [Charge([("LEASE", *words[:3])], "1m", named["ID"]).reserve()]
        elif "RESERVE" in named:
            limit = (command.removeprefix("RL."), *words[:3], "COST", named["COST"])
            built = [Charge([limit], named[named["RESERVE"]], named["RESERVE"]).reserve()]
        elif "RESERVATION" in named:
            charge = Charge([(*words[:4], "COST", 1)], "1m", named["RESERVATION"])
            built = charge.settle({words[1].encode(): int(named["ACTUAL"])}, True)
        else:
            continue
        expected = call["call"]
        for difference, ours in DIFFERENCES:
            expected, changes = re.subn(f"^{difference}$", ours, expected)
            differ |= {difference} if changes else set()
        text = [" ".join(w.decode() if isinstance(w, bytes) else str(w) for w in words) for words in built]
        assert text == [expected]
    assert len(differ) == len(DIFFERENCES), "a difference is gone"


def test_the_replies_to_requests() -> None:
    names = ["allowed", "count", "ttl", "limit", "remaining", "retry_after_ms", "next_ms", "reset_ms"]
    for call in CALLS:
        if "LINE" not in call["call"] or "PARTIAL" in call["call"]:
            continue
        reply = dict(zip(names, map(int, call["reply"].split()), strict=False))
        flat = [word for name, figure in reply.items() for word in (name.encode(), figure)]
        found = Figures.of(flat)
        assert found == Figures.of(reply)
        assert (found.remaining, found.next) == (reply["remaining"], reply["next_ms"] / 1000)
        if "RL.FIXED" in call["call"] and "ALWAYS" not in call["call"]:
            assert (found.fixed_count(5) <= 5) == bool(reply["allowed"])


def test_one_line_a_second(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    now = 1000.0
    monkeypatch.setattr(guard.time, "monotonic", lambda: now)
    log = guard.SlowLog()
    for _ in range(50):
        log.write(logging.WARNING, "failing open", redis.TimeoutError("no\nreply"))
        log.write(logging.WARNING, "failing open", redis.ConnectionError("refused"))
    now += 1
    log.write(logging.WARNING, "failing open", asyncio.TimeoutError())
    assert [record.getMessage() for record in caplog.records] == [
        "failing open: TimeoutError: no reply",
        "failing open: ConnectionError: refused",
        "failing open: TimeoutError: no reply (and 49 more)",
    ]


@pytest.mark.parametrize("key", [None, True, 1.5, ["x"], ("x",)])
def test_what_is_no_key(key: Any) -> None:
    with pytest.raises(TypeError, match="key: expected str, bytes or int, not"):
        keys.bounded(key)


def test_costs_of_any_size() -> None:
    largest = 2**63 - 1
    for cost in (10**30, largest, b"9223372036854775808", "9" * 5000):
        assert keys.capped(cost) == largest
    for cost in (0, -1, largest - 1, "9223372036854775807", b"5", "-1", "x", ""):
        assert keys.capped(cost) == cost


def test_keyed_hash() -> None:
    hashed = keyed_hash("secret")
    assert hashed("192.0.2.1") == hashed(b"192.0.2.1") == "84edc40821674d125954d6546b5fe475"
    assert len(hashed("")) == 32
    assert hashed("192.0.2.1") != hashed("192.0.2.2")
    assert hashed("192.0.2.1") != keyed_hash("other")("192.0.2.1")
    with pytest.raises(ValueError, match="secret"):
        keyed_hash("")


def test_the_example_without_a_library_allows_only_if_the_server_cannot_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    code = example("docs/clients.md", "python", 'client.execute_command("RL.TOKEN", "user:42"')

    def run(error: Exception) -> Any:
        def fails(*_: Any, **__: Any) -> None:
            raise error

        monkeypatch.setattr(redis.Redis, "execute_command", fails)
        names: dict[str, Any] = {}
        exec(code, names)
        return names["allowed"]

    for error in (redis.ConnectionError("Connection refused"), redis.TimeoutError("Timeout reading from socket")):
        assert run(error) == 1
    for error in (
        redis.AuthenticationError("invalid username-password pair"),
        redis.exceptions.AuthorizationError("this user has no permissions"),
        redis.exceptions.MaxConnectionsError("Too many connections"),
        redis.ResponseError("WRONGTYPE Operation against a key"),
    ):
        with pytest.raises(type(error)):
            run(error)


@pytest.mark.parametrize("text", ["ERR unknown command 'RL.MULTI', with args beginning with: 'TOKEN' '192.0.2.1'", "x"])
async def test_no_module_names_no_caller(text: str, caplog: pytest.LogCaptureFixture) -> None:
    expected = "has not loaded redis-rl; start it with --loadmodule" if text != "x" else "ResponseError: x"

    class Client:
        async def execute_command(self, *_: Any) -> Any:
            raise reply(text)

    class Blocking:
        def execute_command(self, *_: Any) -> Any:
            raise reply(text)

    asynchronous, blocking = guard.Guard(module="required"), guard.Guard(timer=False, module="required")
    with pytest.raises(redis.ResponseError) as first:
        await AsyncBaseLimiter(Client(), True, asynchronous).reserve([("WINDOW", "192.0.2.1", "1m", 5)], "1m")
    with pytest.raises(redis.ResponseError) as second:
        BaseLimiter(Blocking(), True, blocking).reserve([("WINDOW", "192.0.2.1", "1m", 5)], "1m")
    assert caplog.text.count(expected) == 2
    for error in (first, second):
        lines = "".join(traceback.format_exception(error.type, error.value, error.tb))
        assert text == "x" or "192.0.2.1" not in caplog.text + str(error.value) + lines.replace('"192.0.2.1"', "")
