"""The audited evaluators: their packages, how they are called, and what their documentation says about ties."""

import importlib.metadata
import importlib.util
from collections.abc import Mapping
from typing import NamedTuple

from tieproof.trials.audit.outcomes import SINGLE

NOTHING = "nothing found"


class Subject(NamedTuple):
    """An evaluator of the package `evaluators`.

    name : in tables
    function : there, as file:function
    takes : its convention
    module, package : what it needs, and its name in the package index; empty where it is a few lines of ours
    says : what its documentation says about ties, and where
    distance : that of its embeddings; None where they are not compared as they are
    measures : what its number is, or each of its numbers; None where it is none of ours
    """

    name: str
    function: str
    takes: str
    module: str
    package: str
    says: str
    distance: str | None = "cosine"
    measures: str | Mapping[str, str | None] = "AP"

    @property
    def target(self) -> str:
        """The name by which `tieproof audit` finds the evaluator."""
        return f"{__package__}.evaluators.{self.function}"

    @property
    def numbers(self) -> dict[str, str]:
        """What each of its numbers is called in tables, by the name that the audit has for it."""
        if isinstance(self.measures, str):
            return {SINGLE: self.measures}
        return {name: name for name in self.measures}

    @property
    def known(self) -> str | dict[str, str]:
        """The measure of ours that its number is; or that each of its numbers is, where it is one."""
        if isinstance(self.measures, str):
            return self.measures
        return {name: measure for name, measure in self.measures.items() if measure}

    @property
    def installed(self) -> bool:
        """Whether the package of the evaluator is installed."""
        return not self.module or importlib.util.find_spec(self.module) is not None

    @property
    def version(self) -> str:
        """The version of the package of the subject."""
        return importlib.metadata.version(self.package) if self.package else "as in the study"


OURS = ("tieproof", "tieproof")
SKLEARN = ("sklearn", "scikit-learn")

SUBJECTS = (
    Subject(
        "tieproof, lower", "of_embeddings:tieproof_lower", "embeddings", *OURS, "the score to report: ties never pay"
    ),
    Subject(
        "tieproof, expected",
        "of_embeddings:tieproof_expected",
        "embeddings",
        *OURS,
        "the mean over all orderings of ties",
    ),
    Subject(
        "tieproof, upper",
        "of_embeddings:tieproof_upper",
        "embeddings",
        *OURS,
        "the most that ties leave open; not the score, as any system gains from it",
    ),
    Subject("tieproof, run", "of_runs:tieproof_run", "run", *OURS, "the lower bound; ties never pay"),
    Subject(
        "pytorch-metric-learning",
        "of_embeddings:pytorch_metric_learning",
        "embeddings",
        "pytorch_metric_learning",
        "pytorch-metric-learning",
        NOTHING,
        "euclidean",
    ),
    Subject(
        "open-metric-learning",
        "of_embeddings:open_metric_learning",
        "embeddings",
        "oml",
        "open-metric-learning",
        NOTHING,
        "euclidean",
    ),
    Subject(
        "torchmetrics RetrievalMAP",
        "of_scores:torchmetrics_map",
        "relevance",
        "torchmetrics",
        "torchmetrics",
        NOTHING,
    ),
    Subject(
        "scikit-learn average_precision_score", "of_scores:sklearn_average_precision", "relevance", *SKLEARN, NOTHING
    ),
    Subject("scikit-learn LRAP", "of_scores:sklearn_lrap", "relevance", *SKLEARN, NOTHING),
    Subject(
        "scikit-learn roc_auc_score", "of_scores:sklearn_roc_auc", "relevance", *SKLEARN, NOTHING, measures="AUC"
    ),
    Subject(
        "scikit-learn 1 − label_ranking_loss",
        "of_scores:sklearn_ranking_loss",
        "relevance",
        *SKLEARN,
        NOTHING,
        measures="AUC",
    ),
    Subject(
        "scikit-learn ndcg_score",
        "of_scores:sklearn_ndcg",
        "relevance",
        *SKLEARN,
        "averages over ties (its parameter ignore_ties)",
        measures="nDCG",
    ),
    Subject(
        "scikit-learn ndcg_score(ignore_ties=True)",
        "of_scores:sklearn_ndcg_ignoring_ties",
        "relevance",
        *SKLEARN,
        "assumes that there are none, for efficiency (its parameter ignore_ties)",
        measures="nDCG",
    ),
    Subject(
        "scikit-learn top_k_accuracy_score",
        "of_scores:sklearn_top_k_accuracy",
        "scores",
        *SKLEARN,
        "of equal scores the highest indices are chosen first, which might impact the result (its notes)",
        measures={"k=1": "Success@1", "k=2": None},
    ),
    Subject(
        "ranx",
        "of_runs:ranx",
        "run",
        "ranx",
        "ranx",
        NOTHING,
        measures={
            "map": "AP",
            "mrr": "RR",
            "ndcg": "nDCG",
            "ndcg_burges": "nDCG(gain=exp)",
            "precision@10": "P@10",
            "recall@10": "R@10",
            "f1@10": "F1@10",
            "r-precision": "Rprec",
            "hit_rate@1": "Success@1",
            "rbp.95": "RBP(p=0.95)",
            "bpref": "bpref",
        },
    ),
    Subject(
        "sentence-transformers",
        "of_text_encoders:sentence_transformers",
        "gallery",
        "sentence_transformers",
        "sentence-transformers",
        "by ascending id of the document (comments of its source); its documentation says nothing",
        measures={
            "cosine_map@100": "AP(norm=min)@100",
            "cosine_ndcg@10": "nDCG@10",
            "cosine_mrr@10": "RR@10",
            "cosine_accuracy@1": "Success@1",
        },
    ),
    Subject(
        "MTEB",
        "of_text_encoders:mteb",
        "gallery",
        "mteb",
        "mteb",
        "by descending id of the document, to match pytrec_eval (comments of its source, after its issue 5092)",
        measures={
            "map_at_100": "AP@100",
            "ndcg_at_10": "nDCG@10",
            "mrr_at_10": "RR@10",
            "hit_rate_at_1": "Success@1",
        },
    ),
    Subject(
        "pytrec_eval",
        "of_runs:pytrec_eval_map",
        "run",
        "pytrec_eval",
        "pytrec_eval-terrier",
        "the help of trec_eval: ties are broken deterministically, by document number (quoted in its issue 22)",
    ),
    Subject(
        "ir_measures",
        "of_runs:ir_measures_ap",
        "run",
        "ir_measures",
        "ir_measures",
        "nothing; its issue 18 asks for it, as providers differ",
    ),
    Subject(
        "tie-aware-retrieval-metrics, expected",
        "of_scores:trm_expected",
        "relevance",
        "trm",
        "tie-aware-retrieval-metrics",
        "made for ties: the expected score over all orderings (its README)",
    ),
    Subject(
        "tie-aware-retrieval-metrics, oblivious",
        "of_scores:trm_oblivious",
        "relevance",
        "trm",
        "tie-aware-retrieval-metrics",
        "warns of it: breaking ties arbitrarily is unstable and misleading (its README)",
    ),
    Subject(
        "faiss and the usual loop",
        "of_embeddings:faiss_loop",
        "embeddings",
        "faiss",
        "faiss-cpu",
        NOTHING,
        "euclidean",
    ),
    Subject(
        "the deep-hashing loop",
        "of_embeddings:deep_hashing_loop",
        "gallery",
        "",
        "",
        "a loop of scripts; no documentation",
        None,
    ),
    Subject(
        "the paper's mAP-",
        "of_embeddings:paper_method",
        "embeddings",
        "",
        "",
        "the cure: mAP- instead of mAP (section 5.3), which holds on zeros and constants; but it omits the nearest "
        "sample (section 4.1), which need not be the query if others are equal to it or not finite",
        "euclidean",
    ),
)
