"""The ten functions of `torchmetrics.functional.retrieval`, which measure a single query, with the choice of `ties`.

>>> from tieproof.compat.torchmetrics import retrieval_average_precision
>>> from torch import tensor
>>> retrieval_average_precision(tensor([0.2, 0.5, 0.5]), tensor([True, False, True]))
tensor(0.5833)
"""

from typing import Any

from torch import Tensor

from tieproof.compat.ties import TieChoice
from tieproof.compat.torchmetrics import metrics
from tieproof.compat.torchmetrics.area import RetrievalAUROC
from tieproof.compat.torchmetrics.base import RetrievalMetric
from tieproof.errors import InputError


def _of_one_query(metric: RetrievalMetric, preds: Tensor, target: Tensor) -> Any:
    """The value of the metric for a query with these items."""
    if not preds.numel() or not preds.ndim:
        raise InputError(
            "`preds` and `target` must be non-empty and non-scalar tensors. Pass the scores of all items of a query.",
            "preds",
        )
    return metric._metric(preds, target)


def retrieval_auroc(
    preds: Tensor,
    target: Tensor,
    top_k: int | None = None,
    max_fpr: float | None = None,
    *,
    ties: TieChoice = "lower",
) -> Any:
    """The area under the ROC curve, as `RetrievalAUROC` defines it."""
    return _of_one_query(RetrievalAUROC(top_k=top_k, max_fpr=max_fpr, ties=ties), preds, target)


def retrieval_average_precision(
    preds: Tensor, target: Tensor, top_k: int | None = None, *, ties: TieChoice = "lower"
) -> Any:
    """Average precision, as `RetrievalMAP` defines it."""
    return _of_one_query(metrics.RetrievalMAP(top_k=top_k, ties=ties), preds, target)


def retrieval_fall_out(preds: Tensor, target: Tensor, top_k: int | None = None, *, ties: TieChoice = "upper") -> Any:
    """Fall-out, as `RetrievalFallOut` defines it, but 0 without an item that is not relevant."""
    return _of_one_query(metrics.RetrievalFallOut("neg", top_k=top_k, ties=ties), preds, target)


def retrieval_hit_rate(preds: Tensor, target: Tensor, top_k: int | None = None, *, ties: TieChoice = "lower") -> Any:
    """Whether a relevant item is among the first `top_k`."""
    return _of_one_query(metrics.RetrievalHitRate(top_k=top_k, ties=ties), preds, target)


def retrieval_normalized_dcg(
    preds: Tensor, target: Tensor, top_k: int | None = None, *, ties: TieChoice = "lower"
) -> Any:
    """Normalized discounted cumulative gain; targets are gains of at least 0."""
    return _of_one_query(metrics.RetrievalNormalizedDCG(top_k=top_k, ties=ties), preds, target)


def retrieval_precision(
    preds: Tensor, target: Tensor, top_k: int | None = None, adaptive_k: bool = False, *, ties: TieChoice = "lower"
) -> Any:
    """Precision, as `RetrievalPrecision` defines it."""
    return _of_one_query(metrics.RetrievalPrecision(top_k=top_k, adaptive_k=adaptive_k, ties=ties), preds, target)


def retrieval_precision_recall_curve(
    preds: Tensor, target: Tensor, max_k: int | None = None, adaptive_k: bool = False, *, ties: TieChoice = "lower"
) -> tuple[Any, Any, Tensor]:
    """Precision and recall at the cutoffs 1 … `max_k`, as `RetrievalPrecisionRecallCurve` defines them."""
    metric = metrics.RetrievalPrecisionRecallCurve(max_k, adaptive_k, ties=ties)
    precision, recall, cutoffs = _of_one_query(metric, preds, target)
    return precision, recall, cutoffs.clamp(max=preds.numel()) if adaptive_k else cutoffs


def retrieval_r_precision(preds: Tensor, target: Tensor, *, ties: TieChoice = "lower") -> Any:
    """The share of relevant items among the first R items, where R is the number of relevant items."""
    return _of_one_query(metrics.RetrievalRPrecision(ties=ties), preds, target)


def retrieval_recall(preds: Tensor, target: Tensor, top_k: int | None = None, *, ties: TieChoice = "lower") -> Any:
    """The share of the relevant items that are among the first `top_k`."""
    return _of_one_query(metrics.RetrievalRecall(top_k=top_k, ties=ties), preds, target)


def retrieval_reciprocal_rank(
    preds: Tensor, target: Tensor, top_k: int | None = None, *, ties: TieChoice = "lower"
) -> Any:
    """The reciprocal rank of the first relevant item."""
    return _of_one_query(metrics.RetrievalMRR(top_k=top_k, ties=ties), preds, target)
