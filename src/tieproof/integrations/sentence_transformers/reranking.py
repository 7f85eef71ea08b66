"""`TieproofRerankingEvaluator`: the order of the candidates of each query, with its interval over tied candidates."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np
from sentence_transformers.util import cos_sim
from tqdm import trange

from tieproof import Estimate, evaluate
from tieproof.errors import InputError
from tieproof.integrations.sentence_transformers import encoding, scoring
from tieproof.kit import Array, FloatArray, check_whole, joined, over_queries

logger = logging.getLogger(__name__)

_TOGETHER, _CANDIDATES = 16, 512
"""The most samples that are evaluated by one call, and about the most candidates of such samples together."""


class TieproofRerankingEvaluator(scoring.BaseEvaluator):  # type: ignore[misc]
    """The metrics of `RerankingEvaluator`, computed exactly, with their intervals over tied candidates.

    It takes the arguments of that evaluator in the same order. `map`, `mrr@k` and `ndcg@k` are the lower bounds over
    all orderings of tied candidates; the suffixes `_lower`, `_expected` and `_upper` give the whole interval. Without
    ties, all four values are equal to the metric of `RerankingEvaluator`.

    Parameters
    ----------
    samples : list of {"query": text, "positive": text or texts, "negative": text or texts}, or a dictionary of them
        Samples without a positive or without a negative are left out.
    at_k : int
        The cutoff of MRR and nDCG.
    name : str
        A prefix of the metrics' names, also used in the name of the CSV file.
    write_csv : bool
        Add a row to `Tieproof_reranking[_name]_results_@k.csv` in `output_path`.
    similarity_fct : function of two tensors
        The cosine, dot, Euclidean and Manhattan similarities of sentence_transformers.util are compared exactly; the
        values of other functions are ranked as they are. Default: cosine, or the similarity of a MultiVectorEncoder.
    batch_size, show_progress_bar, truncate_dim :
        Options of encoding.
    use_batched_encoding : bool
        Encode the texts of all samples at once; otherwise sample by sample, in less memory.
    mrr_at_k : int, an older name of at_k
    max_active_dims : int, the most dimensions of a row that a `SparseEncoder` keeps

    Attributes
    ----------
    per_query : {metric: Estimate of arrays}, the values of each sample in the last evaluation

    Raises
    ------
    InputError
        A sample or an option is not as described, or the CSV file has other columns.

    Examples
    --------
    >>> samples = [{"query": "cat", "positive": "a cat", "negative": ["a dog", "the cat"]}]
    >>> evaluator = TieproofRerankingEvaluator(samples)
    >>> evaluator.primary_metric
    'ndcg@10'

    """

    description = "Reranking with Ties"  # in a model card

    def __init__(
        self,
        samples: Sequence[Mapping[str, Any]] | Mapping[Any, Mapping[str, Any]],
        at_k: int = 10,
        name: str = "",
        write_csv: bool = True,
        similarity_fct: scoring.ScoreFunction | None = None,
        batch_size: int = 64,
        show_progress_bar: bool = False,
        use_batched_encoding: bool = True,
        truncate_dim: int | None = None,
        mrr_at_k: int | None = None,
        *,
        max_active_dims: int | None = None,
    ) -> None:
        super().__init__()
        each = list(samples.values()) if isinstance(samples, Mapping) else list(samples)
        read = [_texts(sample, number) for number, sample in enumerate(each)]
        self.samples = [sample for sample in read if sample[1] and sample[2]]
        if not self.samples:
            raise InputError(
                f"None of {len(each)} samples has both a positive and a negative text. Pass one that has.", "samples"
            )
        self.at_k = at_k if mrr_at_k is None else mrr_at_k
        check_whole("at_k" if mrr_at_k is None else "mrr_at_k", self.at_k, 1)
        if similarity_fct is not None and not callable(similarity_fct):
            raise InputError(
                f"similarity_fct must be a function of two tensors, not {similarity_fct!r}.", "similarity_fct"
            )
        self.name, self.write_csv, self.similarity_fct = name, write_csv, similarity_fct
        self.batch_size, self.show_progress_bar = batch_size, show_progress_bar
        self.use_batched_encoding = use_batched_encoding
        self.truncate_dim, self.max_active_dims = truncate_dim, max_active_dims
        self.measures = {"map": "AP", f"mrr@{self.at_k}": f"RR@{self.at_k}", f"ndcg@{self.at_k}": f"nDCG@{self.at_k}"}
        self.csv_file = "_".join(filter(None, ["Tieproof_reranking", name, f"results_@{self.at_k}.csv"]))
        self.primary_metric = f"ndcg@{self.at_k}"
        self.per_query: dict[str, Estimate[FloatArray]] = {}

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: float = -1, steps: int = -1
    ) -> dict[str, float]:
        """Encode the texts, evaluate, add a row to the CSV file, and return the metrics, their names after `name`."""
        options = {name: getattr(self, name) for name in ("truncate_dim", "max_active_dims")}
        encoding.check_model(model, ["encode_query", "encode_document"], **options)
        added = encoding.SPARSITY[:4] if encoding.kind_of(model) is encoding.SPARSE else ()
        ends = scoring.ENDS
        headers = ["epoch", "steps", *(f"{name.upper()}{end}" for name in self.measures for end in ends), *added]
        path = scoring.file_for(output_path if self.write_csv else None, self.csv_file, headers)
        sparse: list[encoding.Encoded] = []
        values = self._values(model, sparse)
        self.per_query = {name: Estimate(*values[:, :, place].T) for place, name in enumerate(self.measures)}
        means = {name: over_queries(each) for name, each in self.per_query.items()}
        scores = {f"{name}{end}": getattr(means[name], end.lstrip("_") or "lower") for name in means for end in ends}
        if sparse:
            found = encoding.sparsity(tuple(map(joined, zip(*sparse, strict=True))))
            scores |= {name: found[name] for name in added}
        logger.info("Tieproof reranking of %s, epoch %s, step %s: %s", self.name, epoch, steps, scores)
        if path is not None:
            scoring.add_row(path, headers, [epoch, steps, *scores.values()])
        prefixed: dict[str, float] = self.prefix_name_to_metrics(scores, self.name)
        self.store_metrics_in_model_card_data(model, prefixed, epoch, steps)
        return prefixed

    def _values(self, model: Any, sparse: list[encoding.Encoded]) -> Array:
        """The estimate of each metric of each sample, (samples, 4, metrics); sparse rows are added to the list."""
        late = self.similarity_fct is None and encoding.kind_of(model) is encoding.LATE
        (distance,) = scoring.distances_for(
            model, None if late else {"": self.similarity_fct or cos_sim}, None
        ).values()
        names = list(self.measures.values())
        sizes = [len(positive) + len(negative) for _, positive, negative in self.samples]
        together = self.use_batched_encoding and isinstance(distance, str)  # a function might round otherwise
        step = max(1, min(_TOGETHER, _CANDIDATES // max(sizes))) if together else 1
        whole = self._texts_of(model, self.samples) if self.use_batched_encoding else None
        ends = np.cumsum([0, *sizes])
        values = []
        for start in trange(0, len(sizes), step, disable=not self.show_progress_bar, desc="Samples"):
            part = slice(start, start + step)
            if whole is None:
                queries, documents = self._texts_of(model, self.samples[part])
            else:
                queries, documents = whole[0][part], whole[1][ends[start] : ends[min(start + step, len(sizes))]]
            if encoding.kind_of(model) is encoding.SPARSE:
                sparse.append((queries, documents))
            own = np.repeat(np.arange(len(queries)), sizes[part])
            positives = [len(positive) for _, positive, _ in self.samples[part]]
            within = np.arange(len(own)) - (ends[part] - ends[start])[own]
            relevant = np.flatnonzero(within < np.array(positives)[own])
            others = np.argwhere(np.arange(len(queries))[:, None] != own)
            result = evaluate(
                queries,
                gallery=documents,
                relevance=np.column_stack([own[relevant], relevant]),
                exclude=others if len(others) else None,
                distance=distance,
                measures=names,
                threads=1,
            )
            values.append(np.array([astuple(result.per_query(name)) for name in names]).T)
        return np.concatenate(values)

    def _texts_of(self, model: Any, samples: Sequence[tuple[Any, list[Any], list[Any]]]) -> tuple[Any, Any]:
        """The embeddings of the queries of samples, and of all their candidates."""
        candidates = [text for _, positive, negative in samples for text in positive + negative]
        options: dict[str, Any] = {
            "batch_size": self.batch_size,
            "show_progress_bar": self.show_progress_bar and self.use_batched_encoding,
            "truncate_dim": self.truncate_dim,
            "max_active_dims": self.max_active_dims,
        }
        queries = encoding.encoded(model, "encode_query", [query for query, _, _ in samples], len(samples), **options)
        return queries, encoding.encoded(model, "encode_document", candidates, len(candidates), **options)

    def get_config_dict(self) -> dict[str, Any]:
        """The options of the evaluation that a model card shows."""
        options = {name: getattr(self, name) for name in ("truncate_dim", "max_active_dims")}
        return {"at_k": self.at_k} | {name: value for name, value in options.items() if value is not None}


def _texts(sample: Any, number: int) -> tuple[Any, list[Any], list[Any]]:
    """The query, the positives and the negatives of a sample."""
    keys = ("query", "positive", "negative")
    if not isinstance(sample, Mapping) or any(key not in sample for key in keys):
        had = ", ".join(map(str, sample)) if isinstance(sample, Mapping) else type(sample).__name__
        raise InputError(
            f"Sample {number} must be a dictionary with {', '.join(keys)}, but it is or has: {had}.", "samples"
        )
    positive, negative = ([sample[key]] if isinstance(sample[key], str) else list(sample[key]) for key in keys[1:])
    return sample["query"], positive, negative
