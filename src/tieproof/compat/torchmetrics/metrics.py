"""The metrics of whole rankings and of their first items, and all metrics of a single query as functions.

>>> from tieproof.compat.torchmetrics import retrieval_average_precision
>>> from torch import tensor
>>> retrieval_average_precision(tensor([0.2, 0.5, 0.5]), tensor([True, False, True]))
tensor(0.5833)
"""

from typing import Any, ClassVar

import torch
from torch import Tensor

from tieproof.compat.ties import TieChoice
from tieproof.compat.torchmetrics.area import RetrievalAUROC
from tieproof.compat.torchmetrics.base import EmptyTargetAction, RetrievalMetric, check_cutoff
from tieproof.errors import InputError
from tieproof.kit import Array


def _check_adaptive(adaptive_k: Any) -> None:
    """Refuse all but bools: a number may be a cutoff that was passed as the wrong argument."""
    if not isinstance(adaptive_k, bool):
        raise InputError(f"`adaptive_k` has to be a boolean, True or False, not {adaptive_k!r}.")


class _CutOff(RetrievalMetric):
    """A metric of the first `top_k` items, or of all items."""

    whole: ClassVar[str]
    cut: ClassVar[str]

    def __init__(
        self,
        empty_target_action: EmptyTargetAction = "neg",
        ignore_index: int | None = None,
        top_k: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(empty_target_action=empty_target_action, ignore_index=ignore_index, **kwargs)
        check_cutoff("top_k", top_k)
        self.top_k = top_k

    def measures(self, length: int, longest: int) -> list[str]:
        """The name of the measure at the cutoff, or of the whole ranking if there is no cutoff."""
        return [self.whole.format(k=length) if self.top_k is None else self.cut.format(k=self.top_k)]


class RetrievalMAP(_CutOff):
    """Mean average precision; with `top_k`, over the relevant items among the first k (tieproof's `AP(norm=hits)@k`).

    >>> from torch import tensor
    >>> metric = RetrievalMAP(ties="interval")
    >>> metric.update(tensor([0.5, 0.5]), tensor([1, 0]), indexes=tensor([7, 7]))
    >>> metric.compute()
    {'lower': tensor(0.5000), 'expected': tensor(0.7500), 'upper': tensor(1.), 'std': tensor(0.2500)}
    """

    whole, cut = "AP", "AP(norm=hits)@{k}"


class RetrievalMRR(_CutOff):
    """Mean reciprocal rank of the first relevant item."""

    whole, cut = "RR", "RR@{k}"


class RetrievalPrecision(_CutOff):
    """The share of relevant items among the first `top_k`; with `adaptive_k`, a shorter ranking is its own cutoff."""

    whole = cut = "P@{k}"

    def __init__(
        self,
        empty_target_action: EmptyTargetAction = "neg",
        ignore_index: int | None = None,
        top_k: int | None = None,
        adaptive_k: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(empty_target_action, ignore_index, top_k, **kwargs)
        _check_adaptive(adaptive_k)
        self.adaptive_k = adaptive_k

    def measures(self, length: int, longest: int) -> list[str]:
        """The name of the measure: precision at the cutoff."""
        k = self.top_k or length
        return [f"P@{min(k, length) if self.adaptive_k else k}"]


class RetrievalRecall(_CutOff):
    """The share of the relevant items that are among the first `top_k`."""

    whole = cut = "R@{k}"


class RetrievalHitRate(_CutOff):
    """Whether a relevant item is among the first `top_k`."""

    whole = cut = "Success@{k}"


class RetrievalNormalizedDCG(_CutOff):
    """Normalized discounted cumulative gain; targets are gains of at least 0."""

    whole, cut = "nDCG", "nDCG@{k}"
    graded = True


class RetrievalRPrecision(RetrievalMetric):
    """The share of relevant items among the first R items, where R is the number of relevant items."""

    def measures(self, length: int, longest: int) -> list[str]:
        """The name of the measure: R-precision."""
        return ["Rprec"]


class RetrievalFallOut(_CutOff):
    """The share of all non-relevant items that are among the first `top_k`.

    Smaller is better, so ties never pay in "upper", the default. A query without non-relevant items scores 1.
    """

    whole = cut = "R@{k}"
    higher_is_better = False
    sought = "negative"

    def __init__(
        self,
        empty_target_action: EmptyTargetAction = "pos",
        ignore_index: int | None = None,
        top_k: int | None = None,
        ties: TieChoice = "upper",
        **kwargs: Any,
    ) -> None:
        super().__init__(empty_target_action, ignore_index, top_k, ties=ties, **kwargs)

    def relevance(self, target: Array) -> Array:
        """1 for each item that is not relevant, which is what this metric counts."""
        return 1 - target


class RetrievalPrecisionRecallCurve(RetrievalMetric):
    """Precision and recall at the cutoffs 1 … `max_k`, by default the length of the longest ranking.

    With `adaptive_k`, the precision beyond the end of a ranking is the precision at its end. `compute` returns three
    tensors: precision, recall and the cutoffs; with `ties="interval"` the first two are dictionaries. Each point has
    bounds of its own; there may be no single ordering that reaches the bounds of all points.

    >>> from torch import tensor
    >>> metric = RetrievalPrecisionRecallCurve(max_k=2)
    >>> metric.update(tensor([0.5, 0.4, 0.4]), tensor([1, 0, 1]), indexes=tensor([0, 0, 0]))
    >>> metric.compute()
    (tensor([1.0000, 0.5000]), tensor([0.5000, 0.5000]), tensor([1, 2]))
    """

    def __init__(
        self,
        max_k: int | None = None,
        adaptive_k: bool = False,
        empty_target_action: EmptyTargetAction = "neg",
        ignore_index: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(empty_target_action=empty_target_action, ignore_index=ignore_index, **kwargs)
        check_cutoff("max_k", max_k)
        _check_adaptive(adaptive_k)
        self.max_k, self.adaptive_k = max_k, adaptive_k

    def measures(self, length: int, longest: int) -> list[str]:
        """The names of all precisions, then of all recalls."""
        cutoffs = range(1, (self.max_k or longest) + 1)
        precision = [f"P@{min(k, length) if self.adaptive_k else k}" for k in cutoffs]
        return precision + [f"R@{k}" for k in cutoffs]

    def compute(self) -> Any:
        """Precision, recall and the cutoffs."""
        points = self.over_queries()
        count = len(points.lower) // 2
        curves = (self.converted(points, part) for part in (slice(count), slice(count, None)))
        return *curves, torch.arange(1, count + 1, device=self.device)

    def plot(self, curve: tuple[Tensor, Tensor, Tensor] | None = None, ax: Any = None) -> Any:
        """Draw a result as torchmetrics does; by default the current one."""
        from torchmetrics.utilities.plot import plot_curve

        names = ("Recall", "Precision")
        precision, recall, cutoffs = curve or self.compute()
        return plot_curve((recall, precision, cutoffs), ax=ax, label_names=names, name=type(self).__name__)


class RetrievalRecallAtFixedPrecision(RetrievalPrecisionRecallCurve):
    """The largest recall at a cutoff where precision is at least `min_precision`, and the largest such cutoff.

    Both are read from the bound of the curves that `ties` names. If the recall is 0, the cutoff is the last one.

    >>> from torch import tensor
    >>> metric = RetrievalRecallAtFixedPrecision(min_precision=0.6)
    >>> metric.update(tensor([0.5, 0.4, 0.3]), tensor([1, 0, 1]), indexes=tensor([0, 0, 0]))
    >>> metric.compute()
    (tensor(1.), tensor(3))
    """

    def __init__(
        self,
        min_precision: float = 0.0,
        max_k: int | None = None,
        adaptive_k: bool = False,
        empty_target_action: EmptyTargetAction = "neg",
        ignore_index: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(max_k, adaptive_k, empty_target_action, ignore_index, **kwargs)
        if isinstance(min_precision, bool) or not isinstance(min_precision, float) or not 0 <= min_precision <= 1:
            raise InputError(f"min_precision must be a float from 0 to 1, not {min_precision!r}.")
        if self.ties == "interval":
            raise InputError(
                "ties='interval' is not possible here: a cutoff has no interval. Pass ties='lower', 'expected' or "
                "'upper'."
            )
        self.min_precision = min_precision

    def compute(self) -> tuple[Tensor, Tensor]:
        """The recall and its cutoff."""
        numbers = getattr(self.over_queries(), self.ties).tolist()
        count = len(numbers) // 2
        rows = zip(numbers[:count], numbers[count:], range(1, count + 1), strict=True)
        recall, k = max(((r, k) for p, r, k in rows if p >= self.min_precision), default=(0.0, count))
        return torch.tensor(recall, device=self.device), torch.tensor(k if recall else count, device=self.device)


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
    return _of_one_query(RetrievalMAP(top_k=top_k, ties=ties), preds, target)


def retrieval_fall_out(preds: Tensor, target: Tensor, top_k: int | None = None, *, ties: TieChoice = "upper") -> Any:
    """Fall-out, as `RetrievalFallOut` defines it, but 0 without an item that is not relevant."""
    return _of_one_query(RetrievalFallOut("neg", top_k=top_k, ties=ties), preds, target)


def retrieval_hit_rate(preds: Tensor, target: Tensor, top_k: int | None = None, *, ties: TieChoice = "lower") -> Any:
    """Whether a relevant item is among the first `top_k`."""
    return _of_one_query(RetrievalHitRate(top_k=top_k, ties=ties), preds, target)


def retrieval_normalized_dcg(
    preds: Tensor, target: Tensor, top_k: int | None = None, *, ties: TieChoice = "lower"
) -> Any:
    """Normalized discounted cumulative gain; targets are gains of at least 0."""
    return _of_one_query(RetrievalNormalizedDCG(top_k=top_k, ties=ties), preds, target)


def retrieval_precision(
    preds: Tensor, target: Tensor, top_k: int | None = None, adaptive_k: bool = False, *, ties: TieChoice = "lower"
) -> Any:
    """Precision, as `RetrievalPrecision` defines it."""
    return _of_one_query(RetrievalPrecision(top_k=top_k, adaptive_k=adaptive_k, ties=ties), preds, target)


def retrieval_precision_recall_curve(
    preds: Tensor, target: Tensor, max_k: int | None = None, adaptive_k: bool = False, *, ties: TieChoice = "lower"
) -> tuple[Any, Any, Tensor]:
    """Precision and recall at the cutoffs 1 … `max_k`, as `RetrievalPrecisionRecallCurve` defines them."""
    metric = RetrievalPrecisionRecallCurve(max_k, adaptive_k, ties=ties)
    precision, recall, cutoffs = _of_one_query(metric, preds, target)
    return precision, recall, cutoffs.clamp(max=preds.numel()) if adaptive_k else cutoffs


def retrieval_r_precision(preds: Tensor, target: Tensor, *, ties: TieChoice = "lower") -> Any:
    """The share of relevant items among the first R items, where R is the number of relevant items."""
    return _of_one_query(RetrievalRPrecision(ties=ties), preds, target)


def retrieval_recall(preds: Tensor, target: Tensor, top_k: int | None = None, *, ties: TieChoice = "lower") -> Any:
    """The share of the relevant items that are among the first `top_k`."""
    return _of_one_query(RetrievalRecall(top_k=top_k, ties=ties), preds, target)


def retrieval_reciprocal_rank(
    preds: Tensor, target: Tensor, top_k: int | None = None, *, ties: TieChoice = "lower"
) -> Any:
    """The reciprocal rank of the first relevant item."""
    return _of_one_query(RetrievalMRR(top_k=top_k, ties=ties), preds, target)
