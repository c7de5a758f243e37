"""The Redis and Valkey module redis-rl.

`MODULE` is the path of the module, for `loadmodule`.
"""

from __future__ import annotations

import pathlib

__all__ = ["MODULE"]

MODULE = pathlib.Path(__file__).with_name("libredis_rl.so").resolve()
