"""What the build does beside packing files: it compiles the kernels, and makes the description of the package.

Users of wheels need no compiler. An installation from sources compiles for the current machine. TIEPROOF_TARGET
selects another machine for a wheel, as `make wheels` does.
"""

import importlib.util
import os
import re
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

NATIVE = "src/tieproof/native"

RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)]+)\)")
"""A link or a picture of a Markdown page whose address begins in the folder of the page."""


class DescriptionHook(MetadataHookInterface):  # type: ignore[misc]
    """Makes README.md the description of the package. PyPI resolves no relative links, so these become absolute."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the description, whose links lead to this version in the repository of `[project.urls]`, `Source`."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source")

        def absolute(link: re.Match[str]) -> str:
            """The link; only its text as long as no address is known."""
            picture, said, path = link.groups()
            shown = "raw" if picture else "blob"
            return f"{picture}[{said}]({source}/{shown}/v{metadata['version']}/{path})" if source else said

        metadata["readme"] = {"content-type": "text/markdown", "text": RELATIVE.sub(absolute, text)}


class KernelsBuildHook(BuildHookInterface):  # type: ignore[misc]
    """Adds the shared libraries to the wheel, or for an editable installation to the sources."""

    def dependencies(self) -> list[str]:
        """The package of a compiler, if this machine has no suitable one."""
        building = self.building()
        return ["ziglang>=0.13"] if self.target() or building.system_compiler() is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile the kernels, and set the platform tag of the wheel."""
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
        """Delete the compiled libraries, which are now in the wheel."""
        if version != "editable":
            self.made.cleanup()

    def target(self) -> str:
        """The name of the machine that a wheel is for; empty for this machine."""
        return os.environ.get("TIEPROOF_TARGET", "")

    def building(self) -> ModuleType:
        """The module `native/building.py`, loaded from its file because tieproof is not installed yet."""
        spec = importlib.util.spec_from_file_location("building", Path(self.root, NATIVE, "building.py"))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
