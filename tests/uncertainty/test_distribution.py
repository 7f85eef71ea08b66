"""The distribution over the orderings of ties, compared with all orderings, with simulated ones, and with moments."""

import itertools
import json
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import oracle
import tieproof as tp
from tieproof.errors import InputError
from tieproof.measures import REGISTRY, Measure
from tieproof.measures.distribution import sums
from tieproof.measures.distribution import values as values_alone
from tieproof.measures.distribution.distribution import Between, Distribution
from tieproof.show import style

RANKINGS: dict[str, list[oracle.Ranking]] = {
    "one": [[[1, 0]]],
    "figure 1": [[[1, 0], [0, 0], [0, 1, 0]]],
    "two queries": [[[1, 0, 0], [1, 0]], [[0], [1, 1, 0, 0]]],
    "no other items": [[[1, 1, 1]], [[1, 0], [1, 1]]],
    "three queries": [[[0, 1, 0, 1]], [[1], [0, 0, 1]], [[0, 1], [1, 0]]],
}
GRADED: dict[str, list[oracle.Ranking]] = {
    "grades": [[[3, 1, 0], [2]], [[0, 1, 2]]],
    "grades alone": [[[3, 1, 2, 1]]],
    "grades behind others": [[[2], [1, 3, 0, 0]], [[0, 0, 1, 2]]],
}
CUTOFFS = (None, 1, 2, 3)


def result_of(rankings: Sequence[Any], measures: Any, **options: Any) -> tp.Result:
    """Lists with these ties."""
    scores = [[-float(place) for place, tie in enumerate(ranking) for _ in tie] for ranking in rankings]
    grades = [[grade for tie in ranking for grade in tie] for ranking in rankings]
    return tp.evaluate_scores(scores, grades, measures=measures, **options)


def all_means(rankings: Sequence[Any], measure: Measure) -> list[Fraction]:
    """The mean of every combination of orderings, which are all equally likely, in ascending order."""
    definition = oracle.DEFINITIONS[measure.name if measure.cutoff != "R" else f"{measure.name}@R"]
    cutoff = measure.cutoff if isinstance(measure.cutoff, int) else None
    values = []
    for ranking in rankings:
        relevant = tuple(sorted((grade for tie in ranking for grade in tie if grade > 0), reverse=True))
        context = oracle.Context(relevant, cutoff)
        values.append([definition(ordering, context) for ordering in oracle.orderings(ranking)])
    return sorted(sum(each, Fraction()) / len(values) for each in itertools.product(*values))


def check(distribution: Distribution, means: Sequence[Fraction], apart: float) -> None:
    """Compare with all means; `apart` is how far below and above a mean the distribution is compared."""
    for mean in sorted(set(means)):
        below, above = (Fraction(sum(each < mean for each in means), len(means)), mean)
        at_most = Fraction(sum(each <= mean for each in means), len(means))
        for beside, expected in ((-apart, 1 - below), (apart, 1 - at_most)):
            bracket = distribution.at_least(float(above) + beside)
            assert bracket.low - 1e-14 <= expected <= bracket.high + 1e-14
    for probability in (0.01, 0.3, 0.5, 0.77, 0.99):
        bracket = distribution.quantile(probability)
        position = int(np.ceil(probability * len(means) - 1e-9)) - 1
        assert bracket.low - 1e-12 <= means[position] <= bracket.high + 1e-12


NO_SUMS = (
    *("SetP", "SetRelP", "SetR", "SetF", "SetAP", "Judged", "Unjudged", "RBPResidual"),
    *("FirstRank", "FullRecall", "IPrec", "NumQ", "NumRet", "NumRel", "NumRelRet", "NumNonRelJudgedRet"),
)
"""Measures without a distribution: they are no sums over the relevant items of a list."""


def measures_for(graded: bool) -> list[Measure]:
    """Every measure of the registry with a distribution, without and with cutoffs."""
    found = []
    for name, definition in REGISTRY.items():
        of_grades = name in ("nDCG", "ERR", "AP", "bpref")
        if name not in oracle.DEFINITIONS or name in NO_SUMS or (graded and not of_grades):
            continue
        measure = Measure(name)
        cutoffs = {"none": (None,), "optional": CUTOFFS, "required": CUTOFFS[1:]}[definition.cutoff]
        found += [measure if cutoff is None else measure @ cutoff for cutoff in cutoffs]
        found += [measure @ "R"] if definition.rank_r else []
    return found


@pytest.mark.parametrize("values", [True, False], ids=["values", "waves"])
@pytest.mark.parametrize("name", [*RANKINGS, *GRADED])
def test_every_measure_has_the_distribution_of_all_orderings(
    name: str, values: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rankings = {**RANKINGS, **GRADED}[name]
    measures = measures_for(name in GRADED)
    result = result_of(rankings, measures)
    if not values:
        monkeypatch.setattr(values_alone, "MOST_VALUES", 0)
    for measure in measures:
        distribution = result.distribution(measure, resolution=1e-6 if values else 1e-3)
        check(distribution, all_means(rankings, measure), 1e-9)


@pytest.mark.parametrize(
    "spelling", ["nDCG(gain=exp)", "nDCG(ideal=list)", "RBP(p=0.25)", "RBP(p=0.25,gain=linear)", "ERR(max_grade=8)"]
)
def test_parameters(spelling: str) -> None:
    name, measure = "grades" if spelling != "RBP(p=0.25)" else "figure 1", tp.measures.parse(spelling)
    rankings = {**RANKINGS, **GRADED}[name]
    definition = oracle.DEFINITIONS[spelling]
    values = []
    for ranking in rankings:
        relevant = tuple(sorted((grade for tie in ranking for grade in tie if grade > 0), reverse=True))
        values.append([definition(each, oracle.Context(relevant, None)) for each in oracle.orderings(ranking)])
    means = sorted(sum(each, Fraction()) / len(values) for each in itertools.product(*values))
    check(result_of(rankings, [measure]).distribution(measure), means, 1e-9)


def many_ties(queries: int, seed: int = 0) -> tuple[list[Any], list[Any]]:
    """Scores and relevance of lists of 60 items at few different scores."""
    random = np.random.default_rng(seed)
    relevance = (random.random((queries, 60)) < 0.2).astype(int)
    relevance[:, 0] = 1
    return random.integers(0, 8, (queries, 60)).tolist(), relevance.tolist()


def moments(steps: sums.StepFunction) -> tuple[float, float]:
    chances = np.diff(steps.total, prepend=0.0)
    mean = float((chances * steps.points).sum())
    return mean, float((chances * (steps.points - mean) ** 2).sum())


@pytest.mark.parametrize("measure", ["AP", "P@2", "RR", "bpref"])
def test_only_grades_of_rel_are_relevant(measure: str) -> None:
    high = [[[int(grade >= 2) for grade in tie] for tie in ranking] for ranking in GRADED["grades behind others"]]
    given = measure.replace("@", "(rel=2)@") if "@" in measure else f"{measure}(rel=2)"
    found = result_of(GRADED["grades behind others"], [given]).distribution(given)
    check(found, all_means(high, tp.measures.parse(measure)), 1e-3)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "measure",
    [
        pytest.param(name, marks=[pytest.mark.long] * (name == "RR"))
        for name in ("AP", "nDCG@10", "P@10", "R@5", "RR", "RBP", "AUC", "bpref", "Success@1", "INP")
    ],
)
def test_moments_and_width(measure: str) -> None:
    """The mean and the variance are those of the estimate, and quantiles are known up to one in a million."""
    result = tp.evaluate_scores(*many_ties(100), measures=[measure])
    distribution, estimate = result.distribution(measure), result[measure]
    assert distribution.estimate == estimate
    (low, low_variance), (high, high_variance) = map(moments, distribution.bracket)
    assert low <= estimate.expected + 1e-12
    assert high >= estimate.expected - 1e-12
    assert high - low <= 1e-6
    assert abs((low + high) / 2 - estimate.expected) <= 1e-9
    assert abs((low_variance + high_variance) / 2 - estimate.std**2) <= 1e-9
    for probability in (0.001, 0.025, 0.5, 0.975, 0.999):
        low, high = distribution.quantile(probability)
        assert 0 <= high - low <= 1e-6


def test_large_ties_are_those_of_simulated_orders() -> None:
    """The difference from 50,000 random orders is within the bound of Massart 1990, with a probability of 1e-6."""
    random, size, relevant, simulated = np.random.default_rng(0), 40, 12, 50_000
    result = tp.evaluate_scores([[0.0] * size], [[1] * relevant + [0] * (size - relevant)], measures=["AP"])
    distribution = result.distribution("AP", resolution=1e-4)
    orders = random.permuted(np.tile(np.arange(1, size + 1), (simulated, 1)), axis=1)
    ranks: Any = np.sort(orders[:, :relevant], axis=1)
    values: Any = (np.arange(1, relevant + 1) / ranks).mean(axis=1)
    bound = np.sqrt(np.log(2 / 1e-6) / (2 * simulated))
    for value in np.quantile(values, np.linspace(0.001, 0.999, 200)).tolist():
        share, bracket = float(np.greater_equal(values, value).mean()), distribution.at_least(value)
        assert bracket.low - bound <= share <= bracket.high + bound


def test_the_program_of_the_slides_is_the_mean_of_the_distribution() -> None:
    from studies.nicolaou2018.dynamic_program import Tie, expected_average_precision

    ranking = [Tie(3, 1), Tie(12, 5), Tie(4, 2)]
    scores = [-float(place) for place, tie in enumerate(ranking) for _ in range(tie.items)]
    relevance = [int(at < tie.relevant) for tie in ranking for at in range(tie.items)]
    distribution = tp.evaluate_scores([scores], [relevance], measures=["AP"]).distribution("AP")
    means = [moments(steps)[0] for steps in distribution.bracket]
    assert abs(sum(means) / 2 - expected_average_precision(ranking)) < 1e-9


@cache
def with_all_ties() -> tuple[tp.Result, Distribution]:
    result = tp.evaluate_scores(*many_ties(300), measures=["AP"])
    return result, result.distribution("AP")


def test_ties_that_add_little_have_a_certain_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    """With almost all ties replaced by normal distributions, the bracket still contains what it is without that."""
    result, exact = with_all_ties()
    monkeypatch.setattr(sums, "_BUDGET", 100)
    loose = result.distribution("AP", resolution=1e-3)
    widths = []
    for value in np.linspace(exact.quantile(1e-4).low, exact.quantile(1 - 1e-4).high, 50).tolist():
        inner, outer = exact.at_least(value), loose.at_least(value)
        assert outer.low <= inner.high
        assert outer.high >= inner.low
        widths.append((outer.high - outer.low) / 2)
    assert max(widths) > 1e-4  # the errors of the replacement are included


def test_quantiles_in_the_tails_are_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are in the wider brackets, and contain what they are without replaced ties."""
    result, exact = with_all_ties()
    monkeypatch.setattr(sums, "_BUDGET", 100)
    found = result.distribution("AP", resolution=2e-5)
    for probability in (1e-4, 0.999):
        wide = [each.quantile(probability - 1e-12) for each in found.bracket]
        low, high = found.quantile(probability)
        inner = exact.quantile(probability)
        assert wide[1] - wide[0] > found.resolution
        assert wide[0] <= low <= inner.high
        assert inner.low <= high <= wide[1]
        assert high - low < (wide[1] - wide[0]) / 2


def test_no_ties() -> None:
    result = tp.evaluate_scores([[3, 2, 1]], [[0, 1, 0]], measures=["AP"])
    assert result.evaluated.kept == ()
    distribution = result.distribution("AP")
    assert distribution.quantile(0.5) == (0.5, 0.5)
    assert (distribution.at_least(0.5), distribution.more_than(0.5)) == ((1.0, 1.0), (0.0, 0.0))


def test_impossible_and_certain_values() -> None:
    distribution = result_of(RANKINGS["figure 1"], ["AP"]).distribution("AP")
    assert distribution.at_least(0.0) == (1.0, 1.0)
    assert distribution.at_least(distribution.estimate.upper + 1e-9) == (0.0, 0.0)
    assert abs(distribution.quantile(0.0).high - distribution.estimate.lower) < 1e-12
    assert abs(distribution.quantile(1.0).low - distribution.estimate.upper) < 1e-12


def test_means_over_categories_and_empty_queries() -> None:
    """Weights are those of the mean: 1/(2 * 1) for the category of one query, 1/(2 * 2) for that of two."""
    rankings = RANKINGS["three queries"]
    values = [[Fraction(each) for each in all_means([ranking], Measure("AP"))] for ranking in rankings]
    result = result_of(rankings, ["AP"], categories=["a", "b", "b"], average="macro")
    means = sorted(one / 2 + (two + three) / 4 for one, two, three in itertools.product(*values))
    check(result.distribution("AP"), means, 1e-9)
    check(result.category("b").distribution("AP"), all_means(rankings[1:], Measure("AP")), 1e-9)
    empty: list[Any] = [rankings[0], [[0, 0]], *rankings[1:]]
    for policy, share in (("skip", 1), ("nan", 1), ("zero", Fraction(3, 4))):
        found = result_of(empty, ["AP"], empty=policy).distribution("AP")
        check(found, [share * mean for mean in all_means(rankings, Measure("AP"))], 1e-9)


@pytest.mark.long
def test_same_numbers_in_any_order_with_any_memory_and_threads() -> None:
    random = np.random.default_rng(0)
    codes, labels = random.random((120, 8)) > 0.5, random.integers(0, 6, 120)
    first = tp.evaluate(codes, labels, distance="hamming", measures=["AP", "P@5"])
    order = random.permutation(120)
    others = [
        tp.evaluate(codes[order], labels[order], distance="hamming", measures=["AP", "P@5"]),
        tp.evaluate(codes, labels, distance="hamming", measures=["AP", "P@5"], memory="600KiB", threads=3),
    ]
    for measure in ("AP", "P@5"):
        numbers = [result.distribution(measure, resolution=1e-4).to_dict() for result in (first, *others)]
        assert numbers[1:] == numbers[:-1]


def test_ties_that_take_too_much_memory_are_not_kept() -> None:
    random = np.random.default_rng(0)
    codes, labels = random.random((120, 8)) > 0.5, random.integers(0, 6, 120)
    result = tp.evaluate(codes, labels, distance="hamming", measures=["AP"], memory="100KiB")
    assert result["AP"] == tp.evaluate(codes, labels, distance="hamming", measures=["AP"])["AP"]
    with pytest.raises(InputError, match=r"the ties take more than a sixteenth of the memory.*a larger memory="):
        result.distribution("AP")


def test_judged_items_alone() -> None:
    """Documents without a judgment are left out of the ranking of bpref, and so is their tie."""
    qrels = {"q": {"a": 1, "b": 0, "c": 1, "d": 0}}
    run = {"q": {"a": 2.0, "b": 2.0, "x": 2.0, "c": 1.0, "d": 1.0}}
    distribution = tp.evaluate_run(qrels, run, measures=["bpref"]).distribution("bpref")
    check(distribution, all_means([[[1, 0], [1, 0]]], Measure("bpref")), 1e-9)


def test_better_equal_and_worse_are_those_of_all_orderings() -> None:
    one, other = RANKINGS["three queries"], [[[1, 0, 0, 1]], [[0], [1, 0, 1]], [[1, 0], [0], [1]]]
    comparison = tp.compare({"one": result_of(one, ["AP", "P@2"]), "other": result_of(other, ["AP", "P@2"])})
    for measure in (Measure("AP"), Measure("P") @ 2):
        pairs = list(itertools.product(all_means(one, measure), all_means(other, measure)))
        found = comparison.over_ties("one", "other", measure)
        turned = comparison.over_ties("other", "one", measure)
        for bracket, backwards, chosen in (
            (found.better, turned.worse, [a > b for a, b in pairs]),
            (found.equal, turned.equal, [a == b for a, b in pairs]),
            (found.worse, turned.better, [a < b for a, b in pairs]),
        ):
            for each in (bracket, backwards):
                assert each.low - 1e-12 <= Fraction(sum(chosen), len(chosen)) <= each.high + 1e-12
                assert each.high - each.low < 1e-9
        assert found.p_value == turned.p_value


def p_value(differences: Sequence[Fraction]) -> float:
    """The share of all signs for which the sum is at least as far from 0."""
    every = [
        sum((x * sign for x, sign in zip(differences, signs, strict=True)), Fraction())
        for signs in itertools.product((-1, 1), repeat=len(differences))
    ]
    return sum(abs(each) >= abs(sum(differences, Fraction())) for each in every) / len(every)


@pytest.mark.parametrize("seed", [0, 1, 3, 4, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 5))])
def test_p_values_of_all_orders_of_ties(seed: int) -> None:
    """The smallest is that of an order; the largest, too, unless ties can make either system the better one."""
    random = np.random.default_rng(seed)
    rankings = [
        [[[int(x) for x in random.permutation([1, 0, 0, 0][: 2 + seed % 3])], [0, 1]] for _ in range(4)],
        [[[0, 0], [int(x) for x in random.permutation([1, 0])], [1]] for _ in range(4)],
    ]
    measure = Measure("AP")
    values = [[all_means([ranking], measure) for ranking in system] for system in rankings]
    every = [[a - b for a in one for b in other] for one, other in zip(*values, strict=True)]
    orders = [*itertools.product(*every)][::29]
    ends = [[pick(differences) for differences in every] for pick in (min, max)]
    p_values = [p_value(order) for order in (*orders, *ends)]
    results = {name: result_of(system, ["AP"]) for name, system in zip("ab", rankings, strict=True)}
    found = tp.compare(results).over_ties("a", "b", "AP").p_value
    assert found.low <= min(p_values)
    assert found.high >= max(p_values)
    assert found.low in [p_value(end) for end in ends] or found.low == 1.0
    assert found.high in [1.0, *(p_value(end) for end in ends)]


def test_a_record_has_no_distribution(tmp_path: Path) -> None:
    result = result_of(RANKINGS["one"], ["AP"])
    result.save(tmp_path / "r.tieproof")
    with pytest.raises(InputError, match=r"from a record, or the ties take more.*Evaluate the data again"):
        tp.load(tmp_path / "r.tieproof").distribution("AP")


def test_numbers_in_all_forms() -> None:
    distribution = result_of(RANKINGS["one"], ["AP"]).distribution("AP")
    assert distribution.to_dict()["quantiles"][0]["probability"] == 0.025
    assert set(distribution.columns()) == {"probability", "low", "high"}
    assert f"{distribution.interval():.2f}" == "0.50 to 1.00"
    assert "0.5000" in distribution.to_markdown()
    assert repr(distribution) == "<Distribution of AP, 95 %: 0.5000 to 1.0000>"
    assert Between(0.0, 1.0).low == 0.0


def test_picture_has_the_probabilities() -> None:
    pytest.importorskip("matplotlib")
    distribution = result_of(RANKINGS["two queries"], ["AP"]).distribution("AP")
    _, axes = style.figure("This test")
    assert distribution.plot(axes) is axes
    means = all_means(RANKINGS["two queries"], Measure("AP"))
    for bar in axes.patches:
        left, right = bar.get_x(), bar.get_x() + bar.get_width()
        share = Fraction(sum(left <= mean < right for mean in means), len(means))
        assert abs(bar.get_height() - share) < 1e-9
    assert distribution.interval().low == pytest.approx(axes.lines[0].get_xdata()[0])


def test_under_noise_the_json_has_the_bounds() -> None:
    result = tp.evaluate_scores([[1, 1, 0]], [[1, 0, 0]], measures=["RR"], noise=0.1)
    told = json.loads(result.distribution("RR").to_json())
    assert told["noise"] == {"lower": 0.5, "upper": 1.0}  # the tie, and nothing else, is within the noise
    assert (told["lower"], told["upper"]) == (0.5, 1.0)


def test_a_refusal_advises_a_resolution_whose_price_is_paid_in_seconds() -> None:
    result = tp.evaluate_scores(np.zeros((1, 1000)), (np.arange(1000) < 500)[None], measures=["AP"])
    with pytest.raises(tp.InputError, match="would take minutes") as refused:
        result.distribution("AP")
    advised = float(str(refused.value).partition("resolution=")[2].partition(")")[0])
    assert 1e-4 < advised <= 1e-2
    cells, turns = 1000 * 501, 1.125 / advised  # of the grid, and around the circle: the mean is at most 1
    assert cells * 3 * turns < 8 * sums.SOON


def test_a_category_of_whole_lists_has_a_distribution_beside_lists_that_were_cut_off() -> None:
    limits: Any = {"n_relevant": [2, 1], "n_items": [3, 2], "categories": ["cut off", "whole"]}
    result = tp.evaluate_scores([[1, 1]] * 2, [[1, 0]] * 2, measures=["RR"], **limits)
    assert result.category("whole").distribution("RR").at_least(1.0) == pytest.approx((0.5, 0.5), abs=1e-5)
    with pytest.raises(InputError, match="unseen items"):
        result.distribution("RR")
