"""The commands without the module: the Lua scripts of docs/lua.md."""

from __future__ import annotations

import functools
import hashlib
import pathlib
import re
import time
from dataclasses import dataclass, field
from typing import Any

import redis

from .charge import RESERVES, UNITS, Words
from .keys import EXACT

# The package has the scripts; so has a clone.
PLACES = [pathlib.Path(__file__).with_name("lua"), pathlib.Path(__file__).parents[3] / "lua/generated"]
# After how many seconds the module is looked for again.
AGAIN = 5.0
# How many words follow an option of a limit.
OPTIONS = {
    **dict.fromkeys((b"COST", b"BURST", b"ANCHOR", b"ID", b"BLOCK", b"MAX", b"AS"), 1),
    b"SHADOW": 0,
    b"RESERVE": 2,
}
RESERVING = tuple(map(str.encode, RESERVES))
CLOCK = re.compile(r"(?:ERR )?clock (\d+)((?: \S+)*)")


@functools.cache
def script(name: str) -> tuple[str, str] | None:
    """The text of a script and its SHA-1."""
    for place in PLACES:
        if (path := place / f"{name}.lua").exists():
            text = path.read_text()
            return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
    return None


@dataclass
class Call:
    """The script of a command, what it gets, and the windows of its limits of FIXED."""

    name: str
    keys: list[bytes] = field(default_factory=list)
    args: list[bytes] = field(default_factory=list)
    windows: list[bytes] = field(default_factory=list)

    def words(self, whole: bool) -> Words:
        """The command: with the text of the script, or with its SHA-1."""
        found = script(self.name)
        assert found is not None
        begin: Words = ["EVAL", found[0]] if whole else ["EVALSHA", found[1]]
        return [*begin, len(self.keys), *self.keys, *self.args]


def encoded(word: str | bytes | int) -> bytes:
    return word if isinstance(word, bytes) else str(word).encode()


def has_tag(key: bytes) -> bool:
    _, opening, rest = key.partition(b"{")
    tag, closing, _ = rest.partition(b"}")
    return bool(opening and tag and closing)


class Scripts:
    """What is known of a server without the module."""

    def __init__(self, required: bool = False) -> None:
        self.required = required
        self.are_used = False
        self.is_cluster = False
        # The scripts whose text was sent.
        self.known: set[str] = set()
        self._looked = 0.0
        # The server's clock less that of this machine, in milliseconds.
        self._offset = 0
        # The suffixes of windows that the server's calendar decides, by their names.
        self._suffixes: dict[bytes, list[bytes]] = {}

    def decide(self) -> bool:
        """Whether commands go to scripts. Now and then some go to the module, which may have been loaded."""
        now = time.monotonic()
        if not self.are_used or now - self._looked < AGAIN:
            return self.are_used
        self._looked = now
        return False

    def begin(self) -> bool:
        """There is no module. Whether that is new."""
        is_new, self.are_used = not self.are_used, True
        self._looked = time.monotonic()
        return is_new

    def learns(self, error: object, windows: list[bytes]) -> bool:
        """Whether an error says which windows are meant, or that this is a cluster."""
        if isinstance(error, redis.exceptions.ClusterCrossSlotError) and not self.is_cluster:
            self.is_cluster = True
            return True
        found = CLOCK.match(str(error)) if isinstance(error, redis.ResponseError) else None
        if found is None:
            return False
        self._offset = int(found[1]) - _now()
        suffixes = found[2].encode().split()
        for at, window in enumerate(windows):
            self._suffixes[window] = suffixes[2 * at : 2 * at + 2]
        return True

    def note(self, reply: object) -> None:
        """Reads the server's clock in LINE or FULL."""
        found: Any = None
        if isinstance(reply, list) and len(reply) > 19 and reply[18] in (b"now_ms", "now_ms"):
            found = reply[19]
        elif isinstance(reply, (bytes, str)) and len(line := reply.split()) > 9:
            found = line[9]
        if found is not None:
            self._offset = int(found) - _now()

    def made(self, command: Words) -> Call:
        words = [encoded(word) for word in command]
        # The numbers of a script are exact up to EXACT, and so are its limits: more than any has.
        for at, word in enumerate(words[1:], 1):
            if words[at - 1].upper() in (b"COST", b"ACTUAL") and word.isdigit() and int(word) > EXACT:
                words[at] = b"%d" % EXACT
        name = words[0][3:].decode()
        call = Call(name.lower())
        if name == "MULTI":
            at = 2
            for _ in range(int(words[1])):
                begin, at = at, at + 4
                while at < len(words) and (more := OPTIONS.get(words[at].upper())) is not None:
                    at += 1 + more
                algorithm, key, *rest = words[begin:at]
                self._add(call, algorithm, key, rest[0], rest[2:], b"RESERVE")
                call.args += [algorithm, *rest]
            call.args += words[at:]
        elif name in ("RENEW", "RELEASE"):
            call.keys, call.args = words[1:2], words[2:]
        elif name in ("PEEK", "REFUND", "SETTLE", "RESET"):
            algorithm, key, *rest = words[1:]
            call.name += f"_{algorithm.decode().lower()}"
            option = {"RESET": None, "SETTLE": b"RESERVATION"}.get(name, b"RESERVE")
            self._add(call, algorithm, key, rest[0], rest[1 if name == "RESET" else 2 :], option)
            call.args = rest
        else:
            self._add(call, name.encode(), words[1], words[2], words[4:], b"RESERVE")
            call.args = words[2:]
        return call

    def _add(
        self, call: Call, algorithm: bytes, key: bytes, window: bytes, options: list[bytes], reserves: bytes | None
    ) -> None:
        """Adds the keys of a limit.

        :param reserves: the option that names reservations; None if they are named in any case
        """
        name, upper = algorithm.upper(), [word.upper() for word in options]
        is_reserved = name in RESERVING and (reserves is None or reserves in upper)
        named, infix = key, b""
        if self.is_cluster and not has_tag(key) and (name == b"FIXED" or is_reserved):
            if not key or b"}" in key:
                what = "FIXED" if name == b"FIXED" else "RESERVE"
                needs = "needs a key that is not empty and has no brace outside a hash tag"
                raise redis.ResponseError(f"ERR invalid key: in a cluster {what} {needs}")
            named = b"{" + key + b"}"
        if name == b"FIXED":
            found = re.fullmatch(rb"(\d+)(|ms|s|m|h|d)", window)
            span = int(found[1]) * UNITS[found[2].decode()] if found else 0
            word = b"%dms" % span if span else window.lower()
            infix = b":" + word
            if b"ANCHOR" in upper:
                infix += b":" + options[upper.index(b"ANCHOR") + 1]
                span = 0
            call.windows.append(infix)
            if span:
                number, passed = divmod(_now() + self._offset, span)
                suffixes = [b":%d" % number, b":%d" % (number - 1 if passed < span / 2 else number + 1)]
            else:
                suffixes = self._suffixes.get(infix, [b":%s:0" % word] * 2)
            call.keys += [named + suffix for suffix in suffixes]
        else:
            call.keys.append(key)
        if is_reserved:
            call.keys += [named + infix + b":reserved", named + infix + b":reserved:ends"]


def _now() -> int:
    return int(time.time() * 1000)
