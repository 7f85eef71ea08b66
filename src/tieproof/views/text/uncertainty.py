"""The uncertainty from the choice of queries, as opposed to ties: a column of intervals, and sentences on it."""

from collections.abc import Iterator, Sequence

from tieproof.results.results import Result
from tieproof.views.text.parts import HEADLINE, Row, percent

Sections = Sequence[Sequence[Row]]


def with_intervals(result: Result, head: Row, sections: Sections) -> tuple[Row, Sections]:
    """The header and the sections of a table with one more column, the confidence intervals over queries.

    A table has a section for each measure, or one section for all measures. Only the mean over all queries has an
    interval; the means over single categories have none.

    >>> import tieproof as tp
    >>> result = tp.evaluate_scores([[2, 1]] * 3, [[1, 0], [0, 1], [1, 0]], measures=["RR"])
    >>> with_intervals(result.with_ci(0.95), ("measure", "lower"), [[("RR", "0.8333")]])
    (('measure', 'lower', 'queries 95%'), [[('RR', '0.8333', '0.5000 to 1.0000')]])
    """
    assert result.ci is not None
    intervals = result.intervals(result.ci)
    unseen = set(intervals)

    def cell(measure: str) -> str:
        if measure not in unseen:
            return ""
        unseen.remove(measure)
        return f"{intervals[measure].low:.4f} to {intervals[measure].high:.4f}"

    rows = [[(*row, cell(row[0])) for row in section] for section in sections]
    return (*head, f"queries {percent(result.ci)}"), rows


def sentences(result: Result) -> Iterator[str]:
    """Sentences on the two uncertainties, from ties and from the choice of queries."""
    from tieproof.statistics.bootstrap import RESAMPLES

    assert result.ci is not None
    within = ", each category's within itself" if result.setting.average == "macro" else ""
    yield (
        "Uncertainty from ties: 'lower' to 'upper', and 'tie std', the standard deviation if ties are broken at "
        "random."
    )
    yield (
        f"Uncertainty from the choice of queries: 'queries {percent(result.ci)}', the confidence interval of "
        f"'{HEADLINE}', by the bootstrap (BCa) of the queries{within}, with {RESAMPLES:,} resamples from a fixed "
        "seed."
    )
