#!/usr/bin/env -S python3 -B
"""The module beside throttlecrab: make bench-peers. benches/service.py has rlaas beside limitador.

  THROTTLECRAB  the program throttlecrab-server (cargo install throttlecrab-server)
  ROUNDS=5, SECONDS=1 for each figure of a round

All rows of a round are measured one after the other, so other programs of the machine slow all of them in much the same
way; ratios are computed round by round. The load is redis-benchmark. Each row is checked before it is measured: what must
be allowed is, what must be denied is not.
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
THROTTLECRAB = os.environ.get("THROTTLECRAB")

KEYS = 100_000
CONNECTIONS = 50
PIPELINE = 50
LIMIT = 1_000_000_000  # no run reaches it; with GCRA a whole number of nanoseconds for each request


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True)
    assert done.returncode == 0, f"{words}: {done.stderr.decode()[-500:]}"
    return done.stdout


def cpu_seconds(pid):
    """Processor time of all threads of a process."""
    files = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(file.read_text().split()[0]) for file in files) / 1e9


class Row:
    """A command that redis-benchmark sends to a process, as often as fills the time."""

    def __init__(self, name, state, pid, port, command, keys, pipeline, allowed):
        self.name, self.state, self.pid, self.port = name, state, pid, port
        self.pipeline, self.keys = pipeline, keys
        self.requests = 2_000
        self.per_second, self.cpu_us, self.p50, self.p99 = [], [], [], []
        self.words = command.replace("KEY", "key:__rand_int__" if keys > 1 else "key").split()
        # The third request is denied, if any is. (With a burst of 1, throttlecrab 0.4.40 denies none.)
        for _ in range(3):
            reply = run("redis-cli", "-e", "-p", port, *(word.replace("__rand_int__", "0") for word in self.words))
        assert reply.split()[0] == (b"1" if allowed else b"0"), (name, reply)

    def measure(self, keep=True):
        before = cpu_seconds(self.pid)
        per_second, p50, p99 = self.load()
        spent = cpu_seconds(self.pid) - before
        if keep:
            self.per_second.append(per_second)
            self.cpu_us.append(spent / self.requests * 1e6)
            self.p50.append(p50)
            self.p99.append(p99)
        else:
            self.requests = max(1_000, int(per_second * SECONDS))

    def load(self):
        command = ["redis-benchmark", "-h", "127.0.0.1", "-p", self.port, "-c", CONNECTIONS, "-P", self.pipeline]
        text = run(*command, "-n", self.requests, "-r", self.keys, "-e", "--csv", *self.words).decode()
        assert "Error" not in text, text[-500:]
        # "test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms",…
        line = [field.strip('"') for field in text.strip().splitlines()[-1].split('",')]
        return float(line[1].strip('"')), float(line[4].strip('"')), float(line[6].strip('"'))


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


def groups(stack, binary):
    """Pairs of a title and its rows: GCRA in the module and in throttlecrab."""
    server = Server(binary)
    stack.callback(server.close)
    commands = [f"RL.GCRA KEY 60 {LIMIT}", "RL.GCRA KEY 1d 2"]
    servers = [("module: RL.GCRA", "Redis", server.process.pid, server.port, commands)]
    if THROTTLECRAB:
        port = free_port()
        options = ["--redis", "--redis-host", "127.0.0.1", "--redis-port", port, "--log-level", "warn"]
        program = Program(stack, "throttlecrab", [port], THROTTLECRAB, *options)
        commands = [f"THROTTLE KEY {LIMIT} {LIMIT} 60", "THROTTLE KEY 2 2 86400"]
        servers.append(("throttlecrab: THROTTLE", "its memory", program.process.pid, port, commands))
    for pipeline in (1, PIPELINE):
        for keys in (1, KEYS):
            rows = []
            # A random key is denied only after it was allowed.
            for number, outcome in enumerate(["allowed", "denied"] if keys == 1 else ["allowed"]):
                for name, state, pid, port, commands in servers:
                    # Denied and allowed requests have keys of their own.
                    command = commands[number].replace("KEY", f"{outcome}:KEY")
                    title = f"{name}, {outcome}"
                    rows.append(Row(title, state, pid, port, command, keys, pipeline, outcome == "allowed"))
            how = "one at a time" if pipeline == 1 else f"pipelined ({pipeline})"
            yield f"RESP, {how}, {'one hot key' if keys == 1 else f'{keys:,} random keys'}", rows


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
    about = version(binary, "--version")
    name = ("valkey-" if "Valkey" in about else "redis-") + re.search(r"v=(\S+)", about)[1]
    about = [name, version(THROTTLECRAB, "--version") if THROTTLECRAB else "no throttlecrab"]
    model = re.search(r"model name\s*: (.+)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    with contextlib.ExitStack() as stack:
        parts = list(groups(stack, binary))
        rows = [row for _, rows in parts for row in rows]
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

`CPU µs` is processor time of the server for one request. The last two
columns are requests a second and processor time divided by those of the first row with the same outcome: the median of
the ratios of single rounds. A restart loses a state in memory.
"""
    for title, rows in parts:
        text += f"\n## {title}\n\n{table(rows)}\n"
    print(text)
    directory = ROOT / "benches/results" / name
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "peers.md").write_text(text)


if __name__ == "__main__":
    main()
