"""Examples in docstrings that need a heavy library are tests for `make test-heavy`, as others that need one."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent

HEAVY = {f"src/tieproof/confidence/{name}.py" for name in ("gaussian", "von_mises_fisher", "regions", "retrieval")}
"""Modules whose examples need the extra `stats`."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the examples of these modules."""
    for item in items:
        if item.path.is_relative_to(ROOT) and item.path.relative_to(ROOT).as_posix() in HEAVY:
            item.add_marker("heavy")
