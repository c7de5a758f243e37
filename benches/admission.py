#!/usr/bin/env -S python3 -B
"""Who allows too much: make bench-admission. The table goes into benches/results/admission.md.

  RLAAS                                    the program rlaas, by default that in target/release
  PEER_MODULE, THROTTLECRAB, LIMITADOR     redis-cell's .so, and the programs throttlecrab-server and limitador-server
  WINDOW=3 seconds; ONLY=slowapi,rlaas     the window; rows whose names contain one of these, and nothing is written

Each package has a limit of 100 in a window, in 8 processes with one server:

  at once      1,000 requests, early in a window of the clock
  any window   one request; at 0.9 of the window 96 at once; after its end 200 at once, and 8 every 25th of it. The most
               that were allowed within a window, wherever it begins. A request counts if it was sent and replied to in
               it, so at least so many were allowed
  round trips  reads of the server for a request, of 20 that are allowed and 20 that are denied, one after the other
  retry        40 at once, and 100 at once half a window later. A denied caller comes 10 ms after the time it was told.
               Another comes every 20 ms, to another key with the same requests: when one is allowed

Before, it measures a limiter that reads a counter and then writes it, which must allow more than 100 at once, and
RL.WINDOW, which must allow 100: else the measurement is wrong, and it ends.
"""

import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "clients"))
from server import MODULE, Server, binaries, free_port, free_ports  # noqa: E402
from throughput import Program, conditions  # noqa: E402

LIMIT, PROCESSES, WINDOW = 100, 8, int(os.environ.get("WINDOW") or 3)
ONLY = os.environ.get("ONLY")
GIVEN = {name: os.environ.get(name) for name in ("PEER_MODULE", "THROTTLECRAB", "LIMITADOR")}
RLAAS = os.environ.get("RLAAS") or ROOT / "target/release/rlaas"
PLACE, PAGE = ROOT / "target/admission", ROOT / "benches/results/admission.md"
MARGIN = 0.003  # seconds: clocks of whole milliseconds here and in the server

NODE, PYTHON = "worker.mjs", "worker.py"
# The program that asks, the package, what decides, and the variable that names a program of somebody else.
SELF_TEST = [(PYTHON, "GET, then SET", "a counter that is read, then written", None),
             (PYTHON, "RL.WINDOW", "a window from the first request", None)]  # fmt: skip
ROWS = [
    (NODE, "express-rate-limit + rate-limit-redis", "a window from the first request", None),
    (NODE, "rate-limiter-flexible", "a window from the first request", None),
    (NODE, "@nestjs/throttler + @nest-lab/throttler-storage-redis", "a window from the first request, with a block", None),
    (NODE, "hono-rate-limiter", "a window from the first request", None),
    (NODE, "@upstash/ratelimit, fixed window", "a window of the clock", None),
    (NODE, "@upstash/ratelimit, sliding window", "two counters", None),
    (PYTHON, "limits, fixed-window", "a window from the first request", None),
    (PYTHON, "limits, moving-window", "a log, exact", None),
    (PYTHON, "limits, sliding-window-counter", "two counters", None),
    (PYTHON, "slowapi", "a window from the first request", None),
    (PYTHON, "slowapi, moving-window", "a log, exact", None),
    (PYTHON, "fastapi-limiter + pyrate-limiter", "a log, by the clocks of the callers", None),
    (PYTHON, "litellm", "a window from the first request", None),
    (PYTHON, "django-ratelimit + django-redis", "a window of the clock, later for each key", None),
    (NODE, "redis-cell", "GCRA", "PEER_MODULE"),
    (NODE, "throttlecrab", "GCRA", "THROTTLECRAB"),
    (NODE, "limitador", "a window from the first request", "LIMITADOR"),
    (NODE, "rate-limit-redis-rl, FIXED", "a window of the clock", None),
    (NODE, "rate-limit-redis-rl, ROLLING", "a log, exact", None),
    (PYTHON, "slowapi + limits-redis-rl, moving-window", "a log, exact", None),
    (PYTHON, "limits-redis-rl, COUNTER", "two counters", None),
    (NODE, "rlaas, fixed", "a window of the clock", None),
    (NODE, "rlaas, rolling", "a log, exact", None),
]  # fmt: skip
OWN = {"rate-limit-redis-rl": ROOT / "clients/node", "limits-redis-rl": ROOT / "clients/python"}
VERSIONS = (ROOT / "benches/admission/versions").read_text().splitlines()[1:]
RULES = """
domain: {algorithm}
authorize: {{descriptors: [[{{key: user, header: X-User}}]]}}
descriptors: [{{key: user, rate_limit: {{algorithm: {algorithm}, window: {window}s, requests_per_unit: {limit}}}}}]
"""
LIMITS = "[{{namespace: admission, max_value: {limit}, seconds: {window}, conditions: [], variables: [user]}}]"


def install():
    """Both sorts of packages, and those of this repository; again if the versions have changed."""
    stamp, wanted = PLACE / "installed", "\n".join(VERSIONS)
    if not stamp.exists() or stamp.read_text() != wanted:
        (PLACE / "node").mkdir(parents=True, exist_ok=True)
        (PLACE / "node/package.json").write_text('{"private": true}')
        pip = [package for package in VERSIONS if "==" in package]
        npm = [package for package in VERSIONS if "==" not in package]
        quiet = ["--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(["npm", "install", *quiet, *npm, OWN["rate-limit-redis-rl"]], cwd=PLACE / "node", check=True)
        subprocess.run([sys.executable, "-m", "venv", PLACE / "python"], check=True)
        command = [PLACE / "python/bin/pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, *pip, OWN["limits-redis-rl"]], check=True)
        stamp.write_text(wanted)


class Worker:
    def __init__(self, stack, file, name, url, **environment):
        program = ["node"] if file == NODE else [PLACE / "python/bin/python", "-B"]
        command = [*program, ROOT / "benches/admission" / file, name, url, LIMIT, WINDOW]
        self.log = stack.enter_context(tempfile.TemporaryFile("w+"))
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *map(str, command)], cwd=PLACE / "node",
                                        env={**os.environ, **environment}, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)  # fmt: skip
        stack.callback(self.process.wait)
        stack.callback(self.process.kill)

    def read(self):
        line = self.process.stdout.readline()
        self.log.seek(0)
        assert line, self.log.read()[-2000:]
        return line

    def begin(self, jobs):
        print(json.dumps(jobs), file=self.process.stdin, flush=True)

    def results(self):
        return json.loads(self.read())


def key(name):
    """A key for which the windows of django-ratelimit, which differ by key, begin with those of the clock."""
    names = (f"{name}-{number}" for number in range(10_000))
    return next(found for found in names if zlib.crc32(found.encode()) % WINDOW == WINDOW - 1)


def in_any_window(requests):
    """The most allowed requests that were sent and replied to within one window."""
    allowed = [(sent, received) for sent, received, is_allowed, _ in requests if is_allowed]
    return max(sum(begin <= sent and received < begin + WINDOW - MARGIN for sent, received in allowed)
               for begin, _ in allowed)  # fmt: skip


def retry(told, polled):
    """Whether the time that a denied caller was told is right."""
    if len(told) == 1:
        return "not told"
    (_, denied, _, seconds), (_, _, allowed, _) = told
    late = denied + seconds - polled[1][1]
    if not allowed:
        return f"wrong: denied again, {max(-late, 0):.1f} s too early"
    if late < 0.1:
        return "right"
    return "right, rounded up to a second" if late < 1 and seconds == round(seconds) else f"{late:.1f} s too late"


def next_window():
    """When the next window of the clock begins."""
    return (time.time() // WINDOW + 1) * WINDOW


def round_trips(server, worker):
    """How often the server reads for a request that is allowed, and for one that is denied."""

    def reads():
        return int(re.search(r"total_reads_processed:(\d+)", server.text("INFO", "stats"))[1])

    own = -reads() + reads()
    begin, found = next_window() + 0.05, []
    for kind, count in (("sequence", 20), ("burst", 150), ("sequence", 20)):
        before = reads()
        worker.begin([[kind, begin, key("trips"), count]])
        [requests] = worker.results()
        found.append((reads() - before - own) / count)
    denied = not any(allowed for _, _, allowed, _ in requests)
    return found[::2] if denied else found[:1]


def measure(stack, server, file, name, url=None, **environment):
    """The cells of a row: allowed at once, in any window, round trips, retry. None if the machine was too busy. `url` is
    that of a package that is a server of its own."""
    redis = f"redis://127.0.0.1:{server.port}"
    workers = [Worker(stack, file, name, url or redis, **environment) for _ in range(PROCESSES)]
    for worker in workers:
        assert worker.read() == "ready\n"
    trips = [] if url else round_trips(server, workers[0])

    begin = next_window()
    bursts = [("once", 0.1, 1000), ("any", 1.9, 96), ("any", 2.05, 200), *[("any", 2.1 + n / 25, 8) for n in range(25)]]
    bursts += [(caller, when, count) for caller in ("retry", "poll") for when, count in ((1.1, 40), (1.6, 100))]
    jobs = [["burst", begin + when * WINDOW, key(what), count // PROCESSES] for what, when, count in bursts]
    alone = [("burst", 1.02, "any"), ("retry", 1.75, "retry"), ("poll", 1.75, "poll")]
    alone = [[kind, begin + when * WINDOW, key(what), 1] for kind, when, what in alone]
    for number, worker in enumerate(workers):
        worker.begin(jobs + (alone if number == 0 else []))
    results = [worker.results() for worker in workers]
    first_of_any, told, polled = results[0][-len(alone) :]
    requests = {"once": [], "any": first_of_any}
    for result in results:
        for (what, *_), found in zip(bursts, result):
            requests.setdefault(what, []).extend(found)
    if max(received for _, received, *_ in requests["once"]) > begin + 0.9 * WINDOW:
        return None
    once = sum(allowed for _, _, allowed, _ in requests["once"])
    return once, in_any_window(requests["any"]), trips, retry(told, polled)


def environment(stack, server, name):
    """Starts the program of a package that is one, and returns where it is."""
    host = "127.0.0.1"
    directory = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
    if name == "throttlecrab":
        port = free_port()
        options = ["--redis", "--redis-host", host, "--redis-port", port, "--log-level", "warn"]
        Program(stack, name, [port], GIVEN["THROTTLECRAB"], *options)
        return {"url": f"redis://{host}:{port}"}
    if name == "limitador":
        ports = free_ports(2)
        (directory / "limits.yaml").write_text(LIMITS.format(limit=LIMIT, window=WINDOW))
        listen = ["--rls-ip", host, "--rls-port", ports[0], "--http-ip", host, "--http-port", ports[1]]
        storage = ["redis", f"redis://{host}:{server.port}"]
        Program(stack, name, ports, GIVEN["LIMITADOR"], *listen, directory / "limits.yaml", *storage)
        return {"LIMITADOR_URL": f"http://{host}:{ports[1]}"}
    if name.startswith("rlaas"):
        for algorithm in ("fixed", "rolling"):
            text = RULES.format(algorithm=algorithm, window=WINDOW, limit=LIMIT)
            (directory / f"{algorithm}.yaml").write_text(text)
        ports = free_ports(3)
        addresses = {f"RLAAS_{use}": f"{host}:{port}" for use, port in zip(("GRPC", "HTTP", "METRICS"), ports)}
        patient = ["--timeout", "1s", "--max-lag", "1s"]  # the machine is busy
        options = ["--rules", directory, "--redis", f"redis://{host}:{server.port}", *patient]
        Program(stack, "rlaas", ports, RLAAS, "serve", *options, **addresses)
        return {"RLAAS_URL": f"http://{host}:{ports[1]}"}
    return {}


def measured(binary, file, name):
    """`measure` with a server of its own, a few times if the machine is busy."""
    peer = ["cl-throttle", "no", "--loadmodule", GIVEN["PEER_MODULE"]] if name == "redis-cell" else []
    for _ in range(5):
        with contextlib.ExitStack() as stack:
            server = Server(binary, "--loadmodule", MODULE, *peer, module=False)
            stack.callback(server.close)
            if cells := measure(stack, server, file, name, **environment(stack, server, name)):
                return cells
    sys.exit(f"{name}: 1,000 requests take longer than a window. Set WINDOW={2 * WINDOW}, or wait for an idle machine")


def line(name, what, cells):
    once, any_window, trips, wait = cells
    for package, _, version in (re.split("(==|(?<!^)@)", package) for package in VERSIONS):
        name = re.sub(rf"(?<![\w@/-]){package}(?![\w/-])", f"{package} {version}", name)
    trips = " / ".join(f"{trip:.1f}".removesuffix(".0") for trip in trips) or "its own"
    return f"| {name} | {what} | {once} | {any_window} | {trips} | {wait} |"


def main():
    assert pathlib.Path(RLAAS).exists(), f"there is no {RLAAS}"
    install()
    binary = binaries()[0]
    naive, window = (measured(binary, file, name) for file, name, *_ in SELF_TEST)
    assert naive[0] > LIMIT and window[0] == LIMIT, f"the measurement is wrong: {naive}, {window}"
    lines = ["| package | what counts | at once | any window | round trips | retry |", "|---|---|--:|--:|--:|---|"]
    lines += [line(name, what, cells) for (_, name, what, _), cells in zip(SELF_TEST, (naive, window))]
    print("\n".join(lines))
    for file, name, what, given in ROWS:
        if ONLY and not any(part in name for part in ONLY.split(",")):
            continue
        if given and not GIVEN[given]:
            lines.append(f"| {name} | {what} | not given | | | |")
        else:
            lines.append(line(name, what, measured(binary, file, name)))
        print(lines[-1], flush=True)
    if ONLY:
        return
    begin, end = "<!-- begin: make bench-admission -->\n", "<!-- end: make bench-admission -->\n"
    before, rest = PAGE.read_text().split(begin)
    text = "\n".join([f"{conditions(binary)[1]} The window is {WINDOW} s.", "", *lines, ""])
    PAGE.write_text(before + begin + text + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
