"""Measures of a model's confidence, which show whether the model knows which of its answers are wrong.

error_reject.py: the error of the most confident queries; recall.py: confidence vs recall@1; spearman.py: Spearman's
rank correlation; regions.py: credible regions of posteriors; retrieval.py: the items inside these regions;
pictures.py: pictures of all of them. inputs.py checks the inputs and finds tied confidences. A `Result`
computes its own curves (`Result.error_reject`).
"""

from typing import TYPE_CHECKING

from tieproof.lazy import exports

if TYPE_CHECKING:
    from tieproof.confidence.error_reject import ErrorRejectCurve as ErrorRejectCurve
    from tieproof.confidence.error_reject import error_reject_curve as error_reject_curve
    from tieproof.confidence.inputs import ConfidenceTies as ConfidenceTies
    from tieproof.confidence.recall import ConfidenceAccuracy as ConfidenceAccuracy
    from tieproof.confidence.recall import confidence_vs_recall_at_1 as confidence_vs_recall_at_1
    from tieproof.confidence.regions import Cap as Cap
    from tieproof.confidence.regions import Ellipsoid as Ellipsoid
    from tieproof.confidence.regions import Gaussian as Gaussian
    from tieproof.confidence.regions import Interval as Interval
    from tieproof.confidence.regions import VonMisesFisher as VonMisesFisher
    from tieproof.confidence.regions import credible_region as credible_region
    from tieproof.confidence.retrieval import CredibleRetrieval as CredibleRetrieval
    from tieproof.confidence.retrieval import Held as Held
    from tieproof.confidence.retrieval import credible_retrieval as credible_retrieval
    from tieproof.confidence.spearman import RankCorrelation as RankCorrelation
    from tieproof.confidence.spearman import rank_correlation as rank_correlation
else:
    __getattr__, __dir__ = exports(__name__)
