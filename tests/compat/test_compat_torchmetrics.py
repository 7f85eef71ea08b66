"""tieproof.compat.torchmetrics, compared with torchmetrics, alone, and in two processes."""

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tieproof as tp

torch = pytest.importorskip("torch")
original: Any = pytest.importorskip("torchmetrics.retrieval")
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
    "RetrievalAUROC": [{}],
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
    for name in ("RetrievalNormalizedDCG", "RetrievalAUROC"):
        tensors = data(tied=True, name=name)
        expected = computed(getattr(ours, name)(ties="expected"), tensors)
        assert expected == pytest.approx(computed(getattr(original, name)(), tensors), rel=1e-5)


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
        "one shape": lambda: ours.RetrievalMAP().update(one, target, torch.tensor([0, 1])),
        "indexes must be integers": lambda: ours.RetrievalMAP().update(one, target, one),
        "target must be 0 or 1": lambda: ours.RetrievalMAP().update(one, target + 1, index),
        "target must be at least 0": lambda: ours.RetrievalNormalizedDCG().update(one, -target, index),
        "NaN or infinity": lambda: ours.RetrievalMAP().update(one / 0, target, index),
        "nothing to compute": lambda: ours.RetrievalMAP().compute(),
        "There is nothing to compute": lambda: ignored.compute(),
        "Unknown ties='best'": lambda: ours.RetrievalMAP(ties="best"),
        "Unknown empty_target_action": lambda: ours.RetrievalMAP(empty_target_action="no"),
        "Unknown aggregation": lambda: ours.RetrievalMAP(aggregation="sum"),
        "needs aggregation='mean'": lambda: ours.RetrievalMAP(aggregation="max", ties="interval"),
        "top_k must be": lambda: ours.RetrievalMAP(top_k=0),
        "adaptive_k must be": lambda: ours.RetrievalPrecision(adaptive_k=1),
        "max_k must be": lambda: ours.RetrievalPrecisionRecallCurve(max_k=0),
        "top_k=3 is not offered": lambda: ours.RetrievalAUROC(top_k=3),
        "min_precision must be": lambda: ours.RetrievalRecallAtFixedPrecision(min_precision=2.0),
        "a cutoff has no interval": lambda: ours.RetrievalRecallAtFixedPrecision(ties="interval"),
        "ignore_index must be": lambda: ours.RetrievalMAP(ignore_index="x"),
        "number of queries without a relevant item is 1": lambda: error.compute(),
    }
    for message, call in calls.items():
        with pytest.raises(tp.InputError, match=message):
            call()


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
