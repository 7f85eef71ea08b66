"""`Estimate` and `Result`: what an evaluation found."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from tieproof.errors import InputError, MissingExtraError
from tieproof.measures import Measure, parse

FloatArray = npt.NDArray[np.float64]
Number = TypeVar("Number", float, FloatArray)

NOTHING_RELEVANT = "no relevant item"


@dataclass(frozen=True)
class Estimate(Generic[Number]):
    """What a measure can be over all orderings of the tied items.

    lower, upper : its smallest and largest value
    expected, std : mean and standard deviation when every ordering is equally likely
    """

    lower: Number
    expected: Number
    upper: Number
    std: Number


@dataclass(frozen=True)
class TieSummary:
    """The ties among the evaluated queries' rankings that hold a relevant item.

    queries : evaluated queries
    ties : ties of at least two items, one of them relevant
    ambiguous_ties : ties that hold both relevant and other items, the only kind that changes a score
    queries_with_ambiguous_ties : queries that have one
    largest_tie : items in the largest of all these ties; 0 where there is none
    zero_vectors : rows that are all zero, in queries and gallery together
    queries_with_open_last_tie : queries whose list was cut off, so that its last tie may go on beyond the end,
        and that have a relevant item in this tie or missing: their bounds cover every way of going on
    """

    queries: int
    ties: int
    ambiguous_ties: int
    queries_with_ambiguous_ties: int
    largest_tie: int
    zero_vectors: int
    queries_with_open_last_tie: int = 0


@dataclass(frozen=True)
class Setting:
    """What was evaluated: the same for any order, tile, budget or number of threads."""

    distance: str
    leave_one_out: bool
    queries: int
    gallery: int
    dimensions: int | None
    empty: str


class Result:
    """Lower, expected and upper value and standard deviation of every measure.

    >>> import tieproof as tp
    >>> result = tp.evaluate([[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]], ["a", "a", "b"], measures=["AP"])
    >>> result["AP"].lower
    1.0
    >>> result.query_ids
    array([0, 1])
    """

    def __init__(
        self,
        setting: Setting,
        query_ids: npt.NDArray[Any],
        per_query: Mapping[Measure, FloatArray],
        ties: TieSummary,
        empty_ids: npt.NDArray[Any],
        left_out: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        self.setting = setting
        self.query_ids = query_ids
        self.ties = ties
        self.empty_ids = empty_ids
        self._left_out = left_out or {}
        self._per_query = per_query
        self._means = {measure: mean(values) for measure, values in per_query.items()}

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures, in the order asked for."""
        return tuple(str(measure) for measure in self._means)

    @property
    def skipped(self) -> dict[str, npt.NDArray[Any]]:
        """The ids of the queries that no mean includes, by the reason."""
        reasons = {**self._left_out}
        if self.setting.empty in ("skip", "nan"):
            reasons[NOTHING_RELEVANT] = self.empty_ids
        return {reason: ids for reason, ids in reasons.items() if len(ids)}

    def __getitem__(self, measure: str | Measure) -> Estimate[float]:
        """The mean of a measure over the queries."""
        return self._means[self._known(measure)]

    def per_query(self, measure: str | Measure) -> Estimate[FloatArray]:
        """A measure of every query: arrays in the order of `query_ids`."""
        lower, expected, upper, variance = self._per_query[self._known(measure)]
        return Estimate(lower, expected, upper, np.sqrt(variance))

    def _known(self, measure: str | Measure) -> Measure:
        """The measure of that name, or a message with those there are."""
        found = parse(measure)
        if found not in self._means:
            raise InputError(
                f"This result has no '{found}'; it has {', '.join(self.measures)}. Name it in measures=[...]."
            )
        return found

    def named(self, names: npt.NDArray[Any]) -> "Result":
        """The same result, whose queries are called names[0], names[1], … instead of 0, 1, …."""
        return Result(
            self.setting,
            names[self.query_ids],
            self._per_query,
            self.ties,
            names[self.empty_ids],
            {reason: names[ids] for reason, ids in self._left_out.items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries, as plain numbers, strings and dictionaries."""
        return {
            "setting": asdict(self.setting),
            "measures": {str(measure): asdict(value) for measure, value in self._means.items()},
            "ties": asdict(self.ties),
            "empty": len(self.empty_ids),
            "skipped": {reason: len(ids) for reason, ids in self.skipped.items()},
        }

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON; the same bytes for the same data in any order."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """A long table of every query and measure, as arrays of equal length."""
        parts: dict[str, list[npt.NDArray[Any]]] = {
            name: [] for name in ("query", "measure", "lower", "expected", "upper", "std")
        }
        for measure in self._means:
            estimate = self.per_query(measure)
            parts["query"].append(self.query_ids)
            parts["measure"].append(np.full(len(self.query_ids), str(measure)))
            for name in ("lower", "expected", "upper", "std"):
                parts[name].append(getattr(estimate, name))
        return {name: np.concatenate(values) for name, values in parts.items()}

    def to_frame(self) -> Any:
        """A pandas data frame with a row for every query and measure (extra `pandas`)."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("Result.to_frame", "pandas") from None
        return pd.DataFrame(self.columns())

    def __str__(self) -> str:
        """The table that the command line shows."""
        from tieproof.reports.text import render

        return render(self)

    def __repr__(self) -> str:
        """The measures' lower bounds, in short."""
        scores = ", ".join(f"{measure} {value.lower:.4f}" for measure, value in self._means.items())
        return f"<Result of {self.ties.queries} queries, lower bounds: {scores}>"


def mean(values: FloatArray) -> Estimate[float]:
    """The mean of the queries' (lower, expected, upper, variance), shape (4, Q), leaving out NaN.

    Sums are exact and rounded once, so that the order of the queries cannot matter. Ties of different queries
    are broken independently: variances add up.
    """
    counted = values[:, ~np.isnan(values[0])]
    count = counted.shape[1]
    lower, expected, upper = (math.fsum(row.tolist()) / count for row in counted[:3])
    return Estimate(lower, expected, upper, math.sqrt(math.fsum(counted[3].tolist())) / count)
