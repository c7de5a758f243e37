"""Rate limits of the Redis and Valkey module redis-rl, for the library limits, for ASGI applications, and
reservations.

Importing this package registers the URI schemes ``redis-rl://`` and ``async+redis-rl://`` with limits.
"""

from .asgi import RateLimitMiddleware
from .guard import Counters, Overloaded, is_unavailable, keyed_hash
from .reservation import AsyncLimiter, AsyncReservation, Decision, Limiter, Reservation
from .storage import (
    AsyncRedisRlClusterStorage,
    AsyncRedisRlStorage,
    RedisRlClusterStorage,
    RedisRlStorage,
)

__all__ = [
    "AsyncLimiter",
    "AsyncRedisRlClusterStorage",
    "AsyncRedisRlStorage",
    "AsyncReservation",
    "Counters",
    "Decision",
    "Limiter",
    "Overloaded",
    "RateLimitMiddleware",
    "RedisRlClusterStorage",
    "RedisRlStorage",
    "Reservation",
    "is_unavailable",
    "keyed_hash",
]
