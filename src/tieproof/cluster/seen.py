"""A first pass over all rows: it checks that they can be ranked, counts zero rows, and computes digests."""

from typing import NamedTuple

import numpy as np

from tieproof.distances import Distance
from tieproof.inputs.digests import Words, rows_digests
from tieproof.inputs.shards.ranked import RankedRows
from tieproof.problem import Problem


class Seen(NamedTuple):
    """The survey of some rows: their digests (n, 2), and how many rows are all zero."""

    digests: Words
    zero_vectors: int


def look(whole: Problem, rows: RankedRows, words: Words, start: int, stop: int) -> Seen:
    """Survey the rows start … stop-1, to which `words` belong."""
    digests = np.empty((stop - start, 2), dtype=np.uint64)
    zero = 0
    # Zeros are not special as a binary code, and their meaning to a distance function is unknown.
    has_zeros = isinstance(whole.distance, Distance) and not whole.distance.bits
    for first, piece in rows.pieces(start, stop):
        span = slice(first - start, first - start + len(piece))
        digests[span] = rows_digests(piece, words[span])
        zero += int(np.count_nonzero(~piece.any(axis=1))) if has_zeros else 0
    return Seen(digests, zero)
