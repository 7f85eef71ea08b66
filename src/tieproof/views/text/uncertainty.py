"""What the choice of queries leaves open, beside what ties leave open: a column of intervals, and what it means."""

from collections.abc import Iterator, Sequence

from tieproof.results.results import Result
from tieproof.views.text.parts import HEADLINE, Row, percent

Sections = Sequence[Sequence[Row]]


def with_intervals(result: Result, head: Row, sections: Sections) -> tuple[Row, Sections]:
    """The head and the sections of a table, one for each measure or all measures in one, with another column.

    The mean over all queries has its interval; those over single categories have none.

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
    """Which uncertainty is whose."""
    from tieproof.statistics.bootstrap import RESAMPLES

    assert result.ci is not None
    within = ", each category's within itself" if result.setting.average == "macro" else ""
    yield "What ties leave open is between 'lower' and 'upper', with 'tie std' where they are broken at random."
    yield (
        f"What the choice of queries leaves open is 'queries {percent(result.ci)}', the confidence interval of "
        f"'{HEADLINE}': by the bootstrap (BCa) of the queries{within}, with {RESAMPLES:,} resamples from a fixed "
        "seed."
    )
