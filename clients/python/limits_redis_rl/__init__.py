"""Rate limits of the Redis and Valkey module redis-rl, for the library limits, for ASGI applications, and
reservations.

Importing this package registers the URI schemes ``redis-rl://`` and ``async+redis-rl://`` with limits.
"""

from ._async.limiter import AsyncReservation
from ._async.storage import AsyncRedisRlClusterStorage, AsyncRedisRlStorage
from ._sync.limiter import Reservation
from ._sync.storage import RedisRlClusterStorage, RedisRlStorage
from .asgi import RateLimitMiddleware
from .charge import Decision
from .errors import Overloaded, is_unavailable
from .guard import Counters
from .keys import keyed_hash
from .reservation import AsyncLimiter, Limiter

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
