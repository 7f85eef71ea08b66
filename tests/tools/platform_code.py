"""The platforms' own code for bundles, run with placeholders for the libraries of their servers.

TIEPROOF_PLATFORMS names a folder with clones, as by

    git clone https://github.com/codalab/codabench && git clone https://github.com/Cloud-CV/EvalAI

Their code reads, unpacks and refuses bundles. Writing to a database is not tested: the placeholder of a serializer
accepts everything, so lengths and choices are only tested by platform_rules.py.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock
from zipfile import ZipFile

import yaml

PLATFORMS = Path(os.environ.get("TIEPROOF_PLATFORMS", "/nowhere"))

OTHERS = ("django", "rest_framework", "requests")
"""The libraries of the platforms' servers."""


class Placeholders(MetaPathFinder, Loader):
    """Finds placeholder modules, which have every name, for all modules of these libraries."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if any(f"{fullname}.".startswith(f"{name}.") for name in self.names):
            return ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        found: Any = MagicMock(name=spec.name)
        found.__path__, found.__spec__, found.__name__ = [], spec, spec.name
        return found  # type: ignore[no-any-return]

    def exec_module(self, module: ModuleType) -> None:
        pass


@contextmanager
def imported(root: Path, name: str, placeholders: Sequence[str]) -> Iterator[Any]:
    """Import a module in a folder, with placeholders for its imports, and remove all of them afterwards."""
    top = name.partition(".")[0]
    ours = {each: sys.modules.pop(each) for each in [*sys.modules] if each.partition(".")[0] == top}
    before, finder = set(sys.modules), Placeholders(placeholders)
    sys.path.insert(0, str(root))
    sys.meta_path.insert(0, finder)
    try:
        yield import_module(name)
    finally:
        sys.meta_path.remove(finder)
        sys.path.remove(str(root))
        for each in set(sys.modules) - before:
            del sys.modules[each]
        sys.modules.update(ours)


def unpacked_by_codabench(bundle: Path) -> dict[str, Any]:
    """The result of Codabench's unpacking before it writes anything; raises its CompetitionUnpackingException."""
    root = PLATFORMS / "codabench" / "src" / "apps"
    others = (*OTHERS, "api", "datasets", "queues", "tasks", "utils", "competitions.models")
    with imported(root, "competitions.unpackers.v2", others) as v2:
        parts = [vars(sys.modules[f"competitions.unpackers.{name}"]) for name in ("base_unpacker", "utils", "v2")]
        for part in parts:
            part["timezone"] = SimpleNamespace(now=lambda: datetime.now(UTC))
        parts[0]["File"] = lambda file: file.close()
        found = yaml.safe_load((bundle / "competition.yaml").read_text(encoding="utf-8"))
        unpacker = v2.V2Unpacker(found, str(bundle), SimpleNamespace(id=1))
        unpacker.unpack()
        for files in files_in(unpacker.competition):
            unpacker._get_data_key(**files)
        competition: dict[str, Any] = unpacker.competition
        return competition


def files_in(competition: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The files that Codabench reads when it saves a competition."""
    for task in competition["tasks"].values():
        yield from (each for each in task.values() if isinstance(each, dict))
    yield from ({"file_type": "solution", **each} for each in competition["solutions"])
    for phase in competition["phases"]:
        yield from (phase[name] for name in ("public_data", "starting_kit") if phase[name])


def refused_by_evalai(archive: Path, room: Path) -> list[str]:
    """The errors that EvalAI reports for an archive."""
    root = PLATFORMS / "EvalAI" / "apps"
    others = (*OTHERS, "base.utils", "challenges.models", "challenges.serializers", "challenges.utils")
    with imported(root, "challenges.challenge_config_utils", others) as theirs:
        theirs.get_missing_keys_from_dict = lambda given, keys: [key for key in keys if key not in given]
        theirs.get_file_content = lambda path, mode: Path(path).read_bytes() if Path(path).is_file() else None
        with ZipFile(archive) as opened:
            theirs.safe_extract_zip_file(opened, str(room / "challenge"))
            ours = (MagicMock(), MagicMock(), str(room), "challenge", opened, None)
            found = theirs.validate_challenge_config_util(*ours)
    return [str(message) for message in found[0]]
