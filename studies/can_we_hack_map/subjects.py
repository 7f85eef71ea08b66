"""Who is audited: where it comes from, how it is called, and what its documentation says about ties."""

import importlib.metadata
import importlib.util
from typing import NamedTuple

NOTHING = "nothing found"


class Subject(NamedTuple):
    """An evaluator of `evaluators.py`.

    name : in tables
    function : there
    takes : its convention
    module, package : what it needs, and its name in the package index; empty where it is a few lines of ours
    says : what its documentation says about ties, and where
    distance : that of its embeddings; None where they are not compared as they are
    """

    name: str
    function: str
    takes: str
    module: str
    package: str
    says: str
    distance: str | None = "cosine"

    @property
    def target(self) -> str:
        """How `tieproof audit` finds it."""
        return f"{__package__}.evaluators:{self.function}"

    @property
    def installed(self) -> bool:
        """Whether it can be measured here."""
        return not self.module or importlib.util.find_spec(self.module) is not None

    @property
    def version(self) -> str:
        """The version of the package of the subject."""
        return importlib.metadata.version(self.package) if self.package else "as in the study"


OURS = ("tieproof", "tieproof")

SUBJECTS = (
    Subject("tieproof, lower", "tieproof_lower", "embeddings", *OURS, "the score to report: ties never pay"),
    Subject("tieproof, expected", "tieproof_expected", "embeddings", *OURS, "the mean over all orderings of ties"),
    Subject(
        "tieproof, upper",
        "tieproof_upper",
        "embeddings",
        *OURS,
        "the most that ties leave open; not the score, as any system gains from it",
    ),
    Subject("tieproof, run", "tieproof_run", "run", *OURS, "the lower bound; ties never pay"),
    Subject(
        "pytorch-metric-learning",
        "pytorch_metric_learning",
        "embeddings",
        "pytorch_metric_learning",
        "pytorch-metric-learning",
        NOTHING,
        "euclidean",
    ),
    Subject(
        "open-metric-learning",
        "open_metric_learning",
        "embeddings",
        "oml",
        "open-metric-learning",
        NOTHING,
        "euclidean",
    ),
    Subject("torchmetrics RetrievalMAP", "torchmetrics_map", "relevance", "torchmetrics", "torchmetrics", NOTHING),
    Subject(
        "scikit-learn average_precision_score",
        "sklearn_average_precision",
        "relevance",
        "sklearn",
        "scikit-learn",
        NOTHING,
    ),
    Subject("scikit-learn LRAP", "sklearn_lrap", "relevance", "sklearn", "scikit-learn", NOTHING),
    Subject("ranx", "ranx_map", "run", "ranx", "ranx", NOTHING),
    Subject(
        "pytrec_eval",
        "pytrec_eval_map",
        "run",
        "pytrec_eval",
        "pytrec_eval-terrier",
        "the help of trec_eval: ties are broken deterministically, by document number (quoted in its issue 22)",
    ),
    Subject(
        "ir_measures",
        "ir_measures_ap",
        "run",
        "ir_measures",
        "ir_measures",
        "nothing; its issue 18 asks for it, as providers differ",
    ),
    Subject(
        "tie-aware-retrieval-metrics, expected",
        "trm_expected",
        "relevance",
        "trm",
        "tie-aware-retrieval-metrics",
        "made for ties: the expected score over all orderings (its README)",
    ),
    Subject(
        "tie-aware-retrieval-metrics, oblivious",
        "trm_oblivious",
        "relevance",
        "trm",
        "tie-aware-retrieval-metrics",
        "warns of it: breaking ties arbitrarily is unstable and misleading (its README)",
    ),
    Subject("faiss and the usual loop", "faiss_loop", "embeddings", "faiss", "faiss-cpu", NOTHING, "euclidean"),
    Subject(
        "the deep-hashing loop", "deep_hashing_loop", "gallery", "", "", "a loop of scripts; no documentation", None
    ),
    Subject(
        "the paper's mAP-",
        "paper_method",
        "embeddings",
        "",
        "",
        "the cure: mAP- instead of mAP (section 5.3); omits the nearest sample (section 4.1)",
    ),
)
