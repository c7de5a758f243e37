"""A FastAPI application with slowapi, which uses the module because its storage URI says so."""

from __future__ import annotations

import time

import pytest
from fastapi import FastAPI, Request, Response
from fastapi.testclient import TestClient
from slowapi import Limiter, _rate_limit_exceeded_handler
from slowapi.errors import RateLimitExceeded
from slowapi.util import get_remote_address


@pytest.mark.parametrize("strategy", ["fixed-window", "moving-window", "sliding-window-counter"])
def test_slowapi(strategy: str, port: int, prefix: str) -> None:
    limiter = Limiter(
        key_func=get_remote_address,
        storage_uri=f"redis-rl://127.0.0.1:{port}",
        storage_options={"key_prefix": prefix, "socket_timeout": 5},
        strategy=strategy,
        headers_enabled=True,
    )
    app = FastAPI()
    app.state.limiter = limiter
    app.add_exception_handler(RateLimitExceeded, _rate_limit_exceeded_handler)

    @app.get("/")
    @limiter.limit("3/day")
    def index(request: Request, response: Response) -> str:
        return "hello"

    client = TestClient(app)
    for remaining in (2, 1, 0):
        response = client.get("/")
        assert response.status_code == 200
        assert response.headers["X-RateLimit-Limit"] == "3"
        assert response.headers["X-RateLimit-Remaining"] == str(remaining)
    response = client.get("/")
    assert response.status_code == 429
    assert response.headers["X-RateLimit-Remaining"] == "0"
    wait = int(response.headers["Retry-After"])
    assert wait == pytest.approx(float(response.headers["X-RateLimit-Reset"]) - time.time(), abs=10)
    if strategy == "moving-window":
        assert wait == pytest.approx(86400 + 86400 / 4096, abs=32)
    limiter.reset()
    assert client.get("/").status_code == 200
    limiter._storage.storage.close()
