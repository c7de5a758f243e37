"""Which errors mean what."""

from __future__ import annotations

import asyncio
import re

import redis
from redis.exceptions import AuthorizationError, ClusterError, RedisClusterException, SlotNotCoveredError

# Replies of a server that works, but cannot decide now.
CANNOT_DECIDE = {"BUSY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "MISCONF", "NOREPLICAS", "OOM", "READONLY", "TRYAGAIN"}
TOO_MANY_CLIENTS = "max number of clients"

# redis-py before 6 takes the code from the text of these errors, and does not keep it.
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

# What a server without the module replies to a command of it.
NO_MODULE = re.compile(r"^(ERR )?unknown command *['`]?RL\.|^RL\.\w+ command doesn't exist", re.I)

# What the pools of redis-py raise if all connections are in use, before version 6 and if they wait for one.
POOL_IS_FULL = ("Too many connections", "No connection available.")


class NoModule(redis.ResponseError):
    """The server has not loaded the module. The server's own error has the caller in it."""

    def __init__(self) -> None:
        super().__init__(
            "ERR no module: the server has not loaded redis-rl; start it with --loadmodule /path/to/libredis_rl.so "
            "(docs/install.md)"
        )


class CircuitOpen(redis.ConnectionError):
    """Earlier requests had no reply, so this one was not sent."""


class Overloaded(redis.TimeoutError):
    """All connections of the client were in use, and then the time was over.

    The server may work, and whoever sends many requests at once causes this. So such a request is never allowed.
    """

    def __init__(self, text: str, is_sent: bool = False) -> None:
        super().__init__(text)
        self.is_sent = is_sent


def is_pool_full(error: BaseException) -> bool:
    """Whether all connections of the client were in use, so nothing was sent."""
    if isinstance(error, redis.exceptions.MaxConnectionsError):
        return True
    return type(error) is redis.ConnectionError and str(error) in POOL_IS_FULL


def kind(error: BaseException) -> str:
    """The code of an error reply (``WRONGTYPE``, ``ERR`` …), or ``timeout``, ``connection``, ``circuit open``,
    ``overload``."""
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
    if is_unavailable(error):
        return "connection"
    return type(error).__name__


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


def may_fail_open(error: BaseException) -> bool:
    """Whether a request may be allowed after this error: the server cannot decide."""
    return is_unavailable(error) and kind(error) != "overload"


def describe(error: BaseException) -> str:
    """The name and the text of an error, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split()) or 'no reply'}"
