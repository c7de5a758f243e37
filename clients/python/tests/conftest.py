from __future__ import annotations

import contextlib
import inspect
import itertools
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
import redis
from server import ROOT, Server, binaries, cluster

import limits_redis_rl  # noqa: F401 - registers the schemes
from limits_redis_rl._sync.execute import _by_scripts
from limits_redis_rl.scripts import Scripts

_numbers = itertools.count()
# MODULE=none: the servers have no module, and the Lua scripts decide.
WITHOUT_MODULE = os.environ.get("MODULE") == "none"


needs_module = pytest.mark.skipif(WITHOUT_MODULE, reason="a setting or a number of the module")


class Raw(redis.Redis):
    """A client that sends commands of the module to the scripts, where there is none."""

    scripts = Scripts()

    def execute_command(self, *words: Any, **options: Any) -> Any:
        if not (WITHOUT_MODULE and str(words[0]).startswith("RL.")):
            return super().execute_command(*words, **options)
        [reply] = _by_scripts(self.scripts, self, [list(words)])
        return dict(zip(reply[::2], reply[1::2], strict=True)) if words[-1] == "FULL" else reply


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
    with Raw(port=port, decode_responses=True, protocol=3) as client:
        yield client


@pytest.fixture
def prefix() -> str:
    """Keys that no other test has."""
    return f"test{next(_numbers)}"
