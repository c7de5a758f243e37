#!/usr/bin/env -S python3 -B
"""The longest call of each command at its bounds: make bench-longest. None may take more than 10 ms, since all other callers
wait meanwhile. The result is in benches/results/<server>/longest.md.

  CALLS=30   of each row; ONLY=LEASE,SLIDING names rows, and writes nothing

A time is processor time of the server's main thread between two calls, which other programs disturb less than the time of
a clock. A key holds before what an operator may find: a million leases that have ended, members ahead of a clock that
stepped back, reservations of which one key is gone. A call does a bounded part of that work, so one call after the other is
measured.
"""

import contextlib
import os
import pathlib
import statistics
import sys
import time

from throughput import Server, binaries, conditions, write

CALLS = int(os.environ.get("CALLS") or 30)
ONLY = os.environ.get("ONLY")
BOUND_MS = 10
MILLION = 1_000_000
# `of` returns words for a number; a call adds those of a batch, for Lua unpacks less than 8,000.
BATCH = 3_500
LUA = """
local now, first, last = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local function text(number) return string.format('%.0f', number) end
local function add(command, key, of)
  local words = {}
  for n = first, last do
    local one, other = of(n)
    words[#words + 1], words[#words + 2] = one, other
  end
  if command then redis.call(command, key, unpack(words)) else redis.call('APPEND', key, table.concat(words)) end
end
"""


class Key:
    def __init__(self, server, name):
        self.server, self.name, self.now = server, name, int(time.time() * 1000)

    def fill(self, count, lua, name=None):
        sha = self.server.call("SCRIPT", "LOAD", LUA + lua)
        for first in range(1, count + 1, BATCH):
            last = min(count, first + BATCH - 1)
            self.server.call("EVALSHA", sha, 1, name or self.name, self.now, first, last)

    def members(self, count, score):
        """A sorted set with such scores."""
        self.fill(count, f"add('ZADD', KEYS[1], function(n) return text({score}), 'm' .. n end)")

    def log(self, entries, units=1):
        """A record of ROLLING, with entries over the last 30 days."""
        self.server.call("SET", self.name, "R:", "PXAT", self.now + 60 * 86_400_000)
        at = f"now - 2592000000 + n * 2592000000 / {entries}"
        self.fill(entries, f"add(nil, KEYS[1], function(n) return struct.pack('<I7I8', {at}, n * {units}), '' end)")

    def reservations(self, word, count, gone=None):
        """Reservations that have ended. One of the two keys may be gone."""
        reserved, limit = f"{self.name}:reserved", (word, self.name, "30d", MILLION)
        self.server.call("CONFIG", "SET", "rl.max-reservations", MILLION)
        self.server.call(f"RL.{word}", *limit[1:], "COST", count, "RESERVE", "first", "1d")
        until = self.server.call("HGET", reserved, "first").split(":")[3]
        if word == "ROLLING":
            self.log(4_096, count // 4_096)
        self.server.call("RL.SETTLE", *limit, "RESERVATION", "first", "ACTUAL", count)
        ended = f"'1:' .. text(now - 86400000 + n) .. ':' .. text(now - 1) .. ':{until}:86400000'"
        self.fill(count, f"add('HSET', KEYS[1], function(n) return 'r' .. n, {ended} end)", reserved)
        self.fill(count, "add('ZADD', KEYS[1], function(n) return text(now - 1), 'r' .. n end)", f"{reserved}:ends")
        self.server.call("HSET", reserved, "", 0)
        if gone is not None:
            self.server.call("UNLINK", reserved + gone)


# What a key holds, and the command.
ROWS = {
    "LEASE, a million ended": (lambda key: key.members(MILLION, "now - n"), "RL.LEASE KEY 3600 5 ID N"),
    "LEASE, a million held": (lambda key: key.members(MILLION, "now + 86400000 + n"), f"RL.LEASE KEY 3600 {2 * MILLION} ID N"),
    "RELEASE, a million ended": (lambda key: key.members(MILLION, "now - n"), "RL.RELEASE KEY ID mN"),
    "SLIDING, a million expired": (lambda key: key.members(MILLION, "now - 7200000 + n"), "RL.SLIDING KEY 3600 5"),
    "SLIDING, a million expired, 1,000 charged": (lambda key: key.members(MILLION, "now - 7200000 + n"), f"RL.SLIDING KEY 3600 {MILLION} COST 1000"),
    "SLIDING, 200,000 ahead of the clock": (lambda key: key.members(200_000, "now + 86400000 + n"), "RL.SLIDING KEY 3600 5"),
    "ROLLING, 8,192 entries": (lambda key: key.log(8_192), f"RL.ROLLING KEY 30d {MILLION}"),
    "ROLLING, 8,192 entries have ended": (lambda key: key.log(8_192), f"RL.ROLLING KEY 60 {MILLION}"),
    **{
        f"{word} RESERVE, 100,000 ended": (
            lambda key, word=word: key.reservations(word, 100_000),
            f"RL.{word} KEY 30d {MILLION} RESERVE N 1h",
        )
        for word in ("WINDOW", "COUNTER", "ROLLING")
    },
    **{
        f"WINDOW RESERVE, a million, {gone or 'HASH'} gone": (
            lambda key, gone=gone: key.reservations("WINDOW", MILLION, gone),
            f"RL.WINDOW KEY 30d {MILLION} RESERVE N 1h",
        )
        for gone in ("", ":ends")
    },
    "MULTI, 64 limits of 4,000 ended leases": (
        lambda key: [Key(key.server, f"{key.name}{n}").members(4_000, "now - n") for n in range(64)],
        "RL.MULTI 64 " + " ".join(f"LEASE KEY{n} 3600 5 ID N" for n in range(64)),
    ),
}  # fmt: skip


def measure(server, fill, command):
    """The median and the longest time of a call, in milliseconds."""
    fill(Key(server, "k"))
    main_thread = pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/schedstat")
    times = []
    for n in range(CALLS):
        words = command.replace("KEY", "k").replace(" N", f" n{n}").replace("mN", f"m{n + 1}").split()
        before = int(main_thread.read_text().split()[0])
        server.call(*words)
        times.append((int(main_thread.read_text().split()[0]) - before) / 1e6)
    server.call("FLUSHALL")
    return statistics.median(times), max(times)


def main():
    binary, busy = binaries()[0], os.getloadavg()[0]
    server_name, about = conditions(binary)
    rows = {}
    with contextlib.closing(Server(binary)) as server:
        for name, (fill, command) in ROWS.items():
            if not ONLY or any(part in name for part in ONLY.split(",")):
                rows[name] = measure(server, fill, command)
    text = f"""# The longest call

{about}
{CALLS} calls of each row, in processor time of the server. The load average was {busy:.2f} before. None may take more than
{BOUND_MS} ms.

| | median ms | longest ms |
|---|--:|--:|
"""
    text += "".join(f"| {name} | {median:.2f} | {longest:.2f} |\n" for name, (median, longest) in rows.items())
    print(text) if ONLY else write(server_name, "longest.md", text)
    if late := [name for name, (_, longest) in rows.items() if longest > BOUND_MS]:
        sys.exit(f"longer than {BOUND_MS} ms: {'; '.join(late)}. Is the machine busy?")


if __name__ == "__main__":
    main()
