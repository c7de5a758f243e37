"""The keys of all clients: ``<prefix><name>:{<who>}``. A caller decides neither how long a key is nor where its hash
tag ends: vectors/keys.json."""

from __future__ import annotations

import functools
import hashlib
import hmac
import ipaddress
import re

LONGEST = 256
SHOWN = 32
# What ends so is replaced too, however long it is, so that no value has the key of another.
REPLACED = re.compile(r"~[0-9a-f]{64}\Z")
# What would end the hash tag, and halves of characters, which UTF-8 has not.
UNFIT = re.compile("[{}\ud800-\udfff]")


@functools.lru_cache(maxsize=1000)
def bounded(who: str) -> str:
    """Who is limited, in the form that keys have."""
    data = who.encode("utf-8", "surrogatepass")
    is_fit = UNFIT.search(who) is None
    if is_fit and len(data) <= LONGEST and not REPLACED.search(who):
        return who
    # A character of UTF-8 stays whole.
    shown = data[:SHOWN].decode("utf-8", "ignore") if is_fit else ""
    return f"{shown}~{hashlib.sha256(data).hexdigest()}"


def part_of_key(who: str | int, secret: str | None = None) -> str:
    """The part of a key between the braces.

    :param secret: the caller is replaced by 32 hexadecimal digits of its HMAC-SHA-256
    """
    if isinstance(who, bool) or not isinstance(who, (str, int)) or who == "":
        # str(None) would be a key that all callers without a name share.
        raise TypeError(f"who: expected a str that is not empty, or an int, not {who!r:.40}")
    text = str(who)
    if secret is not None:
        text = hmac.new(secret.encode(), text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]
    return bounded(text)


def address_key(address: str) -> str:
    """An address as a caller to limit: IPv4 inside IPv6 as IPv4, and of IPv6 the network of 64 bits, of which one
    customer has at least one. What is no address stays."""
    try:
        found = ipaddress.ip_address(address.split("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address) or found.ipv4_mapped is not None:
        return str(getattr(found, "ipv4_mapped", found))
    return str(ipaddress.IPv6Network((int(found) >> 64 << 64, 64)))
