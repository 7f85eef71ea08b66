"""Lists from an index of nearest neighbors: their forms, missing items, and intervals due to unlisted items."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from test_lists import spellings

import completion_oracle
import tieproof as tp
from completion_oracle import Search
from oracle import DEFINITIONS, Ranking, enumerate_orderings
from tieproof.measures import parse

Array = npt.NDArray[Any]

MEASURES = [measure for measure, _, _ in spellings()]
GRADED = [measure for measure in MEASURES if "nDCG" in measure]
SEARCHES = ("exact", "approximate")


def data(seed: int, count: int = 24) -> tuple[Array, Array]:
    """Distances with many ties of items among each other, and labels."""
    source = np.random.default_rng(seed)
    vectors = source.integers(0, 3, size=(count, 3))
    return np.square(vectors[:, None] - vectors).sum(axis=2).astype(np.float32), source.integers(0, 4, size=count)


def nearest(distances: Array, k: int, seed: int = 0) -> tuple[Array, Array]:
    """The k nearest items of each row, with ties broken at random, and without the other items."""
    order = np.lexsort((np.random.default_rng(seed).random(distances.shape), distances), axis=1)[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


def assert_contains(lists: tp.Result, whole: tp.Result) -> None:
    """Check that every query's interval contains that of the whole ranking."""
    assert lists.query_ids.tolist() == whole.query_ids.tolist()
    for measure in whole:
        inner, outer = whole.per_query(measure), lists.per_query(measure)
        assert (outer.lower <= inner.lower * (1 + 1e-12)).all(), measure
        assert (outer.upper * (1 + 1e-12) >= inner.upper).all(), measure


def assert_same(one: tp.Result, other: tp.Result) -> None:
    for measure in other:
        for kind in ("lower", "expected", "upper", "std"):
            assert getattr(one.per_query(measure), kind).tolist() == getattr(other.per_query(measure), kind).tolist()


def choose(search: Search, kind: str) -> dict[str, Any]:
    """The arguments for one list with its labels; the only query has the label 1."""
    grades = [int(grade > 0) for grade in (*search.grades, *search.unseen)]
    found = [float(place) for place, tie in enumerate(search.ranking) for _ in tie]
    more = {} if kind == "order" else {"distances": [found]}
    return more | {
        "ids": [np.arange(len(found))],
        "labels": [1],
        "gallery_labels": grades,
        "search": "approximate" if kind == "approximate" else "exact",
    }


@pytest.mark.parametrize("kind", ["exact", "order", "approximate"])
@pytest.mark.parametrize(
    "search",
    [
        Search(((1,), (0, 1)), (1,), 2),
        Search(((0,), (0,)), (1, 1), 1),
        Search(((1, 0), (1,), (0,)), (), 2),
        Search((), (1,), 2),
    ],
    ids=str,
)
def test_bounds_are_those_of_all_whole_rankings(search: Search, kind: str) -> None:
    result = tp.evaluate_neighbors(**choose(search, kind), measures=[*MEASURES, "FirstRank"])
    ordered = search
    if kind == "order":
        ordered = Search(tuple((grade,) for grade in search.grades), search.missing, search.others)
    for measure, name, cutoff in [*spellings(), ("FirstRank", "FirstRank", None)]:
        lower, upper = completion_oracle.bounds(name, ordered, kind, cutoff)
        expected = completion_oracle.behind(name, ordered, cutoff)
        assert result[measure].lower == pytest.approx(float(lower), rel=1e-12)
        assert result[measure].upper == pytest.approx(float(upper), rel=1e-12)
        assert result[measure].expected == pytest.approx(float(expected.expected), rel=1e-12)
        assert result[measure].std == pytest.approx(expected.std, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize(
    "search",
    [
        Search(((1,), (0, 1)), (1,), 2),
        Search(((0, 0, 1, 1), (0,)), (1, 1), 1),
        Search(((1, 0), (1,), (0,)), (), 2),
        Search(((1, 1, 0),), (), 0),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["returned", "order"])
def test_what_was_returned_is_scored_as_a_ranking_of_its_own(search: Search, kind: str) -> None:
    """Over all orders of the ties in the list; items that are not listed are in no ranking."""
    result = tp.evaluate_neighbors(**choose(search, kind) | {"search": "returned"}, measures=MEASURES)
    ranking = [[*tie] for tie in search.ranking]
    if kind == "order":
        ranking = [[grade] for grade in search.grades]
    for measure, name, cutoff in spellings():
        # bpref divides by all items that were judged not relevant, listed or not.
        behind: Ranking = [[0] * search.others] if name == "bpref" else []
        expected = enumerate_orderings(DEFINITIONS[name], [*ranking, *behind], missing=search.missing, cutoff=cutoff)
        for bound in ("lower", "expected", "upper", "std"):
            exact = float(getattr(expected, bound))
            assert getattr(result[measure], bound) == pytest.approx(exact, rel=1e-12, abs=1e-15), measure
    assert result.ties.queries_with_open_last_tie == 0


@pytest.mark.parametrize("graded", [False, True])
def test_what_was_returned_scores_as_the_same_run(graded: bool) -> None:
    """Each list as the documents of a query, by the definitions of trec_eval; unlisted ones were not retrieved.

    All items of the gallery are judged, and nothing was found for query 3.
    """
    distances, labels = data(5)
    ids, found = nearest(distances, 6)
    ids[3] = -1
    grade = 0.5 * (1 + np.arange(24) % 3) if graded else np.ones(24, dtype=int)
    triples = [(q, i, grade[i]) for q in range(24) for i in range(24) if i != q and labels[i] == labels[q]]
    itself = [(q, q) for q in range(24)]
    qrels = {f"{q:02}": {str(i): 0.0 for i in range(24) if i != q} for q in range(24)}
    for q, i, value in triples:
        qrels[f"{q:02}"][str(i)] = float(value)
    run = {
        f"{q:02}": {str(i): -float(x) for i, x in zip(ids[q], found[q], strict=True) if i not in (q, -1)}
        for q in range(24)
    }
    measures = [name for name in MEASURES if "max_grade=1" not in name]
    measures += [str(parse(name)(rel=1)) for name in ("AP", "AUC", "SetP", "bpref", "NumNonRelJudgedRet", "P@3")]
    measures = [name for name in measures if not graded or "max_grade=2" not in name]
    result = tp.evaluate_neighbors(
        ids, found, relevance=triples, n_items=24, exclude=itself, search="returned", measures=measures
    )
    assert_same(result, tp.evaluate_run(qrels, run, measures=measures))
    assert result["AP"].lower < result["AP"].upper
    assert result["NumRet"].lower == sum(map(len, run.values()))
    short, long = (
        tp.evaluate_neighbors(
            *nearest(distances, k), relevance=triples, n_items=24, exclude=itself, search="returned"
        )
        for k in (6, 12)
    )
    assert tp.compare({"short": short, "long": long})["short", "long", "AP"].expected < 0


def test_what_was_returned_of_a_large_gallery() -> None:
    """No table of the weights of all ranks is needed: AP of two of three relevant items, at ranks 1 and 2."""
    triples = [(0, 1), (0, 2), (0, 10**11)]
    names = ["AP", "AUC", "nDCG", "bpref", "NumRet"]
    found = tp.evaluate_neighbors([[1, 2]], relevance=triples, n_items=10**12, search="returned", measures=names)
    assert found["AP"] == tp.Estimate(2 / 3, 2 / 3, 2 / 3, 0.0)
    assert found["AUC"] == tp.Estimate(1.0, 1.0, 1.0, 0.0)  # the list has no other items
    assert found["NumRet"].lower == 2


def ways(labels: Array) -> dict[str, dict[str, Any]]:
    """The ways to say what is relevant to queries of the gallery or apart from it, and what is left out."""
    groups = np.arange(len(labels)) % 5
    out = [(query, item) for query in range(0, 24, 3) for item in (query + 1, (query + 7) % 24) if item < 24]
    sides: dict[str, Any] = {"labels": labels[:10], "gallery_labels": labels}
    return {
        "labels": {"labels": labels},
        "groups and pairs": {"labels": labels, "groups": groups, "exclude": out},
        "gallery": sides,
        "gallery and groups": sides | {"groups": groups[:10], "gallery_groups": groups},
        "several labels": {"labels": np.eye(5, dtype=int)[labels][:, :4]},
    }


@pytest.mark.filterwarnings("ignore:.* queries (probably find|are in the gallery)")
@pytest.mark.parametrize("search", [*SEARCHES, "returned"])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("way", ways(data(0)[1]))
def test_the_interval_contains_that_of_the_whole_rankings(way: str, seed: int, search: Any) -> None:
    distances, labels = data(seed)
    given = ways(labels)[way]
    count = len(given["labels"])
    among: dict[str, Any] = {"gallery": np.arange(24)[:, None]} if "gallery_labels" in given else {}
    whole = tp.evaluate(
        np.arange(count)[:, None],
        **given,
        **among,
        distance=lambda queries, items: distances[np.ix_(queries.ravel(), items.ravel())],
        measures=MEASURES,
    )
    for k in (1, 3, 10, 24):
        ids, found = nearest(distances[:count], k, seed)
        result = tp.evaluate_neighbors(ids, found, **given, search=search, measures=MEASURES)
        if search != "returned":
            assert_contains(result, whole)
    assert_same(result, whole)
    assert result.ties == whole.ties


@pytest.mark.parametrize("search", SEARCHES)
def test_with_grades_too(search: Any) -> None:
    distances, _ = data(5)
    source = np.random.default_rng(5)
    triples = [(q, i, source.integers(-1, 4)) for q in range(24) for i in source.choice(24, 9, replace=False)]
    itself = [(query, query) for query in range(24)]
    given: dict[str, Any] = {"relevance": [row for row in triples if row[0] != row[1]]}
    whole = tp.evaluate(
        np.arange(24)[:, None],
        **given,
        distance=lambda queries, items: distances[np.ix_(queries.ravel(), items.ravel())],
        measures=[*GRADED, "AP", "AP(norm=hits)@3"],
    )
    for k in (1, 4, 12, 24):
        ids, found = nearest(distances, k)
        result = tp.evaluate_neighbors(
            ids, found, **given, n_items=24, exclude=itself, search=search, measures=list(whole)
        )
        assert_contains(result, whole)
    assert_same(result, whole)


def test_which_of_tied_items_an_exact_search_returned_moves_no_bound() -> None:
    distances, labels = data(7)
    results = [
        tp.evaluate_neighbors(*nearest(distances, 6, seed), labels=labels, measures=MEASURES) for seed in (0, 1)
    ]
    for measure in MEASURES:
        one, other = (result.per_query(measure) for result in results)
        assert one.lower.tolist() == other.lower.tolist()
        assert one.upper.tolist() == other.upper.tolist()
    assert results[0]["AP"].expected != results[1]["AP"].expected


def test_the_query_itself_is_left_out_by_its_index() -> None:
    labels = [0, 0, 1, 1]
    # The copy of an item is first; the item itself is second, or is not found at all.
    ids, distances = [[1, 0], [0, 1], [3, 1], [2, 3]], [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.5]]
    result = tp.evaluate_neighbors(ids, distances, labels=labels, measures=["P@1"])
    assert result.per_query("P@1").expected.tolist() == [1.0, 1.0, 0.5, 1.0]
    # An unseen item may be as near as the last one, which may be the query itself.
    assert result.per_query("P@1").lower.tolist() == [0.0, 0.0, 0.0, 1.0]
    assert result.setting.leave_one_out
    assert result.setting.gallery == 4


def test_an_excluded_item_may_be_the_last() -> None:
    # The unseen items are at least as far as item 2, and therefore behind item 1.
    given: dict[str, Any] = {"labels": [0], "gallery_labels": [0, 1, 1, 0, 1], "exclude": [(0, 2)]}
    result = tp.evaluate_neighbors([[1, 2]], [[0.5, 1.0]], **given, measures=["RR"])
    assert (result["RR"].lower, result["RR"].upper) == (1 / 3, 1 / 2)
    tied = tp.evaluate_neighbors([[1, 2]], [[1.0, 1.0]], **given, measures=["RR"])
    assert (tied["RR"].lower, tied["RR"].upper) == (1 / 3, 1.0)


IDS = np.array([[3, 1, 0], [2, 0, 3]])
DISTANCES = np.array([[0.5, 1.0, 2.0], [0.25, 0.25, 0.75]], dtype=np.float32)
LABELS: dict[str, Any] = {"labels": [0, 1], "gallery_labels": [0, 1, 1, 0, 1]}


def point(item: int, score: float) -> Any:
    return SimpleNamespace(id=item, score=score)


def points(sign: float, wrap: Callable[[Any], Any]) -> list[Any]:
    lists = zip(IDS.tolist(), DISTANCES.tolist(), strict=True)
    return [wrap([point(item, sign * value) for item, value in zip(*row, strict=True)]) for row in lists]


FORMS: dict[str, tuple[Any, ...]] = {
    "a matrix": (IDS, DISTANCES),
    "lists": (IDS.tolist(), DISTANCES.tolist()),
    "lists of arrays": ([*IDS], [*DISTANCES]),
    "int32 and float64": (IDS.astype(np.int32), DISTANCES.astype(np.float64)),
    "uint64": (IDS.astype(np.uint64), DISTANCES),
    "matches of usearch": (
        SimpleNamespace(
            keys=np.pad(IDS, ((0, 0), (0, 1))).astype(np.uint64),
            distances=np.pad(DISTANCES, ((0, 0), (0, 1)), constant_values=np.nan),
            counts=np.array([3, 3]),
        ),
    ),
    "points of qdrant": (points(1, list),),
    "answers of qdrant": (points(1, lambda found: SimpleNamespace(points=found)),),
}
for name, fill in {"float32": 3.4028235e38, "inf": np.inf, "nan": np.nan, "nearest": -3.4028235e38}.items():
    FORMS[f"filled up with {name}"] = (
        np.pad(IDS, ((0, 0), (0, 2)), constant_values=-1),
        np.pad(DISTANCES, ((0, 0), (0, 2)), constant_values=fill),
    )


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_are_the_same(form: str) -> None:
    expected = tp.evaluate_neighbors(IDS, DISTANCES, **LABELS, search="approximate", measures=MEASURES)
    found = tp.evaluate_neighbors(*FORMS[form], **LABELS, search="approximate", measures=MEASURES)
    assert found.to_json() == expected.to_json()
    assert found.fingerprint == expected.fingerprint


def test_scores_and_points_whose_scores_fall_are_distances_turned_round() -> None:
    expected = tp.evaluate_neighbors(IDS, DISTANCES, **LABELS, measures=MEASURES)
    for ids, scores in ((IDS, -DISTANCES), (points(-1, list), None)):
        found = tp.evaluate_neighbors(ids, scores=scores, **LABELS, measures=MEASURES)
        assert_same(found, expected)
        assert found.setting.distance == "scores"


def test_codes_have_whole_distances() -> None:
    whole = tp.evaluate_neighbors(IDS, [[1, 2, 4], [0, 0, 7]], **LABELS)
    padded = np.array([[1, 2, 4, 2147483647], [0, 0, 7, 2147483647]], dtype=np.int32)
    ids = np.pad(IDS, ((0, 0), (0, 1)), constant_values=-1)
    with pytest.warns(tp.InputWarning, match="2 of 2 lists end before they are full"):
        found = tp.evaluate_neighbors(ids, padded, **LABELS)
    assert found.to_json() == whole.to_json()
    mixed = tp.evaluate_neighbors([[3, 1, 0], [2, 0, 3]], [[1, 2, 4], [0.0, 0.0, 7.0]], **LABELS)
    assert mixed.to_json() == whole.to_json()


def test_lists_of_any_length_and_none_at_all() -> None:
    found = tp.evaluate_neighbors([[1], []], [[0.5], []], **LABELS, measures=["Success@1", "AP"])
    assert found.per_query("Success@1").lower.tolist() == [0.0, 0.0]
    assert found.per_query("Success@1").upper.tolist() == [1.0, 1.0]
    assert found.per_query("Success@1").expected.tolist() == [0.0, 3 / 5]
    nothing = tp.evaluate_neighbors([[], []], **LABELS, measures=["Success@1"])
    assert nothing.per_query("Success@1").expected.tolist() == [2 / 5, 3 / 5]
    assert np.allclose(
        tp.evaluate_neighbors(np.full((2, 3), -1), **LABELS, search="approximate")["AP"].expected,
        tp.evaluate_neighbors(np.zeros((2, 0), dtype=int), **LABELS)["AP"].expected,
        rtol=0,
    )


def test_the_distances_decide_the_order() -> None:
    distances, labels = data(1)
    ids, found = nearest(distances, 8)
    expected = tp.evaluate_neighbors(ids, found, labels=labels)
    shuffled = np.random.default_rng(0).permuted(np.tile(np.arange(8), (24, 1)), axis=1)
    again = (np.take_along_axis(ids, shuffled, 1), np.take_along_axis(found, shuffled, 1))
    with pytest.warns(tp.InputWarning, match=r"2\d of 24 lists are not in the order of their distances"):
        result = tp.evaluate_neighbors(*again, labels=labels)
    assert result.to_json() == expected.to_json()


@pytest.mark.filterwarnings("ignore:.* queries probably find themselves")
def test_the_order_of_queries_and_of_the_gallery_changes_no_bit() -> None:
    distances, labels = data(2)
    ids, found = nearest(distances[:9], 6)
    expected = tp.evaluate_neighbors(ids, found, labels=labels[:9], gallery_labels=labels, measures=MEASURES)
    source = np.random.default_rng(1)
    queries, items = source.permutation(9), source.permutation(24)
    other = tp.evaluate_neighbors(
        np.argsort(items)[ids][queries],
        found[queries],
        labels=labels[queries],
        gallery_labels=labels[items],
        measures=MEASURES,
    )
    assert other.to_json() == expected.to_json()
    assert other.fingerprint == expected.fingerprint


@pytest.mark.long
def test_blocks_of_queries_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    distances, labels = data(6)
    ids, found = nearest(distances, 7)
    ways: list[dict[str, Any]] = [{}, {"groups": np.arange(24) % 5}]
    for more in ways:
        whole = tp.evaluate_neighbors(ids, found, labels=labels, **more, measures=MEASURES)
        with monkeypatch.context() as patch:
            patch.setattr("tieproof.inputs.lists.BLOCK_ENTRIES", 20)
            parts = tp.evaluate_neighbors(ids, found, labels=labels, **more, measures=MEASURES)
        assert parts.to_json() == whole.to_json()
        assert parts.fingerprint == whole.fingerprint


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_the_largest_number_of_an_unsigned_type_is_nothing(kind: Any) -> None:
    labels: dict[str, Any] = {"labels": [0, 1], "gallery_labels": [0, 1, 1]}
    signed = tp.evaluate_neighbors([[1, -1], [2, 0]], **labels, search="approximate", measures=["P@2"])
    unsigned = np.array([[1, np.iinfo(kind).max], [2, 0]], dtype=kind)
    assert tp.evaluate_neighbors(unsigned, **labels, search="approximate", measures=["P@2"])["P@2"] == signed["P@2"]


def test_an_unsigned_type_of_few_bits_has_items_only() -> None:
    ids = np.array([[255, 0]], dtype=np.uint8)
    given: dict[str, Any] = {"relevance": [(0, 255)], "n_items": 256, "measures": ["P@1"]}
    assert tp.evaluate_neighbors(ids, **given)["P@1"].lower == 1


def test_lists_of_several_types_of_integers() -> None:
    labels: dict[str, Any] = {"labels": [0, 1], "gallery_labels": [0, 1, 1]}
    mixed = [np.array([0, 1], dtype=np.uint64), np.array([1], dtype=np.int64)]
    assert tp.evaluate_neighbors(mixed, **labels, measures=["P@1"])["P@1"].lower == 1


def test_pairs_of_very_many_items_are_told_apart() -> None:
    rows = [(query, 0) for query in range(5)]
    with pytest.raises(tp.InputError, match=r"n_items is 4611686018427387904"):
        tp.evaluate_neighbors([[0]] * 5, relevance=rows, n_items=2**62, measures=["P@1"])
    found = tp.evaluate_neighbors([[0]] * 5, relevance=rows, n_items=2**60, measures=["P@1"])
    assert found["P@1"].lower == 1


def test_answers_of_qdrant_without_a_point() -> None:
    nothing = [SimpleNamespace(points=[]), SimpleNamespace(points=[])]
    labels: dict[str, Any] = {"labels": [0, 1], "gallery_labels": [0, 1, 1]}
    found = tp.evaluate_neighbors(nothing, **labels, measures=["P@1"])
    assert (found["P@1"].lower, found["P@1"].upper) == (0, 1)


def test_matches_of_usearch_query_by_query() -> None:
    matches = [
        SimpleNamespace(keys=np.array([0, 2], dtype=np.uint64), distances=np.array([0.1, 0.2], dtype=np.float32)),
        SimpleNamespace(keys=np.array([1], dtype=np.uint64), distances=np.array([0.3], dtype=np.float32)),
    ]
    labels: dict[str, Any] = {"labels": [0, 1], "gallery_labels": [0, 1, 1]}
    found = tp.evaluate_neighbors(matches, **labels, measures=["P@1"])["P@1"]
    assert (found.lower, found.expected, found.upper) == (0.5, 1, 1)  # item 0 may be as near to query 1
