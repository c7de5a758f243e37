"""Checked by mypy, not run: limits and Starlette accept the types of this package."""

import redis.asyncio
from limits.aio.strategies import MovingWindowRateLimiter as AsyncMovingWindowRateLimiter
from limits.strategies import FixedWindowRateLimiter, SlidingWindowCounterRateLimiter
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from starlette.applications import Starlette

from limits_redis_rl import (
    AsyncLimiter,
    AsyncRedisRlStorage,
    AsyncReservation,
    Decision,
    Decisions,
    Limiter,
    Policy,
    RateLimitMiddleware,
    RedisRlStorage,
)

FixedWindowRateLimiter(RedisRlStorage("redis-rl://localhost", socket_timeout=0.1))
SlidingWindowCounterRateLimiter(RedisRlStorage("redis-rl://localhost"))
AsyncMovingWindowRateLimiter(AsyncRedisRlStorage("async+redis-rl://localhost"))

limiter = AsyncLimiter(redis.asyncio.Redis(retry=Retry(NoBackoff(), 0)))
app = Starlette()
app.add_middleware(RateLimitMiddleware, limiter=limiter, policies=lambda scope: [("TOKEN 1m 60", scope["client"][0])])


async def typed() -> None:
    one: Decision = await limiter.check(Policy("TOKEN", "1m", 60, burst=10), "user:42", cost=2)
    several: Decisions = await limiter.check_all([("TOKEN 1m 60", "user:42"), ("FIXED day 9 AS ip", "192.0.2.1", 2)])
    wait: float | None = one.retry_after or several.retry_after
    async with limiter.lease("LEASE 30s 5", "jobs") as held, await limiter.reserve([("WINDOW 1d 9", wait)], "1m"):  # type: ignore[list-item]
        reservation: AsyncReservation = held
        reservation.report({"tokens": 5})


threads: Decision = Limiter(redis.Redis(socket_timeout=0.1)).check("TOKEN 1m 60", 42)
