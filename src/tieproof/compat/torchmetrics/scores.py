"""The metrics that have one number for each query."""

from typing import Any, ClassVar

from tieproof.compat.ties import TieChoice
from tieproof.compat.torchmetrics.base import EmptyTargetAction, Numbers, RetrievalMetric, check_adaptive
from tieproof.errors import InputError
from tieproof.inputs.options import check_whole


class CutOff(RetrievalMetric):
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
        if top_k is not None:
            check_whole("top_k", top_k, beside=", or None")
        self.top_k = top_k

    def measures(self, length: int, longest: int) -> list[str]:
        """The name of the measure at the cutoff, or of the whole ranking if there is no cutoff."""
        return [self.whole.format(k=length) if self.top_k is None else self.cut.format(k=self.top_k)]


class RetrievalMAP(CutOff):
    """Mean average precision; with `top_k`, over the relevant items among the first k (tieproof's `AP(norm=hits)@k`).

    >>> from torch import tensor
    >>> metric = RetrievalMAP(ties="interval")
    >>> metric.update(tensor([0.5, 0.5]), tensor([1, 0]), indexes=tensor([7, 7]))
    >>> metric.compute()
    {'lower': tensor(0.5000), 'expected': tensor(0.7500), 'upper': tensor(1.), 'std': tensor(0.2500)}
    """

    whole, cut = "AP", "AP(norm=hits)@{k}"


class RetrievalMRR(CutOff):
    """Mean reciprocal rank of the first relevant item."""

    whole, cut = "RR", "RR@{k}"


class RetrievalPrecision(CutOff):
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
        check_adaptive(adaptive_k)
        self.adaptive_k = adaptive_k

    def measures(self, length: int, longest: int) -> list[str]:
        """The name of the measure: precision at the cutoff."""
        k = self.top_k or length
        return [f"P@{min(k, length) if self.adaptive_k else k}"]


class RetrievalRecall(CutOff):
    """The share of the relevant items that are among the first `top_k`."""

    whole = cut = "R@{k}"


class RetrievalHitRate(CutOff):
    """Whether a relevant item is among the first `top_k`."""

    whole = cut = "Success@{k}"


class RetrievalNormalizedDCG(CutOff):
    """Normalized discounted cumulative gain; targets are gains of at least 0."""

    whole, cut = "nDCG", "nDCG@{k}"
    graded = True


class RetrievalRPrecision(RetrievalMetric):
    """The share of relevant items among the first R items, where R is the number of relevant items."""

    def measures(self, length: int, longest: int) -> list[str]:
        """The name of the measure: R-precision."""
        return ["Rprec"]


class RetrievalFallOut(CutOff):
    """The share of all non-relevant items that are among the first `top_k`.

    Smaller is better, so ties never pay in "upper", the default. A query without non-relevant items scores 1.
    """

    whole = cut = "R@{k}"
    higher_is_better = False

    def __init__(
        self,
        empty_target_action: EmptyTargetAction = "pos",
        ignore_index: int | None = None,
        top_k: int | None = None,
        ties: TieChoice = "upper",
        **kwargs: Any,
    ) -> None:
        super().__init__(empty_target_action, ignore_index, top_k, ties=ties, **kwargs)

    def relevance(self, target: Numbers) -> Numbers:
        """1 for each item that is not relevant, which is what this metric counts."""
        return 1 - target


class RetrievalAUROC(RetrievalMetric):
    """The area under the ROC curve of each query; 0 if all items are relevant.

    `top_k` and `max_fpr` are refused: tieproof does not measure the area of a part of a ranking.
    """

    def __init__(
        self,
        empty_target_action: EmptyTargetAction = "neg",
        ignore_index: int | None = None,
        top_k: None = None,
        max_fpr: None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(empty_target_action=empty_target_action, ignore_index=ignore_index, **kwargs)
        for name, value in (("top_k", top_k), ("max_fpr", max_fpr)):
            if value is not None:
                raise InputError(
                    f"{name}={value} is not offered: the area is computed over the whole ranking. Leave {name} out."
                )

    def measures(self, length: int, longest: int) -> list[str]:
        """The name of the measure: the area under the ROC curve."""
        return ["AUC"]

    def measured(self, scores: Numbers, relevance: Numbers, longest: int) -> Numbers:
        """The area of each query, 0 if all its items are relevant."""
        values = super().measured(scores, relevance, longest)
        values[:, (relevance > 0).all(axis=1)] = 0.0
        return values
