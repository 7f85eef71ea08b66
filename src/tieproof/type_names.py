"""Types of arrays as messages call them."""

from typing import Any

import numpy as np

NAMES = {"U": "strings", "T": "strings", "S": "bytes", "O": "Python objects", "V": "structured values"}
"""By NumPy's letters, the types whose own names say nothing: a string of 21 characters is a str672, of 672 bits."""


def type_name(dtype: np.dtype[Any]) -> str:
    """What a type of NumPy's is called.

    >>> type_name(np.dtype("<U21")), type_name(np.dtype(">f4"))
    ('strings', 'float32')
    """
    return NAMES.get(dtype.kind, dtype.name)
