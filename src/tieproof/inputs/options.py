"""Parses and checks options: words, whole numbers, shares, memory, threads, number formats and optional libraries."""

import os
import re
from collections.abc import Iterable
from fractions import Fraction
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from tieproof.errors import InputError
from tieproof.ties import Array

UNITS = ("", "k", "m", "g", "t")
"""The units of memory, each 1000 bytes of the one before, or 1024 with an i: kB, MB, … and KiB, MiB, …."""

MOST_MEMORY = 2.0**62  # more bytes than any machine has
MOST_THREADS = 2**16  # more threads than any machine runs at once


def check_choice(name: str, value: Any, known: Iterable[str]) -> None:
    """Refuse an argument that is not one of the known words."""
    words = tuple(known)
    if not isinstance(value, str) or value not in words:
        raise InputError(f"Unknown {name}={value!r}. Known: {', '.join(words)}.", name)


def plain(value: Any) -> Any:
    """Return a number of NumPy as one of Python, if Python has it: NumPy rounds what it compares its numbers with."""
    return value.item() if isinstance(value, np.number) else value


def check_whole(name: str, value: Any, least: int = 1, beside: str = "") -> None:
    """Refuse an argument that is no whole number of at least `least`; `beside` says in words what else it may be."""
    whole = plain(value)
    if isinstance(whole, bool) or not isinstance(whole, Integral) or whole < least:
        raise InputError(f"{name} must be a whole number of at least {least}{beside}, not {value!r}.", name)


def as_folder(value: Any, name: str) -> Path:
    """Return the path of a folder; an argument that is none is refused."""
    if not isinstance(value, str | os.PathLike) or not os.fspath(value) or "\0" in os.fsdecode(value):
        raise InputError(f"{name} must be the path of a folder, not {value!r}.", name)
    return Path(os.fsdecode(value))


def one_or_several(values: Any) -> tuple[Any, ...]:
    """Return the values of a list or an array; anything else is a single value."""
    single = isinstance(values, str | bytes) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0
    return (values,) if single else tuple(values)


def as_shares(values: Any, name: str, example: str) -> tuple[float, ...]:
    """Return the shares as floats; a number outside [0, 1] is refused."""
    shares = one_or_several(values)
    if not shares:
        raise InputError(f"{name} is missing. Pass {example}, or other numbers from 0 to 1.")
    for share in map(plain, shares):
        is_number = isinstance(share, Real) and not isinstance(share, bool)
        if not is_number or not 0 <= share <= 1:
            raise InputError(f"{name} must be a number from 0 to 1, not {share!r}.")
    return tuple(float(share) for share in shares)


def parse_memory(size: str | int) -> int:
    """Return the bytes of a memory size.

    >>> parse_memory("256MiB"), parse_memory("1.5 GB"), parse_memory(4096)
    (268435456, 1500000000, 4096)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)(b?)\s*", str(size), re.IGNORECASE)
    count = 0
    if match and not (match[3] and not match[2]):
        factor = (1024 if match[3] else 1000) ** UNITS.index(match[2].lower())
        count = int(min(float(match[1]) * factor, MOST_MEMORY))
    if count < 1 or isinstance(size, bool):
        raise InputError(
            f"The memory size must be a number of bytes such as '1GiB', '256MiB' or 2000000000, not {size!r}."
        )
    return count


def parse_threads(threads: int | None) -> int:
    """Return the number of threads; None means one per processor that this process may use."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    check_whole("threads", threads, beside=", or None")
    return int(min(threads, MOST_THREADS))


class BinaryFormat(NamedTuple):
    """A binary format (IEEE 754-2019, section 3.3), with a power of two in place of infinity.

    A number that rounds to 2^(largest_exponent + 1) or more is infinite. All these numbers are equal and larger than
    the finite ones, so this power can represent infinity, and a ranking needs no infinity.
    """

    precision: int  # bits of a significand, the first one included
    smallest_exponent: int  # of a normal number
    largest_exponent: int

    @property
    def infinity(self) -> float:
        """The number that represents infinity."""
        return 2.0 ** (self.largest_exponent + 1)

    @property
    def quantum(self) -> float:
        """The smallest subnormal number."""
        return 2.0 ** (self.smallest_exponent - self.precision + 1)

    def rounded(self, number: int | Fraction) -> float:
        """Return the number of the format that is nearest to a rational number, ties to even.

        >>> FORMATS["float16"].rounded(Fraction(1, 3)), FORMATS["bfloat16"].rounded(257)
        (0.333251953125, 256.0)
        """
        number = Fraction(number)
        exponent = abs(number.numerator).bit_length() - number.denominator.bit_length()
        if abs(number) < Fraction(2) ** exponent:
            exponent -= 1
        unit = Fraction(2) ** (max(exponent, self.smallest_exponent) - self.precision + 1)
        nearest = round(number / unit) * unit  # `round` takes the even one of two nearest numbers
        return float(max(-Fraction(self.infinity), min(Fraction(self.infinity), nearest)))


Precision = Literal["float32", "float16", "bfloat16"]

FORMATS = {
    "float32": BinaryFormat(precision=24, smallest_exponent=-126, largest_exponent=127),
    "float16": BinaryFormat(precision=11, smallest_exponent=-14, largest_exponent=15),
    "bfloat16": BinaryFormat(precision=8, smallest_exponent=-126, largest_exponent=127),
}


class Products(NamedTuple):
    """How matrix products round: each entry by at most this relative change, and sums with this unit roundoff."""

    entries: float
    sums: float


PRODUCTS = {
    "float32 products": Products(0.0, 2.0**-24),
    "tf32 products": Products(2.0**-10, 2.0**-22),
    "bfloat16 products": Products(2.0**-8, 2.0**-22),
}
"""What may round before and in the sums of products; tensor cores may cut entries and sums off (engine/README.md)."""

NAMED_NOISE = (*FORMATS, "int8", *PRODUCTS)
"""The formats to which embeddings may have been rounded, in int8 to at most 127 in each row; and the products."""


Rounded = Literal["float32", "float16"]
PRECISIONS: tuple[str, ...] = get_args(Rounded)  # to which given scores and distances are rounded


def check_rounded(precision: Any, noise: Any) -> None:
    """Refuse an unknown precision, and one beside noise."""
    if precision is None:
        return
    check_choice("precision", precision, PRECISIONS)
    if noise is not None:
        raise InputError(
            "noise and precision cannot be combined: noise is about numbers before they are rounded. Leave out one "
            "of them.",
            "noise",
        )


def rounded(numbers: Array, precision: str | None) -> Array:
    """Round numbers to a precision; None leaves them as they are. A number beyond its range is refused.

    >>> rounded(np.array([20.12345678912, 20.12345678911]), "float32").tolist()
    [20.123456954956055, 20.123456954956055]
    """
    if precision is None:
        return numbers
    with np.errstate(over="ignore"):
        small = numbers.astype(precision)
    beyond = np.isinf(small) & np.isfinite(numbers)
    if beyond.any():
        raise InputError(f"{numbers[beyond].flat[0]} is beyond the range of {precision}; rescale it.", "precision")
    return small.astype(np.float64)


def find_format(name: Any) -> BinaryFormat:
    """Return the format of that name."""
    check_choice("precision", name, FORMATS)
    return FORMATS[name]
