"""redis-rl-cli [-h host] [-p port] command [argument …]: sends one command, and prints the reply as redis-cli does.

The server is 127.0.0.1:6379 if not given.
"""

from __future__ import annotations

import io
import json
import socket
import sys


def _printed(replies: io.BufferedReader, indent: str = "") -> str:
    """The next reply of RESP2."""
    line = replies.readline()
    if not line.endswith(b"\r\n"):
        raise OSError("the server has closed the connection")
    kind, text = line[:1], line[1:-2].decode(errors="replace")
    if kind == b"-":
        return f"(error) {text}"
    if kind == b":":
        return f"(integer) {text}"
    if kind == b"$":
        return "(nil)" if text == "-1" else json.dumps(replies.read(int(text) + 2)[:-2].decode(errors="replace"))
    if kind == b"*":
        elements = [f"{number}) {_printed(replies, indent + '   ')}" for number in range(1, int(text) + 1)]
        return f"\n{indent}".join(elements) or "(empty array)"
    return text


def main() -> None:
    words, address = sys.argv[1:], {"-h": "127.0.0.1", "-p": "6379"}
    while len(words) > 1 and words[0] in address:
        address[words[0]] = words[1]
        words = words[2:]
    if not words or words == ["--help"]:
        sys.exit(__doc__)
    parts = [b"$%d\r\n%s\r\n" % (len(word), word) for word in map(str.encode, words)]
    try:
        with socket.create_connection((address["-h"], int(address["-p"])), timeout=10) as connection:
            connection.sendall(b"*%d\r\n%s" % (len(words), b"".join(parts)))
            printed = _printed(connection.makefile("rb"))
    except (OSError, ValueError) as error:
        sys.exit(f"redis-rl-cli: {address['-h']}:{address['-p']}: {error}")
    print(printed)
    sys.exit(printed.startswith("(error)"))


if __name__ == "__main__":
    main()
