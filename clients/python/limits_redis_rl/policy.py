"""A limit: the words of a command after its key, checked when it is made."""

from __future__ import annotations

import calendar
import functools
import re
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any, TypeAlias

# The largest integer of the scripts, which decide without the module.
LARGEST = 2**53 - 1
UNITS = {"": 1000, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
# The days of each calendar word; those of a month and a year differ.
CALENDAR = {"day": 1, "week": 7, "month": 30, "year": 365}
DAY = 86_400_000
YEAR_10000 = 253_402_300_800
# The months of those whose length differs.
MONTHS = {"month": 1, "year": 12}
# The largest integer of a structured header field (RFC 9651, section 3.3.1). A larger one voids the whole header.
MAX_INTEGER = 999_999_999_999_999

ALGORITHMS = ("FIXED", "WINDOW", "SLIDING", "ROLLING", "COUNTER", "TOKEN", "LEAKY", "GCRA", "LEASE", "LOCKOUT")
# Those whose charge may be a reservation.
RESERVES = ("FIXED", "WINDOW", "COUNTER", "ROLLING")


def seconds(milliseconds: int) -> int:
    return -(-milliseconds // 1000)  # rounded up


def milliseconds(name: str, span: object) -> int:
    """The milliseconds of a span: ``500ms``, ``10s``, ``5m``, ``1h``, ``1d``, or seconds."""
    found = re.fullmatch(r"([1-9][0-9]{0,15})(|ms|s|m|h|d)", str(span))
    length = int(found[1]) * UNITS[found[2]] if found else 0
    if isinstance(span, bool) or not 0 < length <= LARGEST:
        raise ValueError(f"{name}: expected a positive integer of seconds, or one with ms, s, m, h or d, not {span!r}")
    return length


def integer(name: str, value: object, least: int, most: int = LARGEST) -> int:
    found = int(value) if isinstance(value, str) and re.fullmatch("0|[1-9][0-9]{0,18}", value) else value
    if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= most:
        raise ValueError(f"{name}: expected an integer from {least} to {most}, not {value!r}")
    return found


# Which algorithms take an option, as vectors/capabilities.json says, and how it is read.
OPTIONS: dict[str, tuple[tuple[str, ...], Callable[[str, object], int]]] = {
    "burst": (("TOKEN", "LEAKY", "GCRA"), lambda name, value: integer(name, value, 1)),
    "anchor": (("FIXED",), lambda name, value: integer(name, value, 0, YEAR_10000 - 1)),
    "block": (("LOCKOUT",), milliseconds),
    "max": (("LOCKOUT",), milliseconds),
}


class Policy:
    """A limit: ``Policy("TOKEN", "1m", 60, burst=10)``, or the text ``TOKEN 1m 60 BURST 10``.

    :param window: ``500ms``, ``10s``, ``5m``, ``1h``, ``1d``, or seconds; of FIXED also ``day``, ``week``, ``month``
        and ``year``
    :param limit: how many units a window allows; 0 denies everything
    :param options: ``burst`` (TOKEN, LEAKY, GCRA): how much may pass at once; ``anchor`` (FIXED): where windows start,
        in Unix seconds; ``block`` and ``max`` (LOCKOUT): the length of the first and of the longest lock
    :param shadow: decides and counts, and denies nothing
    :param name: its part of the keys, and its name in the headers; if not given, ``token:60000ms`` and ``token``
    """

    def __init__(
        self,
        algorithm: str,
        window: str | int,
        limit: int | str,
        *,
        shadow: bool = False,
        name: str | None = None,
        **options: Any,
    ) -> None:
        self.algorithm = word = str(algorithm).upper()
        if word not in ALGORITHMS:
            raise ValueError(f"algorithm: expected one of {', '.join(ALGORITHMS)}, not {algorithm!r}")
        given, words = dict[str, int](), list[str]()
        for option, (takers, read) in OPTIONS.items():
            if (value := options.pop(option, None)) is not None:
                if word not in takers:
                    raise ValueError(f"{option}: {word} takes none; {', '.join(takers)} do")
                given[option] = read(option, value)
                words += [option.upper(), f"{given[option]}ms" if read is milliseconds else str(given[option])]
        if options:
            raise ValueError(f"{next(iter(options))}: {word} takes none")
        days = CALENDAR.get(str(window).lower()) if word == "FIXED" else None
        self.window_ms = days * DAY if days else milliseconds("window", window)
        self.window = str(window).lower() if days else f"{self.window_ms}ms"
        self.limit = integer("limit", limit, 0)
        self.is_shadow = shadow
        self.anchor = given.get("anchor", 0)
        if given.get("max", LARGEST) < given.get("block", self.window_ms):
            raise ValueError("max: expected no less than block")
        self.words = (self.window, str(self.limit), *words, *(["SHADOW"] if shadow else []))
        if name is not None and not (isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9._-]{1,64}", name)):
            raise ValueError(f"name: expected 1 to 64 of A-Z a-z 0-9 . _ -, not {name!r}")
        anchored = [str(self.anchor)] if "anchor" in given else []
        self.name = name or ":".join([word.lower(), self.window, *anchored])
        self.label = name or word.lower()

    @staticmethod
    def of(policy: AnyPolicy) -> Policy:
        if isinstance(policy, Policy):
            return policy
        if not isinstance(policy, str):
            raise TypeError(f"policy: expected a text such as 'TOKEN 1m 60', or a Policy, not {policy!r:.40}")
        return _read(policy)

    def __repr__(self) -> str:
        return f"Policy({' '.join([self.algorithm, *self.words])!r}, name={self.name!r})"

    def quota(self, at: int) -> str:
        """The limit and the window in the header ``RateLimit-Policy``, at this time of the server."""
        return _quota(self.algorithm == "LEASE", self.limit, self.window_at(at))

    def window_at(self, at: int) -> int:
        """How many milliseconds the window is long that has this time of the server. Months differ."""
        months = MONTHS.get(self.window)
        if months is None:
            return self.window_ms
        anchor = datetime.fromtimestamp(self.anchor, timezone.utc)

        def begin(n: int) -> int:
            # The nth period after that of the anchor begins on its day, or on the last one of a shorter month.
            year, month = divmod(anchor.year * 12 + anchor.month - 1 + n * months, 12)
            day = min(anchor.day, calendar.monthrange(year, month + 1)[1])
            return calendar.timegm((year, month + 1, day, 0, 0, 0)) * 1000 + self.anchor * 1000 % DAY

        now = datetime.fromtimestamp(at / 1000, timezone.utc)
        n = ((now.year - anchor.year) * 12 + now.month - anchor.month) // months
        while begin(n) > at:
            n -= 1
        while begin(n + 1) <= at:
            n += 1
        return begin(n + 1) - begin(n)


AnyPolicy: TypeAlias = "str | Policy"


@functools.lru_cache(maxsize=1000)
def _quota(is_lease: bool, limit: int, window: int) -> str:
    """The window of the header is a whole number of seconds, so the limit of another window is given for the smallest
    whole multiple that is: 10 in 500 ms are 20 in 1 s."""
    # How many at once does not depend on the window.
    if is_lease:
        return f'q={min(limit, MAX_INTEGER)};w={seconds(window)};qu="concurrent-requests"'
    windows = next(n for n in range(1, 1001) if window * n % 1000 == 0)
    return f"q={min(limit * windows, MAX_INTEGER)};w={min(window * windows // 1000, MAX_INTEGER)}"


@functools.lru_cache(maxsize=1000)
def _read(text: str) -> Policy:
    words = iter(text.split())
    try:
        algorithm, window, limit = next(words), next(words), next(words)
    except StopIteration:
        raise ValueError(
            f"policy: expected an algorithm, a window and a limit, as in 'TOKEN 1m 60', not {text!r}"
        ) from None
    options: dict[str, Any] = {}
    for word in words:
        option = {"as": "name"}.get(word.lower(), word.lower())
        if option in options:
            raise ValueError(f"policy: {word.upper()} is given twice")
        value = True if option == "shadow" else next(words, None)
        if value is None:
            raise ValueError(f"policy: after {word.upper()}: expected a value")
        options[option] = value
    return Policy(algorithm, window, limit, **options)
