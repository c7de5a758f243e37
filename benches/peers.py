#!/usr/bin/env -S python3 -B
"""The module and the service beside other servers that limit rates: make bench-peers.

  THROTTLECRAB  the program throttlecrab-server (cargo install throttlecrab-server)
  LIMITADOR     the program limitador-server, built from its source
  RLAAS         the service, by default target/release/rlaas
  ROUNDS=5, SECONDS=1 for each figure of a round

A peer that is not named is left out, and the results say so. All rows of a round are measured one after the other, so
other programs of the machine slow all of them in much the same way; ratios are computed round by round. Processor time
is that of all processes that a decision needs: the service and its Redis. The load is redis-benchmark and h2load, which
belong to none of them. Each row is checked before it is measured: what must be allowed is, what must be denied is not.
"""

import contextlib
import datetime
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "clients"))
from server import Server, binaries, eventually, free_port, listens, spawn  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS") or 5)
SECONDS = float(os.environ.get("SECONDS") or 1)
PEERS = {name: os.environ.get(name.upper()) for name in ("throttlecrab", "limitador")}
RLAAS = os.environ.get("RLAAS") or ROOT / "target/release/rlaas"

KEYS = 100_000
CONNECTIONS = 50
PIPELINE = 50
LIMIT = 1_000_000_000  # no run reaches it; with GCRA a whole number of nanoseconds for each request
METHOD = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"


def run(*words, stdin=None):
    done = subprocess.run([str(word) for word in words], input=stdin, capture_output=True)
    assert done.returncode == 0, f"{words}: {done.stderr.decode()[-500:]}"
    return done.stdout


def cpu_seconds(pid):
    """Processor time of all threads of a process."""
    files = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(file.read_text().split()[0]) for file in files) / 1e9


class Row:
    """What is measured: a name, the processes behind it, and a load of so many requests."""

    def __init__(self, name, state, pids):
        self.name, self.state, self.pids = name, state, pids
        self.requests = 2_000
        self.per_second, self.cpu_us, self.p50, self.p99 = [], [], [], []

    def measure(self, keep=True):
        before = sum(map(cpu_seconds, self.pids))
        per_second, p50, p99 = self.load()
        spent = sum(map(cpu_seconds, self.pids)) - before
        if keep:
            self.per_second.append(per_second)
            self.cpu_us.append(spent / self.requests * 1e6)
            self.p50.append(p50)
            self.p99.append(p99)
        else:
            self.requests = max(1_000, int(per_second * SECONDS))


class Resp(Row):
    """A command over the protocol of Redis, by redis-benchmark."""

    def __init__(self, name, state, pids, port, command, keys, pipeline, allowed):
        super().__init__(name, state, pids)
        self.port, self.pipeline, self.keys = port, pipeline, keys
        self.words = command.replace("KEY", "key:__rand_int__" if keys > 1 else "key").split()
        # The third request is denied, if any is. (With a burst of 1, throttlecrab 0.4.40 denies none.)
        for _ in range(3):
            reply = run("redis-cli", "-e", "-p", port, *(word.replace("__rand_int__", "0") for word in self.words))
        assert reply.split()[0] == (b"1" if allowed else b"0"), (name, reply)

    def load(self):
        command = ["redis-benchmark", "-h", "127.0.0.1", "-p", self.port, "-c", CONNECTIONS, "-P", self.pipeline]
        text = run(*command, "-n", self.requests, "-r", self.keys, "-e", "--csv", *self.words).decode()
        assert "Error" not in text, text[-500:]
        # "test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms",…
        line = [field.strip('"') for field in text.strip().splitlines()[-1].split('",')]
        return float(line[1].strip('"')), float(line[4].strip('"')), float(line[6].strip('"'))


def message(number, content):
    """A field of protobuf that is shorter than 128 bytes."""
    return bytes([number << 3 | 2, len(content)]) + content


class Grpc(Row):
    """Envoy's question for one descriptor, by h2load."""

    def __init__(self, name, state, pids, port, user, allowed, directory):
        super().__init__(name, state, pids)
        self.url = f"http://127.0.0.1:{port}{METHOD}"
        entry = message(1, b"user") + message(2, user)
        request = message(1, b"bench") + message(2, message(1, entry))
        self.body = pathlib.Path(directory) / user.decode()
        self.body.write_bytes(bytes([0]) + len(request).to_bytes(4) + request)
        self.log = pathlib.Path(directory) / "latencies"
        headers = ["-H", "content-type: application/grpc", "-H", "te: trailers"]
        self.load_words = ["h2load", *headers, "-d", self.body, "-c", 4, "-m", CONNECTIONS // 4]
        question = ["curl", "-sS", "--http2-prior-knowledge", *headers, "--data-binary", f"@{self.body}", self.url]
        for _ in range(2):
            reply = run(*question)
        # The prefix of gRPC, then overall_code: 1 is OK, 2 is over the limit.
        assert reply[5:7] == bytes([8, 1 if allowed else 2]), (name, reply)

    def load(self):
        self.log.unlink(missing_ok=True)
        text = run(*self.load_words, "-n", self.requests, f"--log-file={self.log}", self.url).decode()
        assert f"{self.requests} succeeded, 0 failed" in text, text[-800:]
        # When, status, microseconds.
        latencies = sorted(int(line.split()[2]) for line in self.log.read_text().splitlines())
        p50, p99 = (latencies[int(len(latencies) * part)] / 1000 for part in (0.5, 0.99))
        return float(re.search(r"([\d.]+) req/s", text)[1]), p50, p99


class Program:
    """A server that is started and ended here."""

    def __init__(self, stack, name, ports, *command, **environment):
        self.directory = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        pairs = [f"{key}={value}" for key, value in environment.items()]
        self.process = spawn(["env", *pairs, *command], self.directory, "log")
        stack.callback(self.process.wait)
        stack.callback(self.process.kill)
        log = self.directory / "log"

        def ready():
            assert self.process.poll() is None, f"{name} ended: {log.read_text()[-800:]}"
            return all(map(listens, ports))

        eventually(ready, f"{name} listens")
        self.pids = [self.process.pid]


def resp_groups(stack, binary):
    """Pairs of a title and its rows: GCRA in the module and in throttlecrab."""
    server = Server(binary)
    stack.callback(server.close)
    pids, ports = {"Redis": [server.process.pid]}, {"Redis": server.port}
    servers = [("module: RL.GCRA", "Redis", f"RL.GCRA KEY 60 {LIMIT}", "RL.GCRA KEY 1d 2")]
    if PEERS["throttlecrab"]:
        port = free_port()
        options = ["--redis", "--redis-host", "127.0.0.1", "--redis-port", port, "--log-level", "warn"]
        program = Program(stack, "throttlecrab", [port], PEERS["throttlecrab"], *options)
        pids["its memory"], ports["its memory"] = program.pids, port
        commands = f"THROTTLE KEY {LIMIT} {LIMIT} 60", "THROTTLE KEY 2 2 86400"
        servers.append(("throttlecrab: THROTTLE", "its memory", *commands))
    for pipeline in (1, PIPELINE):
        for keys in (1, KEYS):
            rows = []
            for allowed in (True, False):
                if keys > 1 and not allowed:
                    continue  # a random key is denied only after it was allowed
                for name, state, *commands in servers:
                    # Denied and allowed requests have keys of their own.
                    command = commands[0 if allowed else 1].replace("KEY", f"{'a' if allowed else 'd'}:KEY")
                    title = f"{name}, {'allowed' if allowed else 'denied'}"
                    rows.append(Resp(title, state, pids[state], ports[state], command, keys, pipeline, allowed))
            how = "one at a time" if pipeline == 1 else f"pipelined ({pipeline})"
            yield f"RESP, {how}, {'one hot key' if keys == 1 else f'{keys:,} random keys'}", rows


# A denial can be remembered only where it is not counted.
RULES = f"""domain: bench
descriptors:
  - {{key: user, rate_limit: {{unit: hour, requests_per_unit: {LIMIT}}}}}
  - {{key: user, value: denied, rate_limit: {{unit: day, requests_per_unit: 1, charge: allowed}}}}
"""
LIMITS = f"""
- {{namespace: bench, max_value: {LIMIT}, seconds: 3600,
   conditions: ["descriptors[0].user != 'denied'"], variables: ["descriptors[0].user"]}}
- {{namespace: bench, max_value: 1, seconds: 86400,
   conditions: ["descriptors[0].user == 'denied'"], variables: ["descriptors[0].user"]}}
"""


def grpc_group(stack, binary):
    directory = stack.enter_context(tempfile.TemporaryDirectory())
    (pathlib.Path(directory) / "rules").mkdir()
    (pathlib.Path(directory) / "rules/bench.yaml").write_text(RULES)
    (pathlib.Path(directory) / "limits.yaml").write_text(LIMITS)
    services = []

    def redis(module):
        server = Server(binary, module=module)
        stack.callback(server.close)
        return server

    def rlaas(name, **environment):
        server, ports = redis(True), [free_port() for _ in range(3)]
        names = ("RLAAS_GRPC", "RLAAS_METRICS", "RLAAS_HTTP")
        environment |= {name: f"127.0.0.1:{port}" for name, port in zip(names, ports)}
        options = ["--rules", f"{directory}/rules", "--redis", f"redis://127.0.0.1:{server.port}"]
        # How long a decision may take is not what is measured here, and a saturated machine is late.
        program = Program(stack, name, ports[:2], RLAAS, "serve", *options, "--timeout", "5s", "--max-lag", "5s", **environment)
        services.append((name, "Redis", [*program.pids, server.process.pid], ports[0], server))

    def limitador(name, state, *storage, server=None):
        ports = [free_port(), free_port()]
        listen = ["-b", "127.0.0.1", "-p", ports[0], "-B", "127.0.0.1", "-P", ports[1]]
        program = Program(stack, name, ports, PEERS["limitador"], *listen, f"{directory}/limits.yaml", *storage)
        services.append((name, state, [*program.pids, *([server.process.pid] if server else [])], ports[0], None))

    rlaas("rlaas", RLAAS_DENIALS=0)
    rlaas("rlaas, denials remembered")
    if PEERS["limitador"]:
        for storage in ("redis", "redis_cached"):
            server = redis(False)
            url = f"redis://127.0.0.1:{server.port}"
            limitador(f"limitador, {storage}", "Redis", storage, url, server=server)
        limitador("limitador, memory", "its memory", "memory")
    rows = []
    for allowed in (True, False):
        for name, state, pids, port, server in services:
            title = f"{name}, {'allowed' if allowed else 'denied'}"
            row = Grpc(title, state, pids, port, b"allowed" if allowed else b"denied", allowed, directory)
            if server and "remembered" not in name:
                row.load = all_decided(row, server)
            rows.append(row)
    return f"gRPC, Envoy's protocol, one hot key, {CONNECTIONS // 4 * 4} requests at a time", rows


def all_decided(row, server):
    """A gRPC error is a success of HTTP, so the calls that the server counted are compared."""
    load = row.load

    def checked():
        server.text("CONFIG", "RESETSTAT")
        figures = load()
        calls = sum(map(int, re.findall(r"cmdstat_rl\.\S+?:calls=(\d+)", server.text("INFO", "commandstats"), re.I)))
        assert calls == row.requests, f"{row.name}: {calls} decisions of {row.requests}"
        return figures

    return checked


def table(rows):
    first = {}  # the first row of the allowed, and of the denied
    lines = ["| | state in | requests/s | least – most | CPU µs | p50 / p99 ms | × requests/s | × CPU |",
             "|---|---|--:|--:|--:|--:|--:|--:|"]  # fmt: skip
    for row in rows:
        base = first.setdefault(row.name.rpartition(", ")[2], row)
        median = statistics.median
        faster = median(mine / its for mine, its in zip(row.per_second, base.per_second))
        cpu = median(mine / its for mine, its in zip(row.cpu_us, base.cpu_us))
        lines.append(
            f"| {row.name} | {row.state} | {median(row.per_second):,.0f} "
            f"| {min(row.per_second):,.0f} – {max(row.per_second):,.0f} | {median(row.cpu_us):.1f} "
            f"| {median(row.p50):.2f} / {median(row.p99):.2f} | {faster:.2f} | {cpu:.2f} |"
        )
    return "\n".join(lines)


def version(program, *words):
    return run(program, *words).decode().strip().splitlines()[0]


def main():
    binary = binaries()[0]
    busy = pathlib.Path("/proc/loadavg").read_text().split()[0]
    about = [re.search(r"v=(\S+)", version(binary, "--version"))[1]]
    name = ("valkey-" if "valkey" in pathlib.Path(binary).name else "redis-") + about[0]
    about = [name, *(version(program, "--version") if program else f"no {peer}" for peer, program in PEERS.items())]
    model = re.search(r"model name\s*: (.+)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    with contextlib.ExitStack() as stack:
        groups = [*resp_groups(stack, binary), grpc_group(stack, binary)]
        rows = [row for _, rows in groups for row in rows]
        for row in rows:
            row.measure(keep=False)
        for number in range(ROUNDS):
            print(f"round {number + 1}", file=sys.stderr)
            for row in rows:
                row.measure()
    text = f"""# Beside other servers

{", ".join(about)}, {model} ({os.cpu_count()} cores), {platform.freedesktop_os_release()["PRETTY_NAME"]}, \
{datetime.date.today()}.
Medians of {ROUNDS} rounds of {SECONDS:g} s a figure. Servers and load share the machine, whose load average was {busy}
before.

`CPU µs` is processor time for one request, of all processes that it needs: the service and its Redis. The last two
columns are requests a second and processor time divided by those of the first row with the same outcome: the median of
the ratios of single rounds. A state in memory needs no second process and no second hop; a restart loses it, and one
process has all of it.
"""
    for title, rows in groups:
        text += f"\n## {title}\n\n{table(rows)}\n"
    print(text)
    directory = ROOT / "benches/results" / name
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "peers.md").write_text(text)


if __name__ == "__main__":
    main()
