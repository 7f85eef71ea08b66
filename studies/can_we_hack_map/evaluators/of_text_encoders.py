"""Benchmarks of text encoders: each text is the number of a vector, and the encoder looks it up.

Documents are named by their number, as most collections are numbered in the order of their file.
"""

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from studies.can_we_hack_map.evaluators.of_embeddings import as_float32

Array = npt.NDArray[Any]

SENTENCE_TRANSFORMERS = ("cosine_map@100", "cosine_ndcg@10", "cosine_mrr@10", "cosine_accuracy@1")
MTEB = ("map_at_100", "ndcg_at_10", "mrr_at_10", "hit_rate_at_1")


def names(letter: str, count: int) -> list[str]:
    """Names that sort as their numbers do.

    >>> names("d", 2)
    ['d00000', 'd00001']
    """
    return [f"{letter}{number:05}" for number in range(count)]


def judgments(query_labels: Array, gallery_labels: Array) -> dict[str, dict[str, int]]:
    """The relevant documents of each query."""
    relevant = query_labels[:, None] == gallery_labels
    return {
        query: {f"d{number:05}": 1 for number in np.flatnonzero(row)}
        for query, row in zip(names("q", len(relevant)), relevant, strict=True)
    }


def sentence_transformers(
    queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array
) -> dict[str, float]:
    """InformationRetrievalEvaluator of a model, by cosine, with its default cutoffs."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models

    vectors = as_float32(np.concatenate([queries, gallery]))
    texts = [str(number) for number in range(len(vectors))]
    tokenizer = Tokenizer(models.WordLevel({text: int(text) for text in texts}, unk_token="0"))
    model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, vectors)], device="cpu")
    relevant = judgments(query_labels, gallery_labels)
    evaluator = InformationRetrievalEvaluator(
        dict(zip(relevant, texts, strict=False)),
        dict(zip(names("d", len(gallery)), texts[len(queries) :], strict=True)),
        {query: set(documents) for query, documents in relevant.items()},
    )
    found = evaluator(model)
    return {name: float(found[name]) for name in SENTENCE_TRANSFORMERS}


def mteb(queries: Array, query_labels: Array, gallery: Array, gallery_labels: Array) -> dict[str, float]:
    """The function `evaluate` of a retrieval task in memory, with its default cutoffs."""
    import mteb as library
    from datasets import Dataset, disable_progress_bars
    from mteb.abstasks import AbsTaskRetrieval
    from mteb.abstasks.retrieval_dataset_loaders import RetrievalSplitData
    from mteb.abstasks.task_metadata import TaskMetadata

    disable_progress_bars()
    numbers = itertools.count()

    def rows(ids: list[str]) -> Any:
        return Dataset.from_list([{"id": name, "text": str(next(numbers))} for name in ids])

    class Task(AbsTaskRetrieval):  # type: ignore[misc]  # of a library without types
        metadata = TaskMetadata(
            name="Numbers",
            description="Vectors by their numbers",
            dataset={"path": "none", "revision": "1"},
            type="Retrieval",
            category="t2t",
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            main_score="ndcg_at_10",
        )

    task = Task()
    relevant = judgments(query_labels, gallery_labels)
    data = RetrievalSplitData(
        queries=rows([*relevant]),
        corpus=rows(names("d", len(gallery))),
        relevant_docs={query: documents for query, documents in relevant.items() if documents},
        top_ranked=None,
    )
    task.dataset, task.data_loaded = {"default": {"test": data}}, True
    encoder = Lookup(as_float32(np.concatenate([queries, gallery])))
    found = library.evaluate(encoder, task, cache=None, show_progress_bar=False, co2_tracker=False)
    (scores,) = found.task_results[0].scores["test"]
    return {name: float(scores[name]) for name in MTEB}


class Lookup:
    """An encoder of MTEB that gives the text "3" the row 3 of some vectors; nearness is the cosine."""

    def __init__(self, vectors: Array) -> None:
        from mteb.models import ModelMeta

        self.vectors = vectors
        self.mteb_model_meta = ModelMeta.create_empty(overwrites={"name": "study/lookup", "revision": "1"})

    def encode(self, inputs: Any, **options: Any) -> Array:
        """The vectors of batches of texts."""
        return self.vectors[[int(text) for batch in inputs for text in batch["text"]]]

    def similarity(self, queries: Array, documents: Array) -> Any:
        """The cosine, as the library computes it."""
        from mteb.similarity_functions import cos_sim

        return cos_sim(queries, documents)

    def similarity_pairwise(self, queries: Array, documents: Array) -> Any:
        """The cosine of each pair, which MTEB asks for and does not need here."""
        from mteb.similarity_functions import pairwise_cos_sim

        return pairwise_cos_sim(queries, documents)
