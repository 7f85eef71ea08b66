"""Selects the tests that are collected.

Doctests of modules that need heavy libraries are marked as heavy, and are not collected if these libraries are not
installed. Tests of the kernels' sources are left out if an installed wheel is tested, which has no sources.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest

(SOURCE,) = map(
    Path, find_spec("tieproof").submodule_search_locations
)  # those beside this file, or an installed wheel's
NEEDED = {
    SOURCE / "compat" / "oml": "torch",
    SOURCE / "compat" / "distributed.py": "torch",
    SOURCE / "compat" / "torchmetrics": "torchmetrics",
    SOURCE / "integrations" / "sentence_transformers": "sentence_transformers",
    SOURCE / "confidence" / "gaussian.py": "scipy",
    SOURCE / "confidence" / "von_mises_fisher.py": "scipy",
    SOURCE / "confidence" / "regions.py": "arviz_stats",
    SOURCE / "confidence" / "retrieval.py": "scipy",
    SOURCE / "integrations" / "sklearn": "sklearn",
    SOURCE / "integrations" / "mteb": "mteb",
    SOURCE / "integrations" / "ir_measures": "ir_measures",
}

OF_SOURCES = [
    Path(__file__).parent / "tests" / "native" / "test_native_library.py",
    Path(__file__).parent / "tests" / "native" / "test_native_calls.py",
    Path(__file__).parent / "tests" / "native" / "test_other_machines.py",
    Path(__file__).parent / "tests" / "project" / "test_building.py",
]
"""Tests that read and compile the sources of kernels, which wheels do not contain."""

ABSENT = [path for path, library in NEEDED.items() if find_spec(library) is None]
ABSENT += [] if (SOURCE / "native" / "kernels").is_dir() else OF_SOURCES


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out modules that cannot be imported."""
    return True if any(collection_path.is_relative_to(path) for path in ABSENT) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the doctests of modules that need heavy libraries."""
    for item in items:
        if any(item.path.is_relative_to(path) for path in NEEDED):
            item.add_marker(pytest.mark.heavy)
