"""`Result`: what an evaluation found."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tieproof.errors import AbsentMeasureError, InputError, MissingExtraError
from tieproof.measures import Measure, parse
from tieproof.results.evaluated import NOTHING_RELEVANT, Evaluated, TieSummary, mean, mean_of_means, summarize
from tieproof.ties import Estimate, FloatArray

if TYPE_CHECKING:
    from tieproof.confidence import ErrorRejectCurve


class Result(Mapping[str, Estimate[float]]):
    """A mapping from the name of each measure to its `Estimate`: lower, expected and upper value, and std.

    A measure is found under every name that is understood where it is asked for; iteration gives the names of
    `measures`. Two results are equal only if they are one and the same.

    >>> import tieproof as tp
    >>> result = tp.evaluate([[1.0, 0.0], [2.0, 0.0], [1.0, 1.0]], ["a", "a", "b"], measures=["AP", "P@1"])
    >>> result["AP"].lower
    1.0
    >>> {name: estimate.lower for name, estimate in result.items()}
    {'AP': 1.0, 'P@1': 1.0}
    >>> len(result), "map" in result, "RR" in result
    (2, True, False)
    >>> result.query_ids
    array([0, 1])
    """

    def __init__(self, evaluated: Evaluated) -> None:
        self._found = evaluated
        self.setting = evaluated.setting
        self.query_ids = evaluated.query_ids
        self.empty_ids = evaluated.empty_ids
        self._per_query = evaluated.per_query
        self._categories = evaluated.categories

    @cached_property
    def ties(self) -> TieSummary:
        """The ties among the rankings of the evaluated queries that hold a relevant item."""
        return summarize(self._found.tie_counts, self._found.zero_vectors)

    @cached_property
    def _means(self) -> dict[Measure, Estimate[float]]:
        """The mean of every measure."""
        if self.setting.average == "micro":
            return {measure: mean(values) for measure, values in self._per_query.items()}
        assert self._categories is not None
        members = self._categories.members.values()
        return {
            measure: mean_of_means([mean(values[:, chosen]) for chosen in members])
            for measure, values in self._per_query.items()
        }

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures, in the order asked for."""
        return tuple(str(measure) for measure in self._per_query)

    @property
    def skipped(self) -> dict[str, npt.NDArray[Any]]:
        """The ids of the queries that no mean includes, by the reason."""
        reasons = {**self._found.left_out}
        if self.setting.empty in ("skip", "nan"):
            reasons[NOTHING_RELEVANT] = self.empty_ids
        return {reason: ids for reason, ids in reasons.items() if len(ids)}

    @property
    def not_in_run(self) -> npt.NDArray[Any]:
        """The ids of the judged queries that have no document in the run, whatever `missing` made of them."""
        known = self._found.not_in_run
        return self.query_ids[:0] if known is None else known

    def __getitem__(self, measure: str | Measure) -> Estimate[float]:
        """The mean of a measure over the queries, or with `average="macro"` over the categories' means.

        Its std is over the orderings of tied items, not over the queries. Raises an InputError, which is a KeyError,
        with the measures there are.
        """
        return self._means[self._known(measure)]

    def __iter__(self) -> Iterator[str]:
        """The names of the measures."""
        return iter(self.measures)

    def __len__(self) -> int:
        """How many measures there are."""
        return len(self._per_query)

    def __eq__(self, other: object) -> bool:
        """Whether it is the same result: two may have the same means and differ in their queries."""
        return self is other

    def __hash__(self) -> int:
        return object.__hash__(self)

    def per_query(self, measure: str | Measure) -> Estimate[FloatArray]:
        """A measure of every query: arrays in the order of `query_ids`, std over the orderings of its tied items."""
        lower, expected, upper, variance = self._per_query[self._known(measure)]
        return Estimate(lower, expected, upper, np.sqrt(variance))

    def _known(self, measure: str | Measure) -> Measure:
        """The measure of that name, or a message with those there are."""
        try:
            found = parse(measure)
        except InputError as error:
            raise AbsentMeasureError(str(error)) from None
        if found not in self._per_query:
            raise AbsentMeasureError(
                f"This result has no '{found}'; it has {', '.join(self.measures)}. Name it in measures=[...]."
            )
        return found

    def named(self, names: npt.NDArray[Any]) -> "Result":
        """This result with queries that are called names[0], names[1], … instead of 0, 1, …."""
        return Result(self._found.named(names))

    @property
    def categories(self) -> tuple[Any, ...]:
        """The categories that have a query to average over, sorted; none where no categories were given."""
        return tuple(self._categories.members) if self._categories else ()

    @property
    def categories_left_out(self) -> tuple[Any, ...]:
        """The categories whose queries all have nothing relevant, and which no mean includes."""
        return self._categories.left_out if self._categories else ()

    def category(self, name: Any) -> "Result":
        """The result of the queries of one category, in which the mean is over its queries.

        Queries that a run leaves out (`missing="skip"`), or that nobody judged, are in no category. Raises InputError
        with the categories there are.

        >>> import tieproof as tp
        >>> result = tp.evaluate_scores(
        ...     [[2, 1], [2, 1]], [[1, 0], [0, 1]], measures=["RR"], categories=["dogs", "cats"]
        ... )
        >>> result.categories, result.category("cats")["RR"].lower
        (('cats', 'dogs'), 0.5)
        """
        return Result(self._found.of_category(name))

    @property
    def has_confidence(self) -> bool:
        """Whether the queries came with confidences."""
        return self._found.confidence is not None

    def error_reject(self, measure: str | Measure) -> "ErrorRejectCurve":
        """The error 1 - measure of the most confident queries: `tieproof.confidence.error_reject_curve`.

        Two kinds of ties leave it open, and both count: those of items, which leave the error of a single query
        open, and those of confidences, which leave open who is rejected first. `lower` and `upper` are the smallest
        and the largest over all orders of both; `expected` and `std` are over both, all orders equally likely, and
        those of items and of confidences independent. Queries with nothing relevant are in it where the means
        include them. All queries count the same, also with `average="macro"`.

        Raises InputError where the evaluation was given no confidences.

        >>> import tieproof as tp
        >>> vectors, labels = [[1.0, 0.0], [2.0, 0.0], [1.0, 1.0], [0.0, 2.0]], ["a", "a", "b", "b"]
        >>> result = tp.evaluate(vectors, labels, measures=["P@1"], confidence=[0.9, 0.8, 0.1, 0.5])
        >>> curve = result.error_reject("P@1")
        >>> curve.error.upper.tolist(), curve.area.upper
        ([0.0, 0.0, 0.0, 0.25], 0.0625)
        """
        if self._found.confidence is None:
            raise InputError(
                "This result has no confidences. Pass confidence= to the evaluation, one for each query."
            )
        from tieproof.confidence.error_reject import error_reject_curve, errors_of

        values = self.per_query(measure)
        return error_reject_curve(errors_of(values), self._found.confidence[~np.isnan(values.lower)])

    def to_dict(self) -> dict[str, Any]:
        """Everything but the values of single queries, as plain numbers, strings and dictionaries.

        The `std` of a measure is its standard deviation over the orderings of tied items, not over the queries.
        With confidences, `error_reject` has the curve of each measure: of Q queries, 4 Q numbers.
        """
        whole = {
            "setting": asdict(self.setting),
            "measures": {str(measure): asdict(value) for measure, value in self._means.items()},
            "ties": asdict(self.ties),
            "empty": len(self.empty_ids),
            "skipped": {reason: len(ids) for reason, ids in self.skipped.items()},
        }
        if self._found.not_in_run is not None:
            whole["not_in_run"] = len(self.not_in_run)
        if self.has_confidence:
            whole["error_reject"] = {name: self.error_reject(name).to_dict() for name in self.measures}
        if self._categories is None:
            return whole
        return whole | {
            "categories": {str(name): of_category(self.category(name)) for name in self.categories},
            "categories_left_out": list(map(str, self.categories_left_out)),
        }

    def to_json(self, indent: int | None = 2) -> str:
        """`to_dict` as JSON; the same bytes for the same data in any order."""
        import json

        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """A long table of every query and measure, as arrays of equal length.

        `std` is the standard deviation over the orderings of the query's tied items.
        """
        count = len(self._per_query)
        table = {"query": np.tile(self.query_ids, count)}
        if self._categories is not None:
            table["category"] = np.tile(self._categories.names[self._categories.of_query], count)
        table["measure"] = np.repeat(self.measures, len(self.query_ids))
        estimates = [self.per_query(measure) for measure in self._per_query]
        for name in ("lower", "expected", "upper", "std"):
            table[name] = np.concatenate([getattr(estimate, name) for estimate in estimates])
        return table

    def to_frame(self) -> Any:
        """A pandas data frame with a row for every query and measure (extra `pandas`)."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("Result.to_frame", "pandas") from None
        return pd.DataFrame(self.columns())

    def plot(self, ax: Any = None) -> Any:
        """A picture of the interval of every measure, as axes of matplotlib (extra `plot`)."""
        from tieproof.views.pictures.measures import plot_measures

        return plot_measures(self, ax)

    def plot_queries(self, measure: str | Measure = "AP", ax: Any = None) -> Any:
        """A picture of what each query can score, sorted; see `views.pictures.queries` (extra `plot`)."""
        from tieproof.views.pictures.queries import plot_queries

        return plot_queries(self, measure, ax)

    def __str__(self) -> str:
        """The table that the command line shows."""
        from tieproof.views.text.text import render

        return render(self)

    def __repr__(self) -> str:
        """The measures' lower bounds, in short."""
        scores = ", ".join(f"{measure} {value.lower:.4f}" for measure, value in self._means.items())
        return f"<Result of {self.ties.queries} queries, lower bounds: {scores}>"


def of_category(result: Result) -> dict[str, Any]:
    """What JSON says of one category."""
    return {
        "measures": {name: asdict(result[name]) for name in result.measures},
        "ties": asdict(result.ties),
        "empty": len(result.empty_ids),
    }
