"""The time of evaluations inside other programs: their own and tieproof's on the same data, in one run.

    python benchmarks/integrations.py

The InformationRetrievalEvaluator of sentence-transformers is compared with TieproofEvaluator on the same
embeddings, as floats and as codes of signs, from the embeddings to the metrics; its evaluator of sparse rows on the
*expanded* rows of sparse.py; and its RerankingEvaluator with TieproofRerankingEvaluator. The scores of MTEB, BEIR and
ranx are compared with tieproof's on the same predictions, of ranx in its own objects, and trec_eval with
`tieproof run` on the same files, both as programs that start anew. Both sides compute the same measures at the same
cutoffs: tieproof with bounds and expectations, MTEB with its nAUC. Libraries that are not installed are left out
(BEIR needs pytrec_eval alone: pip install --no-deps beir), as is trec_eval unless the shell finds it. The table is
printed, and its numbers are written to integrations.json.
"""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from measuring import Array, Call, Case, Measured, clustered, compare, parse, render_ratios, report, where
from tieproof.evaluation.runs import evaluate_run

SIZES = {"queries": 1_000, "documents": 20_000, "dimensions": 384}
RELEVANT = 5
"""The approximate number of documents relevant to each query."""

DEPTH = 1_000
"""The number of documents that MTEB keeps for each query."""

AT_MOST, OF_SPARSE = 1.0, 0.3

CUTOFFS = (1, 3, 5, 10, 20, 100, 1000)
"""The cutoffs of MTEB's retrieval tasks."""

BESIDE = {
    "embeddings": "sentence-transformers",
    "codes of signs": "sentence-transformers",
    "sparse rows": "sentence-transformers",
    "candidates": "sentence-transformers",
    "predictions, float16": "mteb",
    "results, float16": "beir",
    "objects, float16": "ranx",
    "files, -q -m all_trec": "trec_eval",
}
"""The data of each case, and the package or the program that tieproof is compared with."""

CANDIDATES = 20
"""The number of candidates of each query that a reranker orders."""

Predictions = tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]


class Encoder:
    """A model of sentence-transformers with stored embeddings; each text is the number of its embedding."""

    similarity_fn_name = "cosine"
    model_card_data = SimpleNamespace(set_evaluation_metrics=lambda *arguments, **options: None)

    def __init__(self, queries: Array, documents: Array) -> None:
        from sentence_transformers import util

        self.queries, self.documents = queries, documents
        self.similarity = {"cosine": util.cos_sim, "dot": util.dot_score}[self.similarity_fn_name]

    def encode_query(self, texts: Sequence[int], **options: Any) -> Any:
        """The embeddings of some queries."""
        whole = len(texts) == len(self.queries)
        return as_asked(self.queries if whole else self.queries[np.asarray(texts)], options)

    def encode_document(self, texts: Sequence[int], **options: Any) -> Any:
        """The embeddings of some documents; all of them are not copied."""
        whole = len(texts) == len(self.documents)
        return as_asked(self.documents if whole else self.documents[np.asarray(texts)], options)


class SparseEncoder(Encoder):
    """The same for sparse rows; evaluators know the kind of a model by the name of its class."""

    similarity_fn_name = "dot"

    @staticmethod
    def sparsity(rows: Any) -> dict[str, float]:
        """How many dimensions are not zero."""
        from sentence_transformers import SparseEncoder

        found: dict[str, float] = SparseEncoder.sparsity(rows)
        return found


def as_asked(embeddings: Array, options: dict[str, Any]) -> Any:
    """Embeddings in the type that an evaluator requests."""
    import torch

    dense = isinstance(embeddings, np.ndarray)
    return torch.from_numpy(embeddings) if options.get("convert_to_tensor") and dense else embeddings


class Data(NamedTuple):
    """Embeddings of queries and documents, and the documents relevant to each query, by their ids."""

    queries: Array
    documents: Array
    relevant: dict[str, set[str]]


def make_data(queries: int, documents: int, dimensions: int) -> Data:
    count = queries + documents
    vectors, labels = clustered(count, dimensions, count // RELEVANT)
    of_label: dict[int, set[str]] = {}
    for document, label in enumerate(labels[queries:].tolist()):
        of_label.setdefault(label, set()).add(f"d{document}")
    relevant = {f"q{query}": of_label.get(label, set()) for query, label in enumerate(labels[:queries].tolist())}
    return Data(vectors[:queries], vectors[queries:], relevant)


def retrieval(data: Data, codes: bool) -> tuple[Call, Call]:
    """Both evaluators, on floats or on codes of signs, which sentence-transformers receives as vectors of ±1."""
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    from tieproof.integrations.sentence_transformers import TieproofEvaluator

    task = (
        {query: int(query[1:]) for query in data.relevant},
        {f"d{document}": document for document in range(len(data.documents))},
        data.relevant,
    )
    signs = [np.where(side > 0, 1, -1).astype(np.float32) for side in (data.queries, data.documents)]
    model, known = Encoder(data.queries, data.documents), Encoder(*signs) if codes else None
    theirs = InformationRetrievalEvaluator(*task, write_csv=False)
    ours = TieproofEvaluator(*task, write_csv=False, precision="ubinary" if codes else None)
    ours(model)  # the tables of weights are computed once
    return (lambda: theirs(known or model), lambda: ours(model))


def sparse_retrieval(data: Data) -> tuple[Call, Call]:
    """Both evaluators on sparse rows with random relevant documents, which torch holds as a model returns them."""
    import torch
    from sentence_transformers.sparse_encoder.evaluation import SparseInformationRetrievalEvaluator

    from sparse import data_of
    from tieproof.integrations.sentence_transformers import TieproofEvaluator

    *sides, pairs = data_of("expanded", len(data.queries), len(data.documents))
    found = (side.tocoo() for side in sides)
    model = SparseEncoder(
        *(torch.sparse_coo_tensor(np.array(side.coords), side.data, side.shape).coalesce() for side in found)
    )
    relevant: dict[str, set[str]] = {}
    for query, document in pairs.tolist():
        relevant.setdefault(f"q{query}", set()).add(f"d{document}")
    task = (
        {query: int(query[1:]) for query in relevant},
        {f"d{document}": document for document in range(len(data.documents))},
        relevant,
    )
    theirs = SparseInformationRetrievalEvaluator(*task, write_csv=False)
    ours = TieproofEvaluator(*task, write_csv=False)
    ours(model)
    return (lambda: theirs(model), lambda: ours(model))


def reranking(data: Data) -> tuple[Call, Call]:
    """Both evaluators of the order of a few candidates of each query."""
    from sentence_transformers.sentence_transformer.evaluation import RerankingEvaluator

    from tieproof.integrations.sentence_transformers import TieproofRerankingEvaluator

    random = np.random.default_rng(0)
    samples = []
    for query, documents in enumerate(data.relevant.values()):
        relevant = sorted(int(document[1:]) for document in documents)
        others = random.choice(len(data.documents), CANDIDATES, replace=False).tolist()
        negative = [document for document in others if document not in relevant][: CANDIDATES - len(relevant)]
        if relevant:
            samples.append({"query": query, "positive": relevant, "negative": negative})
    model = Encoder(data.queries, data.documents)
    theirs = RerankingEvaluator(samples, write_csv=False)
    ours = TieproofRerankingEvaluator(samples, write_csv=False)
    ours(model)
    return (lambda: theirs(model), lambda: ours(model))


def nearest_documents(data: Data) -> Predictions:
    """The judgments, and dictionaries of the nearest documents, whose scores are rounded to float16."""
    depth = min(DEPTH, len(data.documents))
    scores = normalized(data.queries) @ normalized(data.documents).T
    nearest = np.argpartition(-scores, depth - 1, axis=1)[:, :depth]
    kept = np.take_along_axis(scores, nearest, axis=1).astype(np.float16).astype(np.float64)
    run = {
        query: dict(zip([f"d{document}" for document in found], values, strict=True))
        for query, found, values in zip(data.relevant, nearest.tolist(), kept.tolist(), strict=True)
    }
    judged = {query: dict.fromkeys(documents, 1) for query, documents in data.relevant.items() if documents}
    return judged, {query: run[query] for query in judged}


def predictions(data: Data) -> tuple[Call, Call]:
    """Both evaluations of the nearest documents by MTEB's measures."""
    from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores

    judged, run = nearest_documents(data)
    measures = [f"{name}@{k}" for name in ("AP", "nDCG", "R", "P", "Success", "RR") for k in CUTOFFS]
    evaluate_run(judged, run, measures=measures, truncated=True)  # the tables of weights are computed once
    return (
        lambda: calculate_retrieval_scores(run, judged, CUTOFFS),
        lambda: evaluate_run(judged, run, measures=measures, truncated=True, n_items=len(data.documents)),
    )


def results(data: Data) -> tuple[Call, Call]:
    """Both classes of the name EvaluateRetrieval, on the nearest documents."""
    from beir.retrieval.evaluation import EvaluateRetrieval

    from tieproof.compat.beir import EvaluateRetrieval as Ours

    judged, run = nearest_documents(data)
    Ours.evaluate(judged, run, CUTOFFS)
    return (
        lambda: EvaluateRetrieval.evaluate(judged, run, list(CUTOFFS)),
        lambda: Ours.evaluate(judged, run, CUTOFFS),
    )


def objects(data: Data) -> tuple[Call, Call]:
    """Both evaluations of the objects of ranx, which hold the nearest documents."""
    import ranx

    given = nearest_documents(data)
    judged, run = ranx.Qrels(given[0]), ranx.Run(given[1])
    names = [f"{name}@{k}" for name in ("map", "ndcg", "recall", "precision") for k in CUTOFFS]
    measures = [f"{name}@{k}" for name in ("AP", "nDCG", "R", "P") for k in CUTOFFS]
    ranx.evaluate(judged, run, names)  # compiles
    evaluate_run(judged, run, measures=measures)
    return (lambda: ranx.evaluate(judged, run, names), lambda: evaluate_run(judged, run, measures=measures))


def files(data: Data) -> tuple[Call, Call]:
    """Both programs, which read the nearest documents from files, and whose lines go to a pipe."""
    judged, run = nearest_documents(data)
    folder = Path(tempfile.mkdtemp())
    paths = [folder / "qrels.txt", folder / "run.txt"]
    qrels = [f"{query} 0 {name} {grade}" for query, grades in judged.items() for name, grade in grades.items()]
    lists = [f"{query} Q0 {name} 1 {score} t" for query, scores in run.items() for name, score in scores.items()]
    for path, rows in zip(paths, (qrels, lists), strict=True):
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    asked = ["-q", "-m", "all_trec", *map(str, paths)]

    def started(*program: str) -> Call:
        return lambda: subprocess.run([*program, *asked], check=True, capture_output=True)

    return started("trec_eval"), started(sys.executable, "-m", "tieproof", "run")


def normalized(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def cases(data: Data, names: Sequence[str]) -> Iterator[Case]:
    """The requested cases whose library is installed."""
    prepare: dict[str, Callable[[], tuple[Call, Call]]] = {
        "embeddings": lambda: retrieval(data, codes=False),
        "codes of signs": lambda: retrieval(data, codes=True),
        "sparse rows": lambda: sparse_retrieval(data),
        "candidates": lambda: reranking(data),
        "predictions, float16": lambda: predictions(data),
        "results, float16": lambda: results(data),
        "objects, float16": lambda: objects(data),
        "files, -q -m all_trec": lambda: files(data),
    }
    for name in names:
        if importlib.util.find_spec(BESIDE[name].replace("-", "_")) is not None or shutil.which(BESIDE[name]):
            yield Case(name, BESIDE[name], OF_SPARSE if name == "sparse rows" else AT_MOST, prepare[name])


def render(measured: Measured) -> str:
    sizes = measured["setting"]
    title = (
        f"{sizes['queries']:,} queries, {sizes['documents']:,} documents, D = {sizes['dimensions']}, about "
        f"{RELEVANT} relevant: to the metrics"
    )
    return render_ratios(title, measured["cases"]) + where(measured)


def main() -> None:
    options, whole = parse(__doc__, SIZES, list(BESIDE))
    sizes = {size: getattr(options, size) for size in SIZES}
    found = compare(cases(make_data(**sizes), options.only))
    measured = {"setting": sizes, "cases": found}
    report(__file__, render, measured, whole)


if __name__ == "__main__":
    main()
