"""The retrieval metrics of torchmetrics under their own names, with ties that never pay (extra `torchmetrics`).

>>> from tieproof.compat.torchmetrics import RetrievalMAP
>>> from torch import tensor
>>> metric = RetrievalMAP()
>>> metric.update(tensor([0.2, 0.3, 0.5, 0.5]), tensor([0, 1, 0, 1]), indexes=tensor([0, 0, 1, 1]))
>>> metric.compute()
tensor(0.7500)
"""

from typing import TYPE_CHECKING

from tieproof import errors
from tieproof.lazy import exports

if TYPE_CHECKING:
    from tieproof.compat.torchmetrics.area import RetrievalAUROC as RetrievalAUROC
    from tieproof.compat.torchmetrics.metrics import RetrievalFallOut as RetrievalFallOut
    from tieproof.compat.torchmetrics.metrics import RetrievalHitRate as RetrievalHitRate
    from tieproof.compat.torchmetrics.metrics import RetrievalMAP as RetrievalMAP
    from tieproof.compat.torchmetrics.metrics import RetrievalMRR as RetrievalMRR
    from tieproof.compat.torchmetrics.metrics import RetrievalNormalizedDCG as RetrievalNormalizedDCG
    from tieproof.compat.torchmetrics.metrics import RetrievalPrecision as RetrievalPrecision
    from tieproof.compat.torchmetrics.metrics import RetrievalPrecisionRecallCurve as RetrievalPrecisionRecallCurve
    from tieproof.compat.torchmetrics.metrics import RetrievalRecall as RetrievalRecall
    from tieproof.compat.torchmetrics.metrics import (
        RetrievalRecallAtFixedPrecision as RetrievalRecallAtFixedPrecision,
    )
    from tieproof.compat.torchmetrics.metrics import RetrievalRPrecision as RetrievalRPrecision
    from tieproof.compat.torchmetrics.metrics import retrieval_auroc as retrieval_auroc
    from tieproof.compat.torchmetrics.metrics import retrieval_average_precision as retrieval_average_precision
    from tieproof.compat.torchmetrics.metrics import retrieval_fall_out as retrieval_fall_out
    from tieproof.compat.torchmetrics.metrics import retrieval_hit_rate as retrieval_hit_rate
    from tieproof.compat.torchmetrics.metrics import retrieval_normalized_dcg as retrieval_normalized_dcg
    from tieproof.compat.torchmetrics.metrics import retrieval_precision as retrieval_precision
    from tieproof.compat.torchmetrics.metrics import (
        retrieval_precision_recall_curve as retrieval_precision_recall_curve,
    )
    from tieproof.compat.torchmetrics.metrics import retrieval_r_precision as retrieval_r_precision
    from tieproof.compat.torchmetrics.metrics import retrieval_recall as retrieval_recall
    from tieproof.compat.torchmetrics.metrics import retrieval_reciprocal_rank as retrieval_reciprocal_rank
else:
    errors.import_extra("torchmetrics", "tieproof.compat.torchmetrics", "torchmetrics")
    __getattr__, __dir__ = exports(__name__)
