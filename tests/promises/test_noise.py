"""Bounds under noise: equal to the enumeration of all rankings that noise makes possible."""

import itertools
import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
import tieproof as tp
from fuzzing import CASES as DRAWN
from fuzzing import fuzz
from noise_oracle import counts_of_others, possible_orders
from registered import assert_close, oracle_for, registered_measures
from tieproof.measures import Measure, parse

pytestmark = pytest.mark.filterwarnings("ignore::tieproof.InputWarning")

MONOTONE = [name for name in registered_measures() if parse(name).is_monotone]
LISTS = tp.evaluate_scores, tp.evaluate_distances


@cache
def value_of(measure: Measure, ordering: oracle.Ordering, missing: int = 0) -> Fraction:
    """The measure of one ranking, by its definition."""
    relevant = tuple(grade for grade in ordering if grade) + (1,) * missing
    cutoff = measure.cutoff if isinstance(measure.cutoff, int) else None
    return oracle_for(measure)(ordering, oracle.Context(relevant, cutoff))


@pytest.mark.parametrize("spelling", registered_measures())
def test_whether_a_measure_is_monotone(spelling: str) -> None:
    """In rankings of up to six items, one and two of whose relevant items may be missing; a rank must never rise."""
    measure, falls = parse(spelling), False
    sign = -1 if measure.definition.smaller_is_better else 1
    for size in range(2, 7):
        for ordering in itertools.product((0, 1), repeat=size):
            for rank in range(1, size):
                if ordering[rank] > ordering[rank - 1] and any(ordering):
                    better = (*ordering[: rank - 1], 1, 0, *ordering[rank + 1 :])
                    for missing in (0, 1, 2):
                        values = (value_of(measure, each, missing) for each in (ordering, better))
                        falls |= sign * next(values) > sign * next(values)
    assert falls == (not measure.is_monotone and measure.cutoff in (3, 5))


def random_lists(source: random.Random, count: int) -> list[tuple[list[float], list[int]]]:
    """Lists of up to six numbers, many of them close, with at least one relevant item."""
    lists = []
    for _ in range(count):
        size = source.randint(1, 6)
        numbers = [source.choice((0.0, 1.0, 2.0, 3.0)) + source.choice((0.0, 0.25, 2.0**-52)) for _ in range(size)]
        relevant = [source.randint(0, 1) for _ in range(size)]
        relevant[source.randrange(size)] = 1
        lists.append((numbers, relevant))
    return lists


CASES = random_lists(random.Random(33), 60)
NOISES = (0.0, 0.125, 0.5, 1.0, 7.0)


@pytest.mark.parametrize("noise", NOISES)
def test_lists_are_bounded_by_all_possible_rankings(noise: float) -> None:
    """For every monotone measure of the registry; half of the lists hold scores, the others distances."""
    for evaluate, sign, cases in zip(LISTS, (-1, 1), (CASES[::2], CASES[1::2]), strict=True):
        result = evaluate([row for row, _ in cases], [own for _, own in cases], measures=MONOTONE, noise=noise)
        possible = []
        for numbers, relevant in cases:
            orders = possible_orders(
                [sign * Fraction(number) for number in numbers], [Fraction(noise)] * len(numbers)
            )
            possible.append({tuple(relevant[item] for item in order) for order in orders})
        for spelling in MONOTONE:
            measure, bounds = parse(spelling), result.per_query(spelling).noise
            for query, orderings in enumerate(possible):
                values = [value_of(measure, ordering) for ordering in orderings]
                assert_close(bounds.lower[query], min(values), f"lower {spelling} of {cases[query]}")
                assert_close(bounds.upper[query], max(values), f"upper {spelling} of {cases[query]}")


def test_runs_are_bounded_by_all_possible_rankings() -> None:
    """Also if relevant documents are missing, and documents without a judgment are left out by bpref."""
    source = random.Random(34)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query, (numbers, relevant) in enumerate(CASES):
        judged = {f"d{i}": grade for i, grade in enumerate(relevant) if grade or source.random() < 0.7}
        qrels[f"q{query:02}"] = judged | {"missing": source.randint(0, 1), "other": 0}
        run[f"q{query:02}"] = {f"d{i}": number for i, number in enumerate(numbers)}
    measures = ["AP", "P@2", "nDCG@3", "INP", "AUC", "bpref"]
    for noise in NOISES:
        result = tp.evaluate_run(qrels, run, measures=measures, noise=noise)
        for place, query in enumerate(result.query_ids.tolist()):
            documents, judged = list(run[query]), qrels[query]
            scores = [-Fraction(run[query][each]) for each in documents]
            orders = list(possible_orders(scores, [Fraction(noise)] * len(scores)))
            n_others = sum(grade == 0 for grade in judged.values())
            missing = sum(grade for name, grade in judged.items() if name not in run[query])
            for spelling in measures:
                measure, values = parse(spelling), []
                for order in orders:
                    grades = [judged.get(documents[item]) for item in order]
                    if spelling == "bpref":
                        listed = sum(grade or 0 for grade in grades)
                        values.append(oracle.preference(grades, listed + missing, n_others))
                    else:
                        values.append(value_of(measure, tuple(grade or 0 for grade in grades), missing))
                bounds = result.per_query(spelling).noise
                assert_close(bounds.lower[place], min(values), f"{spelling} of {query}")
                assert_close(bounds.upper[place], max(values), f"{spelling} of {query}")


NUMBERS: dict[str, tuple[Any, list[float]]] = {
    "float64": (np.float64, [0.0, -0.0, 1.0, np.nextafter(1.0, 2.0), 5e-324, 1e-310, 1e308, -1e308, 0.1, 0.3, 1e16]),
    "float32": (np.float32, [0.0, 1.0, 1.0000001, 1e-45, 3e38, -3e38, 0.1, 0.3, 1e10]),
    "float16": (np.float16, [0.0, 1.0, 1.001, 6e-8, 65504, -65504, 0.1, 0.3]),
    "int64": (np.int64, [0, 1, 2**62, 2**63 - 1, -(2**63), 2**53, 2**53 + 1]),
    "int32": (np.int32, [0, 1, 2**31 - 1, -(2**31), 100]),
    "uint64": (np.uint64, [0, 1, 2**63, 2**64 - 1, 2**53 + 1]),
    "uint8": (np.uint8, [0, 1, 7, 255]),
    "bool": (np.bool_, [0, 1]),
}
RADII = [0.0, 5e-324, 2.0**-53, 0.05, 0.1, 0.15, 0.5, 1.0, 1e16, 2.0**62, 1e300, 1.7e308]


@pytest.mark.parametrize("name", NUMBERS)
def test_no_rounding_decides_how_many_items_may_stand_before_a_relevant_one(name: str) -> None:
    dtype, values = NUMBERS[name]

    @fuzz
    @given(
        st.lists(st.tuples(st.sampled_from(values), st.booleans()), min_size=1, max_size=6),
        st.sampled_from(RADII),
        st.sampled_from(LISTS),
    )
    def check(items: list[tuple[float, bool]], noise: float, evaluate: Any) -> None:
        relevant = [own for _, own in items]
        if not any(relevant):
            return
        numbers = np.array([[number for number, _ in items]], dtype=dtype)
        result = evaluate(numbers, [list(map(int, relevant))], measures=["AP", "P@1", "P@2", "P@3"], noise=noise)
        sign = 1 if evaluate is tp.evaluate_distances else -1
        exact = [sign * Fraction(number.item()) for number in numbers[0]]
        worst, best = counts_of_others(exact, [Fraction(noise)] * len(items), relevant)
        for spelling in result.measures:
            bounds = result.per_query(spelling).noise
            for found, others in ((bounds.lower, worst), (bounds.upper, best)):
                hits = {count + place for place, count in enumerate(others)}
                ordering = tuple(int(rank in hits) for rank in range(len(items)))
                assert_close(found[0], value_of(parse(spelling), ordering), f"{spelling} of {items} with {noise}")

    check()


def rankings_under_noise(result: tp.Result, ranks: int) -> list[list[list[int]]]:
    """For each query, the ranks of hits in the worst and in the best ranking, from its measures P@1, P@2, …."""
    found = []
    for side in ("lower", "upper"):
        hits = [np.rint(k * getattr(result.per_query(f"P@{k}").noise, side)) for k in range(1, ranks + 1)]
        found.append(np.diff(hits, axis=0, prepend=0).T)
    return [[np.flatnonzero(row).tolist() for row in both] for both in zip(*found, strict=True)]


BATCH, LONGEST = 100, 8
"""How many lists have the same noise, and their most items."""


def test_counts_are_those_of_all_possible_orders() -> None:
    """`TIEPROOF_FUZZ_CASES` random lists, and as many queries with embeddings, of up to eight items each."""
    source = random.Random() if DRAWN else random.Random(36)
    ranks = [f"P@{k}" for k in range(1, LONGEST + 1)]
    for _ in range(max(1, DRAWN // BATCH)):
        noise = source.choice((0.0, 0.125, 0.25, 0.5, 1.0, 2.0**-52, 0.1, 1 / 3))
        lists, judged = [], []
        for _ in range(BATCH):
            size = source.randint(1, LONGEST)
            unit = source.choice((0.25, 1.0, 0.1, 2.0**-52))
            lists.append([1 + unit * source.randint(0, 12) for _ in range(size)])
            judged.append([source.randint(0, 1) for _ in range(size)])
            judged[-1][source.randrange(size)] = 1
        evaluate = source.choice(LISTS)
        sign = 1 if evaluate is tp.evaluate_distances else -1
        listed = rankings_under_noise(evaluate(lists, judged, measures=ranks, noise=noise), LONGEST)
        for numbers, relevant, found in zip(lists, judged, listed, strict=True):
            exact = [sign * Fraction(number) for number in numbers]
            check_counts(found, exact, [Fraction(noise)] * len(numbers), relevant)
        # Numbers of this size and precision have distances without rounding, far from each other.
        places = np.array([[source.randint(0, 40) / 8] for _ in range(BATCH + LONGEST)])
        moves = np.array([[source.randint(-4, 4) / 16] for _ in places])
        grades = [[source.randint(0, 1) for _ in range(LONGEST - 1)] + [1] for _ in range(BATCH)]
        radius = source.randint(0, 8) / 16
        for noise_given in (radius, ((places + moves)[:BATCH], (places + moves)[BATCH:])):
            result = tp.evaluate(
                places[:BATCH],
                gallery=places[BATCH:],
                relevance=[(q, i, 1) for q, own in enumerate(grades) for i, grade in enumerate(own) if grade],
                distance="cityblock",
                measures=ranks,
                noise=noise_given,
            )
            ranked = rankings_under_noise(result, LONGEST)
            for query, (relevant, found) in enumerate(zip(grades, ranked, strict=True)):
                distances = [Fraction(abs(float(places[query, 0] - each[0]))) for each in places[BATCH:]]
                if noise_given is radius:
                    check_counts(found, distances, [Fraction(radius)] * LONGEST, relevant)
                    continue
                errors = [Fraction(abs(float(moves[query, 0]))) + abs(Fraction(float(e))) for e in moves[BATCH:, 0]]
                check_counts(found, distances, errors, relevant, exact=False)


def check_counts(
    found: list[list[int]], distances: list[Fraction], errors: list[Fraction], relevant: list[int], exact: bool = True
) -> None:
    """Compare the ranks of hits with those in all possible orders; if not `exact`, they may be farther apart."""
    worst, best = counts_of_others(distances, errors, [grade > 0 for grade in relevant])
    expected = [[count + place for place, count in enumerate(counts)] for counts in (worst, best)]
    if exact:
        assert found == expected, (distances, errors, relevant)
    else:
        assert all(mine >= true for mine, true in zip(found[0], expected[0], strict=True)), (distances, errors)
        assert all(mine <= true for mine, true in zip(found[1], expected[1], strict=True)), (distances, errors)


def test_noise_of_zero_gives_the_bounds_of_ties() -> None:
    lists = [row for row, _ in CASES], [own for _, own in CASES]
    result = tp.evaluate_scores(*lists, measures=MONOTONE, noise=0)
    for spelling in MONOTONE:
        values = result.per_query(spelling)
        assert (values.noise.lower <= values.lower).all()
        assert (values.noise.upper >= values.upper).all()
        np.testing.assert_allclose(values.noise.lower, values.lower, rtol=1e-14)
        np.testing.assert_allclose(values.noise.upper, values.upper, rtol=1e-14)


def test_everything_else_is_the_same_without_noise() -> None:
    lists = [row for row, _ in CASES], [own for _, own in CASES]
    without, with_noise = (tp.evaluate_scores(*lists, measures=MONOTONE, noise=noise) for noise in (None, 0.5))
    assert without["AP"].noise is None
    assert without.per_query("AP").noise is None
    told = with_noise.to_dict()
    for values in told["measures"].values():
        assert list(values.pop("noise")) == ["lower", "upper"]
    assert told == without.to_dict()
    assert without.fingerprint == with_noise.fingerprint


def test_means_and_parts_have_their_noise() -> None:
    lists = [[3.0, 2.0], [3.0, 2.0], [3.0, 2.0], [3.0]], [[1, 0], [0, 1], [0, 1], [0]]
    options: dict[str, Any] = {"measures": ["RR"], "noise": 0.5, "categories": ["a", "b", "b", "b"]}
    result = tp.evaluate_scores(*lists, **options)
    assert result["RR"].noise == tp.evaluate_scores(*lists, **options, empty="nan")["RR"].noise
    assert result["RR"].noise == replace(result["RR"].noise, lower=(0.5 + 0.5 + 0.5) / 3, upper=1.0)
    assert result.category("b")["RR"].noise.lower == 0.5
    assert tp.evaluate_scores(*lists, **options, empty="zero")["RR"].noise.upper == 0.75
    macro = tp.evaluate_scores(*lists, **options, average="macro")
    assert macro["RR"].noise.lower == 0.5
    assert result.named(["w", "x", "y", "z"])["RR"].noise == result["RR"].noise
    assert result.with_ci()["RR"].noise == result["RR"].noise


GRADED = ("nDCG", "nDCG@2", "nDCG(gain=exp)@3", "nDCG(ideal=list)")


def graded_lists(count: int) -> list[tuple[list[float], list[int]]]:
    source = random.Random(35)
    lists = [(numbers, [own * source.randint(1, 3) for own in relevant]) for numbers, relevant in CASES[:count]]
    return [(numbers, [max(own, int(not any(grades))) for own in grades]) for numbers, grades in lists]


@pytest.mark.few(3)
@pytest.mark.parametrize("noise", NOISES)
def test_graded_gains_are_bracketed(noise: float) -> None:
    """The bracket holds all possible rankings; it is exact without noise, and hardly wider on average."""
    lists = graded_lists(40)
    numbers, grades = [row for row, _ in lists], [own for _, own in lists]
    result = tp.evaluate_distances(numbers, grades, measures=GRADED, noise=noise)
    runs = tp.evaluate_run(
        {f"q{at:02}": {f"d{i}": grade for i, grade in enumerate(own)} for at, own in enumerate(grades)},
        {f"q{at:02}": {f"d{i}": -number for i, number in enumerate(row)} for at, row in enumerate(numbers)},
        measures=GRADED,
        noise=noise,
    )

    def given(row: list[float]) -> Any:
        return lambda x, y: np.array([row])

    embeddings = [
        tp.evaluate(
            [[0.0]],
            distance=given(row),
            gallery=np.zeros((len(row), 1)),
            relevance=[(0, item, grade) for item, grade in enumerate(own)],
            measures=GRADED,
            noise=noise,
        )
        for row, own in lists
    ]
    for spelling in GRADED:
        bounds, widths, exact = result.per_query(spelling).noise, [], []
        assert (bounds.lower == runs.per_query(spelling).noise.lower).all()
        assert (bounds.upper == runs.per_query(spelling).noise.upper).all()
        for query, (row, own) in enumerate(lists):
            alone = embeddings[query].per_query(spelling).noise
            assert alone.lower[0] == pytest.approx(bounds.lower[query], rel=1e-14)
            assert alone.upper[0] == pytest.approx(bounds.upper[query], rel=1e-14)
            orders = possible_orders([Fraction(number) for number in row], [Fraction(noise)] * len(row))
            orderings = {tuple(own[item] for item in order) for order in orders}
            values = [value_of(parse(spelling), ordering) for ordering in orderings]
            assert bounds.lower[query] <= float(min(values)) * (1 + 1e-12)
            assert bounds.upper[query] >= float(max(values)) * (1 - 1e-12)
            widths.append(bounds.upper[query] - bounds.lower[query])
            exact.append(float(max(values) - min(values)))
        assert sum(widths) <= 1.02 * sum(exact) + 1e-9, sum(widths) / sum(exact)


def test_grades_without_distinction_need_no_bracket() -> None:
    lists = [row for row, _ in CASES], [own for _, own in CASES]
    twos = [[2 * each for each in own] for own in lists[1]]
    one, two = (tp.evaluate_scores(lists[0], own, measures=["nDCG@3"], noise=0.5) for own in (lists[1], twos))
    np.testing.assert_allclose(one.per_query("nDCG@3").noise.lower, two.per_query("nDCG@3").noise.lower, rtol=1e-14)


def test_tables_have_columns_of_noise() -> None:
    lists = [[3.0, 2.0], [3.0, 2.0]], [[1, 0], [0, 1]]
    result = tp.evaluate_scores(*lists, measures=["RR"], noise=0.5, categories=["a", "b"])
    columns = result.columns()
    assert columns["noise_lower"].tolist() == [0.5, 0.5]
    assert columns["noise_upper"].tolist() == [1.0, 1.0]
    for frame, count in ((result.to_frame("measure"), 1), (result.to_frame("category"), 2)):
        assert frame["noise_lower"].tolist() == [0.5] * count
        assert "noise" not in frame
    assert "0.5000 to 1.0000" in str(result)
    assert "0.5000 to 1.0000" in result.to_markdown()
    assert "noise_lower" not in tp.evaluate_scores(*lists, measures=["RR"]).columns()
