"""A cluster of servers with the module."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import redis
from server import Server, eventually, free_ports


@contextlib.contextmanager
def cluster(path: str) -> Iterator[list[int]]:
    """Three masters without replicas."""
    with contextlib.ExitStack() as stack:
        buses = free_ports(3)
        nodes = (Server(path, "--cluster-enabled", "yes", "--cluster-port", bus) for bus in buses)
        ports = [stack.enter_context(contextlib.closing(node)).port for node in nodes]
        clients = [stack.enter_context(redis.Redis(port=port, decode_responses=True)) for port in ports]
        bounds = [0, 5461, 10923, 16384]
        for i, client in enumerate(clients):
            client.execute_command("CLUSTER", "ADDSLOTSRANGE", bounds[i], bounds[i + 1] - 1)
            client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
        for port, bus in list(zip(ports, buses, strict=True))[1:]:
            clients[0].execute_command("CLUSTER", "MEET", "127.0.0.1", port, bus)
        for client in clients:

            def ready(client: redis.Redis = client) -> bool:
                info = str(client.execute_command("CLUSTER", "INFO"))
                return ("cluster_state:ok" in info and "cluster_size:3" in info) or "'cluster_size': '3'" in info

            eventually(ready, "the cluster is ready")
        yield ports
