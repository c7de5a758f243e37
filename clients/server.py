"""A server with the module, for the tests of the clients and of deploy/monitoring.

As a program it runs a command once with each server of `binaries`. RL_PORT is then the port of the server:
python3 server.py COMMAND [ARGUMENT …]
"""

import contextlib
import json
import os
import pathlib
import random
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULE = pathlib.Path(os.environ.get("RL_MODULE") or ROOT / "target/release/libredis_rl.so").resolve()
PATIENCE = 10  # seconds


def binaries():
    """The servers to test with: those that SERVERS names, separated by blanks; else the Redis of this machine."""
    if named := os.environ.get("SERVERS", "").split():
        return named
    find = [ROOT / "scripts/servers", "system"]
    return [subprocess.run(find, check=True, capture_output=True, text=True).stdout.strip()]


PORTS = random.sample(range(11_000, 32_000), 21_000)


def free_port():
    """A port of 127.0.0.1 that nothing listens on, below those that Linux uses for outgoing connections, and another one
    each time."""
    while True:
        port = PORTS.pop()
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def free_ports(count):
    return [free_port() for _ in range(count)]


def eventually(check, what, patience=PATIENCE):
    """Waits until `check` returns something true, and returns it."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if found := check():
            return found
        time.sleep(0.01)
    raise AssertionError(f"{what}: not within {patience} s")


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def spawn(command, directory, log):
    """Starts a program that is ended if this process ends, however that happens."""
    with open(pathlib.Path(directory) / log, "ab") as output:
        return subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *map(str, command)],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )


class Server:
    def __init__(self, binary, *options, module=os.environ.get("MODULE") != "none"):
        self.binary = binary
        self.module = ["--loadmodule", MODULE] if module else []
        self.options = ["--bind", "127.0.0.1", "--save", "", *options]
        self.directory = tempfile.TemporaryDirectory()
        self.log = pathlib.Path(self.directory.name) / "server.log"
        # Another program may take the port before the server does.
        for _ in range(20):
            self.port = free_port()
            if self.try_start():
                return
            if "Address already in use" not in self.log.read_text():
                break
        raise AssertionError(self.log.read_text())

    def try_start(self):
        """Whether it runs now. If not, the log says why."""
        command = [self.binary, "--port", self.port, *self.module, *self.options]
        self.process = spawn(command, self.directory.name, self.log.name)
        eventually(lambda: self.process.poll() is not None or self.is_ready(), "the server starts")
        return self.process.poll() is None

    def is_ready(self):
        """Whether this server, and no other program, replies at the port."""
        try:
            return f"process_id:{self.process.pid}\n" in self.text("INFO", "server")
        except RuntimeError:
            return False

    def start(self):
        """Starts it again, after `stop`."""
        if not self.try_start():
            raise AssertionError(self.log.read_text())

    def stop(self):
        self.process.kill()  # also if it is paused
        self.process.wait()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def text(self, *words, stdin=None):
        """The reply as redis-cli prints it. An error is an exception. `stdin` is one more word, the last."""
        command = ["redis-cli", "-e", "-p", self.port, *(["-x"] if stdin else []), *words]
        done = subprocess.run([str(word) for word in command], input=stdin, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip() or done.stdout.strip())
        return done.stdout

    def call(self, *words, stdin=None):
        """The reply as a value of Python."""
        return json.loads(self.text("--json", *words, stdin=stdin))

    def close(self):
        self.stop()
        self.directory.cleanup()


@contextlib.contextmanager
def cluster(binary):
    """Three masters without replicas."""
    with contextlib.ExitStack() as stack:
        nodes = [stack.enter_context(contextlib.closing(Server(binary, "--cluster-enabled", "yes"))) for _ in range(3)]
        create = ["redis-cli", "--cluster", "create", *(f"127.0.0.1:{node.port}" for node in nodes), "--cluster-yes"]
        subprocess.run(create, stdout=subprocess.DEVNULL, check=True)
        for node in nodes:
            eventually(lambda node=node: "cluster_state:ok" in node.text("CLUSTER", "INFO"), "a cluster")
        yield nodes


class Forwarder:
    """An address that stays, in front of servers that change. Open connections stay with the server that they were made
    to, as with a name in DNS or a balancer.

    The server executes all calls, but the replies to the first calls with this word are lost with their connections.
    """

    def __init__(self, port, word=b"", times=0):
        self.target, self.word, self.times, self.lost = port, word, times, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.ends = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.forward, args=[client], daemon=True).start()

    def forward(self, client):
        with client, contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.target)) as server:
            self.ends += [client, server]
            loses, sent = False, b""
            while True:
                for source in select.select([client, server], [], [])[0]:
                    if not (data := source.recv(65536)) or (loses and source is server):
                        return
                    if source is client and not loses and self.lost < self.times:
                        # A long call comes in several pieces, and the word may be in two of them.
                        sent = sent[-len(self.word) :] + data
                        loses = self.word in sent
                        self.lost += loses
                    (server if source is client else client).sendall(data)

    @staticmethod
    def end(ends):
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)  # ends what waits for it

    def close(self):
        self.end([self.listener, *self.ends])
        self.listener.close()


if __name__ == "__main__":
    for binary in binaries():
        print(binary, flush=True)
        with contextlib.closing(Server(binary)) as server:
            done = subprocess.run(sys.argv[1:], env={**os.environ, "RL_PORT": str(server.port)})
        if done.returncode != 0:
            sys.exit(done.returncode)
