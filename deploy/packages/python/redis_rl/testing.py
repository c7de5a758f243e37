"""Fixtures for pytest. In conftest.py: `pytest_plugins = ["redis_rl.testing"]`"""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from .server import Server

__all__ = ["redis_rl", "redis_rl_server"]


@pytest.fixture(scope="session")
def redis_rl_server() -> Iterator[Server]:
    """A server with the module, for all tests of the session: `port`, `host`, `url`."""
    with Server() as server:
        yield server


@pytest.fixture
def redis_rl(redis_rl_server: Server) -> Server:
    """The same server without a key."""
    with socket.create_connection((redis_rl_server.host, redis_rl_server.port), timeout=10) as connection:
        connection.sendall(b"FLUSHALL\r\n")
        reply = connection.recv(64)
    if not reply.startswith(b"+OK"):
        raise RuntimeError(f"the server replies to FLUSHALL: {reply!r}")
    return redis_rl_server
