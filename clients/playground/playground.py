#!/usr/bin/env python3
"""Serves the playground, a page that shows what each algorithm does with the same requests:

    redis-rl-playground [address]        starts a server with the module, too; the address is 127.0.0.1:8000 if not given
    playground.py <URL of the server> <address>

The page sends its requests to /api/check. Each is decided by the server, and gets the status and the headers that a
service with this limit would reply.
"""

from __future__ import annotations

import contextlib
import heapq
import http
import http.server
import io
import ipaddress
import itertools
import json
import pathlib
import re
import socket
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable

PAGE = pathlib.Path(__file__).with_name("page")
FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/style.css": ("style.css", "text/css; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
}
ALGORITHMS = ("FIXED", "WINDOW", "SLIDING", "ROLLING", "COUNTER", "TOKEN", "LEAKY", "GCRA", "LEASE", "LOCKOUT")
# The fields of a request; the window is in seconds. `burst` and `work_ms` may be absent.
FIELDS = {"algorithm": str, "window": int, "limit": int, "key": str, "burst": int, "work_ms": int}
# The figures of a reply in the form LINE.
FIGURES = "allowed count ttl limit remaining retry_after_ms next_ms reset_ms delay_ms now_ms".split()
# The longest body, and the longest time that a request may hold a lease.
MAX_BODY, MAX_WORK_MS = 4096, 60_000
# The page loads nothing from elsewhere, and no script can be put into it.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
ELSEWHERE = "Open this page by the address that the program prints, or start it with the name: PAGE=name:8000\n"

holders = itertools.count()


class Invalid(Exception):
    """What is wrong with a request, and the field of the page that is."""

    def __init__(self, text: str, field: str | None = None) -> None:
        super().__init__(text)
        self.field = field


class Connection:
    """A connection to the server."""

    def __init__(self, url: str) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme == "redis+unix":
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(parts.path)
        else:
            self.socket = socket.create_connection((parts.hostname, parts.port or 6379))
        self.replies: io.BufferedReader = self.socket.makefile("rb")

    def send(self, words: list[str]) -> str:
        """Sends a command, and returns its reply. The commands here reply with one string, an integer or an error."""
        parts = [b"*%d\r\n" % len(words)]
        parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in map(str.encode, words)]
        self.socket.sendall(b"".join(parts))
        line = self.replies.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server has closed the connection")
        kind, text = line[:1], line[1:-2].decode()
        if kind == b"-":
            raise Invalid(text, next((field for field in ("window", "limit", "burst") if field in text.lower()), None))
        return self.replies.read(int(text) + 2)[:-2].decode() if kind == b"$" else text


def command(check: object) -> list[str]:
    """The command that asks the server, for a request of the page."""
    if not isinstance(check, dict) or any(type(value) is not FIELDS.get(name) for name, value in check.items()):
        raise Invalid(f"expected an object with {', '.join(FIELDS)}")
    if missing := FIELDS.keys() - check.keys() - {"burst", "work_ms"}:
        raise Invalid(f"{missing.pop()} is missing")
    algorithm, key = check["algorithm"], check["key"]
    if algorithm not in ALGORITHMS:
        raise Invalid(f"no such algorithm: {algorithm}", "algorithm")
    if not re.fullmatch(r"[0-9A-Za-z-]{1,64}", key):
        raise Invalid("invalid key: expected 1 to 64 letters, digits and hyphens", "key")
    if not 0 <= check.get("work_ms", 0) <= MAX_WORK_MS:
        raise Invalid(f"a request can hold its lease for {MAX_WORK_MS} ms at most", "work")
    # No algorithm reads the state of another.
    words = [f"RL.{algorithm}", f"playground:{key}:{algorithm}", str(check["window"]), str(check["limit"])]
    if "burst" in check:
        words += ["BURST", str(check["burst"])]
    if algorithm == "LEASE":
        words += ["ID", str(next(holders))]
    return [*words, "LINE"]


def headers(name: str, window: int, figures: dict[str, int]) -> dict[str, str]:
    """The headers of a reply, as the form HEADERS has them. (A test compares both.)"""

    def seconds(ms: int) -> int:
        return -(-ms // 1000)

    allowed, limit, remaining = figures["allowed"], figures["limit"], figures["remaining"]
    wait = figures["next_ms"] if allowed else figures["retry_after_ms"]
    unit = ';qu="concurrent-requests"' if name == "lease" else ""
    found = {
        "X-RateLimit-Limit": str(limit),
        "X-RateLimit-Remaining": str(remaining),
        "X-RateLimit-Reset": str(seconds(figures["now_ms"] + max(figures["reset_ms"], 0))),
        "RateLimit-Policy": f'"{name}";q={limit};w={window}{unit}',
        "RateLimit": f'"{name}";r={remaining}' + (f";t={seconds(wait)}" if wait >= 0 else ""),
    }
    return found if allowed or wait < 0 else {**found, "Retry-After": str(seconds(wait))}


def is_own(host: str | None, origin: str | None, own: str) -> bool:
    """Whether the host is this machine's and the origin, if there is one, is this page.

    With DNS rebinding, a page of another site reaches this server under the name of that site. So a name is accepted
    only if it is `localhost` or the one to listen on. An IP address cannot be rebound.
    """
    if host is None:
        return False
    name = re.sub(r":\d*$", "", host).strip("[]")
    try:
        ipaddress.ip_address(name)
    except ValueError:
        if name.lower() != "localhost" and name != own:
            return False
    return origin is None or origin == f"http://{host}"


class Releases(threading.Thread):
    """Releases leases, one after the other, each at its time."""

    def __init__(self, send: Callable[[list[str]], str]) -> None:
        super().__init__(daemon=True)
        self.send = send
        self.due: list[tuple[float, list[str]]] = []
        self.changed = threading.Condition()

    def add(self, after: float, words: list[str]) -> None:
        with self.changed:
            heapq.heappush(self.due, (time.monotonic() + after, words))
            self.changed.notify()

    def run(self) -> None:
        while True:
            with self.changed:
                while not self.due or self.due[0][0] > time.monotonic():
                    self.changed.wait(self.due[0][0] - time.monotonic() if self.due else None)
                _, words = heapq.heappop(self.due)
            with contextlib.suppress(OSError, Invalid):  # then it ends by itself
                self.send(words)


class Playground(http.server.ThreadingHTTPServer):
    request_queue_size = 128

    def __init__(self, url: str, address: str) -> None:
        self.own, _, port = address.rpartition(":")
        self.url = url
        self.local = threading.local()
        self.releases = Releases(self.send)
        self.releases.start()
        host = self.own.strip("[]")
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, int(port)), Handler)
        except OSError as error:
            other = f"{self.own}:{int(port) + 1}"
            sys.exit(f"{address}: {error.strerror}. Another address: PAGE={other} make playground, or the argument {other}")

    def send(self, words: list[str]) -> str:
        """Sends a command over the connection of this thread."""
        if not hasattr(self.local, "connection"):
            self.local.connection = Connection(self.url)
        try:
            return self.local.connection.send(words)
        except OSError:
            del self.local.connection
            raise


class Handler(http.server.BaseHTTPRequestHandler):
    server: Playground
    protocol_version = "HTTP/1.1"
    # A reply is written at once.
    wbufsize = -1

    def do_GET(self) -> None:
        if not is_own(self.headers["host"], self.headers["origin"], self.server.own):
            self.reply(403, "text/plain; charset=utf-8", ELSEWHERE.encode())
        elif found := FILES.get(self.path):
            name, content_type = found
            self.reply(200, content_type, (PAGE / name).read_bytes(), {"Content-Security-Policy": POLICY})
        else:
            self.reply(404, "text/plain; charset=utf-8", b"There is nothing here.\n")

    def do_POST(self) -> None:
        if self.path != "/api/check" or not is_own(self.headers["host"], self.headers["origin"], self.server.own):
            self.close_connection = True
            return self.do_GET()
        try:
            status, body, found = self.check()
        except Invalid as error:
            status, body, found = 400, {"error": str(error), "field": error.field}, {}
        except OSError as error:
            status, body, found = 503, {"error": f"the server does not decide: {error}", "field": None}, {}
        self.reply(status, "application/json", json.dumps(body).encode(), found)

    def check(self) -> tuple[int, dict[str, object], dict[str, str]]:
        length = self.headers["content-length"] or ""
        if not length.isascii() or not length.isdecimal() or int(length) > MAX_BODY:
            self.close_connection = True
            raise Invalid(f"expected a body of at most {MAX_BODY} bytes")
        try:
            check = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            raise Invalid(f"the body is not JSON: {error}") from None
        words = command(check)
        figures = dict(zip(FIGURES, map(int, self.server.send(words).split())))
        algorithm = check["algorithm"]
        shown = list(words)
        if algorithm == "LEASE":
            if figures["allowed"]:
                release = ["RL.RELEASE", words[1], words[words.index("ID") + 1]]
                self.server.releases.add(check.get("work_ms", 0) / 1000, release)
            shown[words.index("ID") + 1] = "…"
        body = {**figures, "allowed": bool(figures["allowed"]), "command": " ".join(shown)}
        return 200 if figures["allowed"] else 429, body, headers(algorithm.lower(), check["window"], figures)

    def reply(self, status: int, content_type: str, body: bytes, more: dict[str, str] | None = None) -> None:
        self.send_response_only(status, http.HTTPStatus(status).phrase)
        lengths = {"Content-Type": content_type, "Content-Length": str(len(body)), "Cache-Control": "no-cache"}
        for name, value in {**(more or {}), **lengths}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: the page shows what happens."""


def serve(url: str, address: str) -> None:
    with Playground(url, address) as server:
        host, port = server.server_address[:2]
        shown = f"[{host}]" if ":" in str(host) else host
        print(f"The playground is at http://{shown}:{port}/ (Ctrl-C ends it)", flush=True)
        server.serve_forever()


def main() -> None:
    """redis-rl-playground [address]: a server with the module on a free port, and the playground."""
    if len(sys.argv) > 2 or sys.argv[1:2] in (["--help"], ["-h"]):
        sys.exit(main.__doc__)
    from redis_rl.server import Server

    try:
        with Server() as server:
            serve(server.url, sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:8000")
    except KeyboardInterrupt:
        pass
    except OSError as error:
        sys.exit(f"redis-rl-playground: {error}")


if __name__ == "__main__":
    serve(*sys.argv[1:])
