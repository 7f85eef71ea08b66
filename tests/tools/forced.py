"""Each of the engine's methods of counting, with the changes that force the engine to use it."""

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
import pytest

from tieproof.distances import bits, codes, inner_space, short_sums, space
from tieproof.distances.exact import rows
from tieproof.engine import counting, memory, pieces, plan, ranking

Patch = pytest.MonkeyPatch


def small_tiles(patch: Patch, side: int) -> None:
    patch.setattr(plan, "LARGEST_SIDE", side)
    patch.setattr(plan, "SMALLEST_SIDE", side)


def no_integers(patch: Patch) -> None:
    patch.setattr(rows, "LARGEST_INTEGER", 0.0)


def rows_of_buckets(patch: Patch) -> None:
    patch.setattr(counting, "DENSE", 0)


def rows_item_by_item(patch: Patch) -> None:
    patch.setattr(counting, "DENSE", 1e9)


def columns(patch: Patch) -> None:
    patch.setattr(counting, "CROWDED", 2)


def columns_turned_round(patch: Patch) -> None:
    patch.setattr(counting, "CROWDED", -1)


def columns_then_buckets(patch: Patch) -> None:
    patch.setattr(counting, "CROWDED", -1)
    patch.setattr(counting, "DENSE", 0)


def little_room(patch: Patch) -> None:
    patch.setattr(plan, "UNDECIDED", (1, 1))
    patch.setattr(memory, "LIST", 1)


def ranked_together(patch: Patch) -> None:
    patch.setattr(ranking, "SHARED", 1)


def ranked_pair_by_pair(patch: Patch) -> None:
    patch.setattr(ranking, "SHARED", 10**9)


def many_blocks(patch: Patch) -> None:
    patch.setattr(plan, "BYTES_PER_PAIR_RANKED", 2**16)


def many_parts(patch: Patch) -> None:
    patch.setattr(plan, "BYTES_PER_PAIR_RANKING", 2**12)


def no_tiles(patch: Patch) -> None:
    patch.setattr(plan, "FEW_PAIRS", 0)
    patch.setattr(plan, "LEFT_OPEN", 0)
    patch.setattr(plan, "UNDECIDED", (100, 100))


def no_codes(patch: Patch) -> None:
    patch.setattr(codes, "multiplies_codes", bool)


def no_bits(patch: Patch) -> None:
    patch.setattr(bits, "two_values", lambda queries, items: None)


def neither_bits_nor_codes(patch: Patch) -> None:
    no_bits(patch)
    no_codes(patch)


def bits_by_loop(patch: Patch) -> None:
    patch.setattr(bits, "FASTEST_WAY", 0)


def bits_out_of_memory(patch: Patch) -> None:
    """Bits are packed for each tile."""
    make = bits.Bits
    patch.setattr(inner_space, "Bits", lambda rows, dtype, keep_bytes, threads: make(rows, dtype, 0, threads))


def codes_sifted(patch: Patch) -> None:
    """Near pairs are listed while the products are computed, however many there are."""
    chosen_tile(np.int8, 2**16)(patch)
    patch.setattr(pieces, "SHARE", 1)


def codes_written(patch: Patch) -> None:
    """There is no room for near pairs, so that tiles are written."""
    chosen_tile(np.int8, 2**16)(patch)
    patch.setattr(pieces, "SHARE", 0)
    patch.setattr(pieces, "SPARE", 0)


def codes_by_loop(patch: Patch) -> None:
    chosen_tile(np.int8, 2**16)(patch)
    patch.setattr(codes, "fastest_way", int)


def codes_out_of_memory(patch: Patch) -> None:
    """Codes are computed for each tile, and there are no finer ones."""
    chosen_tile(np.int8, 2**16)(patch)
    make: Any = codes.Codes

    def without_memory(*arguments: Any) -> codes.Codes:
        *others, _, threads = arguments
        made: codes.Codes = make(*others, 0, threads)
        return made

    patch.setattr(inner_space, "Codes", without_memory)


def long_codes(dtype: Any) -> Callable[[Patch], None]:
    """Tiles of several codes of each number, multiplied in the fastest way of this processor."""

    def patch_long_codes(patch: Patch) -> None:
        chosen_tile(dtype, 2**16)(patch)
        patch.setattr(codes, "fastest_way", lambda: codes.MATRIX_UNIT)

    return patch_long_codes


def chosen_tile(dtype: Any, chunk: int) -> Callable[[Patch], None]:
    def patch_choices(patch: Patch) -> None:
        patch.setattr(plan, "FEW_PAIRS", 0)
        patch.setattr(plan, "FEWEST_ENCODED", (0, 0))
        patch.setattr(codes, "multiplies_codes", lambda: True)
        patch.setattr(plan, "CHOICES", (plan.TileChoice(dtype, chunk, -1.0),))  # cheaper than not using tiles
        patch.setattr(plan, "ROUNDED", np.inf)

    return patch_choices


def short_sums_by_vectors(patch: Patch) -> None:
    """Also of rows with so few dimensions that there is a single sum."""

    def variant(self: space.Space, dtype: np.dtype[Any], chunk: int) -> space.Space:
        made = copy(self)
        made.choose_tiles(self.resources._replace(dtype=dtype, chunk=chunk))
        return made

    chosen_tile(np.float32, short_sums.SUMMED)(patch)
    patch.setattr(space.Space, "variant", variant)


FORCED: dict[str, Callable[[Patch], None]] = {
    function.__name__: function
    for function in (
        rows_of_buckets,
        rows_item_by_item,
        columns,
        columns_turned_round,
        columns_then_buckets,
        little_room,
        ranked_together,
        ranked_pair_by_pair,
        many_blocks,
        many_parts,
        no_tiles,
        no_integers,
        no_codes,
        no_bits,
        neither_bits_nor_codes,
        bits_by_loop,
        bits_out_of_memory,
        codes_sifted,
        codes_written,
        codes_by_loop,
        codes_out_of_memory,
        short_sums_by_vectors,
    )
} | {
    "float32 tiles": chosen_tile(np.float32, 2**16),
    "float32 tiles of short sums": chosen_tile(np.float32, 2),
    "float64 tiles": chosen_tile(np.float64, 2**16),
    "two slices": long_codes(np.int16),
    "three slices": long_codes(np.int32),
}
