"""The study of the paper: each part on a small input, compared with the definition; and claims on the real data."""

# ruff: noqa: E741  (l, m: the paper's letters)

import itertools
import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import oracle
import tieproof as tp
from shared_data import FOLDER, load_shared
from studies.nicolaou2018 import (
    collisions,
    dynamic_program,
    e_matrix,
    exploit,
    figure1,
    label_orders,
    matrices,
    phocnet,
    products,
    published,
    quicksort,
    straightforward,
    study,
)

pytestmark = pytest.mark.heavy  # a study is not a promise of the library

Array = npt.NDArray[Any]

LABELS = np.array([0, 0, 0, 1, 1, 1, 2, 2])


def ap(ordering: tuple[int, ...]) -> Fraction:
    return oracle.average_precision(ordering, oracle.Context(tuple(grade for grade in ordering if grade), None))


def tied_distances(seed: int = 0) -> Array:
    """A symmetric matrix of few different distances between the items of LABELS, with zeros on the diagonal."""
    half = np.triu(np.random.default_rng(seed).choice([0.5, 0.75, 1.0], size=(8, 8)), 1)
    return np.asarray(half + half.T)


def definition_of_bounds(distances: Array, labels: Array) -> e_matrix.Bounds:
    """Lower and upper mAP by enumeration, each query left out by its index."""
    lower, upper = [], []
    for query, row in enumerate(distances):
        others = [item for item in range(len(labels)) if item != query]
        ranking: oracle.Ranking = [
            [int(labels[item] == labels[query]) for item in others if row[item] == distance]
            for distance in sorted({row[item] for item in others})
        ]
        found = oracle.enumerate_orderings(oracle.average_precision, ranking)
        lower.append(found.lower)
        upper.append(found.upper)
    return e_matrix.Bounds(float(sum(lower) / len(lower)), float(sum(upper) / len(upper)))


def small_data() -> phocnet.Data:
    """Vectors of few values, so that many distances collide; the last two are equal, but have different labels."""
    random = np.random.default_rng(3)
    embeddings = random.choice([0.0, 0.5, 1.0], size=(48, 8)).astype(np.float32) + np.float32(0.125)
    embeddings[-1] = embeddings[-2]
    labels = np.append(np.arange(46) % 12, [0, 99])
    return phocnet.Data(embeddings, labels)


# Figure 1


def test_figure_1_lines() -> None:
    for line in figure1.LINES:
        ordering = tuple(int(rank in line.ranks) for rank in range(1, 101))
        assert figure1.average_precision(line.ranks).lower == pytest.approx(float(ap(ordering)), rel=1e-12)
        assert abs(100 * float(ap(ordering)) - line.paper) < 0.01


def test_figure_1_interval() -> None:
    ranking: oracle.Ranking = [[1, 0], [0], [0], [1, 0, 0], [0]]
    expected = oracle.enumerate_orderings(oracle.average_precision, ranking)
    found = figure1.average_precision((1, 5), figure1.TIED_DISTANCES)
    for name in ("lower", "expected", "upper", "std"):
        assert getattr(found, name) == pytest.approx(float(getattr(expected, name)), rel=1e-12)


# The straightforward method and the method of the published code


def test_average_precisions_are_the_definition() -> None:
    rows = [row for row in itertools.product((0, 1), repeat=6) if any(row)]
    found = straightforward.average_precisions(np.array(rows))
    assert found.tolist() == pytest.approx([float(ap(row)) for row in rows], rel=1e-12)
    assert np.isnan(straightforward.average_precisions(np.zeros((1, 3)))).all()


def test_constant_in_recall_divides_by_one_more_where_rank_1_is_wrong() -> None:
    rows = [row for row in itertools.product((0, 1), repeat=6) if any(row)]
    found = straightforward.average_precisions(np.array(rows), constant=1e-20)
    expected = [float(ap(row) if row[0] else ap(row) * sum(row) / (sum(row) + 1)) for row in rows]
    assert found.tolist() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "cityblock"])
def test_distances(distance: str) -> None:
    points = np.random.default_rng(1).integers(1, 5, size=(5, 3))
    found = straightforward.distance_matrix(points, distance)
    for i, j in itertools.product(range(5), repeat=2):
        x, y = points[i].tolist(), points[j].tolist()
        if distance == "cosine":
            product = sum(a * b for a, b in zip(x, y, strict=True))
            squares = sum(a * a for a in x) * sum(b * b for b in y)
            expected = 1 - product / squares**0.5
        elif distance == "euclidean":
            expected = sum((a - b) ** 2 for a, b in zip(x, y, strict=True)) ** 0.5
        else:
            expected = sum(abs(a - b) for a, b in zip(x, y, strict=True))
        assert found[i, j] == pytest.approx(expected, abs=1e-15, rel=1e-12)


def test_mean_average_precision_breaks_ties_in_the_order_of_items() -> None:
    distances = tied_distances()
    expected = []
    for query, row in enumerate(distances):
        order = sorted((item for item in range(8) if item != query), key=lambda item: (row[item], item))
        expected.append(ap(tuple(int(LABELS[item] == LABELS[query]) for item in order)))
    found = straightforward.mean_average_precision(distances, LABELS, by_index=True)
    assert found.per_query.tolist() == pytest.approx([float(value) for value in expected], rel=1e-12)
    assert found.queries == 8
    assert found.mean == pytest.approx(float(sum(expected) / 8), rel=1e-12)


def test_pessimistic_exceeds_optimistic_where_the_nearest_is_not_the_query() -> None:
    # Items 0 and 1 are the same point with two labels, and 1 has no relevant item; computed on paper.
    distances = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    labels = np.array([7, 8, 7])
    by_rank, _, by_index, _ = published.variants(distances, labels)
    optimistic, pessimistic = by_rank.scores["optimistic"], by_rank.scores["pessimistic"]
    assert optimistic.per_query.tolist() == pytest.approx([0.25, np.nan, 1.0], nan_ok=True)
    assert pessimistic.per_query.tolist() == pytest.approx([1.0, 1.0, 1.0])
    assert (optimistic.queries, pessimistic.queries) == (2, 3)
    assert by_index.scores["pessimistic"].queries == 2
    assert published.not_nearest(distances) == [(0, 1), (1, 0)]
    assert published.ties_to_break(distances, straightforward.relevance_matrix(labels)) == [0, 1, 2]


def test_constant_changes_distances_near_0_only() -> None:
    distances = np.array([[0.0, 1e-6], [1.0, 0.0]])
    assert published.changed_by_constant(distances, np.ones((2, 2), dtype=np.bool_)) == (1, 1e-6)


def test_percentages_are_cut_off_as_in_the_paper() -> None:
    assert [published.cut(value) for value in (0.95349506, 0.6428571, 2 / 3, 0.5)] == [
        "95.34",
        "64.28",
        "66.66",
        "50.00",
    ]


# PHOCNet


@pytest.fixture(scope="module")
def real() -> tuple[phocnet.Data, Array]:
    load_shared("phocnet.npz")
    data = phocnet.load(FOLDER / "phocnet.npz")
    return data, straightforward.distance_matrix(data.embeddings, "cosine")


def test_protocol_of_the_paper(real: tuple[phocnet.Data, Array]) -> None:
    data, distances = real
    sizes = np.unique(data.labels, return_counts=True)[1]
    assert (len(data.labels), len(sizes), (sizes > 1).sum(), sizes[sizes > 1].sum()) == (1164, 431, 166, 899)
    by_index = straightforward.mean_average_precision(distances, data.labels, by_index=True)
    assert by_index.queries == 899
    assert by_index.mean == pytest.approx(0.9554905756319327, rel=1e-12)


def test_published_values(real: tuple[phocnet.Data, Array]) -> None:
    data, distances = real
    first, without, by_index, exact = published.variants(distances, data.labels)
    low, high = first.scores["optimistic"], first.scores["pessimistic"]
    assert (published.cut(low.mean), published.cut(high.mean)) == ("95.34", "95.36")  # section 3.1
    assert (low.queries, high.queries) == (899, 900)
    assert published.not_nearest(distances) == [(1162, 1163), (1163, 1162)]  # the single collision of the slides
    assert f"{high.mean - low.mean:.3%}" == "0.011%"
    assert without.scores["pessimistic"].mean > without.scores["optimistic"].mean
    assert len({score.mean for score in by_index.scores.values()}) == 1
    assert {score.mean for score in exact.scores.values()} == {without.scores["optimistic"].mean}
    assert published.ties_to_break(distances, straightforward.relevance_matrix(data.labels)) == [1162, 1163]


def test_precision_is_what_is_ranked() -> None:
    data = small_data()
    found = phocnet.in_precision(data, "cityblock", "float16")["AP"]
    distances = straightforward.distance_matrix(data.embeddings, "cityblock").astype(np.float16)
    assert found == phocnet.in_precision(data, "cityblock", None)["AP"]  # multiples of 1/2: nothing is rounded
    relevance = straightforward.relevance_matrix(data.labels).astype(int) - 2 * np.eye(len(data.labels), dtype=int)
    assert found == tp.evaluate_distances(distances, relevance, measures=["AP"])["AP"]


def test_order_of_dimensions() -> None:
    found = phocnet.dimension_orders(small_data(), 3)
    assert len(found.exact) == 1
    assert found.published == sorted(set(found.published))


def test_files_that_are_something_else(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    np.savez(tmp_path / "other.npz", embeddings=np.eye(3))
    np.savez(tmp_path / "short.npz", phocnet_features=np.eye(3), phocnet_labels=np.zeros((1, 2)))
    for name, message in (("other.npz", "phocnet_features"), ("short.npz", "2 labels of 3 embeddings")):
        monkeypatch.setattr(sys, "argv", ["study.py", "--data", str(tmp_path / name), "--out", str(tmp_path)])
        with pytest.raises(SystemExit) as stopped:
            study.main()
        assert stopped.value.code == 2
        assert message in capsys.readouterr().err


# Collisions


def neighbors(points: Array, query: int) -> list[tuple[Fraction, int]]:
    """City-block distances from a query to the other items, ascending, and the items."""
    return sorted(
        (sum((abs(Fraction(float(a - b))) for a, b in zip(points[query], point, strict=True)), Fraction()), item)
        for item, point in enumerate(points)
        if item != query
    )


@pytest.mark.parametrize("epsilon", [0.5, 0.75, 1e-9])
def test_collisions_are_the_definition(epsilon: float) -> None:
    points = small_data().embeddings
    number = farther = 0
    for query in range(len(points)):
        distances = [distance for distance, _ in neighbors(points, query)]
        close = [b - a < Fraction(epsilon) for a, b in itertools.pairwise(distances)]
        number += sum(close)
        farther += sum(close[len(close) // 2 :])
    found = collisions.count(points, "cityblock", epsilon)
    assert found == (number, farther / number)
    gap = collisions.matching_epsilon(straightforward.distance_matrix(points, "cityblock"), number)
    assert gap < epsilon
    assert collisions.count(points, "cityblock", gap + 1e-9).number == number


def test_share_of_relevant_items_and_matching_epsilon() -> None:
    assert collisions.share_of_relevant(LABELS) == pytest.approx((6 * 2 + 2 * 1) / (8 * 7), rel=1e-12)
    line = np.abs(np.subtract.outer(np.arange(4.0) ** 2, np.arange(4.0) ** 2))  # 0, 1, 4, 9
    assert [collisions.matching_epsilon(line, number) for number in (1, 4, 8)] == [1.0, 2.0, 5.0]


def test_relevant_items_that_collide() -> None:
    data = small_data()
    colliding = []
    for query in range(len(data.labels)):
        ranked = neighbors(data.embeddings, query)
        hits = [bool(data.labels[item] == data.labels[query]) for _, item in ranked]
        if any(hits):
            distances = [distance for distance, _ in ranked]
            colliding += [hit for hit, distance in zip(hits, distances, strict=True) if distances.count(distance) > 1]
    found = collisions.relevant_share(data, "cityblock", 1e-9)
    assert found == pytest.approx(sum(colliding) / len(colliding), rel=1e-12)


# Matrices D and E


def test_matrices() -> None:
    distances, epsilons = matrices.matrices(tied_distances(), LABELS, first=5)
    assert distances.tolist() == tied_distances()[5:, 5:].tolist()
    assert epsilons.tolist() == [[False, True, True], [True, False, False], [True, False, False]]


@pytest.mark.parametrize("seed", range(4))
def test_epsilon_between_half_a_unit_and_the_smallest_gap_gives_the_bounds(seed: int) -> None:
    distances = tied_distances(seed)
    bounds = definition_of_bounds(distances, LABELS)
    exact = e_matrix.exact_bounds(distances, LABELS)
    assert exact == pytest.approx(bounds, rel=1e-12)
    found = e_matrix.bounds_by_matrix(distances, LABELS, 1e-6)
    assert found == pytest.approx(bounds, rel=1e-12)
    assert e_matrix.verdict(found, exact) == e_matrix.RIGHT


def test_epsilon_that_is_too_small_or_too_large() -> None:
    distances = tied_distances()
    exact = e_matrix.exact_bounds(distances, LABELS)
    small, large = (e_matrix.bounds_by_matrix(distances, LABELS, epsilon) for epsilon in (1e-20, 0.3))
    assert small.lower == small.upper  # no distance changes
    assert e_matrix.verdict(small, exact) == e_matrix.NARROW
    assert e_matrix.verdict(large, exact) == e_matrix.WRONG
    assert large.lower < exact.lower
    assert large.upper > exact.upper


def test_sweep() -> None:
    found = e_matrix.sweep("small", tied_distances(), LABELS, (1e-20, 1e-6, 0.3))
    assert (found.gap, found.change) == (0.25, 2.0**-53)
    assert (found.first(e_matrix.NARROW), found.first(e_matrix.WRONG)) == ("1e-20", "3e-01")


# The exploit


NUMPY_1_24 = {  # numpy.argsort(numpy.zeros(n)) of NumPy 1.24.4
    17: [0, 14, 13, 12, 11, 10, 9, 15, 8, 6, 5, 4, 3, 2, 1, 7, 16],
    20: [0, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 18, 19],
    40: [*(0, 22, 23, 24, 25, 26, 27, 28, 21, 29, 31, 32, 33, 34, 35, 36, 37, 30, 20, 19, 18), *range(1, 18), 38, 39],
}


def test_quicksort_is_that_of_numpy_then() -> None:
    for count, order in NUMPY_1_24.items():
        assert quicksort.argsort(np.zeros(count)).tolist() == order
    assert quicksort.argsort(np.zeros(16)).tolist() == list(range(16))
    of_thousand = quicksort.argsort(np.zeros(1000))
    assert of_thousand @ np.arange(1000) == 200447298  # of NumPy 1.24.4, too
    assert of_thousand[:4].tolist() == [0, 658, 659, 660]


@pytest.mark.parametrize("count", [0, 1, 5, 100, 333])
def test_quicksort_sorts(count: int) -> None:
    for keys in (np.random.default_rng(0).random(count), np.random.default_rng(0).integers(0, 9, count)):
        order = quicksort.argsort(keys)
        assert sorted(order.tolist()) == list(range(count))
        assert keys[order].tolist() == np.sort(keys).tolist()


def test_one_ranking_for_all_is_what_equal_distances_give() -> None:
    zeros = np.zeros((8, 8))
    for by_index, constant in itertools.product((False, True), (0.0, 1e-20)):
        found = straightforward.one_ranking(np.arange(8), LABELS, by_index=by_index, constant=constant)
        expected = straightforward.mean_average_precision(zeros, LABELS, by_index=by_index, constant=constant)
        assert found.mean == expected.mean


def test_value_by_index_is_the_mean_average_precision() -> None:
    random = np.random.default_rng(0)
    for _ in range(5):
        ranking = random.permutation(LABELS)
        expected = straightforward.one_ranking(np.arange(8), ranking, by_index=True).mean
        assert label_orders.value_by_index(ranking) == pytest.approx(expected, rel=1e-12)
    order = quicksort.argsort(np.zeros(40))
    ranking = random.permutation(label_orders.interleaved(40, 4))
    labels = label_orders.along(order, ranking)
    found = straightforward.one_ranking(order, labels, by_index=True).mean
    assert found == pytest.approx(label_orders.value_by_index(ranking), rel=1e-12)


@pytest.mark.parametrize(("items", "classes"), [(8, 2), (8, 4), (9, 3)])
def test_sorted_is_best_and_interleaved_worst(items: int, classes: int) -> None:
    plain = label_orders.interleaved(items, classes)
    values = [label_orders.value_by_index(np.array(row)) for row in arrangements(plain.tolist())]
    assert max(values) == pytest.approx(label_orders.value_by_index(np.sort(plain)), rel=1e-12)
    assert min(values) == pytest.approx(label_orders.value_by_index(plain), rel=1e-12)


def arrangements(labels: list[int]) -> set[tuple[int, ...]]:
    """All orders up to renaming of the labels: each label first occurs after the smaller ones."""
    found: set[tuple[int, ...]] = {()}
    for _ in labels:
        found = {
            (*row, label)
            for row in found
            for label in range(len(set(row)) + 1)
            if row.count(label) < labels.count(label)
        }
    return found


def test_search_climbs() -> None:
    start = np.random.default_rng(5).permutation(label_orders.interleaved(24, 3))
    for sign in (1, -1):
        value, ranking = label_orders.climb(start, label_orders.value_by_index, 200, sign, np.random.default_rng(0))
        assert value == label_orders.value_by_index(ranking)
        assert sign * value > sign * label_orders.value_by_index(start)
        assert sorted(ranking.tolist()) == sorted(start.tolist())


def test_exploit_gives_the_values_of_the_paper() -> None:
    order = quicksort.argsort(np.zeros(1000))
    plain = label_orders.interleaved(1000, 10)
    for labels, paper in ((plain, "10.32%"), (np.sort(plain), "18.68%")):
        score = straightforward.one_ranking(order, labels, constant=straightforward.CONSTANT)
        assert f"{score.mean:.2%}" == paper


def test_interval_of_zeros() -> None:
    expected = oracle.enumerate_orderings(oracle.average_precision, [[1, 1, 0, 0, 0]])
    found = exploit.interval(exploit.Size(6, 2))
    assert (found.lower, found.expected, found.upper) == pytest.approx(
        tuple(map(float, (expected.lower, expected.expected, expected.upper))), rel=1e-12
    )


def test_published_bounds_of_zeros() -> None:
    # Two labels of three samples. Pessimistic: one of the others is dropped, the query and its two stay behind two
    # others, and the sum of precisions is divided by 3 + 1. Optimistic: the query, or one as good, is dropped.
    pessimistic, optimistic = exploit.published_bounds(exploit.Size(6, 2))
    assert pessimistic == pytest.approx(float(ap((0, 0, 1, 1, 1))) * 3 / 4, rel=1e-12)
    assert optimistic == 1.0


def test_random_embeddings() -> None:
    found = exploit.random_embeddings(exploit.Size(40, 4), 16, 2, 3)
    assert found.published.shape == found.without.shape == (2, 3)
    assert found.exact.tolist() == pytest.approx(found.without[0].tolist(), rel=1e-12)  # nothing ties
    assert (found.published < found.without).all()


def test_gallery_sorted_by_class() -> None:
    # Queries that are not in the gallery: the j-th item of class c is at rank 100 c + j.
    exact = sum(Fraction(j, 100 * c + j) for c in range(10) for j in range(1, 101)) / 1000
    found = exploit.sorted_gallery(exploit.Size(), np.arange(1000))
    assert found == pytest.approx(float(exact), rel=1e-12)
    assert f"{found:.2%}" == "20.88%"


def test_symmetric_matrices_vary_more_than_independent_ones() -> None:
    size = exploit.Size(100, 10)
    symmetric, independent = (exploit.random_matrices(size, kind, 60) for kind in (True, False))
    assert symmetric.mean() == pytest.approx(independent.mean(), rel=0.02)
    assert symmetric.std() > 1.2 * independent.std()


# Products in single precision


def test_products_are_added_in_the_stated_order() -> None:
    rows = np.random.default_rng(0).random((4, 10), dtype=np.float32)
    for way in (*products.ways(10, 3), products.Way(np.arange(10), 4)):
        found = products.products(rows, way)
        for i, j in itertools.product(range(4), repeat=2):
            total, part = np.float32(0), np.float32(0)
            for place, at in enumerate(way.order.tolist(), start=1):
                part += rows[i, at] * rows[j, at]
                if place % way.block == 0 or place == 10:
                    total, part = total + part, np.float32(0)
            assert found[i, j] == total


def test_entries_are_rounded_to_the_nearest_even() -> None:
    values = np.array([1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-11, 0.1], dtype=np.float32)
    assert products.rounded(values, 8).tolist() == [1.0, 1 + 2.0**-6, 1.0, 0.10009765625]  # bfloat16
    assert products.rounded(values, 24).tolist() == values.tolist()


def test_scores_by_products_are_inside_both_bounds() -> None:
    data = small_data()
    distances = straightforward.distance_matrix(data.embeddings, "cosine")
    for each in products.measure(data.embeddings, data.labels, distances, 3).values():
        low, high = each.range
        assert each.proven.lower <= each.measured.lower <= low * (1 + 1e-12)
        assert high * (1 - 1e-12) <= each.measured.upper <= each.proven.upper
        assert 0 < each.error < 0.01


# The dynamic program


def test_the_printed_sum_is_the_number_of_relevant_items() -> None:
    assert dynamic_program.printed_sum(dynamic_program.FIGURE_1) == pytest.approx(2.0, rel=1e-12)
    expected = figure1.average_precision((1, 5), figure1.TIED_DISTANCES).expected
    assert dynamic_program.expected_average_precision(dynamic_program.FIGURE_1) == pytest.approx(expected, rel=1e-12)


def test_bounds_of_precision_within_a_tie() -> None:
    # k = 1 irrelevant item above; the tie has l = 3 items, of which m = 1 is relevant.
    above, tie = dynamic_program.Tie(1, 0), dynamic_program.Tie(3, 1)
    assert dynamic_program.precision_in_tie(above, tie) == (0.0, 0.5)
    assert dynamic_program.precisions(above, tie) == (0.0, 0.5)
    assert "150 of 150" in dynamic_program.precision_claim()[1]


RANKINGS = [
    [(2, 1), (1, 0), (3, 1)],
    [(6, 2)],
    [(1, 1), (4, 3), (2, 0), (3, 1)],
    [(3, 3), (3, 0)],
    [(1, 0), (5, 1), (1, 1)],
]


@pytest.mark.parametrize("pairs", RANKINGS)
def test_program_and_closed_form_are_the_mean_over_all_orderings(pairs: list[tuple[int, int]]) -> None:
    ranking = [dynamic_program.Tie(*pair) for pair in pairs]
    tied: oracle.Ranking = [[*[1] * m, *[0] * (l - m)] for l, m in pairs]
    expected = float(oracle.enumerate_orderings(oracle.average_precision, tied).expected)
    assert dynamic_program.expected_average_precision(ranking) == pytest.approx(expected, rel=1e-12)
    assert dynamic_program.closed_form(ranking) == pytest.approx(expected, rel=1e-12)


def test_program_and_closed_form_agree_on_larger_rankings() -> None:
    for row in dynamic_program.measure((50, 500, 2000)):
        assert row.difference < 1e-12


def test_random_ranking() -> None:
    ranking = dynamic_program.random_ranking(200, np.random.default_rng(0))
    assert sum(tie.items for tie in ranking) == 200
    assert all(0 <= tie.relevant <= tie.items for tie in ranking)
    assert any(0 < tie.relevant < tie.items for tie in ranking)


def test_report_of_the_program_is_what_any_machine_prints() -> None:
    report = Path(dynamic_program.__file__).with_name("report.md")
    if not report.exists():
        pytest.skip("no report beside the study")
    printed, now = (
        re.sub(r"\d\.\de-\d\d", "rounding", text)
        for text in (report.read_text(encoding="utf-8"), dynamic_program.section(quick=False))
    )
    assert printed.endswith("\n" + now)


# The report


def test_report_of_small_data(tmp_path: Path) -> None:
    data = small_data()
    distances = straightforward.distance_matrix(data.embeddings, "cosine")
    parts = [
        figure1.section(),
        phocnet.section(data, distances, 2),
        collisions.section(data, distances, tmp_path, {collisions.PHOCNET: 10, collisions.NOISE: 20}),
        matrices.section(distances, data.labels, tmp_path, first=20),
        e_matrix.section(distances, data.labels, tmp_path, quick=True),
        exploit.section(tmp_path, quick=True),
        dynamic_program.section(quick=True),
    ]
    for part in parts:
        assert part.startswith("## ")
        assert "| the paper | measured | why |" in part
        for line in part.splitlines():
            if line.startswith("!["):
                assert (tmp_path / line.partition("](")[2].rstrip(")")).stat().st_size < 300_000
