"""tieproof.compat.oml: exact neighbors, ties, pictures, and refusals; the examples of its docstrings run as tests."""

import itertools
import warnings
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

import tieproof as tp

torch = pytest.importorskip("torch")
oml: Any = pytest.importorskip("tieproof.compat.oml")

pytestmark = pytest.mark.heavy

NONE = {"cmc_top_k": (), "precision_top_k": (), "map_top_k": ()}
QUIET: dict[str, Any] = {"verbose": False, "pcf_variance": (), **NONE}

NOTHING_RELEVANT = pytest.mark.filterwarnings("ignore:.*nothing relevant in the gallery")


def test_precision_divides_by_the_smaller_of_k_and_n() -> None:
    found = oml.calc_precision([torch.BoolTensor([1, 1, 1, 0, 0])], [3], top_k=(1, 2, 3, 4, 5, 6))
    assert [values.item() for values in found] == [1.0] * 6


# Neighbors


def brute_force(split_items: list[list[float]], queries: list[int], gallery: list[int]) -> Any:
    """(squared distance, position) of all items except the query itself, nearest first, in fractions."""
    rows = [[Fraction(value) for value in row] for row in split_items]
    return [
        sorted(
            (sum((a - b) ** 2 for a, b in zip(rows[query], rows[item], strict=True)), place)
            for place, item in enumerate(gallery)
            if item != query
        )
        for query in queries
    ]


NEAR_DUPLICATES = np.array([[1.0, 1e-9 * k, 1e8 + k % 3] for k in range(12)])
SETS = {
    "small integers": np.random.default_rng(0).integers(0, 3, size=(30, 2)).astype(np.float32),
    "tenths": (np.random.default_rng(1).integers(0, 4, size=(30, 3)) * 0.1).astype(np.float32),
    "near duplicates": NEAR_DUPLICATES,
    "huge and tiny": np.array([[1e-30, 0], [0, 1e-30], [1e30, 1], [1e30, 2], [0, 0]]),
    "zeros": np.zeros((6, 4), dtype=np.float32),
    "the same": np.full((7, 3), 0.1),
    "twice": np.repeat(np.random.default_rng(2).normal(size=(8, 3)), 2, axis=0),
}


@NOTHING_RELEVANT
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("n_items", [1, 4, 100])
def test_neighbors_are_exact(name: str, n_items: int) -> None:
    vectors = SETS[name]
    for is_query in (None, np.arange(len(vectors)) % 2 == 0):
        dataset = oml.QueryGalleryLabeledDataset(np.arange(len(vectors)) % 3, is_query)
        queries, gallery = dataset.get_query_ids().tolist(), dataset.get_gallery_ids().tolist()
        rr = oml.RetrievalResults.from_embeddings(torch.from_numpy(vectors), dataset, n_items)
        for query, pairs in enumerate(brute_force(vectors.tolist(), queries, gallery)):
            listed = pairs[:n_items]
            assert rr.retrieved_ids[query].tolist() == [place for _, place in listed]
            distances = [float(np.float32(np.sqrt(float(square)))) for square, _ in listed]
            np.testing.assert_allclose(rr.distances[query].tolist(), distances, rtol=2e-7)
            found = rr.neighbours[query]
            squares = [square for square, _ in pairs]
            assert found.first.tolist() == [squares.index(square) for square, _ in listed]
            assert found.size.tolist() == [squares.count(square) for square, _ in listed]


def test_tied_distances_are_equal_and_others_rise() -> None:
    vectors = torch.from_numpy(np.random.default_rng(3).integers(0, 4, size=(60, 3)) * 0.1)
    rr = oml.RetrievalResults.from_embeddings(vectors, oml.QueryGalleryLabeledDataset([0] * 60))
    for distances, found in zip(rr.distances, rr.neighbours, strict=True):
        assert (distances.diff() >= 0).all()
        assert all(len(set(distances[found.first == start].tolist())) == 1 for start in set(found.first.tolist()))


# Ties


def lines_of(values: dict[Any, Any]) -> Any:
    return {name: {k: value.tolist() for k, value in at.items()} for name, at in values.items()}


def test_ties_beyond_the_list_count_where_embeddings_are_known() -> None:
    # For the query at 0, three items are at distance 1, one of them relevant; its list contains one of the three.
    vectors = torch.tensor([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    dataset = oml.QueryGalleryLabeledDataset([5, 5, 6, 7], is_query=[1, 0, 0, 0], is_gallery=[0, 1, 1, 1])
    rr = oml.RetrievalResults.from_embeddings(vectors, dataset, n_items=1)
    assert rr.retrieved_ids[0].tolist() == [0]

    def cmc(ties: str) -> Any:
        return oml.calc_retrieval_metrics_rr(rr, **{**NONE, "cmc_top_k": (1,)}, ties=ties)["cmc"][1]

    assert [cmc(part).item() for part in ("lower", "expected", "upper")] == pytest.approx([0, 1 / 3, 1])
    estimate = cmc("interval")
    assert isinstance(estimate, tp.Estimate)
    assert estimate.std.item() == pytest.approx(np.sqrt(2) / 3)


def test_equal_distances_of_lists_are_ties() -> None:
    rows = [[0.5, 0.5, 0.9], [0.1, 0.2, 0.2]]
    retrieved = [[2, 0, 1], [0, 1, 2]]
    relevant = [[2, 4], [2]]
    tensors = [[torch.tensor(row) for row in values] for values in (rows, retrieved, relevant)]
    rr = oml.RetrievalResults(*tensors)
    options = {"cmc_top_k": (1, 2), "precision_top_k": (2, 9), "map_top_k": (2,), "reduce": False}
    orders = [[[2, 0, 1], [0, 2, 1]], [[0, 2, 1], [0, 1, 2]]]
    for reduce in (False, True):
        options["reduce"] = reduce
        ends = [lines_of(oml.calc_retrieval_metrics_rr(rr, **options, ties=part)) for part in ("upper", "lower")]
        lists = [[torch.tensor(row) for row in order] for order in orders]
        assert ends == [lines_of(oml.calc_retrieval_metrics(each, tensors[2], **options)) for each in lists]


def test_interval_is_that_of_tieproof() -> None:
    random = np.random.default_rng(4)
    vectors, labels = random.integers(0, 3, size=(50, 3)).astype(np.float32), random.integers(0, 6, size=50)
    metrics = oml.EmbeddingMetrics(
        oml.QueryGalleryLabeledDataset(labels),
        cmc_top_k=(1,),
        precision_top_k=(3,),
        map_top_k=(5,),
        fmr_vals=(0.2,),
        ties="interval",
        verbose=False,
    )
    found = fill(metrics, vectors, np.arange(50)).compute_metrics()["OVERALL"]
    names = {"cmc": (1, "Success@1"), "precision": (3, "RelP@3"), "map": (5, "AP(norm=hits)@5")}
    result = tp.evaluate(
        vectors, labels, distance="euclidean", measures=[measure for _, measure in names.values()], empty="zero"
    )
    for name, (k, measure) in names.items():
        for part in ("lower", "expected", "upper", "std"):
            assert getattr(found[name][k], part).item() == np.float32(getattr(result[measure], part)), (name, part)
    rates = tp.fnmr_at_fmr(vectors, labels, distance="euclidean", fmr=0.2)
    assert found["fnmr@fmr"][0.2].upper.item() == np.float32(rates[0.2].upper)


def fill(metrics: Any, vectors: Any, order: Any, parts: int = 3) -> Any:
    metrics.setup()
    for part in np.array_split(order, parts):
        metrics.update(torch.from_numpy(vectors[part]), part)
    return metrics


def test_zeros_score_nothing() -> None:
    metrics = oml.EmbeddingMetrics(oml.QueryGalleryLabeledDataset([0, 0, 1, 1, 2, 2]), verbose=False, cmc_top_k=(1,))
    with pytest.warns(UserWarning, match="do not vary"):
        found = fill(metrics, np.zeros((6, 4), dtype=np.float32), np.arange(6)).compute_metrics()["OVERALL"]
    assert found["cmc"][1].item() == 0
    assert found["pcf"][0.5].isnan()


# EmbeddingMetrics


@NOTHING_RELEVANT
def test_batches_in_any_order_and_twice() -> None:
    random = np.random.default_rng(5)
    vectors, labels = (random.integers(0, 5, size=(40, 3)) * 0.1).astype(np.float32), random.integers(0, 5, size=40)
    dataset = oml.QueryGalleryLabeledDataset(labels, categories=labels % 2, sequences=random.integers(0, 30, size=40))

    def compute(order: Any, parts: int) -> Any:
        metrics = oml.EmbeddingMetrics(dataset, fmr_vals=(0.1,), verbose=False)
        return repr(fill(metrics, vectors, order, parts).compute_metrics())

    whole = compute(np.arange(40), 1)
    assert compute(random.permutation(40), 7) == whole
    assert compute(np.append(random.permutation(40), [3, 8]), 5) == whole


@NOTHING_RELEVANT
def test_sequences_and_the_query_itself_are_not_ranked() -> None:
    # Items 0 and 1 are one sequence: item 2 is the first item of their label that each of them finds.
    dataset = oml.QueryGalleryLabeledDataset([0, 0, 0, 1], sequences=["a", "a", "b", "c"])
    rr = oml.RetrievalResults.from_embeddings(torch.tensor([[0.0], [0.5], [2.0], [1.0]]), dataset)
    assert [row.tolist() for row in rr.retrieved_ids] == [[3, 2], [3, 2], [3, 1, 0], [1, 0, 2]]
    assert [row.tolist() for row in rr.gt_ids] == [[2], [2], [0, 1], []]
    found = oml.calc_retrieval_metrics_rr(rr, **{**NONE, "cmc_top_k": (1, 2)}, reduce=False, verbose=False)
    assert lines_of(found) == {"cmc": {1: [0, 0, 0, 0], 2: [1, 1, 1, 0]}}


@NOTHING_RELEVANT
def test_an_empty_ranking_is_right_where_nothing_is_relevant() -> None:
    dataset = oml.QueryGalleryLabeledDataset([0, 1, 1], sequences=["a", "a", "a"])
    rr = oml.RetrievalResults.from_embeddings(torch.eye(3), dataset)
    found = oml.calc_retrieval_metrics_rr(rr, reduce=False, verbose=False)
    assert lines_of(found) == {name: {5: [1.0] * 3} for name in ("cmc", "precision", "map")}


def test_categories_format_and_choice() -> None:
    dataset = oml.QueryGalleryLabeledDataset([0, 0, 1, 1], categories=["x", "x", "y", "y"])
    options = {**QUIET, "cmc_top_k": (1,), "pcf_variance": (0.5,)}
    vectors = np.array([[0.0], [1.0], [5.0], [1.2]], dtype=np.float32)
    metrics = fill(oml.EmbeddingMetrics(dataset, **options), vectors, np.arange(4))
    found = metrics.compute_metrics()
    assert list(found) == ["OVERALL", "x", "y"]
    assert [each["cmc"][1].item() for each in found.values()] == [0.5, 0.5, 0.5]
    assert all(isinstance(each["pcf"][0.5], torch.Tensor) for each in found.values())
    # Queries 1 and 3 find each other first, which is wrong; query 3 is the second of its category.
    assert metrics.get_worst_queries_ids("OVERALL/cmc/1", 9) == [1, 3, 0, 2]
    assert metrics.get_worst_queries_ids("y/cmc/1", 1) == [3]
    only = oml.EmbeddingMetrics(dataset, **options, return_only_overall_category=True)
    assert list(fill(only, vectors, np.arange(4)).compute_metrics()) == ["OVERALL"]


def test_categories_in_a_tensor() -> None:
    lists = [torch.tensor([0]), torch.tensor([1]), torch.tensor([1])], [torch.tensor([0])] * 3
    options = {**NONE, "cmc_top_k": (1,), "query_categories": torch.tensor([4, 7, 4]), "reduce": False}
    found = oml.calc_retrieval_metrics(*lists, **options)
    assert {name: values["cmc"][1].tolist() for name, values in found.items()} == {
        "OVERALL": [1, 0, 0],
        4: [1, 0],
        7: [0],
    }


def test_verbose_prints_the_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    metrics = oml.EmbeddingMetrics(
        oml.QueryGalleryLabeledDataset([0, 0]), **{**QUIET, "verbose": True, "cmc_top_k": (1,)}
    )
    fill(metrics, np.eye(2), np.arange(2), parts=1).compute_metrics()
    assert "{'OVERALL': {'cmc': {1: tensor(1.)}}}" in capsys.readouterr().out


def test_postprocessor() -> None:
    class Backwards:
        top_n = 2

        def process(self, rr: Any) -> Any:
            turned = [row.flip(0) for row in rr.retrieved_ids]
            return SimpleNamespace(distances=rr.distances, retrieved_ids=turned, gt_ids=rr.gt_ids)

    options = {**QUIET, "cmc_top_k": (1,), "postprocessor": Backwards(), "fmr_vals": (0.5,)}
    metrics = oml.EmbeddingMetrics(oml.QueryGalleryLabeledDataset([0, 0, 1, 1]), **options)
    found = fill(metrics, np.array([[0.0], [1.0], [3.0], [9.0]]), np.arange(4)).compute_metrics()
    # Only for the item at 3, the farthest item has the same label.
    assert found["OVERALL"]["cmc"][1].item() == 0.25
    assert set(found["OVERALL"]) == {"cmc", "fnmr@fmr"}


# Pictures


def texts_of(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def test_pictures_of_texts_ids_and_images() -> None:
    vectors, labels = np.array([[0.0], [1.0], [1.0], [-1.0], [5.0]]), [0, 0, 1, 1, 0]
    images = list(np.random.default_rng(0).random((5, 6, 4, 3)))
    for shown in ({"texts": ["one", "two", "three", "four", "five"]}, {}, {"images": images}):
        dataset = oml.QueryGalleryLabeledDataset(labels, **shown)
        metrics = fill(oml.EmbeddingMetrics(dataset, **{**QUIET, "cmc_top_k": (1,)}), vectors, np.arange(5))
        metrics.compute_metrics()
        figure = metrics.get_plot_for_queries([0], 2, verbose=False)
        texts = texts_of(figure)
        assert [text for text in texts if ":" in text] == ["✓ 1: 1", "✗ 2: 1"]
        assert "2 of 3 tied" in texts
        assert "query 0" in texts
        assert len(figure.axes[0].images) == (3 if "images" in shown else 0)
        if "texts" in shown:
            assert {"one", "two", "three"} <= set(texts)
        elif not shown:
            assert {"0", "1", "2"} <= set(texts)


def test_pictures_of_the_worst() -> None:
    random = np.random.default_rng(7)
    labels = random.integers(0, 3, size=12)
    dataset = oml.QueryGalleryLabeledDataset(labels, categories=labels)
    options = {**QUIET, "cmc_top_k": (1,), "map_top_k": (2, 5), "pcf_variance": (0.5,)}
    metrics = oml.EmbeddingMetrics(dataset, **options, metrics_to_exclude_from_visualization=["cmc"])
    fill(metrics, random.random((12, 2)), np.arange(12)).compute_metrics()
    figures, titles = metrics.visualize()
    assert titles == ["top 5 worst by OVERALL_map_2", "top 5 worst by OVERALL_map_5"]
    worst = metrics.get_worst_queries_ids("OVERALL/map/2", 5)
    assert [f"query {query}" for query in worst] == [
        text for text in texts_of(figures[0]) if text.startswith("query")
    ]
    every = oml.EmbeddingMetrics(dataset, **options, visualize_only_overall_category=False)
    fill(every, random.random((12, 2)), np.arange(12)).compute_metrics()
    assert len(every.visualize()[0]) == 3 * (1 + len(set(labels.tolist())))


def test_a_picture_of_queries_and_the_length_of_lists() -> None:
    dataset = oml.QueryGalleryLabeledDataset([0, 0, 1, 1], texts=["a", "b", "c", "d"])
    vectors = torch.tensor([[0.0], [1.0], [2.0], [3.0]])
    rr = oml.RetrievalResults.from_embeddings(vectors, dataset, n_items=2)
    assert (rr.n_retrieved_items, rr.is_empty()) == (2, False)
    empty = torch.zeros(0)
    rr_of_lists = oml.RetrievalResults([torch.tensor([0.5]), empty], [torch.tensor([1]), empty.long()])
    assert (rr_of_lists.n_retrieved_items, rr_of_lists.is_empty()) == (1, False)
    assert oml.RetrievalResults([empty], [empty.long()]).is_empty()
    assert oml.RetrievalResults([], []).is_empty()
    shown = texts_of(rr.visualize(query_ids=[1, 3], dataset=dataset, n_galleries_to_show=1))
    assert [text for text in shown if text.startswith("query")] == ["query 1", "query 3"]
    with pytest.raises(tp.InputError, match="The data set has 2 queries, but the results have 4"):
        rr.visualize([0], oml.QueryGalleryLabeledDataset([0, 0]))
    with pytest.raises(tp.InputError, match="n_galleries_to_show must be"):
        rr.visualize([0], dataset, n_galleries_to_show=0)


def test_queries_without_relevant_items_cause_a_warning() -> None:
    ids, message = [torch.tensor([0]), torch.tensor([1])], "^1 of 2 queries have nothing relevant"
    with pytest.warns(tp.InputWarning, match=message):
        oml.RetrievalResults([torch.tensor([0.5])] * 2, ids, [torch.tensor([0]), torch.tensor([], dtype=torch.long)])
    dataset = oml.QueryGalleryLabeledDataset([0, 1, 0], is_query=[1, 1, 0], is_gallery=[0, 0, 1])
    with pytest.warns(tp.InputWarning, match=message):
        oml.RetrievalResults.from_embeddings(torch.eye(3), dataset)


# Refused


def test_refused() -> None:
    row = torch.tensor([0.1, 0.2])
    ids = torch.tensor([0, 1])
    dataset = oml.QueryGalleryLabeledDataset([0, 0, 1])
    metrics = oml.EmbeddingMetrics(dataset, verbose=False)
    rr = oml.RetrievalResults([row], [ids])
    calls: dict[str, Callable[[], Any]] = {
        "ascending order": lambda: oml.RetrievalResults([row.flip(0)], [ids]),
        "name an item twice": lambda: oml.RetrievalResults([row], [torch.tensor([1, 1])]),
        "Pass one distance for each id": lambda: oml.RetrievalResults([row[:1]], [ids]),
        "no gt_ids": lambda: oml.calc_retrieval_metrics_rr(rr),
        "Unknown ties='worst'": lambda: oml.calc_retrieval_metrics_rr(rr, ties="worst"),
        "Unknown ties='best'": lambda: oml.EmbeddingMetrics(dataset, ties="best"),
        "contain 0": lambda: oml.calc_cmc([torch.BoolTensor([1])], [1], top_k=(0,)),
        "top_k is empty": lambda: oml.calc_map([torch.BoolTensor([1])], [1], top_k=()),
        "its list contains 2": lambda: oml.calc_cmc([torch.BoolTensor([1, 1])], [1], top_k=(1,)),
        "no query": lambda: oml.calc_retrieval_metrics([], []),
        "queries is 1 for retrieved_ids, but 2 for gt_ids": lambda: oml.calc_retrieval_metrics([ids], [ids, ids]),
        "dataset is None": lambda: oml.EmbeddingMetrics(None).setup(),
        "in pcf_variance must be a number from 0 to 1, not 2": lambda: oml.calc_pcf(torch.eye(3), (2,)),
        "in pcf_variance is missing. Pass pcf_variance=": lambda: oml.calc_pcf(torch.eye(3), ()),
        "in pcf_variance must": lambda: oml.calc_topological_metrics(torch.eye(3), ("a",)),
        "in fmr_vals must": lambda: oml.calc_fnmr_at_fmr([1.0], [2.0], fmr_vals=(1.5,)),
        "in fmr_vals is missing. Pass fmr_vals=": lambda: oml.calc_fnmr_at_fmr([1.0], [2.0], fmr_vals=()),
        "in fmr_vals must be": lambda: oml.calc_fnmr_at_fmr_rr(rr, fmr_vals=(2,)),
        "neg_dist is empty": lambda: oml.calc_fnmr_at_fmr([1.0], []),
        "is 1 for gt_tops, but 2 for n_gts": lambda: oml.calc_cmc([torch.BoolTensor([1])], [1, 1], top_k=(1,)),
        "number of query_categories is 2": lambda: oml.calc_retrieval_metrics([ids], [ids], query_categories=[1, 2]),
        "cutoffs of map must be whole numbers": lambda: oml.EmbeddingMetrics(dataset, map_top_k=("a",)),
        "call setup": lambda: metrics.update(torch.eye(3), [0, 1, 2]),
        "call compute_metrics": lambda: metrics.visualize(),
        "no embeddings to evaluate": lambda: metrics.compute_metrics(),
        "number of embeddings is 2, but": lambda: oml.RetrievalResults.from_embeddings(torch.eye(2), dataset),
        "n_items must be": lambda: oml.RetrievalResults.from_embeddings(torch.eye(3), dataset, n_items=0),
        "number of images is 2, but": lambda: oml.QueryGalleryLabeledDataset([0, 0, 1], images=[0, 1]),
        "is_query must be 3 bools": lambda: oml.QueryGalleryLabeledDataset([0, 0, 1], is_query=[1]),
    }
    for message, call in calls.items():
        with pytest.raises(tp.InputError, match=message):
            call()


def test_data_set_that_is_known_after_the_embeddings() -> None:
    """As in the library, whose `dataset` may be None if setup() is told the number of items."""
    dataset, rows = oml.QueryGalleryLabeledDataset([0, 0, 1, 1]), torch.eye(4)[:, :3]
    late, given = oml.EmbeddingMetrics(None, verbose=False), oml.EmbeddingMetrics(dataset, verbose=False)
    for metrics in (late, given):
        metrics.setup(num_samples=4)
        metrics.update(rows, [0, 1, 2, 3])
    with pytest.raises(tp.InputError, match=r"dataset is None\. Assign a data set to `dataset` before"):
        late.compute_metrics()
    late.dataset = dataset
    assert late.compute_metrics() == given.compute_metrics()
    with pytest.raises(tp.InputError, match="from 0 to 3"):
        late.update(rows[:1], [4])


def test_as_many_items_are_announced_as_are_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    labels = np.arange(20) % 4
    metrics = oml.EmbeddingMetrics(oml.QueryGalleryLabeledDataset(labels), verbose=False)
    metrics.setup()
    metrics.update(torch.arange(40.0).reshape(20, 2), list(range(20)))
    metrics.compute_metrics()
    figure = metrics.get_plot_for_queries([3], 10)
    assert capsys.readouterr().out == "Showing the 5 nearest items of the queries [3].\n"
    assert sum(": " in text.get_text() for text in figure.axes[0].texts) == 5  # an item and its distance


def test_refused_while_collecting() -> None:
    metrics = oml.EmbeddingMetrics(oml.QueryGalleryLabeledDataset([0, 0, 1]), verbose=False)
    metrics.setup()
    with pytest.raises(tp.InputError, match=r"indices range from 0 to 3, .*from 0 to 2"):
        metrics.update(torch.eye(2), [0, 3])
    metrics.update(torch.eye(2), [0, 2])
    with pytest.raises(tp.InputError, match="There is no embedding of 1 of 3 items; the first is item 1"):
        metrics.compute_metrics()
    metrics.update(torch.ones(1, 2), [1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        metrics.compute_metrics()
    with pytest.raises(tp.InputError, match=r"'OVERALL/cmc/7'\. Known: OVERALL/cmc/5, "):
        metrics.get_worst_queries_ids("OVERALL/cmc/7", 1)
    for queries, arrived in (([7], "contains 7"), ([], "is empty")):
        with pytest.raises(tp.InputError, match=arrived):
            metrics.get_plot_for_queries(queries, 2, verbose=False)


class Unlabelled:
    extra_data: ClassVar[dict[str, Any]] = {}

    def __len__(self) -> int:
        return 3


def test_labels_of_one_side() -> None:
    for pair in itertools.permutations((Unlabelled(), oml.QueryGalleryLabeledDataset([0, 0, 1]))):
        with pytest.raises(tp.InputError, match="Only one of the two data sets has labels"):
            oml.RetrievalResults.from_embeddings_qg(torch.eye(3), torch.eye(3), *pair)
    rr = oml.RetrievalResults.from_embeddings_qg(torch.eye(3), torch.eye(3), Unlabelled(), Unlabelled(), n_items=1)
    assert rr.gt_ids is None
    assert [row.tolist() for row in rr.retrieved_ids] == [[0], [1], [2]]
    with pytest.raises(tp.InputError, match="no labels"):
        oml.calc_retrieval_metrics_rr(rr)


@pytest.mark.parametrize("ids", [[0, -1], [0, 5], [0.0, 1.0], [[0, 1]], np.array([0, 2**63 + 1], np.uint64)])
def test_ids_that_are_no_places_in_the_data_set(ids: Any) -> None:
    dataset = oml.QueryGalleryLabeledDataset([0, 0, 1, 1, 0])
    dataset.get_query_ids = lambda: ids
    with pytest.raises(tp.InputError, match="ids of queries"):
        oml.RetrievalResults.from_embeddings(torch.eye(5), dataset, n_items=2)


def test_figures_of_two_data_sets_and_of_functions() -> None:
    pytest.importorskip("matplotlib")
    rr = oml.RetrievalResults([torch.tensor([0.5, 0.5])], [torch.tensor([1, 0])], [torch.tensor([1])])
    one, two = (
        oml.QueryGalleryLabeledDataset([3], texts=["query"]),
        oml.QueryGalleryLabeledDataset([4, 3], texts=["a", "b"]),
    )
    expected = ["query", "query 0", "b", "✓ 1: 0.5", "a", "✗ 0: 0.5", "2 tied"]
    for figure in (
        rr.visualize_qg([0], one, two),
        rr.visualize_with_functions([0], lambda at, color: "query", lambda at, color: ["a", "b"][at]),
    ):
        assert [text.get_text() for text in figure.axes[0].texts] == expected
    with pytest.raises(tp.InputError, match="The data set has 2 queries, but the results have 1"):
        rr.visualize_qg([0], two, two)
    with pytest.raises(tp.InputError, match="visualize_as_html is not offered"):
        rr.visualize_as_html([0], one)


def test_a_batch_as_the_callback_passes_it() -> None:
    dataset = oml.QueryGalleryLabeledDataset([0, 0, 1, 1])
    metrics = [oml.EmbeddingMetrics(dataset, verbose=False) for _ in range(2)]
    for each in metrics:
        each.setup(num_samples=4)
    rows = torch.tensor([[0.0], [1.0], [2.0], [3.0]])
    metrics[0].update(rows, [0, 1, 2, 3])
    metrics[1].update_data({"embeddings": rows, "labels": [0, 0, 1, 1]}, indices=torch.arange(4))
    assert metrics[0].compute_metrics() == metrics[1].compute_metrics()
    assert metrics[1].ready_to_visualize()
