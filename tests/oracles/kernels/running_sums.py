"""Running sums of pairs of floats, as loops."""

from kernels.pair_parts import FloatArray, plus


def sum_inside_blocks(terms: FloatArray, block: int) -> None:
    """Replace the terms of each block by their running sums from the start of the block."""
    for start in range(0, terms.shape[1], block):
        for i in range(start + 1, min(start + block, terms.shape[1])):
            terms[:, i] = plus(tuple(terms[:, i - 1]), tuple(terms[:, i]))
