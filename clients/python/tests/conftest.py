from __future__ import annotations

import contextlib
import itertools
import pathlib
from collections.abc import Iterator

import pytest
import redis
from server import Server, binaries

import limits_redis_rl  # noqa: F401 - registers the schemes

from .servers import cluster

_numbers = itertools.count()


@pytest.fixture(scope="session", params=binaries(), ids=lambda path: pathlib.Path(path).parent.name)
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    with contextlib.closing(Server(request.param)) as server:
        yield server.port


@pytest.fixture(scope="session", params=binaries(), ids=lambda path: pathlib.Path(path).parent.name)
def ports(request: pytest.FixtureRequest) -> Iterator[list[int]]:
    with cluster(request.param) as ports:
        yield ports


@pytest.fixture
def raw(port: int) -> Iterator[redis.Redis]:
    """Another client of the same server."""
    with redis.Redis(port=port, decode_responses=True, protocol=3) as client:
        yield client


@pytest.fixture
def prefix() -> str:
    """Keys that no other test has."""
    return f"test{next(_numbers)}"
