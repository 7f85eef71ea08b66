"""Real data that is stored next to the project where it is developed; tests are skipped where it is missing."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

FOLDER = Path(__file__).parents[3] / "shared" / "data"


def load_shared(name: str) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a file; skips the test where it is absent."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"{name} is not beside the project (looked in {FOLDER})")
    with np.load(path) as file:
        return dict(file)
