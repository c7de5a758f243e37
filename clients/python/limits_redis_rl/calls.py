"""A call for one limit or several: the words of a command, and of a Lua script for servers that load no modules."""

from __future__ import annotations

import functools
import hashlib
import pathlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .policy import LARGEST, Policy

# The package has the scripts; so has a clone.
PLACES = [pathlib.Path(__file__).with_name("lua"), pathlib.Path(__file__).parents[3] / "lua"]
# The file of an algorithm, if it is not named after it.
FILES = {"TOKEN": "bucket", "LEAKY": "bucket"}


@dataclass(slots=True)
class Limit:
    """One limit of a call."""

    policy: Policy
    key: str
    cost: int | None = None
    """1 if not given. A reservation settles those that are given."""
    words: tuple[str, ...] = ()
    """What follows the words of the policy and the cost."""
    reserve: tuple[str, ...] = ()
    """The words that make it a reservation. Only the module has reservations."""

    @property
    def units(self) -> int:
        # A larger cost is denied as well. It may come from a request, and must not look like a fault.
        return 1 if self.cost is None else min(self.cost, LARGEST)

    def correction(self, *words: str) -> Limit:
        """What RL.REFUND and RL.SETTLE get, which know no shadow mode."""
        return replace(self, words=(*(word for word in self.policy.words if word != "SHADOW"), *words))


@dataclass(slots=True)
class Call:
    """CHECK, PEEK, MULTI and SHARE send the words of a check, the other verbs only `words` of the limit."""

    verb: str
    limits: Sequence[Limit]

    def words_of(self, limit: Limit, reserves: bool = True) -> list[str]:
        """The words of a limit after its key."""
        words = list(limit.words)
        if self.verb in ("CHECK", "PEEK", "MULTI", "SHARE"):
            cost = [] if limit.units == 1 else ["COST", str(limit.units)]
            words = [*limit.policy.words, *cost, *words, *(limit.reserve if reserves else ())]
        return [*words, "LINE"] if self.verb in ("CHECK", "PEEK", "REFUND", "SETTLE") else words

    def command(self) -> list[str]:
        first = self.limits[0]
        if self.verb in ("MULTI", "SHARE"):
            each = [[limit.policy.algorithm, limit.key, *self.words_of(limit)] for limit in self.limits]
            return [f"RL.{self.verb}", str(len(self.limits)), *(word for words in each for word in words), "LINE"]
        words = [first.key, *self.words_of(first)]
        if self.verb == "CHECK":
            return [f"RL.{first.policy.algorithm}", *words]
        algorithm = [] if self.verb in ("RENEW", "RELEASE") else [first.policy.algorithm]
        return [f"RL.{self.verb}", *algorithm, *words]


@functools.cache
def script(files: tuple[str, ...], end: str) -> tuple[str, str]:
    """The text of a script of these files and of a last line, and its SHA-1."""
    place = next(place for place in PLACES if place.exists())
    text = "".join((place / f"{file}.lua").read_text() for file in ("head", *files)) + end
    return text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def scripted(call: Call) -> tuple[str, str, list[str]]:
    """The text of the script, its SHA-1, and the words after it: the number of the keys, the keys, and the rest."""
    keys = [str(len(call.limits)), *(limit.key for limit in call.limits)]
    files = [FILES.get(limit.policy.algorithm, limit.policy.algorithm.lower()) for limit in call.limits]
    if call.verb not in ("MULTI", "SHARE"):
        [limit] = call.limits
        words = [call.verb, *call.words_of(limit, reserves=False)]
        return *script((files[0],), f"return run('{limit.policy.algorithm}')\n"), [*keys, *words]
    words = [call.verb, str(len(call.limits))]
    for limit in call.limits:
        words += [limit.policy.algorithm, *call.words_of(limit, reserves=False)]
    return *script((*sorted(set(files)), "several"), ""), [*keys, *words, "LINE"]
