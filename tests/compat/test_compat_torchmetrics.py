"""tieproof.compat.torchmetrics, compared with torchmetrics, alone, and in two processes."""

import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from fractions import Fraction
from inspect import signature
from itertools import pairwise, permutations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tieproof as tp

torch = pytest.importorskip("torch")
original: Any = pytest.importorskip("torchmetrics.retrieval")
functional: Any = pytest.importorskip("torchmetrics.functional.retrieval")
ours: Any = pytest.importorskip("tieproof.compat.torchmetrics")

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]

QUERIES = 25
K = (None, 1, 3, 10, 100)
CASES: dict[str, list[dict[str, Any]]] = {
    "RetrievalMAP": [{"top_k": k} for k in K],
    "RetrievalMRR": [{"top_k": k} for k in K],
    "RetrievalPrecision": [{"top_k": k, "adaptive_k": adaptive} for k in K for adaptive in (False, True)],
    "RetrievalRecall": [{"top_k": k} for k in K],
    "RetrievalHitRate": [{"top_k": k} for k in K],
    "RetrievalNormalizedDCG": [{"top_k": k} for k in K],
    "RetrievalFallOut": [{"top_k": k} for k in K],
    "RetrievalRPrecision": [{}],
    "RetrievalAUROC": [{"top_k": k, "max_fpr": f} for k in K for f in (None, 0.25, 0.6, 1.0)],
    "RetrievalPrecisionRecallCurve": [{}, {"max_k": 4}, {"max_k": 30}, {"max_k": 30, "adaptive_k": True}],
    "RetrievalRecallAtFixedPrecision": [{"min_precision": p} for p in (0.0, 0.3, 0.9, 1.0)] + [{"max_k": 3}],
}
EVERY = [(name, options) for name, cases in CASES.items() for options in cases]


def data(tied: bool, name: str = "") -> tuple[Any, Any, Any]:
    """Positive scores for queries with different numbers of items; some queries have no relevant item."""
    random = np.random.default_rng(1)
    indexes = np.repeat(np.arange(QUERIES) * 7 - 3, random.integers(1, 21, size=QUERIES))
    count = len(indexes)
    scores = random.integers(1, 5, size=count) / 8 if tied else (random.permutation(count) + 1) / 1024
    target = random.choice([0, 0, 1], size=count)
    if name == "RetrievalNormalizedDCG":
        target = random.choice([0, 0, 1, 2, 5], size=count)
    return torch.tensor(scores, dtype=torch.float32), torch.tensor(target), torch.tensor(indexes)


def computed(metric: Any, tensors: tuple[Any, Any, Any], order: Any = None, parts: int = 1) -> Any:
    """The metric of all items, in a given order and in batches."""
    places = np.arange(len(tensors[0])) if order is None else order
    for part in np.array_split(places, parts):
        metric.update(*(values[torch.from_numpy(part)] for values in tensors))
    found = metric.compute()
    return np.hstack([np.asarray(part) for part in found]) if isinstance(found, tuple) else np.asarray(found)


@pytest.mark.parametrize(("name", "options"), EVERY)
@pytest.mark.parametrize("empty", ["neg", "pos", "skip"])
def test_equal_without_ties(name: str, options: dict[str, Any], empty: str) -> None:
    tensors = data(tied=False, name=name)
    theirs = computed(getattr(original, name)(empty_target_action=empty, **options), tensors)
    mine = computed(getattr(ours, name)(empty_target_action=empty, **options), tensors)
    np.testing.assert_allclose(mine, theirs, rtol=2e-6, atol=1e-7)


@pytest.mark.parametrize("aggregation", ["median", "min", "max", torch.nanmean])
@pytest.mark.parametrize("name", ["RetrievalMAP", "RetrievalNormalizedDCG", "RetrievalPrecisionRecallCurve"])
def test_aggregations(name: str, aggregation: Any) -> None:
    tensors = data(tied=False, name=name)
    theirs = computed(getattr(original, name)(aggregation=aggregation), tensors)
    mine = computed(getattr(ours, name)(aggregation=aggregation), tensors)
    np.testing.assert_allclose(mine, theirs, rtol=2e-6, atol=1e-7)


def test_ignored_items() -> None:
    scores, target, indexes = data(tied=False)
    target = torch.where(torch.arange(len(target)) % 5 == 0, -1, target)
    theirs = computed(original.RetrievalMAP(ignore_index=-1), (scores, target, indexes))
    assert computed(ours.RetrievalMAP(ignore_index=-1), (scores, target, indexes)) == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize(("name", "options"), EVERY)
def test_inside_the_interval_with_ties(name: str, options: dict[str, Any]) -> None:
    tensors = data(tied=True, name=name)
    kind = getattr(ours, name)
    random = np.random.default_rng(2)
    lower, upper = (computed(kind(ties=part, **options), tensors) for part in ("lower", "upper"))
    default = "upper" if name == "RetrievalFallOut" else "lower"
    for parts in (1, 4, 9):
        order = random.permutation(len(tensors[0]))
        shuffled = computed(kind(**options), tensors, order, parts)
        assert shuffled.tolist() == {"lower": lower, "upper": upper}[default].tolist()
        if name != "RetrievalRecallAtFixedPrecision":  # the cutoff has no interval
            theirs = computed(getattr(original, name)(**options), tensors, order)
            assert (lower - 1e-6 <= theirs).all()
            assert (theirs <= upper + 1e-6).all()


def test_averages_over_ties_are_the_expected_values() -> None:
    for name in ("RetrievalNormalizedDCG", "RetrievalAUROC"):  # of whole rankings
        tensors = data(tied=True, name=name)
        expected = computed(getattr(ours, name)(ties="expected"), tensors)
        assert expected == pytest.approx(computed(getattr(original, name)(), tensors), rel=1e-5)


def area(relevant: list[bool], top_k: int, max_fpr: Fraction) -> Fraction:
    """The definition: the area under the steps of a ranking's first items up to a rate, standardized by McClish."""
    first = relevant[:top_k]
    p, q = sum(first), len(first) - sum(first)
    if not p or not q:
        return Fraction(0)
    area, rate, found = Fraction(0), Fraction(0), 0
    for each in first:
        found += each
        if not each:
            width = min(rate + Fraction(1, q), max_fpr) - min(rate, max_fpr)
            area, rate = area + width * Fraction(found, p), rate + Fraction(1, q)
    least = max_fpr**2 / 2
    return (1 + (area - least) / (max_fpr - least)) / 2


AREAS = [
    ([1, 1, 1, 1, 1, 1, 1], [1, 0, 1, 0, 0, 1, 0]),
    ([3, 2, 2, 2, 1, 1, 1], [0, 1, 0, 1, 0, 1, 1]),
    ([2, 2, 2, 2, 2, 1, 0], [1, 1, 1, 0, 0, 0, 1]),
    ([5, 5, 4, 4, 3, 3, 2], [1, 0, 0, 1, 1, 0, 0]),
    ([1, 1, 1, 0, 0], [1, 1, 1, 1, 1]),
    ([0.0, -0.0, 5e-324, 1.0, 1.0 + 2**-52], [1, 0, 1, 0, 1]),
    ([7], [1]),
]


@pytest.mark.parametrize(("scores", "target"), AREAS)
@pytest.mark.parametrize("max_fpr", [Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(5, 8), Fraction(1)])
def test_area_over_all_orderings(scores: list[float], target: list[int], max_fpr: Fraction) -> None:
    area_of = pytest.importorskip("tieproof.compat.torchmetrics.area").area_of
    orders = [
        [bool(target[item]) for item in order]
        for order in permutations(range(len(scores)))
        if all(scores[a] >= scores[b] for a, b in pairwise(order))
    ]
    for top_k in range(1, len(scores) + 1):
        values = [area(order, top_k, max_fpr) for order in orders]
        mean = sum(values) / len(values)
        variance = sum((value - mean) ** 2 for value in values) / len(values)
        found = area_of(np.array(scores), np.array(target) > 0, top_k, float(max_fpr))
        assert [found.lower, found.expected, found.upper] == pytest.approx(
            [float(min(values)), float(mean), float(max(values))], rel=1e-12, abs=1e-15
        )
        assert found.std == pytest.approx(float(variance) ** 0.5, rel=1e-10, abs=1e-12)


def test_area_of_one_huge_tie_and_in_every_order() -> None:
    area_of = pytest.importorskip("tieproof.compat.torchmetrics.area").area_of
    random = np.random.default_rng(0)
    relevant = random.permutation(np.arange(4000) < 1500)
    found = area_of(np.zeros(4000), relevant, 2000, 1.0)
    assert [found.lower, found.expected, found.upper] == pytest.approx([0.0, 0.5, 1.0], rel=1e-12)
    assert 0 < found.std < 0.02
    scores = random.integers(0, 9, size=300).astype(np.float64)
    for max_fpr in (0.1, 1.0):
        order = random.permutation(300)
        assert area_of(scores[order], relevant[:300][order], 77, max_fpr) == area_of(
            scores, relevant[:300], 77, max_fpr
        )


def test_area_up_to_a_rate_is_that_of_sklearn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(4)
    for max_fpr in (0.05, 0.25, 1 / 3, 0.9):
        scores, target = random.permutation(60) / 64, random.integers(0, 2, size=60)
        value = ours.retrieval_auroc(torch.tensor(scores), torch.tensor(target), max_fpr=max_fpr)
        assert value.item() == pytest.approx(metrics.roc_auc_score(target, scores, max_fpr=max_fpr), rel=1e-6)


FUNCTIONS = [name for name in ours.__all__ if name.startswith("retrieval_")]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_equal_without_ties_and_inside_with_them(name: str) -> None:
    functions = pytest.importorskip("torchmetrics.functional.retrieval")
    assert sorted(functions.__all__) == sorted(FUNCTIONS)
    function, theirs = getattr(ours, name), getattr(functions, name)
    options = [*signature(theirs).parameters][2:]
    assert [*signature(function).parameters] == ["preds", "target", *options, "ties"]
    cut = options[:1]
    random = np.random.default_rng(5)
    for k in (None, 1, 3, 20):
        for target in (
            random.integers(0, 2, size=(3, 4)),
            np.zeros((3, 4), dtype=np.int64),
            np.ones((3, 4), np.int64),
        ):
            given = dict.fromkeys(cut, k) | ({"adaptive_k": True} if k == 20 and "adaptive_k" in options else {})
            scores, relevant = torch.tensor((random.permutation(12).reshape(3, 4) + 1) / 16), torch.tensor(target)
            expected = theirs(scores, relevant, **given)
            found = function(scores, relevant, **given)
            tied = (scores * 4).ceil() / 4
            lower, upper = (function(tied, relevant, ties=end, **given) for end in ("lower", "upper"))
            other = theirs(tied, relevant, **given)
            if isinstance(found, tuple):
                found, expected, lower, upper, other = map(torch.cat, (found, expected, lower, upper, other))
            assert found.tolist() == pytest.approx(expected.tolist(), rel=1e-6)
            assert ((lower <= other + 1e-6) & (other <= upper + 1e-6)).all()


def test_interval_is_that_of_tieproof() -> None:
    random = np.random.default_rng(3)
    scores, target = random.integers(1, 5, size=(8, 12)), random.integers(0, 2, size=(8, 12))
    target[:, 0] = 1
    metric = ours.RetrievalMAP(ties="interval")
    metric.update(torch.tensor(scores), torch.tensor(target), torch.arange(8)[:, None].expand(8, 12))
    result = tp.evaluate_scores(scores, target, measures=["AP"])["AP"]
    found = metric.compute()
    assert {name: value.item() for name, value in found.items()} == {
        name: np.float32(getattr(result, name)) for name in ("lower", "expected", "upper", "std")
    }
    curve = ours.RetrievalPrecisionRecallCurve(max_k=2, ties="interval")
    curve.update(torch.tensor([0.5, 0.5]), torch.tensor([1, 0]), torch.tensor([0, 0]))
    precision, recall, cutoffs = curve.compute()
    assert [precision["lower"].tolist(), precision["upper"].tolist()] == [[0, 0.5], [1, 0.5]]
    assert [recall["expected"].tolist(), cutoffs.tolist()] == [[0.5, 1], [1, 2]]


def test_scores_keep_their_digits_and_their_sign() -> None:
    # The library converts scores to float32, in which these are equal, and treats scores below 0 as not relevant.
    for scores in ([1.0, 1.0 + 2.0**-40], [-2.0, -1.0]):
        metric = ours.RetrievalMRR(ties="interval")
        metric.update(torch.tensor(scores, dtype=torch.float64), torch.tensor([0, 1]), torch.tensor([4, 4]))
        assert metric.compute()["lower"].item() == 1.0


def test_torchmetrics_can_collect_reset_and_draw_them() -> None:
    torchmetrics = pytest.importorskip("torchmetrics")
    tensors = data(tied=True)
    collection = torchmetrics.MetricCollection([ours.RetrievalMAP(), ours.RetrievalMRR(), ours.RetrievalFallOut()])
    collection.update(*tensors[:2], indexes=tensors[2])
    assert set(collection.compute()) == {"RetrievalMAP", "RetrievalMRR", "RetrievalFallOut"}
    metric = ours.RetrievalMAP()
    value = metric(*tensors[:2], indexes=tensors[2])
    assert metric.compute() == value
    metric.reset()
    assert metric.indexes == []
    metric.update(*tensors[:2], indexes=tensors[2])
    figure, _ = metric.plot()
    assert figure.axes
    curve = ours.RetrievalPrecisionRecallCurve()
    curve.update(*tensors[:2], indexes=tensors[2])
    assert curve.plot()[0].axes


PROCESS = """
    import json, os, sys
    import numpy as np
    import torch
    import torch.distributed as dist
    from tieproof.compat.oml import EmbeddingMetrics, QueryGalleryLabeledDataset
    from tieproof.compat import torchmetrics

    rank = int(sys.argv[1])
    dist.init_process_group("gloo", init_method=f"file://{sys.argv[2]}", rank=rank, world_size=2)
    random = np.random.default_rng(0)
    scores, target = (torch.from_numpy(random.integers(0, n, size=200)) for n in (5, 2))
    indexes = torch.from_numpy(random.integers(0, 9, size=200))
    mine = torch.arange(200)[rank::2] if rank else torch.arange(200)[0::2].flip(0)
    found = {}
    for name in ("RetrievalMAP", "RetrievalNormalizedDCG"):
        metric = getattr(torchmetrics, name)()
        for part in mine.split(17 + 20 * rank):  # not as many batches in each process
            metric.update(scores[part], target[part], indexes[part])
        found[name] = metric.compute().item()
    rest = slice(200 * rank)  # one of them gets no more
    metric.update(scores[rest], target[rest], indexes[rest])
    found["more"] = metric.compute().item()
    empty = torchmetrics.RetrievalMRR()
    if rank:
        empty.update(scores.double() / 3, target, indexes + 2**40)
    found["one process has it all"] = empty.compute().item()
    curve = torchmetrics.RetrievalPrecisionRecallCurve(max_k=3)
    curve.update(scores[mine], target[mine], indexes[mine])
    found["curve"] = torch.cat(curve.compute()).tolist()
    labels = random.integers(0, 4, size=50)
    vectors = torch.from_numpy(random.integers(0, 3, size=(50, 3)))
    metrics = EmbeddingMetrics(QueryGalleryLabeledDataset(labels), verbose=False, fmr_vals=(0.1,))
    metrics.setup()
    own = torch.arange(50)[rank::2]
    own = torch.cat([own, own[:1], torch.tensor([7])])  # samplers fill up batches, and processes share items
    metrics.update(vectors[own], own)
    found["oml"] = repr(metrics.compute_metrics())
    print(json.dumps(found))
    dist.destroy_process_group()
"""


def test_two_processes(tmp_path: Path) -> None:
    script = tmp_path / "process.py"
    script.write_text(textwrap.dedent(PROCESS))
    running = [
        subprocess.Popen(
            [sys.executable, str(script), str(rank), str(tmp_path / "meeting")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    results = [process.communicate(timeout=540) for process in running]
    assert [process.returncode for process in running] == [0, 0], results
    printed = [out.splitlines()[-1] for out, _ in results]
    assert printed[0] == printed[1]
    assert json.loads(printed[0]) == alone()


def alone() -> dict[str, Any]:
    """The value that a single process computes from the data that two processes share."""
    from tieproof.compat.oml import EmbeddingMetrics, QueryGalleryLabeledDataset

    random = np.random.default_rng(0)
    scores, target = (torch.from_numpy(random.integers(0, n, size=200)) for n in (5, 2))
    tensors = scores, target, torch.from_numpy(random.integers(0, 9, size=200))
    names = ("RetrievalMAP", "RetrievalNormalizedDCG")
    found: dict[str, Any] = {name: computed(getattr(ours, name)(), tensors).item() for name in names}
    twice = [torch.cat([values, values]) for values in tensors]
    found["more"] = computed(ours.RetrievalNormalizedDCG(), tuple(twice)).item()
    found["one process has it all"] = computed(ours.RetrievalMRR(), tensors).item()
    found["curve"] = computed(ours.RetrievalPrecisionRecallCurve(max_k=3), tensors).tolist()
    labels, vectors = random.integers(0, 4, size=50), random.integers(0, 3, size=(50, 3))
    metrics = EmbeddingMetrics(QueryGalleryLabeledDataset(labels), verbose=False, fmr_vals=(0.1,))
    metrics.setup()
    metrics.update(torch.from_numpy(vectors), np.arange(50))
    return found | {"oml": repr(metrics.compute_metrics())}


def test_refused() -> None:
    one = torch.tensor([0.5])
    target, index = torch.tensor([1]), torch.tensor([0])
    none = torch.tensor([0])
    error = ours.RetrievalMAP(empty_target_action="error")
    error.update(one, none, index)
    ignored = ours.RetrievalMAP(ignore_index=1)
    ignored.update(one, target, index)
    calls: dict[str, Callable[[], Any]] = {
        "of the same shape, but": lambda: ours.RetrievalMAP().update(one, target, torch.tensor([0, 1])),
        "not torch.float32": lambda: ours.RetrievalMAP().update(one, target, one),
        "`binary` values, 0 or 1, but ranges from 2 to 2": lambda: ours.RetrievalMAP().update(one, target + 1, index),
        "contain numbers of at least 0": lambda: ours.RetrievalNormalizedDCG().update(one, -target, index),
        "NaN or infinity": lambda: ours.RetrievalMAP().update(one / 0, target, index),
        "nothing to compute": lambda: ours.RetrievalMAP().compute(),
        "There is nothing to compute": lambda: ignored.compute(),
        "Unknown ties='best'": lambda: ours.RetrievalMAP(ties="best"),
        "wrong value `no`. Known: neg, pos, skip, error": lambda: ours.RetrievalMAP(empty_target_action="no"),
        "Unknown aggregation": lambda: ours.RetrievalMAP(aggregation="sum"),
        "needs aggregation='mean'": lambda: ours.RetrievalMAP(aggregation="max", ties="interval"),
        "top_k` has .*, not 0": lambda: ours.RetrievalMAP(top_k=0),
        "True or False, not 1": lambda: ours.RetrievalPrecision(adaptive_k=1),
        "max_k` has to be .*, not 0": lambda: ours.RetrievalPrecisionRecallCurve(max_k=0),
        "not booleans": lambda: ours.RetrievalMAP().update(one > 0, target, index),
        "top_k` has to be .*, not True": lambda: ours.RetrievalAUROC(top_k=True),
        "above 0 and at most 1, or None, not 0": lambda: ours.RetrievalAUROC(max_fpr=0),
        "at most 1, or None, not nan": lambda: ours.RetrievalAUROC(max_fpr=float("nan")),
        "at most 1, or None, not True": lambda: ours.RetrievalAUROC(max_fpr=True),
        "Pass the scores of all items of a query": lambda: ours.retrieval_recall(one[:0], target[:0]),
        "min_precision must be": lambda: ours.RetrievalRecallAtFixedPrecision(min_precision=2.0),
        "a cutoff has no interval": lambda: ours.RetrievalRecallAtFixedPrecision(ties="interval"),
        "`ignore_index` must be an integer or None, not 'x'": lambda: ours.RetrievalMAP(ignore_index="x"),
        "no positive target. The number of such queries is 1": lambda: error.compute(),
    }
    for message, call in calls.items():
        with pytest.raises(tp.InputError, match=message):
            call()


ONE, MANY = torch.tensor([0.5]), torch.tensor([0.5, 0.25])
NONE, HIT = torch.tensor([0]), torch.tensor([1])


@pytest.mark.parametrize(
    "call",
    [
        lambda library: library.RetrievalMAP(empty_target_action="casual"),
        lambda library: library.RetrievalMAP(ignore_index=-100.0),
        lambda library: library.RetrievalRecall(top_k=-10),
        lambda library: library.RetrievalRecall(top_k=4.0),
        lambda library: library.RetrievalPrecisionRecallCurve(max_k=0),
        lambda library: library.RetrievalPrecision(adaptive_k=None),
        lambda library: library.RetrievalMAP()(ONE, HIT, indexes=None),
        lambda library: library.RetrievalMAP()(MANY, HIT, indexes=NONE),
        lambda library: library.RetrievalMAP()(ONE[:0], HIT[:0], indexes=NONE[:0]),
        lambda library: library.RetrievalMAP()(ONE, HIT, indexes=NONE.bool()),
        lambda library: library.RetrievalMAP()(ONE.bool(), HIT, indexes=NONE),
        lambda library: library.RetrievalMAP()(ONE, HIT + 1, indexes=NONE),
        lambda library: library.RetrievalMAP(empty_target_action="error")(ONE, NONE, indexes=NONE),
        lambda library: library.RetrievalFallOut(empty_target_action="error")(ONE, HIT, indexes=NONE),
        lambda library: library.retrieval_recall(MANY, HIT),
        lambda library: library.retrieval_recall(ONE[:0], HIT[:0]),
        lambda library: library.retrieval_recall(ONE.bool(), HIT),
        lambda library: library.retrieval_recall(ONE, HIT + 1),
    ],
)
def test_errors_have_the_words_of_torchmetrics(call: Callable[[Any], Any]) -> None:
    library = SimpleNamespace(**{**vars(functional), **vars(original)})
    with pytest.raises(ValueError, match=r"`\w+`") as theirs:
        call(library)
    with pytest.raises(tp.InputError, match=re.escape(str(theirs.value).rstrip("."))):
        call(ours)


def test_all_queries_skipped() -> None:
    metric = ours.RetrievalMAP(empty_target_action="skip")
    metric.update(torch.tensor([0.5]), torch.tensor([0]), torch.tensor([0]))
    assert metric.compute().item() == 0.0


def test_unsigned_integers_of_64_bits_do_not_wrap() -> None:
    scores, target = torch.tensor([0.5, 0.1]), torch.tensor([1, 0])
    indexes = torch.tensor([1, 2**63 + 1], dtype=torch.uint64)
    for given in ((scores, target, indexes), (scores, target.to(torch.uint64), target)):
        with pytest.raises(tp.InputError, match=r"must not be uint64, whose values may exceed int64"):
            ours.RetrievalMAP().update(*given)


def test_a_metric_is_one_of_the_library_and_its_extension_point_is_refused() -> None:
    from torchmetrics.retrieval.base import RetrievalMetric

    class Mine(ours.RetrievalMAP):  # type: ignore[misc]
        def _metric(self, preds: Any, target: Any) -> Any:
            return torch.tensor(0.25)

    class Other(ours.RetrievalMAP):  # type: ignore[misc]
        def measures(self, length: int, longest: int) -> list[str]:
            return ["P@1"]

    preds, target = torch.tensor([0.5, 0.5, 0.1]), torch.tensor([0, 1, 0])
    for name in (name for name in ours.__all__ if name.startswith("Retrieval")):
        assert issubclass(getattr(ours, name), RetrievalMetric)
    assert ours.RetrievalMAP()._metric(preds, target) == 0.5
    assert Other(ties="upper")(preds, target, indexes=torch.zeros(3, dtype=torch.long)) == 1.0
    with pytest.raises(tp.InputError, match="Mine overrides _metric, which sees one order"):
        Mine()
