"""Refusals that many arguments share: words, whole numbers, shares, finite numbers, and how many there are."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.errors import CountError, InputError


def check_choice(name: str, value: Any, known: Iterable[str]) -> None:
    """Refuse an argument that is none of the words that are known.

    >>> check_choice("empty", "drop", ("skip", "zero"))
    Traceback (most recent call last):
    tieproof.errors.InputError: Unknown empty='drop'. Known: skip, zero.
    """
    words = tuple(known)
    if not isinstance(value, str) or value not in words:
        raise InputError(f"Unknown {name}={value!r}. Known: {', '.join(words)}.", name)


def check_whole(name: str, value: Any, least: int = 1, beside: str = "") -> None:
    """Refuse an argument that is no whole number, or smaller than the least.

    beside : what else it may be, in words

    >>> check_whole("top_k", 0, beside=", or None")
    Traceback (most recent call last):
    tieproof.errors.InputError: top_k must be a whole number of at least 1, or None, not 0.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}{beside}, not {value!r}.", name)


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


def check_count(arrived: int, name: str, count: int, items: str) -> None:
    """Refuse where there is not one of `name` for each of the `items`."""
    if arrived != count:
        raise CountError(
            f"There are {arrived} {name} for {count} {items}. Pass exactly one for each, in the same order."
        )


def check_finite(array: npt.NDArray[Any], name: str) -> None:
    """Refuse NaN and infinity by the first place that holds one."""
    wrong = np.argwhere(~np.isfinite(array))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        raise InputError(
            f"The {name} must be finite numbers, and hold {array[place]} at {list(place)}. Find out where it comes "
            "from, and leave the item out or repair it."
        )
