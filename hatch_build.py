"""The hook of the build: compiles the kernels, so that who installs tieproof needs no compiler.

An installation from sources compiles for the machine that it is on. A wheel for another one is made where
TIEPROOF_TARGET names it, as `make wheels` does.
"""

import importlib.util
import os
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NATIVE = "src/tieproof/native"


class KernelsBuildHook(BuildHookInterface):  # type: ignore[misc]
    """Shared libraries beside `native/loading.py`: in the sources for an editable installation, else in the wheel."""

    def dependencies(self) -> list[str]:
        """A compiler, where there is none that serves."""
        building = self.building()
        return ["ziglang>=0.13"] if self.target() or building.system_compiler() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say for what."""
        building = self.building()
        target = building.TARGETS[self.target()] if self.target() else building.this_machine()
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{building.tag_of(target)}"
        if version == "editable":
            building.compile_kernels(os.path.join(self.root, NATIVE), target)
            return
        self.made = tempfile.TemporaryDirectory()
        for file in building.compile_kernels(self.made.name, target):
            build_data["force_include"][file] = f"tieproof/native/{os.path.basename(file)}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The wheel holds the libraries by now."""
        if version != "editable":
            self.made.cleanup()

    def target(self) -> str:
        """The name of another machine that a wheel is for; empty for this one."""
        return os.environ.get("TIEPROOF_TARGET", "")

    def building(self) -> ModuleType:
        """`native/building.py`, before tieproof is installed."""
        spec = importlib.util.spec_from_file_location("building", Path(self.root, NATIVE, "building.py"))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
