"""Rankings given as numbers with labels instead of relevance, and transposed matrices."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import tieproof as tp

Array = npt.NDArray[Any]

MEASURES = ["AP", "P@1", "R@3", "RR", "nDCG", "AUC", "Rprec"]
EVALUATE: list[Callable[..., tp.Result]] = [tp.evaluate_scores, tp.evaluate_distances]


def matrix(queries: int, items: int, seed: int) -> Array:
    return np.random.default_rng(seed).integers(0, 4, (queries, items)).astype(float)


def labels_of(kind: str, count: int, seed: int) -> Any:
    random = np.random.default_rng(seed)
    if kind == "columns":
        return random.integers(0, 2, (count, 3))
    whole = random.integers(0, 3, count)
    return {"integers": whole, "list": whole.tolist(), "strings": np.array(["cat", "dog", "owl"])[whole]}[kind]


def relevance_of(own: Any, others: Any) -> Array:
    """1 where an item has the query's label, or shares one, from the definition."""
    return np.array(
        [
            [int(bool(np.any(np.logical_and(a, b))) if np.ndim(a) else a == b) for b in np.asarray(others)]
            for a in np.asarray(own)
        ]
    )


@pytest.mark.parametrize("evaluate", EVALUATE)
@pytest.mark.parametrize("kind", ["integers", "list", "strings", "columns"])
def test_labels_are_the_relevance_matrix_that_they_make(evaluate: Callable[..., tp.Result], kind: str) -> None:
    for seed in range(5):
        values, own = matrix(12, 12, seed), labels_of(kind, 12, seed)
        relevance = relevance_of(own, own)
        np.fill_diagonal(relevance, -1)
        expected = evaluate(values, relevance, measures=MEASURES)
        got = evaluate(values, labels=own, measures=MEASURES)
        assert got.to_json() == expected.to_json()
        assert all((got.per_query(name).lower == expected.per_query(name).lower).all() for name in MEASURES)
        assert evaluate(values.tolist(), labels=own, measures=MEASURES).to_json() == expected.to_json()
        # The diagonal is excluded by its index, whatever its values are.
        np.fill_diagonal(values, 99.0 if seed % 2 else -99.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tp.InputWarning)  # such a diagonal looks reversed
            assert evaluate(values, labels=own, measures=MEASURES).to_json() == expected.to_json()

        wide, others = matrix(7, 15, seed), labels_of(kind, 15, seed + 50)
        own = own[:7]
        expected = evaluate(wide, relevance_of(own, others), measures=MEASURES, empty="zero")
        got = evaluate(wide, labels=own, gallery_labels=others, measures=MEASURES, empty="zero")
        assert got.to_json() == expected.to_json()


def test_a_square_matrix_with_gallery_labels_keeps_its_diagonal() -> None:
    values = np.eye(3)
    own = [0, 1, 2]
    assert tp.evaluate_scores(values, labels=own, gallery_labels=own, measures=["P@1"])["P@1"].lower == 1.0
    with pytest.raises(tp.InputError, match="No query has a relevant item"):
        tp.evaluate_scores(values, labels=own)


def test_labels_give_what_embeddings_give() -> None:
    random = np.random.default_rng(4)
    vectors, labels = random.integers(-3, 4, (30, 2)), random.integers(0, 4, 30)
    distances = ((vectors[:, None] - vectors) ** 2).sum(2)
    measures = [name for name in MEASURES if name != "R@3"]
    expected = tp.evaluate(vectors, labels, distance="euclidean", measures=measures, average="macro").to_dict()
    got = tp.evaluate_distances(distances, labels=labels, measures=measures, average="macro").to_dict()
    assert got["measures"] == expected["measures"]
    assert got["categories"].keys() == expected["categories"].keys()
    assert got["ties"] == expected["ties"] | {"zero_vectors": 0}


def test_labels_in_blocks_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    values, labels = matrix(20, 20, 3), labels_of("integers", 20, 3)
    expected = tp.evaluate_scores(values, labels=labels, measures=MEASURES).to_json()
    monkeypatch.setattr("tieproof.inputs.lists.BLOCK_ENTRIES", 45)
    assert tp.evaluate_scores(values, labels=labels, measures=MEASURES).to_json() == expected


SQUARE = [[9.0, 2.0], [2.0, 9.0]]


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        (SQUARE, {}, "Pass either relevance or labels=, so that relevant items are known."),
        (
            SQUARE,
            {"labels": [0, 0], "relevance": SQUARE},
            "Pass either relevance or labels=, so that relevant items are known.",
        ),
        (
            SQUARE,
            {"gallery_labels": [0, 0], "relevance": SQUARE},
            "gallery_labels were passed without labels. Pass labels= too, or leave them out.",
        ),
        (
            [[1.0, 2.0, 3.0]] * 2,
            {"labels": [0, 0]},
            "The scores have the shape (2, 3), which is not square: labels alone are for leave-one-out, where the "
            "queries are the items. Pass gallery_labels= for the columns, too.",
        ),
        (
            [[1.0, 2.0], [3.0]],
            {"labels": [0, 0]},
            "The scores have rows of 1 to 2 items, but labels need a matrix, with one label for each column. Pass "
            "relevance for each list.",
        ),
        (
            SQUARE,
            {"labels": [0, 0], "n_relevant": 3},
            "n_relevant and n_items are for lists that were cut off, but labels are for whole rankings. Pass "
            "relevance with the lists, or leave n_relevant and n_items out.",
        ),
        (
            SQUARE,
            {"labels": [0, 0, 1]},
            "The number of labels is 3, but the number of queries is 2. Pass exactly one for each, in the "
            "same order.",
        ),
        (
            SQUARE,
            {"labels": [0, 0], "gallery_labels": [0]},
            "The number of gallery labels is 1, but the number of gallery items is 2. Pass exactly one for each, "
            "in the same order.",
        ),
    ],
)
def test_refused(values: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(tp.InputError) as error:
        tp.evaluate_scores(values, **options)
    assert str(error.value) == message


@pytest.mark.parametrize("scores", [[0.9, 0.5, 0.1], np.array([0.9, 0.5, 0.1]), (1, 2, 3)])
def test_one_dimension_is_refused_with_what_to_do(scores: Any) -> None:
    """Scores of several queries in one dimension, as some libraries expect them, would be ranked as one query."""
    with pytest.raises(tp.InputError) as error:
        tp.evaluate_scores(scores, [1, 0, 0])
    assert str(error.value) == (
        "The scores must be a matrix (queries, items) or a list of one-dimensional arrays, one for each query, not "
        "of the shape (3,). For a single query, pass a matrix of one row, [scores]."
    )
    with pytest.raises(tp.InputError, match=r"relevance must be .* shape \(3,\).*one row, \[relevance\]\."):
        tp.evaluate_distances([scores], [1, 0, 0])


# Similarities passed as distances, and distances passed as similarities


def clusters(seed: int, spread: float) -> tuple[Array, Array, Array]:
    """Cosine similarities and squared distances of points around three centers, and their labels."""
    random = np.random.default_rng(seed)
    labels = np.arange(24) % 3
    points = np.eye(3)[labels] + spread * random.standard_normal((24, 3))
    unit = points / np.linalg.norm(points, axis=1, keepdims=True)
    return unit @ unit.T, ((points[:, None] - points) ** 2).sum(2), labels


@pytest.mark.parametrize("spread", [0.1, 0.5])
def test_similarities_and_distances_exchanged_are_warned_about(spread: float) -> None:
    for seed in range(5):
        similarities, distances, labels = clusters(seed, spread)
        np.fill_diagonal(similarities, 1.0)  # which rounding may change slightly
        relevance = np.where(np.eye(24) > 0, -1, labels[:, None] == labels)
        truths: list[dict[str, Any]] = [{"labels": labels}, {"relevance": relevance}]
        for truth in truths:
            with pytest.warns(tp.InputWarning) as caught:
                tp.evaluate_distances(similarities, **truth)
            assert [str(one.message) for one in caught] == [
                "The distances rank every item of a square matrix farthest from itself, and relevant items farther "
                "than others on average: they are probably similarities. Pass similarities to evaluate_scores."
            ]
            assert caught[0].filename == __file__
            with pytest.warns(tp.InputWarning, match="they are probably distances. Pass distances to evaluate_dist"):
                tp.evaluate_scores(distances, **truth)


@pytest.mark.parametrize("fill", [None, -1.0, 0.0, 1e9, -1e9])
def test_matrices_that_are_right_are_not_warned_about(fill: float | None) -> None:
    """Also if the diagonal was filled in order to exclude it from the ranking."""
    for seed in range(5):
        similarities, distances, labels = clusters(seed, 0.3)
        for values, evaluate in zip((similarities, distances), EVALUATE, strict=True):
            if fill is not None:
                np.fill_diagonal(values, fill)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                evaluate(values, labels=labels)
                evaluate(np.zeros((24, 24)), labels=labels)


def test_matrices_whose_diagonal_counts_are_warned_about_too() -> None:
    """Every item is relevant to itself if all labels are compared with all labels."""
    for seed in range(5):
        similarities, distances, labels = clusters(seed, 0.3)
        np.fill_diagonal(similarities, 1.0)
        truths: list[dict[str, Any]] = [
            {"relevance": labels[:, None] == labels},
            {"labels": labels, "gallery_labels": labels},
        ]
        for truth in truths:
            with pytest.warns(tp.InputWarning, match="they are probably similarities"):
                tp.evaluate_distances(similarities, **truth)
            with pytest.warns(tp.InputWarning, match="they are probably distances"):
                tp.evaluate_scores(distances, **truth)


def test_a_diagonal_that_counts_may_be_farthest() -> None:
    """Also by chance in a few rows, if it was filled, or if it is relevant only in some rows."""
    similarities, distances, labels = clusters(0, 0.3)
    same = labels[:, None] == labels
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tp.evaluate_distances(similarities[:9, :9], same[:9, :9])
        tp.evaluate_distances(np.where(np.eye(24) > 0, 1e9, distances), same)
        tp.evaluate_scores(np.where(np.eye(24) > 0, -1.0, similarities), same)
        tp.evaluate_distances(similarities, np.where((np.eye(24) > 0) & (labels == 0), 0, same))
