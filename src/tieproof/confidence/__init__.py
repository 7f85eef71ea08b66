"""Measures of a model's confidence, which show whether the model knows which of its answers are wrong.

error_reject.py: the error of the most confident queries; recall.py: confidence vs recall@1; spearman.py: Spearman's
rank correlation; regions.py: credible regions of posteriors (distributions.py); retrieval.py: the items inside these
regions; pictures.py: pictures of all of them. inputs.py checks the inputs and finds tied confidences. A `Result`
computes its own curves (`Result.error_reject`).
"""

from typing import TYPE_CHECKING

from tieproof.later import handed_on

if TYPE_CHECKING:
    from tieproof.confidence.distributions import Cap, Ellipsoid, Gaussian, VonMisesFisher
    from tieproof.confidence.error_reject import ErrorRejectCurve, error_reject_curve
    from tieproof.confidence.inputs import ConfidenceTies, Interval
    from tieproof.confidence.recall import ConfidenceAccuracy, confidence_vs_recall_at_1
    from tieproof.confidence.regions import credible_region
    from tieproof.confidence.retrieval import CredibleRetrieval, Held, credible_retrieval
    from tieproof.confidence.spearman import RankCorrelation, rank_correlation
else:
    __getattr__, __dir__ = handed_on(
        __name__,
        {
            "Cap": "tieproof.confidence.distributions",
            "ConfidenceAccuracy": "tieproof.confidence.recall",
            "ConfidenceTies": "tieproof.confidence.inputs",
            "CredibleRetrieval": "tieproof.confidence.retrieval",
            "Ellipsoid": "tieproof.confidence.distributions",
            "ErrorRejectCurve": "tieproof.confidence.error_reject",
            "Gaussian": "tieproof.confidence.distributions",
            "Held": "tieproof.confidence.retrieval",
            "Interval": "tieproof.confidence.inputs",
            "RankCorrelation": "tieproof.confidence.spearman",
            "VonMisesFisher": "tieproof.confidence.distributions",
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
