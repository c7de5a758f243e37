"""python -m redis_rl path: prints the path of the module."""

from __future__ import annotations

import sys

from . import MODULE


def main() -> None:
    if sys.argv[1:] != ["path"]:
        sys.exit("usage: python -m redis_rl path    prints the path of the module, for loadmodule")
    print(MODULE)


if __name__ == "__main__":
    main()
