"""Sparse rows: exact orders, the same bits as dense rows and in any order, from any form of the rows."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from exact_oracle import average_precision
from hard_sets import HARD_SETS, Array, Random
from tieproof.distances.exact import terms
from tieproof.engine import plan

sparse = pytest.importorskip("scipy.sparse")

pytestmark = [
    pytest.mark.filterwarnings("ignore::tieproof.InputWarning"),
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning"),
]

DISTANCES = ("dot", "cosine", "euclidean", "sqeuclidean")
every = pytest.mark.parametrize("distance", DISTANCES)
sets = pytest.mark.parametrize("name", HARD_SETS)


def with_zeros(random: Random, name: str, shape: tuple[int, int] = (26, 7)) -> Array:
    """Rows of a hard set, of which most entries are zero, some rows, and some are equal."""
    rows = HARD_SETS[name](random, shape)
    rows = np.where(random.random(shape) < 0.4, rows, np.zeros_like(rows))
    rows[random.integers(len(rows), size=4)] = rows[random.integers(len(rows), size=4)]
    return rows.astype(np.float32) if rows.dtype == np.float16 else rows


def as_dictionaries(rows: Array) -> list[dict[Any, Any]]:
    return [{f"term {at}": row[at] for at in np.flatnonzero(row)[::-1].tolist()} for row in rows]


def is_too_large(rows: Array) -> bool:
    return rows.dtype.kind in "iu" and max(abs(number) for number in rows.ravel().tolist()) > 2**53


def outcome(embeddings: Any, labels: Array, **options: Any) -> Any:
    return tp.evaluate(embeddings, labels, empty="zero", **options).to_flat_dict()


@pytest.mark.few(8)
@every
@sets
def test_the_same_bits_as_dense_rows(name: str, distance: str) -> None:
    random = np.random.default_rng(3)
    rows, labels = with_zeros(random, name), random.integers(0, 3, 26)
    own: dict[str, Any] = {"distance": distance}
    whole = sparse.csr_array(rows)
    if is_too_large(rows):
        with pytest.raises(tp.InputError, match=r"beyond 2\*\*53"):
            tp.evaluate(whole, labels, **own)
        return
    assert outcome(whole, labels, **own) == outcome(rows, labels, **own)
    given = {"gallery_labels": labels[8:], "groups": labels[:8] % 2, "gallery_groups": labels[8:] % 2} | own
    dense = outcome(rows[:8], labels[:8], gallery=rows[8:], **given)
    assert outcome(whole[:8], labels[:8], gallery=whole[8:], **given) == dense
    for k in (1, 4, 18):
        found, expected = (tp.nearest(side[:8], side[8:], k=k, distance=distance) for side in (whole, rows))
        assert found.to_json() == expected.to_json()
        np.testing.assert_array_equal(found.distances, expected.distances)


def product(x: Mapping[int, Fraction], y: Mapping[int, Fraction]) -> Fraction:
    return sum((value * y[term] for term, value in x.items() if term in y), Fraction(0))


@sets
def test_products_of_fractions(name: str) -> None:
    random = np.random.default_rng(4)
    rows, labels = with_zeros(random, name, (14, 6)), random.integers(0, 2, 14)
    if is_too_large(rows):
        return
    exact = [{at: Fraction(row[at].item()) for at in np.flatnonzero(row).tolist()} for row in rows]
    values = []
    for query, x in enumerate(exact):
        others = [item for item in range(14) if item != query]
        relevant = [bool(labels[item] == labels[query]) for item in others]
        values.append(average_precision([product(x, exact[item]) for item in others], relevant))
    found = tp.evaluate(sparse.csr_array(rows), labels, distance="dot", measures=["AP"])["AP"]
    for place, bound in enumerate((found.lower, found.expected, found.upper)):
        mean = sum((value[place] for value in values), Fraction(0)) / 14
        assert abs(Fraction(bound) - mean) <= Fraction(1, 10**12)


@pytest.mark.heavy
@every
def test_forms_of_the_same_rows(distance: str) -> None:
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(5)
    rows = (random.random((30, 12)) * (random.random((30, 12)) < 0.3)).astype(np.float32)
    labels = random.integers(0, 3, 30)
    expected = outcome(rows, labels, distance=distance)
    whole = sparse.csr_array(rows)
    unsorted = sparse.csr_array((whole.data[::-1], whole.indices[::-1], whole.nnz - whole.indptr[::-1]), whole.shape)
    forms = {
        "csc": sparse.csc_matrix(rows),
        "coo": sparse.coo_array(rows),
        "explicit zeros": sparse.csr_array((np.zeros(5, np.float32), (range(5), range(5))), rows.shape) + whole,
        "torch coo": torch.tensor(rows).to_sparse(),
        "torch csr": torch.tensor(rows).to_sparse_csr(),
        "dictionaries": as_dictionaries(rows),
    }
    for name, form in forms.items():
        assert outcome(form, labels, distance=distance) == expected, name
    assert outcome(unsorted, labels[::-1], distance=distance) == expected
    order = random.permutation(12)
    assert outcome(sparse.csr_array(rows[:, order]), labels, distance=distance) == expected


@every
def test_any_tile_memory_and_thread(distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(6)
    rows = (random.integers(1, 4, (300, 60)) * random.random((300, 60)).round(1)).astype(np.float32)
    rows *= random.random((300, 60)) < 0.05
    labels, whole = random.integers(0, 40, 300), sparse.csr_array(rows)
    expected = outcome(rows, labels, distance=distance)
    assert outcome(whole, labels, distance=distance) == expected
    assert outcome(whole, labels, distance=distance, memory="1MiB", threads=3) == expected
    monkeypatch.setattr(plan, "FEW_PAIRS", 0)
    for most, frequent in ((1, 1), (1, 1000), (2**20, 10**6)):
        monkeypatch.setattr(terms, "MOST_COUNTED", most)
        monkeypatch.setattr(terms, "FREQUENT", frequent)
        assert outcome(whole, labels, distance=distance) == expected
        two = {"gallery_labels": labels[50:], "distance": distance}
        dense = outcome(rows[:50], labels[:50], gallery=rows[50:], **two)
        assert outcome(whole[:50], labels[:50], gallery=whole[50:], **two) == dense


def test_no_dimension_costs_memory() -> None:
    rows = sparse.csr_array((np.ones(60, np.float32), (np.arange(60) // 2, np.arange(60) * 10**7)), (30, 2**31 - 1))
    result = tp.evaluate(rows, np.arange(30) % 3, distance="dot", measures=["AP"])
    assert result["AP"].upper == 1.0
    assert result.ties.largest_tie == 29


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "cityblock": ({"distance": "cityblock"}, "takes no sparse rows. Pass one of cosine, euclidean, sqeuclidean, dot"),
    "function": ({"distance": lambda x, y: x @ y.T}, "takes no sparse rows"),
    "precision": ({"precision": "float16"}, "precision takes no sparse rows"),
    "noise": ({"noise": 0.1}, "noise cannot be combined with sparse rows"),
    "dense": ({"gallery": np.eye(5), "gallery_labels": range(5)}, "must both be sparse, or both be dense"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    options, words = REFUSED[case]
    with pytest.raises(tp.InputError, match=words):
        tp.evaluate(sparse.eye_array(5, format="csr"), range(5), **options)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (lambda: [sparse.csr_array(np.array([[0.0, np.nan], [1, 0]]))], "row 0 contains nan"),
        (lambda: [sparse.coo_array((np.ones(3), ([0, 0, 1], [1, 1, 0])), (2, 2))], "two entries of one dimension"),
        (lambda: [sparse.csr_array((np.ones(2), np.array([1, 1]), np.array([0, 2, 2])), (2, 2))], "two entries"),
        (lambda: [sparse.csr_array(np.eye(2, dtype=complex))], "not complex128"),
        (lambda: [sparse.csr_array(np.array([[2**53 + 1], [1]]))], r"no integers beyond 2\*\*53"),
        (lambda: [sparse.coo_array(np.ones(2))], r"a matrix of single entries, .* the shape \(2,\)"),
        pytest.param(
            lambda: [pytest.importorskip("torch").eye(2).to_sparse(1)],
            "without blocks and dense dimensions",
            marks=pytest.mark.heavy,
        ),
        pytest.param(
            lambda: [pytest.importorskip("torch").eye(2).to_sparse_bsr((1, 1))],
            "not .* of the layout sparse_bsr",
            marks=pytest.mark.heavy,
        ),
        (lambda: [[sparse.csr_array(np.eye(2))[[row]] for row in range(2)]], r"one matrix of all rows \(scipy"),
        (lambda: ([{"a": 1.0}], sparse.eye_array(5, format="csr")), "Only one side is dictionaries"),
        (lambda: ([{"a": 1.0}], [{1: 1.0}] * 5), "all strings or all integers, on both sides"),
        (lambda: ([{None: 1.0}], [{1: 1.0}] * 5), "all strings or all integers"),
        (lambda: ([{"a": 2**53 + 1, "b": 0.5}], [{"a": 1}] * 5), "float64 cannot represent"),
    ],
)
def test_rows_that_are_refused(rows: Any, words: str) -> None:
    with pytest.raises(tp.InputError, match=words):
        tp.nearest(*rows(), distance="dot")


@every
@pytest.mark.parametrize("form", [sparse.csr_array, as_dictionaries])
def test_the_same_from_other_calls(form: Any, distance: str) -> None:
    random = np.random.default_rng(7)
    rows, labels = with_zeros(random, "0.1, 0.2, 0.3 float32"), random.integers(0, 3, 26)
    more: dict[str, Any] = {"distance": distance}
    both = rows, form(rows)
    dense, whole = (tp.collisions(each, labels, epsilon=0.01, **more).to_json() for each in both)
    assert whole == dense
    found = np.tile([3, 4, 9], (26, 1))
    dense, whole = (
        tp.neighbor_recall(found, queries=each, gallery=each, k=[1, 3], **more).to_json() for each in both
    )
    assert whole == dense


@pytest.mark.parametrize("form", [sparse.csr_array, as_dictionaries])
def test_batches(form: Any) -> None:
    rows, labels = with_zeros(np.random.default_rng(8), "0.1, 0.2, 0.3 float32"), np.arange(26) % 3
    one, other = tp.Evaluator(distance="dot"), tp.Evaluator(distance="dot")
    one.update(form(rows[:10]), labels[:10], np.arange(10))
    other.update(form(rows[5:]), labels[5:], np.arange(5, 26))  # five items are given twice
    one.merge(other)
    assert one.compute().to_flat_dict() == outcome(rows, labels, distance="dot")
    one.update(form(rows[6:8]), labels[5:7], [5, 6])
    with pytest.raises(tp.InputError, match="Index 5 was given twice, with different embeddings"):
        one.compute()


def test_broken_matrices() -> None:
    broken = sparse.csr_array(np.eye(3))
    broken.indptr = np.array([0, 2, 1, 3])
    with pytest.raises(tp.InputError, match="where rows start, terms and weights contradict"):
        tp.nearest(broken, k=1)
    assert tp.nearest([{0: 2**53}] * 2, k=1, distance="dot").distances[0, 0] == -(2.0**106)  # not beyond 2**53
