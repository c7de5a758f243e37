"""Rate limits in Redis and Valkey: a limiter, a middleware for ASGI applications, and storages for the library limits.

Importing this package registers the URI schemes ``redis-rl://`` and ``async+redis-rl://`` with limits.
"""

from ._async.limiter import AsyncLimiter
from ._async.reservation import AsyncReservation
from ._async.storage import AsyncRedisRlStorage
from ._sync.limiter import Limiter
from ._sync.reservation import Reservation
from ._sync.storage import RedisRlStorage
from .asgi import RateLimitMiddleware
from .calls import Limit
from .decision import Decision, Decisions
from .errors import Denied, Overloaded, is_unavailable
from .keys import address_key
from .log import Counters
from .policy import Policy

__all__ = [
    "AsyncLimiter",
    "AsyncRedisRlStorage",
    "AsyncReservation",
    "Counters",
    "Decision",
    "Decisions",
    "Denied",
    "Limit",
    "Limiter",
    "Overloaded",
    "Policy",
    "RateLimitMiddleware",
    "RedisRlStorage",
    "Reservation",
    "address_key",
    "is_unavailable",
]
