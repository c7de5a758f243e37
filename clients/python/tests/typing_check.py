"""Checked by mypy, not run: limits and Starlette accept the types of this package."""

import redis.asyncio
from limits.aio.strategies import MovingWindowRateLimiter as AsyncMovingWindowRateLimiter
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter, SlidingWindowCounterRateLimiter
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from starlette.applications import Starlette

from limits_redis_rl import AsyncRedisRlStorage, RateLimitMiddleware, RedisRlStorage

storage = RedisRlStorage("redis-rl://localhost", moving_window="SLIDING", socket_timeout=0.1)
FixedWindowRateLimiter(storage)
MovingWindowRateLimiter(storage)
SlidingWindowCounterRateLimiter(storage)
AsyncMovingWindowRateLimiter(AsyncRedisRlStorage("async+redis-rl://localhost"))

app = Starlette()
app.add_middleware(
    RateLimitMiddleware,
    client=redis.asyncio.Redis(retry=Retry(NoBackoff(), 0)),
    policies=lambda scope: [("TOKEN", f"ip:{scope['client'][0]}", "1m", 60)],
)
