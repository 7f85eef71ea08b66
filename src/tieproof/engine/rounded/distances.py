"""Rounded distances: by float64 where its error leaves no doubt, else by sharper keys, else by exact ones.

| step | decides | by |
|---|---|---|
| 1 values | where all distances within the error of a value round alike | `Gauge.values`, a float64 matrix product |
| 2 sharp | pairs that are close to each other | `Gauge.sharp`: exact sums, rounded to float64 |
| 3 exact | everything | `Gauge.exact`: integers and fractions of Python |

A distance that lies half way between two numbers of the format comes down to step 3. Where many pairs do, as with
codes, values have exactly the ties of distances, and one pair of each tie is decided for all.
"""

import numpy as np

from tieproof.distances.gauge import FLOAT64, Gauge
from tieproof.engine.rounded.kernels import round_block, round_pairs, target_of
from tieproof.inputs.formats import Format
from tieproof.ties import FloatArray, IntArray


class RoundedDistances:
    """The distances of a gauge, correctly rounded to a format (`Format.infinity` stands for infinity)."""

    def __init__(self, gauge: Gauge, wanted: Format) -> None:
        self.gauge, self.format = gauge, wanted
        self.target = target_of(wanted)
        self.absolute, self.relative = gauge.errors()
        self.curve, self.sharp_curve = gauge.curve(), gauge.sharp_curve()

    def block(self, rows: slice) -> FloatArray:
        """The distances of some distinct query rows to all distinct item rows."""
        columns = slice(0, len(self.gauge.weight[1]))
        out = np.empty((rows.stop - rows.start, columns.stop), dtype=FLOAT64)
        for part in self.gauge.parts(columns):
            out[:, part] = self.part(rows, part)
        return out

    def part(self, rows: slice, columns: slice) -> FloatArray:
        """The distances to some of them."""
        values = self.gauge.values(rows, columns)
        out = np.empty_like(values)
        if round_block(values, self.absolute, self.relative, self.curve, self.target, out):
            row, column = np.nonzero(np.isnan(out))
            out[row, column] = self.of_pairs(values[row, column], row + rows.start, column + columns.start)
        return out

    def of_pairs(self, values: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
        """The distances of pairs that their values leave open."""
        if not self.gauge.certain:
            return self.of_each(values, rows, columns)
        _, place, inverse = np.unique(values, return_index=True, return_inverse=True)
        return self.of_each(values[place], rows[place], columns[place])[inverse]

    def of_each(self, values: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
        """The distance of each pair by itself."""
        out = np.full(len(values), np.nan)
        sharp = self.gauge.sharp(rows, columns)
        if sharp is not None:
            round_pairs(*sharp, self.sharp_curve, self.target, out)
        left = np.flatnonzero(np.isnan(out))
        for some, keys in self.gauge.exact_by_part(values[left], rows[left], columns[left]):
            out[left[some]] = [self.gauge.distance(key * self.gauge.unit, self.format.rounded) for key in keys]
        return out
