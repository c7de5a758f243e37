#!/usr/bin/env -S python3 -B
"""Requests per second and processor time of the commands, beside the scripts and the servers that they replace:
make bench-throughput. The result is in benches/results/<server>/throughput.md.

  PEER_MODULE   redis-cell's .so, whose CL.THROTTLE is measured too
  THROTTLECRAB  the program throttlecrab-server (cargo install throttlecrab-server)
  ROUNDS=9, SECONDS=0.25 for each figure of a round; ONLY=TOKEN,GCRA names rows, and writes nothing

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
from server import MODULE, Server, binaries, eventually, free_port, listens, spawn  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS") or 9)
SECONDS = float(os.environ.get("SECONDS") or 0.25)
PEER_MODULE, THROTTLECRAB = os.environ.get("PEER_MODULE"), os.environ.get("THROTTLECRAB")
ONLY = os.environ.get("ONLY")
CONNECTIONS = 50
# Requests in a pipeline, and keys.
SETTINGS = [(50, 1), (50, 100_000), (1, 1), (1, 100_000)]
LIMIT = 1_000_000_000  # no run reaches it; with GCRA a whole number of nanoseconds for each request
MOST_GROWTH = 100_000  # the most requests of a command that makes its key grow

# A command: the first integer of its reply, and the row that it is compared with. A denied one has a limit that the check
# uses up; a random key is denied only after it was allowed, so it is measured with one key.
COMMANDS = {
    "PING": ("PING", None, None),
    "INCR": ("INCR KEY", None, None),
    "fixed script": ("EVALSHA FIXED 1 KEY 3600 LIMIT", 1, "INCR"),
    "sliding script, allowed": ("EVALSHA SLIDING 1 KEY NOW 3600 LIMIT", 1, None),
    "sliding script, denied": ("EVALSHA SLIDING 1 KEY NOW 3600 1", 0, None),
    "RL.FIXED allowed": ("RL.FIXED KEY 3600 LIMIT", 1, "fixed script"),
    "RL.FIXED denied": ("RL.FIXED KEY 3600 1", 0, "fixed script"),
    "RL.WINDOW allowed": ("RL.WINDOW KEY 3600 LIMIT", 1, "INCREX allowed"),
    "RL.WINDOW denied": ("RL.WINDOW KEY 3600 1", 0, "INCREX denied"),
    "RL.SLIDING allowed": ("RL.SLIDING KEY 3600 LIMIT", 1, "sliding script, allowed"),
    "RL.SLIDING denied": ("RL.SLIDING KEY 3600 1", 0, "sliding script, denied"),
    "RL.ROLLING allowed": ("RL.ROLLING KEY 3600 LIMIT", 1, "INCR"),
    "RL.COUNTER allowed": ("RL.COUNTER KEY 3600 LIMIT", 1, "INCR"),
    "RL.TOKEN allowed": ("RL.TOKEN KEY 3600 LIMIT", 1, "INCR"),
    "RL.TOKEN denied": ("RL.TOKEN KEY 30d 1", 0, "INCR"),
    "RL.LEAKY allowed": ("RL.LEAKY KEY 3600 LIMIT", 1, "INCR"),
    "RL.GCRA allowed": ("RL.GCRA KEY 60 LIMIT", 1, "throttlecrab: THROTTLE allowed"),
    "RL.GCRA denied": ("RL.GCRA KEY 30d 1", 0, "throttlecrab: THROTTLE denied"),
    "RL.THROTTLE allowed": ("RL.THROTTLE KEY LIMIT LIMIT 3600", 0, "redis-cell: CL.THROTTLE allowed"),
    "RL.THROTTLE denied": ("RL.THROTTLE KEY 0 1 3600", 1, "redis-cell: CL.THROTTLE denied"),
    "RL.MULTI of 3 FIXED, allowed": ("RL.MULTI 3 FIXED KEY:a 3600 LIMIT FIXED KEY:b 3600 LIMIT FIXED KEY:c 3600 LIMIT", 1, "RL.FIXED allowed"),
    "INCREX allowed": ("INCREX KEY BYINT 1 UBOUND LIMIT EX 3600 ENX", None, None),
    "INCREX denied": ("INCREX KEY BYINT 1 UBOUND 1 EX 3600 ENX", 1, None),
    "redis-cell: CL.THROTTLE allowed": ("CL.THROTTLE KEY LIMIT LIMIT 3600", 0, None),
    "redis-cell: CL.THROTTLE denied": ("CL.THROTTLE KEY 0 1 3600", 1, None),
    "throttlecrab: THROTTLE allowed": ("THROTTLE KEY LIMIT LIMIT 60", 1, None),
    "throttlecrab: THROTTLE denied": ("THROTTLE KEY 2 2 86400", 0, None),
}  # fmt: skip
GROWS = ("RL.SLIDING allowed", "sliding script, allowed")


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True)
    assert done.returncode == 0, f"{words}: {done.stderr.decode()[-500:]}"
    return done.stdout


def version(program, *words):
    return run(program, *words).decode().strip().splitlines()[0]


def cpu_seconds(pid):
    """Processor time of all threads of a process."""
    files = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(file.read_text().split()[0]) for file in files) / 1e9


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


class Row:
    """A command that redis-benchmark sends to a process, as often as fills the time."""

    def __init__(self, name, command, first, pid, port, pipeline, keys):
        self.name, self.pid, self.port, self.pipeline, self.keys = name, pid, port, pipeline, keys
        self.requests, self.db = 2_000, 1 if name in GROWS else 0
        self.per_second, self.cpu_us, self.p50, self.p99 = [], [], [], []
        # Each row has keys of its own. NOW is a time in 2001: the script takes any time from its caller.
        key = re.sub(r"\W", "", name) + f"-{pipeline}-{keys}" + (":__rand_int__" if keys > 1 else "")
        values = {"KEY": key, "LIMIT": str(LIMIT), "NOW": "1__rand_int__"}
        self.words = [re.sub("KEY|LIMIT|NOW", lambda match: values[match[0]], word) for word in command.split()]
        # The third request is denied, if any is. (With a burst of 1, throttlecrab 0.4.40 denies none.)
        for _ in range(3):
            reply = run("redis-cli", "-e", "-p", port, *(word.replace("__rand_int__", "0" * 12) for word in self.words))
        assert first is None or int(reply.split()[0]) == first, (name, reply)

    def load(self):
        command = ["redis-benchmark", "-h", "127.0.0.1", "-p", self.port, "-c", CONNECTIONS, "-P", self.pipeline]
        command += ["--dbnum", self.db]
        text = run(*command, "-n", self.requests, "-r", max(self.keys, 100_000), "-e", "--csv", *self.words).decode()
        assert "Error" not in text, text[-500:]
        # "test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms","p95_latency_ms","p99_latency_ms",…
        line = [field.strip('"') for field in text.strip().splitlines()[-1].split('",')]
        return float(line[1].strip('"')), float(line[4].strip('"')), float(line[6].strip('"'))

    def begin(self):
        if self.name in GROWS:
            run("redis-cli", "-e", "-p", self.port, "-n", self.db, "FLUSHDB")

    def measure(self):
        self.begin()
        if self.keys > 1:
            self.load()  # so that most keys exist
        before = cpu_seconds(self.pid)
        per_second, p50, p99 = self.load()
        self.per_second.append(per_second)
        self.cpu_us.append((cpu_seconds(self.pid) - before) / self.requests * 1e6)
        self.p50.append(p50)
        self.p99.append(p99)

    def fill_the_time(self):
        """How many requests fill the time. These also warm up the server."""
        self.begin()
        most = MOST_GROWTH if self.name in GROWS else sys.maxsize
        self.requests = min(most, max(1_000, int(self.load()[0] * SECONDS)))


def rows(stack, binary):
    """The rows of each setting."""
    peer = ["cl-throttle", "no", "--loadmodule", PEER_MODULE] if PEER_MODULE else []
    server = Server(binary, "--loadmodule", MODULE, *peer, module=False)
    stack.callback(server.close)
    processes = {"redis": (server.process.pid, server.port)}
    if THROTTLECRAB:
        port = free_port()
        options = ["--redis", "--redis-host", "127.0.0.1", "--redis-port", port, "--log-level", "warn"]
        program = Program(stack, "throttlecrab", [port], THROTTLECRAB, *options)
        processes["throttlecrab"] = program.process.pid, port
    scripts = {name: server.call("SCRIPT", "LOAD", stdin=(ROOT / f"tests/scripts/{file}.lua").read_text())
               for name, file in {"FIXED": "fixed_window", "SLIDING": "sliding_window"}.items()}  # fmt: skip
    left_out = [] if "increx" in server.text("COMMAND", "LIST") else ["INCREX"]
    left_out += [] if PEER_MODULE else ["redis-cell"]
    for pipeline, keys in SETTINGS:
        found = []
        for name, (command, first, _) in COMMANDS.items():
            if name.startswith(tuple(left_out)) or keys > 1 and "denied" in name:
                continue
            if ONLY and not any(part in name for part in ONLY.split(",")):
                continue
            process = processes.get("throttlecrab" if name.startswith("throttlecrab") else "redis")
            if process:
                command = re.sub(r"(?<=EVALSHA )\w+", lambda match: scripts[match[0]], command)
                found.append(Row(name, command, first, *process, pipeline, keys))
        yield f"{'Pipelined (50)' if pipeline > 1 else 'Without pipelining'}, {'one hot key' if keys == 1 else f'{keys:,} random keys'}", found


def table(rows):
    lines = ["| command | requests/s | least – most | server µs | p50 / p99 ms | beside | × requests/s | × server time |",
             "|---|--:|--:|--:|--:|---|--:|--:|"]  # fmt: skip
    median, by_name = statistics.median, {row.name: row for row in rows}
    for row in rows:
        beside = by_name.get(COMMANDS[row.name][2])
        ratios = " | | |"
        if beside:
            faster = median(mine / its for mine, its in zip(row.per_second, beside.per_second))
            cpu = median(its / mine for mine, its in zip(row.cpu_us, beside.cpu_us))
            ratios = f" {beside.name} | {faster:.2f} | {cpu:.2f} |"
        lines.append(
            f"| {row.name} | {median(row.per_second):,.0f} | {min(row.per_second):,.0f} – {max(row.per_second):,.0f} "
            f"| {median(row.cpu_us):.2f} | {median(row.p50):.2f} / {median(row.p99):.2f} |{ratios}"
        )
    return "\n".join(lines)


def conditions(binary, *peers):
    """The name of a server, and what figures depend on."""
    about = version(binary, "--version")
    name = ("valkey-" if "Valkey" in about else "redis-") + re.search(r"v=(\S+)", about)[1]
    model = re.search(r"model name\s*: (.+)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    peers = [version(program, "--version") if program else f"no {peer}" for peer, program in peers]
    system = platform.freedesktop_os_release()["PRETTY_NAME"]
    return name, f"{', '.join([name, *peers])}, {model} ({os.cpu_count()} cores), {system}, {datetime.date.today()}."


def write(name, file, text):
    print(text)
    directory = ROOT / "benches/results" / name
    directory.mkdir(parents=True, exist_ok=True)
    (directory / file).write_text(text)


def main():
    binary, busy = binaries()[0], os.getloadavg()[0]
    name, about = conditions(binary, ("throttlecrab", THROTTLECRAB))
    with contextlib.ExitStack() as stack:
        parts = list(rows(stack, binary))
        everything = [row for _, rows in parts for row in rows]
        for row in everything:
            row.fill_the_time()
        for number in range(ROUNDS):
            print(f"round {number + 1}", file=sys.stderr)
            for row in everything:
                row.measure()
    text = f"""# Throughput

{about}
Medians of {ROUNDS} rounds of {SECONDS:g} s a figure, {CONNECTIONS} connections. Server and load share the machine, whose
load average was {busy:.2f} before.

`server µs` is processor time of the server per request, system calls included; other programs disturb it less than
requests per second. The last columns say how many times as many requests the command does as the one beside it: in
requests per second, and in requests per second of the server's processor time. Commands that make their key grow begin
without keys, and send at most {MOST_GROWTH:,} requests.
"""
    for title, found in parts:
        text += f"\n## {title}\n\n{table(found)}\n"
    print(text) if ONLY else write(name, "throughput.md", text)


if __name__ == "__main__":
    main()
