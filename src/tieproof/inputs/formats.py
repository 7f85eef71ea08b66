"""The number formats that distances can be rounded to: to the nearest, ties to even, with subnormal numbers."""

from fractions import Fraction
from typing import Any, NamedTuple

from tieproof.errors import InputError


class Format(NamedTuple):
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


FORMATS = {
    "float32": Format(precision=24, smallest_exponent=-126, largest_exponent=127),
    "float16": Format(precision=11, smallest_exponent=-14, largest_exponent=15),
    "bfloat16": Format(precision=8, smallest_exponent=-126, largest_exponent=127),
}


def find_format(name: Any) -> Format:
    """Return the format of that name."""
    if not isinstance(name, str) or name not in FORMATS:
        raise InputError(
            f"Unknown precision {name!r}. Known: {', '.join(FORMATS)}; or None, which compares distances exactly."
        )
    return FORMATS[name]
