#!/usr/bin/env python3
"""Serves the playground, a page that shows what each algorithm does with the same requests:

    redis-rl-playground [address]        starts a server with the module, too; the address is 127.0.0.1:8000 if not given
    playground.py <URL of the server> <address>

The page sends POST /check. A real server decides on each request, and the reply has the headers that a service with this
limit would send.
"""

from __future__ import annotations

import http.server
import ipaddress
import itertools
import json
import pathlib
import re
import socket
import sys
import threading
import urllib.parse

PAGE = pathlib.Path(__file__).with_name("page")
FILES = {"/": "text/html", "/style.css": "text/css", "/page.js": "text/javascript"}
# The most that a number of the page may be; the window is in seconds.
MOST = {"window": 3600, "limit": 10_000, "burst": 10_000, "count": 50}
MAX_BODY = 4096
# The page loads nothing from elsewhere, and no script can be put into it.
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-ancestors 'none'"

holders = itertools.count()


class Invalid(Exception):
    """What is wrong with a request."""


class Connection:
    """A connection to the server."""

    def __init__(self, url: str) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme == "redis+unix":
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(parts.path)
        else:
            self.socket = socket.create_connection((parts.hostname, parts.port or 6379))
        self.replies = self.socket.makefile("rb")

    def send(self, words: list[str]) -> object:
        parts = [b"*%d\r\n" % len(words)]
        parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in map(str.encode, words)]
        self.socket.sendall(b"".join(parts))
        return self.read()

    def read(self) -> object:
        line = self.replies.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server has closed the connection")
        kind, text = line[:1], line[1:-2].decode()
        if kind == b"-":
            raise Invalid(text)
        if kind == b"*":
            return [self.read() for _ in range(int(text))]
        if kind == b"$":
            return self.replies.read(int(text) + 2)[:-2].decode()
        return text if kind == b"+" else int(text)


def algorithms_of(connection: Connection) -> dict[str, dict[str, object]]:
    """What the server says of each algorithm: a sentence, and the arguments of its command."""

    def pairs(reply: list) -> dict:
        return dict(zip(reply[::2], reply[1::2]))

    def docs(word: str) -> dict:
        return pairs(connection.send(["COMMAND", "DOCS", f"RL.{word}"])[1])

    arguments = map(pairs, docs("PEEK")["arguments"])
    words = next(argument["arguments"] for argument in arguments if argument["name"] == "algorithm")
    found = {}
    for word in (pairs(word)["token"] for word in words):
        of_word = docs(word)
        takes = [pairs(argument)["name"] for argument in of_word["arguments"]]
        found[word] = {"summary": of_word["summary"], "takes": takes}
    return found


def commands(check: object, algorithms: dict[str, dict[str, object]]) -> list[list[str]]:
    """The commands of one request of the page, one for each algorithm."""
    if not isinstance(check, dict) or not re.fullmatch(r"[0-9a-f]{1,32}", str(check.get("key"))):
        raise Invalid("expected an object with a key")
    for name in check.keys() - {"key"}:
        number = check[name]
        if name not in MOST or type(number) is not int or not (0 if name == "limit" else 1) <= number <= MOST[name]:
            raise Invalid(f"{name}: expected an integer up to {MOST.get(name, 'nothing')}")
    if not {"window", "limit", "count"} <= check.keys():
        raise Invalid("expected window, limit and count")
    all_words = []
    for algorithm, about in algorithms.items():
        # No algorithm reads the state of another.
        words = [f"RL.{algorithm}", f"playground:{check['key']}:{algorithm}", str(check["window"]), str(check["limit"])]
        if "burst" in check and "burst" in about["takes"]:
            words += ["BURST", str(check["burst"])]
        if "id" in about["takes"]:
            words += ["ID", f"request-{next(holders)}"]
        all_words.append([*words, "HEADERS"])
    return all_words


def is_own(host: str | None, origin: str | None, own: str) -> bool:
    """Whether the host is this machine's and the origin, if there is one, is this page.

    With DNS rebinding, a page of another site reaches this server under the name of that site. So a name is accepted
    only if it is `localhost` or the one to listen on. An IP address cannot be rebound.
    """
    name = re.sub(r":\d*$", "", host or "").strip("[]")
    try:
        ipaddress.ip_address(name)
    except ValueError:
        if name.lower() != "localhost" and (not name or name != own):
            return False
    return origin is None or origin == f"http://{host}"


class Playground(http.server.ThreadingHTTPServer):
    def __init__(self, url: str, address: str) -> None:
        self.own, _, port = address.rpartition(":")
        self.connection, self.lock = Connection(url), threading.Lock()
        self.algorithms = algorithms_of(self.connection)
        host = self.own.strip("[]")
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            super().__init__((host, int(port)), Handler)
        except OSError as error:
            other = f"{self.own}:{int(port) + 1}"
            sys.exit(f"{address}: {error.strerror}. Another address: PAGE={other} make playground, or the argument {other}")

    def decide(self, check: dict) -> dict[str, dict[str, object]]:
        """Of each algorithm: which of the requests are allowed, and the command and the headers of the last one."""
        found: dict[str, dict[str, object]] = {algorithm: {"allowed": []} for algorithm in self.algorithms}
        for _ in range(check["count"] if isinstance(check, dict) and type(check.get("count")) is int else 1):
            for algorithm, words in zip(self.algorithms, commands(check, self.algorithms)):
                with self.lock:
                    allowed, _count, _ttl, headers = self.connection.send(words)
                found[algorithm]["allowed"].append(allowed)
                found[algorithm] |= {"command": " ".join(words), "headers": dict(zip(headers[::2], headers[1::2]))}
        return found


class Handler(http.server.BaseHTTPRequestHandler):
    server: Playground
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if not is_own(self.headers["host"], self.headers["origin"], self.server.own):
            self.reply(403, "text/plain", b"Open this page by the address that the program prints, or start it with PAGE=name:8000\n")
        elif self.path in FILES:
            name = self.path.removeprefix("/") or "index.html"
            self.reply(200, FILES[self.path], (PAGE / name).read_bytes())
        elif self.path == "/algorithms":
            self.reply(200, "application/json", json.dumps(self.server.algorithms).encode())
        else:
            self.reply(404, "text/plain", b"There is nothing here.\n")

    def do_POST(self) -> None:
        length = self.headers["content-length"] or ""
        is_short = length.isascii() and length.isdecimal() and int(length) <= MAX_BODY
        if self.path != "/check" or not is_short or not is_own(self.headers["host"], self.headers["origin"], self.server.own):
            self.close_connection = True
            return self.do_GET()
        try:
            status, body = 200, self.server.decide(json.loads(self.rfile.read(int(length))))
        except (Invalid, ValueError, RecursionError) as error:
            status, body = 400, {"error": str(error)}
        except OSError as error:
            status, body = 503, {"error": f"the server does not decide: {error}"}
        self.reply(status, "application/json", json.dumps(body).encode())

    def reply(self, status: int, content_type: str, body: bytes) -> None:
        self.send_response_only(status)
        for name, value in (
            ("Content-Type", f"{content_type}; charset=utf-8"), ("Content-Length", str(len(body))),
            ("Cache-Control", "no-cache"), ("Content-Security-Policy", POLICY),
        ):
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
