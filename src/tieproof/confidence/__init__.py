"""What a model's confidence is worth: whether it knows which of its answers are wrong.

error_reject.py, running_errors.py: the error of the most confident queries; recall.py: confidence vs recall@1;
spearman.py: Spearman's. regions.py: credible regions of posteriors (gaussian.py, von_mises_fisher.py,
samples.py); retrieval.py, inside.py: what they hold. groups.py says which confidences are tied, inputs.py what is
refused. A `Result` gives its curves itself (`Result.error_reject`).
"""

from typing import TYPE_CHECKING

from tieproof.later import handed_on

if TYPE_CHECKING:
    from tieproof.confidence.error_reject import ErrorRejectCurve, error_reject_curve
    from tieproof.confidence.gaussian import Ellipsoid, Gaussian
    from tieproof.confidence.groups import ConfidenceTies
    from tieproof.confidence.recall import ConfidenceAccuracy, confidence_vs_recall_at_1
    from tieproof.confidence.regions import credible_region
    from tieproof.confidence.retrieval import CredibleRetrieval, Held, credible_retrieval
    from tieproof.confidence.samples import Interval
    from tieproof.confidence.spearman import RankCorrelation, rank_correlation
    from tieproof.confidence.von_mises_fisher import Cap, VonMisesFisher
else:
    __getattr__, __dir__ = handed_on(
        __name__,
        {
            "Cap": "tieproof.confidence.von_mises_fisher",
            "ConfidenceAccuracy": "tieproof.confidence.recall",
            "ConfidenceTies": "tieproof.confidence.groups",
            "CredibleRetrieval": "tieproof.confidence.retrieval",
            "Ellipsoid": "tieproof.confidence.gaussian",
            "ErrorRejectCurve": "tieproof.confidence.error_reject",
            "Gaussian": "tieproof.confidence.gaussian",
            "Held": "tieproof.confidence.retrieval",
            "Interval": "tieproof.confidence.samples",
            "RankCorrelation": "tieproof.confidence.spearman",
            "VonMisesFisher": "tieproof.confidence.von_mises_fisher",
            "confidence_vs_recall_at_1": "tieproof.confidence.recall",
            "credible_region": "tieproof.confidence.regions",
            "credible_retrieval": "tieproof.confidence.retrieval",
            "error_reject_curve": "tieproof.confidence.error_reject",
            "rank_correlation": "tieproof.confidence.spearman",
        },
    )

__all__ = [
    "Cap",
    "ConfidenceAccuracy",
    "ConfidenceTies",
    "CredibleRetrieval",
    "Ellipsoid",
    "ErrorRejectCurve",
    "Gaussian",
    "Held",
    "Interval",
    "RankCorrelation",
    "VonMisesFisher",
    "confidence_vs_recall_at_1",
    "credible_region",
    "credible_retrieval",
    "error_reject_curve",
    "rank_correlation",
]
