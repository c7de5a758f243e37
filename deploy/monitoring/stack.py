#!/usr/bin/env python3
"""Starts servers with the module, an exporter for each and one Prometheus, and ends them together.

`deploy/monitoring/stack.py <server>` is `make ops`: one of each on the usual ports, in the foreground. test_ops.py uses Stack.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

OPS = pathlib.Path(__file__).resolve().parent
ROOT = OPS.parent.parent
sys.path.append(str(ROOT / "clients"))
from server import eventually, free_ports, spawn  # noqa: E402, F401 - clients/server.py

# The least that the exporter's user needs, as in README.md.
USER = "on >secret -@all +client|setname +info +eval +rl.top +latency|latest +slowlog|len +slowlog|get"
TARGET = '"127.0.0.1:9121"'  # in prometheus.yml
SERVICE_TARGET = '"127.0.0.1:9102"'
PATIENCE = 30


def program(*names):
    """The path of the first of these programs that is in PATH."""
    return next(filter(None, map(shutil.which, names)), None) or sys.exit(f"{names[0]} is missing: run scripts/install ops")


class Stack:
    """`servers` has a path for each server, and whether it loads the module. Used as a context, it ends everything.

    A server without the module is a replica of the first one. `service` is the program rlaas and its rules: it gets a
    server of its own, which no exporter reads.
    """

    def __init__(self, servers, ports=None, interval="1s", service=None):
        ports = ports or free_ports(2 * len(servers) + 1)
        self.servers = [(path, module, *ports[2 * n : 2 * n + 2]) for n, (path, module) in enumerate(servers)]
        self.port = ports[-1]
        self.interval = interval
        self.service = service
        self.service_ports = free_ports(4) if service else []  # of its server, gRPC, HTTP and its metrics
        self.processes = {}

    def __enter__(self):
        with contextlib.ExitStack() as undo:
            self.dir = pathlib.Path(undo.enter_context(tempfile.TemporaryDirectory(prefix="rl-ops-")))
            undo.callback(self._end)
            self._start()
            self._undo = undo.pop_all()
        return self

    def __exit__(self, *_):
        self._undo.close()

    def _start(self):
        for path, module, port, exporter_port in self.servers:
            # A server without the module does not know +rl.top.
            user = USER if module else USER.replace(" +rl.top", "")
            primary = f"127.0.0.1 {self.servers[0][2]}"
            load = ["--loadmodule", os.environ["RL_MODULE"]] if module else ["--replicaof", primary]
            settings = ["--bind", "127.0.0.1", "--save", "", "--port", str(port), "--user", "exporter", *user.split()]
            self._spawn(f"server-{port}", [path, *settings, *load])
            exporter = [program("redis_exporter", "prometheus-redis-exporter"), "-script", str(OPS / "collect.lua")]
            exporter += ["-redis.addr", f"redis://127.0.0.1:{port}"]
            exporter += ["-redis.user", "exporter", "-redis.password", "secret", "-config-command", "-"]
            exporter += ["-web.listen-address", f"127.0.0.1:{exporter_port}"]
            self._spawn(f"exporter-{port}", exporter)

        if self.service:
            self._start_service(*self.service, *self.service_ports)

        shutil.copy(OPS / "alerts.yml", self.dir)
        config = (OPS / "prometheus.yml").read_text()
        assert TARGET in config and "_interval: 15s" in config
        targets = ", ".join(f'"127.0.0.1:{exporter_port}"' for *_, exporter_port in self.servers)
        assert SERVICE_TARGET in config
        config = config.replace(SERVICE_TARGET, f'"127.0.0.1:{self.service_ports[-1]}"' if self.service else "")
        config = config.replace(TARGET, targets).replace("_interval: 15s", f"_interval: {self.interval}")
        (self.dir / "prometheus.yml").write_text(config)
        options = [f"--config.file={self.dir}/prometheus.yml", f"--storage.tsdb.path={self.dir}/data"]
        options.append(f"--web.listen-address=127.0.0.1:{self.port}")
        self._spawn("prometheus", [program("prometheus"), *options])
        self.wait_for("Prometheus", lambda: self._get("/-/ready"))

    def _start_service(self, program, rules, server, grpc, http, metrics):
        path = self.servers[0][0]
        load = ["--loadmodule", os.environ["RL_MODULE"]]
        self._spawn("rlaas-server", [path, "--bind", "127.0.0.1", "--save", "", "--port", str(server), *load])
        (self.dir / "rules").mkdir()
        (self.dir / "rules" / "rules.yaml").write_text(rules)
        addresses = {"grpc": grpc, "http": http, "metrics": metrics}
        flags = [word for name, port in addresses.items() for word in (f"--{name}", f"127.0.0.1:{port}")]
        redis = f"redis://127.0.0.1:{server}"
        # Redis decides, however busy the machine is.
        flags += ["--timeout", "5s", "--max-lag", "5s"]
        self._spawn("rlaas", [program, "serve", "--rules", "rules", "--redis", redis, *flags])

    def _spawn(self, name, command):
        self.processes[name] = spawn(command, self.dir, f"{name}.log")

    def _end(self):
        for process in self.processes.values():
            process.kill()
        for process in self.processes.values():
            process.wait()

    def check(self):
        """Fails with the log of a process that has ended by itself."""
        for name, process in self.processes.items():
            if process.poll() is not None:
                log = (self.dir / f"{name}.log").read_text(errors="replace")
                raise RuntimeError(f"{name} ended with status {process.returncode}:\n{log[-3000:]}")

    def wait_for(self, what, condition):
        """What `condition` returns, as soon as it is neither an error nor empty."""
        end = time.monotonic() + PATIENCE
        while True:
            self.check()
            with contextlib.suppress(urllib.error.URLError, ConnectionError):
                if found := condition():
                    return found
            if time.monotonic() > end:
                raise TimeoutError(f"{what}: not within {PATIENCE} s")
            time.sleep(0.1)

    def end(self, name):
        """Ends one process."""
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def _get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=PATIENCE) as reply:
            return reply.read()

    def api(self, path, **parameters):
        """`data` of the reply of Prometheus's API. A wrong expression is an HTTPError."""
        return json.loads(self._get(f"/api/v1/{path}?{urllib.parse.urlencode(parameters)}"))["data"]

    def query(self, expression):
        """The labels and the value of each result of a PromQL expression now."""
        result = self.api("query", query=expression)["result"]
        return [(sample["metric"], float(sample["value"][1])) for sample in result]


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    names = {"PORT": "6379", "EXPORTER_PORT": "9121", "PROMETHEUS_PORT": "9090"}
    port, exporter, prometheus = (int(os.environ.get(name, default)) for name, default in names.items())
    with Stack([(sys.argv[1], True)], ports=[port, exporter, prometheus], interval="2s") as stack:
        print(f"server      redis-cli -p {port}")
        print(f"exporter    http://127.0.0.1:{exporter}/metrics")
        print(f"Prometheus  http://127.0.0.1:{prometheus}")
        print(f"traffic     redis-benchmark -p {port} -n 100000 -r 1000 RL.TOKEN user:__rand_int__ 1m 5")
        print("dashboard   import deploy/monitoring/dashboard.json into your Grafana, with this Prometheus as its data source")
        print("Ctrl-C ends all of them.", flush=True)
        while True:
            stack.check()
            time.sleep(0.5)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
