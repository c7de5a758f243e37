"""A server with the module, for the tests of the clients.

As a program it runs a command while such a server runs; RL_PORT is its port: python3 server.py COMMAND [ARGUMENT …]
"""

import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULE = os.environ.get("RL_MODULE") or ROOT / "target/release/libredis_rl.so"
PATIENCE = 10  # seconds


def free_port():
    """A port of 127.0.0.1 that nothing listens on, below those that Linux uses for outgoing connections."""
    while True:
        port = random.randrange(11_000, 32_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def eventually(check, what):
    """Waits until `check` returns something true, and returns it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if found := check():
            return found
        time.sleep(0.01)
    raise AssertionError(f"{what}: not within {PATIENCE} s")


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
    def __init__(self, *options):
        find = [ROOT / "scripts/servers", "system"]
        self.binary = subprocess.run(find, check=True, capture_output=True, text=True).stdout.strip()
        self.directory = tempfile.TemporaryDirectory()
        self.port = free_port()
        self.options = ["--bind", "127.0.0.1", "--save", "", *options]
        self.start()

    def start(self):
        command = [self.binary, "--port", self.port, "--loadmodule", MODULE, *self.options]
        self.process = spawn(command, self.directory.name, "server.log")
        eventually(lambda: listens(self.port) or self.process.poll() is not None, "the server starts")
        if self.process.poll() is not None:
            raise AssertionError((pathlib.Path(self.directory.name) / "server.log").read_text())

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

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.directory.cleanup()


if __name__ == "__main__":
    with Server() as server:
        sys.exit(subprocess.run(sys.argv[1:], env={**os.environ, "RL_PORT": str(server.port)}).returncode)
