"""Shares as people pass them: one number from 0 to 1, or several."""

from collections.abc import Iterable
from numbers import Real
from typing import Any

from tieproof.errors import InputError


def as_shares(values: Any, name: str, example: str) -> tuple[float, ...]:
    """The shares as floats, refused by the first that is none.

    >>> as_shares(0.5, "A share", "share=(0.5,)"), as_shares([0, 1], "A share", "share=(0.5,)")
    ((0.5,), (0.0, 1.0))
    """
    shares = tuple(values) if isinstance(values, Iterable) and not isinstance(values, str | bytes) else (values,)
    if not shares:
        raise InputError(f"{name} is missing: none was asked for. Pass {example} or others from 0 to 1.")
    for share in shares:
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= float(share) <= 1:
            raise InputError(f"{name} must be a number from 0 to 1, not {share!r}.")
    return tuple(float(share) for share in shares)
