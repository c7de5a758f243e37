"""A route of FastAPI beside slowapi, with the same server: make bench-python.

A round measures both, one after the other, in turns. The ratio is the median of those of all rounds. With CHECK=1 it
fails if that is above its goal.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import sys
import time
from typing import Any

import redis.asyncio
from fastapi import FastAPI, Request
from server import Server, binaries
from slowapi import Limiter
from slowapi.util import get_remote_address

from limits_redis_rl import AsyncLimiter, RateLimitMiddleware

ROUNDS, REQUESTS, GOAL = 9, 1000, 1.0
SCOPE = {
    "type": "http",
    "method": "GET",
    "path": "/",
    "query_string": b"",
    "headers": [],
    "client": ("192.0.2.1", 1),
    "server": ("127.0.0.1", 80),
}


def theirs(port: int) -> FastAPI:
    app = FastAPI()
    app.state.limiter = limiter = Limiter(get_remote_address, storage_uri=f"redis://127.0.0.1:{port}")

    @app.get("/")
    @limiter.limit("1000000/minute")
    async def index(request: Request) -> str:
        return "hello"

    return app


def ours(client: redis.asyncio.Redis) -> FastAPI:
    app = FastAPI()
    policies = lambda scope: [("FIXED 1m 1000000", scope["client"][0])]  # noqa: E731
    app.add_middleware(RateLimitMiddleware, limiter=AsyncLimiter(client, timeout=10), policies=policies)

    @app.get("/")
    async def index() -> str:
        return "hello"

    return app


async def measured(app: FastAPI) -> float:
    """The median of the microseconds of a request."""
    statuses: list[int] = []

    async def receive() -> Any:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        statuses.append(message.get("status", 200))

    times = []
    for _ in range(REQUESTS):
        begin = time.perf_counter()
        await app(dict(SCOPE), receive, send)
        times.append(time.perf_counter() - begin)
    assert set(statuses) == {200}, set(statuses)
    return statistics.median(times) * 1e6


async def main() -> None:
    with contextlib.closing(Server(binaries()[0])) as server:
        async with redis.asyncio.Redis(port=server.port, retry=None, socket_timeout=None) as client:
            apps = {"slowapi": theirs(server.port), "limits-redis-rl": ours(client)}
            found: dict[str, list[float]] = {name: [] for name in apps}
            for number in range(-1, ROUNDS):
                for name in list(apps) if number % 2 else list(reversed(apps)):
                    us = await measured(apps[name])
                    found[name] += [us] if number >= 0 else []
    ratio = statistics.median(b / a for a, b in zip(*found.values(), strict=True))
    shown = ", ".join(f"{name} {statistics.median(all_of):.0f} µs" for name, all_of in found.items())
    print(f"p50 of a request: {shown}: {ratio:.2f} x, goal {GOAL}")
    sys.exit(bool(os.environ.get("CHECK")) and ratio > GOAL)


if __name__ == "__main__":
    asyncio.run(main())
