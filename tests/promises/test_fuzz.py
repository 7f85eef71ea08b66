"""Promises 1 and 3 on random data of every number type, size, kind of tie, shape, distance and call, in fractions.

`make fuzz` runs for as many minutes as given. It shrinks data that fails; add such data to `hard_sets.py`.
"""

import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fnmr_oracle as oracle
import maxsim_oracle
import tieproof as tp
from checks import assert_found, check_rates, expected_ties
from exact_oracle import KEYS, average_precision, fractions
from forced import FORCED, no_integers, small_tiles
from fuzzing import CASES, FEW, KINDS, Data, arrays, data_sets, fuzz, integer_rows, sizes
from hard_sets import Array
from nearest_oracle import duplicates, keys, nearest
from rounding_oracle import distance as real_distance
from rounding_oracle import rounded
from tieproof.engine import neighbors
from tieproof.inputs.options import FORMATS

pytestmark = pytest.mark.filterwarnings(
    "ignore::tieproof.InputWarning"
)  # random data may look like a mistake, and cause a warning

THREADS = st.sampled_from([1, 2, 3, 8])
BUDGETS = st.sampled_from(["1B", "1KiB", "1MiB", "1GiB"])


def assert_average_precision(result: tp.Result, data: Data, distances: list[list[Fraction]]) -> None:
    """AP of each query, from the order of its distances."""
    found = result.per_query("AP")
    values = dict(
        zip(result.query_ids.tolist(), zip(found.lower, found.expected, found.upper, strict=True), strict=True)
    )
    for query in range(len(data.labels)):
        of_query = [(distances[query][item], relevant) for row, item, relevant in data.counted() if row == query]
        if not any(relevant for _, relevant in of_query):
            assert query not in values
            continue
        expected = average_precision([-each for each, _ in of_query], [relevant for _, relevant in of_query])
        for value, exact in zip(values[query], expected, strict=True):
            assert abs(Fraction(float(value)) - exact) <= Fraction(1, 10**12) * exact


def true_distances(data: Data, distance: str) -> list[list[Fraction]]:
    """Numbers in the order of the distances of all queries to all items."""
    rows = fractions(data.rows)
    items = rows if data.gallery is None else fractions(data.gallery)
    return [[-KEYS[distance](row, item) for item in items] for row in rows]


def in_batches(data: Data, distance: str, draw: Any) -> str:
    """The result of `Evaluator`, which receives the items in batches in any order."""
    evaluator = tp.Evaluator(distance=distance, measures=["AP"])
    order = np.array(draw(st.permutations(range(len(data.rows)))))
    for batch in np.split(order, [draw(st.integers(1, len(order)))]):
        if len(batch):
            rows = data.kind.hand(data.rows[batch])
            evaluator.update(rows, [data.labels[item] for item in batch], indices=batch)
    return evaluator.compute().to_json()


@pytest.mark.parametrize("ladder", [False, True], ids=["integers first", "ladder"])
@pytest.mark.parametrize("distance", oracle.DISTANCES)
def test_evaluate(distance: str, ladder: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if ladder:
        no_integers(monkeypatch)

    @fuzz
    @given(data_sets(), st.sampled_from(list(FORCED)), THREADS, BUDGETS, st.data())
    def check(data: Data, forced: str, threads: int, memory: str, draw: st.DataObject) -> None:
        result = data.call(tp.evaluate, distance=distance, measures=["AP"])
        assert_average_precision(result, data, true_distances(data, distance))
        with monkeypatch.context() as patch:
            small_tiles(patch, 3)
            FORCED[forced](patch)
            again = data.call(tp.evaluate, distance=distance, measures=["AP"], threads=threads, memory=memory)
        assert again.to_json() == result.to_json()
        if data.gallery is None:
            assert in_batches(data, distance, draw.draw) == result.to_json()

    check()


def in_items(draw: Any, rows: Array, labels: list[int]) -> tuple[tp.MultiVectors, list[int]]:
    """The rows as vectors of items, each of consecutive rows, with the label of its first one."""
    starts = sorted(draw(st.sets(st.integers(0, len(rows) - 1))) | {0})
    return tp.MultiVectors(rows, [*starts, len(rows)]), [labels[start] for start in starts]


@pytest.mark.parametrize("distance", maxsim_oracle.SCORES)
def test_several_vectors(distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    score = maxsim_oracle.SCORES[distance]

    @fuzz
    @given(data_sets(), st.sampled_from(list(FORCED)), THREADS, BUDGETS, st.data())
    def check(data: Data, forced: str, threads: int, memory: str, draw: st.DataObject) -> None:
        queries, labels = in_items(draw.draw, data.rows, data.labels)
        options: dict[str, Any] = {"distance": distance, "measures": ["AP"]}
        data, items = data._replace(labels=labels), queries
        if data.gallery is not None and data.gallery_labels is not None:
            items, of_items = in_items(draw.draw, data.gallery, data.gallery_labels)
            data = data._replace(gallery_labels=of_items)
            options |= {"gallery": items, "gallery_labels": of_items}
        hypothesis.assume(any(relevant for _, _, relevant in data.counted()))
        own, others = (maxsim_oracle.items_of(side.vectors, side.offsets.tolist()) for side in (queries, items))
        result = tp.evaluate(queries, labels, **options)
        assert_average_precision(result, data, [[-score(query, item) for item in others] for query in own])
        with monkeypatch.context() as patch:
            small_tiles(patch, 3)
            FORCED[forced](patch)
            again = tp.evaluate(queries, labels, **options, threads=threads, memory=memory)
        assert again.to_json() == result.to_json()

    check()


def as_sparse(rows: Array, held: Array) -> Any:
    """The entries of rows that are held, as dictionaries or as a matrix, with terms in any order."""
    if held[0, 0]:
        return [
            {place: row[place].item() for place in np.flatnonzero(own)[::-1]}
            for row, own in zip(rows, held, strict=True)
        ]
    sparse = pytest.importorskip("scipy.sparse")
    columns, found = np.nonzero(held.T)
    values = rows[found, columns].astype(np.float32 if rows.dtype == np.float16 else rows.dtype)
    return sparse.coo_array((values, (found, columns)), rows.shape)


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "sqeuclidean", "dot"])
def test_sparse_rows(distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    @fuzz
    @given(data_sets(), st.integers(0, 2**32 - 1), st.sampled_from(list(FORCED)), THREADS, BUDGETS)
    def check(data: Data, seed: int, forced: str, threads: int, memory: str) -> None:
        hypothesis.assume(data.rows.dtype.itemsize < 8 or data.rows.dtype.kind == "f")  # exact in sparse rows
        random = np.random.default_rng(seed)
        options: dict[str, Any] = {"distance": distance, "measures": ["AP"]}
        share = random.random()
        held = random.random(data.rows.shape) < share
        given_rows = as_sparse(data.rows, held)
        data = data._replace(rows=np.where(held, data.rows, data.rows.dtype.type(0)))
        if data.gallery is not None:
            of_items = random.random(data.gallery.shape) < share
            of_items[0, 0] = held[0, 0]
            options |= {"gallery": as_sparse(data.gallery, of_items), "gallery_labels": data.gallery_labels}
            data = data._replace(gallery=np.where(of_items, data.gallery, data.gallery.dtype.type(0)))
        result = tp.evaluate(given_rows, data.labels, **options)
        assert_average_precision(result, data, true_distances(data, distance))
        with monkeypatch.context() as patch:
            small_tiles(patch, 3)
            FORCED[forced](patch)
            again = tp.evaluate(given_rows, data.labels, **options, threads=threads, memory=memory)
        assert again.to_json() == result.to_json()

    check()


@fuzz
@given(data_sets(["bool", "bools of Python"]), THREADS, BUDGETS)
def test_hamming(data: Data, threads: int, memory: str) -> None:
    result = data.call(tp.evaluate, distance="hamming", measures=["AP"], threads=threads, memory=memory)
    assert_average_precision(result, data, true_distances(data, "hamming"))


def left_out(data: Data, draw: Any) -> tuple[dict[str, Any], list[set[int]]]:
    """Groups and pairs that are left out, and the items that each query leaves out for them and for itself."""
    count = len(data.rows if data.gallery is None else data.gallery)
    groups = draw(st.none() | st.lists(st.integers(0, 2), min_size=len(data.rows), max_size=len(data.rows)))
    others = groups if data.gallery is None else draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    pair = st.tuples(st.integers(0, len(data.rows) - 1), st.integers(0, count - 1))
    pairs = draw(st.none() | st.lists(pair, min_size=1, max_size=8, unique=True))
    more: dict[str, Any] = {} if groups is None else {"groups": groups}
    if groups is not None and data.gallery is not None:
        more["gallery_groups"] = others
    if pairs is not None:
        more["exclude"] = pairs
    return more, [
        {
            item
            for item in range(count)
            if (data.gallery is None and item == query)
            or (groups is not None and groups[query] == others[item])
            or (pairs is not None and (query, item) in pairs)
        }
        for query in range(len(data.rows))
    ]


def few_kept(patch: pytest.MonkeyPatch) -> None:
    """There is room for few items, and finer keys raise the floors after each tile."""
    patch.setattr(neighbors, "ROOM", 1)
    patch.setattr(neighbors, "FEWEST", 1)
    patch.setattr(neighbors, "CROWDED", 0)
    patch.setattr(neighbors, "SHARPENED", 0)


@pytest.mark.parametrize("distance", [*oracle.DISTANCES, "hamming"])
def test_nearest(distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = ["bool", "bools of Python"] if distance == "hamming" else tuple(KINDS)

    @fuzz
    @given(data_sets(kinds), st.integers(1, 30), st.sampled_from(list(FORCED)), THREADS, BUDGETS, st.data())
    def check(data: Data, k: int, forced: str, threads: int, memory: str, draw: st.DataObject) -> None:
        more, without = left_out(data, draw.draw)
        hand: Callable[[Any], Any] = data.kind.hand
        if distance == "hamming" and draw.draw(st.booleans()):
            hand, more["bits"] = (lambda rows: np.packbits(rows, axis=1)), data.rows.shape[1]
        gallery = None if data.gallery is None else hand(data.gallery)
        with monkeypatch.context() as patch:
            if draw.draw(st.booleans()):
                no_integers(patch)
            if draw.draw(st.booleans()):
                few_kept(patch)
            patch.setattr(neighbors, "FEWEST_DIMENSIONS", draw.draw(st.sampled_from([0, 2**20])))
            small_tiles(patch, draw.draw(st.sampled_from([3, 20])))
            FORCED[forced](patch)
            found = tp.nearest(hand(data.rows), gallery, k, distance=distance, threads=threads, memory=memory, **more)
        rows = fractions(data.rows)
        items = rows if data.gallery is None else fractions(data.gallery)
        for query, row in enumerate(rows):
            expected = nearest(distance, keys(distance, row, items, without[query]), k)
            listed = len(expected.ids)
            assert found.ids[query].tolist() == expected.ids + [-1] * (k - listed)
            assert found.distances[query, :listed].tolist() == expected.distances
            assert (found.tie_starts[query], found.n_ties[query]) == (expected.tie_start, expected.n_ties)
            assert found.nearer[query].tolist() == expected.nearer + [-1] * (k - listed)
            assert found.tie(query).tolist() == expected.tie
        assert found.duplicates == duplicates(items)

    check()


def gaps(data: Data, distance: str) -> list[float]:
    """Gaps between neighbors in the rankings, in float64: exact, or nearly so."""
    found = {1.0}
    items = fractions(data.rows if data.gallery is None else data.gallery)
    for row in fractions(data.rows)[:3]:
        places = sorted(oracle.distance(distance, oracle.KEYS[distance](row, item)) for item in items)
        found |= {second - first for first, second in itertools.pairwise(places) if second - first < math.inf}
    return sorted(found)


@pytest.mark.parametrize("distance", oracle.DISTANCES)
def test_collisions(distance: str) -> None:
    @fuzz
    @given(data_sets(), THREADS, BUDGETS, st.data())
    def check(data: Data, threads: int, memory: str, draw: st.DataObject) -> None:
        gaps = sorted(
            {abs(float(each)) for row in true_distances(data, distance) for each in row if abs(each) < 2**1000}
        )
        usual = st.sampled_from([0.0, 5e-324, 1e-9, 0.5, 5.0, *gaps])
        epsilon = draw.draw(st.one_of(usual, st.floats(0, 1e300)))
        found = data.call(tp.collisions, distance=distance, epsilon=epsilon, threads=threads, memory=memory)
        gallery_labels = None if data.gallery_labels is None else np.array(data.gallery_labels)
        labels = np.array(data.labels)
        assert_found(found, expected_ties(distance, data.rows, labels, epsilon, data.gallery, gallery_labels))

    check()


@pytest.mark.parametrize("distance", oracle.DISTANCES)
def test_precision(distance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    @fuzz
    @given(data_sets(largest=6), st.sampled_from(list(FORMATS)), st.sampled_from(list(FORCED)), THREADS, BUDGETS)
    def check(data: Data, precision: str, forced: str, threads: int, memory: str) -> None:
        options = {"precision": precision, "threads": threads, "memory": memory}
        rows = fractions(data.rows)
        items = rows if data.gallery is None else fractions(data.gallery)
        expected = [[rounded(precision, real_distance(distance, x, y)) for y in items] for x in rows]
        with monkeypatch.context() as patch:
            no_integers(patch)
            small_tiles(patch, 3)
            FORCED[forced](patch)
            result = data.call(tp.evaluate, distance=distance, measures=["AP"], **options)
        assert_average_precision(result, data, expected)
        again = data.call(tp.evaluate, distance=distance, measures=["AP"], **options)
        assert again.to_json() == result.to_json()

    check()


@pytest.mark.parametrize("distance", oracle.DISTANCES)
def test_error_rates(distance: str) -> None:
    @fuzz
    @given(data_sets(largest=6), THREADS, BUDGETS)
    def check(data: Data, threads: int, memory: str) -> None:
        if {relevant for _, _, relevant in data.counted()} != {False, True}:
            return
        labels = {"labels": data.labels, "threads": threads, "memory": memory}
        if data.gallery is not None:
            labels["gallery_labels"] = data.gallery_labels
        check_rates(data.rows, distance, data.counted(), data.gallery, **labels)

    check()


@pytest.mark.parametrize("call", [tp.evaluate_scores, tp.evaluate_distances])
def test_given_scores(call: Any) -> None:
    @fuzz
    @given(st.sampled_from(list(KINDS)), st.data())
    def check(kind: str, draw: st.DataObject) -> None:
        scores = draw.draw(arrays(KINDS[kind], 3))
        count = scores.shape[1]
        relevance = [
            [1, *draw.draw(st.lists(st.integers(0, 1), min_size=count - 1, max_size=count - 1))] for _ in scores
        ]
        sign = 1 if call is tp.evaluate_scores else -1
        given_scores = KINDS[kind].hand(scores)
        found = call(given_scores, relevance, measures=["AP"]).per_query("AP")
        for query, row in enumerate(fractions(scores)):
            expected = average_precision([sign * each for each in row], [bool(each) for each in relevance[query]])
            values = (found.lower[query], found.expected[query], found.upper[query])
            for value, exact in zip(values, expected, strict=True):
                assert abs(Fraction(float(value)) - exact) <= Fraction(1, 10**12) * exact

    check()


# The same numbers in any type give the same result, which needs no oracle


@st.composite
def whole_numbers(draw: st.DrawFn) -> tuple[list[list[int]], list[str]]:
    """Rows of integers, and the types that represent them exactly."""
    kind = KINDS[draw(st.sampled_from(list(KINDS)))]
    dimensions = draw(st.integers(1, 12))
    rows = draw(integer_rows(kind.limits, draw(sizes(kind.bits)), draw(st.integers(3, 8)), dimensions))
    low, high = min(map(min, rows)), max(map(max, rows))
    fitting = [name for name, other in KINDS.items() if other.limits[0] <= low and high <= other.limits[1]]
    return rows, fitting


@pytest.mark.few(3)
@pytest.mark.parametrize("number", range(1 if CASES else 6))
@pytest.mark.parametrize("distance", oracle.DISTANCES)
def test_any_type_that_holds_the_numbers(distance: str, number: int) -> None:
    @hypothesis.seed(number)
    @settings(fuzz, max_examples=CASES or FEW // 6, derandomize=False)
    @given(whole_numbers(), st.floats(0, 1e6), st.sampled_from(list(FORMATS)))
    def check(numbers: tuple[list[list[int]], list[str]], epsilon: float, precision: str) -> None:
        rows, names = numbers
        labels = [0, 0, 1, *(place % 3 for place in range(3, len(rows)))]
        found = {}
        for name in names:
            given_rows = KINDS[name].hand(np.array(rows, dtype=KINDS[name].dtype))
            found[name] = (
                tp.evaluate(given_rows, labels, distance=distance).to_json(),
                tp.evaluate(given_rows, labels, distance=distance, precision=precision).to_json(),
                json.dumps(tp.collisions(given_rows, labels, distance=distance, epsilon=epsilon).to_dict()),
                repr(tp.fnmr_at_fmr(given_rows, labels, distance=distance, fmr=(0.1, 0.5))),
            )
        assert len(set(found.values())) == 1, {value: name for name, value in found.items()}

    check()
