"""Starts servers with the module on free ports of the loopback address."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator

import redis

MODULE = os.environ.get("RL_MODULE", "")
SERVERS = [path for path in os.environ.get("SERVERS", "").replace(":", " ").split() if path]
if not MODULE or not SERVERS:
    raise RuntimeError("no RL_MODULE or SERVERS: run scripts/test-adapters python")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_for(what: str, check: Callable[[], object], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(redis.RedisError):
            if check():
                return
        time.sleep(0.02)
    raise TimeoutError(f"waited for {what} in vain")


@contextlib.contextmanager
def server(path: str, *options: str) -> Iterator[int]:
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="rl-python-") as directory, open(f"{directory}/log", "wb") as log:
        # The server ends when this process does, whatever ends it.
        words = [
            "setpriv",
            "--pdeathsig",
            "KILL",
            path,
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            directory,
        ]
        process = subprocess.Popen([*words, "--loadmodule", MODULE, *options], stdout=log)
        try:
            with redis.Redis(port=port) as client:
                wait_for(f"{path} to start", lambda: process.poll() is not None or client.ping())
            if process.poll() is not None:
                with open(f"{directory}/log") as text:
                    raise RuntimeError(f"{path} ended:\n{text.read()}")
            yield port
        finally:
            process.kill()
            process.wait()


@contextlib.contextmanager
def cluster(path: str) -> Iterator[list[int]]:
    """Three masters without replicas."""
    with contextlib.ExitStack() as stack:
        buses = [free_port() for _ in range(3)]
        ports = [
            stack.enter_context(server(path, "--cluster-enabled", "yes", "--cluster-port", str(bus))) for bus in buses
        ]
        nodes = [stack.enter_context(redis.Redis(port=port, decode_responses=True)) for port in ports]
        bounds = [0, 5461, 10923, 16384]
        for i, node in enumerate(nodes):
            node.execute_command("CLUSTER", "ADDSLOTSRANGE", bounds[i], bounds[i + 1] - 1)
            node.execute_command("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
        for port, bus in list(zip(ports, buses, strict=True))[1:]:
            nodes[0].execute_command("CLUSTER", "MEET", "127.0.0.1", port, bus)
        for node in nodes:

            def ready(node: redis.Redis = node) -> bool:
                info = str(node.execute_command("CLUSTER", "INFO"))
                return ("cluster_state:ok" in info and "cluster_size:3" in info) or "'cluster_size': '3'" in info

            wait_for("the cluster", ready)
        yield ports
