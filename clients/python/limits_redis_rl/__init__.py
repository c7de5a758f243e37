"""Rate limits of the Redis and Valkey module redis-rl, for the library limits and for ASGI applications.

Importing this package registers the URI schemes ``redis-rl://`` and ``async+redis-rl://`` with limits.
"""

from .asgi import RateLimitMiddleware
from .guard import Counters, is_unavailable, keyed_hash
from .storage import (
    AsyncRedisRlClusterStorage,
    AsyncRedisRlStorage,
    RedisRlClusterStorage,
    RedisRlStorage,
)

__all__ = [
    "AsyncRedisRlClusterStorage",
    "AsyncRedisRlStorage",
    "Counters",
    "RateLimitMiddleware",
    "RedisRlClusterStorage",
    "RedisRlStorage",
    "is_unavailable",
    "keyed_hash",
]
