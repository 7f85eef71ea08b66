"""Where an interval of nearness stands among the thresholds of its query."""

from tieproof.engine.structures import Counts, Undecided
from tieproof.native.calls import native
from tieproof.ties import FloatArray, IntArray


@native
def settle(
    low: FloatArray,
    high: FloatArray,
    starts: IntArray,
    stops: IntArray,
    key: FloatArray,
    reach: FloatArray,
    counts: Counts,
    undecided: Undecided,
) -> int:
    """Count what sharper intervals of nearness decide; move the rest to the front and return how many they are.

    The thresholds of query q are starts[q] … stops[q]-1.
    """
