"""python -m redis_rl path: prints the path of the module. python -m redis_rl lua: that of the Lua library."""

from __future__ import annotations

import sys

from . import LIBRARY, MODULE

PATHS = {"path": MODULE, "lua": LIBRARY}


def main() -> None:
    words = sys.argv[1:]
    if len(words) != 1 or words[0] not in PATHS:
        sys.exit(
            "usage: python -m redis_rl path    prints the path of the module, for loadmodule\n"
            "       python -m redis_rl lua     prints the path of the Lua library, for servers that load no modules"
        )
    print(PATHS[words[0]])


if __name__ == "__main__":
    main()
