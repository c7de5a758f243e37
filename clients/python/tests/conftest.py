from __future__ import annotations

import contextlib
import inspect
import itertools
import json
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
import redis
from server import ROOT, Server, binaries, cluster

import limits_redis_rl  # noqa: F401 - registers the schemes

_numbers = itertools.count()


def vectors(name: str) -> Any:
    """A table that all clients share."""
    return json.loads((ROOT / f"vectors/{name}.json").read_text())


async def value(result: Any) -> Any:
    """Awaits what asyncio returns; what threads return is there already."""
    return await result if inspect.isawaitable(result) else result


@pytest.fixture(scope="session", params=binaries(), ids=lambda path: pathlib.Path(path).parent.name)
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    with contextlib.closing(Server(request.param)) as server:
        yield server.port


@pytest.fixture(scope="session", params=binaries(), ids=lambda path: pathlib.Path(path).parent.name)
def ports(request: pytest.FixtureRequest) -> Iterator[list[int]]:
    """Three masters of a cluster, without replicas."""
    with cluster(request.param) as nodes:
        yield [node.port for node in nodes]


@pytest.fixture
def raw(port: int) -> Iterator[redis.Redis]:
    """Another client of the same server."""
    with redis.Redis(port=port, decode_responses=True, protocol=3) as client:
        yield client


@pytest.fixture
def prefix() -> str:
    """Keys that no other test has."""
    return f"test{next(_numbers)}"
