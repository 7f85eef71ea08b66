"""`open_set_identification`: how often the first answer is right and accepted, if some queries have no match."""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from tieproof.analyses.neighbors.nearest import neighbors_of
from tieproof.analyses.rates.decisions import BestThreshold, best, plain
from tieproof.analyses.rates.fnmr import as_distances
from tieproof.distances import DistanceFunction, DistanceName
from tieproof.errors import InputError
from tieproof.evaluation.evaluated import over_queries
from tieproof.evaluation.given_lists import as_judged
from tieproof.evaluation.problems import ArgumentSide, as_budget, in_memory, make_problem, watched
from tieproof.inputs.lists import as_rows
from tieproof.inputs.mapped import unchanged_files
from tieproof.inputs.options import as_shares
from tieproof.native.threads import stripes
from tieproof.show.parts import NUMBERS, REPORT, count, fixed, numbers
from tieproof.show.shown import Shown, Table
from tieproof.ties import Bounds, Estimate

_QUERIES = 1024  # the queries whose relevant items are listed at a time
FPIR = (0.1, 0.01)  # the false positive identification rates of IJB-C


@dataclass(frozen=True, repr=False)
class OpenSetIdentification(Shown):
    """How often the first answer is right and accepted; a threshold accepts all or none of the answers at a distance.

    mated, non_mated : the queries that have a match (mate, relevant item) in the gallery, and those that have none
    tpir : by false positive identification rate, the true positive identification rate, over the orderings of items
        that are as near as the first answer (ISO/IEC 19795-1); empty if every query has a match
    best_f1 : the largest F1 of any threshold, by right first answers among those that are accepted, and among the
        mated queries; a maximum over thresholds has no closed expectation
    recall_at_full_precision : the largest share of the mated queries that is accepted without any wrong answer

    >>> import tieproof as tp
    >>> scores, labels = [[0.9, 0.1], [0.2, 0.6], [0.8, 0.8], [0.7, 0.1], [0.3, 0.2]], ["a", "b", "b", "x", "y"]
    >>> print(tp.open_set_identification_of_scores(scores, labels=labels, gallery_labels=["a", "b"], fpir=0.5))
    measure                 lower  expected   upper  tie std
    --------------------------------------------------------
    TPIR at FPIR 0.5       0.6667    0.8333  1.0000   0.1667
    best F1                0.5714            0.8571
    recall at precision 1  0.3333            0.6667
    <BLANKLINE>
    3 of 5 queries have a match. The bounds are over the items that are as near as
    the first answer.
    Report 'expected' with its interval, 'lower' for claims, and 'upper' never.
    """

    mated: int
    non_mated: int
    tpir: dict[float, Estimate[float]]
    best_f1: BestThreshold
    recall_at_full_precision: Bounds[float]

    @classmethod
    def of(cls, matches: Any, nearest: Any, tied: Any, right: Any, fpir: Any) -> "OpenSetIdentification":
        """The measures, from the matches of each query in the gallery, the distance of its first answer, and ties.

        nearest : (q,) NaN if a query ranks no items
        tied, right : (q,) how many items are as near, one of which is the first answer, and how many of them match
        """
        rates, mated = as_shares(fpir, "A false positive identification rate", f"fpir={FPIR}"), matches > 0
        if not mated.any():
            raise InputError(
                "No query has a match in the gallery, so none is identified.", ("labels", "gallery_labels")
            )
        distinct, place = np.unique(nearest + 0.0, return_inverse=True)  # no negative zeros; NaN is last
        thresholds = np.append(-np.inf, distinct[np.isfinite(distinct)])

        def accepted(chosen: Any) -> Any:
            return np.bincount(place[chosen] + 1, minlength=len(thresholds)).cumsum()[: len(thresholds)]

        whole, strangers = accepted(slice(None)), accepted(~mated)
        low, high = (accepted((right > 0) & (right >= least)) for least in (tied, 1))
        tpir = {}
        for rate in () if mated.all() else rates:
            allowed = math.floor(Fraction(repr(rate)) * int((~mated).sum()))
            is_accepted = place < np.searchsorted(strangers, allowed, side="right") - 1
            share = np.where(is_accepted, right / np.maximum(tied, 1), 0.0)[mated]
            deviation = np.sqrt(share * (1 - share))
            tpir[rate] = over_queries(Estimate(np.floor(share), share, np.ceil(share), deviation))
        n_mated = int(mated.sum())
        f1 = best(thresholds, (2 * low, whole + n_mated), (2 * high, whole + n_mated))
        full = Bounds(*(float(counts[counts == whole].max() / n_mated) for counts in (low, high)))
        return cls(n_mated, len(mated) - n_mated, tpir, f1, full)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain numbers and dictionaries."""
        return plain(self) | {"tpir": {str(rate): asdict(value) for rate, value in self.tpir.items()}}

    def _table(self) -> Table:
        rows = [(f"TPIR at FPIR {rate:g}", *numbers(value)) for rate, value in self.tpir.items()]
        bounds = (("best F1", self.best_f1), ("recall at precision 1", self.recall_at_full_precision))
        rows += [(name, fixed(value.lower), "", fixed(value.upper), "") for name, value in bounds]
        note = (
            f"{self.mated:,} of {count(self.mated + self.non_mated, 'query')} have a match. The bounds are over the "
            "items that are as near as the first answer."
        )
        return Table(("measure", *NUMBERS), [rows], [note, REPORT if self.tpir else "Report 'lower'."], NUMBERS)


@unchanged_files
def open_set_identification(
    embeddings: Any,
    labels: Any = None,
    *,
    gallery: Any = None,
    gallery_labels: Any = None,
    fpir: float | Iterable[float] = FPIR,
    distance: DistanceName | str | DistanceFunction = "cosine",
    relevance: Any = None,
    groups: Any = None,
    gallery_groups: Any = None,
    exclude: Any = None,
    memory: str | int = "1GiB",
    threads: int | None = None,
    progress: bool = False,
    bits: int | None = None,
) -> OpenSetIdentification:
    """Compute how often the first answer is right and accepted by a threshold, if some queries have no match.

    Watchlists (1:N in IJB-C) and the detection of closed loops have queries without a match, which `evaluate` leaves
    out. Here a threshold on the distance has to reject them.

    Parameters
    ----------
    embeddings, labels, gallery, gallery_labels, distance, relevance, groups, gallery_groups, exclude, bits :
        As in `evaluate`. Which items are nearest is decided without rounding; the distances of different queries are
        rounded once to float64 before they are compared.
    fpir : numbers from 0 to 1
        At which false positive identification rates: the shares of queries without a match that may be accepted.
    memory, threads, progress :
        As in `evaluate`.

    Raises
    ------
    InputError
        As in `evaluate` and `nearest`; also if no query has a match.

    Examples
    --------
    >>> import tieproof as tp
    >>> gallery = {"gallery": [[0.0], [4.0]], "gallery_labels": ["a", "b"], "distance": "euclidean"}
    >>> found = tp.open_set_identification([[1.0], [4.0], [9.0]], ["a", "b", "x"], fpir=0, **gallery)
    >>> found.tpir[0].lower, found.best_f1
    (1.0, BestThreshold(lower=1.0, upper=1.0, threshold=1.0))

    """
    sides = ArgumentSide(embeddings, labels, groups), ArgumentSide(gallery, gallery_labels, gallery_groups)
    options = {"relevance": relevance, "exclude": exclude, "bits": bits}
    problem = in_memory(make_problem(*sides, distance, as_budget(memory, threads), **options))
    found = neighbors_of(problem, 1, watched(progress), duplicates=0)
    matches, right = np.zeros((2, found.n_queries), dtype=np.int64)
    for part in stripes(0, found.n_queries, _QUERIES):
        queries, first = np.arange(part.start, part.stop), found.tie_indptr[part.start]
        block = problem.relevance.block(queries)
        matches[part] = np.diff(block.pointer)
        query = np.repeat(queries, found.tie_sizes[part])
        near = query * found.n_items + found.tie_ids[first : first + len(query)]
        relevant = np.repeat(queries, matches[part]) * found.n_items + block.items
        right[part] = np.bincount(query[np.isin(near, relevant)] - part.start, minlength=len(queries))
    return OpenSetIdentification.of(matches, found.distances[:, 0], found.tie_sizes, right, fpir)


@unchanged_files
def open_set_identification_of_scores(
    scores: Any,
    relevance: Any = None,
    *,
    labels: Any = None,
    gallery_labels: Any = None,
    fpir: float | Iterable[float] = FPIR,
) -> OpenSetIdentification:
    """Compute how often the first answer is right and accepted by a threshold, from scores (larger is nearer).

    scores, relevance, labels, gallery_labels : as in `evaluate_scores`
    fpir : as in `open_set_identification`

    Raises InputError as `evaluate_scores` does, and if no query has a match.

    >>> import tieproof as tp
    >>> tp.open_set_identification_of_scores([[0.9, 0.4], [0.3, 0.2]], [[1, 0], [0, 0]]).best_f1
    BestThreshold(lower=1.0, upper=1.0, threshold=0.9)
    """
    rows = as_rows(scores, "scores")
    judged = as_judged(rows, "scores", relevance, labels, gallery_labels, None, None)
    nearest, counts = np.full(len(rows), np.nan), np.zeros((3, len(rows)), dtype=np.int64)
    for query, row in enumerate(rows):
        values, grades = as_distances(row, "scores"), np.asarray(judged[query : query + 1])[0]
        if (grades >= 0).any():
            nearest[query] = -values[grades >= 0].max()
            first = (grades >= 0) & (values == -nearest[query])
            counts[:, query] = (grades > 0).sum(), first.sum(), (first & (grades > 0)).sum()
    found = OpenSetIdentification.of(counts[0], nearest, counts[1], counts[2], fpir)
    return replace(found, best_f1=replace(found.best_f1, threshold=0.0 - found.best_f1.threshold))
