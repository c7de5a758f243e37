#!/usr/bin/env -S python3 -B
"""Measures rlaas: processor time of a request, requests a second, latency, deadlines, and what 100,000
rules take.

  LIMITADOR     the program limitador-server, built from its source, which is then measured beside it
  BEFORE        another build of rlaas, which is then measured beside it too
  BUILT         where the service and the examples `load` and `empty` are, by default target/service
  ROUNDS=5, SECONDS=2 for each figure of a round; ONLY=fixed,empty names rows, and writes nothing

h2load sends one fixed request over HTTP/2, so every request of a row has the same descriptors; `load` sends those with
100,000 keys. All rows of a round are measured one after the other; medians are printed. The results are in
benches/results/<server>/service.md.
"""

import contextlib
import datetime
import os
import pathlib
import re
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "clients"))
from throughput import Program, conditions, cpu_seconds, run, version, write  # noqa: E402
from server import Server, binaries, free_port  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS") or 5)
SECONDS = int(os.environ.get("SECONDS") or 2)
LIMITADOR, BEFORE, ONLY = (os.environ.get(name) for name in ("LIMITADOR", "BEFORE", "ONLY"))
BUILT = pathlib.Path(os.environ.get("BUILT") or ROOT / "target/service")
RLAAS, LOAD, EMPTY = (BUILT / name for name in ("rlaas", "examples/load", "examples/empty"))
METHOD = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"
CONNECTIONS, AT_ONCE = 10, 10
KEYS = 100_000
DEADLINES_MS, DEADLINE_CALLS, STOPPED_MS = (20, 50), 1000, 160
LIMIT = 4_000_000_000  # no run reaches it

RULES = f"""
domain: web
descriptors:
  - {{key: allowed, rate_limit: {{algorithm: token, unit: second, requests_per_unit: {LIMIT}}}}}
  - {{key: fixed, rate_limit: {{unit: day, requests_per_unit: {LIMIT}}}}}
  - {{key: denied, rate_limit: {{algorithm: token, unit: day, requests_per_unit: 0}}}}
  - {{key: charged, rate_limit: {{algorithm: token, unit: day, requests_per_unit: 0, charge: always}}}}
  - {{key: granted, rate_limit: {{unit: day, requests_per_unit: {LIMIT}, grants: 100}}}}
"""
# What a row sends: the domain and the keys of its descriptors; then how many connections, and how many requests at a time
# on each, if they are not CONNECTIONS and AT_ONCE. A row of `many` has values of 100,000 keys, and so many
# descriptors.
ROWS = {
    "no rule": ("elsewhere", ["allowed"]),
    "1 limit, token": ("web", ["allowed"]),
    "1 limit, fixed": ("web", ["fixed"]),
    "1 limit, fixed, 1 under way": ("web", ["fixed"], 1, 1),
    "1 limit, fixed, 4,000 under way": ("web", ["fixed"], 40, 100),
    "10 limits, token": ("web", ["allowed"] * 10),
    "10 limits, fixed": ("web", ["fixed"] * 10),
    "denied, remembered": ("web", ["denied"]),
    "denied, sent": ("web", ["charged"]),
    "grants of 100": ("web", ["granted"]),
}
MANY = {
    "1 limit, token, 100,000 keys": ("web", "allowed", 1),
    "1 limit, fixed, 100,000 keys": ("web", "fixed", 1),
    "10 limits, fixed, 100,000 keys": ("web", "fixed", 10),
    "denied, sent, 100,000 keys": ("web", "charged", 1),
}

# limitador has a namespace for each number of descriptors: a condition on a descriptor that is not there is an error.
LIMITS = "".join(
    f"""
- {{namespace: {namespace}, max_value: {most}, seconds: 86400, conditions: [], variables: ["descriptors[{n}].key"]}}"""
    for namespace, most, count in (("one", LIMIT, 1), ("ten", LIMIT, 10), ("denied", 0, 1))
    for n in range(count)
)
LIMITADOR_ROWS = {
    "no rule": ("elsewhere", ["key"]),
    "1 limit": ("one", ["key"]),
    "10 limits": ("ten", ["key"] * 10),
    "denied": ("denied", ["key"]),
}
LIMITADOR_MANY = {
    "1 limit, 100,000 keys": ("one", "key", 1),
    "10 limits, 100,000 keys": ("ten", "key", 10),
    "denied, 100,000 keys": ("denied", "key", 1),
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


class Service:
    """A program that is asked, and the rows that it is measured in."""

    def __init__(self, name, program, port, server, rows, many):
        self.name, self.program, self.port, self.server = name, program, port, server
        self.rows, self.many = rows, many
        is_measured = lambda row: not ONLY or "empty" in row or any(part in row for part in ONLY.split(","))  # noqa: E731
        self.results = {row: [] for row in [*rows, *many] if is_measured(row)}

    def check(self, row, domain, keys):
        """Panics unless it decides as the row says: a gRPC error is a success of HTTP."""
        reply = self.ask(message(domain, keys))
        # The prefix of gRPC, then overall_code: 1 is OK, 2 is over the limit.
        assert reply[5:7] == bytes([8, 2 if "denied" in row else 1]), (self.name, row, reply)

    def ask(self, body):
        headers = ["-H", "content-type: application/grpc", "-H", "te: trailers"]
        (self.program.directory / "body").write_bytes(body)
        data = f"@{self.program.directory / 'body'}"
        return run("curl", "-sS", "--http2-prior-knowledge", *headers, "--data-binary", data, self.url)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}{METHOD}"

    def h2load(self, body, *options):
        """How long each request of h2load took, in microseconds."""
        directory = self.program.directory
        (directory / "body").write_bytes(body)
        log = directory / "latencies"
        log.unlink(missing_ok=True)
        command = ["h2load", "-d", directory / "body", f"--log-file={log}", *options]
        text = run(*command, "-H", "content-type: application/grpc", "-H", "te: trailers", self.url).decode()
        lines = [line.split() for line in log.read_text().splitlines()]
        assert lines and all(status == "200" for _, status, _ in lines), text
        return sorted(int(took) for *_, took in lines)

    def fixed(self, domain, keys, connections=CONNECTIONS, at_once=AT_ONCE, rate=None):
        """The number of requests of h2load, and their percentiles 50 and 99 in microseconds."""
        options = ["-c", connections, "-m", at_once, "-D", SECONDS]
        if rate:
            options += ["--rps", max(1, round(rate / connections))]
        times = self.h2load(message(domain, keys), *options)
        return len(times), times[len(times) // 2], times[len(times) * 99 // 100]

    def random(self, domain, key, descriptors, rate=0):
        """The same of `load`, which sends keys of many."""
        address = f"http://127.0.0.1:{self.port}"
        return tuple(map(int, run(LOAD, address, domain, key, KEYS, descriptors, rate, SECONDS).split()))

    def measure(self, row):
        if row in self.rows:
            self.check(row, *self.rows[row][:2])
        before, commands = self.cpu_seconds(), self.commands()
        if row in self.rows:
            send, words = self.fixed, self.rows[row]
        else:
            send, words = self.random, self.many[row]
        requests, *_ = send(*words)
        spent, with_server = (after - was for after, was in zip(self.cpu_seconds(), before))
        figures = {
            "per_second": requests / SECONDS,
            "cpu_us": spent / requests * 1e6,
            "both_us": with_server / requests * 1e6,
            "commands": (self.commands() - commands) / requests,
        }
        _, p50, p99 = send(*words, rate=figures["per_second"] / 10)
        self.results[row].append(figures | {"p50_us": p50, "p99_us": p99})

    def cpu_seconds(self):
        """Processor time of the service, and of it and the server."""
        of_service = cpu_seconds(self.program.process.pid)
        return of_service, of_service + (cpu_seconds(self.server.process.pid) if self.server else 0)

    def commands(self):
        """How many commands the server has executed for it; of those that a script or a transaction holds, each."""
        if self.server is None:
            return 0
        return int(re.search(r"total_commands_processed:(\d+)", self.server.text("INFO", "stats"))[1])

    def median(self, row, figure):
        return statistics.median(figures[figure] for figures in self.results[row])


def rlaas(stack, binary, rules, program=RLAAS, name="rlaas"):
    server, ports = Server(binary), [free_port() for _ in range(3)]
    stack.callback(server.close)
    directory = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
    (directory / "rules.yaml").write_text(rules)
    names = ("RLAAS_GRPC", "RLAAS_HTTP", "RLAAS_METRICS")
    environment = {name: f"127.0.0.1:{port}" for name, port in zip(names, ports)}
    # How long a decision may take is not what is measured here, and a saturated machine is late.
    options = ["--rules", directory, "--redis", f"redis://127.0.0.1:{server.port}", "--timeout", "10s"]
    options += ["--max-lag", "10s"]
    program = Program(stack, "rlaas", ports[:1], program, "serve", *options, **environment)
    return Service(name, program, ports[0], server, ROWS, MANY)


def empty(stack):
    port = free_port()
    program = Program(stack, "empty", [port], EMPTY, f"127.0.0.1:{port}")
    return Service("tonic", program, port, None, {"empty handler": ROWS["no rule"]}, {})


def limitador(stack, binary, storage):
    server, ports = Server(binary, module=False), [free_port(), free_port()]
    stack.callback(server.close)
    limits = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory())) / "limits.yaml"
    limits.write_text(LIMITS)
    listen = ["-b", "127.0.0.1", "-p", ports[0], "-B", "127.0.0.1", "-P", ports[1]]
    url = [] if storage == "memory" else [f"redis://127.0.0.1:{server.port}"]
    program = Program(stack, "limitador", ports, LIMITADOR, *listen, limits, storage, *url)
    return Service(f"limitador, {storage}", program, ports[0], server, LIMITADOR_ROWS, LIMITADOR_MANY)


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
            service.h2load(body, "-n", 4, "-c", 4)
            service.server.pause()
            try:
                times += service.h2load(body, "-n", calls, "-c", 4, "-m", 1, "-H", f"grpc-timeout: {deadline}m")
            finally:
                service.server.resume()
        result[deadline] = {
            "calls": len(times),
            "in_time": sum(took <= (deadline - 2) * 1000 for took in times),
            "late": sum(took > deadline * 1000 for took in times),
        }
    return result


def broken(late):
    """Where less than 99 % of the calls had a reply 2 ms before their deadline, or one had it later."""
    for deadline, found in late.items():
        if found["in_time"] < found["calls"] * 0.99:
            yield f"only {found['in_time']} of {found['calls']} calls had a reply 2 ms before their deadline of {deadline} ms"
        if found["late"]:
            yield f"{found['late']} of {found['calls']} calls had a reply after their deadline of {deadline} ms"


def many_rules(binary):
    """When 100,000 rules are in force after the start, in seconds, and the MiB that the service then takes."""
    rule = "  - {{key: user, value: u{}, rate_limit: {{unit: minute, requests_per_unit: 5}}}}\n"
    rules = "domain: web\ndescriptors:\n" + "".join(rule.format(n) for n in range(100_000))
    with contextlib.ExitStack() as stack:
        began = datetime.datetime.now()
        service = rlaas(stack, binary, rules)
        seconds = (datetime.datetime.now() - began).total_seconds()
        status = pathlib.Path(f"/proc/{service.program.process.pid}/status").read_text()
        return seconds, int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024


def table(service, base):
    """Its rows. Processor time is compared with `base`."""
    for row in service.results:
        figures = {figure: service.median(row, figure) for figure in service.results[row][0]}
        yield (
            f"| {service.name}: {row} | {figures['cpu_us']:.1f} | {figures['cpu_us'] / base:.2f} | {figures['both_us']:.1f} "
            f"| {figures['per_second']:,.0f} | {figures['p50_us']:,.0f} | {figures['p99_us']:,.0f} "
            f"| {figures['commands']:.3f} |"
        )


def main():
    binary = binaries()[0]
    name, about = conditions(binary, ("limitador", LIMITADOR))
    load_average = os.getloadavg()[0]
    with contextlib.ExitStack() as stack:
        handler = empty(stack)
        services = [rlaas(stack, binary, RULES)]
        if BEFORE:
            services.append(rlaas(stack, binary, RULES, BEFORE, "before"))
        if LIMITADOR:
            services += [limitador(stack, binary, storage) for storage in ("redis", "memory")]
        for number in range(ROUNDS):
            print(f"round {number + 1}", file=sys.stderr)
            every = [handler, *services]
            for row in dict.fromkeys(row for service in every for row in service.results):
                for service in every:
                    if row in service.results:
                        service.measure(row)
        late = {} if ONLY else deadlines(services[0])
    rules = [] if ONLY else [many_rules(binary) for _ in range(ROUNDS)]

    earlier = f"; `before` is {version(BEFORE, '--version')}" if BEFORE else ""
    lines = [f"""# The service rlaas

{about}
Medians of {ROUNDS} rounds of {SECONDS} s. Servers, services and load share the machine, whose load average was
{load_average:.2f} before.

h2load sends one fixed request over {CONNECTIONS} connections, {CONNECTIONS * AT_ONCE} at a time; `load` (service/examples) \
sends those with 100,000
keys, and takes more of the machine itself. `CPU µs` is processor time of the service for a request, which other
programs disturb least; `with server` adds that of the server. `empty handler` (service/examples) is what gRPC itself
takes: a handler on tonic that replies OK.
`no rule` is a request of a domain without rules{earlier}.
The times are those at a tenth of the requests a second. `commands` are those that the server executed for a request.

| | CPU µs | × empty handler | with server | requests/s | p50 µs | p99 µs | commands |
|---|--:|--:|--:|--:|--:|--:|--:|"""]
    base = handler.median("empty handler", "cpu_us")
    for service in [handler, *services]:
        lines += table(service, base)
    if BEFORE:
        both = [(row, [of.median(row, "both_us") for of in services[:2]]) for row in services[0].results]
        ratios = [f"{row} {now / then:.2f}" for row, (now, then) in both]
        lines += ["", f"Processor time of service and server for a request, divided by that of `before`: {'; '.join(ratios)}"]
    if ONLY:
        print("\n".join(lines))
        return
    if LIMITADOR:
        lines += ["", "limitador's processor time for a request, divided by that of rlaas for the same (fixed windows):", ""]
        pairs = [("1 limit, fixed", "1 limit"), ("10 limits, fixed", "10 limits"), ("denied, sent", "denied"),
                 ("1 limit, fixed, 100,000 keys", "1 limit, 100,000 keys"), ("10 limits, fixed, 100,000 keys", "10 limits, 100,000 keys"),
                 ("denied, sent, 100,000 keys", "denied, 100,000 keys")]  # fmt: skip
        for peer in [service for service in services if service.name.startswith("limitador")]:
            found = [(row, its) for row, its in pairs if its in peer.results]
            ratios = [f"{row} {peer.median(its, 'cpu_us') / services[0].median(row, 'cpu_us'):.2f} ×" for row, its in found]
            lines.append(f"- {peer.name}: {'; '.join(ratios)}")
    lines.append("")
    for deadline, found in late.items():
        lines.append(
            f"Of {found['calls']} calls with a deadline of {deadline} ms while the server was stopped, "
            f"{found['in_time'] / found['calls']:.1%} had a reply 2 ms before it, and {found['late']} after it."
        )
    seconds, mib = map(statistics.median, zip(*rules))
    lines += ["", f"100,000 rules are in force {seconds:.2f} s after the start, and the service then takes {mib:.0f} MiB.", ""]
    write(name, "service.md", "\n".join(lines))
    if problems := list(broken(late)):
        sys.exit(f"rlaas replies too late: {'; '.join(problems)}. Is the machine busy?")


if __name__ == "__main__":
    main()
