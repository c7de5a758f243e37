"""The limits as Lua scripts, for servers that load no modules: lua/head.lua, an algorithm, and a last line."""

from __future__ import annotations

import functools
import hashlib
import pathlib

from .calls import Call

# The package has the scripts; so has a clone.
PLACES = [pathlib.Path(__file__).with_name("lua"), pathlib.Path(__file__).parents[3] / "lua"]
# The file of an algorithm, if it is not named after it.
FILES = {"TOKEN": "bucket", "LEAKY": "bucket"}


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
