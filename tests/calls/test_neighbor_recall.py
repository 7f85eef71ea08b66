"""The recall of an index, compared with every choice of the true neighbors in fractions; and other definitions."""

import json
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neighbor_recall_oracle as oracle
import tieproof as tp
from tieproof.ties import Estimate

NAMES = ("lower", "expected", "upper")
RANDOM = np.random.default_rng(5)


def close(value: float, expected: Fraction) -> bool:
    return abs(Fraction(value) - expected) <= abs(expected) * Fraction(1, 10**12)


def check(found: Estimate[Any], expected: oracle.Recall, query: int = 0) -> None:
    for name in NAMES:
        assert close(getattr(found, name)[query], getattr(expected, name)), name
    assert close(found.std[query] ** 2, expected.variance) or expected.variance == 0 == found.std[query]


@st.composite
def searches(draw: st.DrawFn, most: int = 6) -> tuple[list[int], list[int], int]:
    """The distance of each item of a gallery, a list of found positions (-1 is padding), and k."""
    distances = draw(st.lists(st.integers(0, 3), min_size=1, max_size=most))
    k = draw(st.integers(1, len(distances)))
    found = draw(st.lists(st.integers(-1, len(distances) - 1), min_size=k, max_size=9))
    return distances, found, k


def nearest_first(distances: list[int]) -> list[int]:
    return sorted(range(len(distances)), key=distances.__getitem__)


@given(searches(), st.data())
@settings(max_examples=100, deadline=None)
def test_every_choice_of_the_true_neighbors(search: tuple[list[int], list[int], int], data: st.DataObject) -> None:
    """From a list of all items and from their vectors, among the first k found items and among all found items."""
    distances, first, k = search
    others = st.lists(st.integers(-1, len(distances) - 1), min_size=len(first), max_size=len(first))
    found = [first, data.draw(others), data.draw(others)]
    order = nearest_first(distances)
    truth = [order] * 3, [[float(distances[item]) for item in order]] * 3
    vectors: dict[str, Any] = {"queries": [[0.0]] * 3, "gallery": [[float(each)] for each in distances]}
    for among in (None, len(first)):
        expected = [oracle.recall([item for item in own[: among or k] if item >= 0], distances, k) for own in found]
        by_list = tp.neighbor_recall(found, truth, k=k, among=among, n_items=len(distances))
        by_vectors = tp.neighbor_recall(found, k=k, among=among, distance="cityblock", **vectors)
        for result in (by_list, by_vectors):
            for query, each in enumerate(expected):
                check(result.per_query(k), each, query)
            assert not result.at(k).cut_off.any()


@given(searches(most=4), st.integers(1, 4), st.booleans())
@settings(max_examples=150, deadline=None)
def test_lists_that_are_cut_off(search: tuple[list[int], list[int], int], length: int, told: bool) -> None:
    """The bounds cover every gallery that begins with the list; expected and std are those of the list alone."""
    distances, found, k = search
    listed = nearest_first(distances)[: max(k, length)]
    near = [distances[item] for item in listed]
    real = [item for item in dict.fromkeys(found[:k]) if item >= 0]
    # Without n_items, the gallery may be as large as the worst case needs: k + 1 more items.
    n_items = len(distances) if told else len(distances) + k + 1
    result = tp.neighbor_recall(
        [found], ([listed], [[float(each) for each in near]]), k=k, n_items=n_items if told else None
    )
    lower, upper = oracle.open_recall(real, listed, near, k, n_items)
    bounds = result.per_query(k)
    assert close(bounds.lower[0], lower) or lower == 0 == bounds.lower[0]
    assert close(bounds.upper[0], upper)
    inside = oracle.recall([listed.index(item) for item in real if item in listed], near, k)
    assert close(bounds.expected[0], inside.expected)
    assert result.at(k).cut_off[0] == (near[k - 1] == near[-1] and len(listed) < n_items)


@given(searches(), st.data())
@settings(max_examples=100, deadline=None)
def test_a_filtered_search_is_asked_for_no_more_than_its_matches(
    search: tuple[list[int], list[int], int], data: st.DataObject
) -> None:
    """Recall over min(k, matches), as in DiskANN: from lists filled up with -1, from `nearest`, and from vectors."""
    distances, found, k = search
    passes = data.draw(st.sets(st.sampled_from(range(len(distances))), min_size=1))
    order = [item for item in nearest_first(distances) if item in passes]
    width = max(k, len(order)) + 1
    ids = [order + [-1] * (width - len(order)), list(range(width))]
    near = [[float(distances[item]) for item in order] + [np.nan] * (width - len(order)), [0.0] * width]
    vectors: dict[str, Any] = {"queries": [[0.0]], "gallery": [[float(each)] for each in distances]}
    exclude = [(0, item) for item in range(len(distances)) if item not in passes]
    kept = [distances[item] for item in sorted(passes)]
    places = [sorted(passes).index(item) for item in found[:k] if item in passes]
    expected = oracle.recall(places, kept, min(k, len(order)))
    by_list = tp.neighbor_recall([found, found], (ids, near), k=k)
    check(by_list.per_query(k), expected)
    by_vectors = tp.neighbor_recall([found], k=k, distance="cityblock", exclude=exclude, **vectors)
    check(by_vectors.per_query(k), expected)
    if exclude:  # otherwise the last tie of the list may continue
        own = tp.nearest(**vectors, k=len(distances), distance="cityblock", exclude=exclude)
        check(tp.neighbor_recall([found], (own.ids, own.distances), k=k).per_query(k), expected)
    for result in (by_list, by_vectors):
        assert result.at(k).fewer.tolist()[0] == (len(order) < k)
        assert ("can find fewer" in result.to_text(explain=True)) == (len(order) < k)


@pytest.mark.parametrize("by", ["lists", "vectors"])
def test_queries_without_an_item_to_find_are_left_out(by: str) -> None:
    """The first query may find nothing, the second finds one of the two items at its filter, 0 and 1."""
    found, exclude = [[0, 1], [0, 2], [0, 1]], [(0, 0), (0, 1), (0, 2), (1, 2)]
    truth = [[-1, -1, -1], [0, 1, -1], [0, 1, 2]], [[np.nan] * 3, [0.0, 1.0, np.nan], [0.0, 1.0, 2.0]]
    vectors: dict[str, Any] = {"queries": [[0.0]] * 3, "gallery": [[0.0], [1.0], [2.0]], "distance": "cityblock"}
    options = {"truth": truth} if by == "lists" else vectors | {"exclude": exclude}
    result = tp.neighbor_recall(found, **options, k=2)
    assert result.per_query(2).lower.tolist() == result.per_query(2).upper.tolist() == [0.5, 1.0]
    assert (result.queries, result.skipped, result[2].lower) == (2, (0,), 0.75)
    assert result.columns()["query"].tolist() == [1, 2]
    assert "Left out: 1 query with no item to find." in str(result)
    assert result.to_dict()["queries_left_out"] == 1


@pytest.mark.parametrize("by", ["euclidean", "dot", "cosine"])
def test_lists_in_the_order_of_another_distance_are_noticed(by: str) -> None:
    random = np.random.default_rng(2)
    vectors: dict[str, Any] = {"queries": random.normal(size=(8, 3)).astype(np.float32)}
    vectors["gallery"] = (random.normal(size=(60, 3)) * random.random((60, 1))).astype(np.float32)
    found = tp.nearest(**vectors, k=5, distance=by).ids
    says = rf"in the order of {by} distance, not of \w+: pass distance='{by}' \(-d {by}\)"
    for used in {"euclidean", "dot", "cosine"} - {by}:
        with pytest.warns(tp.InputWarning, match=says):
            tp.neighbor_recall(found, **vectors, k=5, distance=used)
        with pytest.warns(tp.InputWarning, match=says):
            tp.examine_truth(found, **vectors, distance=used)
    tp.neighbor_recall(found, **vectors, k=5, distance=by)  # and those of this distance, or of none, are not
    tp.neighbor_recall(random.permuted(found, axis=1), **vectors, k=5)


def test_an_exact_search_finds_all_whatever_it_chose() -> None:
    gallery = np.array([[0], [1], [-1], [1], [-1], [4]])
    for chosen in ([0, 1, 2], [0, 3, 4], [1, 0, 4]):
        found = tp.neighbor_recall([chosen], queries=[[0]], gallery=gallery, distance="l2", k=3)
        assert found[3].upper == 1.0
        assert found[3].expected == pytest.approx(2 / 3)
        assert found[3].lower == pytest.approx(1 / 3)


def test_several_k_and_queries() -> None:
    gallery, queries = RANDOM.integers(0, 3, (40, 4)), RANDOM.integers(0, 3, (9, 4))
    found = np.array([RANDOM.permutation(40)[:12] for _ in queries])
    result = tp.neighbor_recall(found, queries=queries, gallery=gallery, distance="cityblock", k=(1, 4, 12))
    among = tp.neighbor_recall(found, queries=queries, gallery=gallery, distance="cityblock", k=(1, 4), among=12)
    for query, items in enumerate(found.tolist()):
        distances = np.abs(gallery - queries[query]).sum(axis=1).tolist()
        for k in (1, 4):
            reference = direct(items[:k], distances, k)
            check(result.per_query(k), reference, query)
            check(among.per_query(k), direct(items, distances, k), query)
    assert [point.among for point in result.points] == [1, 4, 12]
    assert result[4].expected == pytest.approx(result.per_query(4).expected.mean())
    assert result.queries == 9
    assert result.n_items == 40


def direct(found: list[int], distances: list[int], k: int) -> oracle.Recall:
    """The closed form of the docstring, in fractions, because enumeration takes too long for 40 items."""
    last = sorted(distances)[k - 1]
    s, t = sum(each < last for each in distances), distances.count(last)
    a = sum(distances[item] < last for item in set(found))
    b = sum(distances[item] == last for item in set(found))
    r = k - s
    spread = Fraction(r * b * (t - b) * (t - r), t * t * max(t - 1, 1) * k * k)
    values = (Fraction(a + max(0, r - (t - b)), k), Fraction(a * t + r * b, t * k), Fraction(a + min(b, r), k))
    return oracle.Recall(*values, spread)


@given(searches())
@settings(max_examples=100, deadline=None)
def test_the_closed_form_of_the_documentation(search: tuple[list[int], list[int], int]) -> None:
    distances, found, k = search
    real = [item for item in found if item >= 0]
    assert direct(real, distances, k) == oracle.recall(real, distances, k)


def test_the_same_in_any_order_and_any_number_of_threads() -> None:
    gallery, queries = RANDOM.random((300, 8)) < 0.5, RANDOM.random((50, 8)) < 0.5
    found = np.array([RANDOM.permutation(300)[:10] for _ in queries])
    first = tp.neighbor_recall(found, queries=queries, gallery=gallery, distance="hamming", k=(1, 10))
    places, order = RANDOM.permutation(300), RANDOM.permutation(50)
    moved = np.empty_like(places)
    moved[places] = np.arange(300)
    again = tp.neighbor_recall(
        moved[found][order],
        queries=queries[order],
        gallery=gallery[places],
        distance="hamming",
        k=(1, 10),
        threads=1,
        memory="16MiB",
    )
    assert first.to_dict() == again.to_dict()
    for name in (*NAMES, "std"):
        assert (getattr(first.per_query(10), name)[order] == getattr(again.per_query(10), name)).all()


def test_float64_would_see_no_difference() -> None:
    """Distances that differ by less than float64 shows are not tied; equal ones are tied, whatever their rounding."""
    queries, gallery = [[0.0, 0.0]], [[1.0, 2.0**-40], [1.0, 0.0], [0.0, 1.0]]
    found = tp.neighbor_recall([[0]], queries=queries, gallery=gallery, distance="euclidean", k=1)
    assert found[1] == Estimate(0.0, 0.0, 0.0, 0.0)
    found = tp.neighbor_recall([[2]], queries=queries, gallery=gallery, distance="euclidean", k=1)
    assert found[1].lower == 0.0
    assert found[1].upper == 1.0


# The contents of lists


def test_items_that_a_list_has_twice_count_once() -> None:
    truth = [[4, 2, 7, 9]], [[1.0, 2.0, 3.0, 4.0]]
    found = tp.neighbor_recall([[4, 4, 4]], truth, k=3).at(3)
    assert found.recall.upper == pytest.approx(1 / 3)
    assert found.duplicates.tolist() == [2]


@pytest.mark.parametrize(
    ("ids", "distances"),
    [
        (np.array([[4, -1, -1]]), None),
        (np.array([[4, 2**64 - 1, 2**64 - 1]], dtype=np.uint64), None),
        (np.array([[4, 2**32 - 1, 2**32 - 1]], dtype=np.uint32), None),
        (np.array([[4, 0, 0]], dtype=np.uint64), np.array([[1.0, np.nan, np.nan]], dtype=np.float32)),
        (np.array([[4, -1, -1]]), np.array([[1.0, np.inf, np.inf]])),
        (np.array([[4, 99, -7]]), np.array([[1.0, np.nan, np.nan]])),
    ],
    ids=["-1", "uint64", "uint32", "NaN of usearch", "inf of ann-benchmarks", "NaN beside no id"],
)
def test_padding_finds_nothing(ids: Any, distances: Any) -> None:
    truth = [[0, 4, 2, 7]], [[0.5, 1.0, 2.0, 3.0]]
    found = tp.neighbor_recall(ids, truth, k=3, distances=distances, n_items=8).at(3)
    assert found.recall.upper == pytest.approx(1 / 3)
    assert found.padding.tolist() == [2]
    assert found.duplicates.tolist() == [0]


def test_nothing_found_at_all() -> None:
    truth = [[4, 2], [1, 0]], [[1.0, 2.0], [1.0, 1.0]]
    assert tp.neighbor_recall([[-1], [-1]], truth, k=1)[1].upper == 0.0
    found = tp.neighbor_recall([[-1], [-1]], queries=[[0.0], [1.0]], gallery=[[0.0], [1.0]], distance="l2", k=1)
    assert found[1] == Estimate(0.0, 0.0, 0.0, 0.0)


def test_similarities_fall() -> None:
    falling = tp.neighbor_recall([[4, 7]], ([[4, 2, 7, 9]], [[0.9, 0.8, 0.8, 0.1]]), k=2)
    rising = tp.neighbor_recall([[4, 7]], ([[4, 2, 7, 9]], [[-0.9, -0.8, -0.8, -0.1]]), k=2)
    assert falling[2] == rising[2] == Estimate(0.5, 0.75, 1.0, 0.25)
    assert list(falling.at(2).others) == ["big-ann k-nn"]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "uint64", "float16", "float32"])
def test_distances_of_every_type(dtype: str) -> None:
    near = np.array([[0, 1, 1, 1]]).astype(dtype)
    found = tp.neighbor_recall([[4, 7]], ([[4, 2, 7, 9]], near), k=2, n_items=10, distances=near[:, :2])
    assert found[2].upper == 1.0
    assert found.at(2).of_others == dict.fromkeys(found.at(2).others, 1.0)


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"queries": [[np.nan]], "gallery": [[1.0]]}, "queries"),
        ({"queries": [[1.0]], "gallery": [[np.nan]]}, "gallery"),
        ({"queries": [[1.0]], "gallery": [[1.0, 2.0]]}, ("queries", "gallery")),
        ({"truth": [[1]]}, "truth"),
        ({"truth": ([[0]], [[0.5]]), "k": 2}, "found"),
        ({"truth": ([[0]], [[0.5]]), "distances": [0.5]}, "distances"),
    ],
)
def test_errors_carry_the_arguments_that_they_are_about(options: dict[str, Any], argument: Any) -> None:
    with pytest.raises(tp.InputError) as caught:
        tp.neighbor_recall([[0]], **{"k": 1} | options)
    assert caught.value.argument == argument


def test_the_largest_numbers() -> None:
    largest = np.finfo(np.float32).max
    near = np.array([[-largest, 0.0, largest, largest]], dtype=np.float32)
    found = tp.neighbor_recall([[4, 7, 5]], ([[4, 2, 7, 9]], near), k=3, n_items=10, distances=near[:, :3])
    assert found[3] == Estimate(1 / 3, 0.5, 2 / 3, 1 / 6)
    assert found.at(3).of_others["ann-benchmarks largeepsilon"] == 1.0


def test_large_keys() -> None:
    keys = 2**62 + np.array([[5, 6, 7, 8]])
    assert tp.neighbor_recall(keys[:, [0, 2]], (keys, [[1.0, 2.0, 3.0, 4.0]]), k=2)[2].upper == 0.5


def test_self_search_is_no_mistake() -> None:
    """Every query is in the gallery and finds itself, which is correct here and causes no warning."""
    gallery = RANDOM.normal(size=(20, 3))
    found = tp.neighbor_recall(np.arange(20)[:, None], queries=gallery, gallery=gallery, distance="l2", k=1)
    assert found[1] == Estimate(1.0, 1.0, 1.0, 0.0)


# The definitions of other libraries


LISTS = st.lists(st.integers(0, 6), min_size=4, max_size=9)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_definitions_of_others(data: st.DataObject) -> None:
    """For distances on both sides of the tolerances 1e-6, 1e-3, 1% and 10%."""
    scale = data.draw(st.sampled_from([1.0, 1e-3, 1e-6, 5e-7, 0.01, 100.0]))
    dtype = data.draw(st.sampled_from([np.float32, np.float64]))
    steps = data.draw(st.lists(st.integers(0, 12), min_size=3, max_size=8))
    near = (np.sort(np.array([steps])) * scale + data.draw(st.sampled_from([0.0, 1.0]))).astype(dtype)
    ids = np.arange(len(steps))[None]
    k = data.draw(st.integers(1, 3))
    found = np.array([data.draw(st.lists(st.integers(-1, 9), min_size=3, max_size=3))])
    given_distances = (data.draw(st.integers(0, 12)) * scale * np.ones((1, 3))).astype(dtype) + near[:, :1]
    result = tp.neighbor_recall(found, (ids, near), k=k, distances=given_distances).at(k)
    for name in ("k-nn", "epsilon", "largeepsilon"):
        assert result.others[f"ann-benchmarks {name}"][0] == float(
            oracle.ann_benchmarks(given_distances[0], near[0], k, name)
        )
    items = [item for item in found[0, :k].tolist() if item >= 0]
    assert result.others["big-ann k-nn"][0] == float(oracle.big_ann(items, ids[0].tolist(), near[0], k))


def test_their_means() -> None:
    truth = [[0, 1, 2], [0, 1, 2]], [[0.0, 1.0, 1.0], [0.0, 1.0, 2.0]]
    point = tp.neighbor_recall([[0, 2], [0, 2]], truth, distances=[[0.0, 1.0], [0.0, 2.0]], k=2).at(2)
    assert point.of_others["big-ann k-nn"] == 0.75
    assert point.of_others["ann-benchmarks k-nn"] == 0.75


# Texts, files and pictures of a result


def result() -> tp.NeighborRecall:
    truth = [[0, 1, 2, 3], [3, 2, 1, 0]], [[1.0, 2.0, 2.0, 2.0], [1.0, 2.0, 3.0, 4.0]]
    return tp.neighbor_recall([[0, 2, 2], [3, -1, 0]], truth, k=(2, 3), distances=[[1.0, 2.0, 2.0], [1.0, 9.0, 4.0]])


def test_dictionary_and_json() -> None:
    said = json.loads(result().to_json())
    assert said == result().to_dict()
    assert said["points"][0]["queries_left_open"] == 1
    assert said["points"][1]["duplicates"] == 1
    assert said["points"][1]["padding"] == 1
    assert said["points"][0]["queries_cut_off"] == 1
    assert said["listed"] == 4
    assert said["n_items"] is None


def test_frame() -> None:
    frame = result().to_frame()
    assert frame["k"].tolist() == [2, 2, 3, 3]
    assert frame["upper"].tolist() == result().per_query(2).upper.tolist() + result().per_query(3).upper.tolist()
    assert "ann-benchmarks k-nn" in frame
    assert frame["duplicates"].tolist() == [0, 0, 1, 0]


def test_flat_names() -> None:
    assert set(result().to_flat_dict()) == {
        f"recall_at_{k}_{name}" for k in (2, 3) for name in ("lower", "expected", "upper", "tie_std")
    }


def test_tables() -> None:
    text, table = result().to_text(explain=True).replace("\n", " "), result().to_markdown()
    for words in ("2 nearest", "big-ann k-nn", "1 place holds an item that its list has already"):
        assert words in text
        assert words in table
    assert "may continue" in text
    assert "\\toprule" in result().to_latex()
    assert "<table" in result()._repr_html_()
    assert repr(result()).startswith("<NeighborRecall of 2 queries: ")


def test_a_k_that_was_not_asked_for() -> None:
    with pytest.raises(tp.InputError, match=r"no k = 5; it has 2, 3"):
        result()[5]


def test_255_is_an_item_where_ids_have_eight_bits() -> None:
    found = tp.neighbor_recall(np.array([[255, 3]], dtype=np.uint8), ([[255, 3]], [[1.0, 2.0]]), k=1, among=2)
    assert found[1].lower == 1
    assert found.at(1).padding.tolist() == [0]


def test_answers_of_usearch_and_qdrant_are_found_items() -> None:
    truth = [[4, 2, 7], [1, 0, 3]], [[1.0, 2.0, 2.0], [1.0, 1.0, 1.0]]
    ids, far = [[4, 7, -1], [3, -1, -1]], [[1.0, 2.0, np.nan], [1.0, np.nan, np.nan]]
    expected = tp.neighbor_recall(ids, truth, k=(1, 2), distances=np.array(far, dtype=np.float32))
    matches = SimpleNamespace(
        keys=np.array([[4, 7, 0], [3, 0, 0]], dtype=np.uint64),
        distances=np.array([[1, 2, np.nan], [1, 9, 9]], dtype=np.float32),
        counts=np.array([2, 1]),
    )
    answers = [
        SimpleNamespace(points=[SimpleNamespace(id=item, score=score) for item, score in zip(*row, strict=False)])
        for row in zip([[4, 7], [3]], far, strict=True)
    ]
    singles = [
        SimpleNamespace(keys=matches.keys[row, :count], distances=matches.distances[row, :count])
        for row, count in enumerate(matches.counts)
    ]
    for found in (matches, answers, singles):
        result = tp.neighbor_recall(found, truth, k=(1, 2))
        assert result.to_dict() == expected.to_dict()


def test_the_answer_to_a_single_query_is_refused_as_found() -> None:
    single = SimpleNamespace(keys=np.array([4]), distances=np.array([1.0]))
    with pytest.raises(tp.InputError, match="answer to a single query") as caught:
        tp.neighbor_recall(single, ([[4]], [[1.0]]), k=1)
    assert caught.value.argument == "found"


def test_matches_of_which_no_row_is_full_are_as_long_as_they_were() -> None:
    matches = SimpleNamespace(
        keys=np.array([[0, 0]], dtype=np.uint64), distances=np.array([[0, np.nan]]), counts=np.array([1])
    )
    found = tp.neighbor_recall(matches, ([[0, 1]], [[0.0, 1.0]]), k=2, n_items=2)
    assert found[2].upper == 0.5
    assert found.at(2).padding.tolist() == [1]
