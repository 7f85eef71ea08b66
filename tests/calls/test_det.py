"""Verification: EER, TAR at FAR and minDCF by enumeration of orderings, by scikit-learn, and from embeddings."""

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import fnmr_oracle
import tieproof as tp
import verification_oracle as oracle
from hard_sets import HARD_SETS
from tieproof.analyses.rates import counting
from tieproof.errors import InputError

Array = npt.NDArray[Any]

# Given distances


def drawn(seed: int) -> tuple[list[int], list[int]]:
    """The distances of few pairs, with many ties."""
    random = np.random.default_rng(seed)
    kinds = int(random.integers(1, 6))
    relevant, others = (random.integers(0, kinds, size=random.integers(1, 6)) for _ in range(2))
    return relevant.tolist(), (others + random.integers(0, 2)).tolist()


@pytest.mark.parametrize("seed", range(24))
def test_by_enumeration(seed: int) -> None:
    relevant, others = drawn(seed)
    curve = tp.det_curve(relevant, others)
    curves = [oracle.points(ordering) for ordering in oracle.orderings(relevant, others)]
    whole = oracle.thresholds(relevant, others)
    assert list(zip(curve.fmr, curve.fnmr, strict=True)) == [(float(x), float(y)) for x, y in whole]
    found = curve.eer
    values = [oracle.crossing(points) for points in curves]
    assert (found.lower, found.upper) == (float(min(values)), float(max(values)))
    assert found.interpolated == float(oracle.crossing(whole))
    for far in ("0.0", "0.1", "0.25", "0.5", "1.0"):
        shares = [oracle.tar(points, Fraction(far)) for points in curves]
        estimate = curve.tar(float(far))
        mean = sum(shares, Fraction(0)) / len(shares)
        variance = sum(((share - mean) ** 2 for share in shares), Fraction(0)) / len(shares)
        expected = [float(min(shares)), float(mean), float(max(shares)), float(variance) ** 0.5]
        assert [estimate.lower, estimate.expected, estimate.upper, estimate.std] == pytest.approx(
            expected, rel=1e-12, abs=1e-15
        )
        assert estimate.lower == pytest.approx(float(oracle.tar(whole, Fraction(far))), rel=1e-12)
    for costs in ((0.5, 1.0, 1.0), (0.01, 1.0, 1.0), (0.25, 10.0, 1.0)):
        exact = tuple(map(Fraction, costs))
        bounds = curve.min_dcf(costs[0], c_miss=costs[1], c_fa=costs[2])
        values = [oracle.min_dcf(points, *exact) for points in curves]
        assert bounds.lower == pytest.approx(float(min(values)), rel=1e-12)
        assert bounds.upper == pytest.approx(float(max(values)), rel=1e-12)
        assert bounds.upper == pytest.approx(float(oracle.min_dcf(whole, *exact)), rel=1e-12)


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(5))
def test_without_ties_as_scikit_learn_has_it(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(seed)
    relevant, others = random.normal(size=80), random.normal(size=190) + 1
    curve = tp.det_curve(relevant, others)
    truth = np.repeat([1, 0], [80, 190])
    fpr, tpr, thresholds = metrics.roc_curve(truth, -np.concatenate([relevant, others]), drop_intermediate=False)
    assert curve.fmr.tolist() == fpr.tolist()
    assert curve.fnmr == pytest.approx(1 - tpr, abs=1e-15)
    assert curve.thresholds.tolist() == (-thresholds).tolist()
    at = int(np.argmax(fpr >= 1 - tpr))
    eer = curve.eer
    assert eer.lower == eer.upper == eer.interpolated
    part = (1 - tpr[at - 1] - fpr[at - 1]) / (fpr[at] - fpr[at - 1] + tpr[at] - tpr[at - 1])
    assert eer.upper == pytest.approx(fpr[at - 1] + part * (fpr[at] - fpr[at - 1]), rel=1e-12)
    false_positive, false_negative, _ = metrics.det_curve(truth, -np.concatenate([relevant, others]))
    pairs = set(zip(curve.fmr.round(12).tolist(), curve.fnmr.round(12).tolist(), strict=True))
    assert set(zip(false_positive.round(12).tolist(), false_negative.round(12).tolist(), strict=True)) <= pairs
    for far in (0.001, 0.01, 0.1):
        assert curve.tar(far).lower == pytest.approx(tpr[fpr <= far].max(), rel=1e-12)
    cost = 0.05 * (1 - tpr) + 0.95 * fpr
    assert curve.min_dcf(0.05).upper == pytest.approx(cost.min() / 0.05, rel=1e-12)


def test_one_input_with_an_equal_error_rate_from_0_to_40_percent() -> None:
    """Scores like these give 0.4 or 0.2 in different programs (voxceleb_trainer, issue 11)."""
    eer = tp.det_curve([0.1, 0.2, 0.3, 0.5, 0.5], [0.5, 0.5, 0.7, 0.8, 0.9]).eer
    assert (eer.lower, eer.interpolated, eer.upper) == (0.0, 0.2, 0.4)
    assert (eer.before, eer.after, eer.threshold) == ((0.0, 0.4), (0.4, 0.0), 0.5)


def test_a_system_that_ignores_its_input() -> None:
    curve = tp.det_curve([1.0] * 5, [1.0] * 7)
    assert (curve.eer.lower, curve.eer.interpolated, curve.eer.upper) == (0.0, 0.5, 1.0)
    assert curve.tar(0.1).lower == 0
    assert curve.min_dcf(0.05) == tp.Bounds(0.0, 1.0)


def test_in_any_order_and_as_text() -> None:
    random = np.random.default_rng(3)
    relevant, others = random.integers(0, 9, size=50), random.integers(2, 12, size=70)
    first, second = tp.det_curve(relevant, others), tp.det_curve(random.permutation(relevant), others[::-1])
    assert first.to_dict() == second.to_dict()
    assert str(first) == str(second)
    assert json.loads(first.to_json()) == first.to_dict()
    assert "EER 0." in repr(first)
    assert tp.det_curve([-0.0], [0.0]).eer.threshold == 0


@pytest.mark.parametrize(
    ("relevant", "others"), [([np.nan], [1.0]), ([1.0], [np.inf]), ([], [1.0]), ([1.0], []), ([2**60 + 1], [1])]
)
def test_refused_distances(relevant: Any, others: Any) -> None:
    with pytest.raises(InputError):
        tp.det_curve(relevant, others)


def test_refused_costs() -> None:
    curve = tp.det_curve([1.0], [2.0])
    with pytest.raises(InputError, match=r"p_target=1, c_miss=1.0, c_fa=1.0"):
        curve.min_dcf(1)
    with pytest.raises(InputError, match="positive"):
        curve.min_dcf(0.1, c_miss=0)
    with pytest.raises(InputError, match="false accept rate"):
        curve.tar(1.5)


# Intervals over subjects

OF_RELEVANT, OF_OTHERS = (
    [("a", 1), ("a", 3), ("b", 2), ("c", 2), ("d", 5)],
    [("a", 4), ("b", 2), ("c", 6), ("d", 3), ("d", 7)],
)
STATISTICS: dict[
    str, tuple[Callable[[tp.DetCurve], float], Callable[[list[tuple[Fraction, Fraction]]], Fraction]]
] = {
    "EER": (lambda curve: curve.eer.interpolated, oracle.crossing),
    "TAR": (lambda curve: curve.tar(0.25).lower, lambda points: oracle.tar(points, Fraction(1, 4))),
    "minDCF": (
        lambda curve: curve.min_dcf(0.25).upper,
        lambda points: oracle.min_dcf(points, Fraction(1, 4), Fraction(1), Fraction(1)),
    ),
}


def curve_of(order: Sequence[int] = range(5)) -> tp.DetCurve:
    (subjects, near), (of_others, far) = (
        zip(*(pairs[at] for at in order), strict=True) for pairs in (OF_RELEVANT, OF_OTHERS)
    )
    return tp.det_curve(near, far, subjects=(subjects, of_others))


@pytest.mark.parametrize("name", STATISTICS)
def test_interval_of_all_draws_of_subjects(name: str) -> None:
    """All 256 draws of four subjects are equally likely; the ends are levels of their distribution."""
    ours, definition = STATISTICS[name]
    values = sorted(
        definition(oracle.thresholds(*([d for who in drawn for s, d in pairs if s == who] for pairs in both)))
        for both in [(OF_RELEVANT, OF_OTHERS)]
        for drawn in product("abcd", repeat=4)
    )
    found = curve_of().interval(ours, 0.8)
    assert found.value == pytest.approx(float(definition(oracle.thresholds([1, 3, 2, 2, 5], [4, 2, 6, 3, 7]))))
    for end, level in ((found.low, 0.1), (found.high, 0.9)):
        below, up_to = (
            sum(value <= Fraction(end) + side * Fraction(1, 10**9) for value in values) for side in (-1, 1)
        )
        assert below / len(values) <= level + 0.01
        assert up_to / len(values) >= level - 0.01
    assert (found.confidence, found.method, found.bound) == (0.8, "percentile", "statistic")
    assert curve_of([3, 1, 4, 0, 2]).interval(ours, 0.8) == found


def test_refused_intervals() -> None:
    with pytest.raises(InputError, match="at least two"):
        tp.det_curve([1.0], [2.0], subjects=(["a"], ["a"])).interval(lambda curve: curve.eer.upper)
    with pytest.raises(InputError, match="confidence must be"):
        curve_of().interval(lambda curve: curve.eer.upper, 95)
    with pytest.raises(InputError, match="The number of subjects is 2, but the number of other pairs is 1"):
        tp.det_curve([1.0], [2.0], subjects=(["a"], ["a", "b"]))


# Embeddings


def check(data: Array, distance: str, labels: Array, **options: Any) -> None:
    """Compare the equal error rate with the definition in fractions."""
    count = len(data)
    pairs = [(q, i, bool(labels[q] == labels[i])) for q in range(count) for i in range(count) if q != i]
    rows = [list(map(Fraction, row)) for row in data.tolist()]
    keys = fnmr_oracle.pairs(distance, rows, rows, pairs)
    rates = tp.fnmr_at_fmr(data, labels, distance=distance, eer=True, **options)
    whole = oracle.thresholds(*keys)
    after = next(at for at, (fmr, fnmr) in enumerate(whole) if fmr >= fnmr)
    (first, high), (last, low) = whole[after - 1 : after + 1]
    found = rates.eer
    assert found is not None
    assert (found.before, found.after) == ((float(first), float(high)), (float(last), float(low)))
    assert (found.lower, found.upper) == (float(max(first, low)), float(min(high, last)))
    assert found.interpolated == float(oracle.crossing(whole))
    threshold = sorted({*keys[0], *keys[1]})[after - 1]
    assert found.threshold == fnmr_oracle.distance(distance, threshold)


@pytest.mark.parametrize("distance", fnmr_oracle.DISTANCES)
@pytest.mark.parametrize("name", HARD_SETS)
def test_of_embeddings_by_the_definition(name: str, distance: str) -> None:
    random = np.random.default_rng(17)
    data, labels = HARD_SETS[name](random, (9, 3)), random.integers(0, 3, size=9)
    try:
        check(data, distance, labels)
    except InputError as error:  # a distance that float64 does not have is refused, with or without eer=
        if "exceeds the largest float64" not in str(error) or abs(data.astype(float)).max() < 1e150:
            raise


@pytest.mark.parametrize("name", ["gaussian float64", "0.1, 0.2, 0.3 float32", "int8"])
def test_narrowed_windows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few pairs, a window would not be narrowed."""
    monkeypatch.setattr(counting, "FEW_PAIRS", 3)
    random = np.random.default_rng(18)
    data = HARD_SETS[name](random, (18, 3))
    check(data, "cosine", random.integers(0, 5, size=18), threads=2)
    check(data, "euclidean", random.integers(0, 5, size=18))


def test_of_embeddings_as_of_their_distances() -> None:
    random = np.random.default_rng(19)
    data, labels = random.integers(0, 2, size=(300, 12)).astype(bool), random.integers(0, 20, size=300)
    distances = (data[:, None] != data[None]).sum(axis=2)
    same, other = labels[:, None] == labels[None], ~np.eye(300, dtype=bool)
    rates = tp.fnmr_at_fmr(data, labels, distance="hamming", eer=True)
    assert rates.eer == tp.det_curve(distances[same & other], distances[~same]).eer
    assert rates.eer is not None
    assert rates.to_dict()["eer"]["upper"] == rates.eer.upper
    assert f"{rates.eer.upper:.4f}" in str(rates)
    assert rates == tp.fnmr_at_fmr(data[::-1], labels[::-1], distance="hamming", eer=True, memory="16MiB", threads=2)
    half = tp.fnmr_at_fmr(
        data[:100], labels[:100], gallery=data[100:], gallery_labels=labels[100:], distance="hamming", eer=True
    )
    relevant = labels[:100, None] == labels[None, 100:]
    assert half.eer == tp.det_curve(distances[:100, 100:][relevant], distances[:100, 100:][~relevant]).eer
    counted = lambda a, b: (a[:, None] != b[None]).sum(axis=2)  # noqa: E731
    assert tp.fnmr_at_fmr(data, labels, distance=counted, eer=True).eer == rates.eer


def test_not_asked_for() -> None:
    rates = tp.fnmr_at_fmr([[0], [1], [3], [7]], ["a", "a", "b", "b"])
    assert rates.eer is None
    assert "eer" not in rates.to_dict()


# The curve of embeddings


def check_curve(data: Array, distance: str, labels: Array, **options: Any) -> None:
    """Compare the curve with that of the places of all pairs, which are ordered by distances in fractions."""
    count = len(data)
    pairs = [(q, i, bool(labels[q] == labels[i])) for q in range(count) for i in range(count) if q != i]
    rows = [list(map(Fraction, row)) for row in data.tolist()]
    relevant, others = fnmr_oracle.pairs(distance, rows, rows, pairs)
    place = {key: at for at, key in enumerate(sorted({*relevant, *others}))}
    whole = tp.det_curve([place[key] for key in relevant], [place[key] for key in others])
    rates = tp.fnmr_at_fmr(data, labels, distance=distance, curve=True, **options)
    curve = rates.curve
    assert curve is not None
    assert curve.eer == rates.eer == tp.fnmr_at_fmr(data, labels, distance=distance, eer=True).eer
    for far in (0.0, 0.01, 0.1, 0.3, 1.0):
        assert curve.tar(far) == whole.tar(far)
    best = oracle.points("".join("r" * relevant.count(key) + "o" * others.count(key) for key in place))
    for p in (Fraction(1, 2), Fraction(1, 20), Fraction(9, 10)):
        bounds = curve.min_dcf(float(p))
        assert bounds == whole.min_dcf(float(p))
        for value, points in ((bounds.lower, best), (bounds.upper, oracle.thresholds(relevant, others))):
            assert value == pytest.approx(float(oracle.min_dcf(points, p, Fraction(1), Fraction(1))), rel=1e-12)
    of_whole = set(zip(whole.false_matches.tolist(), whole.false_non_matches.tolist(), strict=True))
    of_curve = set(zip(curve.false_matches.tolist(), curve.false_non_matches.tolist(), strict=True))
    assert of_curve <= of_whole
    assert {misses for _, misses in of_curve} == {misses for _, misses in of_whole}
    assert {fnmr_oracle.distance(distance, key) for key in relevant} <= set(curve.thresholds.tolist())
    assert (curve.thresholds[1:] >= curve.thresholds[:-1]).all()


@pytest.mark.few(8)
@pytest.mark.parametrize("distance", fnmr_oracle.DISTANCES)
@pytest.mark.parametrize("name", HARD_SETS)
def test_curve_of_embeddings_by_the_definition(name: str, distance: str) -> None:
    random = np.random.default_rng(20)
    data, labels = HARD_SETS[name](random, (9, 3)), random.integers(0, 3, size=9)
    try:
        check_curve(data, distance, labels, threads=2)
    except InputError as error:
        if "exceeds the largest float64" not in str(error) or abs(data.astype(float)).max() < 1e150:
            raise


def without_ranking(curve: tp.DetCurve) -> dict[str, Any]:
    """The numbers of a curve but the average precision, for which pairs that are only counted may be too many."""
    return {name: value for name, value in curve.to_dict().items() if name != "average_precision"}


def test_curve_of_embeddings_as_of_their_distances() -> None:
    random = np.random.default_rng(21)
    data, labels = random.integers(0, 2, size=(200, 12)).astype(bool), random.integers(0, 20, size=200)
    distances = (data[:, None] != data[None]).sum(axis=2)
    same, other = labels[:, None] == labels[None], ~np.eye(200, dtype=bool)
    whole = tp.det_curve(distances[same & other], distances[~same])
    counted = lambda a, b: (a[:, None] != b[None]).sum(axis=2)  # noqa: E731
    for distance in ("hamming", counted):
        rates = tp.fnmr_at_fmr(data, labels, distance=distance, curve=True, memory="16MiB", threads=2)
        assert rates.curve is not None
        assert rates.curve.to_dict() == without_ranking(whole)
        assert rates.to_dict()["curve"] == without_ranking(whole)
        assert f"TAR at FAR 0.1 {whole.tar(0.1).lower:.4f} to {whole.tar(0.1).upper:.4f}" in " ".join(
            str(rates).split()
        )
    half: dict[str, Any] = {"gallery": data[80:], "gallery_labels": labels[80:], "distance": "hamming", "curve": True}
    rates = tp.fnmr_at_fmr(data[:80], labels[:80], **half)
    relevant = labels[:80, None] == labels[None, 80:]
    assert rates.curve is not None
    half_of_them = distances[:80, 80:]
    assert rates.curve.to_dict() == without_ranking(tp.det_curve(half_of_them[relevant], half_of_them[~relevant]))


def test_refused_curve() -> None:
    points = np.random.default_rng(22).normal(size=(300, 2))
    with pytest.raises(InputError, match="all 44,700 relevant pairs, about 22,886,400 bytes"):
        tp.fnmr_at_fmr(points, np.arange(300) % 2, curve=True, memory="2MiB")
    with pytest.raises(InputError, match="curve must be True or False"):
        tp.fnmr_at_fmr(points, np.arange(300) % 2, curve="yes")  # type: ignore[arg-type]


def test_labels_and_scores_as_scikit_learn_takes_them_are_refused_and_the_advice_works() -> None:
    labels, scores = np.array([1, 0, 1, 0]), np.array([0.9, 0.2, 0.8, 0.1])
    with pytest.raises(InputError, match="pass det_curve") as refused:
        tp.det_curve(labels, scores)
    call = str(refused.value).partition("pass ")[2].partition(". ")[0]
    curve = eval(f"tp.{call}", {"tp": tp, "labels": labels, "scores": scores})
    assert curve.eer.lower == curve.eer.upper == 0.0  # the scores separate the labels


def test_hard_decisions_and_few_distances_of_zero_and_one_are_no_labels() -> None:
    decisions = tp.det_curve([0, 0, 1, 0], [1, 1, 0, 1])  # on both sides
    assert decisions.eer.lower == decisions.eer.upper == 0.25  # one of four on each side
    assert tp.det_curve([0, 1, 1], [2, 3, 1, 5]).eer.lower == 0.0  # other numbers of pairs
    both = np.array([0, 1, 1]), np.array([1, 4, 2])
    with pytest.raises(InputError, match="add 2 to all of them"):
        tp.det_curve(*both)
    assert tp.det_curve(both[0] + 2, both[1] + 2).eer.upper == tp.det_curve(both[0] / 10, both[1] / 10).eer.upper


# The picture


def test_picture() -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    ax = tp.det_curve([0.1, 0.2, 0.3, 0.5, 0.5], [0.5, 0.5, 0.7, 0.8, 0.9]).plot(figure.subplots())
    (marked,) = (line for line in ax.lines if line.get_label() == "EER")
    assert marked.get_xdata() == marked.get_ydata()
    assert float(marked.get_xdata()[0]) == pytest.approx(-0.8416212335729143)  # the normal deviate of 0.2
    assert "0.0000 to 0.4000" in ax.get_title("left")
