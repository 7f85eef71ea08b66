"""Rankings given as scores: complete lists compared with the definition, truncated lists with all continuations."""

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import oracle
import tieproof as tp
from tieproof.evaluation.result import flat_name
from tieproof.measures import REGISTRY

CUTOFFS = (1, 3, 20)
FAR = 10**5
"""A number of unknown items that is practically infinite."""

GRADES: list[oracle.Grade] = [1, 2, Fraction(3, 2), 3]


def spellings() -> list[tuple[str, str, int | None]]:
    """(measure, its definition in the oracle, cutoff) for the whole registry."""
    found: list[tuple[str, str, int | None]] = []
    refusing = "bpref", "FirstRank"  # which refuse lists that were cut off, or in which nothing relevant was found
    for name in (one for one in oracle.DEFINITIONS if one not in refusing):
        head = name.partition("(")[0] if name not in REGISTRY else name
        cutoff = "none" if name == "AP@R" else REGISTRY[head].cutoff
        if cutoff != "required":
            found.append((name, name, None))
        if cutoff != "none":
            found += [(f"{name}@{k}", name, k) for k in CUTOFFS]
    return found


@dataclass(frozen=True)
class Query:
    """A list of ties that was cut off, and the grades of the missing relevant items."""

    ranking: oracle.Ranking
    missing: tuple[oracle.Grade, ...]

    @property
    def scores(self) -> list[float]:
        return [-float(place) for place, tie in enumerate(self.ranking) for _ in tie]

    @property
    def relevance(self) -> list[float]:
        return [float(grade) for tie in self.ranking for grade in tie]

    @property
    def n_relevant(self) -> int:
        return sum(grade > 0 for grade in self.relevance) + len(self.missing)


def queries(graded: bool, count: int = 24) -> list[Query]:
    source = random.Random(7)
    grades = GRADES if graded else GRADES[:1]
    found: list[Query] = []
    while len(found) < count:
        ranking = [
            [source.choice(grades) if source.random() < 0.45 else 0 for _ in range(source.choice((1, 1, 2, 3)))]
            for _ in range(source.randint(1, 3))
        ]
        missing = tuple(source.choice(grades) for _ in range(source.choice((0, 0, 1, 2))))
        query = Query(ranking, missing)
        if query.n_relevant and len(query.ranking[-1]) + len(missing) <= 4:
            found.append(query)
    return found


def continuations(query: Query, others: int) -> Iterator[oracle.Ranking]:
    """The whole ranking with every continuation of its last tie."""
    for count in range(len(query.missing) + 1):
        for joining in set(itertools.combinations(query.missing, count)):
            for more in range(others + 1):
                yield [*query.ranking[:-1], [*query.ranking[-1], *joining, *[0] * more]]


def extremes(name: str, query: Query, others: int, cutoff: int | None) -> tuple[Fraction, Fraction]:
    definition = oracle.DEFINITIONS[name]
    if "ideal=list" in name:  # for the list alone, a missing item is like any other item
        definition = oracle.DEFINITIONS[name.replace(",ideal=list", "").replace("(ideal=list)", "")]
        query, others = Query(query.ranking, ()), others + len(query.missing)
        if not query.n_relevant:
            return Fraction(), Fraction()
    relevant = tuple(grade for tie in query.ranking for grade in tie if grade > 0) + query.missing
    orders = {order for ranking in continuations(query, others) for order in oracle.orderings(ranking)}
    values = [definition(order, oracle.Context(relevant, cutoff)) for order in orders]
    return min(values), max(values)


def evaluate(queries: list[Query], measures: list[str], n_items: Any = None, cut: bool = True) -> tp.Result:
    limits = {"n_relevant": [query.n_relevant for query in queries], "n_items": n_items} if cut else {}
    return tp.evaluate_scores(
        [query.scores for query in queries],
        [query.relevance for query in queries],
        measures=measures,
        empty="zero",
        **limits,
    )


CONTINUED = [one for one in spellings() if not one[0].startswith("Num")]  # counts are those of the list as it is


@pytest.mark.parametrize(("measure", "name", "cutoff"), CONTINUED, ids=lambda value: str(value))
def test_bounds_are_those_of_all_continuations(measure: str, name: str, cutoff: int | None) -> None:
    found = queries(graded=False)
    for others in (0, 2):
        sizes = [len(query.scores) + len(query.missing) + others for query in found]
        got = evaluate(found, [measure], n_items=sizes).per_query(measure)
        for at, query in enumerate(found):
            expected = [float(value) for value in extremes(name, query, others, cutoff)]
            assert [got.lower[at], got.upper[at]] == pytest.approx(expected, rel=1e-12), (query, others)


@pytest.mark.parametrize(("measure", "name", "cutoff"), spellings(), ids=lambda value: str(value))
def test_without_an_end_bounds_are_the_limit(measure: str, name: str, cutoff: int | None) -> None:
    found = queries(graded=False)
    endless = evaluate(found, [measure]).per_query(measure)
    far = evaluate(found, [measure], n_items=FAR).per_query(measure)
    assert (endless.lower <= far.lower).all()
    assert (endless.upper >= far.upper).all()
    # A discount of 1/log2(FAR) is still 0.06.
    slack = 0.5 if "nDCG" in measure or measure == "BinG" else 1e-3
    assert endless.lower == pytest.approx(far.lower, abs=slack)
    assert endless.upper == pytest.approx(far.upper, abs=slack)


@pytest.mark.parametrize("measure", ["nDCG", "nDCG@3", "nDCG(gain=exp)", "nDCG(ideal=list)", "nDCG(ideal=list)@2"])
@pytest.mark.parametrize("others", [0, 2])
def test_graded_bounds_are_those_of_all_continuations(measure: str, others: int) -> None:
    name, _, cutoff = measure.partition("@")
    found = [query for query in queries(graded=True, count=80) if "list" in name or not query.missing]
    sizes = [len(query.scores) + len(query.missing) + others for query in found]
    got = evaluate(found, [measure], n_items=sizes).per_query(measure)
    for at, query in enumerate(found):
        expected = [float(value) for value in extremes(name, query, others, int(cutoff) if cutoff else None)]
        assert [got.lower[at], got.upper[at]] == pytest.approx(expected, rel=1e-12), query


def test_expected_and_std_are_those_of_the_list_and_lie_between_the_bounds() -> None:
    found = queries(graded=False)
    measures = [measure for measure, _, _ in spellings()]
    result = evaluate(found, measures)
    for measure, name, cutoff in spellings():
        got = result.per_query(measure)
        assert (got.lower <= got.expected).all()
        assert (got.expected <= got.upper).all()
        for at, query in enumerate(found):
            one = oracle.enumerate_orderings(oracle.DEFINITIONS[name], query.ranking, query.missing, cutoff)
            assert got.expected[at] == pytest.approx(float(one.expected), rel=1e-12)
            assert got.std[at] == pytest.approx(one.std, rel=1e-12, abs=1e-15)


def test_nothing_missing_and_no_room_changes_nothing() -> None:
    found = [query for query in queries(graded=False) if not query.missing]
    measures = [measure for measure, _, _ in spellings()]
    closed = evaluate(found, measures, n_items=[len(query.scores) for query in found])
    assert closed.ties.queries_with_open_last_tie == 0
    assert closed.to_json() == evaluate(found, measures, cut=False).to_json()


def test_the_result_counts_open_ends() -> None:
    scores, relevance = [[3, 2, 2], [3, 2, 2], [3, 2, 1]], [[1, 0, 0], [1, 0, 1], [0, 1, 0]]
    assert tp.evaluate_scores(scores, relevance).ties.queries_with_open_last_tie == 0
    # Only the second list ends with a relevant item, and the third one lacks a relevant item.
    result = tp.evaluate_scores(scores, relevance, n_relevant=[1, 2, 2])
    assert result.ties.queries_with_open_last_tie == 2
    assert '"queries_with_open_last_tie": 2' in result.to_json()
    closed = tp.evaluate_scores(scores, relevance, n_relevant=[1, 2, 1], n_items=3)
    assert closed.ties.queries_with_open_last_tie == 0


def test_an_excluded_item_may_be_the_last() -> None:
    # The missing item may be tied with the excluded one, behind the listed items, at rank 3.
    result = tp.evaluate_scores([[3.0, 2.0, 1.0]], [[1, 0, -1]], measures=["AP"], n_relevant=[2])
    assert result["AP"].upper == pytest.approx((1 + 2 / 3) / 2)
    assert result["AP"].lower == result["AP"].expected == 0.5


def test_an_empty_list_may_go_on_with_anything() -> None:
    result = tp.evaluate_scores([[], [1.0]], [[], [1]], measures=["AP", "R@1"], n_relevant=[2, 1])
    assert result.per_query("AP").lower.tolist() == [0.0, 0.0]
    assert result.per_query("AP").expected.tolist() == [0.0, 1.0]
    assert result.per_query("AP").upper.tolist() == [1.0, 1.0]
    assert result.per_query("R@1").upper.tolist() == [0.5, 1.0]


def test_distances_scores_and_one_number_for_all_agree() -> None:
    scores, relevance = np.array([[3, 2, 2], [5, 5, 5]]), np.array([[1, 0, 1], [0, 1, 0]])
    expected = tp.evaluate_scores(scores, relevance, n_relevant=[3, 3], n_items=[9, 9]).to_dict()
    for n_relevant, n_items in ((3, 9), (np.array([3.0, 3.0]), 9.0)):
        got = tp.evaluate_distances(-scores, relevance, n_relevant=n_relevant, n_items=n_items).to_dict()
        assert got["measures"] == expected["measures"]


def test_order_of_queries_and_items_changes_no_bit() -> None:
    found = queries(graded=True)
    graded = ("nDCG", "ERR", "RBP(gain", "RBP(p=0.25,gain")  # which depend on the grades of missing items
    measures = [measure for measure, name, _ in spellings() if not name.startswith(graded) or "list" in name]
    expected = evaluate(found, measures).to_json()
    shuffled = random.Random(3).sample(found, len(found))
    assert evaluate(shuffled, measures).to_json() == expected


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "too few": (
        {"n_relevant": [1, 1]},
        "n_relevant is 1 for query 1, but its list contains 2 relevant items. "
        "Count all relevant items, in the list or not.",
    ),
    "negative": (
        {"n_relevant": [-1, 2]},
        "n_relevant is -1 for query 0. It must be a whole number of at least 0: count all relevant items of the "
        "query, in its list or not.",
    ),
    "fraction": (
        {"n_relevant": [1.5, 2]},
        "n_relevant is 1.5 for query 0. It must be a whole number of at least 0: count all relevant items of the "
        "query, in its list or not.",
    ),
    "nan": (
        {"n_relevant": [1, np.nan]},
        "n_relevant is nan for query 1. It must be a whole number of at least 0: count all relevant items of the "
        "query, in its list or not.",
    ),
    "shape": (
        {"n_relevant": [1, 2, 3]},
        "n_relevant has the shape (3,), but there are 2 queries. Pass one number for each, or one for all.",
    ),
    "words": (
        {"n_relevant": ["1", "2"]},
        "The n_relevant must contain real numbers, not strings. Convert them to floats first.",
    ),
    "rounded": (
        {"n_relevant": np.array([3, 2048], np.float16)},
        "n_relevant is 2048.0 for query 1. It must be a whole number of at least 0 and below 2048, where float16 "
        "begins to round: count all relevant items of the query, in its list or not.",
    ),
    "items alone": ({"n_items": [3, 3]}, "n_items applies only to lists that were cut off. Pass n_relevant, too."),
    "items too few": (
        {"n_relevant": [2, 2], "n_items": 3},
        "n_items is 3 for query 0, but its list contains 3, and 1 more are relevant. Count all items that are not "
        "excluded, in the list or not.",
    ),
    "items fraction": (
        {"n_relevant": [2, 2], "n_items": 3.5},
        "n_items is 3.5 for query 0. It must be a whole number of at least 0: count all items of the query, in its "
        "list or not.",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    arguments, message = REFUSED[name]
    with pytest.raises(tp.InputError) as error:
        tp.evaluate_scores([[3, 2, 1], [3, 2, 1]], [[1, 0, 0], [1, 1, 0]], **arguments)
    assert str(error.value) == message


def test_graded_ndcg_of_unknown_grades_is_refused() -> None:
    with pytest.raises(tp.InputError) as error:
        tp.evaluate_scores([[3, 2], [2, 1]], [[1, 0], [2, 1]], measures=["nDCG"], n_relevant=[2, 2])
    assert str(error.value) == (
        "'nDCG' needs the grades of all relevant items: query 0 has 2, but only 1 are in the list. Pass the whole "
        "list, use 'nDCG(ideal=list)', or use evaluate_run, which reads all grades from the qrels."
    )
    assert (
        tp.evaluate_scores([[3, 2], [2, 1]], [[1, 0], [2, 1]], measures=["AP"], n_relevant=[2, 2])["AP"].upper == 1.0
    )


@pytest.mark.parametrize(
    ("items", "percent", "cutoff"),
    [
        (200, "1%", 2),
        (49, "1%", 1),
        (150, "1%", 2),
        (250, "1%", 2),
        (251, "1%", 3),
        (1500, "0.1%", 2),
        (7, "100%", 7),
    ],
)
def test_a_cutoff_in_percent_is_rounded_as_in_place_recognition(items: int, percent: str, cutoff: int) -> None:
    """max(round(N / 100), 1) of PointNetVLAD, where Python rounds halves to even; excluded items do not count."""
    scores, relevance = np.arange(items + 1.0)[None, ::-1], np.zeros((1, items + 1), dtype=int)
    relevance[0, -1] = -1
    for rank in (cutoff, cutoff + 1):
        if rank <= items:
            relevance[0, :items] = np.arange(1, items + 1) == rank
            result = tp.evaluate_scores(scores, relevance, measures=[f"Success@{percent}", f"Recall@{percent}"])
            assert result.measures == (f"Success@{percent}",)
            assert result[f"Success@{percent}"].lower == (rank == cutoff)


@pytest.mark.parametrize("measure", ["Success", "R", "P", "AP", "nDCG", "AP(norm=hits)"])
@pytest.mark.parametrize("search", ["exact", "approximate", "returned"])
def test_a_cutoff_in_percent_is_that_number_of_the_gallery(measure: str, search: Any) -> None:
    """In lists of neighbors, too, which have the first items alone."""
    ids, relevance = [[3, 1, 7, 40], [4, 60, 2, 8]], [np.array([1, 9]), np.array([2])]
    whole = {"relevance": relevance, "n_items": 250, "search": search}
    result = tp.evaluate_neighbors(ids, **whole, measures=[f"{measure}@1%", f"{measure}@2"])
    assert result[f"{measure}@1%"] == result[f"{measure}@2"]
    flat = result.to_flat_dict()
    assert flat[flat_name(f"{measure}@1%") + "_upper"] == flat[flat_name(f"{measure}@2") + "_upper"]


def test_complete_lists_are_those_of_a_run() -> None:
    """Person search and the memories of agents: relevant items that a list lacks were never found."""
    found = tp.evaluate_scores([[0.9, 0.8, 0.7]], [[1, 0, 1]], n_relevant=[3], complete=True, measures=["AP"])
    assert found["AP"].lower == found["AP"].upper == pytest.approx((1 + 2 / 3) / 3, rel=1e-15)
    source = random.Random(7)
    scores = [[source.randint(0, 3) for _ in range(source.randint(1, 6))] for _ in range(20)]
    grades = [[source.randint(0, 1) for _ in row] for row in scores]
    missing = [source.randint(1, 3) for _ in scores]
    n_relevant = [sum(row) + more for row, more in zip(grades, missing, strict=True)]
    measures = [name for name, _, _ in spellings() if "ideal" not in name]
    lists: dict[str, Any] = {"n_relevant": n_relevant, "complete": True}
    result = tp.evaluate_scores(scores, grades, **lists, measures=[*measures, "bpref"])
    qrels = {
        f"{q:02}": {f"d{d}": grade for d, grade in enumerate(row)} | {f"m{d}": 1 for d in range(more)}
        for q, (row, more) in enumerate(zip(grades, missing, strict=True))
    }
    run = {f"{q:02}": {f"d{d}": float(score) for d, score in enumerate(row)} for q, row in enumerate(scores)}
    expected = tp.evaluate_run(qrels, run, measures=[*measures, "bpref"])
    assert dict(result) == dict(expected)
    assert tp.verify(result, scores, grades, **lists).same_data
    ranked = tp.evaluate_scores(scores, grades, **lists, measures=["AP"])
    assert not tp.verify(ranked, scores, grades, n_relevant=n_relevant).same_data
    distances = [[-score for score in row] for row in scores]
    assert dict(tp.evaluate_distances(distances, grades, **lists, measures=measures[:9])) == dict(
        tp.evaluate_scores(scores, grades, **lists, measures=measures[:9])
    )
    assert result.as_printed("position", scores=scores, relevance=grades, **lists).printed is not None


def test_lists_of_the_first_items_in_which_nothing_was_found_are_warned_about() -> None:
    """has_answer of the first k passages (DPR); not where lists are longer, or the user said what it means."""
    scores, hits = [[3, 2], [3, 2], [3, 2]], [[0, 1], [0, 0], [1, 0]]
    with pytest.warns(tp.InputWarning, match="lists of 1 of 3 queries have nothing relevant.*set empty to zero"):
        assert tp.evaluate_scores(scores, hits, measures=["Success@1", "Success@2"])["Success@2"].lower == 1.0
    for options in ({"empty": "zero"}, {"n_relevant": [1, 0, 1]}, {"measures": ["Success@1"]}):
        tp.evaluate_scores(scores, hits, **{"measures": ["Success@2"]} | options)
    tp.evaluate_scores([[1, 0]] * 2, labels=["a", "b"], gallery_labels=["a", "c"], measures=["Success@2"])
