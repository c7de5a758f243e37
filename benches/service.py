#!/usr/bin/env python3
"""Measures rlaas: processor time of a request, requests a second, latency, deadlines, and what 100,000 rules take.

benches/service.py <server> <module> <rlaas>   ROUNDS=5 SECONDS=2
h2load sends one fixed request over HTTP/2, so every request of a row has the same descriptors. All rows are measured one
after the other, ROUNDS times; medians are printed. The results are in benches/results/<server>/service.md and .json.
"""

import contextlib
import datetime
import json
import os
import pathlib
import platform
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = int(os.environ.get("ROUNDS", "5"))
SECONDS = int(os.environ.get("SECONDS", "2"))
CONNECTIONS, AT_ONCE = 10, 10
DEADLINES_MS, DEADLINE_CALLS, STOPPED_MS = (20, 50), 1000, 160
PATH = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
RULES = """
domain: web
descriptors:
  - {key: allowed, rate_limit: {algorithm: token, unit: second, requests_per_unit: 4000000000}}
  - {key: fixed, rate_limit: {unit: day, requests_per_unit: 4000000000}}
  - {key: denied, rate_limit: {algorithm: token, unit: day, requests_per_unit: 0}}
  - {key: charged, rate_limit: {algorithm: token, unit: day, requests_per_unit: 0, charge: always}}
  - {key: granted, rate_limit: {unit: day, requests_per_unit: 4000000000, grants: 100}}
"""
# What a row sends: the domain, and the keys of its descriptors.
ROWS = {
    "no rule": ("elsewhere", ["allowed"]),
    "1 limit, token": ("web", ["allowed"]),
    "1 limit, fixed": ("web", ["fixed"]),
    "10 limits, token": ("web", ["allowed"] * 10),
    "denied, remembered": ("web", ["denied"]),
    "denied, sent": ("web", ["charged"]),
    "grants of 100": ("web", ["granted"]),
}


def field(number, value):
    """A field of protobuf that is text or a message."""
    value = value.encode() if isinstance(value, str) else value
    assert len(value) < 1 << 14
    length = bytes([len(value)]) if len(value) < 128 else bytes([len(value) & 127 | 128, len(value) >> 7])
    return bytes([number << 3 | 2]) + length + value


def message(domain, keys):
    """A RateLimitRequest as gRPC sends it. Each descriptor has a value of its own."""
    descriptors = [field(2, field(1, field(1, key) + field(2, f"value-{n}"))) for n, key in enumerate(keys)]
    body = field(1, domain) + b"".join(descriptors)
    return b"\0" + len(body).to_bytes(4, "big") + body


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def cpu(pid):
    """Seconds of processor time of a process so far."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Service:
    """A server with the module, and rlaas with these rules. Both end with it."""

    def __init__(self, server, module, rlaas, rules):
        self.undo = contextlib.ExitStack()
        self.dir = pathlib.Path(self.undo.enter_context(tempfile.TemporaryDirectory()))
        self.socket = self.dir / "socket"
        options = ["--port", "0", "--unixsocket", self.socket, "--save", "", "--loadmodule", module]
        self.server = self._spawn("server.log", [server, *options])
        while not self.socket.exists():
            time.sleep(0.05)
        (self.dir / "rules").mkdir()
        (self.dir / "rules" / "rules.yaml").write_text(rules)
        self.port = free_port()
        began = time.monotonic()
        flags = ["--rules", "rules", "--redis", f"unix://{self.socket}", "--timeout", "10s"]
        flags += ["--grpc", f"127.0.0.1:{self.port}", "--http", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]
        self.process = self._spawn("rlaas.log", [rlaas, "serve", *flags])
        while "the rules are in force" not in (log := (self.dir / "rlaas.log").read_text()):
            assert self.process.poll() is None, log
            time.sleep(0.01)
        self.started_after = time.monotonic() - began
        while "gRPC listens" not in (self.dir / "rlaas.log").read_text():
            time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.undo.close()

    def _spawn(self, log, command):
        with open(self.dir / log, "wb") as file:
            process = subprocess.Popen(command, cwd=self.dir, stdout=file, stderr=file)
        self.undo.callback(process.wait)
        self.undo.callback(process.kill)
        return process

    def load(self, body, rate=None, seconds=SECONDS):
        """What h2load says, and the processor time of the service for a request."""
        options = ["-c", str(CONNECTIONS), "-m", str(AT_ONCE), "-D", str(seconds)]
        if rate:
            options += ["--rps", str(max(1, round(rate / CONNECTIONS)))]
        before = cpu(self.process.pid)
        times = self.times(body, *options)
        used = cpu(self.process.pid) - before
        return {
            "per_second": len(times) / seconds,
            "cpu_us": used / len(times) * 1e6,
            "p50_us": times[len(times) // 2],
            "p99_us": times[len(times) * 99 // 100],
            "requests": len(times),
        }

    def times(self, body, *options):
        """How long each request took that h2load sends, in microseconds."""
        (self.dir / "body").write_bytes(body)
        log = self.dir / "h2load.log"
        log.unlink(missing_ok=True)
        command = ["h2load", "-d", self.dir / "body", f"--log-file={log}", *options]
        command += ["-H", "content-type: application/grpc", "-H", "te: trailers"]
        run = subprocess.run([*command, f"http://127.0.0.1:{self.port}{PATH}"], capture_output=True, text=True)
        assert run.returncode == 0, run.stdout + run.stderr
        lines = [line.split() for line in log.read_text().splitlines()]
        assert lines and all(status == "200" for _, status, _ in lines), run.stdout
        return sorted(int(took) for *_, took in lines)

    def commands(self):
        """How many RL commands the server has executed."""
        text = subprocess.run(
            ["redis-cli", "-s", self.socket, "INFO", "commandstats"], capture_output=True, text=True, check=True
        ).stdout
        return sum(int(calls) for calls in re.findall(r"cmdstat_rl\.\w+:calls=(\d+)", text, re.IGNORECASE))


def measure(service):
    results = {name: [] for name in ROWS}
    for _ in range(ROUNDS):
        for name, (domain, keys) in ROWS.items():
            body, before = message(domain, keys), service.commands()
            full = service.load(body)
            full["commands"] = (service.commands() - before) / full["requests"]
            tenth = service.load(body, rate=full["per_second"] / 10)
            full["p50_tenth_us"], full["p99_tenth_us"] = tenth["p50_us"], tenth["p99_us"]
            results[name].append(full)
    return results


def deadlines(service):
    """How many calls with a deadline there were while the server was stopped, how many got a reply by 2 ms before it, and
    how many later than it."""
    body = message("web", ["allowed"])
    result = {}
    for deadline in DEADLINES_MS:
        # It is stopped for less than the time after which nothing is sent to it any more.
        calls = 4 * max(1, STOPPED_MS // deadline)
        times = []
        for _ in range(DEADLINE_CALLS // calls):
            service.times(body, "-n", "4", "-c", "4")
            service.server.send_signal(signal.SIGSTOP)
            try:
                times += service.times(body, "-n", str(calls), "-c", "4", "-m", "1", "-H", f"grpc-timeout: {deadline}m")
            finally:
                service.server.send_signal(signal.SIGCONT)
        result[deadline] = {
            "calls": len(times),
            "in_time": sum(took <= (deadline - 2) * 1000 for took in times),
            "late": sum(took > deadline * 1000 for took in times),
        }
    return result


def many_rules(server, module, rlaas):
    rule = "  - {{key: user, value: u{}, rate_limit: {{unit: minute, requests_per_unit: 5}}}}\n"
    rules = "domain: web\ndescriptors:\n" + "".join(rule.format(n) for n in range(100_000))
    with Service(server, module, rlaas, rules) as service:
        status = pathlib.Path(f"/proc/{service.process.pid}/status").read_text()
        return {"seconds": service.started_after, "mib": int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024}


def main():
    server, module, rlaas = sys.argv[1:]
    version = subprocess.run([server, "--version"], capture_output=True, text=True, check=True).stdout
    name = "valkey" if "Valkey" in version else "redis"
    name += "-" + re.search(r"v=(\S+)", version)[1]
    load_average = os.getloadavg()[0]
    with Service(server, module, rlaas, RULES) as service:
        results = measure(service)
        late = deadlines(service)
    rules = [many_rules(server, module, rlaas) for _ in range(ROUNDS)]

    def median(rows, figure):
        return statistics.median(row[figure] for row in rows)

    processor = next((line.split(": ")[1].split(" Processor")[0].strip() for line in open("/proc/cpuinfo") if "model name" in line), "")
    lines = [
        "# The service rlaas",
        "",
        f"{name}, {processor} ({os.cpu_count()} cores), {platform.freedesktop_os_release()['PRETTY_NAME']}, "
        f"{datetime.date.today()}.",
        f"Medians of {ROUNDS} rounds of {SECONDS} s. Server, service and h2load share the machine, whose load average was "
        f"{load_average:.2f} before.",
        "",
        f"h2load sends one fixed request over {CONNECTIONS} connections, {CONNECTIONS * AT_ONCE} at a time. `CPU µs` is processor "
        "time of the service for a",
        "request, which other programs disturb least. `no rule` is a request of a domain without rules: what gRPC itself takes.",
        "The times are those at a tenth of the requests a second.",
        "",
        "| | CPU µs | × no rule | requests/s | p50 µs | p99 µs | commands a request |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    base = median(results["no rule"], "cpu_us")
    for row, rounds in results.items():
        figures = {figure: median(rounds, figure) for figure in rounds[0]}
        lines.append(
            f"| {row} | {figures['cpu_us']:.1f} | {figures['cpu_us'] / base:.2f} | {figures['per_second']:,.0f} "
            f"| {figures['p50_tenth_us']:,.0f} | {figures['p99_tenth_us']:,.0f} | {figures['commands']:.3f} |"
        )
    lines.append("")
    for deadline, found in late.items():
        lines.append(
            f"Of {found['calls']} calls with a deadline of {deadline} ms while the server was stopped, "
            f"{found['in_time'] / found['calls']:.1%} had a reply 2 ms before it, and {found['late']} after it."
        )
    lines += [
        "",
        f"100,000 rules are in force {median(rules, 'seconds'):.2f} s after the start, and the service then takes "
        f"{median(rules, 'mib'):.0f} MiB.",
        "",
    ]
    directory = pathlib.Path(__file__).parent / "results" / name
    directory.mkdir(exist_ok=True)
    (directory / "service.md").write_text("\n".join(lines))
    (directory / "service.json").write_text(json.dumps({"rows": results, "deadlines": late, "rules": rules}, indent=1) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
