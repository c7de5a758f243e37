"""Which errors mean what, the breaker, the log, and what is made of keys."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
import redis
import redis.asyncio
from redis._parsers.base import BaseParser
from redis.exceptions import RedisClusterException, SlotNotCoveredError

from limits_redis_rl import guard, keyed_hash

UNAVAILABLE = [
    "LOADING Redis is loading the dataset in memory",
    "READONLY You can't write against a read only replica.",
    "CLUSTERDOWN The cluster is down",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "NOREPLICAS Not enough good replicas to write.",
    "BUSY Redis is busy running a script.",
    "MISCONF Redis is configured to save RDB snapshots",
    "OOM command not allowed when used memory > 'maxmemory'.",
    "ERR max number of clients reached",
    "ERR max number of clients + cluster connections reached",
]
FAULTS = [
    "ERR unknown command 'RL.TOKEN', with args beginning with: 'k'",
    "ERR invalid window: expected a positive integer of seconds",
    "ERR syntax error: after limit come COST n",
    "WRONGTYPE Operation against a key holding the wrong kind of value",
    "NOPERM No permissions to access a key",
    "NOAUTH Authentication required.",
    "WRONGPASS invalid username-password pair or user is disabled.",
    "CROSSSLOT Keys in request don't hash to the same slot",
    "MOVED 12182 127.0.0.1:7001",
]


@pytest.mark.parametrize("text", UNAVAILABLE)
def test_replies_of_a_server_that_cannot_decide(text: str) -> None:
    assert guard.is_unavailable(BaseParser.parse_error(text))


@pytest.mark.parametrize("text", FAULTS)
def test_replies_about_the_call(text: str) -> None:
    error = BaseParser.parse_error(text)
    assert not guard.is_unavailable(error)
    if not text.startswith("NOAUTH"):
        assert guard.kind(error) == text.split()[0]


def test_errors_without_a_reply() -> None:
    for error, kind in [
        (redis.TimeoutError("Timeout reading from socket"), "timeout"),
        (asyncio.TimeoutError(), "timeout"),
        (redis.ConnectionError("Connection refused"), "connection"),
        (ConnectionResetError(), "connection"),
        (guard.CircuitOpen(), "circuit open"),
    ]:
        assert guard.is_unavailable(error)
        assert guard.kind(error) == kind
    for fault in (ValueError("x"), KeyError("allowed"), redis.DataError("Invalid input")):
        assert not guard.is_unavailable(fault)


def test_errors_of_a_cluster() -> None:
    no_node = RedisClusterException("Redis Cluster cannot be connected")
    no_node.__cause__ = redis.ConnectionError("Connection refused")
    for error in (no_node, SlotNotCoveredError("Slot 7 is not covered by the cluster")):
        assert guard.is_unavailable(error)
        assert guard.kind(error) == "connection"
    about_the_call = RedisClusterException("No way to dispatch this command to Redis Cluster. Missing key.")
    assert not guard.is_unavailable(about_the_call)
    about_the_call.__cause__ = redis.ResponseError("WRONGTYPE Operation against a key")
    assert not guard.is_unavailable(about_the_call)


@pytest.mark.parametrize(
    "error",
    [
        redis.exceptions.MaxConnectionsError("Too many connections"),
        redis.ConnectionError("Too many connections"),
        redis.ConnectionError("No connection available."),
        guard.Overloaded("no connection was free"),
    ],
    ids=repr,
)
def test_a_full_pool_is_no_absent_server(error: Exception) -> None:
    assert guard.kind(error) == "overload"
    assert guard.is_unavailable(error)
    assert not guard.may_fail_open(error)
    each = guard.Guard()
    for _ in range(9):
        assert each.failed(error, "failing closed")
        each.enter()
    # It says nothing of the server.
    for _ in range(4):
        each.failed(redis.TimeoutError(), "failing open")
    each.failed(error, "failing closed")
    each.failed(redis.TimeoutError(), "failing open")
    with pytest.raises(guard.CircuitOpen):
        each.enter()


@pytest.mark.parametrize("module", [redis, redis.asyncio])
def test_what_a_client_sends_again(module: Any) -> None:
    assert guard.retries_of(module.Redis(retry=None)) == 0
    assert guard.retries_of(module.Redis.from_url("redis://localhost", retry=None)) == 0
    assert guard.retries_of(module.Redis(retry=None, retry_on_error=[redis.TimeoutError])) == 1
    pool = module.ConnectionPool(retry_on_error=[redis.ConnectionError])
    assert guard.retries_of(module.Redis(connection_pool=pool)) == 1
    assert guard.retries_of(module.Redis()) > 1


def test_the_breaker(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(guard.time, "monotonic", lambda: now)
    breaker = guard.Breaker(failures=3, open_for=1)
    for _ in range(2):
        breaker.failed()
    breaker.succeeded()
    for _ in range(3):
        assert breaker.permits()
        breaker.failed()
    assert not breaker.permits()
    now += 1
    # One request tries; the others wait for it.
    assert [breaker.permits(), breaker.permits()] == [True, False]
    breaker.failed()
    assert not breaker.permits()
    now += 1
    assert breaker.permits()
    breaker.succeeded()
    assert [breaker.permits(), breaker.permits()] == [True, True]


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


def test_keys_of_any_length_become_short_and_stay_different() -> None:
    assert guard.bounded("user:42") == b"user:42"
    assert guard.bounded(b"x" * 512) == b"x" * 512
    long = ["x" * 513, "x" * 514, "a{" + "x" * 600 + "}b", "a{" + "x" * 600 + "}c", "a{" + "y" * 600 + "}b"]
    short = [guard.bounded(key) for key in long]
    assert len(set(short)) == len(long)
    assert max(map(len, short)) <= guard.LONGEST_KEY
    tags = [key.partition(b"{")[2].partition(b"}")[0] for key in short[2:]]
    assert tags[0] == tags[1] != tags[2]


@pytest.mark.parametrize("key", [None, True, 1.5, ["x"], ("x",)])
def test_what_is_no_key(key: Any) -> None:
    with pytest.raises(TypeError, match="key: expected str, bytes or int, not"):
        guard.bounded(key)


def test_costs_of_any_size() -> None:
    largest = 2**63 - 1
    for cost in (10**30, largest, b"9223372036854775808", "9" * 5000):
        assert guard.capped(cost) == largest
    for cost in (0, -1, largest - 1, "9223372036854775807", b"5", "-1", "x", ""):
        assert guard.capped(cost) == cost


def test_keyed_hash() -> None:
    hashed = keyed_hash("secret")
    assert hashed("192.0.2.1") == hashed(b"192.0.2.1") == "84edc40821674d125954d6546b5fe475"
    assert len(hashed("")) == 32
    assert hashed("192.0.2.1") != hashed("192.0.2.2")
    assert hashed("192.0.2.1") != keyed_hash("other")("192.0.2.1")
    with pytest.raises(ValueError, match="secret"):
        keyed_hash("")
