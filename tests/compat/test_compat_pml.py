"""tieproof.compat.pml, compared with pytorch-metric-learning and alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tieproof as tp
from tieproof.compat.pml import AccuracyCalculator

RANKING = (
    "mean_average_precision",
    "mean_average_precision_at_r",
    "mean_reciprocal_rank",
    "precision_at_1",
    "r_precision",
)


def data(seed: int, count: int, tied: bool = False) -> tuple[Any, Any]:
    """Embeddings and labels; the last label has only one item."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 9, size=count)
    labels[0] = 9
    if tied:
        return random.integers(0, 3, size=(count, 3)).astype(np.float32), labels
    return (random.normal(size=(count, 8)) + random.normal(size=(10, 8))[labels]).astype(np.float32), labels


def original(**options: Any) -> Any:
    """The library's own calculator, with distances in float32 by torch."""
    torch = pytest.importorskip("torch")
    module = pytest.importorskip("pytorch_metric_learning.utils.accuracy_calculator")
    inference = pytest.importorskip("pytorch_metric_learning.utils.inference")
    distances = pytest.importorskip("pytorch_metric_learning.distances")
    knn = inference.CustomKNN(distances.LpDistance(normalize_embeddings=False))
    return module.AccuracyCalculator(knn_func=knn, device=torch.device("cpu"), **options)


OPTIONS = [{}, {"avg_of_avgs": True}, {"return_per_class": True}]


def tasks() -> dict[str, tuple[Any, ...]]:
    """Arguments of get_accuracy."""
    queries, labels = data(0, 90)
    others, other_labels = data(1, 70)
    return {
        "leave-one-out": (queries, labels),
        "query and reference": (queries, labels, others, other_labels),
        "reference with the queries": (
            queries,
            labels,
            np.concatenate([queries, others]),
            np.concatenate([labels, other_labels]),
            True,
        ),
    }


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("k", [None, "max_bin_count", 1, 4, 12])
@pytest.mark.parametrize("task", tasks())
def test_equal_without_ties(options: dict[str, Any], k: Any, task: str) -> None:
    arguments = tasks()[task]
    theirs = original(include=RANKING, k=k, **options).get_accuracy(*arguments)
    mine = AccuracyCalculator(include=RANKING, k=k, **options).get_accuracy(*arguments)
    assert list(mine) == list(theirs)
    for name, value in theirs.items():
        assert mine[name] == pytest.approx(value, rel=1e-6, abs=1e-7), name


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", OPTIONS)
def test_labels_compared_by_a_function(options: dict[str, Any]) -> None:
    queries, labels = data(2, 60)
    columns = np.column_stack([labels % 3, labels // 3, np.arange(60) % 2]).astype(float)

    def same(one: Any, other: Any) -> Any:
        return (one[..., :2] == other[..., :2]).all(-1)

    arguments: dict[str, Any] = {
        "include": ("precision_at_1", "mean_average_precision_at_r"),
        "label_comparison_fn": same,
    }
    mine = AccuracyCalculator(**arguments, **options).get_accuracy(queries, columns)
    theirs = original(**arguments, **options).get_accuracy(queries, columns)
    for name, value in theirs.items():
        assert mine[name] == pytest.approx(value, rel=1e-6), name
    plain = AccuracyCalculator(include=arguments["include"]).get_accuracy(queries, labels)
    assert AccuracyCalculator(**arguments).get_accuracy(queries, columns) == plain


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_inside_the_interval_with_ties() -> None:
    queries, labels = data(3, 80, tied=True)
    bounds = [
        AccuracyCalculator(include=RANKING, ties=part).get_accuracy(queries, labels) for part in ("lower", "upper")
    ]
    random = np.random.default_rng(3)
    for _ in range(3):
        order = random.permutation(80)
        printed = original(include=RANKING).get_accuracy(queries[order], labels[order])
        again = AccuracyCalculator(include=RANKING).get_accuracy(queries[order], labels[order])
        assert again == bounds[0]
        for name, value in printed.items():
            assert bounds[0][name] < value < bounds[1][name], name


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_clusters() -> None:
    sklearn = pytest.importorskip("sklearn.metrics")
    pytest.importorskip("faiss")
    random = np.random.default_rng(4)
    labels = random.integers(0, 4, size=200)
    # Two of the four classes are separate, and two form one cloud: clusters differ from labels.
    queries = (random.normal(size=(200, 5)) + 40 * np.array([0, 1, 2, 2])[labels][:, None]).astype(np.float32)
    mine = AccuracyCalculator(include=("AMI", "NMI")).get_accuracy(queries, labels)
    assert 0.5 < mine["AMI"] < mine["NMI"] < 1
    order = random.permutation(200)
    assert AccuracyCalculator(include=("AMI", "NMI")).get_accuracy(queries[order], labels[order]) == pytest.approx(
        mine
    )
    given = random.integers(0, 4, size=200)
    found = AccuracyCalculator(include=("AMI", "NMI"), kmeans_func=lambda x, n: given).get_accuracy(queries, labels)
    assert found["AMI"] == pytest.approx(sklearn.adjusted_mutual_info_score(labels, given))
    assert found["NMI"] == pytest.approx(sklearn.normalized_mutual_info_score(labels, given))
    apart = (random.normal(size=(200, 5)) + 40 * np.arange(4)[labels][:, None]).astype(np.float32)
    assert AccuracyCalculator(include=("AMI", "NMI")).get_accuracy(apart, labels) == pytest.approx(
        {"AMI": 1, "NMI": 1}
    )
    every = AccuracyCalculator().get_accuracy(queries, labels)
    assert list(every) == list(original().get_accuracy(queries, labels))


def test_interval_and_choices() -> None:
    queries, labels = data(5, 60, tied=True)
    result = tp.evaluate(queries, labels, distance="euclidean", measures=["AP@R", "P@1"], average="macro")
    names = {"mean_average_precision_at_r": "AP@R", "precision_at_1": "P@1"}
    calculator = AccuracyCalculator(include=tuple(names), avg_of_avgs=True, ties="interval")
    found = calculator.get_accuracy(queries, labels)
    for name, measure in names.items():
        for part in ("lower", "expected", "upper", "std"):
            assert getattr(found[name], part) == pytest.approx(getattr(result[measure], part), rel=1e-12)
    per_class = AccuracyCalculator(include=tuple(names), return_per_class=True).get_accuracy(queries, labels)
    by_class = tp.evaluate(queries, labels, distance="euclidean", measures=["AP@R"], categories=labels)
    assert per_class["mean_average_precision_at_r"] == [
        by_class.category(c)["AP@R"].lower for c in by_class.categories
    ]
    cosine = AccuracyCalculator(include=("precision_at_1",), distance="cosine", ties="upper")
    assert (
        cosine.get_accuracy(queries, labels)["precision_at_1"]
        == tp.evaluate(queries, labels, measures=["P@1"])["P@1"].upper
    )


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("search", "distance"),
    [
        ("FaissKNN()", "euclidean"),
        ("FaissKNN(index_init_fn=faiss.IndexFlatIP)", "dot"),
        ("CustomKNN(CosineSimilarity())", "cosine"),
        ("CustomKNN(CosineSimilarity(), batch_size=7)", "cosine"),
        ("CustomKNN(DotProductSimilarity(normalize_embeddings=False))", "dot"),
        ("CustomKNN(DotProductSimilarity())", "cosine"),
        ("CustomKNN(LpDistance())", "cosine"),
        ("CustomKNN(LpDistance(normalize_embeddings=False))", "euclidean"),
        ("CustomKNN(LpDistance(normalize_embeddings=False, power=2))", "euclidean"),
        ("CustomKNN(LpDistance(normalize_embeddings=False, p=1))", "cityblock"),
    ],
)
def test_searches_of_the_library_name_the_distance(search: str, distance: str) -> None:
    torch, faiss = pytest.importorskip("torch"), pytest.importorskip("faiss")
    inference = pytest.importorskip("pytorch_metric_learning.utils.inference")
    module = pytest.importorskip("pytorch_metric_learning.utils.accuracy_calculator")
    distances = pytest.importorskip("pytorch_metric_learning.distances")
    knn = eval(search, {**vars(distances), **vars(inference), "faiss": faiss})
    queries, labels = data(8, 60)
    mine = AccuracyCalculator(include=RANKING, knn_func=knn).get_accuracy(queries, labels)
    assert mine == AccuracyCalculator(include=RANKING, distance=distance).get_accuracy(queries, labels)
    device = torch.device("cpu")
    theirs = module.AccuracyCalculator(include=RANKING, knn_func=knn, device=device).get_accuracy(queries, labels)
    assert mine == pytest.approx(theirs, rel=1e-6)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("search", "message"),
    [
        ("CustomKNN(SNRDistance())", "is a CustomKNN with SNRDistance, but only these are ranked exactly: Cosine"),
        ("CustomKNN(LpDistance(p=1))", "with LpDistance of p = 1 of normalized embeddings, but"),
        ("CustomKNN(LpDistance(normalize_embeddings=False, p=3))", "with LpDistance of p = 3, but"),
        ("FaissKNN(index_init_fn=faiss.IndexLSH)", "is a FaissKNN with LSH, but"),
    ],
)
def test_other_searches_are_refused(search: str, message: str) -> None:
    faiss = pytest.importorskip("faiss")
    inference = pytest.importorskip("pytorch_metric_learning.utils.inference")
    distances = pytest.importorskip("pytorch_metric_learning.distances")
    knn = eval(search, {**vars(distances), **vars(inference), "faiss": faiss})
    with pytest.raises(tp.InputError, match=message):
        AccuracyCalculator(knn_func=knn)


@pytest.mark.heavy
def test_clusters_of_the_library() -> None:
    """FaissKMeans takes a tensor."""
    pytest.importorskip("faiss")
    inference = pytest.importorskip("pytorch_metric_learning.utils.inference")
    queries, labels = data(9, 90)
    apart = (queries + 40 * labels[:, None]).astype(np.float32)
    found = AccuracyCalculator(include=("NMI",), kmeans_func=inference.FaissKMeans(nredo=10, seed=3))
    assert 0.8 < found.get_accuracy(apart, labels)["NMI"] <= 1


def test_names_chosen() -> None:
    queries, labels = data(6, 30)
    calculator = AccuracyCalculator(exclude=("AMI", "NMI", "precision_at_1"))
    assert list(calculator.get_accuracy(queries, labels)) == [name for name in RANKING if name != "precision_at_1"]
    assert list(calculator.get_accuracy(queries, labels, include=["r_precision"])) == ["r_precision"]
    assert "r_precision" not in calculator.get_accuracy(queries, labels, exclude=["r_precision"])


def test_queries_without_relevant_items_cause_a_warning() -> None:
    calculator = AccuracyCalculator(include=("precision_at_1",))
    with pytest.warns(UserWarning, match="No query has a relevant reference item"):
        assert np.isnan(calculator.get_accuracy([[0.0], [1.0]], [0, 1])["precision_at_1"])
    per_class = AccuracyCalculator(include=("precision_at_1",), return_per_class=True)
    with pytest.warns(UserWarning, match="No query"):
        assert len(per_class.get_accuracy([[0.0], [1.0]], [0, 1])["precision_at_1"]) == 2


def test_refused() -> None:
    queries, labels = data(7, 20)
    calculator = AccuracyCalculator(include=RANKING)
    calls: dict[str, Callable[[], Any]] = {
        "exclude each other": lambda: AccuracyCalculator(avg_of_avgs=True, return_per_class=True),
        "k must be": lambda: AccuracyCalculator(k=0),
        "unknown metric 'recall'": lambda: AccuracyCalculator(include=("recall",)),
        "not the name 'AMI'": lambda: AccuracyCalculator(include="AMI"),
        "compare labels by equality": lambda: AccuracyCalculator(label_comparison_fn=lambda x, y: x == y),
        "knn_func is a function, but only these": lambda: AccuracyCalculator(knn_func=lambda: None),
        "Leave out one of them": lambda: AccuracyCalculator(knn_func=lambda: None, distance="dot"),
        "Unknown ties='best'": lambda: AccuracyCalculator(ties="best"),  # type: ignore[arg-type]
        "query labels is 19, but": lambda: calculator.get_accuracy(queries, labels[1:]),
        "reference labels is 0, but": lambda: calculator.get_accuracy(queries, labels, queries),
        "they differ": lambda: calculator.get_accuracy(queries, labels, queries[::-1], labels[::-1], True),
    }
    for message, call in calls.items():
        with pytest.raises(tp.InputError, match=message):
            call()
    with pytest.raises(NotImplementedError, match="compare labels by equality"):
        AccuracyCalculator(include=("AMI",), label_comparison_fn=lambda x, y: x == y)


def test_methods_of_subclasses_that_would_be_ignored_are_refused() -> None:
    class Named(AccuracyCalculator):
        """A subclass without methods of its own."""

    class Fancy(AccuracyCalculator):
        def calculate_fancy(self, knn_labels: Any, **more: Any) -> float:
            return 1.0

        def requires_knn(self) -> list[str]:
            return ["fancy"]

    assert Named(include=("precision_at_1",), avg_of_avgs=True).description() == "avg_of_avgs"
    with pytest.raises(NotImplementedError, match="Fancy defines calculate_fancy, requires_knn, which would read"):
        Fancy(include=("precision_at_1",))


@pytest.mark.heavy
@pytest.mark.filterwarnings("ignore")
def test_in_the_testers_and_hooks_of_the_library(tmp_path: Any) -> None:
    """Testers and a HookContainer, whose records are kept in memory, have the numbers of the library's calculator."""
    torch = pytest.importorskip("torch")
    testers = pytest.importorskip("pytorch_metric_learning.testers")
    presets = pytest.importorskip("pytorch_metric_learning.utils.logging_presets")
    names = ("precision_at_1", "mean_average_precision_at_r")
    random = np.random.default_rng(5)
    vectors = torch.tensor(random.normal(size=(40, 4)), dtype=torch.float32)
    labels = torch.tensor(np.column_stack([np.arange(40) % 5, np.arange(40) % 2]))
    data_set = torch.utils.data.TensorDataset(vectors, labels)

    class Records:
        """What a hook uses of a RecordKeeper."""

        def __init__(self) -> None:
            self.hash_map: dict[str, str] = {}
            self.rows: list[tuple[str, int, dict[str, Any]]] = []

        def update_records(self, record: dict[str, Any], epoch: int, parent_name: str) -> None:
            self.rows.append((parent_name, epoch, dict(record)))

        def table_exists(self, name: str) -> bool:
            return False

        def save_records(self) -> None:
            """All records are in memory."""

    class Trainer:
        epoch, models = 1, {"trunk": torch.nn.Identity(), "embedder": torch.nn.Identity()}

        def step_lr_plateau_schedulers(self, accuracy: float) -> None:
            self.accuracy = accuracy

    def rows(calculator: Any, tester: str, level: Any) -> Any:
        records = Records()
        hooks = presets.HookContainer(records, primary_metric=names[0], save_models=False)
        made = getattr(testers, tester)(
            accuracy_calculator=calculator,
            end_of_testing_hook=hooks.end_of_testing_hook,
            dataloader_num_workers=0,
            label_hierarchy_level=level,
            data_device=torch.device("cpu"),
        )
        trainer = Trainer()
        assert hooks.end_of_epoch_hook(made, {"val": data_set}, str(tmp_path))(trainer)
        return [*records.rows, trainer.accuracy]

    for tester, level in (
        ("GlobalEmbeddingSpaceTester", 0),
        ("GlobalEmbeddingSpaceTester", "all"),
        ("WithSameParentLabelTester", 0),
    ):
        ours = rows(AccuracyCalculator(include=names), tester, level)
        theirs = rows(original(include=names), tester, level)
        assert [row[:2] for row in ours[:-1]] == [row[:2] for row in theirs[:-1]]
        assert ours[-1] == pytest.approx(theirs[-1], rel=1e-6)
        for mine, expected in zip(ours[:-1], theirs[:-1], strict=True):
            assert mine[2] == pytest.approx(expected[2], rel=1e-6)
