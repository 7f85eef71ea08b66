"""Every form of relevance and every measure, compared with all orderings of every query, in fractions."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import oracle
import tieproof as tp

Array = npt.NDArray[Any]

RANDOM = np.random.default_rng(2018)
QUERIES, GALLERY = RANDOM.integers(0, 4, size=(8, 1)), RANDOM.integers(0, 4, size=(11, 1))
LABELS, GALLERY_LABELS = RANDOM.integers(0, 3, 8), RANDOM.integers(0, 3, 11)
COLUMNS, GALLERY_COLUMNS = RANDOM.random((8, 4)) < 0.3, RANDOM.random((11, 4)) < 0.3
GROUPS, GALLERY_GROUPS = RANDOM.integers(0, 2, 8), RANDOM.integers(0, 2, 11)
GRADES = RANDOM.choice([-1, 0, 0, 1, 2, 2.5], size=(8, 11))
EXCLUDED = RANDOM.random((8, 11)) < 0.15

MEASURES = [
    "AP",
    "AP@3",
    "AP@R",
    "AP(norm=min)@3",
    "AP(norm=hits)@3",
    "AP(trapezoid)",
    "P@3",
    "RelP@3",
    "R@3",
    "F1@3",
    "Rprec",
    "Success@3",
    "RR",
    "INP",
    "RBP",
    "AUC",
    "ERR",
    "ERR@3",
    "bpref",
    "nDCG",
    "nDCG@3",
    "nDCG(gain=exp)@3",
    "nDCG(ideal=list)",
]
GALLERY_MODE: dict[str, Any] = {"gallery": GALLERY, "distance": "euclidean", "measures": MEASURES}
SAME = LABELS[:, None] == GALLERY_LABELS
SHARED = np.asarray((COLUMNS[:, None] & GALLERY_COLUMNS).any(axis=2))
SAME_GROUP = GROUPS[:, None] == GALLERY_GROUPS
PAIRS = np.argwhere(EXCLUDED)
TRIPLES = [(query, item, grade) for (query, item), grade in np.ndenumerate(GRADES) if grade]
ITSELF = np.eye(11, dtype=bool)
AMONG = GALLERY_LABELS[:, None] == GALLERY_LABELS
AMONG_COLUMNS = np.asarray((GALLERY_COLUMNS[:, None] & GALLERY_COLUMNS).any(axis=2))
AMONG_GROUPS = GALLERY_GROUPS[:, None] == GALLERY_GROUPS

CASES: dict[str, tuple[Callable[[], tp.Result], Array, Array]] = {
    "labels": (
        lambda: tp.evaluate(QUERIES, LABELS, gallery_labels=GALLERY_LABELS, **GALLERY_MODE),
        SAME,
        np.zeros_like(SAME),
    ),
    "labels, groups and pairs": (
        lambda: tp.evaluate(
            QUERIES,
            LABELS,
            gallery_labels=GALLERY_LABELS,
            groups=GROUPS,
            gallery_groups=GALLERY_GROUPS,
            exclude=PAIRS,
            **GALLERY_MODE,
        ),
        SAME,
        SAME & SAME_GROUP | EXCLUDED,
    ),
    "columns, groups and pairs": (
        lambda: tp.evaluate(
            QUERIES,
            COLUMNS,
            gallery_labels=GALLERY_COLUMNS,
            groups=GROUPS,
            gallery_groups=GALLERY_GROUPS,
            exclude=PAIRS,
            **GALLERY_MODE,
        ),
        SHARED,
        SHARED & SAME_GROUP | EXCLUDED,
    ),
    "grades": (lambda: tp.evaluate(QUERIES, relevance=TRIPLES, **GALLERY_MODE), np.maximum(GRADES, 0), GRADES < 0),
    "grades, groups and pairs": (
        lambda: tp.evaluate(
            QUERIES, relevance=TRIPLES, groups=GROUPS, gallery_groups=GALLERY_GROUPS, exclude=PAIRS, **GALLERY_MODE
        ),
        np.maximum(GRADES, 0),
        (GRADES < 0) | (GRADES != 0) & SAME_GROUP | EXCLUDED,
    ),
    "grades of a matrix": (
        lambda: tp.evaluate_distances(np.abs(QUERIES - GALLERY.T), GRADES, measures=MEASURES),
        np.maximum(GRADES, 0),
        GRADES < 0,
    ),
    "leave-one-out by labels and groups": (
        lambda: tp.evaluate(GALLERY, GALLERY_LABELS, groups=GALLERY_GROUPS, distance="euclidean", measures=MEASURES),
        AMONG,
        AMONG & AMONG_GROUPS | ITSELF,
    ),
    "leave-one-out by columns": (
        lambda: tp.evaluate(GALLERY, GALLERY_COLUMNS, distance="euclidean", measures=MEASURES),
        AMONG_COLUMNS,
        ITSELF,
    ),
}
"""The evaluation, the grade of every pair, and the excluded pairs."""


def rankings(grades: Array, left_out: Array) -> dict[int, oracle.Ranking]:
    """The ties of each query that has a relevant item."""
    queries = QUERIES if len(grades) == len(QUERIES) else GALLERY
    distances = np.abs(queries - GALLERY.T)
    found: dict[int, oracle.Ranking] = {}
    for query, row in enumerate(distances):
        kept = np.flatnonzero(~left_out[query])
        if (grades[query, kept] > 0).any():
            found[query] = [
                [Fraction(float(grades[query, item])) for item in kept if row[item] == distance]
                for distance in sorted(set(row[kept].tolist()))
            ]
    return found


@pytest.mark.parametrize("case", CASES)
def test_every_measure_is_that_of_all_orderings(case: str) -> None:
    evaluate, grades, left_out = CASES[case]
    result, expected = evaluate(), rankings(grades, left_out)
    assert result.query_ids.tolist() == list(expected)
    assert result.empty_ids.tolist() == sorted(set(range(len(grades))) - set(expected))
    for measure in MEASURES:
        name, _, cutoff = measure.partition("@") if measure != "AP@R" else (measure, "", "")
        got = result.per_query(measure)
        for at, ranking in enumerate(expected.values()):
            exact = oracle.enumerate_orderings(
                oracle.DEFINITIONS[name], ranking, cutoff=int(cutoff) if cutoff else None
            )
            values = [float(exact.lower), float(exact.expected), float(exact.upper)]
            assert [got.lower[at], got.expected[at], got.upper[at]] == pytest.approx(values, rel=1e-12), measure
            assert got.std[at] == pytest.approx(exact.std, rel=1e-12, abs=1e-15), measure
