"""Examples of modules that need heavy libraries are heavy tests, and not even imported where these are absent."""

from importlib.util import find_spec
from pathlib import Path

import pytest

COMPAT = Path(__file__).parent / "src" / "tieproof" / "compat"
NEEDED = {COMPAT / "oml": "torch", COMPAT / "distributed.py": "torch", COMPAT / "torchmetrics": "torchmetrics"}

collect_ignore = [str(path) for path, library in NEEDED.items() if find_spec(library) is None]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them as heavy."""
    for item in items:
        if any(item.path.is_relative_to(path) for path in NEEDED):
            item.add_marker(pytest.mark.heavy)
