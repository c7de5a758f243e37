#!/usr/bin/env -S python3 -B
"""What an application gets while its server is stopped, paused, without the module …

python3 faults.py CLIENT [CLIENT …]

Each client is the example of its page, run as it stands there but for the addresses, with a real server. Every fault
asserts what a request gets, how long it takes at most, what the log says, and when the server decides again.
"""

import concurrent.futures
import contextlib
import http.client
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from server import MODULE, PATIENCE, ROOT, Forwarder, Server, binaries, eventually, free_port, listens, spawn

REPLIES = 1.0  # seconds that a request takes at most if the server replies, on a machine with other work
CLIENTS = ROOT / "clients"
PYTHON = ROOT / "target/clients-python/bin"
NODE = pathlib.Path(os.environ.get("RL_NODE_APPLICATION", ""))  # has the packages, made by node/test
GO = pathlib.Path(os.environ.get("RL_GO_APPLICATION", ""))  # the same, made by go/test


def example(page, language, words):
    """The block of a page that has these words."""
    text = (ROOT / page).read_text()
    blocks = [block for block in re.findall(rf"```{language}\n(.*?)```", text, re.S) if words in block]
    assert len(blocks) == 1, f"{page} has {len(blocks)} blocks with {words}"
    return blocks[0]


def replaced(text, changes):
    """The text with every change, made in one pass: a port that was put in may hold the digits of another."""
    for old in changes:
        assert old in text, f"the example has no {old}"
    return re.sub("|".join(map(re.escape, changes)), lambda found: changes[found[0]], text) if changes else text


class App:
    """A program that serves HTTP on `port`."""

    def __init__(self, command, files, port, **environment):
        self.port = port
        self.directory = tempfile.TemporaryDirectory()
        for name, text in files.items():
            (pathlib.Path(self.directory.name) / name).write_text(text)
        env = [f"{name}={value}" for name, value in environment.items()]
        self.process = spawn(["env", *env, *command], self.directory.name, "log")
        eventually(lambda: listens(port) or self.process.poll() is not None, "it starts", 60)
        if self.process.poll() is not None:
            log = self.log()
            self.close()
            raise AssertionError(log)

    def log(self):
        return (pathlib.Path(self.directory.name) / "log").read_text()

    def get(self):
        """The status of the response, and after how many seconds it was there."""
        begin = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", "/")
            response = connection.getresponse()
            response.read()
            return response.status, time.monotonic() - begin
        finally:
            connection.close()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.directory.cleanup()


class Client:
    """What is expected of one client."""

    name = None
    longest = 0.5  # seconds that a request takes at most, on a machine with other work
    recovery = 2  # seconds until the server decides again
    open = 200  # if the server cannot decide
    fault = 500  # if it rejects the call
    prefix = "no decision, failing open: "
    rejected = "the call was rejected, a fault of the configuration: "
    invalid = "invalid "
    connection = None  # how the log names a connection that fails
    timeout = None  # and a server that does not reply
    out_of_memory = "OOM"
    read_only = "READONLY"
    # What makes the policy of the example wrong.
    wrong = None
    # Where the timeout is not what is tested, it is one for a machine with other work.
    patient = {}

    def start(self, port, changes):
        raise NotImplementedError

    limits_itself = False

    def run(self, port, changes):
        """The application, with the server on this port."""
        return contextlib.closing(self.start(port, changes))


class Python(Client):
    connection = "ConnectionError: "
    timeout = "TimeoutError: "
    out_of_memory = "OutOfMemoryError"
    read_only = "ReadOnlyError"
    invalid = "ValueError: window: expected"
    changes = {}

    def start(self, port, changes):
        code = example("clients/python/README.md", "python", self.words)
        old, new = self.address
        http_port, main = free_port(), replaced(code, {old: new.format(port), **self.changes, **changes})
        return App([PYTHON / "python", "-m", *self.serve, http_port], {"main.py": main}, http_port)


class Asgi(Python):
    name = "asgi"
    open = 503
    prefix = "no decision, failing closed: "
    timeout = "TimeoutError: no reply within 0.1 s"
    wrong = {"TOKEN 1s": "TOKEN 1sec"}
    patient = {"timeout=0.1": "timeout=5"}
    words = "def policies(scope)"
    address = 'host="localhost"', 'host="127.0.0.1", port={}'
    serve = "uvicorn", "main:app", "--port"


class FlaskLimiter(Python):
    name = "flask-limiter"
    limits_itself = True
    prefix = "no decision, the limit of this process decides: "
    wrong = {'"100/minute"': '"100 per 999999999 years"'}
    patient = {'"socket_timeout": 0.1': '"socket_timeout": 5'}
    # One process, whose limit is not spent by the fault before.
    changes = {'"instances": 4': '"instances": 1', '"100/minute"': '"150 per 4 seconds"'}
    words = "from flask_limiter import Limiter"
    address = "localhost:6379", "127.0.0.1:{}"
    serve = "flask", "--app", "main", "run", "--port"


class NodeRedis(Client):
    name = "express-rate-limit"
    open = 503
    prefix = "no decision, failing closed: "
    connection = "ECONNREFUSED"
    timeout = "NoReply: no reply within 100 ms"
    invalid = "limit: expected a number"
    wrong = {"limit: 100": "limit: NaN"}
    patient = {"prefix: 'api:'": "prefix: 'api:', timeout: 5000"}

    def code(self):
        return example("clients/node/README.md", "js", "createClient({ url")

    def start(self, port, changes):
        http_port = free_port()
        all_changes = {"localhost:6379": f"127.0.0.1:{port}", "listen(3000)": f"listen({http_port}, '127.0.0.1')"}
        # The packages are found from the directory of the program.
        app = pathlib.Path(tempfile.mkdtemp(dir=NODE))
        (app / "main.mjs").write_text(replaced(self.code(), {**all_changes, **changes}))
        try:
            return App(["node", app / "main.mjs"], {}, http_port)
        finally:
            shutil.rmtree(app)


class IoRedis(NodeRedis):
    name = "express-rate-limit, ioredis"

    def code(self):
        """The example of node-redis, with the client of ioredis."""
        client = example("clients/node/README.md", "js", "from 'ioredis'")
        return re.sub(r"const client = .*?\n\n", lambda _: client + "\n", super().code(), count=1, flags=re.DOTALL)


class Go(Client):
    name = "go"
    open = 503
    prefix = "no decision, failing closed: "
    connection = "connection refused"
    timeout = "no reply in time"
    # The client builds no policy that the server rejects.
    wrong = {
        "Doer: redigo{pool}": "Doer: wrong{redigo{pool}}",
        "func main() {": """type wrong struct{ redisrl.Doer }

func (w wrong) Do(ctx context.Context, args ...any) (any, error) {
	if len(args) > 3 {
		args[3] = "-1"
	}
	return w.Doer.Do(ctx, args...)
}

func main() {""",
    }
    patient = {'Prefix: "app:"': 'Prefix: "app:", Timeout: 5 * time.Second'}

    def start(self, port, changes):
        http_port = free_port()
        main = replaced(
            example("clients/go/README.md", "go", "func main() {"),
            {"localhost:6379": f"127.0.0.1:{port}", '":3000"': f'"127.0.0.1:{http_port}"', **changes},
        )
        with tempfile.TemporaryDirectory(dir=GO) as place:
            path = pathlib.Path(place)
            (path / "main.go").write_text(main)
            subprocess.run(["go", "build", "-o", "main", "main.go"], cwd=place, check=True)
            return App([path / "main"], {}, http_port)


class Run:
    """All faults of one client. Each is a method that asserts what happens."""

    def __init__(self, client, binary):
        self.client, self.binary = client, binary

    def requests(self, app, times, status, within=None):
        """Sends requests that all get this status, none of them too late. How long each took."""
        times_taken = []
        for number in range(times):
            found, took = app.get()
            assert found == status, f"request {number} got {found}, not {status}:\n{app.log()[-3000:]}"
            assert took <= (within or self.client.longest), f"request {number}: {took:.3f} s:\n{app.log()[-3000:]}"
            times_taken.append(took)
        return times_taken

    def without_reply(self, app):
        """Sends requests to a server that does not reply; the breaker opens."""
        self.requests(app, 8, self.client.open)
        # One request at a time tries, and the others fail at once.
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            at_once = [took for _, took in pool.map(lambda _: app.get(), range(4))]
        assert min(at_once) < 0.09, at_once

    def replied(self, app, status, *logs):
        """Sends requests to a server that replies errors, within 1 s; the breaker stays closed."""
        self.requests(app, 8, status, within=REPLIES)
        assert "does not reply, so this request was not sent" not in app.log(), app.log()[-3000:]
        for log in logs:
            self.logged(app, log)

    def logged(self, app, text):
        eventually(lambda: text in app.log(), f"the log says {text!r}:\n{app.log()[-3000:]}")

    @staticmethod
    def decisions(server):
        """How many calls of the module the server has executed."""
        calls = re.findall(r"^cmdstat_rl\.\S+:calls=(\d+)", server.text("INFO", "commandstats"), re.M | re.I)
        return sum(map(int, calls))

    def recovers(self, app, server):
        """Waits until the server decides on a request."""
        begin, before = time.monotonic(), self.decisions(server)
        while app.get() and self.decisions(server) == before:
            took = time.monotonic() - begin
            assert took < self.client.recovery, f"not decided by the server after {took:.1f} s:\n{app.log()[-3000:]}"
            time.sleep(0.02)
        self.requests(app, 1, 200)

    def exhausted(self, app):
        """Sends requests until the limit denies."""
        for _ in range(200):
            status, _ = app.get()
            if status == 429:
                return
            assert status == 200, status
        raise AssertionError("the limit does not limit")

    def limits_itself(self, app):
        if self.client.limits_itself:
            self.exhausted(app)

    @contextlib.contextmanager
    def running(self, *options, changes=None, **more):
        """A server, and an application that is decided by it."""
        with contextlib.closing(Server(self.binary, *options, **more)) as server:
            with self.client.run(server.port, changes or {}) as app:
                yield app, server

    def all(self):
        with self.running() as (app, server):
            self.recovers(app, server)
            for fault in (self.stopped, self.paused, self.killed, self.restarted_empty):
                server.text("FLUSHALL")
                fault(app, server)
        with self.running(changes=self.client.patient) as (app, server):
            self.recovers(app, server)
            for fault in (self.maxmemory, self.wrong_type):
                server.text("FLUSHALL")
                fault(app, server)
        self.failover()
        self.no_module()
        self.wrong_policy()
        self.down_at_start()

    def away(self, app, server, is_last=False):
        time.sleep(0.2)  # the application notices that its connections are closed
        self.without_reply(app)
        self.logged(app, self.client.prefix)
        self.logged(app, self.client.connection)
        if is_last:  # else the next fault goes on with this application
            self.limits_itself(app)
        server.start()
        self.recovers(app, server)

    def stopped(self, app, server):
        with contextlib.suppress(RuntimeError):
            server.text("SHUTDOWN", "NOSAVE")
        server.process.wait(PATIENCE)
        self.away(app, server)

    def killed(self, app, server):
        app.get()  # a connection is open
        server.stop()
        self.away(app, server)

    def down_at_start(self):
        with contextlib.closing(Server(self.binary)) as server:
            server.stop()
            with self.client.run(server.port, {}) as app:
                self.away(app, server, is_last=True)

    def paused(self, app, server):
        server.pause()
        try:
            self.without_reply(app)
            self.logged(app, self.client.timeout)
        finally:
            server.resume()
        self.recovers(app, server)

    def restarted_empty(self, app, server):
        self.exhausted(app)
        server.stop()
        server.start()
        found, _ = app.get()
        assert found in (200, self.client.open), app.log()[-3000:]
        self.recovers(app, server)

    def maxmemory(self, app, server):
        client = self.client
        server.text("CONFIG", "SET", "maxmemory", 1)
        try:
            self.replied(app, client.open, client.prefix, client.out_of_memory)
        finally:
            server.text("CONFIG", "SET", "maxmemory", 0)
        self.recovers(app, server)

    def wrong_type(self, app, server):
        client = self.client
        app.get()
        keys = server.call("KEYS", "*")
        assert keys
        for key in keys:
            server.text("DEL", key)
            server.text("RPUSH", key, "x")
        self.replied(app, client.fault, client.rejected, "WRONGTYPE")
        server.text("FLUSHALL")
        self.recovers(app, server)

    def failover(self):
        client = self.client
        with contextlib.ExitStack() as stack:
            old = stack.enter_context(contextlib.closing(Server(self.binary)))
            new = stack.enter_context(contextlib.closing(Server(self.binary, "--replicaof", "127.0.0.1", old.port)))
            address = stack.enter_context(contextlib.closing(Forwarder(old.port)))
            app = stack.enter_context(client.run(address.port, {}))
            self.recovers(app, old)
            eventually(lambda: "state=online" in old.text("INFO", "replication"), "the replica is in step")
            old.text("FAILOVER")
            eventually(lambda: "role:master" in new.text("INFO", "replication"), "the replica is the primary")
            eventually(lambda: "role:slave" in old.text("INFO", "replication"), "the old primary is a replica")
            address.target = new.port
            self.requests(app, 1, client.open)
            self.logged(app, client.read_only)
            self.recovers(app, new)
            self.requests(app, 5, 200)

    def no_module(self):
        options = ("--enable-module-command", "local")
        with self.running(*options, module=False, changes=self.client.patient) as (app, server):
            self.requests(app, 8, 200, within=5)
            self.logged(app, "no module: the Lua scripts decide")
            self.exhausted(app)
            server.text("FLUSHALL")
            server.text("MODULE", "LOAD", MODULE)
            begin = time.monotonic()
            while not self.decisions(server):
                app.get()
                assert time.monotonic() - begin < 10, app.log()[-3000:]
                time.sleep(0.02)
            server.text("FLUSHALL")
            self.requests(app, 1, 200, within=REPLIES)

    def wrong_policy(self):
        client = self.client
        with self.running(changes={**client.wrong, **client.patient}) as (app, _):
            self.replied(app, client.fault, client.rejected, client.invalid)


ALL = {client.name: client for client in (Asgi, FlaskLimiter, Go, NodeRedis, IoRedis)}


def main():
    for name in sys.argv[1:]:
        Run(ALL[name](), binaries()[0]).all()
        print(f"{name}: what happens with each fault of the server", flush=True)


if __name__ == "__main__":
    main()
