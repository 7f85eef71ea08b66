"""Measures of a model's confidence, which show whether the model knows which of its answers are wrong.

error_reject.py: the error of the most confident queries; against_truth.py: confidence vs recall@1, and Spearman's
rank correlation; regions.py: credible regions of posteriors; retrieval.py: the items inside these regions;
pictures.py: pictures of all of them. inputs.py checks the inputs and finds tied confidences. A `Result` computes its
own curves (`Result.error_reject`).
"""

from typing import TYPE_CHECKING

from tieproof.lazy import exports

if TYPE_CHECKING:
    from tieproof.measures.confidence.against_truth import ConfidenceAccuracy as ConfidenceAccuracy
    from tieproof.measures.confidence.against_truth import RankCorrelation as RankCorrelation
    from tieproof.measures.confidence.against_truth import confidence_vs_recall_at_1 as confidence_vs_recall_at_1
    from tieproof.measures.confidence.against_truth import rank_correlation as rank_correlation
    from tieproof.measures.confidence.error_reject import ErrorRejectCurve as ErrorRejectCurve
    from tieproof.measures.confidence.error_reject import error_reject_curve as error_reject_curve
    from tieproof.measures.confidence.inputs import ConfidenceTies as ConfidenceTies
    from tieproof.measures.confidence.regions import Cap as Cap
    from tieproof.measures.confidence.regions import Ellipsoid as Ellipsoid
    from tieproof.measures.confidence.regions import Gaussian as Gaussian
    from tieproof.measures.confidence.regions import Interval as Interval
    from tieproof.measures.confidence.regions import VonMisesFisher as VonMisesFisher
    from tieproof.measures.confidence.regions import credible_region as credible_region
    from tieproof.measures.confidence.retrieval import CredibleRetrieval as CredibleRetrieval
    from tieproof.measures.confidence.retrieval import Held as Held
    from tieproof.measures.confidence.retrieval import credible_retrieval as credible_retrieval
else:
    __getattr__, __dir__ = exports(__name__)
