"""What MTEB scores compressed embeddings if the same documents stand in another order.

`CompressionWrapper` of MTEB takes the smallest and the largest number of each dimension from the embeddings of one
call of `encode`, and MTEB encodes queries in one call and documents in chunks. Real sentence embeddings, compressed
by MTEB's own code and searched by it in chunks of several sizes, with the documents in several orders.

    python studies/compression/study.py
    python studies/compression/study.py --data embeddings.npz
"""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import mteb
import numpy as np
import numpy.typing as npt
import torch
from datasets import Dataset, disable_progress_bars
from mteb.abstasks import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.models import CompressionWrapper, ModelMeta
from mteb.models.search_wrappers import SearchEncoderWrapper
from mteb.similarity_functions import cos_sim
from mteb.types import OutputDType

from studies.common import Options, parse, progress, table, write_report

Array = npt.NDArray[Any]

DATA = "package-sections.npz"
QUICK, EVERY = 200, 10
SHUFFLES = 10
SCORE = "ndcg_at_10"


class Sections(AbsTaskRetrieval):  # type: ignore[misc]
    """The task of finding the descriptions of a query's section; a text is the number of its embedding.

    labels : the section of each embedding; every tenth embedding is a query, the others are documents
    order : the order of the documents
    """

    metadata = TaskMetadata(
        name="Sections",
        description="Descriptions of packages of the same section",
        type="Retrieval",
        eval_langs=["eng-Latn"],
        main_score=SCORE,
        dataset={"path": "none", "revision": "1"},
    )

    def __init__(self, labels: Array, order: Array) -> None:
        super().__init__()
        queries = range(0, len(labels), EVERY)
        alike = [[f"d{item}" for item in order if labels[item] == labels[query]] for query in queries]
        split = {
            "queries": Dataset.from_list([{"id": f"q{item}", "text": str(item)} for item in queries]),
            "corpus": Dataset.from_list([{"id": f"d{item}", "text": str(item)} for item in order.tolist()]),
            "relevant_docs": {
                f"q{query}": dict.fromkeys(names, 1) for query, names in zip(queries, alike, strict=True)
            },
            "top_ranked": None,
        }
        self.dataset, self.data_loaded = {"default": {"test": split}}, True


class Stored:
    """An encoder that looks up stored embeddings; similarity is that of MTEB."""

    def __init__(self, embeddings: Array | torch.Tensor) -> None:
        self.embeddings = torch.as_tensor(embeddings)
        self.mteb_model_meta = ModelMeta.create_empty(overwrites={"name": "stored/embeddings", "revision": "1"})

    def encode(self, inputs: Any, **options: Any) -> torch.Tensor:
        """The embeddings of texts."""
        return self.embeddings[[int(text) for batch in inputs for text in batch["text"]]]

    def similarity(self, queries: Any, documents: Any) -> torch.Tensor:
        """The cosine of each query and document."""
        return cos_sim(queries, documents)

    def similarity_pairwise(self, queries: Any, documents: Any) -> torch.Tensor:
        """The cosine of each query and the document at its position."""
        return torch.nn.functional.cosine_similarity(torch.as_tensor(queries), torch.as_tensor(documents))


class Way(NamedTuple):
    """A way to compress: its name, MTEB's type (None for no compression), and the number of calls for documents.

    at_once : whether queries and documents are compressed in one call, before they are searched
    """

    name: str
    kind: OutputDType | None
    calls: int
    at_once: bool = False


WAYS = [
    Way("float32", None, 4),
    *(
        way
        for kind in (OutputDType.INT8, OutputDType.INT4)
        for way in (Way(kind.value, kind, 4, at_once=True), *(Way(kind.value, kind, calls) for calls in (1, 2, 4, 8)))
    ),
    Way("binary", OutputDType.BINARY, 4),
]


def main() -> None:
    """Evaluate, and write the report."""
    options = parse(__file__, __doc__, DATA)
    embeddings, labels = read(options)
    orders = orders_of(labels)
    scores = {way: scores_of(way, embeddings, labels, orders) for way in WAYS}
    write_report(options, render(scores, labels))


def read(options: Options) -> tuple[Array, Array]:
    """Embeddings and labels of the file, or of its first items."""
    with np.load(options.data) as arrays:
        count = QUICK if options.quick else None
        return arrays["embeddings"][:count], arrays["labels"][:count]


def orders_of(labels: Array) -> dict[str, list[Array]]:
    """Orders of the documents by their names."""
    documents = np.flatnonzero(np.arange(len(labels)) % EVERY)
    random = np.random.default_rng(0)
    return {
        "as in the file": [documents],
        "sorted by section": [documents[np.argsort(labels[documents], kind="stable")]],
        f"shuffled {SHUFFLES} times": [random.permutation(documents) for _ in range(SHUFFLES)],
    }


def scores_of(
    way: Way, embeddings: Array, labels: Array, orders: Mapping[str, Iterable[Array]]
) -> dict[str, list[float]]:
    """The score that MTEB prints for each order of the documents."""
    progress(f"{way.name}, {way.calls} calls")
    return {name: [printed(way, embeddings, labels, order) for order in given] for name, given in orders.items()}


def printed(way: Way, embeddings: Array, labels: Array, order: Array) -> float:
    """The score that MTEB prints for documents in this order."""
    disable_progress_bars()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of MTEB: fewer than 10,000 embeddings
        model: Any = Stored(embeddings)
        if way.kind is not None and way.at_once:
            model = Stored(CompressionWrapper(model, way.kind)._quantize_embeddings(model.embeddings))
        elif way.kind is not None:
            model = CompressionWrapper(model, way.kind)
        search = SearchEncoderWrapper(model, corpus_chunk_size=-(-len(order) // way.calls))
        found = mteb.evaluate(search, Sections(labels, order), cache=None, show_progress_bar=False)
    return float(found.task_results[0].scores["test"][0][SCORE])


def calls_of(way: Way) -> str:
    """The calls of `encode` that share a scale, in words."""
    if way.kind in (None, OutputDType.BINARY):
        return "no scale"
    if way.at_once:
        return "one for queries and documents"
    return f"one for queries, {way.calls} for documents" if way.calls > 1 else "one for queries, one for documents"


def span(values: Iterable[float]) -> str:
    """The smallest and the largest value, or the only one.

    >>> span([0.25, 0.5]), span([0.5, 0.5])
    ('0.2500 to 0.5000', '0.5000')
    """
    return " to ".join(f"{value:.4f}" for value in sorted({min(values), max(values)}))


def render(scores: Mapping[Way, Mapping[str, list[float]]], labels: Array) -> str:
    """The report."""
    queries = len(range(0, len(labels), EVERY))
    orders = [*next(iter(scores.values()))]
    rows = [(way.name, calls_of(way), *(span(found[order]) for order in orders)) for way, found in scores.items()]
    every = {way: [value for each in found.values() for value in each] for way, found in scores.items()}
    widest = max(every, key=lambda way: max(every[way]) - min(every[way]))
    return f"""# What MTEB scores compressed embeddings if documents stand in another order

{queries:,} descriptions of software packages query {len(labels) - queries:,} others for those of their section. MTEB
{mteb.__version__} compresses the embeddings of a sentence encoder by its `CompressionWrapper`, searches them by
cosine, and prints nDCG@10. Each row has the same model and the same task, and only the order of the documents in the
corpus differs.

{table(("stored as", "scales (calls of `encode`)", *orders), rows, words=2)}
To compress to integers, the wrapper takes the smallest and the largest number of each dimension from the embeddings
of one call of `encode`. MTEB encodes all queries in one call, and documents in chunks of 50,000 unless
`SearchEncoderWrapper` is told otherwise; here the chunks are smaller because the collection is. So which documents
share a scale depends on their order, and a ranking compares scores of documents that have different scales. The
widest range is that of {widest.name} in {widest.calls} calls: {span(every[widest])}, for {span(every[WAYS[0]])} in
float32. With one call for all documents the order does not matter, but queries and documents have different scales.
In the rows with one scale for queries and documents, everything was compressed by the same code in one call before it
was searched. float32 and binary codes have no scale, so that the order of the documents does not matter to them.

A scale that is computed once and used in every call has none of these effects. `release/letters/mteb.md` is ready to
be sent.
"""


if __name__ == "__main__":
    main()
