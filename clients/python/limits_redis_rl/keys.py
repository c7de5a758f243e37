"""Keys and costs within their bounds: a caller must not decide how long a key is, nor name the keys of reservations."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable

# A longer part of a key is cut after so many bytes, and its SHA-256 follows. No caller can write such a part by itself:
# one that ends so is replaced too, however long it is.
LONGEST_PART = 256
KEPT = 32
REPLACED = re.compile(rb"~[0-9a-f]{64}\Z")
# Keys of reservations end so.
RESERVED = (b":reserved", b":reserved:ends")

# The largest integer of the server.
LARGEST = 2**63 - 1
# The largest of the scripts, which decide without the module.
EXACT = 2**53 - 1


def bounded(key: str | bytes | int) -> bytes:
    """The key, or if it is long one that is not: a request must not decide how long keys are, nor name the keys of
    reservations.

    What is before, in and after the hash tag becomes its first 32 bytes, ``~`` and its SHA-256 if it has more than 256
    bytes. ``vectors/keys.json`` has examples.
    """
    if isinstance(key, bool) or not isinstance(key, (str, bytes, int)):
        # str(None) would be a key that all callers without a name share.
        raise TypeError(f"key: expected str, bytes or int, not {type(key).__name__}")
    data = key if isinstance(key, bytes) else str(key).encode()
    before, opening, rest = data.partition(b"{")
    tag, closing, after = rest.partition(b"}")
    if not tag or not closing:
        return shortened(data, data.endswith(RESERVED))
    return b"".join((shortened(before), opening, shortened(tag), closing, shortened(after, data.endswith(RESERVED))))


def shortened(part: bytes, always: bool = False) -> bytes:
    """The part of a key, or its first bytes and its SHA-256."""
    if not always and len(part) <= LONGEST_PART and not REPLACED.search(part):
        return part
    end = KEPT
    # A character of UTF-8 is not cut.
    while KEPT - 3 < end < len(part) and part[end] & 0xC0 == 0x80:
        end -= 1
    return part[:end] + b"~" + hashlib.sha256(part).hexdigest().encode()


def capped(cost: str | bytes | int) -> str | bytes | int:
    """The cost, or if the server could not read it for its length the largest, which it denies: a cost may come from a
    request, and must not look like a fault of the configuration."""
    if isinstance(cost, int):
        return min(cost, LARGEST)
    if not isinstance(cost, (str, bytes)):
        return cost  # the client rejects it
    digits = cost.encode() if isinstance(cost, str) else cost
    return LARGEST if digits.isdigit() and (len(digits) > 19 or int(digits) > LARGEST) else cost


def keyed_hash(secret: str | bytes) -> Callable[[str | bytes], str]:
    """A function that makes the part of a key of an address or a name: 32 hexadecimal digits of HMAC-SHA-256.

    Nobody who sees the keys learns the address, and the length is the same whatever a client sends. All processes need
    the same secret.
    """
    secret = secret.encode() if isinstance(secret, str) else secret
    if not isinstance(secret, bytes) or not secret:
        raise ValueError("secret: expected at least one byte")

    def hashed(value: str | bytes) -> str:
        data = value.encode() if isinstance(value, str) else value
        return hmac.new(secret, data, hashlib.sha256).hexdigest()[:32]

    return hashed
