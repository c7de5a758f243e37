"""The examples of the pages for a program without a library."""

from __future__ import annotations

from typing import Any

import pytest
import redis
from faults import example

NEVER_ALLOWED = [
    redis.AuthenticationError("invalid username-password pair"),
    redis.exceptions.AuthorizationError("this user has no permissions"),
    redis.exceptions.MaxConnectionsError("Too many connections"),
    redis.ResponseError("WRONGTYPE Operation against a key"),
]


def test_only_a_server_that_cannot_decide_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    code = example("docs/clients.md", "python", 'client.execute_command("RL.TOKEN", "user:42"')

    def run(error: Exception) -> Any:
        def fails(*_: Any, **__: Any) -> None:
            raise error

        monkeypatch.setattr(redis.Redis, "execute_command", fails)
        names: dict[str, Any] = {}
        exec(code, names)
        return names["allowed"]

    for error in (redis.ConnectionError("Connection refused"), redis.TimeoutError("Timeout reading from socket")):
        assert run(error) == 1
    for error in NEVER_ALLOWED:
        with pytest.raises(type(error)):
            run(error)
