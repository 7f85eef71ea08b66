"""Compare the results of calls with the oracles."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import fnmr_oracle as oracle
import tieproof as tp
from collision_oracle import Found, ap_width, ties
from exact_oracle import average_precision, fractions
from tieproof.analyses.rates.result import METHODS

Array = npt.NDArray[Any]

RATES = ("0", "0.05", "0.1", "0.35", "0.5", "0.9", "1")
FMR = tuple(map(float, RATES))


def assert_scores(result: tp.Result, distances: list[list[Fraction]], labels: npt.NDArray[np.int64]) -> None:
    """Leave-one-out AP of given distances, from its definition, with `empty="zero"`."""
    found = result.per_query("AP")
    for query, row in enumerate(distances):
        others = [item for item in range(len(row)) if item != query]
        relevant = [bool(labels[item] == labels[query]) for item in others]
        nothing = (Fraction(0),) * 3
        expected = average_precision([-row[item] for item in others], relevant) if any(relevant) else nothing
        values = (found.lower[query], found.expected[query], found.upper[query])
        for value, exact in zip(values, expected, strict=True):
            assert abs(Fraction(float(value)) - exact) <= Fraction(1, 10**12)


def expected_ties(
    distance: str,
    data: Array,
    labels: Array | None,
    epsilon: float,
    gallery: Array | None = None,
    gallery_labels: Array | None = None,
) -> list[tuple[int, int, list[Found]]]:
    """(query, relevant items, ties) of the queries that are checked."""
    rows = fractions(data)
    items, of_items = (rows, labels) if gallery is None else (fractions(gallery), gallery_labels)
    found = []
    for query, row in enumerate(rows):
        others = [item for item in range(len(items)) if gallery is not None or item != query]
        relevant = [
            bool(labels is not None and of_items is not None and of_items[i] == labels[query]) for i in others
        ]
        if labels is None or any(relevant):
            pairs = [(items[item], flag) for item, flag in zip(others, relevant, strict=True)]
            found.append((query, sum(relevant), list(ties(distance, row, pairs, Fraction(epsilon)))))
    return found


def assert_found(found: tp.Collisions, expected: list[tuple[int, int, list[Found]]]) -> None:
    assert found.query_ids.tolist() == [query for query, _, _ in expected]
    columns = found.per_query
    for place, (_, count, of_query) in enumerate(expected):
        ambiguous = [tie for tie in of_query if 0 < tie.m < tie.l]
        assert columns["pairs"][place] == sum(tie.l - 1 for tie in of_query)
        assert columns["ties"][place] == len(of_query)
        assert columns["ambiguous_ties"][place] == len(ambiguous)
        assert columns["relevant"][place] == sum(tie.m for tie in of_query)
        assert columns["others"][place] == sum(tie.l - tie.m for tie in of_query)
        assert columns["largest_tie"][place] == max((tie.l for tie in of_query), default=0)
        width = sum((ap_width(tie, count) for tie in of_query), Fraction(0))
        assert abs(Fraction(float(columns["ap_width"][place])) - width) <= Fraction(1, 10**12)
    everything = [tie for _, _, of_query in expected for tie in of_query]
    ranks = range(found.setting.ranks)
    assert found.by_rank["pairs"].tolist() == [sum(t.k <= r < t.k + t.l - 1 for t in everything) for r in ranks]
    assert found.by_rank["others"].tolist() == [sum(t.k <= r < t.k + t.l - t.m for t in everything) for r in ranks]
    last = [sum(t.k + t.l - t.m <= r < t.k + t.l for t in everything) for r in ranks]
    assert found.by_rank["relevant"].tolist() == last
    mixed = [tie for tie in everything if 0 < tie.m < tie.l]
    assert found.ambiguous_by_rank.tolist() == [sum(t.k <= r < t.k + t.l for t in mixed) for r in ranks]
    for each in found.by_range:
        begun = [tie for tie in everything if each.first <= tie.k + 1 <= each.last]
        assert (each.ties, each.ambiguous_ties) == (len(begun), sum(0 < tie.m < tie.l for tie in begun))
    assert sum(each.ties for each in found.by_range) == found.ties == len(everything)
    assert found.cells.relevant.sum() == columns["relevant"].sum()
    assert found.cells.others.sum() == columns["others"].sum()
    assert found.cells.ambiguous_relevant.sum() == sum(tie.m for tie in mixed)
    assert found.cells.ambiguous_others.sum() == sum(tie.l - tie.m for tie in mixed)


def check_exact_rates(
    rates: tp.ErrorRates, relevant: list[Fraction], others: list[Fraction], distance: Callable[[Fraction], float]
) -> None:
    for point, written in zip(rates.points, RATES, strict=True):
        key, lower, mean, upper, variance = oracle.exact(relevant, others, written)
        assert point.threshold == distance(key)
        assert (point.fnmr.lower, point.fnmr.upper) == (float(lower), float(upper))
        assert point.fnmr.expected == float(mean)
        assert point.fnmr.std == pytest.approx(float(variance) ** 0.5, rel=1e-12, abs=1e-15)


def check_rates(
    data: Array, distance: str, counted: list[tuple[int, int, bool]], gallery: Array | None = None, **options: Any
) -> None:
    """Check both methods at all rates; if a threshold is above the largest float64, an error must say so."""
    rows = fractions(data)
    items = rows if gallery is None else fractions(gallery)
    relevant, others = oracle.pairs(distance, rows, items, counted)

    def run(method: str, fmr: Any) -> tp.ErrorRates:
        return tp.fnmr_at_fmr(data, gallery=gallery, distance=distance, fmr=fmr, method=method, **options)  # type: ignore[arg-type]

    with np.errstate(all="ignore"):
        expected = [oracle.linear(distance, relevant, others, fmr) for fmr in FMR]
    if not np.isfinite([threshold for threshold, _ in expected]).all():
        for method in METHODS:
            with pytest.raises(tp.InputError, match="exceeds the largest float64"):
                run(method, FMR)
        return
    rates = run("linear", FMR)
    assert [(point.threshold, point.fnmr.upper) for point in rates.points] == expected
    assert (rates.relevant_pairs, rates.other_pairs) == (len(relevant), len(others))
    check_exact_rates(run("exact", FMR), relevant, others, lambda key: oracle.distance(distance, key))
