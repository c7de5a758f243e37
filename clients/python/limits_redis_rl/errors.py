"""Which errors mean what."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import redis
from redis.exceptions import AuthorizationError, ClusterError, RedisClusterException, SlotNotCoveredError

# Replies of a server that works, but cannot decide now: vectors/errors.json.
CANNOT_DECIDE = {"BUSY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "MISCONF", "NOREPLICAS", "OOM", "READONLY", "TRYAGAIN"}
TOO_MANY_CLIENTS = "max number of clients"

# redis-py takes the code from the text of these errors. Version 7.1 and older ones do not keep it.
CODES: list[tuple[type[Exception], str]] = [
    (redis.AuthenticationError, "WRONGPASS"),
    (redis.OutOfMemoryError, "OOM"),
    (redis.ReadOnlyError, "READONLY"),
    (redis.BusyLoadingError, "LOADING"),
    (redis.exceptions.NoPermissionError, "NOPERM"),
    (redis.exceptions.MasterDownError, "MASTERDOWN"),
    (redis.exceptions.ClusterDownError, "CLUSTERDOWN"),
    (redis.exceptions.TryAgainError, "TRYAGAIN"),
    (redis.exceptions.ClusterCrossSlotError, "CROSSSLOT"),
    (redis.exceptions.MovedError, "MOVED"),
]

# What a server without the module replies to a command of it. A client of a cluster asks the server for the keys.
NO_MODULE = re.compile(r"^(ERR )?unknown command *['`]?RL\.|^RL\.\w+ command doesn't exist", re.I)

# What some pools of redis-py raise in place of MaxConnectionsError, if all connections are in use.
POOL_IS_FULL = ("Too many connections", "No connection available.")


class CircuitOpen(redis.ConnectionError):
    """Earlier requests had no reply, so this one was not sent."""

    def __str__(self) -> str:
        return "the server does not reply, so this request was not sent"


class Overloaded(redis.TimeoutError):
    """All connections of the client were in use until the time was over, so this request was not sent. A client that
    sends many requests at once can cause this. So `unavailable="allow"` does not allow such a request."""


# The server has nothing of a call with such an error.
NOT_SENT = (CircuitOpen, Overloaded)


def is_pool_full(error: BaseException) -> bool:
    """Whether all connections of the client were in use, so nothing was sent."""
    if isinstance(error, redis.exceptions.MaxConnectionsError):
        return True
    return type(error) is redis.ConnectionError and str(error) in POOL_IS_FULL


def kind(error: BaseException) -> str:
    """The code of an error reply (``WRONGTYPE``, ``ERR`` …), or ``timeout``, ``connection``, ``circuit open``,
    ``overload``; of any other error its class."""
    if isinstance(error, CircuitOpen):
        return "circuit open"
    if isinstance(error, Overloaded) or is_pool_full(error):
        return "overload"
    if isinstance(error, (redis.TimeoutError, asyncio.TimeoutError, TimeoutError)):
        return "timeout"
    for known, code in CODES:
        if isinstance(error, known):
            return code
    if isinstance(error, redis.ResponseError):
        first = str(error).split(" ", 1)[0]
        return first if first.isalpha() and first.isupper() else "ERR"
    return "connection" if is_unavailable(error) else type(error).__name__


def is_unavailable(error: BaseException) -> bool:
    """Whether the server cannot decide now. Every other error is a fault of the configuration or of the request."""
    if isinstance(error, (redis.AuthenticationError, AuthorizationError)):
        return False
    if isinstance(error, redis.ResponseError):
        return kind(error) in CANNOT_DECIDE or TOO_MANY_CLIENTS in str(error)
    if isinstance(error, RedisClusterException):
        # No node could be asked for the slots, or no node has this one. Others are about the command.
        cause = error.__cause__
        return isinstance(error, SlotNotCoveredError) or (cause is not None and is_unavailable(cause))
    return isinstance(error, (redis.ConnectionError, redis.TimeoutError, ClusterError, asyncio.TimeoutError, OSError))


class Denied(Exception):
    """A limit denies what cannot go on without it."""

    def __init__(self, decision: Any) -> None:
        wait = "never" if decision.retry_after is None else f"in {decision.retry_after:g} s"
        super().__init__(f"denied; allowed {wait}")
        self.decision = decision
