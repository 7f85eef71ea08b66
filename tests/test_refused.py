"""Promise 5, refused by name: an error says what arrived, what was expected and what to do; never a number."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tieproof as tp

GOOD, LABELS = np.arange(12.0).reshape(6, 2), [0, 0, 1, 1, 2, 2]


def with_value(value: float) -> Any:
    bad = GOOD.copy()
    bad[3, 1] = value
    return bad


def evaluate(embeddings: Any = GOOD, labels: Any = LABELS, **options: Any) -> Callable[[], tp.Result]:
    return lambda: tp.evaluate(embeddings, labels, **options)


CASES: dict[str, tuple[Callable[[], tp.Result], str]] = {
    "NaN": (evaluate(with_value(np.nan)), r"embeddings must be finite numbers, and row 3 holds nan"),
    "infinity": (evaluate(with_value(np.inf)), r"row 3 holds inf"),
    "minus infinity, float16": (evaluate(with_value(-np.inf).astype(np.float16)), r"row 3 holds -inf"),
    "NaN in the gallery": (
        evaluate(gallery=with_value(np.nan), gallery_labels=LABELS),
        r"gallery must be finite numbers, and row 3 holds nan",
    ),
    "NaN under a function": (
        evaluate(with_value(np.nan), distance=lambda x, y: ((x[:, None] - y) ** 2).sum(2)),
        r"embeddings must be finite numbers, and row 3 holds nan",
    ),
    "a function that returns NaN": (
        evaluate(distance=lambda x, y: np.full((len(x), len(y)), np.nan)),
        r"distance function returned nan for query 0 and gallery item 0",
    ),
    "a function of integers beyond float64": (
        evaluate(distance=lambda x, y: np.full((len(x), len(y)), 2**60)),
        r"integers beyond 2\^53 \(int64\)",
    ),
    "too few labels": (evaluate(labels=LABELS[:4]), r"4 labels for 6 embeddings"),
    "too many labels": (evaluate(labels=[*LABELS, 1]), r"7 labels for 6 embeddings"),
    "no labels": (evaluate(labels=None), r"either labels or relevance="),
    "labels and relevance": (evaluate(relevance=[(0, 1)]), r"either labels or relevance="),
    "float labels with NaN": (evaluate(labels=[0, 0, 1, np.nan, 2, 2]), r"row 3 holds nan"),
    "fractions as labels": (evaluate(labels=np.arange(6) / 2), r"row 1 holds 0.5"),
    "labels of 70 bits": (evaluate(labels=[2**70, 2**70, 1, 1, 2, 2]), r"at most 64 bits"),
    "labels of both signs beyond 63 bits": (evaluate(labels=[2**63, 2**63 + 1, -1, -1, 2, 2]), r"row 0 holds 9.2"),
    "floats too large to be labels": (evaluate(labels=np.full(6, 2.0**54)), r"row 0 holds 1.8"),
    "integers beside strings": (evaluate(labels=[1, "1", 2, 2, 3, 3]), r"hold int, str"),
    "labels that end in NUL": (evaluate(labels=["a", "a\0", "b", "b", "c", "c"]), r"ends in a NUL"),
    "bytes against strings": (
        evaluate(labels=[b"a"] * 6, gallery=GOOD, gallery_labels=["a"] * 6),
        r"labels of different types are never equal",
    ),
    "masked embeddings": (evaluate(np.ma.masked_equal(GOOD, 3.0)), r"embeddings have masked entries"),
    "masked labels": (evaluate(labels=np.ma.masked_equal(LABELS, 1)), r"labels have masked entries"),
    "lists of integers that become floats": (evaluate([[2**63 + 1, -1]] * 6), r"integers that float64 does not hold"),
    "groups in columns": (
        evaluate(groups=np.zeros((6, 2), int)),
        r"shape \(items,\), and arrived with shape \(6, 2\)",
    ),
    "measures of None": (evaluate(measures=None), r"must be a list of names"),
    "a policy in a list": (evaluate(empty=[]), r"Unknown empty=\[\]"),
    "everything excluded": (
        evaluate(labels=None, relevance=[(0, 1)], exclude=[(0, 1)]),
        r"relevant item that is not excluded",
    ),
    "labels of mixed types": (evaluate(labels=np.array([0, "a", 1, 1, 2, 2], dtype=object)), r"hold int, str"),
    "labels of None": (evaluate(labels=[None] * 6), r"hold NoneType"),
    "two label columns of classes": (evaluate(labels=np.full((6, 2), 7)), r"one 0/1 column per class"),
    "three-dimensional labels": (evaluate(labels=np.zeros((6, 2, 2))), r"shape \(6, 2, 2\)"),
    "one dimension": (evaluate(np.arange(6.0)), r"arrived with 1 dimension, shape \(6,\)"),
    "three dimensions": (evaluate(np.zeros((6, 2, 2))), r"arrived with 3 dimensions, shape \(6, 2, 2\)"),
    "a number": (evaluate(3.0), r"arrived with 0 dimensions"),
    "no rows": (evaluate(np.zeros((0, 2)), []), r"empty: shape \(0, 2\)"),
    "no columns": (evaluate(np.zeros((6, 0))), r"empty: shape \(6, 0\)"),
    "complex numbers": (evaluate(GOOD + 1j), r"real numbers, not complex128.*side by side"),
    "objects": (evaluate(np.array([[1, None]] * 6)), r"real numbers, not object"),
    "strings": (evaluate(np.full((6, 2), "1")), r"real numbers, not str"),
    "dates": (evaluate(np.zeros((6, 2), dtype="M8[s]")), r"real numbers, not datetime64"),
    "long doubles": (evaluate(GOOD.astype(np.longdouble)), r"at most 64 bits"),
    "ragged rows": (evaluate([[1.0], [1.0, 2.0]], [0, 0]), r"rows of equal length"),
    "a gallery of another width": (
        evaluate(gallery=np.zeros((4, 3)), gallery_labels=[0, 1, 2, 3]),
        r"queries have 2 dimensions and the gallery has 3",
    ),
    "a gallery without labels": (evaluate(gallery=GOOD), r"without gallery_labels"),
    "gallery labels without a gallery": (evaluate(gallery_labels=LABELS), r"without a gallery"),
    "strings against integers": (
        evaluate(gallery=GOOD, gallery_labels=["a"] * 6),
        r"labels of different types are never equal",
    ),
    "columns against labels": (evaluate(gallery=GOOD, gallery_labels=np.eye(6, dtype=int)), r"shape \(6,\)"),
    "groups without gallery_groups": (
        evaluate(gallery=GOOD, gallery_labels=LABELS, groups=LABELS),
        r"without gallery_groups",
    ),
    "too few groups": (evaluate(groups=[1]), r"1 groups for 6 queries"),
    "an excluded item that is not there": (evaluate(exclude=[(0, 6)]), r"names item 6, and there are 6"),
    "relevance out of range": (evaluate(labels=None, relevance=[(6, 0)]), r"names query 6"),
    "relevance named twice": (evaluate(labels=None, relevance=[(0, 1), (2, 3), (2, 3)]), r"item 3 twice for query 2"),
    "relevance of oneself": (evaluate(labels=None, relevance=[(0, 1), (2, 2)]), r"names item 2 for itself"),
    "a grade of NaN": (evaluate(labels=None, relevance=[(0, 1, np.nan)]), r"row 0 holds nan"),
    "nothing relevant": (evaluate(labels=range(6)), r"No query has anything relevant"),
    "some with nothing relevant": (
        evaluate(labels=[0, 0, 1, 2, 3, 4], empty="error"),
        r"4 of 6 queries have nothing relevant, the first is query 2",
    ),
    "an unknown policy": (evaluate(empty="ignore"), r"Unknown empty='ignore'. Known: skip, zero"),
    "an unknown distance": (evaluate(distance="manhattan"), r"Unknown distance 'manhattan'. Known.*cityblock"),
    "a distance that is no name": (evaluate(distance=3), r"name or a function, not int"),
    "an unknown measure": (evaluate(measures=["Precison@3"]), r"unknown measure 'Precison@3'"),
    "a cutoff of zero": (evaluate(measures=["P@0"]), r"cutoff of 'P@0' must be a whole number of at least 1"),
    "no measure": (evaluate(measures=[]), r"No measure was asked for"),
    "memory in parsecs": (evaluate(memory="12 parsecs"), r"not '12 parsecs'"),
    "no memory": (evaluate(memory=0), r"not 0"),
    "no threads": (evaluate(threads=0), r"at least 1, not 0"),
    "Hamming of floats": (evaluate(distance="hamming"), r"takes bool arrays.*float64.*x > 0"),
    "Hamming of bytes without bits": (evaluate(np.zeros((6, 2), np.uint8), distance="hamming"), r"with bits="),
    "too many bits": (
        evaluate(np.zeros((6, 2), np.uint8), distance="hamming", bits=17),
        r"9 to 16 bits, and bits=17",
    ),
    "bits set beyond the code": (
        evaluate(np.full((6, 2), 255, np.uint8), distance="hamming", bits=15),
        r"bits set beyond bits=15",
    ),
    "bits without Hamming": (evaluate(bits=8), r"belongs to distance='hamming'"),
    "a distance function of the wrong shape": (
        evaluate(distance=lambda x, y: np.zeros(3)),
        r"returned the shape \(3,\) for 6 queries and 6 gallery items",
    ),
    "integers that no common type holds": (
        evaluate(
            np.full((6, 2), 2**63, np.uint64), gallery=np.full((6, 2), -1), gallery_labels=LABELS, distance="dot"
        ),
        r"uint64 and the gallery is int64.*2\^53",
    ),
    "scores of NaN": (
        lambda: tp.evaluate_scores([[1.0, np.nan]], [[0, 1]]),
        r"query 0 holds nan at item 1",
    ),
    "a relevance of NaN": (lambda: tp.evaluate_scores([[1.0, 2.0]], [[0, np.nan]]), r"query 0 holds nan at item 1"),
    "scores without relevance": (lambda: tp.evaluate_scores([[1.0, 2.0]], [[0]]), r"2 scores and 1 relevance"),
    "scores for fewer queries": (lambda: tp.evaluate_scores([[1.0]], [[0], [1]]), r"for 1 queries and.*for 2"),
    "no scores": (lambda: tp.evaluate_scores([], []), r"At least one query"),
    "scores in three dimensions": (lambda: tp.evaluate_scores(np.zeros((1, 2, 3)), []), r"shape \(1, 2, 3\)"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    call, text = CASES[name]
    with pytest.raises(tp.InputError) as caught:
        call()
    assert re.search(text, str(caught.value)), str(caught.value)
    assert "\n" not in str(caught.value)
