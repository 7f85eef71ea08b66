"""Distances rounded to a precision: rankings in which rounding makes ties."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tieproof.distances.exact.bounds import SAFETY, Intervals
from tieproof.distances.exact.reals import rounded
from tieproof.distances.gauge import LINEAR, Curve, SpaceGauge, curve
from tieproof.distances.inner_space import InnerSpace
from tieproof.distances.space import FLOAT32, FLOAT64, Entries, KeyScale, Resources, Space
from tieproof.inputs.options import BinaryFormat
from tieproof.inputs.relevance import ranges
from tieproof.native.calls import Output, native
from tieproof.ties import FloatArray, IntArray

SLACK = 2.0**-50  # the relative error of adding an error to a value, and of the error itself
LARGEST_SCALE = 2.0**600  # the numbers of formats, divided or multiplied by this, are in the range of float64
FARTHEST = 2.0**1000  # beyond every number of a format: farther distances become this, so that none is infinite
LARGEST_FLOAT32 = 2**24  # whole numbers up to this one are exact in float32


class KernelFormat(NamedTuple):
    """A format as the kernels read it."""

    shift: int  # the number of bits that float64 has in addition
    offset: int  # the difference between the bits of a normal number, without the additional ones, and its place
    infinity: int  # the place of infinity
    smallest: float  # the smallest normal number
    magic: float  # 2^52 times the smallest subnormal number: adding to it rounds to multiples of that number


def target_of(wanted: BinaryFormat) -> KernelFormat:
    """A format for the kernels."""
    shift, smallest = 53 - wanted.precision, 2.0**wanted.smallest_exponent
    first, last = (int(np.float64(number).view(np.int64)) >> shift for number in (smallest, wanted.infinity))
    offset = first - 2 ** (wanted.precision - 1)
    return KernelFormat(shift, offset, last - offset, smallest, 2.0**52 * wanted.quantum)


def nearness_of(distances: FloatArray, target: KernelFormat) -> FloatArray:
    """Nearness of distances (q, n) that have no error."""
    nearness = np.empty_like(distances)
    round_tile(distances, 0.0, 0.0, curve(LINEAR), target, nearness)
    return nearness


@native
def round_tile(
    values: FloatArray,
    absolute: float,
    relative: float,
    curve: Curve,
    target: KernelFormat,
    nearness: Output[npt.NDArray[Any]],
) -> int:
    """Round a matrix of values with errors of absolute + relative |value|; return how many are undecided."""


@native
def round_pairs(
    values: FloatArray, errors: FloatArray, curve: Curve, target: KernelFormat, nearness: Output[FloatArray]
) -> None:
    """Round values that each have their own error."""


class RoundedSpace(Space):
    """The space whose nearness is minus the place of the rounded distance: a whole number without an error."""

    integers = True
    scale = KeyScale(("places",))

    def __init__(self, gauge: SpaceGauge, wanted: BinaryFormat, pairs_at_a_time: int) -> None:
        self.gauge, self.format, self.pairs_at_a_time = gauge, wanted, pairs_at_a_time
        self.queries, self.items = gauge.space.queries, gauge.space.items
        self.target = target_of(wanted)
        self.absolute, self.relative = gauge.errors()
        self.curve, self.sharp_curve = gauge.curve(), gauge.sharp_curve()
        self.choose_tiles(gauge.space.resources)
        in_range = 1 / LARGEST_SCALE <= rounded(gauge.scale) <= LARGEST_SCALE
        if in_range and isinstance(gauge.space, InnerSpace) and not gauge.space.integers:
            self.unrounded = Unrounded(self, gauge.space)

    def choose_tiles(self, resources: Resources) -> None:
        """Choose float32, unless the format has more numbers than float32 has exact whole numbers."""
        self.resources = resources
        self.tile_type = FLOAT32 if self.target.infinity <= LARGEST_FLOAT32 else FLOAT64
        self.describe_tiles()

    @property
    def zero_vectors(self) -> int:
        """The number of zero vectors for the rounded distance; a code of zeros is not counted."""
        count: int = self.gauge.space.zero_vectors
        return count

    def tile(self, rows: slice | IntArray, columns: slice | IntArray) -> Entries:
        """Minus the places of the rounded distances of a tile."""
        values = self.gauge.values(rows, columns)
        nearness = np.empty(values.shape, dtype=self.tile_type)
        if self.round(values, nearness):
            of_row, of_column = np.arange(len(self.queries))[rows], np.arange(len(self.items))[columns]
            for row, column in self.open_pairs(nearness):
                nearness[row, column] = self.of_pairs(values[row, column], of_row[row], of_column[column])
        return nearness

    def keys(self, rows: IntArray, columns: IntArray) -> Intervals:
        """Minus the places of the rounded distances of pairs, and their errors, which are zero."""
        values = self.gauge.values_of_pairs(rows, columns)
        nearness = np.empty_like(values)
        if self.round(values[None], nearness[None]):
            for _, place in self.open_pairs(nearness[None]):
                nearness[place] = self.of_pairs(values[place], rows[place], columns[place])
        return nearness, np.zeros(len(nearness))

    def exact_keys(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Minus the places of the rounded distances of pairs, as integers."""
        return self.keys(rows, columns)[0][:, None].astype(np.int64)

    def distances(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """The rounded distances of pairs."""
        return numbers_of(-self.keys(rows, columns)[0], self.target) + 0.0

    def round(self, values: FloatArray, nearness: Entries) -> int:
        """Step 1: round a tile, and return the number of undecided pairs."""
        return round_tile(values, self.absolute, self.relative, self.curve, self.target, nearness)

    def open_pairs(self, nearness: Entries) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the rows and columns of the undecided pairs of a tile, in batches."""
        places = np.flatnonzero(np.isnan(nearness))
        for start in range(0, len(places), self.pairs_at_a_time):
            yield np.divmod(places[start : start + self.pairs_at_a_time], nearness.shape[1])

    def of_pairs(self, values: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
        """Minus the places of pairs that step 1 did not decide."""
        if not self.gauge.certain:
            return self.of_each(values, rows, columns)
        _, place, inverse = np.unique(values, return_index=True, return_inverse=True)
        return self.of_each(values[place], rows[place], columns[place])[inverse]

    def of_each(self, values: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
        """Steps 2 and 3 for each pair."""
        nearness = np.full(len(values), np.nan)
        sharp = self.gauge.sharp(rows, columns)
        if sharp is not None:
            round_pairs(*sharp, self.sharp_curve, self.target, nearness)
        left = np.flatnonzero(np.isnan(nearness))
        for some, keys in self.gauge.exact_by_part(values[left], rows[left], columns[left]):
            distances = [self.gauge.distance(key * self.gauge.unit, self.format.rounded) for key in keys]
            nearness[left[some]] = nearness_of(np.array([distances]), self.target)[0]
        return nearness


class Unrounded(Space):
    """Distances before rounding: tiles find the items that may round to a threshold, rounded keys decide on them."""

    integers = False
    before_rounding = True

    def __init__(self, rounded: RoundedSpace, space: Space) -> None:
        self.rounded, self.space = rounded, space
        self.queries, self.items, self.has_codes = space.queries, space.items, space.has_codes
        self.choose_tiles(space.resources)

    def choose_tiles(self, resources: Resources) -> None:
        """Choose the tiles of the space of real distances."""
        self.space = space = self.space.variant(resources.dtype, resources.chunk)
        self.resources, self.tile_type, self.finer = space.resources, space.tile_type, space.finer
        self.form, self.all_errors = space.form, space.all_errors
        self.entries_are_nearness = space.entries_are_nearness

    def keep_rows(self) -> None:
        """Prepare the rows of the space of real distances."""
        self.space.keep_rows()

    def tile(self, rows: slice | IntArray, columns: slice | IntArray) -> Entries:
        """A tile of real distances."""
        return self.space.tile(rows, columns)

    def keys(self, rows: IntArray, columns: IntArray) -> Intervals:
        """The nearness by real distances."""
        return self.space.keys(rows, columns)

    def quick_keys(self, rows: IntArray, columns: IntArray) -> Intervals | None:
        """The nearness by real distances, from finer codes."""
        return self.space.quick_keys(rows, columns)

    def exact_keys(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Minus the places of the rounded distances."""
        return self.rounded.exact_keys(rows, columns)

    def write_intervals(
        self, rows: IntArray, start: IntArray, stop: IntArray, key: Output[FloatArray], reach: Output[FloatArray]
    ) -> None:
        """Replace thresholds of the rounded space, of queries with these rows, by intervals of real distances."""
        # An interval contains all real distances that are rounded to a threshold, so an item outside of it is nearer
        # or farther than the threshold, as its real distance is.
        query, place = ranges(start, stop - start)
        number = numbers_of(-key[place], self.rounded.target)
        wanted = self.rounded.format
        width = 2.0 ** (1 - wanted.precision) * np.maximum(np.abs(number), 2.0**wanted.smallest_exponent)
        least, _ = self.rounded.gauge.key_range(rows[query], number + width)
        _, most = self.rounded.gauge.key_range(rows[query], number - width)
        middle = least + (most - least) / 2
        is_far = np.zeros(len(rows), dtype=np.bool_)
        is_far[query[np.abs(number) >= wanted.infinity]] = True
        key[place] = np.where(is_far[query], 0.0, middle)
        reach[:] = np.where(is_far, np.inf, 0.0)
        np.maximum.at(reach, query, np.maximum(most - middle, middle - least) * SAFETY)


def numbers_of(places: FloatArray, target: KernelFormat) -> FloatArray:
    """The numbers of a format at these places.

    >>> from tieproof.inputs.options import FORMATS
    >>> target = target_of(FORMATS["float16"])
    >>> numbers_of(-nearness_of(np.array([[0.1, -3.0, 1e-7]]), target)[0], target).tolist()
    [0.0999755859375, -3.0, 1.1920928955078125e-07]
    """
    place = np.abs(places).astype(np.int64)
    normal = ((place + target.offset) << target.shift).view(np.float64)
    smallest_quantum = target.magic / 2.0**52
    number = np.where(normal < target.smallest, place * smallest_quantum, normal)
    return np.copysign(number, places)
