"""`RetrievalMetric`: the state, the arguments and the means that all metrics of torchmetrics share.

Errors have the words of torchmetrics, by which a program may recognize them, and add what arrived and what to do.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import astuple, fields
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor
from torchmetrics import Metric
from torchmetrics.retrieval.base import RetrievalMetric as TheirMetric
from torchmetrics.utilities.data import dim_zero_cat

from tieproof import Estimate, evaluate_scores
from tieproof.compat.distributed import gathered_tensors
from tieproof.compat.ties import TieChoice, check_ties, choose
from tieproof.errors import InputError
from tieproof.kit import Array, FloatArray, as_array, over_queries

EmptyTargetAction = Literal["neg", "pos", "skip", "error"]
# The score of a query with nothing relevant, by `empty_target_action`; NaN is left out of the mean.
_EMPTY: dict[str, float] = {"neg": 0.0, "pos": 1.0, "skip": np.nan, "error": np.nan}

Aggregation = Literal["mean", "median", "min", "max"] | Callable[..., Tensor]
# How the queries' values are aggregated, besides their mean.
_AGGREGATIONS: dict[Any, Callable[..., Tensor]] = {
    "median": lambda values, dim: values.median(dim).values,
    "min": lambda values, dim: values.min(dim).values,
    "max": lambda values, dim: values.max(dim).values,
}
_STATES = ("indexes", "preds", "target")


def check_cutoff(name: str, value: Any) -> None:
    """Refuse a cutoff that is neither a whole number of at least 1 nor None."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value < 1):
        raise InputError(f"`{name}` has to be a positive integer or None, not {value!r}.", name)


class RetrievalMetric(TheirMetric):  # type: ignore[misc]
    """The base class. Its state is synchronized under torch.distributed, even if a process has no data.

    It is a `RetrievalMetric` of torchmetrics only for `isinstance`: none of that class's methods are used. A subclass
    that overrides `_metric`, which sees one order of a query's items, is refused; override `measures` instead.

    Parameters
    ----------
    empty_target_action : "neg", "pos", "skip" or "error"
        How a query with nothing relevant is treated: it scores 0 or 1, is left out, or raises an error.
    ignore_index : items with this target are left out
    aggregation : "mean", "median", "min", "max", or a function of a tensor of the queries' values and `dim`
    ties : "lower", "expected", "upper" or "interval"
        Which value over all orderings of tied items is aggregated. "interval", for the mean only, returns a
        dictionary of all three and the standard deviation. If smaller values are better, the default is "upper".
    kwargs : further arguments of torchmetrics.Metric

    """

    is_differentiable: ClassVar[bool] = False
    higher_is_better: ClassVar[bool] = True
    full_state_update: ClassVar[bool] = False
    plot_lower_bound: ClassVar[float] = 0.0
    plot_upper_bound: ClassVar[float] = 1.0
    graded: ClassVar[bool] = False  # whether targets may be other than 0 and 1
    sought: ClassVar[str] = "positive"  # the targets that are counted

    def __init__(
        self,
        empty_target_action: EmptyTargetAction = "neg",
        ignore_index: int | None = None,
        aggregation: Aggregation = "mean",
        ties: TieChoice = "lower",
        **kwargs: Any,
    ) -> None:
        Metric.__init__(self, **{"dist_sync_fn": gathered_tensors, **kwargs})
        if type(self)._metric is not RetrievalMetric._metric:
            raise InputError(
                f"{type(self).__name__} overrides _metric, which sees one order of a query's items, while tied items "
                "have several. Derive it from the class of torchmetrics, or override measures()."
            )
        check_ties(ties)
        if empty_target_action not in _EMPTY:
            raise InputError(
                f"Argument `empty_target_action` received a wrong value `{empty_target_action}`. Known: "
                f"{', '.join(_EMPTY)}."
            )
        if ignore_index is not None and not isinstance(ignore_index, int):
            raise InputError(f"Argument `ignore_index` must be an integer or None, not {ignore_index!r}.")
        if aggregation != "mean" and aggregation not in _AGGREGATIONS and not callable(aggregation):
            raise InputError(
                f"Unknown aggregation={aggregation!r}. Known: mean, {', '.join(_AGGREGATIONS)}, a function."
            )
        if ties == "interval" and aggregation != "mean":
            raise InputError(
                f"ties='interval' needs aggregation='mean', not {aggregation!r}. Pass ties='lower', 'expected' or "
                "'upper' instead."
            )
        self.empty_target_action, self.ignore_index = empty_target_action, ignore_index
        self.aggregation, self.ties = aggregation, ties
        for name in _STATES:
            self.add_state(name, default=[], dist_reduce_fx="cat")

    def update(self, preds: Tensor, target: Tensor, indexes: Tensor) -> None:
        """Add items: their scores (larger is nearer), targets and query indices, three tensors of one shape."""
        if indexes is None:
            raise InputError("Argument `indexes` cannot be None. Pass the query index of each item.")
        if not preds.shape == target.shape == indexes.shape:
            raise InputError(
                "`indexes`, `preds` and `target` must be of the same shape, but have the shapes "
                f"{tuple(indexes.shape)}, {tuple(preds.shape)} and {tuple(target.shape)}."
            )
        if preds.dtype == torch.bool:
            raise InputError(
                "`preds` must be a tensor of floats or integers, not booleans, which cannot rank items. Pass the "
                "scores themselves."
            )
        if torch.uint64 in (indexes.dtype, target.dtype):
            raise InputError(
                "indexes and target must not be uint64, whose values may exceed int64. Convert them with .long()."
            )
        if indexes.is_floating_point() or indexes.dtype == torch.bool:
            raise InputError(
                f"`indexes` must be a tensor of long integers, the query index of each item, not {indexes.dtype}."
            )
        kept = torch.ones_like(target, dtype=torch.bool) if self.ignore_index is None else target != self.ignore_index
        given = target[kept]
        allowed = (given >= 0).all() if self.graded else ((given == 0) | (given == 1)).all()
        if not allowed:
            expected = "numbers of at least 0" if self.graded else "`binary` values, 0 or 1"
            raise InputError(f"`target` must contain {expected}, but ranges from {given.min()} to {given.max()}.")
        if not preds[kept].isfinite().all():
            raise InputError(
                "preds must contain only finite numbers, but contains NaN or infinity. Find out why the model "
                "returned it."
            )
        self.indexes.append(indexes[kept].long())
        self.preds.append(preds[kept])
        self.target.append(given.double() if given.is_floating_point() else given.long())

    def compute(self) -> Any:
        """The metric over all queries: a tensor, or with `ties="interval"` a dictionary of tensors."""
        return self.converted(self.over_queries(), 0)

    def _metric(self, preds: Tensor, target: Tensor) -> Any:
        """The metric of a single query."""
        alone = deepcopy(self)
        alone.reset()
        alone.update(preds, target, torch.zeros_like(target, dtype=torch.long))
        return type(alone).compute(alone)  # the metric's own compute would turn a curve of one point into a number

    @abstractmethod
    def measures(self, length: int, longest: int) -> list[str]:
        """The names of the measures for a ranking of `length` items, where the longest ranking has `longest`."""

    def relevance(self, target: Array) -> Array:
        """The relevance of the items from their targets."""
        return target

    def over_queries(self) -> Estimate[FloatArray]:
        """Each measure, aggregated over the queries."""
        values = self.per_query()
        if not values.shape[1]:
            return Estimate(*np.zeros(values.shape[::2]))
        columns = [self.aggregated(Estimate(*values[:, :, place])) for place in range(values.shape[2])]
        return Estimate(*np.array(columns).T)

    def aggregated(self, values: Estimate[FloatArray]) -> tuple[float, ...]:
        """One measure aggregated over all queries; the standard deviation is NaN unless it is the mean."""
        if self.aggregation == "mean":
            return astuple(over_queries(values))
        function: Any = _AGGREGATIONS.get(self.aggregation, self.aggregation)
        bounds = (values.lower, values.expected, values.upper)
        return *(float(function(torch.from_numpy(part), dim=0)) for part in bounds), np.nan

    def converted(self, values: Estimate[FloatArray], places: int | slice) -> Any:
        """The chosen measures in the form of `ties`; "interval" is a dictionary, which torchmetrics can pass on."""

        def tensor(numbers: FloatArray) -> Tensor:
            return torch.tensor(numbers[places], dtype=torch.float32, device=self.device)

        if self.ties == "interval":
            return {field.name: tensor(getattr(values, field.name)) for field in fields(values)}
        return choose(values, self.ties, tensor)

    def per_query(self) -> Array:
        """Lower, expected and upper value and standard deviation of each measure of each query, (4, Q, measures)."""
        groups = list(self.rankings())
        longest = groups[-1][1].shape[1]
        count, width = sum(len(group[0]) for group in groups), len(self.measures(longest, longest))
        values = np.full((4, count, width), _EMPTY[self.empty_target_action])
        values[3] = 0.0
        for places, scores, relevance in groups:
            full = (relevance > 0).any(axis=1)
            if not full.all() and self.empty_target_action == "error":
                raise InputError(
                    f"`compute` method was provided with a query with no {self.sought} target. The number of such "
                    f"queries is {np.count_nonzero(~full)}. Leave them out, or pass empty_target_action='skip'."
                )
            values[:, places[full]] = self.measured(scores, relevance, longest)[:, full]
        return values[:, ~np.isnan(values[0, :, 0])]

    def measured(self, scores: Array, relevance: Array, longest: int) -> Array:
        """The values of queries with equally many items and something to find, (4, queries, measures)."""
        names = self.measures(scores.shape[1], longest)
        result = evaluate_scores(scores, relevance, measures=names, empty="zero")
        return np.array([astuple(result.per_query(name)) for name in names]).transpose(1, 2, 0)

    def rankings(self) -> Iterator[tuple[Any, Array, Array]]:
        """Yield queries with equally many items, fewest first: their positions, scores and relevance (q, n)."""
        # A state is a list, or a tensor where the states of all processes are gathered.
        if not len(self.indexes) or not len(dim_zero_cat(self.indexes)):
            raise InputError(
                "There is nothing to compute: call update(preds, target, indexes) first. `indexes`, `preds` and "
                "`target` must be non-empty and non-scalar tensors."
            )
        indexes, preds, target = (as_array(dim_zero_cat(getattr(self, name)), name) for name in _STATES)
        order = np.argsort(indexes, kind="stable")
        _, starts, lengths = np.unique(indexes[order], return_index=True, return_counts=True)
        for length in np.unique(lengths):
            places = np.flatnonzero(lengths == length)
            items = order[starts[places][:, None] + np.arange(length)]
            yield places, preds[items], self.relevance(target[items])

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Draw one or several results as torchmetrics does; by default the current one."""
        return self._plot(val, ax)


class CutOffMetric(RetrievalMetric):
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
