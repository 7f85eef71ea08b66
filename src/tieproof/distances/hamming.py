"""Hamming distance of packed bits: the number of bits that differ, smaller is nearer; always exact."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tieproof.distances import Distance
from tieproof.distances.bits import FASTEST_WAY, differing_tile
from tieproof.distances.codes import arranged
from tieproof.distances.exact.bounds import EXACT_INTEGERS, Intervals
from tieproof.distances.exact.rows import Rows
from tieproof.distances.gauge import SpaceGauge
from tieproof.distances.space import FLOAT32, FLOAT64, Entries, KeyScale, Resources, Space
from tieproof.errors import InputError
from tieproof.inputs.arrays import Embeddings, as_array, as_embeddings, type_name
from tieproof.ties import FloatArray, IntArray


class Hamming(Space):
    """Keys: minus the distance. The rows' embeddings are `_packed_halves`."""

    integers = True
    scale = KeyScale(("bits",))
    zero_vectors = 0  # a code of zeros is an ordinary code

    def __init__(self, queries: Rows, items: Rows, resources: Resources) -> None:
        self.queries, self.items = queries, items
        self.words = self.of_sides(lambda rows: np.ascontiguousarray(rows.embeddings[rows.first]).view(np.uint64))
        self.choose_tiles(resources)

    def choose_tiles(self, resources: Resources) -> None:
        """Choose float32, which represents distances of up to 2^24 bits exactly, unless there are more bits."""
        self.resources = resources
        self.tile_type = FLOAT32 if 64 * self.words[1].shape[1] <= EXACT_INTEGERS[FLOAT32] else FLOAT64
        self.describe_tiles()

    def tile(self, rows: slice | IntArray, columns: slice | IntArray) -> Entries:
        """Minus the Hamming distances."""
        x, y = (words[some].view(np.int8) for words, some in zip(self.words, (rows, columns), strict=True))
        of_rows, of_items = (np.full(len(side), -0.0, self.tile_type) for side in (x, y))
        out = np.empty((len(x), len(y)), dtype=self.tile_type)
        differing_tile(x, of_rows, arranged(y, 0), of_items, 0, 1.0, FASTEST_WAY, out)
        return out

    def keys(self, rows: IntArray, columns: IntArray) -> Intervals:
        """Minus the Hamming distances, which are exact."""
        queries, items = self.words
        differing = np.bitwise_count(queries[rows] ^ items[columns])
        return -(differing.sum(axis=1).astype(np.float64)), np.zeros(len(rows))

    def exact_keys(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Return minus the distances; ties are already decided by the tile."""
        return self.keys(rows, columns)[0][:, None].astype(np.int64)


class HammingGauge(SpaceGauge):
    """The number of bits that differ: the value is exact."""

    space: Hamming

    def exact(self, values: FloatArray, rows: IntArray, columns: IntArray) -> list[Any]:
        """The exact keys of pairs, which are their values."""
        return [int(value) for value in values]

    def distances(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """The values, which are exact."""
        return self.values_of_pairs(rows, columns) + 0.0

    def sharp(self, rows: IntArray, columns: IntArray) -> None:
        """No sharper keys: the values are exact already."""


def _as_codes(values: Any, name: str, bits: int | None) -> Embeddings:
    """Bool arrays (n, bits), or packed integers of any type with `bits`, as packed half words."""
    # Distances depend neither on the order of bytes and bits, nor on an offset that flips the same bit of every row:
    # the codes of type int8 that sentence-transformers calls "binary" are the packed bytes minus 128.
    array = as_array(values, name)
    if array.dtype == np.bool_:
        codes = as_embeddings(array, name)
        if bits is not None and bits != codes.shape[1]:
            raise InputError(
                f"bits={bits}, but each row of the {name} has {codes.shape[1]} bits. Leave bits= out for bools."
            )
        return _packed_halves(np.packbits(codes, axis=1))
    numbers = as_embeddings(array, name)
    if numbers.dtype.kind not in "iu" or bits is None:
        raise InputError(
            f"Hamming distance takes bool arrays, or packed integers with bits=, but the type of the {name} is "
            f"{type_name(array.dtype)}{'' if bits is None else f' with bits={bits}'}. {_as_bits(numbers)}"
        )
    most = 8 * numbers.itemsize * numbers.shape[1]
    fewest = most - 7 if numbers.itemsize == 1 else most
    if not fewest <= bits <= most:
        counts = f"{fewest} to {most}" if fewest < most else f"{most}"
        advice = "Pass the number of bits of a code; bits that are 0 in every row may be counted, too."
        raise InputError(
            f"Each row of the {name} has {counts} bits, but bits={bits}. "
            f"{_as_bits(numbers) if _two_values(numbers) else advice}"
        )
    packed = np.ascontiguousarray(numbers).view(np.uint8)
    if (packed[:, -1] & np.uint8(2 ** (most - bits) - 1)).any():
        raise InputError(
            f"Some rows of the {name} have bits set beyond bits={bits}. Clear these bits; numpy.packbits fills the "
            "last byte with zeros."
        )
    return _packed_halves(packed)


def _as_bits(numbers: Embeddings) -> str:
    """Return the advice for numbers that are neither bools nor packed integers with the number of their bits."""
    if _two_values(numbers) or (numbers != np.rint(numbers)).any():
        return "Convert them to bools first, for example with x > 0."
    if numbers.dtype.kind == "f":
        return "If they are packed codes, convert them to integers and pass bits=; x > 0 would lose the codes."
    bits = 8 * numbers.itemsize * numbers.shape[1]
    fewer = ", or fewer if the last byte is not full" if numbers.itemsize == 1 else ""
    return f"If they are packed codes, pass bits={bits}{fewer}; x > 0 would lose the codes."


def _two_values(numbers: Embeddings) -> bool:
    """Whether numbers are bits that are not packed: 0 and 1, or -1 and 1."""
    return bool(np.isin(numbers, (0, 1)).all() or np.isin(numbers, (-1, 1)).all())


def _packed_halves(codes: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint32]:
    """Return packed bytes (n, b), padded with zeros, as an even number of half words, which float64 has exactly."""
    padded = np.pad(codes, ((0, 0), (0, -codes.shape[1] % 8)))
    return np.ascontiguousarray(padded).view(np.uint32)


HAMMING = Distance(
    meaning="the number of bits that differ",
    space=Hamming,
    gauge=HammingGauge,
    bits=True,
    extent=lambda first, second, bits: bits,
    takes=_as_codes,
)
