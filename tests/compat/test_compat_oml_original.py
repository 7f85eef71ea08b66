"""tieproof.compat.oml and open-metric-learning: equal values without ties, values in the interval with ties."""

import types
from typing import Any, ClassVar

import numpy as np
import pytest

import original_oml

torch = pytest.importorskip("torch")
ours: Any = pytest.importorskip("tieproof.compat.oml")

pytestmark = [pytest.mark.heavy, pytest.mark.filterwarnings("ignore")]

TOP_K = {"cmc_top_k": (1, 2, 5), "precision_top_k": (1, 3, 50), "map_top_k": (2, 5, 10)}


@pytest.fixture(scope="module")
def original() -> types.SimpleNamespace:
    return original_oml.load()


def plain(found: Any) -> Any:
    """Metrics with their keys and values converted to plain types."""
    if isinstance(found, dict):
        return {key.item() if hasattr(key, "item") else key: plain(value) for key, value in found.items()}
    return np.asarray(found).tolist()


def compare(mine: Any, theirs: Any, *, path: str = "") -> None:
    """Check that both have equal keys in the same order, and values that are equal up to float32."""
    if isinstance(theirs, dict):
        assert list(mine) == list(theirs), path
        for key in theirs:
            compare(mine[key], theirs[key], path=f"{path}/{key}")
    else:
        np.testing.assert_allclose(mine, theirs, rtol=2e-6, atol=1e-7, err_msg=path)


def lists(seed: int) -> tuple[list[Any], list[Any], Any]:
    """Retrieved and relevant ids of 60 queries among 30 items, some lists short or empty, and categories."""
    random = np.random.default_rng(seed)
    retrieved = [torch.from_numpy(random.permutation(30)[: random.integers(0, 12)]) for _ in range(60)]
    relevant = [torch.from_numpy(random.permutation(30)[: random.integers(1, 9)]) for _ in range(60)]
    retrieved[0] = relevant[0] = torch.zeros(0, dtype=torch.long)
    retrieved[1] = torch.zeros(0, dtype=torch.long)
    return retrieved, relevant, random.choice(["cat", "dog", "owl"], size=60)


@pytest.mark.parametrize("reduce", [True, False])
@pytest.mark.parametrize("with_categories", [False, True])
def test_lists_of_ids(original: Any, reduce: bool, with_categories: bool) -> None:
    retrieved, relevant, categories = lists(0)
    options = {"query_categories": categories if with_categories else None, "reduce": reduce, "verbose": False}
    theirs = original.calc_retrieval_metrics(retrieved, relevant, **options, **TOP_K)
    compare(plain(ours.calc_retrieval_metrics(retrieved, relevant, **options, **TOP_K)), plain(theirs))


@pytest.mark.parametrize("name", ["calc_cmc", "calc_precision", "calc_map"])
def test_lists_of_bools(original: Any, name: str) -> None:
    retrieved, relevant, _ = lists(1)
    tops = [torch.isin(row, own) for row, own in zip(retrieved, relevant, strict=True)]
    counts = [len(own) for own in relevant]
    theirs = getattr(original, name)(tops, counts, (1, 2, 3, 20))
    mine = getattr(ours, name)(tops, counts, (1, 2, 3, 20))
    assert [each.dtype for each in mine] == [each.dtype for each in theirs]
    compare(plain(torch.stack(mine)), plain(torch.stack(theirs)))


def test_no_more_components_than_dimensions(original: Any) -> None:
    """At a share of 1.0 the library counts one component too many, unless its sum of shares is rounded above 1."""
    vectors = torch.cat([torch.eye(8), -torch.eye(8)])
    assert plain(original.calc_pcf(vectors, (1.0,))) == [1.125]
    assert plain(ours.calc_pcf(vectors, (1.0,))) == [1.0]
    (theirs, mine) = (each.calc_topological_metrics(vectors, (1.0,)) for each in (original, ours))
    assert (plain(theirs), plain(mine)) == ({"pcf": {1.0: 1.125}}, {"pcf": {1.0: 1.0}})


def test_pairs_and_components(original: Any) -> None:
    random = np.random.default_rng(2)
    near, far = random.normal(size=300), random.normal(size=700) + 1
    rates = (0.0, 0.01, 0.1, 0.5, 1.0)
    compare(plain(ours.calc_fnmr_at_fmr(near, far, rates)), plain(original.calc_fnmr_at_fmr(near, far, rates)))
    shares = (0.1, 0.5, 0.9)
    for shape in ((100, 12), (8, 30)):
        vectors = torch.from_numpy(random.normal(size=shape) * np.geomspace(1, 50, shape[1]))
        compare(plain(ours.calc_pcf(vectors, shares)), plain(original.calc_pcf(vectors, shares)))
        categories = np.resize(["x", "y"], len(vectors))
        for own in (None, categories):
            theirs = original.calc_topological_metrics(vectors, shares, own)
            compare(plain(ours.calc_topological_metrics(vectors, shares, own)), plain(theirs))


def make_dataset(original: Any, count: int, seed: int, sequences: bool, categories: bool) -> Any:
    """A data set that both libraries accept; queries and gallery overlap."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 8, size=count)
    is_query, is_gallery = random.random((2, count)) < [[0.6], [0.8]]
    is_gallery |= ~is_query

    class DataSet(original.IQueryGalleryLabeledDataset):  # type: ignore[misc]
        extra_data: ClassVar[dict[str, Any]] = {}

        def __len__(self) -> int:
            return count

        def get_labels(self) -> Any:
            return torch.from_numpy(labels)

        def get_query_ids(self) -> Any:
            return torch.from_numpy(np.flatnonzero(is_query))

        def get_gallery_ids(self) -> Any:
            return torch.from_numpy(np.flatnonzero(is_gallery))

    if sequences:
        DataSet.extra_data["sequence"] = list(random.integers(0, count // 3, size=count))
    if categories:
        DataSet.extra_data["category"] = [f"kind {label % 3}" for label in labels]
    return DataSet(), labels


def make_embeddings(labels: Any, seed: int, tied: bool) -> Any:
    random = np.random.default_rng(seed)
    if tied:
        return torch.from_numpy(random.integers(0, 3, size=(len(labels), 3)).astype(np.float32))
    centers = random.normal(size=(8, 6))
    return torch.from_numpy((centers[labels] + random.normal(size=(len(labels), 6))).astype(np.float32))


@pytest.mark.parametrize("sequences", [False, True])
def test_retrieval_results(original: Any, sequences: bool) -> None:
    dataset, labels = make_dataset(original, 90, 3, sequences, False)
    embeddings = make_embeddings(labels, 3, tied=False)
    for n_items in (7, 1000):
        theirs = original.RetrievalResults.from_embeddings(embeddings, dataset, n_items)
        mine = ours.RetrievalResults.from_embeddings(embeddings, dataset, n_items)
        for name in ("retrieved_ids", "gt_ids"):
            pairs = zip(getattr(mine, name), getattr(theirs, name), strict=True)
            assert all(torch.equal(one, other) for one, other in pairs), name
        for one, other in zip(mine.distances, theirs.distances, strict=True):
            assert one.dtype == other.dtype
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)
        options = {**TOP_K, "verbose": False, "reduce": False}
        compare(
            plain(ours.calc_retrieval_metrics_rr(mine, **options)),
            plain(original.calc_retrieval_metrics_rr(theirs, **options)),
        )
        # Objects of the original library are evaluated, too, and so is fnmr@fmr of the same lists.
        compare(
            plain(ours.calc_retrieval_metrics_rr(theirs, **options)),
            plain(original.calc_retrieval_metrics_rr(theirs, **options)),
        )
        rates = (0.05, 0.3)
        compare(plain(ours.calc_fnmr_at_fmr_rr(mine, rates)), plain(original.calc_fnmr_at_fmr_rr(theirs, rates)))


def test_query_and_gallery_of_their_own(original: Any) -> None:
    random = np.random.default_rng(8)
    sizes = {"query": 20, "gallery": 40}
    labels = {name: random.integers(0, 5, size=size) for name, size in sizes.items()}
    vectors = {name: torch.from_numpy(random.normal(size=(size, 4))) for name, size in sizes.items()}

    class DataSet(original.IQueryGalleryLabeledDataset):  # type: ignore[misc]
        def __init__(self, name: str) -> None:
            self.name = name
            self.extra_data: dict[str, Any] = {}

        def __len__(self) -> int:
            return sizes[self.name]

        def get_labels(self) -> Any:
            return torch.from_numpy(labels[self.name])

        get_query_ids = get_gallery_ids = get_labels

    sets = DataSet("query"), DataSet("gallery")
    mine, theirs = (
        library.RetrievalResults.from_embeddings_qg(vectors["query"], vectors["gallery"], *sets, n_items=12)
        for library in (ours, original)
    )
    assert all(map(torch.equal, mine.retrieved_ids, theirs.retrieved_ids))
    assert all(map(torch.equal, mine.gt_ids, theirs.gt_ids))


def metrics_of(library: Any, dataset: Any, embeddings: Any, order: Any, **options: Any) -> Any:
    metrics = library.EmbeddingMetrics(
        dataset, **TOP_K, fmr_vals=(0.05, 0.3), pcf_variance=(0.5, 0.8), verbose=False, **options
    )
    metrics.setup(num_samples=len(dataset))
    for part in np.array_split(order, 4):
        metrics.update(embeddings[part], part.tolist())
    return metrics


@pytest.mark.parametrize("sequences", [False, True])
@pytest.mark.parametrize("categories", [False, True])
def test_embedding_metrics(original: Any, sequences: bool, categories: bool) -> None:
    dataset, labels = make_dataset(original, 120, 4, sequences, categories)
    embeddings = make_embeddings(labels, 4, tied=False)
    order = np.random.default_rng(4).permutation(120)
    theirs = metrics_of(original, dataset, embeddings, order)
    mine = metrics_of(ours, dataset, embeddings, order)
    compare(plain(mine.compute_metrics()), plain(theirs.compute_metrics()))
    values = theirs.metrics_unreduced["OVERALL"]["map"][10]
    worst = [metrics.get_worst_queries_ids("OVERALL/map/10", 12) for metrics in (mine, theirs)]
    # Among queries with equal scores, the library chooses any.
    assert values[worst[0]].tolist() == values[worst[1]].tolist()


def test_embedding_metrics_with_ties(original: Any) -> None:
    dataset, labels = make_dataset(original, 120, 5, True, True)
    embeddings = make_embeddings(labels, 5, tied=True)
    random = np.random.default_rng(5)
    found = [
        plain(metrics_of(ours, dataset, embeddings, random.permutation(120), ties=part).compute_metrics())
        for part in ("lower", "lower", "expected", "upper")
    ]
    lower, again, expected, upper = found
    assert lower == again
    printed = plain(metrics_of(original, dataset, embeddings, np.arange(120)).compute_metrics())
    wide = 0
    for category, metrics in printed.items():
        for name in ("cmc", "precision", "map"):
            for k, value in metrics[name].items():
                low, middle, high = (each[category][name][k] for each in (lower, expected, upper))
                assert low - 1e-6 <= value <= high + 1e-6
                assert low <= middle <= high
                wide += low < high
    assert wide > 10


def test_lightning_validates_with_the_callback_of_the_library(original: Any, tmp_path: Any) -> None:
    """The library's own callback, with figures, in Lightning's loop; it logs what `compute_metrics` returns."""
    lightning = pytest.importorskip("pytorch_lightning")
    callback = original_oml.load_callback()
    random = np.random.default_rng(0)
    vectors = torch.tensor(random.integers(0, 3, size=(30, 3)), dtype=torch.float32)
    labels = random.integers(0, 4, size=30)

    class Indexed(torch.utils.data.Dataset):  # type: ignore[misc, name-defined]
        def __len__(self) -> int:
            return len(vectors)

        def __getitem__(self, item: int) -> Any:
            return {"embeddings": vectors[item], "idx": item}

    class Module(lightning.LightningModule):  # type: ignore[misc, name-defined]
        def validation_step(self, batch: Any, number: int) -> Any:
            return batch

    texts = [f"text {item}" for item in range(30)]
    metric = ours.EmbeddingMetrics(ours.QueryGalleryLabeledDataset(labels, texts=texts), verbose=False)
    assert isinstance(metric, original.IMetricVisualisable)
    trainer = lightning.Trainer(
        callbacks=[callback(metric, log_images=True)],
        default_root_dir=tmp_path,
        logger=False,
        accelerator="cpu",
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    (logged,) = trainer.validate(Module(), torch.utils.data.DataLoader(Indexed(), batch_size=8), verbose=False)
    expected = ours.calc_retrieval_metrics_rr(metric.retrieval_results, verbose=False)
    for name in ("cmc", "precision", "map"):
        assert logged[f"OVERALL/{name}/5"] == pytest.approx(float(expected[name][5]), rel=1e-6)
    assert set(logged) == {"OVERALL/cmc/5", "OVERALL/precision/5", "OVERALL/map/5", "OVERALL/pcf/0.5"}


def test_results_are_printed_and_copied_as_there(original: Any) -> None:
    lists_of = {
        "distances": [torch.tensor([0.5, 0.75]), torch.tensor([0.25])],
        "retrieved_ids": [torch.tensor([2, 0]), torch.tensor([1])],
    }
    for relevant in (None, [torch.tensor([2]), torch.tensor([0, 1])]):
        mine, theirs = (library.RetrievalResults(**lists_of, gt_ids=relevant) for library in (ours, original))
        assert str(mine) == str(theirs) == str(mine.deepcopy())
        public = {name for name in dir(theirs) if not name.startswith("_")}
        assert public <= {*dir(mine)}
