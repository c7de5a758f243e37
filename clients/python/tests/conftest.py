from __future__ import annotations

import asyncio
import contextlib
import inspect
import itertools
import json
import os
import pathlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import redis
import redis.asyncio
from server import ROOT, Server, binaries, cluster

from limits_redis_rl import AsyncLimiter, Limiter

_numbers = itertools.count()
# MODULE=none: the servers have no module, and the Lua scripts decide.
WITHOUT_MODULE = os.environ.get("MODULE") == "none"

needs_module = pytest.mark.skipif(WITHOUT_MODULE, reason="a setting or a number of the module")
every_kind = pytest.mark.parametrize("kind", ["asyncio", "threads"])


def vectors(name: str) -> Any:
    """A table that all clients share."""
    return json.loads((ROOT / f"vectors/{name}.json").read_text())


async def value(result: Any) -> Any:
    """Awaits what asyncio returns; what threads return is there already."""
    return await result if inspect.isawaitable(result) else result


def begun(kind: str, call: Any, *arguments: Any) -> asyncio.Task[Any]:
    """A call beside others."""
    return asyncio.create_task(call(*arguments) if kind == "asyncio" else asyncio.to_thread(call, *arguments))


@contextlib.asynccontextmanager
async def limited(kind: str, port: int, client: Any = None, **options: Any) -> AsyncIterator[Any]:
    """A limiter whose calls have time, where a timeout is not what is tested. `client`: options of the client."""
    timeout, given = options.pop("timeout", 30), {"port": port, "retry": None, **(client or {})}
    if kind == "asyncio":
        async with redis.asyncio.Redis(**given) as connected:
            yield AsyncLimiter(connected, timeout=timeout, **options)
    else:
        with redis.Redis(**{"socket_timeout": timeout, **given}) as blocking:
            yield Limiter(blocking, **options)


@contextlib.asynccontextmanager
async def held(manager: Any) -> AsyncIterator[Any]:
    """``async with`` or ``with``."""
    if hasattr(manager, "__aenter__"):
        async with manager as found:
            yield found
    else:
        with manager as found:
            yield found


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
def own() -> Iterator[Server]:
    """A server that a test may stop, or load the module into."""
    with contextlib.closing(Server(binaries()[0], "--enable-module-command", "local")) as server:
        yield server


@pytest.fixture
def raw(port: int) -> Iterator[redis.Redis]:
    """Another client of the same server."""
    with redis.Redis(port=port, decode_responses=True, protocol=3) as client:
        yield client


@pytest.fixture
def prefix() -> str:
    """Keys that no other test has."""
    return f"test{next(_numbers)}:"
