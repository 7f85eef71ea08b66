"""Rounded distances: by float64 if its error allows only one result, else by sharper keys, else by exact ones.

| step | decides | by |
|---|---|---|
| 1 values | pairs for which all distances within the error round alike | `Gauge.values`, a float64 matrix product |
| 2 sharp | pairs that are close to each other | `Gauge.sharp`: exact sums, rounded to float64 |
| 3 exact | everything | `Gauge.exact`: integers and fractions of Python |

A distance half way between two numbers of the format is decided in step 3. If there are many such pairs, as with
codes, values have exactly the same ties as distances, and only one pair of each tie is computed.
"""

from collections.abc import Iterator

import numpy as np

from tieproof.distances.gauge import SpaceGauge
from tieproof.distances.space import FLOAT32, FLOAT64, Entries, Error, Scale, Space, make_error
from tieproof.engine.rounded.kernels import nearness_of, round_pairs, round_tile, target_of
from tieproof.inputs.formats import Format
from tieproof.ties import FloatArray, IntArray

LARGEST_FLOAT32 = 2**24
"""Whole numbers up to this one are exact in float32."""


class RoundedSpace(Space):
    """The space whose nearness is minus the place of the rounded distance: a whole number without an error.

    pairs_at_a_time : how many undecided pairs are computed together
    """

    integers = True
    scale = Scale(("places",))

    def __init__(self, gauge: SpaceGauge, wanted: Format, pairs_at_a_time: int) -> None:
        self.gauge, self.format, self.pairs_at_a_time = gauge, wanted, pairs_at_a_time
        self.queries, self.items = gauge.space.queries, gauge.space.items
        self.resources = gauge.space.resources
        self.target = target_of(wanted)
        # Float32, unless the format has more numbers than float32 has exact whole numbers.
        self.tile_type = FLOAT32 if self.target.infinity <= LARGEST_FLOAT32 else FLOAT64
        self.absolute, self.relative = gauge.errors()
        self.curve, self.sharp_curve = gauge.curve(), gauge.sharp_curve()
        self.describe_tiles()

    @property
    def zero_vectors(self) -> int:
        """The number of zero vectors for the rounded distance; a code of zeros is not counted."""
        return self.gauge.zero_vectors

    def error(self, rows: slice, columns: slice) -> Error:
        """The errors of a tile, which are zero because places are whole numbers."""
        return make_error(rows, columns)

    def tile(self, rows: slice | IntArray, columns: slice | IntArray) -> Entries:
        """Minus the places of the rounded distances of a tile."""
        values = self.gauge.values(rows, columns)
        nearness = np.empty(values.shape, dtype=self.tile_type)
        if self.round(values, nearness):
            of_row, of_column = np.arange(len(self.queries))[rows], np.arange(len(self.items))[columns]
            for row, column in self.open_pairs(nearness):
                nearness[row, column] = self.of_pairs(values[row, column], of_row[row], of_column[column])
        return nearness

    def keys(self, rows: IntArray, columns: IntArray) -> tuple[FloatArray, FloatArray]:
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
