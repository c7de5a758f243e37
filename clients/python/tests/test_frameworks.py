"""flask-limiter and slowapi, which use the module because their storage URI says so."""

from __future__ import annotations

import time
from typing import Any

import flask
import flask_limiter
import pytest
import slowapi
from fastapi import FastAPI, Request, Response
from fastapi.testclient import TestClient
from server import free_port
from slowapi.errors import RateLimitExceeded
from slowapi.util import get_remote_address


def with_flask(**options: Any) -> tuple[Any, Any, Any]:
    """The client of an application, the limiter and its storage."""
    app = flask.Flask(__name__)
    limiter = flask_limiter.Limiter(flask_limiter.util.get_remote_address, app=app, headers_enabled=True, **options)
    app.get("/")(limiter.limit("3/day")(lambda: "hello"))
    return app.test_client(), limiter, limiter.storage


def with_slowapi(**options: Any) -> tuple[Any, Any, Any]:
    limiter = slowapi.Limiter(key_func=get_remote_address, headers_enabled=True, **options)
    app = FastAPI()
    app.state.limiter = limiter
    app.add_exception_handler(RateLimitExceeded, slowapi._rate_limit_exceeded_handler)  # type: ignore[arg-type]

    @app.get("/")
    @limiter.limit("3/day")
    def index(request: Request, response: Response) -> str:
        return "hello"

    return TestClient(app), limiter, limiter._storage


@pytest.mark.parametrize("framework", [with_flask, with_slowapi])
@pytest.mark.parametrize("strategy", ["fixed-window", "moving-window", "sliding-window-counter"])
def test_three_pass_and_the_fourth_gets_429(framework: Any, strategy: str, port: int, prefix: str) -> None:
    options = {"key_prefix": prefix, "socket_timeout": 5}
    client, limiter, storage = framework(
        storage_uri=f"redis-rl://127.0.0.1:{port}", storage_options=options, strategy=strategy
    )
    for status, remaining in [(200, "2"), (200, "1"), (200, "0"), (429, "0")]:
        response = client.get("/")
        assert (response.status_code, response.headers["X-RateLimit-Remaining"]) == (status, remaining)
    wait = int(response.headers["Retry-After"])
    assert wait == pytest.approx(float(response.headers["X-RateLimit-Reset"]) - time.time(), abs=10)
    midnight = 86400 - time.time() % 86400
    expected = {
        "fixed-window": midnight,
        "moving-window": 86400 + 86400 / 4096,
        # Three requests today weigh less than three tomorrow at once, and two when a third of the day is over.
        "sliding-window-counter": midnight + 86400 / 3,
    }
    assert wait == pytest.approx(expected[strategy], abs=32)
    limiter.reset()
    assert client.get("/").status_code == 200
    storage.storage.close()


@pytest.mark.parametrize(("options", "status"), [({}, 500), ({"swallow_errors": True}, 200)])
def test_without_the_server(options: dict[str, Any], status: int) -> None:
    """With in_memory_fallback_enabled: clients/faults.py."""
    client, _, storage = with_flask(storage_uri=f"redis-rl://127.0.0.1:{free_port()}", **options)
    for _ in range(3):
        assert client.get("/").status_code == status
    # The second sends PING first, which finds no server either.
    assert storage.counters.errors == {"connection": 1, "circuit open": 2}
    storage.storage.close()
