"""`agreement`: rank-biased overlap of the runs of two systems, for each query and on average."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tieproof.analyses.compare.overlap import NUMBERS, TREATMENTS, Overlap, Persistence, RankBiasedOverlap, overlap_of
from tieproof.analyses.compare.rankings import Matched, TiedRanks
from tieproof.errors import InputError, about
from tieproof.inputs.documents import DocumentTable
from tieproof.inputs.ids import decoded
from tieproof.inputs.readers import trec
from tieproof.inputs.sources import RUN, Source, checked, warn_of_ranks
from tieproof.show.parts import count
from tieproof.show.shown import AsFrame, Shown, Table
from tieproof.ties import Array, IntArray


class Agreement(Shown, AsFrame):
    """Rank-biased overlap of two runs; `tieproof.agreement` returns it.

    queries : the overlap of each query that both runs have, by its name
    mean : the mean of each number over these queries
    left_out : the queries that only the first run has, and those that only the second one has
    """

    def __init__(self, queries: Mapping[str, RankBiasedOverlap], left_out: tuple[list[str], list[str]]) -> None:
        self.queries, self.left_out = dict(queries), left_out
        means = (
            Overlap(*(math.fsum(self._column(treatment, number)) / len(queries) for number in NUMBERS))
            for treatment in TREATMENTS
        )
        self.mean = RankBiasedOverlap(next(iter(queries.values())).p, *means)

    def _column(self, treatment: str, number: str) -> list[float]:
        return [getattr(getattr(overlap, treatment), number) for overlap in self.queries.values()]

    def to_dict(self) -> dict[str, Any]:
        """The means, the numbers of each query, and the queries that only one run has."""
        return {
            "mean": self.mean.to_dict(),
            "queries": {name: overlap.to_dict() for name, overlap in self.queries.items()},
            "left_out": list(self.left_out),
        }

    def columns(self) -> dict[str, Array]:
        """The names of the queries, and a column for each number, as arrays of equal length."""
        values = {
            f"{treatment}_{number}": np.array(self._column(treatment, number))
            for treatment in TREATMENTS
            for number in NUMBERS
        }
        return {"query": np.array(list(self.queries)), **values}

    def _table(self) -> Table:
        table = self.mean._table()
        counted = f"Means over the {count(len(self.queries), 'query')} that both runs have."
        alone = [
            f"Left out: {count(len(names), 'query')} that only the {name} run has."
            for name, names in zip(("first", "second"), self.left_out, strict=True)
            if names
        ]
        return table._replace(notes=[*alone, counted, *table.notes])

    def __repr__(self) -> str:
        low, high = self.mean.lower.extrapolated, self.mean.upper.extrapolated
        return f"<Agreement over {count(len(self.queries), 'query')}: RBO {low:.4f} to {high:.4f}>"


def agreement(first: Any, second: Any, *, p: float = 0.9) -> Agreement:
    """Compare the rankings of two runs, query by query, by rank-biased overlap; no judgments are needed.

    Parameters
    ----------
    first, second : path of a TREC file or of predictions, {query: {document: score}}, a data frame, or a Run of ranx
        As in `evaluate_run`: documents are ranked by their scores alone, and equal scores are ties.
    p : number between 0 and 1, at most 0.999999
        The persistence, as in `rbo`.

    Returns
    -------
    Agreement
        The overlap of each query that both runs have, and the means.

    Raises
    ------
    InputError
        If the runs have no query in common, a line or a number is malformed, a score is NaN or infinity, or a
        document occurs twice for a query.

    Examples
    --------
    >>> import tieproof as tp
    >>> first = {"q1": {"d1": 0.9, "d2": 0.5, "d3": 0.5}, "q2": {"d1": 0.7}}
    >>> second = {"q1": {"d1": 0.8, "d3": 0.6, "d2": 0.1}, "q2": {"d9": 0.7}}
    >>> found = tp.agreement(first, second)
    >>> found
    <Agreement over 2 queries: RBO 0.4775 to 0.5000>
    >>> found.queries["q2"].upper.maximum
    0.9

    """
    queries = trec.numbering()
    sides: list[tuple[Source, DocumentTable]] = []
    for given, name in ((first, "first"), (second, "second")):
        with about(name):
            sides.append(checked(given, RUN._replace(name=f"The {name} run"), queries))
            warn_of_ranks(sides[-1][0], queries)
    (one, _), (other, table) = sides
    rows_of_one, rows_of_other = (_rows(source, len(queries)) for source, _ in sides)
    place = np.empty(len(other.value), dtype=np.int64)  # of each document among those of its query
    for rows in rows_of_other:
        place[rows] = np.arange(len(rows))
    found = table.find(one.documents)
    persistence = Persistence.of(p, max(map(len, rows_of_one)) + max(map(len, rows_of_other)))
    overlaps: dict[str, RankBiasedOverlap] = {}
    left_out: tuple[list[str], list[str]] = [], []
    names = [decoded(name) for name in queries]
    for name, number in sorted((name, number) for number, name in enumerate(names)):
        rows, others = rows_of_one[number], rows_of_other[number]
        if len(rows) and len(others):
            common = np.flatnonzero(found[rows] >= 0)
            rankings = TiedRanks.of(one.value[rows]), TiedRanks.of(other.value[others])
            overlaps[name] = overlap_of(Matched(*rankings, common, place[found[rows[common]]]), persistence)
        else:
            left_out[0 if len(rows) else 1].append(name)
    if not overlaps:
        raise InputError(
            f"The runs have no query in common: the first has queries such as '{left_out[0][0]}', the second such as "
            f"'{left_out[1][0]}'. Check that the runs belong together.",
            ("first", "second"),
        )
    return Agreement(overlaps, left_out)


def _rows(source: Source, queries: int) -> list[IntArray]:
    order = np.argsort(source.documents.query, kind="stable")
    return np.split(order, np.searchsorted(source.documents.query[order], np.arange(1, queries)))
