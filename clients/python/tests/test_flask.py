"""A Flask application with flask-limiter, which uses the module because its storage URI says so."""

from __future__ import annotations

import time
from typing import Any

import pytest
from flask import Flask
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from server import free_port


@pytest.mark.parametrize("strategy", ["fixed-window", "moving-window", "sliding-window-counter"])
def test_flask_limiter(strategy: str, port: int, prefix: str) -> None:
    app = Flask(__name__)
    limiter = Limiter(
        get_remote_address,
        app=app,
        storage_uri=f"redis-rl://127.0.0.1:{port}",
        storage_options={"key_prefix": prefix, "socket_timeout": 5},
        strategy=strategy,
        headers_enabled=True,
    )

    @app.get("/")
    @limiter.limit("3/day")
    def index() -> str:
        return "hello"

    @app.get("/expensive")
    @limiter.limit("10/day", cost=6)
    def expensive() -> str:
        return "hello"

    client = app.test_client()
    for remaining in (2, 1, 0):
        response = client.get("/")
        assert response.status_code == 200
        assert response.headers["X-RateLimit-Limit"] == "3"
        assert response.headers["X-RateLimit-Remaining"] == str(remaining)
    response = client.get("/")
    assert response.status_code == 429
    assert response.headers["X-RateLimit-Remaining"] == "0"
    wait = int(response.headers["Retry-After"])
    assert int(response.headers["X-RateLimit-Reset"]) - time.time() == pytest.approx(wait, abs=10)
    midnight = 86400 - time.time() % 86400
    if strategy == "fixed-window":
        assert wait == pytest.approx(midnight, abs=10)
    elif strategy == "moving-window":
        assert wait == pytest.approx(86400 + 86400 / 4096, abs=32)
    else:
        # Three requests today weigh less than three tomorrow at once, and weigh two when a third of the day is over.
        assert wait == pytest.approx(midnight + 86400 / 3, abs=10)

    assert client.get("/expensive").status_code == 200
    assert client.get("/expensive").status_code == 429
    limiter.reset()
    assert client.get("/").status_code == 200
    limiter.storage.storage.close()


@pytest.mark.parametrize(("options", "status"), [({}, 500), ({"swallow_errors": True}, 200)])
def test_without_the_server(options: dict[str, Any], status: int) -> None:
    """With in_memory_fallback_enabled: clients/faults.py."""
    app = Flask(__name__)
    limiter = Limiter(
        get_remote_address,
        app=app,
        storage_uri=f"redis-rl://127.0.0.1:{free_port()}",
        default_limits=["3/day"],
        **options,
    )
    app.get("/")(lambda: "hello")
    for _ in range(3):
        assert app.test_client().get("/").status_code == status
    # The second sends PING first, which finds no server either.
    assert limiter.storage.counters.errors == {"connection": 1, "circuit open": 2}
    limiter.storage.storage.close()
