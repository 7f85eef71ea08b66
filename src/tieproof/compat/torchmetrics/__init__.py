"""The retrieval metrics of torchmetrics under their own names, with ties that never pay (extra `torchmetrics`).

>>> from tieproof.compat.torchmetrics import RetrievalMAP
>>> from torch import tensor
>>> metric = RetrievalMAP()
>>> metric.update(tensor([0.2, 0.3, 0.5, 0.5]), tensor([0, 1, 0, 1]), indexes=tensor([0, 0, 1, 1]))
>>> metric.compute()
tensor(0.7500)
"""

from importlib.util import find_spec

from tieproof import errors

if find_spec("torchmetrics") is None:
    raise errors.MissingExtraError("tieproof.compat.torchmetrics", "torchmetrics")

from tieproof.compat.torchmetrics.area import RetrievalAUROC
from tieproof.compat.torchmetrics.metrics import (
    RetrievalFallOut,
    RetrievalHitRate,
    RetrievalMAP,
    RetrievalMRR,
    RetrievalNormalizedDCG,
    RetrievalPrecision,
    RetrievalPrecisionRecallCurve,
    RetrievalRecall,
    RetrievalRecallAtFixedPrecision,
    RetrievalRPrecision,
    retrieval_auroc,
    retrieval_average_precision,
    retrieval_fall_out,
    retrieval_hit_rate,
    retrieval_normalized_dcg,
    retrieval_precision,
    retrieval_precision_recall_curve,
    retrieval_r_precision,
    retrieval_recall,
    retrieval_reciprocal_rank,
)

__all__ = [
    "RetrievalAUROC",
    "RetrievalFallOut",
    "RetrievalHitRate",
    "RetrievalMAP",
    "RetrievalMRR",
    "RetrievalNormalizedDCG",
    "RetrievalPrecision",
    "RetrievalPrecisionRecallCurve",
    "RetrievalRPrecision",
    "RetrievalRecall",
    "RetrievalRecallAtFixedPrecision",
    "retrieval_auroc",
    "retrieval_average_precision",
    "retrieval_fall_out",
    "retrieval_hit_rate",
    "retrieval_normalized_dcg",
    "retrieval_precision",
    "retrieval_precision_recall_curve",
    "retrieval_r_precision",
    "retrieval_recall",
    "retrieval_reciprocal_rank",
]
