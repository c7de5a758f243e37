"""Which errors mean what, the breaker, the log, and what is made of keys."""

from __future__ import annotations

import asyncio
import logging

import pytest
import redis
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


def test_keyed_hash() -> None:
    hashed = keyed_hash("secret")
    assert hashed("192.0.2.1") == hashed(b"192.0.2.1") == "84edc40821674d125954d6546b5fe475"
    assert len(hashed("")) == 32
    assert hashed("192.0.2.1") != hashed("192.0.2.2")
    assert hashed("192.0.2.1") != keyed_hash("other")("192.0.2.1")
    with pytest.raises(ValueError, match="secret"):
        keyed_hash("")
