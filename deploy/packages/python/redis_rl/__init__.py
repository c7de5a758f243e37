"""The Redis and Valkey module redis-rl.

`MODULE` is the path of the module, for `loadmodule`. `LIBRARY` is the path of rl.lua, the same commands as a Lua library
for servers that load no modules.
"""

from __future__ import annotations

import pathlib

__all__ = ["LIBRARY", "MODULE"]

MODULE = pathlib.Path(__file__).with_name("libredis_rl.so").resolve()
LIBRARY = pathlib.Path(__file__).with_name("rl.lua").resolve()
