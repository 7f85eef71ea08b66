"""One look at all rows before anything is counted: whether they can be ranked, how many are zero, their digests."""

from typing import NamedTuple

import numpy as np

from tieproof.distances import Distance
from tieproof.inputs.digests import Words, rows_digests
from tieproof.inputs.shards.ranked import RankedRows
from tieproof.problem import Problem


class Seen(NamedTuple):
    """What is known of some rows: their digests (n, 2), and how many are all zero."""

    digests: Words
    zero_vectors: int


def look(whole: Problem, rows: RankedRows, words: Words, start: int, stop: int) -> Seen:
    """Read the rows start … stop-1; `words` belong to these."""
    digests = np.empty((stop - start, 2), dtype=np.uint64)
    zero = 0
    # A code of zeros is a code like any other, and what zeros are to a function nobody knows.
    has_zeros = isinstance(whole.distance, Distance) and not whole.distance.bits
    for first, piece in rows.pieces(start, stop):
        span = slice(first - start, first - start + len(piece))
        digests[span] = rows_digests(piece, words[span])
        zero += int(np.count_nonzero(~piece.any(axis=1))) if has_zeros else 0
    return Seen(digests, zero)
