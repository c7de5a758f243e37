"""The words of a limit. Those that are constant are checked when an application starts; no server is asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from .charge import Policy, milliseconds
from .keys import LARGEST

# In milliseconds.
LONGEST_WINDOW = 10**15
CALENDAR = ("day", "week", "month", "year")
# What a value must be, in words, and whether it is that.
Kind: TypeAlias = tuple[str, Callable[[str], bool]]


def _number(text: str, least: int = 0, most: int = LARGEST) -> bool:
    return re.fullmatch("0|[1-9][0-9]{0,18}", text) is not None and least <= int(text) <= most


def _is_window(text: str) -> bool:
    try:
        return milliseconds(text) <= LONGEST_WINDOW
    except ValueError:
        return False


SPAN: Kind = ("a positive integer of seconds, or one with ms, s, m, h or d", _is_window)
# The options of a limit of RL.MULTI. None: no value follows.
OPTIONS: dict[str, Kind | None] = {
    "COST": ("an integer of at least 0", _number),
    "BURST": ("an integer of at least 1", lambda text: _number(text, 1)),
    "ANCHOR": ("Unix seconds up to the year 9999", lambda text: _number(text, 0, 253402300799)),
    "ID": ("1 to 512 bytes", lambda text: 1 <= len(text.encode()) <= 512),
    "BLOCK": SPAN,
    "MAX": SPAN,
    "AS": ("1 to 64 of A-Z a-z 0-9 . _ -", lambda text: re.fullmatch("[A-Za-z0-9._-]{1,64}", text) is not None),
    "SHADOW": None,
}
# What each algorithm takes beside AS and SHADOW.
TAKES = {
    **dict.fromkeys(("WINDOW", "SLIDING", "COUNTER", "ROLLING"), ("COST",)),
    **dict.fromkeys(("TOKEN", "LEAKY", "GCRA"), ("COST", "BURST")),
    "FIXED": ("COST", "ANCHOR"),
    "LEASE": ("ID",),
    "LOCKOUT": ("COST", "BLOCK", "MAX"),
}


def check(policy: Policy) -> None:
    """Raises ValueError if the server would reject these words, whatever the key is."""
    name, _, window, limit, *options = (
        word.decode("latin-1") if isinstance(word, bytes) else str(word) for word in policy
    )
    algorithm = name.upper()
    if algorithm not in TAKES:
        raise ValueError(f"algorithm: expected one of {', '.join(sorted(TAKES))}, not {name!r}")
    if not _is_window(window) and not (algorithm == "FIXED" and window.lower() in CALENDAR):
        more = f", or {', '.join(CALENDAR)}" if algorithm == "FIXED" else ""
        raise ValueError(f"window: expected {SPAN[0]}{more}, not {window!r}")
    if not _number(limit):
        raise ValueError(f"limit: expected an integer of at least 0, not {limit!r}")
    takes, words = (*TAKES[algorithm], "AS", "SHADOW"), iter(options)
    seen: dict[str, str | None] = {}
    for word in words:
        option = word.upper()
        if option not in takes:
            raise ValueError(f"{word!r}: {algorithm} takes {', '.join(takes)}")
        if option in seen:
            raise ValueError(f"{option} comes at most once")
        kind, value = OPTIONS[option], None
        if kind is not None and ((value := next(words, None)) is None or not kind[1](value)):
            raise ValueError(f"{option}: expected {kind[0]}, not {value!r}")
        seen[option] = value
    if algorithm == "LEASE" and "ID" not in seen:
        raise ValueError("LEASE: expected ID id, the holder of the lease")
    block, longest = seen.get("BLOCK") or window, seen.get("MAX")
    if algorithm == "LOCKOUT" and longest is not None and milliseconds(longest) < milliseconds(block):
        raise ValueError(f"MAX: expected at least BLOCK, which is {block}, not {longest!r}")
