"""Builds the wheel from a module that exists: RL_MODULE is its path. There is no source distribution.

HOMEPAGE is the address that the wheel names; without it the wheel names none.
"""

import os
import pathlib
import platform
import re

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]


class Metadata(MetadataHookInterface):
    def update(self, metadata):
        """The version is that of the workspace."""
        manifest = (REPOSITORY / "Cargo.toml").read_text()
        metadata["version"] = re.search(r'^version = "(.+)"$', manifest, re.MULTILINE).group(1)
        metadata["urls"] = {"Repository": address} if (address := os.environ.get("HOMEPAGE")) else {}


class Files(BuildHookInterface):
    def initialize(self, version, build_data):
        module = pathlib.Path(os.environ["RL_MODULE"]).resolve(strict=True)
        build_data["force_include"] = {
            str(module): "redis_rl/libredis_rl.so",
            str(REPOSITORY / "clients/playground/playground.py"): "redis_rl/playground.py",
            str(REPOSITORY / "clients/playground/page"): "redis_rl/page",
        }
        # The module does not use Python, so one wheel is for every Python. It needs the C library 2.34 or newer, as
        # scripts/test-reproducible checks.
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-manylinux_2_34_{platform.machine()}"
