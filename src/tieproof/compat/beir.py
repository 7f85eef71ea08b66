"""`EvaluateRetrieval` of BEIR, with ties that never pay; it needs neither BEIR nor pytrec_eval.

>>> from tieproof.compat.beir import EvaluateRetrieval
>>> qrels, results = {"q": {"d1": 1}}, {"q": {"d1": 0.5, "d2": 0.5}}
>>> ndcg, map_, recall, precision = EvaluateRetrieval.evaluate(qrels, results, [1, 10])
>>> ndcg["NDCG@1"], recall
(0.0, {'Recall@1': 0.0, 'Recall@10': 1.0})
"""

from collections.abc import Mapping, Sequence
from glob import glob
from typing import Any

from tieproof import Estimate, evaluate_run
from tieproof.compat.ties import TieChoice, check_ties, choose
from tieproof.errors import InputError
from tieproof.kit import check_choice, check_whole

__all__ = ["EvaluateRetrieval"]

_CUSTOM = {
    "MRR": ("RR", ("mrr", "mrr@k", "mrr_cut")),
    "R_cap": ("RelP", ("recall_cap", "r_cap", "r_cap@k")),
    "Accuracy": ("Success", ("acc", "top_k_acc", "accuracy", "accuracy@k", "top_k_accuracy")),
}
"""The measure of each metric of `evaluate_custom`, and the names by which it is asked for."""

Scores = Mapping[str, Mapping[str, float]]


class EvaluateRetrieval:
    """Retrieve by a model of BEIR, and evaluate dictionaries of results.

    Parameters
    ----------
    retriever : an object with `search(corpus, queries, top_k, score_function)`, or None to evaluate only
        For `encode_and_retrieve`, it has `encode` and `search_from_files` instead.
    k_values : cutoffs
    score_function : str, passed on to the retriever

    """

    def __init__(
        self,
        retriever: Any = None,
        k_values: Sequence[int] = (1, 3, 5, 10, 100, 1000),
        score_function: str | None = "cos_sim",
    ) -> None:
        self.k_values, self.top_k = _cutoffs(k_values), max(k_values)
        self.retriever, self.score_function = retriever, score_function

    def retrieve(self, corpus: Any, queries: Any, **options: Any) -> Any:
        """The results of the retriever: {query: {document: score}}."""
        return self._given().search(corpus, queries, self.top_k, self.score_function, **options)

    def encode_and_retrieve(
        self,
        corpus: Any,
        queries: Any,
        encode_output_path: str = "./embeddings/",
        overwrite: bool = False,
        query_filename: str = "queries.pkl",
        corpus_filename: str = "corpus.*.pkl",
        **options: Any,
    ) -> Any:
        """The results of a retriever that writes embeddings to files and then searches them.

        Parameters
        ----------
        corpus, queries : passed on to the retriever's `encode`
        encode_output_path : the folder of the files
        overwrite, options : passed on to the retriever
        query_filename, corpus_filename : the file of the queries, and the pattern of the corpus files
            Only the retriever opens these files.

        """
        names = {"query_filename": query_filename, "corpus_filename": corpus_filename}
        self._given().encode(
            corpus, queries, encode_output_path=encode_output_path, overwrite=overwrite, **names, **options
        )
        return self._given().search_from_files(
            query_embeddings_file=f"{encode_output_path}/{query_filename}",
            corpus_embeddings_files=sorted(glob(f"{encode_output_path}/{corpus_filename}")),
            top_k=self.top_k,
            **options,
        )

    def _given(self) -> Any:
        if self.retriever is None:
            raise InputError("There is no retriever. Pass one to EvaluateRetrieval.", "retriever")
        return self.retriever

    @staticmethod
    def evaluate(
        qrels: Mapping[str, Mapping[str, int]],
        results: Scores,
        k_values: Sequence[int],
        ignore_identical_ids: bool = True,
        *,
        ties: TieChoice = "lower",
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]:
        """NDCG, MAP, recall and precision at each cutoff, four dictionaries.

        Parameters
        ----------
        qrels, results : {query: {document: grade}} and {query: {document: score}}
            Only queries that are in both count.
        k_values : cutoffs
        ignore_identical_ids : leave out a document with the id of its query
        ties : "lower", "expected", "upper" or "interval"
            Which value over all orderings of documents with equal scores is returned.

        """
        names = {"NDCG": "nDCG", "MAP": "AP", "Recall": "R", "P": "P"}
        if ignore_identical_ids and (own := [query for query, scores in results.items() if query in scores]):
            others = {
                query: {name: score for name, score in results[query].items() if name != query} for query in own
            }
            results = {**results, **others}
        judged = {query: grades for query, grades in qrels.items() if query in results}
        ndcg, map_, recall, precision = _measured(judged or qrels, results, names, k_values, ties)
        return ndcg, map_, recall, precision

    @staticmethod
    def evaluate_custom(
        qrels: Mapping[str, Mapping[str, int]],
        results: Scores,
        k_values: Sequence[int],
        metric: str,  # such as "mrr", "recall_cap" or "top_k_accuracy"; "hole" is not offered
        *,
        ties: TieChoice = "lower",
    ) -> dict[str, Any]:
        """MRR, R_cap or Accuracy at each cutoff; a judged query without results scores 0."""
        known = {spelling: name for name, (_, spellings) in _CUSTOM.items() for spelling in spellings}
        check_choice("metric", metric.lower(), known)
        name = known[metric.lower()]
        return _measured(qrels, results, {name: _CUSTOM[name][0]}, k_values, ties)[0]


def _cutoffs(k_values: Sequence[int]) -> list[int]:
    """The cutoffs, at least one, each a whole number above 0."""
    if not len(k_values):
        raise InputError("k_values is empty. Pass at least one cutoff, such as [10].", "k_values")
    for k in k_values:
        check_whole("k_values", k, 1)
    return list(k_values)


def _measured(
    qrels: Mapping[str, Mapping[str, int]],
    results: Scores,
    names: Mapping[str, str],
    k_values: Sequence[int],
    ties: TieChoice,
) -> list[dict[str, Any]]:
    """The chosen value of each measure at each cutoff; all queries of the qrels count, and empty lists score 0."""
    check_ties(ties)
    measures = {f"{name}@{k}": f"{ours}@{k}" for name, ours in names.items() for k in _cutoffs(k_values)}
    if results and not any(results.values()) and any(map(qrels.get, results)):
        found: Mapping[str, Estimate[float]] = dict.fromkeys(measures.values(), Estimate(0.0, 0.0, 0.0, 0.0))
    else:
        found = evaluate_run(qrels, results, measures=list(measures.values()), empty="zero")
    chosen = {key: choose(found[value], ties) for key, value in measures.items()}
    return [{key: value for key, value in chosen.items() if key.startswith(f"{name}@")} for name in names]
