"""The tests of other libraries, run with tieproof.compat under their names: a plugin for the pytest that runs them.

TIEPROOF_PEERS names a folder with clones, as by

    git clone -b v1.9.0 https://github.com/Lightning-AI/torchmetrics
    git clone https://github.com/KevinMusgrave/pytorch-metric-learning
    git clone https://github.com/OML-Team/open-metric-learning

Errors are compared by their types and not by their texts. Tests of several processes are left out.
"""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import MagicMock

import pytest

import original_oml

PEERS = Path(os.environ.get("TIEPROOF_PEERS", "/nowhere"))


class Peer(NamedTuple):
    """The folder from which its tests are run, the tests, our module, and the modules whose names are replaced."""

    root: str
    tests: tuple[str, ...]
    ours: str
    modules: tuple[str, ...]
    libraries: str


KNOWN = {
    "torchmetrics": Peer(
        "tests",
        ("unittests/retrieval",),
        "torchmetrics",
        ("torchmetrics.retrieval", "torchmetrics.functional.retrieval"),
        "../src",
    ),
    "pytorch-metric-learning": Peer(
        ".",
        ("tests/utils/test_calculate_accuracies.py",),
        "pml",
        ("pytorch_metric_learning.utils.accuracy_calculator",),
        "src",
    ),
    "open-metric-learning": Peer(
        ".",
        ("tests/test_oml/test_functional/test_metrics", "tests/test_oml/test_metrics/test_embedding_metrics.py"),
        "oml",
        ("oml.functional.metrics", "oml.metrics.embeddings", "oml.retrieval.retrieval_results"),
        ".",
    ),
}


def run(name: str, *options: str) -> tuple[dict[str, int], str]:
    """Run the tests of a library in a process of its own: how many passed and failed, and what was printed."""
    peer = KNOWN[name]
    root = (PEERS / name / peer.root).resolve()
    empty = root / "tieproof.ini"  # instead of the library's settings, which may ask for plugins
    empty.write_text("[pytest]\n")
    paths = [str(Path(__file__).parent), str(root), str((root / peer.libraries).resolve())]
    command = ["-m", "pytest", "-c", str(empty), f"--rootdir={root}", "-p", "peer_tests", "-p", "no:cacheprovider"]
    finished = subprocess.run(
        [sys.executable, *command, "-q", "-W", "ignore", "--tb=line", "-m", "not DDP", *options, *peer.tests],
        cwd=root,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "TIEPROOF_PEER": name,
            "MPLBACKEND": "agg",
            "TEST_DEVICE": "cpu",
        },
        capture_output=True,
        text=True,
    )
    words = re.findall(r"(\d+) (passed|failed|error)", finished.stdout.splitlines()[-1] if finished.stdout else "")
    return {word: int(number) for number, word in words}, finished.stdout + finished.stderr


def _replace(name: str) -> None:
    """Replace the names, in the process that runs the tests of a library, before it imports any of them."""
    peer = KNOWN[name]
    sys.modules.setdefault("cachier", MagicMock(cachier=lambda **_: lambda function: function))
    if peer.ours == "oml":
        called = (each for each in original_oml.NEVER_CALLED if each != "oml.inference")
        original_oml.NEVER_CALLED = tuple(called)
        sys.meta_path.insert(0, original_oml.Placeholders())
    ours = import_module(f"tieproof.compat.{peer.ours}")
    for module in peer.modules:
        import_module(module)
    for inside in [inside for name, inside in sys.modules.items() if name.startswith(peer.modules)]:
        for each in set(ours.__all__) & set(vars(inside)):
            setattr(inside, each, getattr(ours, each))
    raises: Any = pytest.raises
    pytest.raises = lambda kind, match=None, **options: raises(kind, **options)  # type: ignore[assignment]


if "TIEPROOF_PEER" in os.environ:
    _replace(os.environ["TIEPROOF_PEER"])
