"""The data that come with the package; NOTICE.md names their source."""

from importlib.resources import as_file, files
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["load_digits"]

Array = npt.NDArray[Any]


def load_digits() -> tuple[Array, Array]:
    """Pixels (1797, 64) from 0 to 16 and labels (1797,) from 0 to 9 of digits; NOTICE.md names the source.

    >>> pixels, labels = load_digits()
    >>> pixels.shape, labels[:4].tolist()
    ((1797, 64), [0, 1, 2, 3])
    """
    with as_file(files("tieproof") / "data" / "digits.npz") as path, np.load(path) as arrays:
        return arrays["pixels"], arrays["labels"]
