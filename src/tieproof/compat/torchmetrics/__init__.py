"""The retrieval metrics of torchmetrics under their own names, with ties that never pay (extra `torchmetrics`).

>>> from tieproof.compat.torchmetrics import RetrievalMAP
>>> from torch import tensor
>>> metric = RetrievalMAP()
>>> metric.update(tensor([0.2, 0.3, 0.5, 0.5]), tensor([0, 1, 0, 1]), indexes=tensor([0, 0, 1, 1]))
>>> metric.compute()
tensor(0.7500)
"""

from tieproof.compat import extras

extras.need("torchmetrics", "tieproof.compat.torchmetrics", "torchmetrics")

from tieproof.compat.torchmetrics.metrics import (  # noqa: E402
    RetrievalAUROC,
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
]
