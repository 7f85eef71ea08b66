"""Tasks of MTEB in memory, and an encoder that reads numbers from the texts: nothing is downloaded."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

os.environ["HF_HUB_OFFLINE"] = "1"  # before it is imported
mteb = pytest.importorskip("mteb")

from datasets import Dataset  # noqa: E402
from mteb.abstasks import AbsTaskRetrieval  # noqa: E402
from mteb.abstasks.retrieval_dataset_loaders import RetrievalSplitData  # noqa: E402
from mteb.abstasks.task_metadata import TaskMetadata  # noqa: E402
from mteb.models import ModelMeta  # noqa: E402

METADATA: dict[str, Any] = {
    "description": "A toy",
    "reference": None,
    "dataset": {"path": "none", "revision": "1"},
    "type": "Retrieval",
    "category": "t2t",
    "modalities": ["text"],
    "eval_splits": ["test"],
    "eval_langs": ["eng-Latn"],
    "main_score": "ndcg_at_1",
    "date": None,
    "domains": None,
    "task_subtypes": None,
    "license": None,
    "annotations_creators": None,
    "dialect": None,
    "sample_creation": None,
    "bibtex_citation": None,
}


class Encoder:
    """The words of a text are the numbers of its vector: "0.5 0.25" is (0.5, 0.25). Nearness is the dot product."""

    def __init__(self, dtype: str = "float32") -> None:
        self.dtype = dtype
        self.mteb_model_meta = ModelMeta.create_empty(overwrites={"name": "toy/encoder", "revision": "1"})

    def encode(self, inputs: Any, **options: Any) -> Any:
        texts = [text for batch in inputs for text in batch["text"]]
        return np.array([[float(word) for word in text.split()] for text in texts], dtype=self.dtype)

    def similarity(self, queries: Any, documents: Any) -> Any:
        return np.asarray(queries) @ np.asarray(documents).T

    def similarity_pairwise(self, queries: Any, documents: Any) -> Any:
        return (np.asarray(queries) * np.asarray(documents)).sum(axis=1)


def task_class(name: str, base: type = AbsTaskRetrieval, kind: str = "Retrieval", **attributes: Any) -> Any:
    """A class of tasks of a kind."""
    metadata = TaskMetadata(name=name, **METADATA | {"type": kind})
    return type(name, (base,), {"metadata": metadata, **attributes})


def text_of(vector: Sequence[float] | str) -> str:
    """The text that `Encoder` reads as this vector; a text as it is."""
    return vector if isinstance(vector, str) else " ".join(map(repr, map(float, vector)))


def loaded(
    task: Any,
    vectors: Mapping[str, Mapping[str, Sequence[float] | str]],
    qrels: Mapping[str, Mapping[str, int]],
    top_ranked: Mapping[str, Sequence[str]] | None = None,
) -> Any:
    """The task with this data: `vectors` of "queries" and of the "corpus", or texts, by their ids."""

    def rows(of: str) -> Any:
        return Dataset.from_list([{"id": name, "text": text_of(each)} for name, each in vectors[of].items()])

    data = RetrievalSplitData(
        corpus=rows("corpus"),
        queries=rows("queries"),
        relevant_docs={query: dict(grades) for query, grades in qrels.items()},
        top_ranked=None if top_ranked is None else {query: list(ids) for query, ids in top_ranked.items()},
    )
    task.dataset, task.data_loaded = {"default": {"test": data}}, True
    return task


def scores_of(task: Any, model: Any = None, **options: Any) -> dict[str, Any]:
    """MTEB's scores of the task."""
    result = mteb.evaluate(
        model or Encoder(), task, cache=None, show_progress_bar=False, co2_tracker=False, **options
    )
    (scores,) = result.task_results[0].scores["test"]
    return dict(scores)
