"""Items of several vectors: exact orders, the same bits in any order, and one vector per item as dot products."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import maxsim_oracle
import tieproof as tp
from exact_oracle import average_precision
from hard_sets import HARD_SETS, Array, Random
from tieproof.distances.exact import rows
from tieproof.engine import plan

pytestmark = pytest.mark.filterwarnings("ignore:.* of which every bit is set about half of the time")

both = pytest.mark.parametrize("distance", maxsim_oracle.SCORES)
SEVERAL = ("gaussian float32", "0.1, 0.2, 0.3 float64", "one ulp apart float32", "int8 few values", "negative zeros")


def as_items(random: Random, vectors: Array, count: int) -> tp.MultiVectors:
    """Items with all of these vectors, of which some are others with their vectors in another order, or twice."""
    ends = np.sort(random.choice(np.arange(1, len(vectors)), count - 1, replace=False))
    items = np.split(vectors, ends)
    for place in random.choice(count, count // 3, replace=False):
        other = items[random.integers(count)]
        items[place] = other[random.permutation(np.append(np.arange(len(other)), random.integers(len(other))))]
        if random.random() < 0.5:
            items[place] = other[::-1]
    return tp.MultiVectors(np.concatenate(items), np.cumsum([0, *map(len, items)]))


def keys_of(distance: str, queries: tp.MultiVectors, gallery: tp.MultiVectors) -> list[list[Fraction]]:
    score = maxsim_oracle.SCORES[distance]
    own, others = (maxsim_oracle.items_of(side.vectors, side.offsets.tolist()) for side in (queries, gallery))
    return [[score(query, item) for item in others] for query in own]


def as_ranks(keys: Sequence[Sequence[Fraction]]) -> Array:
    """Scores in float64 with the same order for each query: the place of each key among those of its query."""
    return np.array([[sorted(set(row)).index(key) for key in row] for row in keys], dtype=np.float64)


def labels_of(random: Random, count: int, classes: int) -> Array:
    labels = random.integers(0, classes, size=count)
    labels[:2] = 0
    return labels


def close(found: Any, expected: Sequence[Fraction]) -> bool:
    values = (found.lower, found.expected, found.upper)
    return all(abs(Fraction(a) - b) <= Fraction(1, 10**12) * b for a, b in zip(values, expected, strict=True))


@pytest.mark.few(8)
@both
@pytest.mark.parametrize("name", HARD_SETS)
def test_leave_one_out(name: str, distance: str) -> None:
    for seed in range(2):
        random = np.random.default_rng(seed)
        items = as_items(random, HARD_SETS[name](random, (27, 4)), 10)
        labels = labels_of(random, len(items), 3 - seed)
        values = []
        for query, keys in enumerate(keys_of(distance, items, items)):
            others = [item for item in range(len(items)) if item != query]
            relevant = [bool(labels[item] == labels[query]) for item in others]
            if any(relevant):
                values.append(average_precision([keys[item] for item in others], relevant))
        means = [sum(column, Fraction(0)) / len(values) for column in zip(*values, strict=True)]
        assert close(tp.evaluate(items, labels, distance=distance, measures=["AP"])["AP"], means)


@pytest.mark.few(8)
@both
@pytest.mark.parametrize("name", HARD_SETS)
def test_all_measures_with_a_gallery_groups_and_excluded_pairs(name: str, distance: str) -> None:
    random = np.random.default_rng(5)
    vectors = HARD_SETS[name](random, (48, 3))
    queries, gallery = as_items(random, vectors[:12], 5), as_items(random, vectors[12:], 14)
    labels, gallery_labels = labels_of(random, 5, 2), labels_of(random, 14, 2)
    groups, gallery_groups = random.integers(3, size=5), random.integers(3, size=14)
    exclude = [(1, 3), (4, 0)]
    relevance = (labels[:, None] == gallery_labels).astype(np.int64)
    relevance[(relevance == 1) & (groups[:, None] == gallery_groups)] = -1
    for pair in exclude:
        relevance[pair] = -1
    expected = tp.evaluate_scores(as_ranks(keys_of(distance, queries, gallery)), relevance)
    found = tp.evaluate(
        queries,
        labels,
        gallery=gallery,
        gallery_labels=gallery_labels,
        distance=distance,
        groups=groups,
        gallery_groups=gallery_groups,
        exclude=exclude,
    )
    assert found.to_dict()["measures"] == expected.to_dict()["measures"]


@pytest.mark.few(8)
@both
@pytest.mark.parametrize("k", [1, 3, 40])
@pytest.mark.parametrize("name", HARD_SETS)
def test_nearest(name: str, k: int, distance: str) -> None:
    random = np.random.default_rng(k)
    vectors = HARD_SETS[name](random, (40, 3))
    queries, gallery = as_items(random, vectors[:10], 4), as_items(random, vectors[10:], 12)
    for own, items in ((queries, gallery), (gallery, None)):
        keys = keys_of(distance, own, gallery)
        try:
            expected = [[float(-key) for key in row] for row in keys]
        except OverflowError:
            continue  # distances beyond float64, whose order other tests compare
        found = tp.nearest(own, items, k=k, distance=distance)
        for query, row in enumerate(keys):
            others = [item for item in range(len(row)) if items is not None or item != query]
            ranking = sorted(others, key=lambda item: (-row[item], item))[:k]
            last = row[ranking[-1]]
            assert found.ids[query].tolist() == ranking + [-1] * (k - len(ranking))
            assert found.distances[query, : len(ranking)].tolist() == [expected[query][item] for item in ranking]
            assert found.tie(query).tolist() == [item for item in others if row[item] == last]


@pytest.mark.few(8)
@both
@pytest.mark.parametrize("name", HARD_SETS)
def test_one_vector_per_item_is_the_dot_product(name: str, distance: str) -> None:
    random = np.random.default_rng(3)
    data, labels = HARD_SETS[name](random, (30, 5)), labels_of(random, 30, 4)
    items = tp.MultiVectors(data, np.arange(31))
    data[4] = 0
    expected, found = tp.evaluate(data, labels, distance="dot"), tp.evaluate(items, labels, distance=distance)
    assert found.to_dict()["measures"] == expected.to_dict()["measures"]
    assert found.ties == expected.ties


def data_of(name: str) -> tuple[list[Array], Array]:
    random = np.random.default_rng(11)
    items = as_items(random, HARD_SETS[name](random, (130, 4)), 40)
    return [items[i : i + 1].vectors for i in range(40)], random.integers(0, 5, size=40)


@both
@pytest.mark.parametrize("name", SEVERAL)
def test_order_of_items_vectors_and_dimensions(name: str, distance: str) -> None:
    items, labels = data_of(name)
    expected = tp.evaluate(items, labels, distance=distance).to_json()
    for seed in range(3):
        random = np.random.default_rng(seed)
        order, dimensions = random.permutation(len(items)), random.permutation(4)
        permuted = [random.permutation(items[i])[:, dimensions] for i in order]
        assert tp.evaluate(permuted, labels[order], distance=distance).to_json() == expected


@pytest.mark.few(2)
@both
@pytest.mark.parametrize("name", SEVERAL)
def test_threads_memory_tiles_and_types(name: str, distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    items, labels = data_of(name)
    queries, own = items[:20], labels[:20]

    def run(**options: Any) -> list[Any]:
        alone = tp.evaluate(items, labels, distance=distance, **options)
        of_gallery = tp.evaluate(
            queries, own, gallery=items[20:], gallery_labels=labels[20:], distance=distance, **options
        )
        near = tp.nearest(queries, items[20:], k=5, distance=distance, **options)
        return [alone.to_json(), of_gallery.to_json(), near.ids.tolist(), near.distances.tolist()]

    expected = run(threads=1)
    for threads, memory in ((1, "1KiB"), (2, "32MiB"), (3, "4GiB")):
        assert run(threads=threads, memory=memory) == expected
    monkeypatch.setattr(plan, "FEW_PAIRS", 0)
    monkeypatch.setattr(plan, "SMALLEST_SIDE", 7)
    monkeypatch.setattr(plan, "FEWEST_ENCODED", (1, 1))
    for side, dtype, chunk in ((7, np.int8, 99), (13, np.float32, 2), (99, np.float64, 99), (7, np.float32, 99)):
        monkeypatch.setattr(plan, "LARGEST_SIDE", side)
        monkeypatch.setattr(plan, "CHOICES", (plan.TileChoice(dtype, chunk, -1.0),))
        assert run(threads=2, memory="8MiB") == expected, (side, dtype)
    monkeypatch.setattr(rows, "LARGEST_INTEGER", 0.0)
    assert run() == expected


@both
def test_equal_sets_are_equal_items_but_not_equal_queries(distance: str) -> None:
    one, two = [1.0, 0.0], [0.0, 1.0]
    items = [np.array(item) for item in ([one, two], [two, one, one], [two, one, two], [one])]
    found = tp.nearest(items, k=3, distance=distance)
    assert found.duplicates == 2  # three items have the same set of vectors
    scores = [[2, 2, 1], [3, 3, 2], [3, 3, 1], [1, 1, 1]]
    length = [len(item) if distance == "meanmaxsim" else 1 for item in items]
    assert found.distances.tolist() == [[-s / n for s in row] for row, n in zip(scores, length, strict=True)]


@pytest.mark.parametrize(
    "given",
    [
        lambda items: items,
        lambda items: [items[i : i + 1].vectors for i in range(len(items))],
        lambda items: np.array([items[i : i + 1].vectors for i in range(len(items))], dtype=object),
        lambda items: tp.MultiVectors(items.vectors.tolist(), items.offsets.tolist()),
        lambda items: tp.MultiVectors.padded(*in_columns(items)),
    ],
)
def test_forms_of_the_same_items(given: Callable[[tp.MultiVectors], Any]) -> None:
    random = np.random.default_rng(1)
    items = as_items(random, random.normal(size=(40, 6)), 12)
    labels = random.integers(3, size=12)
    expected = tp.evaluate(items, labels, distance="maxsim").to_json()
    assert tp.evaluate(given(items), labels, distance="maxsim").to_json() == expected


def in_columns(items: tp.MultiVectors) -> tuple[Array, Array]:
    """The items padded by NaN, and their mask."""
    mask = np.arange(items.lengths.max()) < items.lengths[:, None]
    padded = np.full((*mask.shape, items.shape[1]), np.nan)
    padded[mask] = items.vectors
    return padded, mask


def test_queries_and_gallery_of_other_types() -> None:
    random = np.random.default_rng(5)
    queries = as_items(random, random.integers(-3, 4, size=(14, 5)).astype(np.int8), 6)
    gallery = as_items(random, (random.integers(-3, 4, size=(30, 5)) * 0.1).astype(np.float32), 12)
    labels, gallery_labels = labels_of(random, 6, 3), labels_of(random, 12, 3)
    relevance = labels[:, None] == gallery_labels
    assert queries[5].same_as(queries[5:])
    expected = tp.evaluate_scores(as_ranks(keys_of("maxsim", queries, gallery)), relevance.astype(np.int64))
    found = tp.evaluate(queries, labels, gallery=gallery, gallery_labels=gallery_labels, distance="maxsim")
    assert found.to_dict()["measures"] == expected.to_dict()["measures"]


def test_warnings_of_copies() -> None:
    random = np.random.default_rng(2)
    items = as_items(random, random.normal(size=(40, 6)), 12)
    labels = np.arange(12) % 3
    with pytest.warns(tp.InputWarning, match="The gallery is equal to the queries"):
        tp.evaluate(items, labels, gallery=items, gallery_labels=labels, distance="maxsim")
    with pytest.warns(tp.InputWarning, match="queries are in the gallery, too"):
        tp.evaluate(items[2:9], labels[2:9], gallery=items, gallery_labels=labels, distance="maxsim")


@both
def test_batches(distance: str) -> None:
    items, labels = data_of("gaussian float32")
    expected = tp.evaluate(items, labels, distance=distance)
    evaluator = tp.Evaluator(distance=distance)
    order = np.random.default_rng(1).permutation(len(items))
    for part in (order[:7], order[5:30], order[30:]):  # two items come twice
        evaluator.update([items[i] for i in part], labels[part], indices=part)
    assert evaluator.compute().to_json() == expected.to_json()
    evaluator.update([items[order[0]] + 1], labels[order[:1]], indices=order[:1])
    with pytest.raises(tp.InputError, match=f"Index {order[0]} was given twice, with different embeddings"):
        evaluator.compute()
