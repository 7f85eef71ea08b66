"""The time of other libraries on the same data, side by side in one run.

    python benchmarks/peers.py

Three questions: average precision over all items from embeddings, measures of the nearest 100 items, and average
precision of a run of a million lines. Each library computes its closest equivalent; the notes under each table name
the differences. All run on the processor, from arrays (or files) to the mean, and are compiled and imported
beforehand. They take turns, and seconds are medians. Libraries that are not installed are skipped, and the table
names them. Figures are written to peers.json unless sizes or cases are chosen.
"""

import importlib.metadata
import importlib.util
import statistics
import tempfile
import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tieproof as tp
from measuring import WIDTH, Array, Measured, clustered, parse, report, table, take_turns, where
from runs import DEPTH, QUERIES, generate

SIZES = {"count": 5_000, "dimensions": 512}
RELEVANT = 100
NEAREST = 100
BLOCK = 1_000
"""The number of queries whose distances other libraries compute and sort together."""


class Embeddings(NamedTuple):
    """Embeddings of length 1, for which all distances give the same order."""

    vectors: Array
    labels: Array


class Files(NamedTuple):
    """A run and its judgments: as files, and as lists for a library that reads no files."""

    qrels: Path
    run: Path
    scores: list[list[float]]
    relevant: list[list[bool]]


class Peer(NamedTuple):
    """A library, or a method.

    module, package : the module to import, and the name of its package on PyPI
    score : the function from the data to the mean
    note : what it computes, and how this differs
    """

    module: str
    package: str
    score: Callable[[Any], float]
    note: str


def all_measures(data: Embeddings) -> float:
    return tp.evaluate(*data)["AP"].lower


def one_measure(data: Embeddings, measure: str) -> float:
    return tp.evaluate(*data, measures=[measure])[measure].lower


def numpy_argsort(data: Embeddings) -> float:
    vectors, labels = data
    values = []
    for start in range(0, len(vectors), BLOCK):
        queries = np.arange(start, min(start + BLOCK, len(vectors)))
        distances = -(vectors[queries] @ vectors.T)
        distances[np.arange(len(queries)), queries] = np.inf
        order = np.argsort(distances, axis=1)[:, :-1]
        hits = labels[order] == labels[queries, None]
        precision = np.cumsum(hits, axis=1) / np.arange(1, len(vectors))
        values.append((precision * hits).sum(axis=1) / hits.sum(axis=1))
    return float(np.concatenate(values).mean())


def torch_argsort(data: Embeddings) -> float:
    import torch

    vectors, labels = map(torch.from_numpy, data)
    places = torch.arange(1, len(vectors))
    values = []
    for queries in torch.arange(len(vectors)).split(BLOCK):
        similarity = vectors[queries] @ vectors.T
        similarity[torch.arange(len(queries)), queries] = -torch.inf
        order = similarity.argsort(dim=1, descending=True)[:, :-1]
        hits = labels[order] == labels[queries, None]
        precision = hits.cumsum(dim=1) / places
        values.append((precision * hits).sum(dim=1) / hits.sum(dim=1))
    return float(torch.cat(values).mean())


def pytorch_metric_learning(data: Embeddings, nearest: int | None) -> float:
    import torch
    from pytorch_metric_learning.distances import CosineSimilarity
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
    from pytorch_metric_learning.utils.inference import CustomKNN

    name = "mean_average_precision"
    calculator = AccuracyCalculator(
        include=(name,), k=nearest, knn_func=CustomKNN(CosineSimilarity()), device=torch.device("cpu")
    )
    return float(calculator.get_accuracy(*data)[name])


def torchmetrics(data: Embeddings) -> float:
    import torch
    from torchmetrics.retrieval import RetrievalMAP

    vectors, labels = map(torch.from_numpy, data)
    metric = RetrievalMAP()
    items = torch.arange(len(vectors))
    for queries in items.split(BLOCK):
        others = items != queries[:, None]
        similarity = (vectors[queries] @ vectors.T + 2)[others]
        relevant = (labels == labels[queries, None])[others]
        metric.update(similarity, relevant, queries[:, None].expand(-1, len(items))[others])
    return float(metric.compute())


def scikit_learn(data: Embeddings) -> float:
    from sklearn.metrics import label_ranking_average_precision_score

    vectors, labels = data
    others = ~np.eye(len(vectors), dtype=bool)
    similarity, relevant = vectors @ vectors.T, labels == labels[:, None]
    without = (len(vectors), len(vectors) - 1)
    found = label_ranking_average_precision_score(
        relevant[others].reshape(without), similarity[others].reshape(without)
    )
    return float(found)


def faiss_and_ours(data: Embeddings) -> float:
    import faiss

    vectors, labels = data
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    scores, items = index.search(vectors, NEAREST + 2)  # with the query, and one more item to end the last tie
    relevant = (labels[items] == labels[:, None]).astype(np.int64)
    relevant[items == np.arange(len(labels))[:, None]] = -1
    _, label, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    measure = f"AP@{NEAREST}"
    measures = [*tp.DEFAULT_MEASURES, measure]
    return tp.evaluate_scores(scores, relevant, n_relevant=sizes[label] - 1, measures=measures)[measure].lower


def our_run(data: Files, measures: Sequence[str]) -> float:
    return tp.evaluate_run(data.qrels, data.run, measures=measures)["AP"].lower


def ranx(data: Files) -> float:
    from ranx import Qrels, Run, evaluate

    qrels, run = Qrels.from_file(str(data.qrels), kind="trec"), Run.from_file(str(data.run), kind="trec")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of numba, when it compiles ranx
        return float(evaluate(qrels, run, "map"))


def trec_eval(data: Files) -> float:
    import pytrec_eval

    with data.qrels.open() as qrels, data.run.open() as run:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrels), {"map"})
        found = evaluator.evaluate(pytrec_eval.parse_run(run))
    return float(np.mean([values["map"] for values in found.values()]))


def tie_aware_retrieval_metrics(data: Files) -> float:
    import trm

    depth = max(map(len, data.scores))
    found = trm.evaluate(data.scores, data.relevant, metrics=["map"], k_list=[depth])
    return float(found.metrics["map"][depth].minimum)


OURS = ("tieproof", "tieproof")

ALL_ITEMS = {
    "tieproof": Peer(*OURS, all_measures, "all default measures, exact order, bounds, expectation and deviation"),
    "tieproof, AP alone": Peer(*OURS, partial(one_measure, measure="AP"), "exact order and the four estimates"),
    "numpy argsort": Peer("numpy", "numpy", numpy_argsort, "AP alone; float32 order; ties by the sort"),
    "torch argsort": Peer("torch", "torch", torch_argsort, "AP alone; float32 order; ties by the sort"),
    "pytorch-metric-learning": Peer(
        "pytorch_metric_learning",
        "pytorch-metric-learning",
        partial(pytorch_metric_learning, nearest=None),
        "AP alone, by CustomKNN, which is faster here than the default FaissKNN; float32 order; ties by the sort",
    ),
    "torchmetrics": Peer(
        "torchmetrics",
        "torchmetrics",
        torchmetrics,
        "AP alone, from similarities plus 2, because it treats negative scores as not relevant",
    ),
    "scikit-learn": Peer(
        "sklearn",
        "scikit-learn",
        scikit_learn,
        "label ranking AP alone, from similarities; relevant items have the last rank of their tie",
    ),
}

NEAREST_ITEMS = {
    "tieproof": Peer(*OURS, partial(one_measure, measure=f"AP@{NEAREST}"), "from all items, in exact order"),
    "faiss and tieproof": Peer(
        "faiss",
        "faiss-cpu",
        faiss_and_ours,
        "all default measures by evaluate_scores with n_relevant, from one item more; order of float32",
    ),
    "pytorch-metric-learning": Peer(
        "pytorch_metric_learning",
        "pytorch-metric-learning",
        partial(pytorch_metric_learning, nearest=NEAREST),
        "AP@k alone, by CustomKNN; float32 order; ties by the sort",
    ),
}

RUN_FILES = {
    "tieproof": Peer(
        *OURS,
        partial(our_run, measures=tp.DEFAULT_MEASURES),
        "from files to all default measures with bounds, expectation and deviation",
    ),
    "tieproof, AP alone": Peer(*OURS, partial(our_run, measures=["AP"]), "from files to the four estimates"),
    "ranx": Peer("ranx", "ranx", ranx, "from files to AP alone; ties by the sort"),
    "trec_eval": Peer("pytrec_eval", "pytrec_eval-terrier", trec_eval, "from files to AP alone; ties by document id"),
    "tie-aware-retrieval-metrics": Peer(
        "trm",
        "tie-aware-retrieval-metrics",
        tie_aware_retrieval_metrics,
        "AP's bounds and expectation, from lists (it reads no files); relevant items outside the run do not count",
    ),
}

CASES = {
    "all items": ("AP", ALL_ITEMS),
    "nearest items": (f"AP@{NEAREST}", NEAREST_ITEMS),
    "run files": ("AP", RUN_FILES),
}


def embeddings(count: int, dimensions: int) -> Embeddings:
    vectors, labels = clustered(count, dimensions, max(2, count // RELEVANT))
    return Embeddings(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), labels)


def files(folder: Path, queries: int) -> Files:
    folder.mkdir()
    qrels, run, _ = generate(folder, queries)
    judged = {(query, document): int(grade) for query, _, document, grade in map(str.split, qrels.open())}
    scores: dict[str, list[float]] = {}
    relevant: dict[str, list[bool]] = {}
    for query, _, document, _, score, _ in map(str.split, run.open()):
        scores.setdefault(query, []).append(float(score))
        relevant.setdefault(query, []).append(judged.get((query, document), 0) > 0)
    return Files(qrels, run, list(scores.values()), list(relevant.values()))


def installed(peers: Mapping[str, Peer]) -> dict[str, Peer]:
    return {name: peer for name, peer in peers.items() if importlib.util.find_spec(peer.module)}


def measure(peers: Mapping[str, Peer], data: Embeddings | Files, small: Embeddings | Files) -> list[Measured]:
    """A row for each peer; a call with `small` data imports and compiles everything before the clock starts."""
    values: dict[str, float] = {}
    present = installed(peers)

    def score(name: str) -> None:
        values[name] = present[name].score(data)

    for peer in present.values():
        peer.score(small)
    times = take_turns({name: partial(score, name) for name in present})
    rows = []
    for name, peer in peers.items():
        row: Measured = {"peer": name, "note": peer.note, "package": peer.package}
        if name in present:
            row |= {
                "version": importlib.metadata.version(peer.package),
                "seconds": statistics.median(times[name]),
                "value": values[name],
                "runs": len(times[name]),
            }
        rows.append(row)
    return rows


def render(measured: Measured) -> str:
    """A table with notes for each question."""
    text = []
    for case in measured["cases"]:
        rows = []
        for row in case["rows"]:
            if "seconds" in row:
                version, ratio = row["version"], row["seconds"] / case["rows"][0]["seconds"]
                rows.append((row["peer"], version, f"{row['seconds']:.2f}", f"{ratio:.1f}", f"{row['value']:.6f}"))
            else:
                rows.append((row["peer"], "not installed", "", "", ""))
        headings = ("", "version", "seconds", "× tieproof", case["measure"])
        notes = (
            textwrap.fill(f"{row['peer']}: {row['note']}", WIDTH, subsequent_indent="  ") for row in case["rows"]
        )
        text.append(table(case["title"], headings, rows, words=2) + "\n".join(notes) + "\n")
    return "\n".join(text) + where(measured)


def title(case: str, count: int, dimensions: int) -> str:
    if case == "run files":
        return f"average precision of a run: {QUERIES:,} queries, {DEPTH:,} documents each"
    return f"average precision, {case}, leave-one-out, N = {count:,}, D = {dimensions}, about {RELEVANT} relevant"


def main() -> None:
    options, whole = parse(__doc__, SIZES, list(CASES))
    size = (options.count, options.dimensions)
    cases = []
    for name in options.only:
        wanted, peers = CASES[name]
        with tempfile.TemporaryDirectory() as folder:
            if name == "run files":
                rows = measure(peers, files(Path(folder, "all"), QUERIES), files(Path(folder, "small"), 10))
            else:
                rows = measure(peers, embeddings(*size), embeddings(300, options.dimensions))
        cases.append({"title": title(name, *size), "measure": wanted, "rows": rows})
    measured = {"cases": cases}
    report(__file__, render, measured, whole)


if __name__ == "__main__":
    main()
