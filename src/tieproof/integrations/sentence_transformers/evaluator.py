"""The retrieval metrics of sentence-transformers, also on NanoBEIR, each with its interval over tied documents."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sentence_transformers import SimilarityFunction

from tieproof import Result
from tieproof.errors import InputError
from tieproof.integrations.sentence_transformers import encoding, scoring
from tieproof.kit import as_rows, check_whole

logger = logging.getLogger(__name__)

_ENCODES = {"query": "encode_query", "document": "encode_document", "sentence": "encode"}
"""The method of a model for each kind of text."""

_CONFIGURATION = (
    "truncate_dim",
    "max_active_dims",
    "query_prompt",
    "query_prompt_name",
    "corpus_prompt",
    "corpus_prompt_name",
    "precision",
)
"""The options that a model card shows, unless they are None."""


class TieproofEvaluator(scoring.BaseEvaluator):  # type: ignore[misc]
    """The metrics of `InformationRetrievalEvaluator`, computed exactly, with their intervals over tied documents.

    It takes the arguments of that evaluator in the same order. Alternatively, pass `sentences` and `labels`: each
    sentence is then a query for the other sentences with its label. The value under the name of a metric, such as
    `cosine_ndcg@10`, is the lower bound over all orderings of tied documents, so ties never pay when models are
    selected by it. The suffixes `_lower`, `_expected` and `_upper` give the whole interval. Without ties, all four
    values are equal to the metric of `InformationRetrievalEvaluator`; of a `SparseEncoder`, to that of
    `SparseInformationRetrievalEvaluator`, with its numbers of active dimensions; and of a `MultiVectorEncoder`, whose
    texts have several vectors, to that of `MultiVectorInformationRetrievalEvaluator`.

    Parameters
    ----------
    queries, corpus : {id: text}
        Ids of queries are strings or integers.
    relevant_docs : {id of a query: set of ids of documents, or {id of a document: grade}}
        Queries without relevant documents are left out. All documents must be in the corpus. Grades are the gains of
        nDCG; for the other metrics a document is relevant if its grade is above 0.
    corpus_chunk_size : int
        How many texts are encoded at a time; all texts are evaluated together.
    mrr_at_k, ndcg_at_k, accuracy_at_k, precision_recall_at_k, map_at_k : lists of cutoffs
    show_progress_bar, batch_size, truncate_dim :
        Options of encoding; `show_progress_bar` applies to the evaluation, too.
    name : str
        A prefix of the metrics' names, also used in the name of the CSV file.
    write_csv : bool
        Add a row to `Tieproof_evaluation[_name][_precision]_results.csv` in `output_path`.
    score_functions : {name: function of two tensors}
        Default: the similarity of the model. The cosine, dot, Euclidean and Manhattan similarities of
        sentence_transformers.util are compared exactly; the values of other functions are ranked as they are.
    main_score_function : str or SimilarityFunction
        The score function of the primary metric, nDCG at the largest cutoff. Default: the score function with the
        best value in the first evaluation.
    query_prompt, query_prompt_name, corpus_prompt, corpus_prompt_name : str
        As in that evaluator; the query's prompts are used for `sentences`, too.
    write_predictions : bool
        True is refused: the evaluator of the library writes predictions, which `tieproof.evaluate_run` reads.
    sentences, labels : sequences of equal length, instead of queries, corpus and relevant_docs
    precision : "float32", "int8", "uint8", "binary" or "ubinary"
        Embeddings are converted by `quantize_embeddings`. "binary" and "ubinary" embeddings are packed chunk by chunk
        and compared by Hamming distance; their score function is called `hamming`.
    max_active_dims : int, the most dimensions of a row that a `SparseEncoder` keeps

    Attributes
    ----------
    results : {name of the score function: Result} of the last evaluation
        Each has the interval of every query, and can be compared, plotted and saved.
    primary_metric : the name of the metric by which models are selected; None before the first evaluation

    Raises
    ------
    InputError
        Ids, labels or options are inconsistent, the model is of another kind, or the CSV file has other columns.

    Examples
    --------
    >>> from sentence_transformers import SentenceTransformer
    >>> from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    >>> from tokenizers import Tokenizer, models, pre_tokenizers
    >>> tokenizer = Tokenizer(models.WordLevel({"cat": 0, "dog": 1, "?": 2}, unk_token="?"))
    >>> tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    >>> weights = np.array([[1, 0], [0, 1], [0, 0]], dtype=np.float32)
    >>> model = SentenceTransformer(modules=[StaticEmbedding(tokenizer, weights)], device="cpu")
    >>> queries, corpus = {"q": "cat"}, {"d1": "a cat", "d2": "the cat", "d3": "a dog"}
    >>> evaluator = TieproofEvaluator(queries, corpus, {"q": {"d2"}})
    >>> found = evaluator(model)
    >>> evaluator.primary_metric, round(found[evaluator.primary_metric], 4)
    ('cosine_ndcg@10', 0.6309)
    >>> [found[f"cosine_mrr@10_{bound}"] for bound in ("lower", "expected", "upper")]
    [0.5, 0.75, 1.0]
    >>> evaluator.results["cosine"].ties.queries_with_ambiguous_ties
    1

    """

    description = "Information Retrieval with Ties"  # in a model card

    def __init__(
        self,
        queries: Mapping[Any, Any] | None = None,
        corpus: Mapping[Any, Any] | None = None,
        relevant_docs: Mapping[Any, Any] | None = None,
        corpus_chunk_size: int = 50_000,
        mrr_at_k: Sequence[int] = (10,),
        ndcg_at_k: Sequence[int] = (10,),
        accuracy_at_k: Sequence[int] = (1, 3, 5, 10),
        precision_recall_at_k: Sequence[int] = (1, 3, 5, 10),
        map_at_k: Sequence[int] = (100,),
        show_progress_bar: bool = False,
        batch_size: int = 32,
        name: str = "",
        write_csv: bool = True,
        truncate_dim: int | None = None,
        score_functions: Mapping[str, scoring.ScoreFunction] | None = None,
        main_score_function: "str | SimilarityFunction | None" = None,
        query_prompt: str | None = None,
        query_prompt_name: str | None = None,
        corpus_prompt: str | None = None,
        corpus_prompt_name: str | None = None,
        write_predictions: bool = False,
        *,
        sentences: Sequence[Any] | None = None,
        labels: Any = None,
        precision: encoding.Precision | None = None,
        max_active_dims: int | None = None,
    ) -> None:
        super().__init__()
        if sentences is None and labels is None:
            self.task = encoding.retrieval(queries, corpus, relevant_docs)
        elif queries is corpus is relevant_docs is None:
            self.task = encoding.labeled(sentences, labels)
        else:
            raise InputError(
                "Pass either queries, corpus and relevant_docs, or sentences and labels, not some of both."
            )
        self.queries, self.corpus = self.task.queries, self.task.corpus or self.task.queries
        if write_predictions:
            raise InputError(
                "write_predictions=True would cut lists off within ties, by the ids of documents. Let "
                "InformationRetrievalEvaluator write its predictions, and pass the file to tieproof.evaluate_run "
                "with truncated=True.",
                "write_predictions",
            )
        check_whole("corpus_chunk_size", corpus_chunk_size, 1)
        scoring.check_precision(precision, score_functions)
        self.metrics = scoring.metrics_at(
            {
                "accuracy_at_k": accuracy_at_k,
                "precision_recall_at_k": precision_recall_at_k,
                "mrr_at_k": mrr_at_k,
                "ndcg_at_k": ndcg_at_k,
                "map_at_k": map_at_k,
            }
        )
        self.main_metric = f"ndcg@{max(ndcg_at_k)}"
        self.corpus_chunk_size = corpus_chunk_size
        self.show_progress_bar, self.batch_size = show_progress_bar, batch_size
        if not isinstance(name, str | None):
            raise InputError(f"name must be a string, not {type(name).__name__}.", "name")
        self.name, self.write_csv = name or "", write_csv
        self.truncate_dim, self.precision, self.max_active_dims = truncate_dim, precision, max_active_dims
        self.score_functions = score_functions
        self.main_score_function = getattr(main_score_function, "value", main_score_function)
        self.query_prompt, self.query_prompt_name = query_prompt, query_prompt_name
        self.corpus_prompt, self.corpus_prompt_name = corpus_prompt, corpus_prompt_name
        self.csv_file = "_".join(filter(None, ["Tieproof_evaluation", name, precision, "results.csv"]))
        self.chosen: str | None = None
        self.results: dict[str, Result] = {}

    def __call__(
        self,
        model: Any,
        output_path: str | None = None,
        epoch: float = -1,
        steps: int = -1,
        *,
        corpus_model: Any = None,
        corpus_embeddings: Any = None,
    ) -> dict[str, float]:
        """Encode the texts, evaluate, add a row to the CSV file, and return the metrics, their names after `name`.

        corpus_model : another model that encodes the corpus
        corpus_embeddings : (documents, d), the embeddings of the corpus in its order, which is then not encoded
        """
        corpus_rows = self._checked_corpus(corpus_model, corpus_embeddings)
        of_corpus = model if corpus_model is None else corpus_model
        options = {name: getattr(self, name) for name in ("precision", "truncate_dim", "max_active_dims")}
        encoding.check_model(model, [_ENCODES[kind] for kind in self.task.kinds if kind != "document"], **options)
        if "document" in self.task.kinds and corpus_embeddings is None:
            encoding.check_model(of_corpus, [_ENCODES["document"]], **options)
        distances = scoring.distances_for(model, self.score_functions, self.precision)
        if self.main_score_function not in (None, *distances):
            raise InputError(
                f"main_score_function is '{self.main_score_function}', but the evaluation has only "
                f"{', '.join(distances)}. Pass one of them, or leave it out.",
                "main_score_function",
            )
        added = encoding.SPARSITY if encoding.kind_of(model) is encoding.SPARSE else ()
        headers = ["epoch", "steps", *scoring.columns(self.metrics, list(distances)), *added]
        path = scoring.file_for(output_path if self.write_csv else None, self.csv_file, headers)

        def encode(texts: Sequence[Any], kind: str) -> Any:
            if kind != "document":
                return self.encode(model, texts, kind)
            if corpus_rows is not None:
                return encoding.packed(corpus_rows, self.precision)
            return self.encode(of_corpus, texts, kind)

        rows = encoding.calibrated(self.task.encoded(encode), self.precision)
        options = {
            "measures": scoring.measures_of(self.metrics),
            "progress": self.show_progress_bar,
            "bits": 8 * rows[0].shape[1] if self.precision in encoding.BINARY else None,
        }
        self.results = {
            name: self.task.evaluate(rows, distance=distance, **options) for name, distance in distances.items()
        }
        scores = scoring.values(self.metrics, self.results) | (encoding.sparsity(rows) if added else {})
        if self.chosen not in distances:
            best = max(distances, key=lambda name: scores[f"{name}_{self.main_metric}"])
            self.chosen = self.main_score_function or best
            self.primary_metric = "_".join(filter(None, [self.name, self.chosen, self.main_metric]))
        for name, result in self.results.items():
            logger.info("Tieproof evaluation of %s, epoch %s, step %s:\n%s", self.name or name, epoch, steps, result)
        if path is not None:
            scoring.add_row(path, headers, [epoch, steps, *scores.values()])
        prefixed: dict[str, float] = self.prefix_name_to_metrics(scores, self.name)
        self.store_metrics_in_model_card_data(model, prefixed, epoch, steps)
        return prefixed

    def _checked_corpus(self, corpus_model: Any, corpus_embeddings: Any) -> Any:
        """The rows of the corpus, if they were passed, one for each document; refuse what contradicts itself."""
        given = {"corpus_model": corpus_model, "corpus_embeddings": corpus_embeddings}
        names = tuple(name for name, value in given.items() if value is not None)
        if len(names) == 2:
            raise InputError("Pass either corpus_model or corpus_embeddings, not both.", names)
        if names and self.task.corpus is None:
            raise InputError(f"{names[0]} was passed, but sentences have no corpus. Leave it out.", names[0])
        if corpus_embeddings is None:
            return None
        rows, documents = as_rows(corpus_embeddings, "corpus_embeddings", sparse=True), len(self.corpus)
        if len(rows.shape) != 2 or len(rows) != documents:
            raise InputError(
                f"corpus_embeddings has shape {tuple(rows.shape)}, but the corpus has {documents:,} documents. Pass "
                "one row for each, in the order of the corpus.",
                ("corpus_embeddings", "corpus"),
            )
        if self.precision is not None and not (isinstance(rows, np.ndarray) and rows.dtype.kind == "f"):
            raise InputError(
                f"corpus_embeddings must be the floats of a model, which precision={self.precision!r} converts. Pass "
                "them before they are quantized.",
                ("corpus_embeddings", "precision"),
            )
        return rows

    def encode(self, model: Any, texts: Sequence[Any], kind: str) -> Any:
        """Encode texts chunk by chunk; kind is "query", "document" or "sentence"."""
        side = "corpus" if kind == "document" else "query"
        return encoding.encoded(
            model,
            _ENCODES[kind],
            texts,
            self.corpus_chunk_size,
            self.precision,
            prompt=getattr(self, f"{side}_prompt"),
            prompt_name=getattr(self, f"{side}_prompt_name"),
            batch_size=self.batch_size,
            show_progress_bar=self.show_progress_bar,
            truncate_dim=self.truncate_dim,
            max_active_dims=self.max_active_dims,
        )

    def _model_score_functions(self, model: Any) -> dict[str, Any]:
        """The distances by the names of the model's score functions, for which NanoBEIREvaluator asks."""
        return scoring.distances_for(model, None, self.precision)

    def get_config_dict(self) -> dict[str, Any]:
        """The options of the evaluation that a model card shows."""
        return {key: getattr(self, key) for key in _CONFIGURATION if getattr(self, key) is not None}


class TieproofNanoBEIREvaluator(scoring.NanoBEIREvaluator):  # type: ignore[misc]
    """`NanoBEIREvaluator`, whose data sets are evaluated by `TieproofEvaluator`.

    It takes the arguments of that evaluator, and returns its metrics: of each data set, and their means over the data
    sets. The value under the name of a metric is the lower bound over all orderings of tied documents; the suffixes
    `_lower`, `_expected` and `_upper` give the whole interval. `write_predictions=True` is refused.

    Raises
    ------
    ValueError
        A data set is unknown, or cannot be downloaded.

    """

    information_retrieval_class = TieproofEvaluator
