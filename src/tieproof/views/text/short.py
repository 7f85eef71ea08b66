"""Results in one line each: their `repr`, or what notebooks show of them."""

from tieproof.results.collisions import Collisions
from tieproof.results.comparison import Comparison
from tieproof.results.differences import Difference
from tieproof.results.neighbor_recall import NeighborRecall
from tieproof.results.range_recall import RangeRecall
from tieproof.results.rates import ErrorRates
from tieproof.results.results import Result
from tieproof.views.printable import printable
from tieproof.views.text.parts import count

MOST = 3
"""The most measures of a result, and systems of a comparison, that are shown."""


def result_in_short(result: Result) -> str:
    """The intervals of the first measures."""
    shown = ", ".join(f"{name} {result[name]:.4f}" for name in result.measures[:MOST])
    return f"<Result of {count(result.ties.queries, 'query')}: {shown}{more_than(len(result))}>"


def difference_in_short(found: Difference) -> str:
    """The interval, and the verdict in words."""
    return f"{found.lower:.4f} ≤ {found.expected:.4f} ≤ {found.upper:.4f}: {printable(found.verdict.sentence)}"


def collisions_in_short(found: Collisions) -> str:
    """The number of ties, and their cost."""
    cost = f", {found.ambiguous_ties:,} ambiguous, AP {found.ap_width:.4f} wide" if found.setting.labelled else ""
    return f"<Collisions of {count(len(found.query_ids), 'query')}: {count(found.ties, 'tie')}{cost}>"


def comparison_in_short(found: Comparison) -> str:
    """The systems, and the number of differences with each verdict."""
    verdicts = [found[a, b, measure].verdict.name for measure in found.measures for a, b in found.pairs]
    counts = ", ".join(f"{verdicts.count(name):,} {name}" for name in dict.fromkeys(verdicts))
    systems = ", ".join(map(printable, found.systems[:MOST])) + more_than(len(found.systems))
    return f"<Comparison of {systems} on {count(found.queries, 'query')}: {counts}>"


def rates_in_short(rates: ErrorRates) -> str:
    """The rates."""
    shown = ", ".join(f"FNMR {point.fnmr:.4f} at FMR {point.fmr:g}" for point in rates.points)
    return f"<ErrorRates of {count(rates.relevant_pairs, 'relevant pair')}: {shown}>"


def neighbor_recall_in_short(found: NeighborRecall) -> str:
    """The recalls."""
    shown = ", ".join(f"{point.recall:.4f} at k = {point.k:,}" for point in found.points[:MOST])
    return f"<NeighborRecall of {count(found.queries, 'query')}: {shown}{more_than(len(found.points))}>"


def range_recall_in_short(found: RangeRecall) -> str:
    """The recall over all items, and the mean over queries."""
    means = f"{found.recall:.4f} overall, {found.mean_recall:.4f} on average"
    return f"<RangeRecall of {count(len(found.true), 'query')}: {means}>"


def more_than(there: int) -> str:
    """How many more there are than those shown.

    >>> more_than(5), more_than(3)
    (' and 2 more', '')
    """
    return f" and {there - MOST} more" if there > MOST else ""
