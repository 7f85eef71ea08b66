"""The accuracy of a vote of nearest items, compared with enumerating every choice of tied items and tied classes."""

import zlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import knn_oracle
import tieproof as tp
from exact_oracle import fractions
from fnmr_oracle import DISTANCES, KEYS, distance
from hard_sets import HARD_SETS
from tieproof.analyses.neighbors.votes import FARTHEST, Rival, by_exponential, by_inverse, chances

pytestmark = pytest.mark.filterwarnings("ignore::tieproof.InputWarning")


def seeded(name: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(name.encode()))


Far = list[list[tuple[int, Fraction, float]]]
"""For each query, every item that may vote, with its key and its distance."""


def far_apart(name: str, train: Any, test: Any) -> Far:
    """The distances by their definition; without `test`, each item is a query for the others."""
    items = fractions(train)
    found: Far = []
    for query, row in enumerate(items if test is None else fractions(test)):
        keys = [
            (item, KEYS[name](row, items[item])) for item in range(len(items)) if test is not None or item != query
        ]
        found.append([(item, key, distance(name, key)) for item, key in keys])
    return found


def by_definition(
    far: Far, train_labels: Any, test_labels: Any, k: int, weights: Any
) -> list[tuple[Fraction, Fraction, Fraction]]:
    """The chances of each query."""
    found = []
    for voters, label in zip(far, train_labels if test_labels is None else test_labels, strict=True):
        items, keys, distances = zip(*voters, strict=True)
        found.append(knn_oracle.vote(keys, distances, [train_labels[item] for item in items], label, k, weights))
    return found


def assert_accuracy(result: tp.KnnAccuracy, expected: list[tuple[Fraction, Fraction, Fraction]]) -> None:
    lower, chance, upper = zip(*expected, strict=True)
    each = result.per_query
    assert each.lower.tolist() == [*map(float, lower)]
    assert each.expected.tolist() == [*map(float, chance)]
    assert each.upper.tolist() == [*map(float, upper)]
    assert each.std == pytest.approx([float(one * (1 - one)) ** 0.5 for one in chance], rel=1e-12)
    count = len(expected)
    means = [float(sum(values) / count) for values in (lower, chance, upper)]
    found = result.accuracy
    assert [found.lower, found.expected, found.upper] == pytest.approx(means, rel=1e-12)


@pytest.mark.few(8)
@pytest.mark.parametrize("name", HARD_SETS)
@pytest.mark.parametrize("called", DISTANCES)
def test_hard_data(called: str, name: str) -> None:
    random = seeded(called + name)
    rows, labels = HARD_SETS[name](random, (12, 4)), random.integers(0, 3, size=12)
    far = tp.nearest(rows, k=11, distance=called).distances
    with np.errstate(invalid="ignore"):  # infinite distances have no weights
        spread = float(np.nanmax(far) / 8 - np.nanmin(far) / 8)
    alone, beside = far_apart(called, rows, None), far_apart(called, rows[:8], rows[8:])
    for weights in (None, "distance", spread or 1.0):
        if weights is not None and (np.isinf(far).any() or (weights == "distance" and np.nanmin(far) < 0)):
            continue
        for k in (1, 4, 20):
            options: dict[str, Any] = {"k": k, "weights": weights, "distance": called}
            assert_accuracy(tp.knn_accuracy(rows, labels, **options), by_definition(alone, labels, None, k, weights))
            found = tp.knn_accuracy(rows[:8], labels[:8], rows[8:], labels[8:], **options)
            assert_accuracy(found, by_definition(beside, labels[:8], labels[8:], k, weights))


@pytest.mark.few(2)
@pytest.mark.parametrize("weights", [None, "distance", 0.5, 2])
def test_many_ties(weights: Any) -> None:
    """Small whole numbers, where ties at the cut and ties of votes come together."""
    for seed in range(12):
        random = np.random.default_rng(seed)
        train, test = random.integers(0, 3, size=(11, 2)), random.integers(0, 3, size=(6, 2))
        labels, own = random.integers(0, 4, size=11).astype(str), random.integers(0, 5, size=6).astype(str)
        for called in ("euclidean", "cityblock"):
            far = far_apart(called, train, test)
            for k in (1, 2, 5):
                result = tp.knn_accuracy(train, labels, test, own, k=k, weights=weights, distance=called)
                given = None if weights is None else weights if weights == "distance" else float(weights)
                assert_accuracy(result, by_definition(far, labels, own, k, given))


def test_bits() -> None:
    random = seeded("bits")
    codes, labels = random.random((14, 9)) < 0.5, random.integers(0, 3, size=14)
    result = tp.knn_accuracy(np.packbits(codes, axis=1), labels, k=3, distance="hamming", bits=9, weights="distance")
    assert_accuracy(result, by_definition(far_apart("hamming", codes, None), labels, None, 3, "distance"))
    assert result.left_open > 0


def test_equal_vectors() -> None:
    """Every item at the same distance: the chance of a class is that it wins among k items drawn without return."""
    labels = [0] * 600 + [1] * 400
    result = tp.knn_accuracy(np.zeros((1000, 2)), labels, np.zeros((2, 2)), [0, 1], k=101, distance="euclidean")
    assert result.per_query.lower.tolist() == [0, 0]
    assert result.per_query.upper.tolist() == [1, 1]
    assert result.per_query.expected.sum() == 1  # 101 votes for two classes are never level
    assert 0.97 < result.per_query.expected[0] < 0.99
    assert result.cut.all()


def test_many_classes_in_a_large_tie() -> None:
    """All classes have the same chance, whatever their number."""
    labels = np.arange(3000) % 300
    result = tp.knn_accuracy(np.ones((3000, 1)), labels, np.ones((5, 1)), np.arange(5), k=20)
    assert result.per_query.expected.tolist() == [1 / 300] * 5


def test_order_of_items_changes_nothing() -> None:
    random = seeded("order")
    rows, labels = random.integers(0, 3, size=(300, 4)), random.integers(0, 5, size=300)
    test, own = random.integers(0, 3, size=(50, 4)), random.integers(0, 5, size=50)
    for weights in (None, "distance", 0.3):
        found = tp.knn_accuracy(rows, labels, test, own, k=15, weights=weights, distance="euclidean")
        order = random.permutation(300)
        again = tp.knn_accuracy(
            rows[order],
            labels[order],
            test,
            own,
            k=15,
            weights=weights,
            distance="euclidean",
            memory="1MB",
            threads=2,
        )
        assert again.to_dict() == found.to_dict()
        assert all(np.array_equal(again.columns()[name], found.columns()[name]) for name in found.columns())


@pytest.mark.parametrize("weights", ["distance", 0.07])
def test_sums_of_weights_that_float64_can_not_tell_apart(weights: Any) -> None:
    """Two classes with the same distances in another order, and one of them an ulp nearer."""
    far = np.array([[0.1], [0.3], [0.7]])
    labels = [0, 0, 0, 1, 1, 1]
    options: dict[str, Any] = {"k": 6, "weights": weights, "distance": "euclidean"}
    level = tp.knn_accuracy(np.concatenate([far, -far[::-1]]), labels, [[0.0]], [0], **options)
    assert level.accuracy == tp.Estimate(0.0, 0.5, 1.0, 0.5)
    far[1] = np.nextafter(0.3, 0)
    ahead = tp.knn_accuracy(np.concatenate([far, [[-0.7], [-0.3], [-0.1]]]), labels, [[0.0]], [0], **options)
    assert ahead.accuracy == tp.Estimate(1.0, 1.0, 1.0, 0.0)


def test_leads_by_bound_and_exactly() -> None:
    """Leads are those of the definition for weights whose sums are whole numbers, or close to them."""
    near = np.nextafter(0.5, 1)
    assert by_inverse(np.array([0.5]), np.array([]), 1.0, 9) == 4
    assert by_inverse(np.array([near]), np.array([]), 1.0, 9) == 3
    assert by_inverse(np.array([]), np.array([near]), 1.0, 9) == -3
    assert by_inverse(np.array([5e-324]), np.array([1.0]), 1.0, 9) >= 19
    lead = by_exponential(1e-3)
    assert lead(np.array([0.5]), np.array([0.5]), 2.0, 9) == 0
    assert lead(np.array([0.5]), np.array([near]), 2.0, 9) == 19
    assert lead(np.array([0.5] * 2), np.array([0.5] * 2 + [1.0]), 1.0, 9) == -2
    assert lead(np.array([0.25]), np.array([]), 0.25, 9) == 2
    with pytest.raises(tp.InputError, match=r"temperature 1e-09 is too small.*such as 0\.07, or k=1"):
        by_exponential(1e-9)(np.array([0.5]), np.array([0.25]), 1.0, 9)
    assert by_exponential(1.0)(np.array([0.0]), np.array([]), float(FARTHEST), 9) == 19


def test_chances_of_rivals() -> None:
    assert chances(0, 0, ()) == (1, Fraction(1), 1)
    assert chances(2, 0, (Rival(3, 5),)) == (1, Fraction(1), 1)
    assert chances(2, 0, (Rival(3, 4),)) == (0, Fraction(1, 2), 1)
    assert chances(2, 0, (Rival(3, 3),)) == (0, Fraction(0), 0)
    assert chances(1, 0, (Rival(1, 2), Rival(1, 2), Rival(0, 0))) == (0, Fraction(1, 3), 1)


@pytest.mark.heavy
@pytest.mark.parametrize("weights", [None, "distance"])
def test_scikit_learn_lies_inside(weights: Any) -> None:
    from sklearn.neighbors import KNeighborsClassifier

    random = seeded("scikit-learn")
    train, labels = random.integers(0, 4, size=(300, 3)).astype(float), random.integers(0, 4, size=300)
    test, own = random.integers(0, 4, size=(80, 3)).astype(float), random.integers(0, 4, size=80)
    for k in (1, 4, 16, 300):
        model = KNeighborsClassifier(k, weights=weights or "uniform", algorithm="brute").fit(train, labels)
        right = model.predict(test) == own
        found = tp.knn_accuracy(train, labels, test, own, k=k, weights=weights, distance="euclidean").per_query
        assert (found.lower <= right).all()
        assert (right <= found.upper).all()


def dino(train: Any, labels: Any, test: Any, k: int, temperature: float) -> Any:
    """The classes that `knn_classifier` of DINO's eval_knn.py predicts (facebookresearch/dino, 2021)."""
    similarity = test @ train.T
    nearest = np.argsort(-similarity, axis=1, kind="stable")[:, :k]
    weights = np.exp(np.take_along_axis(similarity, nearest, axis=1) / temperature)
    votes = np.zeros((len(test), labels.max() + 1))
    for row, classes, weight in zip(votes, labels[nearest], weights, strict=True):
        np.add.at(row, classes, weight)
    return np.argsort(-votes, axis=1, kind="stable")


def test_the_formula_of_dino() -> None:
    random = seeded("dino")
    centers = random.normal(size=(6, 16))
    labels, own = random.integers(0, 6, size=400), random.integers(0, 6, size=120)
    train, test = (centers[each] + random.normal(size=(len(each), 16)) * 2 for each in (labels, own))
    train, test = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (train, test))
    for k in (10, 20, 100):
        found = tp.knn_accuracy(train, labels, test, own, k=k, weights=0.07)
        assert (found.per_query.lower == (dino(train, labels, test, k, 0.07)[:, 0] == own)).all()
        assert found.left_open == 0


def test_texts() -> None:
    result = tp.knn_accuracy([[0.0], [1.0], [1.0]], [4, 5, 4], [[1.0]], [4], k=1, distance="euclidean", weights=0.5)
    assert repr(result) == "<KnnAccuracy of 1 query: 0.0000 ≤ 0.5000 ≤ 1.0000 at k = 1>"
    assert "each vote weighs exp(-distance / 0.5)" in result.to_text(width=120)
    assert result.to_flat_dict() == {
        "knn_accuracy_at_1_lower": 0.0,
        "knn_accuracy_at_1_expected": 0.5,
        "knn_accuracy_at_1_upper": 1.0,
        "knn_accuracy_at_1_tie_std": 0.5,
    }
    assert result.to_dict() == {
        "k": 1,
        "weights": "exp(-distance / 0.5)",
        "distance": "euclidean",
        "queries": 1,
        "n_items": 3,
        "accuracy": {"lower": 0.0, "expected": 0.5, "upper": 1.0, "std": 0.5},
        "queries_left_open": 1,
        "queries_with_cut_ties": 1,
    }


def test_names_of_wrong_arguments() -> None:
    rows, labels = [[0.0], [1.0]], [0, 1]
    for given, argument in (
        (([[np.nan], [1.0]], labels, rows, labels), "train"),
        ((rows, labels, [[np.nan], [1.0]], labels), "test"),
        ((rows, labels, [[1.0, 2.0]], [0]), ("test", "train")),
        ((rows, [0, 0.5], rows, labels), "train_labels"),
        ((rows, labels, rows, [0]), ("test_labels", "test")),
        ((rows, [0]), ("train_labels", "train")),
        (([[np.nan], [1.0]], labels), "train"),
    ):
        with pytest.raises(tp.InputError) as caught:
            tp.knn_accuracy(*given)
        assert caught.value.argument == argument
